"""A progress bar for long runs, silent when nobody watches."""

from __future__ import annotations

import sys
import time as clock
from typing import Any

PATIENCE = 0.5  # seconds before a bar appears


class Progress:
    """Simulated time and how it compares with real time. `wanted`: None shows it on a terminal only."""

    def __init__(self, duration: float, wanted: bool | None) -> None:
        self.duration = duration
        self.wanted = sys.stderr.isatty() if wanted is None else wanted
        self.begin = clock.perf_counter()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def update(self, t: float) -> None:
        spent = clock.perf_counter() - self.begin
        if not self.wanted or spent < PATIENCE:
            return
        if self._bar is None:
            self._show()
        self._bar.update(self._task, completed=t, factor=f"{t / spent:.3g} x real time")

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        self._bar = Progress(
            TextColumn("simulating"),
            BarColumn(),
            TextColumn("{task.completed:.3g} of {task.total:.3g} s"),
            TextColumn("{task.fields[factor]}"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._bar.add_task("", total=self.duration, factor="")
        self._bar.start()
