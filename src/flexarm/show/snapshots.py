"""A run at any times, whatever its samples are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.mechanics.system import System
from flexarm.show.arm import Arm, magnified

if TYPE_CHECKING:
    from flexarm.motion.run import Run

FINE = 4000  # points of a curve


def coordinates(run: Run, times: Array) -> Array:
    """q (n, nq) at times between the samples; monotone pieces, so that nothing swings out further than the samples."""
    from scipy.interpolate import PchipInterpolator

    t, q = run.time.values, run.data["q"].values
    if len(t) < 2:
        return np.repeat(q, len(times), axis=0)
    return np.asarray(PchipInterpolator(t, q, axis=0)(np.clip(times, t[0], t[-1])))


class Snapshots:
    """A run's robot as it is drawn, at any times; `magnify` multiplies deflections."""

    def __init__(self, run: Run, magnify: float = 1.0) -> None:
        if not (np.isfinite(magnify) and magnify >= 0):
            raise ValueError(f"magnify = {magnify}: must not be negative; 1 shows deflections as they are")
        self.run, self.magnify = run, magnify
        self.system = System(run.robot, native=False)

    def arm(self, times: Array) -> Arm:
        return Arm(self.system, coordinates(self.run, times), self.magnify)

    def way(self, until: Array) -> tuple[Array, Array]:
        """Times, `until` among them, and the tip then (n, 3): as fine as the samples, but no finer than can be seen."""
        samples = self.run.time.values
        times = np.union1d(samples[:: max(1, len(samples) // FINE)], until)
        return times, self.system.tip(magnified(self.system, coordinates(self.run, times), self.magnify))


def checked_times(run: Run, times: Sequence[float] | Array | int) -> Array:
    """Times inside the run; a number means so many, evenly spaced from its begin to its end."""
    begin, end = float(run.time.values[0]), float(run.time.values[-1])
    if isinstance(times, (int, np.integer)):
        if times < 1:
            raise ValueError(f"times = {times}: give at least one, or a list of times (s)")
        return np.linspace(begin, end, int(times))
    found = np.asarray(times, dtype=float).reshape(-1)
    for time in found:
        if not begin <= time <= end:
            raise ValueError(f"times: {time:g} s is outside the run, which goes from {begin:g} to {end:g} s")
    return found
