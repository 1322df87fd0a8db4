"""Progress bars of long computations on a terminal, lines of progress elsewhere, and callbacks."""

from __future__ import annotations

import sys
import threading
import time as clock
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

BAR_DELAY_S = 0.5  # shorter computations show no bar
LINE_INTERVAL_S = 10.0  # between lines, if there is no terminal for a bar

Callback = Callable[[str, float, float], None]
_LOCAL = threading.local()


@contextmanager
def report_progress(callback: Callback) -> Iterator[None]:
    """Report the progress of this thread's computations: the callback gets the activity, the position and the end."""
    before = getattr(_LOCAL, "callback", None)
    _LOCAL.callback = callback
    try:
        yield
    finally:
        _LOCAL.callback = before


class Progress:
    """Progress bar with the simulated time, its ratio to real time and the time left.

    If `enabled` is None, it is shown on a terminal only.
    """

    doing = "simulating"

    def __init__(self, duration: float, enabled: bool | None) -> None:
        self.duration = duration
        self.enabled = sys.stderr.isatty() if enabled is None else enabled
        self._callback: Callback | None = getattr(_LOCAL, "callback", None)
        self._begin = clock.perf_counter()
        self._first: tuple[float, float] | None = None  # clock and position at the first update
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def update(self, t: float) -> None:
        """Show that the computation has reached t."""
        if self._callback is not None:
            self._callback(self.doing, t, self.duration)
        if not self.enabled:
            return
        now = clock.perf_counter()
        # the pace counts from the first update: tracing and compiling come before it
        since, done = self._first or (self._begin, 0.0)
        self._first = self._first or (now, t)
        if now - self._begin < BAR_DELAY_S:
            return
        if self._bar is None:
            self._show()
        pace = (t - done) / max(now - since, 1e-9)
        words = f"{format_time_left(self.duration - t, pace)}; {self.words(t, pace)}"
        self._bar.update(self._task, completed=t, words=words)

    def words(self, t: float, pace: float) -> str:
        """Describe the position t; `pace` is in simulated seconds per second."""
        return f"{t:.3g} of {self.duration:.3g} s, {pace:.3g} x real time"

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        console = Console(stderr=True)
        if not (console.is_terminal or console.is_jupyter):
            self._bar = ProgressLines(self.doing)
            return
        columns = (TextColumn(self.doing), BarColumn(bar_width=16), TextColumn("{task.fields[words]}"))
        self._bar = Progress(*columns, console=console, transient=True)
        self._task = self._bar.add_task("", total=self.duration, words="")
        self._bar.start()


class ProgressLines:
    """Progress as lines of text, for files and pipes."""

    def __init__(self, doing: str) -> None:
        self._doing, self._next = doing, 0.0

    def update(self, _task: Any, completed: float, words: str) -> None:
        """Print a line if the last one is long enough ago."""
        if clock.perf_counter() >= self._next:
            print(f"{self._doing}: {words}", file=sys.stderr, flush=True)
            self._next = clock.perf_counter() + LINE_INTERVAL_S

    def stop(self) -> None:
        """Do nothing: lines need no cleanup."""


def format_time_left(rest: float, pace: float) -> str:
    """Return the time that the rest takes at a pace, in words."""
    if pace <= 0:
        return "time left unknown"
    seconds = round(rest / pace)
    if seconds < 60:
        return f"{seconds} s left"
    if seconds < 3600:
        return f"{seconds // 60} min {seconds % 60:02d} s left"
    return f"{seconds // 3600} h {seconds % 3600 // 60:02d} min left"


def show_progress(what: str) -> Callable[[Iterable[Any]], Iterable[Any]]:
    """Return a function that iterates over items and shows a bar named `what`, on a terminal only."""

    def iterate(items: Iterable[Any]) -> Iterable[Any]:
        if not sys.stderr.isatty():
            return items
        from rich.console import Console
        from rich.progress import track

        return track(list(items), what, console=Console(stderr=True), transient=True)

    return iterate
