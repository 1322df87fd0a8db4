"""What is read of the members of a batch while they run: at samples and, where these are left open, at steps."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.motion.nodes import ROUNDING
from flexarm.sweeps.lanes.lane_inputs import LaneInputs
from flexarm.sweeps.lanes.lane_stepper import LaneStepper
from flexarm.sweeps.lanes.measures import Extremes
from flexarm.sweeps.lanes.swings import Swings

TOGETHER = 64  # that are read in a call


class Waiting:
    """Rows that wait to be read, (groups, rows, entries, lanes), and at what times inputs are asked for."""

    def __init__(self, groups: int, entries: int, lanes: int) -> None:
        self._times, self._rows, self.count = np.empty(TOGETHER), np.empty((groups, TOGETHER, entries, lanes)), 0

    @property
    def room(self) -> int:
        return TOGETHER - self.count

    def places(self, times: Array) -> Array:
        """Where the rows of these times are put; no more than there is room for."""
        first, self.count = self.count, self.count + len(times)
        self._times[first : self.count] = times
        return self._rows[:, first : self.count]

    def taken(self) -> tuple[Array, Array]:
        """Times and rows, which wait no longer: they stand until others are put there."""
        count, self.count = self.count, 0
        return self._times[:count], self._rows[:, :count]


class Samples:
    """`extremes` tell what came of them, `furthest` how far each coordinate went, (groups, coordinates, lanes), and
    `swings`, where samples are all that is read, what they may not show.

    wanted: their times (s); with_steps: whether ends of steps are read, too.
    """

    def __init__(
        self, stepper: LaneStepper, inputs: LaneInputs, wanted: Array, with_steps: bool, swings: Swings
    ) -> None:
        self._stepper, self._inputs, self.wanted, self._with_steps = stepper, inputs, wanted, with_steps
        arrays = stepper.arrays
        self.extremes = Extremes(arrays, stepper.readings)
        self.furthest = np.zeros((arrays.groups, stepper.layout.n, arrays.lanes))
        self.swings = None if with_steps else swings
        self._living = np.ones((arrays.groups, 1, arrays.lanes), dtype=bool)
        self._calm = arrays.packed(inputs.last_jumps[:, None])[:, 0]  # when inputs jump last, by lane
        self._jumping = self._calm > 0  # lanes whose inputs will still jump
        self._taken = 0
        shape = arrays.groups, 3 * stepper.layout.every + 2, arrays.lanes
        self._pending, self._nodes = Waiting(*shape), Waiting(*shape)  # samples, and last nodes of calls

    def end(self, member: int) -> None:
        """Nothing more is read of a member."""
        self.read()
        self.extremes.freeze(member)
        group, lane = self._stepper.arrays.place(member)
        self._living[group, :, lane] = False

    def take(self, times: Array, good: int, ends: Mapping[int, float]) -> None:
        """Samples between these nodes of the last call, those at the last node left to the next; of members that
        ended on the way, up to that time."""
        at = self._stepper.layout
        low, high = self._stepper.ranges[:, :, at.q].swapaxes(0, 1)
        np.maximum(self.furthest, np.maximum(-low, high), out=self.furthest, where=self._living)
        if self.swings is not None:
            self.swings.take(self._stepper, good, float(times[1] - times[0]), self.furthest, self._living)
        until = int(np.searchsorted(self.wanted, times[-1] - ROUNDING * self.wanted[-1]))
        wanted = self.wanted[self._taken : until]
        self._taken = max(self._taken, until)
        if self._with_steps:
            wanted = np.union1d(wanted, times[:-1])
        wanted = np.maximum(wanted, times[0])
        calm = self._jumping & (self._calm <= times[0] + ROUNDING * self.wanted[-1])  # inputs jump at nodes
        if calm.any():
            self.read()
            self.extremes.calm(calm & self._living[:, 0])
            self._jumping &= ~calm
        for end in sorted({*ends.values()}):
            here = int(np.searchsorted(wanted, end, side="right"))
            self._add(times, good, wanted[:here])
            wanted = wanted[here:]
            for member in (member for member, time in ends.items() if time == end):
                self.end(member)
        self._add(times, good, wanted)
        if not self._nodes.room:
            self.read()
        (last,) = self._nodes.places(np.nextafter(times[-1:], -np.inf)).swapaxes(0, 1)
        last[:, : 3 * at.every] = self._stepper.path[:, good, : 3 * at.every]
        last[:, 3 * at.every :] = self._stepper.path[:, good, at.work : at.lost + 1]

    def _add(self, times: Array, good: int, wanted: Array) -> None:
        while len(wanted):
            if not self._pending.room:
                self.read()
            now, wanted = wanted[: self._pending.room], wanted[self._pending.room :]
            asked = np.minimum(now, np.nextafter(times[-1], -np.inf))
            self._stepper.between(times, good, now, self._pending.places(asked))

    def read(self) -> None:
        """Read those that wait for it."""
        if self._pending.count:
            asked, rows = self._pending.taken()
            inputs = self._inputs.padded(asked)
            if self.extremes.first is None:
                self.extremes.first = self._stepper.read(rows[:, :1], inputs[:, :1])
            self._stepper.read(rows, inputs, self.extremes.since)
            self.extremes.count(rows.shape[1])
        if self._nodes.count:
            asked, rows = self._nodes.taken()
            self._stepper.read(rows, self._inputs.padded(asked), self.extremes.nodes)
