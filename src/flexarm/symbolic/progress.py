"""A progress bar for long derivations, silent when nobody watches."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any


def watched(what: str) -> Callable[[Iterable[Any]], Iterable[Any]]:
    """Goes through a list and shows how far it is, on a terminal only."""

    def through(items: Iterable[Any]) -> Iterable[Any]:
        if not sys.stderr.isatty():
            return items
        from rich.console import Console
        from rich.progress import track

        return track(list(items), what, console=Console(stderr=True), transient=True)

    return through
