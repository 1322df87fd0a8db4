"""Vibration that is left in a run after a move."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm.foundation.numbers import real_number
from flexarm.foundation.sentences import shown

if TYPE_CHECKING:
    from flexarm.motion.run import Run


def residual(run: Run, name: str, after: Any) -> float:
    """Half of how far a quantity, or a point, goes to and fro from a time on: the amplitude of what vibrates."""
    after = real_number("after", after, "s", least=0)
    time = run.array("time")
    late = time >= after
    if late.sum() < 3:
        raise ValueError(f"after = {after:g}: must leave some samples of the run, which ends at t = {time[-1]:g} s")
    if not isinstance(name, str):
        raise TypeError(f"name = {shown(name)}: must be that of a quantity of the run, or of a point")
    parts = [f"{name}.{axis}" for axis in "xyz"] if f"{name}.x" in run.names else [name]
    swings = [np.ptp(np.asarray(run[each])[late]) / 2 for each in parts]
    return float(np.linalg.norm(swings))
