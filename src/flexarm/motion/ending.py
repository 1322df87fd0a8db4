"""How a run ends, and why before its time."""

from __future__ import annotations

from typing import Literal

from flexarm.foundation.sentences import told

# At its end; where its model says (a limit, a condition); by Ctrl-C; or because there was no way on.
Status = Literal["completed", "stopped", "interrupted", "failed"]


class Ending(Exception):
    """The run ends here; what was computed is kept and this is the reason."""

    def __init__(self, reason: str, status: Status = "failed") -> None:
        super().__init__(reason)
        self.status: Status = status


def sentence_about(what: str, t: float, error: BaseException) -> str:
    """The reason where a function of the user's raised."""
    said = told(error).strip()
    return f"{what} failed at t = {t:.6g} s ({type(error).__name__}{': ' + said if said else ''})"
