"""Boxes for numbers: texts, for number fields of browsers take `1e-2` for -12. `page.js` turns them by arrow keys.

Boxes for gains: one number for all joints, or numbers by link, `upper: 20, fore: 5`.

Words in a page, in boxes.

Figures as pictures in a panel.

What is said at the top of a page: of its run, what should be known of it, and errors.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

import numpy as np

from flexarm.foundation.messages import shown
from flexarm.plotting.films import render_pixels
from flexarm.results.energy_balance import balance_sentence as audited
from flexarm.studio.case import StudioCase
from flexarm.studio.compute import Result


def add_number_box(gui: Any, label: str, value: float, hint: str | None = None) -> Any:
    """A handle whose value is the number as a text."""
    return gui.add_text(label, written(value), hint=hint)


def written(value: float) -> str:
    """A number as it stands in a box: whatever is read from it is the number again.

    >>> written(0.15), written(8e-14), written(2.1e11), written(0.1 + 0.2)
    ('0.15', '8e-14', '210000000000', '0.30000000000000004')
    """
    short = f"{value:.15g}"
    return short if float(short) == value else repr(float(value))


def number_in(text: Any, name: str) -> float:
    """The number that somebody typed; a sentence where it is none, or none yet.

    >>> number_in("1e-2", "kp")
    0.01
    """
    try:
        return float(text)
    except (ValueError, TypeError, OverflowError):
        raise ValueError(f"{name} = {shown(text)}: must be a number") from None


def count_in(text: Any, name: str) -> int:
    """The same of a whole number.

    >>> count_in("1e1", "count")
    10
    """
    number = number_in(text, name)
    if not number.is_integer():
        raise ValueError(f"{name} = {shown(text)}: must be a whole number")
    return int(number)


def gain_text(value: float | Mapping[str, float]) -> str:
    """As it stands in a box: one number where all are the same.

    >>> gain_text({"upper": 20.0, "fore": 5.0}), gain_text({"upper": 2.0, "fore": 2.0}), gain_text(0.5)
    ('upper: 20, fore: 5', '2', '0.5')
    """
    if not isinstance(value, Mapping):
        return written(value)
    if len(set(value.values())) == 1:
        return written(next(iter(value.values())))
    return ", ".join(f"{link}: {written(each)}" for link, each in value.items())


def gain_in(text: Any, name: str) -> float | dict[str, float]:
    """What somebody typed; a sentence where it is no gain, or none yet.

    >>> gain_in("1e1", "kp"), gain_in("upper: 20, fore: 5", "kp")
    (10.0, {'upper': 20.0, 'fore': 5.0})
    """
    words = str(text)
    if ":" not in words:
        return number_in(words, name)
    found: dict[str, float] = {}
    for part in words.split(","):
        link, colon, number = (each.strip() for each in part.rpartition(":"))
        if not colon or not link:
            raise ValueError(f"{name} = {shown(words)}: must be a number, or numbers by link: upper: 20, fore: 5")
        found[link] = number_in(number, f"{name} of {link}")
    return found


PLAIN = ("#eef3f7", "#20303c")
NOTE = ("#fff6e0", "#6b4a00")
BAD = ("#fdecea", "#b3261e")


def box(text: str, paper: str = PLAIN[0], ink: str = PLAIN[1], mark: str = "") -> str:
    """A text as HTML; whatever is in it is text. `mark`: attributes by which `page.js` finds it.

    >>> "<b>" in box("<b>")
    False
    """
    style = f"background:{paper};color:{ink};padding:6px 10px;margin:4px 8px;border-radius:4px;font-size:12px"
    return f'<div {mark} style="{style};overflow-wrap:anywhere">{html.escape(text)}</div>'


DPI = 110


def image_of(figure: Any, size: tuple[float, float]) -> Any:
    """A figure of so many inches as an array (height, width, 3) of bytes."""
    figure.set_size_inches(*size)
    figure.set_dpi(DPI)
    return render_pixels(figure)


RECORDED = "A recorded run: it can be looked at, not turned. Open a robot file to turn its numbers."
MADE_UP = "Nothing says what to compute: joints are moved a little."


class Status:
    """Two boxes; `error` is what stands in the second."""

    def __init__(self, gui: Any) -> None:
        self.error = ""
        self._said = 0  # errors of actions: the same one again is another one
        self._words = gui.add_html(box("computing ..."))
        self._error = gui.add_html("", visible=False)

    def count(self) -> None:
        """The next error is that of another action."""
        self._said += 1

    def busy(self) -> None:
        """A run takes long; what stands here is that of the one before."""
        self._words.content = box("computing ... (Stop, among the knobs, ends it)")

    def nothing(self) -> None:
        """Not even a robot at rest, so far."""
        self._words.content = box("Nothing can be computed of this.")

    def say(self, error: BaseException) -> None:
        text = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
        self.error = text or type(error).__name__
        self._show_error()

    def _show_error(self) -> None:
        """`page.js` shows it beside what was touched as well: this box may be scrolled out of sight."""
        self._error.content = box(self.error, *BAD, mark=f'data-studio="error" data-number="{self._said}"')
        self._error.visible = True

    def tell(self, result: Result, case: StudioCase | None, at_rest: bool) -> None:
        """Of a run of a case, or of one that was recorded; `at_rest`: of a robot whose run cannot be computed."""
        run = result.run
        self.error = "" if run.status in ("completed", "stopped") else f"the run {run.reason}"
        self._error.visible = bool(self.error)
        if self.error:
            self._show_error()
        words = f"{run.robot.name}: at rest, for its run cannot be computed." if at_rest else _words(result)
        self._words.content = "".join([box(words), *(box(each, *NOTE) for each in _notes(result, case))])


def _words(result: Result) -> str:
    run = result.run
    share = run.statistics.get("energy_share")
    lost = f"; {audited(share, run.robot)}" if isinstance(share, float) and np.isfinite(share) else ""
    took = f" in {1e3 * result.seconds:.0f} ms" if result.seconds else ""
    ended = "" if run.status == "completed" else f"; {run.reason}"
    return f"{run.robot.name}: {run.array('time')[-1]:g} s computed{took}{lost}{ended}"


def _notes(result: Result, case: StudioCase | None) -> list[str]:
    if case is None:
        return [RECORDED, *result.warned]
    doubts = [str(each) for each in case.robot.every_unit_warning()]
    new = [each for each in doubts if not any(each in said for said in result.warned)]
    return [*([MADE_UP] if case.made_up else []), *result.warned, *new]
