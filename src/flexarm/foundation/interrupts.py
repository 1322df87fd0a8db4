"""Early ends of a run: Ctrl-C, failures, and their reasons.

A KeyboardInterrupt that is raised inside CasADi's wrappers comes out as another error, or not at all. Therefore the
signal handler sets a flag, and the run checks the flag between steps.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Literal

from flexarm.foundation.messages import error_text

Status = Literal["completed", "stopped", "interrupted", "failed"]
"""How a run ended: at its end, by a limit or condition of its model, by Ctrl-C, or because a step failed."""

SIGNALS = (signal.SIGINT, signal.SIGTERM)  # the second one only if it has a Python handler, as on the command line

_LOCAL = threading.local()


class StopRun(Exception):
    """End the run here for a reason; what was computed so far is kept."""

    def __init__(self, reason: str, status: Status = "failed") -> None:
        super().__init__(reason)
        self.status: Status = status


def failure_reason(what: str, t: float, error: BaseException) -> str:
    """Return the sentence for a user's function that raised an error at time t."""
    text = error_text(error).strip()
    return f"{what} failed at t = {t:.6g} s ({type(error).__name__}{': ' + text if text else ''})"


@contextmanager
def end_runs_when(condition: Callable[[], bool]) -> Iterator[None]:
    """End runs of this thread as after Ctrl-C once the condition is true; it is evaluated often, between steps."""
    before = getattr(_LOCAL, "condition", None)
    _LOCAL.condition = condition
    try:
        yield
    finally:
        _LOCAL.condition = before


class Interrupts:
    """Flag that a run should end. Signals reach the main thread only; other threads use `end_runs_when`."""

    def __init__(self) -> None:
        self._pressed = False
        self._deferring = False
        self._condition: Callable[[], bool] | None = getattr(_LOCAL, "condition", None)

    @property
    def pressed(self) -> bool:
        """True if a signal was received or the condition of `end_runs_when` is met."""
        if not self._pressed and self._condition is not None:
            self._pressed = bool(self._condition())
        return self._pressed

    @pressed.setter
    def pressed(self, value: bool) -> None:
        self._pressed = value

    @contextmanager
    def catching(self) -> Iterator[Interrupts]:
        """Record signals while their usual handlers still run; restore interrupts that became other errors."""
        before: dict[Any, Any] = {}
        if threading.current_thread() is threading.main_thread():
            handlers = {number: signal.getsignal(number) for number in SIGNALS}
            before = {number: handler for number, handler in handlers.items() if callable(handler)}
        for number, handler in before.items():
            signal.signal(number, self._recording(handler))
        try:
            yield self
        except Exception as error:
            if self.pressed:
                raise KeyboardInterrupt from error
            raise
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    @contextmanager
    def deferring(self) -> Iterator[None]:
        """Record signals without running their handlers, during short work that must not be lost."""
        self._deferring = True
        try:
            yield
        finally:
            self._deferring = False

    def check(self) -> None:
        """Raise KeyboardInterrupt if an interrupt was swallowed."""
        if self.pressed:
            raise KeyboardInterrupt

    def _recording(self, handler: Any) -> Any:
        def record(number: int, frame: FrameType | None) -> None:
            self.pressed = True
            if not self._deferring:
                handler(number, frame)

        return record
