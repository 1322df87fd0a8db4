"""How far coordinates of members may go: beyond, something may have happened, and somebody looks closer."""

from __future__ import annotations

from typing import Any

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.mechanics.arguments import ROUNDING
from flexarm.motion.events import COILED, OVERRUN
from flexarm.motion.state import Layout
from flexarm.sweeps.lanes.crew import ROUGH, Crew
from flexarm.sweeps.lanes.lane_arrays import LaneArrays


class Bounds:
    """Of a crew, in lanes."""

    def __init__(self, crew: Crew, arrays: LaneArrays) -> None:
        self._crew = crew
        every = (crew.sizes, crew.lower, crew.upper, crew.turns, crew.slideways)
        self.packed = [arrays.packed(each) for each in every]
        self.sizes, self._lower, self._upper, self._turns, self._slideways = self.packed

    def may_be_left(self, ranges: Array, at: Layout, h: float) -> Any:
        """By lane, whether coordinates may have been beyond reason, limits of joints or the ends of links on steps of
        size h: more are told than were. ranges: (groups, low and high, entries, lanes) of the states."""
        low, high = ranges.swapaxes(0, 1)
        furthest = np.maximum(np.abs(low[:, at.q]), np.abs(high[:, at.q]))
        beyond = ~(furthest <= (1 - ROUGH) * self._crew.far[:, None] * self.sizes).all(axis=1)
        beyond |= (furthest * self._turns).sum(axis=1) > (1 - ROUGH) * COILED
        for k, place in enumerate(self._crew.limited):
            reach = h * np.maximum(np.abs(low[:, at.v][:, place]), np.abs(high[:, at.v][:, place]))
            slack = ROUNDING * (self._upper[:, k] - self._lower[:, k])
            beyond |= low[:, place] - reach < self._lower[:, k] - slack
            beyond |= high[:, place] + reach > self._upper[:, k] + slack
        for k, place in enumerate(self._crew.sliding):
            middle, half = self._slideways[:, k] / 2, self._slideways[:, k] * (0.5 + OVERRUN)
            beyond |= np.maximum(np.abs(low[:, place] - middle), np.abs(high[:, place] - middle)) > half
        return beyond
