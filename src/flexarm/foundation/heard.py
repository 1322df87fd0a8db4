"""Warnings of runs in several threads, each heard where it was said.

`warnings.catch_warnings` catches for the whole program; so the first that listens opens it, the last closes it, and
what is said goes to the thread that says it.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_lock = threading.Lock()
_own = threading.local()
_listeners = 0
_caught: Any = None


@contextmanager
def heard() -> Iterator[list[str]]:
    """A list that takes all warnings for users that this thread says inside."""
    said: list[str] = []
    _enter()
    before, _own.said = getattr(_own, "said", None), said
    try:
        yield said
    finally:
        _own.said = before
        _leave()


def _enter() -> None:
    global _listeners, _caught
    with _lock:
        if not _listeners:
            _caught = warnings.catch_warnings()
            _caught.__enter__()
            warnings.simplefilter("always", UserWarning)
            other = warnings.showwarning

            def show(message: Any, category: Any, *rest: Any, **named: Any) -> None:
                said = getattr(_own, "said", None)
                if said is None or not issubclass(category, UserWarning):
                    other(message, category, *rest, **named)
                elif str(message) not in said:
                    said.append(str(message))

            warnings.showwarning = show
        _listeners += 1


def _leave() -> None:
    global _listeners
    with _lock:
        _listeners -= 1
        if not _listeners:
            _caught.__exit__(None, None, None)
