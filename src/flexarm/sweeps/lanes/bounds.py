"""How far coordinates of members went, and may go: beyond, something may have happened, and somebody looks closer."""

from __future__ import annotations

from typing import Any

import numpy as np

from flexarm.codegen.simd_library import LaneLoop
from flexarm.mechanics.arguments import ROUNDING
from flexarm.motion.events import COILED, OVERRUN
from flexarm.motion.inertia import AT_LEAST
from flexarm.sweeps.lanes.crew import ROUGH, Crew
from flexarm.sweeps.lanes.lane_stepper import LaneStepper


class Bounds:
    """Of a crew, in lanes. furthest: how far each coordinate went until now, (groups, coordinates, lanes). unusual: by
    lane, accelerations beyond which somebody should look. living: all bits of lanes whose members have not ended.

    After `look`, of the last steps, by lane: `left`, where coordinates may have been beyond reason, limits of joints or
    the ends of links (more are told than were), and the `fastest` acceleration, in sizes of coordinates.
    """

    def __init__(self, crew: Crew, stepper: LaneStepper) -> None:
        at, arrays = stepper.layout, stepper.arrays
        lanes = (arrays.groups, arrays.lanes)
        slack, half = ROUNDING * (crew.upper - crew.lower), crew.slideways * (0.5 + OVERRUN)
        lower = np.hstack([crew.lower - slack, crew.slideways / 2 - half])
        upper = np.hstack([crew.upper + slack, crew.slideways / 2 + half])
        far = (1 - ROUGH) * crew.far * crew.sizes
        self.packed = [arrays.packed(each) for each in (crew.sizes, far, crew.turns, lower, upper)]
        self.sizes, self.furthest = self.packed[0], np.zeros(self.packed[0].shape)
        self.unusual, self.living = np.full(lanes, AT_LEAST), np.full(lanes, -1, dtype=np.int64)
        self._left, self.fastest = np.zeros(lanes, dtype=np.int64), np.zeros(lanes)
        places = np.array([*crew.limited, *crew.sliding], dtype=np.int64)
        reaching = np.repeat([1.0, 0.0], [len(crew.limited), len(crew.sliding)])  # limits may be met between nodes
        layout = (arrays.groups, at.size, at.every, at.n, len(places))
        coiled = float((1 - ROUGH) * COILED)
        told = (self.unusual, self.living, self.furthest, self._left, self.fastest)
        inside = (places, reaching, coiled, stepper.ranges, *self.packed, *told)
        self.loop = LaneLoop(stepper.library, "flexarm_reach", (float,), *layout, *inside)

    def look(self, h: float) -> tuple[bool, bool]:
        """Whether any lane may have `left` its bounds on the last steps, of size h (s); whether an acceleration of one
        is unusual."""
        found = self.loop(h)
        return bool(found & 1), bool(found & 2)

    @property
    def left(self) -> Any:
        return self._left != 0

    def end(self, group: int, lane: int) -> None:
        """What goes on in this lane is of nobody."""
        self.living[group, lane] = 0
