"""A progress bar for long work, silent when nobody watches.

A progress bar for long derivations, silent when nobody watches.
"""

from __future__ import annotations

import sys
import threading
import time as clock
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

BAR_DELAY_S = 0.5  # seconds before a bar appears
LINE_INTERVAL_S = 10.0  # seconds between lines, where there can be no bar

Callback = Callable[[str, float, float], None]
_WATCHERS = threading.local()


@contextmanager
def report_progress(watcher: Callback) -> Iterator[None]:
    """Inside, long work of this thread tells the watcher what it is doing, how far it is, and how far it will go."""
    before = getattr(_WATCHERS, "watcher", None)
    _WATCHERS.watcher = watcher
    try:
        yield
    finally:
        _WATCHERS.watcher = before


class Progress:
    """Simulated time, how it compares with real time, and how long it will still take.

    `wanted`: None shows it on a terminal only.
    """

    doing = "simulating"

    def __init__(self, duration: float, wanted: bool | None) -> None:
        self.duration = duration
        self.wanted = sys.stderr.isatty() if wanted is None else wanted
        self._watcher: Callback | None = getattr(_WATCHERS, "watcher", None)
        self._begin = clock.perf_counter()
        self._first: tuple[float, float] | None = None  # when the first update came, and how far it was
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def update(self, t: float) -> None:
        if self._watcher is not None:
            self._watcher(self.doing, t, self.duration)
        if not self.wanted:
            return
        now = clock.perf_counter()
        # from the first update on: tracing and compiling, which come before it, say nothing about the rest
        since, done = self._first or (self._begin, 0.0)
        self._first = self._first or (now, t)
        if now - self._begin < BAR_DELAY_S:
            return
        if self._bar is None:
            self._show()
        pace = (t - done) / max(now - since, 1e-9)
        self._bar.update(
            self._task, completed=t, words=f"{format_time_left(self.duration - t, pace)}; {self.words(t, pace)}"
        )

    def words(self, t: float, pace: float) -> str:
        """How far it is; `pace` in simulated seconds a second."""
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
    """The same in lines, for files and pipes, where nothing can be overwritten."""

    def __init__(self, doing: str) -> None:
        self._doing, self._next = doing, 0.0

    def update(self, _task: Any, completed: float, words: str) -> None:
        if clock.perf_counter() >= self._next:
            print(f"{self._doing}: {words}", file=sys.stderr, flush=True)
            self._next = clock.perf_counter() + LINE_INTERVAL_S

    def stop(self) -> None:
        """Nothing is left open."""


def format_time_left(rest: float, pace: float) -> str:
    """Time that the rest takes at this pace, in words."""
    if pace <= 0:
        return "time left unknown"
    seconds = round(rest / pace)
    if seconds < 60:
        return f"{seconds} s left"
    if seconds < 3600:
        return f"{seconds // 60} min {seconds % 60:02d} s left"
    return f"{seconds // 3600} h {seconds % 3600 // 60:02d} min left"


def show_progress(what: str) -> Callable[[Iterable[Any]], Iterable[Any]]:
    """Goes through a list and shows how far it is, on a terminal only."""

    def through(items: Iterable[Any]) -> Iterable[Any]:
        if not sys.stderr.isatty():
            return items
        from rich.console import Console
        from rich.progress import track

        return track(list(items), what, console=Console(stderr=True), transient=True)

    return through
