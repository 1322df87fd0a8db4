"""What is read of the members of a batch while they run: at samples and, where these are left open, at steps."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from flexarm.codegen.simd_library import LaneLoop, vectors
from flexarm.foundation.numbers import Array
from flexarm.motion.nodes import ROUNDING
from flexarm.motion.sampling import CUBIC, LOW, WITH_RATES
from flexarm.sweeps.lanes.lane_code import READ
from flexarm.sweeps.lanes.lane_inputs import LaneInputs
from flexarm.sweeps.lanes.lane_stepper import LaneStepper
from flexarm.sweeps.lanes.measures import Extremes

ROOM = 16e6  # bytes of inputs with which samples are read in a call


class Samples:
    """`extremes` tell what came of them.

    wanted: their times (s); with_steps: whether ends of steps are read, too.
    """

    def __init__(self, stepper: LaneStepper, inputs: LaneInputs, wanted: Array, with_steps: bool) -> None:
        self._inputs, self.wanted, self._with_steps = inputs, wanted, with_steps
        arrays, at, path = stepper.arrays, stepper.layout, stepper.path
        self.extremes = Extremes(arrays, stepper.readings)
        self._calm = arrays.packed(inputs.last_jumps[:, None])[:, 0]  # when inputs jump last, by lane
        self._jumping = self._calm > 0  # lanes whose inputs will still jump
        self._next_calm = self._calm.min(initial=np.inf, where=self._jumping)
        self._taken = 0
        self._most = max(1, int(ROOM / (8 * inputs.count * (arrays.groups if inputs.own else 1) * arrays.lanes)))
        numbers, readings = stepper.numbers, stepper.readings.count
        sizes = (arrays.groups, at.every, stepper.plant.input_count, at.size, readings, vectors(numbers, 0))
        how = (vectors(path, 0), int(stepper.method.order <= LOW), path, numbers)
        polynomials = tuple(np.ascontiguousarray(each, dtype=float) for each in (WITH_RATES, CUBIC))
        given = (int, np.ndarray, int, np.ndarray, np.ndarray, int, np.ndarray, np.ndarray)
        self.loop = LaneLoop(stepper.library, f"{READ}_nodes", given, *sizes, *how, *polynomials, self.extremes.since)

    def end(self, member: int) -> None:
        """Nothing more is read of a member."""
        self.extremes.freeze(member)

    def take(self, times: Array, ends: Mapping[int, float]) -> None:
        """Samples between these nodes of the last call, those at the last node left to the next; of members that
        ended on the way, up to that time."""
        close = ROUNDING * self.wanted[-1]
        until = int(self.wanted.searchsorted(times[-1] - close))
        wanted = self.wanted[self._taken : until]
        self._taken = max(self._taken, until)
        if self._with_steps:
            wanted = np.union1d(wanted, times[:-1])
        wanted = np.maximum(wanted, times[0])
        if self._next_calm <= times[0] + close:
            self._be_calm(float(times[0] + close))
        for end in sorted({*ends.values()}):
            here = int(np.searchsorted(wanted, end, side="right"))
            self._take(times, wanted[:here], at_node=False)
            wanted = wanted[here:]
            for member in (member for member, time in ends.items() if time == end):
                self.end(member)
        self._take(times, wanted, at_node=True)

    def _be_calm(self, now: float) -> None:
        """Inputs of some members jump for the last time: at nodes."""
        calm = self._jumping & (self._calm <= now)
        self.extremes.calm(calm)
        self._jumping &= ~calm
        self._next_calm = self._calm.min(initial=np.inf, where=self._jumping)

    def _take(self, times: Array, wanted: Array, at_node: bool) -> None:
        """Read states at wanted times, and that of the last node: inputs are those just before it."""
        while len(wanted) > self._most:
            self._take(times, wanted[: self._most], at_node=False)
            wanted = wanted[self._most :]
        count, extremes = len(wanted), self.extremes
        if not count and not at_node:
            return
        before = np.nextafter(times[-1], -np.inf)
        inputs = self._inputs.padded(np.append(np.minimum(wanted, before), before))
        first = None
        if count and extremes.first is None:
            extremes.first = np.empty(extremes.since[:, 0].shape)
            first = extremes.first.ctypes.data
        failed = self.loop(
            count,
            wanted.ctypes.data,
            len(times),
            times.ctypes.data,
            inputs.ctypes.data,
            vectors(inputs, 0) if len(inputs) > 1 else 0,
            first,
            extremes.nodes.ctypes.data if at_node else None,
        )
        if failed:
            raise RuntimeError(f"{READ}: its machine code for lanes could not be run")
        extremes.count(count)
