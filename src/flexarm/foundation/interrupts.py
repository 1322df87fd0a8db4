"""How a run ends, and why before its time.

Ctrl-C during a run: noticed whatever becomes of it on its way.

A KeyboardInterrupt that is raised inside CasADi's wrappers comes out as any other error, or not at all. So the handler
notes that it was pressed, and the run asks.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Literal

from flexarm.foundation.messages import error_text

# At its end; where its model says (a limit, a condition); by Ctrl-C; or because there was no way on.
Status = Literal["completed", "stopped", "interrupted", "failed"]


class StopRun(Exception):
    """The run ends here; what was computed is kept and this is the reason."""

    def __init__(self, reason: str, status: Status = "failed") -> None:
        super().__init__(reason)
        self.status: Status = status


def failure_reason(what: str, t: float, error: BaseException) -> str:
    """The reason where a function of the user's raised."""
    said = error_text(error).strip()
    return f"{what} failed at t = {t:.6g} s ({type(error).__name__}{': ' + said if said else ''})"


SIGNALS = (signal.SIGINT, signal.SIGTERM)  # the second only where somebody handles it, as the command line does


_WISHES = threading.local()


@contextmanager
def end_runs_when(wish: Callable[[], bool]) -> Iterator[None]:
    """Inside, runs of this thread end as after Ctrl-C once the wish is true; it is asked between steps, often."""
    before = getattr(_WISHES, "wish", None)
    _WISHES.wish = wish
    try:
        yield
    finally:
        _WISHES.wish = before


class Interrupts:
    """Whether the user wants a run to end. Other threads than the main one never hear of signals, but of wishes."""

    def __init__(self) -> None:
        self._noted = False
        self._held = False
        self._wish: Callable[[], bool] | None = getattr(_WISHES, "wish", None)

    @property
    def pressed(self) -> bool:
        if not self._noted and self._wish is not None:
            self._noted = bool(self._wish())
        return self._noted

    @pressed.setter
    def pressed(self, value: bool) -> None:
        self._noted = value

    @contextmanager
    def noticed(self) -> Iterator[Interrupts]:
        """Inside, signals do what they did before, and are noted. An error that one was turned into is one again."""
        before: dict[Any, Any] = {}
        if threading.current_thread() is threading.main_thread():
            handlers = {number: signal.getsignal(number) for number in SIGNALS}
            before = {number: handler for number, handler in handlers.items() if callable(handler)}
        for number, handler in before.items():
            signal.signal(number, self._noting(handler))
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
    def held(self) -> Iterator[None]:
        """Inside, signals are only noted: for a moment's work that must not be lost."""
        self._held = True
        try:
            yield
        finally:
            self._held = False

    def check(self) -> None:
        """Raise where an interrupt was swallowed."""
        if self.pressed:
            raise KeyboardInterrupt

    def _noting(self, handler: Any) -> Any:
        def note(number: int, frame: FrameType | None) -> None:
            self.pressed = True
            if not self._held:
                handler(number, frame)

        return note
