"""Warnings of one thread, collected while others go on: Python's own way to do so is for all threads at once."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_lock = threading.Lock()
_own = threading.local()
_inside = 0
_before: Any = None


@contextmanager
def warned() -> Iterator[list[str]]:
    """Inside, warnings of this thread go into the list, each once; those of other threads go their way."""
    found: list[str] = []
    _install()
    _own.found = found
    try:
        yield found
    finally:
        _own.found = None
        _remove()


def _install() -> None:
    global _inside, _before
    with _lock:
        if not _inside:
            _before = warnings.catch_warnings()
            _before.__enter__()
            usual = warnings.showwarning

            def tell(message: Any, *rest: Any, **more: Any) -> None:
                found = getattr(_own, "found", None)
                if found is None:
                    usual(message, *rest, **more)
                elif str(message) not in found:
                    found.append(str(message))

            warnings.simplefilter("always")
            warnings.showwarning = tell
        _inside += 1


def _remove() -> None:
    global _inside, _before
    with _lock:
        _inside -= 1
        if not _inside:
            _before.__exit__(None, None, None)
            _before = None
