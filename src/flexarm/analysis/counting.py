"""Long work one piece after the other: a bar that counts, and an end when the user wants one."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from flexarm.foundation.sentences import shown
from flexarm.mechanics.reach import ValidityWarning
from flexarm.motion.interrupts import Interrupts
from flexarm.motion.progress import Progress


class _Counting(Progress):
    """Pieces done so far."""

    doing = "finding modes"

    def __init__(self, count: int, wanted: bool | None, what: str) -> None:
        super().__init__(float(count), wanted)
        self.what = what

    def words(self, t: float, pace: float) -> str:
        return f"{t:g} of {self.duration:g} {self.what}"


def one_by_one(pieces: Sequence[Any], work: Callable[[Any], None], what: str, progress: bool | None) -> int:
    """Do the work for each piece; how many are done, which are fewer than all after an interrupt (and a warning)."""
    if progress is not None and not isinstance(progress, bool):
        raise ValueError(f"progress = {shown(progress)}: must be True, False or None")
    done = 0
    interrupts = Interrupts()
    try:
        with interrupts.noticed(), _Counting(len(pieces), progress, what) as bar:
            for piece in pieces:
                work(piece)
                interrupts.check()
                done += 1
                bar.update(done)
    except KeyboardInterrupt:
        if not done:
            raise
        warnings.warn(f"interrupted: {done} of {len(pieces)} {what} are done", ValidityWarning, stacklevel=3)
    return done
