"""How often coordinates of members swing on steps so short that samples may not show it.

As `motion/vibration.py` minds them in one run, but only counted: members with many of them are looked at closer.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from flexarm.codegen.simd_library import LaneLoop, vectors
from flexarm.mechanics.coordinates import Coordinate
from flexarm.motion.vibration import ABOVE_ERRORS, MINDED
from flexarm.sweeps.lanes.bounds import Bounds
from flexarm.sweeps.lanes.lane_stepper import LaneStepper

A_SWING = 2  # steps, at least, with which a method follows a coordinate from one turning point to the next


class Swings:
    """`counts` are those of each coordinate, (groups, coordinates, lanes); small ones are not minded beside how far
    links bend, or joints move. sample: the time between samples (s)."""

    def __init__(
        self, stepper: LaneStepper, coordinates: Sequence[Coordinate], bounds: Bounds, rtol: float, sample: float
    ) -> None:
        self._shortest, at = sample / A_SWING, stepper.layout
        of_each = [(each.link, each.kind == "elastic") for each in coordinates]
        every = [*dict.fromkeys(of_each)]
        kinds = np.array([every.index(each) for each in of_each], dtype=np.int64)
        self.counts = np.zeros(bounds.furthest.shape, dtype=np.int64)
        last, most = np.zeros(bounds.furthest.shape), np.zeros(bounds.furthest.shape[1:])  # where each turned; working
        layout = (stepper.arrays.groups, at.size, at.every, at.n, vectors(stepper.path, 0))
        inside = (stepper.path, bounds.sizes, bounds.furthest, bounds.living, most, last, self.counts)
        known = (kinds, float(MINDED), float(ABOVE_ERRORS * rtol))
        self.loop = LaneLoop(stepper.library, "flexarm_swings", (int,), *layout, *known, *inside)

    def take(self, good: int, h: float) -> None:
        """Count those on the first steps of the last call, of h (s)."""
        if h < self._shortest:
            self.loop(good + 1)
