"""How far a study is: a bar on a terminal, nothing elsewhere."""

from __future__ import annotations

import sys
from typing import Any


class Steps:
    """A bar over all sections to come; `next` names the one that begins."""

    def __init__(self, total: int, wanted: bool | None = None) -> None:
        self.total = total
        self.wanted = sys.stderr.isatty() if wanted is None else wanted
        self._bar: Any = None
        self._task: Any = None
        self._begun = 0

    def __enter__(self) -> Steps:
        if self.wanted:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

            self._bar = Progress(
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                TextColumn("{task.description}"),
                console=Console(stderr=True),
                transient=True,
            )
            self._task = self._bar.add_task("", total=self.total)
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def next(self, description: str) -> None:
        if self._bar is not None:
            self._bar.update(self._task, completed=self._begun, description=description)
        self._begun += 1
