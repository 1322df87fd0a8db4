"""A run at any times, whatever its samples are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.mechanics.system import System
from flexarm.show.arguments import magnification
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
        self.run, self.magnify = run, magnification(magnify)
        self.system = System(run.robot, native=False)

    def arm(self, times: Array) -> Arm:
        return Arm(self.system, coordinates(self.run, times), self.magnify)

    def way(self, until: Array) -> tuple[Array, Array]:
        """Times, `until` among them, and the tip then (n, 3): as fine as the samples, but no finer than can be seen."""
        samples = self.run.time.values
        times = np.union1d(samples[:: max(1, len(samples) // FINE)], until)
        return times, self.system.tip(magnified(self.system, coordinates(self.run, times), self.magnify))
