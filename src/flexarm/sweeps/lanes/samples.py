"""What is read of the members of a batch while they run: at samples and, where these are left open, at steps."""

from __future__ import annotations

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.motion.nodes import ROUNDING
from flexarm.sweeps.lanes.crew import Crew
from flexarm.sweeps.lanes.energy_audit import EnergyAudit
from flexarm.sweeps.lanes.lane_inputs import LaneInputs
from flexarm.sweeps.lanes.lane_stepper import LaneStepper
from flexarm.sweeps.lanes.measures import Peaks

TOGETHER = 64  # that are read in a call


class Samples:
    """`peaks` and `audit` tell what came of them; `furthest` how far each coordinate went, (groups, coordinates,
    lanes).

    wanted: their times (s); with_steps: whether ends of steps are read, too.
    """

    def __init__(
        self, stepper: LaneStepper, inputs: LaneInputs, crew: Crew, wanted: Array, with_steps: bool, duration: float
    ) -> None:
        self._stepper, self._inputs, self.wanted, self._with_steps = stepper, inputs, wanted, with_steps
        arrays, plant = stepper.arrays, stepper.plant
        links = len(plant.structure.equations.chain.bodies)
        self.peaks = Peaks(arrays, links, plant.nu, inputs.calm_after(duration))
        self.audit = EnergyAudit(arrays, crew.push / duration**2)
        self.furthest = np.zeros((arrays.groups, stepper.layout.n, arrays.lanes))
        self._until = np.full((arrays.groups, arrays.lanes), np.inf)
        self._taken = 0
        self._pending: list[tuple[Array, Array, Array]] = []  # times, those of inputs, rows

    def end(self, member: int, time: float) -> None:
        """Nothing is read of a member after its end: its lane does what another does."""
        place = self._stepper.arrays.place(member)
        self._until[place] = min(self._until[place], time)

    def take(self, times: Array, good: int) -> None:
        """Samples between these nodes of the last call, those at the last node left to the next."""
        low, high = self._stepper.ranges[:, :, self._stepper.layout.q].swapaxes(0, 1)
        reached = np.maximum(np.abs(low), np.abs(high))
        here = (self._until >= times[0])[:, None]
        self.furthest = np.where(here, np.maximum(self.furthest, reached), self.furthest)
        until = int(np.searchsorted(self.wanted, times[-1] - ROUNDING * self.wanted[-1]))
        wanted = self.wanted[self._taken : until]
        self._taken = max(self._taken, until)
        if self._with_steps:
            wanted = np.union1d(wanted, times[:-1])
        if not len(wanted):
            return
        wanted = np.maximum(wanted, times[0])
        asked = np.minimum(wanted, np.nextafter(times[-1], -np.inf))
        self._pending.append((wanted, asked, self._stepper.between(times, good, wanted)))
        if sum(len(each) for each, *_ in self._pending) >= TOGETHER:
            self.read()

    def read(self) -> None:
        """Read those that wait for it."""
        if not self._pending:
            return
        wanted, asked, rows = (
            each[0] if len(each) == 1 else np.concatenate(each, axis=axis)
            for each, axis in zip(zip(*self._pending, strict=True), (0, 0, 1))
        )
        self._pending = []
        readings = self._stepper.read(rows, self._inputs.padded(asked))
        here = None if (self._until >= wanted[-1]).all() else wanted[:, None] <= self._until[:, None, :]
        self.peaks.gather(wanted, readings, here)
        self.audit.gather(readings[:, :, :4], rows[:, :, -2:], here)
