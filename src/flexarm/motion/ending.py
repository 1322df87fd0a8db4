"""Why a run ends before its time."""

from __future__ import annotations


class Ending(Exception):
    """The run ends here; what was computed is kept and this is the reason."""


def sentence_about(what: str, t: float, error: BaseException) -> str:
    """The reason where a function of the user's raised."""
    said = str(error.args[0] if isinstance(error, KeyError) and error.args else error).strip()
    return f"{what} failed at t = {t:.6g} s ({type(error).__name__}{': ' + said if said else ''})"
