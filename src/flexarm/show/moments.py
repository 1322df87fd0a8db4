"""A run at any times, whatever its samples are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from flexarm.beam.polynomials import Array
from flexarm.mechanics.system import System
from flexarm.show.arm import Arm

if TYPE_CHECKING:
    from flexarm.motion.run import Run


def coordinates(run: Run, times: Array) -> Array:
    """q (n, nq) at times between the samples; monotone pieces, so that nothing swings out further than the samples."""
    from scipy.interpolate import PchipInterpolator

    t, q = run.time.values, run.data["q"].values
    if len(t) < 2:
        return np.repeat(q, len(times), axis=0)
    return np.asarray(PchipInterpolator(t, q, axis=0)(np.clip(times, t[0], t[-1])))


def arm_at(run: Run, times: Array, magnify: float = 1.0) -> Arm:
    """The run's robot as it stood at these times."""
    if not (np.isfinite(magnify) and magnify >= 0):
        raise ValueError(f"magnify = {magnify}: must not be negative; 1 shows deflections as they are")
    return Arm(System(run.robot, native=False), coordinates(run, times), magnify)


def checked_times(run: Run, times: Sequence[float] | Array | int) -> Array:
    """Times inside the run; a number means so many, evenly spaced from its begin to its end."""
    begin, end = float(run.time.values[0]), float(run.time.values[-1])
    if isinstance(times, (int, np.integer)):
        return np.linspace(begin, end, int(times))
    found = np.asarray(times, dtype=float).reshape(-1)
    for time in found:
        if not begin <= time <= end:
            raise ValueError(f"times: {time:g} s is outside the run, which goes from {begin:g} to {end:g} s")
    return found
