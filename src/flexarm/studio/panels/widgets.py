"""Number and gain fields, text boxes, figures as images, and the status messages at the top of a page."""

from __future__ import annotations

import html
import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from flexarm.foundation.messages import error_text, format_number, shown, warn
from flexarm.foundation.progress import format_time_left
from flexarm.plotting.films import render_pixels
from flexarm.results.energy_balance import balance_sentence
from flexarm.studio.case import StudioCase
from flexarm.studio.compute import Result

if TYPE_CHECKING:
    from flexarm.studio.page import Page


def on_input(callback: Callable[[], None], *handles: Any) -> None:
    """Call a function when the user changes one of the handles; changes by the program are ignored.

    Callbacks are coroutines, because viser keeps the order of events for these only.
    """

    async def changed(event: Any) -> None:
        if event.client is not None:
            callback()

    for handle in handles:
        handle.on_update(changed)


def on_click(callback: Callable[[], None], button: Any) -> None:
    """Call a function when the user presses a button."""

    async def clicked(event: Any) -> None:
        callback()

    button.on_click(clicked)


def add_number_box(gui: Any, label: str, value: float, hint: str | None = None) -> Any:
    """Add a field for a number and return its handle, whose value is text.

    Number fields of browsers read `1e-2` as -12; `page.js` handles the arrow keys of text fields instead.
    """
    return gui.add_text(label, format_number(value), hint=hint)


def parse_number(text: Any, name: str) -> float:
    """Return the number in a text; raise an error if there is none.

    >>> parse_number("1e-2", "kp")
    0.01
    """
    try:
        return float(text)
    except (ValueError, TypeError, OverflowError):
        raise ValueError(f"{name} = {shown(text)}: must be a number") from None


def parse_count(text: Any, name: str) -> int:
    """Return the integer in a text; raise an error if there is none.

    >>> parse_count("1e1", "count")
    10
    """
    number = parse_number(text, name)
    if not number.is_integer():
        raise ValueError(f"{name} = {shown(text)}: must be a whole number")
    return int(number)


def format_gain(value: float | Mapping[str, float]) -> str:
    """Return a gain as text: one number if it is the same for all links.

    >>> format_gain({"upper": 20.0, "fore": 5.0}), format_gain({"upper": 2.0, "fore": 2.0}), format_gain(0.5)
    ('upper: 20, fore: 5', '2', '0.5')
    """
    if not isinstance(value, Mapping):
        return format_number(value)
    if len(set(value.values())) == 1:
        return format_number(next(iter(value.values())))
    return ", ".join(f"{link}: {format_number(each)}" for link, each in value.items())


def parse_gain(text: Any, name: str) -> float | dict[str, float]:
    """Return the gain in a text, one number or numbers by link; raise an error if there is none.

    >>> parse_gain("1e1", "kp"), parse_gain("upper: 20, fore: 5", "kp")
    (10.0, {'upper': 20.0, 'fore': 5.0})
    """
    text = str(text)
    if ":" not in text:
        return parse_number(text, name)
    found: dict[str, float] = {}
    for part in text.split(","):
        link, colon, number = (each.strip() for each in part.rpartition(":"))
        if not colon or not link:
            raise ValueError(f"{name} = {shown(text)}: must be a number, or numbers by link: upper: 20, fore: 5")
        found[link] = parse_number(number, f"{name} of {link}")
    return found


def text_box(text: str, kind: Literal["plain", "note", "error"] = "plain", mark: str = "") -> str:
    """Return a text as an HTML box; markup in it is escaped. `mark`: attributes by which `page.js` finds it.

    >>> text_box("<b>")
    '<div class="studio-box studio-plain" >&lt;b&gt;</div>'
    """
    return f'<div class="studio-box studio-{kind}" {mark}>{html.escape(text)}</div>'


PROGRESS_INTERVAL_S = 0.2


class TaskCancelled(Exception):
    """A task was cancelled."""


class BackgroundTask:
    """Work in a thread of its own, with a progress bar, the time left, and a button to cancel it."""

    def __init__(self, page: Page, name: str, parts: str) -> None:
        self._page, self._name, self._parts, gui = page, name, parts, page.client.gui
        self._thread: threading.Thread | None = None
        self._cancelled = self._discarded = False
        self._begin = self._updated_at = 0.0
        self._bar = gui.add_progress_bar(0.0, visible=False)
        self._text = gui.add_html("", visible=False)
        self._cancel = gui.add_button(f"Cancel the {name}", visible=False)

        on_click(self.cancel, self._cancel)

    @property
    def is_busy(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    @property
    def is_cancelled(self) -> bool:
        """True if the work is to end."""
        return self._cancelled or self._page.closed

    def cancel(self, discard: bool = False) -> None:
        """End the work soon; its result, or its error, is not passed on if `discard`."""
        self._cancelled, self._discarded = True, discard

    def require_idle(self) -> None:
        """Raise an error if the task is at work."""
        if self.is_busy:
            raise ValueError(f"{self._name}: one is being computed; cancel it, or wait until it is ready")

    def start(self, work: Callable[[], Any], finish: Callable[[Any], None]) -> None:
        """Call `work` in a thread, and pass its result to `finish` in that of the page."""
        self.require_idle()
        self._cancelled = self._discarded = False
        self._begin = self._updated_at = time.monotonic()
        self._bar.value, self._text.content = 0.0, text_box(f"{self._name}: preparing ...")
        self._set_visible(True)
        self._thread = threading.Thread(target=self._run, args=(work, finish), daemon=True, name=self._name)
        self._thread.start()

    def report(self, done: int, total: int) -> None:
        """Show the progress."""
        now = time.monotonic()
        if now - self._updated_at > PROGRESS_INTERVAL_S:
            self._updated_at = now
            self._bar.value = 100.0 * done / total
            left = format_time_left(total - done, done / (now - self._begin))
            self._text.content = text_box(f"{self._name}: {done} of {total} {self._parts}, {left}")

    def _run(self, work: Callable[[], Any], finish: Callable[[Any], None]) -> None:
        problem, result = None, None
        try:
            result = work()
        except Exception as error:  # raised again in the page's thread
            problem = error
        if self._page.closed:
            warn(f"the page was closed: its {self._name} was ended, and nothing is saved")
            return
        self._set_visible(False)

        def pass_on() -> None:
            if self._discarded or isinstance(problem, TaskCancelled):
                return
            if problem is not None:
                raise problem
            finish(result)

        self._page.submit(pass_on)

    def _set_visible(self, visible: bool) -> None:
        for handle in (self._bar, self._text, self._cancel):
            handle.visible = visible


IMAGE_DPI = 110


def render_figure(figure: Any, size: tuple[float, float]) -> Any:
    """Return a figure of a size in inches as an image (height, width, 3) of bytes."""
    figure.set_size_inches(*size)
    figure.set_dpi(IMAGE_DPI)
    return render_pixels(figure)


RECORDED_TEXT = "A recorded run, which cannot be changed. Open a robot file to change parameters."
DEFAULT_MOTION_TEXT = "No simulation was given: joints follow a default motion."


class Status:
    """The status and the error message of a page; `error` is the text of the latter."""

    def __init__(self, gui: Any) -> None:
        self.error = ""
        self._action_count = 0
        self._text = gui.add_html(text_box("computing ..."))
        self._error = gui.add_html("", visible=False)

    def begin_action(self) -> None:
        """Number the next errors as those of another action, so that equal messages are shown again."""
        self._action_count += 1

    def show_text(self, text: str) -> None:
        """Show a text in place of the description of a run."""
        self._text.content = text_box(text)

    def show_error(self, error: BaseException) -> None:
        self._set_error(error_text(error) or type(error).__name__)

    def _set_error(self, text: str) -> None:
        """Show an error; `page.js` repeats it next to the field, because this box may be scrolled out of view."""
        mark = f'data-studio="error" data-number="{self._action_count}"'
        self._error.content, self._error.visible = text_box(text, "error", mark), bool(text)
        self.error = text

    def show_result(self, result: Result, case: StudioCase | None, at_rest: bool) -> None:
        """Describe a run; `at_rest` if it replaces one that cannot be computed."""
        run = result.run
        self._set_error("" if run.status in ("completed", "stopped") else f"the run {run.reason}")
        text = f"{run.robot.name}: at rest, because its run cannot be computed." if at_rest else _describe_run(result)
        notes = (text_box(each, "note") for each in _find_notes(result, case))
        self._text.content = "".join([text_box(text), *notes])


def _describe_run(result: Result) -> str:
    run, share = result.run, result.run.statistics.get("energy_share")
    balance = f"; {balance_sentence(share, run.robot)}" if isinstance(share, float) and np.isfinite(share) else ""
    took = f" in {1e3 * result.seconds:.0f} ms" if result.seconds else ""
    ended = "" if run.status == "completed" else f"; {run.reason}"
    return f"{run.robot.name}: {run.array('time')[-1]:g} s computed{took}{balance}{ended}"


def _find_notes(result: Result, case: StudioCase | None) -> list[str]:
    if case is None:
        return [RECORDED_TEXT, *result.warnings]
    unit_warnings = [str(each) for each in case.robot.every_unit_warning()]
    new = [each for each in unit_warnings if not any(each in other for other in result.warnings)]
    return [*([DEFAULT_MOTION_TEXT] if case.is_default else []), *result.warnings, *new]
