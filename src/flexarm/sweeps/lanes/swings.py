"""How often coordinates of members swing on steps so short that samples may not show it.

As `motion/vibration.py` minds them in one run, but only counted: members with many of them are looked at closer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.mechanics.coordinates import Coordinate
from flexarm.motion.vibration import ABOVE_ERRORS, MINDED
from flexarm.sweeps.lanes.lane_stepper import LaneStepper

A_SWING = 2  # steps, at least, with which a method follows a coordinate from one turning point to the next


class Swings:
    """`counts` are those of each coordinate, (groups, coordinates, lanes).

    sizes: what is large for each coordinate, in lanes. sample: the time between samples (s).
    """

    def __init__(self, coordinates: Sequence[Coordinate], sizes: Array, rtol: float, sample: float) -> None:
        kinds = [(each.link, each.kind == "elastic") for each in coordinates]
        self._alike = [[k for k, kind in enumerate(kinds) if kind == one] for one in dict.fromkeys(kinds)]
        self._sizes, self._least, self._shortest = sizes, ABOVE_ERRORS * rtol, sample / A_SWING
        self.counts = np.zeros(sizes.shape, dtype=np.int64)
        self._last = np.zeros(sizes.shape)  # where a coordinate turned

    def take(self, stepper: LaneStepper, good: int, h: float, furthest: Array, living: Any) -> None:
        """Count those on the first steps of the last call, of h (s), in lanes that are `living`; `furthest`: how far
        coordinates went until now."""
        if h >= self._shortest:
            return
        q, v = (stepper.path[:, : good + 1, part] for part in (stepper.layout.q, stepper.layout.v))
        bits = -living[:, 0].astype(np.int64)
        stepper.on_nodes.swings(q, v, self._least_swings(furthest), bits, self._last, self.counts)

    def _least_swings(self, furthest: Array) -> Array:
        """Smaller ones are not minded beside how far links bend, or joints move."""
        shares, out = furthest / self._sizes, np.empty_like(furthest)
        for alike in self._alike:
            out[:, alike] = np.maximum(MINDED * shares[:, alike].max(axis=1, keepdims=True), self._least)
        return out * self._sizes
