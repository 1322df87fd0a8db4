"""Vibration that is left in a run after a move."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm.foundation.numbers import Array, real_number
from flexarm.foundation.sentences import shown, suggestion
from flexarm.mechanics.reach import ValidityWarning

if TYPE_CHECKING:
    from flexarm.motion.run import Run

ROUNDING = 1e-9  # of a quantity: less is no motion


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
    values = [np.asarray(run[each])[late] for each in parts]
    if values[0].ndim > 1:
        raise ValueError(f"name = {shown(name)}: is several quantities; take one of them{suggestion(name, run.names)}")
    swings = [np.ptp(each) / 2 for each in values]
    largest = values[int(np.argmax(swings))]
    if max(swings) > ROUNDING * np.abs(largest).max() and _turns(largest) < 2:
        warnings.warn(
            f"residual: {shown(name)} does not go to and fro between t = {after:g} s and the end of the run: what "
            "vibrates goes further; simulate for a period or more after the move",
            ValidityWarning,
            stacklevel=3,
        )
    return float(np.linalg.norm(swings))


def _turns(values: Array) -> int:
    """How often it turns about."""
    ways = np.sign(np.diff(values))
    return int(np.count_nonzero(np.diff(ways[ways != 0])))
