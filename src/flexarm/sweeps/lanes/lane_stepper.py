"""Many steps of many robots in one call, and what else is asked of compiled lanes."""

from __future__ import annotations

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.mechanics.lane_library import LaneFunction
from flexarm.mechanics.lane_nodes import LaneNodes
from flexarm.motion.sampling import CUBIC, LOW, WITH_RATES, stretches
from flexarm.motion.spectrum import MOST_COORDINATES, Spectrum
from flexarm.sweeps.lanes.lane_arrays import LaneArrays
from flexarm.sweeps.lanes.lane_code import READ, SMALL, START, STEP, LaneCode
from flexarm.sweeps.lanes.readings import Readings

INFINITE = np.finfo(float).max


class LaneStepper:
    """Up to `count` steps a call of members that share them. Arrays are (groups, rows, entries, lanes).

    numbers: of each member's robot, (members, numbers).
    share, allowed: of each member, what errors of steps may add up to, and what iterations may leave (m).
    solved: of each member, the energy (J) of rates that may be missed.
    """

    def __init__(
        self,
        code: LaneCode,
        count: int,
        numbers: Array,
        share: Array,
        allowed: Array,
        solved: Array,
        horizon: float,
        own_inputs: bool,
    ) -> None:
        assert code.library is not None
        self._library = code.library
        self.code, self.count, self.method = code, count, code.method
        self.plant, self.layout = code.plant, code.plant.layout
        self.arrays = at = LaneArrays(len(numbers), code.width.lanes)
        self.patience, self.nodes = self.method.patience, self.method.nodes
        groups, lanes, size = at.groups, at.lanes, self.layout.size
        self.path = np.zeros((groups, count + 1, size, lanes))
        inputs = len(self.nodes) * self.plant.input_count
        self._inputs = np.zeros((groups if own_inputs else 1, count, inputs, lanes))
        self._numbers = at.packed(numbers)[:, None]
        self._share, self._allowed, self._solved = (
            at.packed(each[:, None])[:, None] for each in (share, allowed, solved)
        )
        self._dt, self._horizon = np.zeros((1, 1, 1, lanes)), np.full((1, 1, 1, lanes), horizon)
        self._errors, self._left = np.zeros((2, groups, count, code.measures, lanes))
        self._limits, self.ranges = np.zeros((groups, 3, lanes)), np.zeros((groups, 2, size, lanes))
        given = [self.path[:, :-1], self._inputs, self._dt, self._horizon, self._solved, self._numbers]
        self._steps = LaneFunction(self._library, STEP, given, [self.path[:, 1:], self._errors, self._left])
        self.on_nodes = LaneNodes(self._library, self.layout.every)
        self.readings = Readings(len(self.plant.structure.equations.chain.bodies), self.plant.nu)

    @property
    def _packed(self) -> tuple[Array, ...]:
        return self._numbers, self._share, self._allowed, self._solved

    def replace(self, target: int, source: int) -> None:
        """Let the lane of a member that has ended compute what another does: it then asks for nothing of its own."""
        for each in self._packed:
            self.arrays.copy(each, source, target)

    def restore(self, numbers: Array) -> None:
        """Let every lane be its own member's again, for what is read of it."""
        self._numbers[:] = self.arrays.packed(numbers)[:, None]

    def __call__(self, states: Array, inputs: Array, dt: float, steps: int, most: float, least: float) -> int:
        """From states (groups, entries, lanes), up to so many steps with inputs (groups or 1, steps, entries, lanes),
        whose errors may be the shares `most` and, where longer steps should be tried, `least` of what is allowed."""
        self.path[:, 0], self._dt[:] = states, dt
        self._inputs[:, :steps] = inputs
        self._limits[:, 0], self._limits[:, 1] = (
            np.minimum(most * each[:, 0, 0], INFINITE) for each in (self._share, self._allowed)
        )
        self._limits[:, 2] = least * self._share[:, 0, 0]
        return self._steps.steps(steps, self._limits, self.ranges, self.patience)

    def excess(self, used: int) -> tuple[Array, Array]:
        """Of each step and lane, (groups, steps, lanes): errors and what was left, as shares of what is allowed."""
        worst = (each[:, :used].max(axis=2, initial=0.0) for each in (self._errors, self._left))
        shares = (self._share[:, 0], self._allowed[:, 0])
        error, left = (np.where(np.isfinite(one), one / share, np.inf) for one, share in zip(worst, shares))
        return error, left

    def measured(self, used: int) -> tuple[Array, Array]:
        """The worst of all lanes in each step."""
        error, left = (
            self.on_nodes.worst(each, used, allowed)
            for each, allowed in ((self._errors, self._share), (self._left, self._allowed))
        )
        return error, left

    def start(self, states: Array, inputs: Array, dt: float) -> list[Array]:
        """(groups, entries, lanes) each: accelerations, powers put in and lost, with constraints their multipliers;
        inputs are (groups or 1, entries, lanes)."""
        at, lanes = self.layout, self.arrays.lanes
        q, v = (np.ascontiguousarray(states[:, part])[:, None] for part in (at.every_q, at.every_v))
        softening = [np.full((1, 1, 1, lanes), float(each)) for each in self.method.softening(dt)]
        sizes = [at.every, 1, 1, *([at.multipliers] if at.multipliers else [])]
        out = [np.zeros((self.arrays.groups, 1, size, lanes)) for size in sizes]
        given = [q, v, np.ascontiguousarray(inputs)[:, None], *softening, self._numbers]
        LaneFunction(self._library, START, given, out)(1)
        return [each[:, 0] for each in out]

    def between(self, times: Array, good: int, wanted: Array, out: Array) -> None:
        """Rows (groups, wanted, q v a work lost, lanes) between the first nodes of the last call, into `out`."""
        left = stretches(times, wanted)
        h = (times[left + 1] - times[left])[:, None]
        s = (wanted - times[left])[:, None] / h
        weights = np.hstack([(s ** np.arange(6)) @ WITH_RATES, (s ** np.arange(4)) @ CUBIC, h, s])
        self.on_nodes.between(self.path[:, : good + 1], left, weights, self.method.order <= LOW, out)

    def read(self, rows: Array, inputs: Array, ranges: Array | None = None) -> Array:
        """What the last of rows (groups, samples, q v a work lost, lanes) tells, (groups, readings, lanes); ranges
        (groups, 2, readings, lanes) are widened by what all of them tell. Inputs are (groups or 1, samples, entries,
        lanes)."""
        every, samples = self.layout.every, rows.shape[1]
        out = np.empty((self.arrays.groups, 1, self.readings.count, self.arrays.lanes))
        parts = [rows[:, :, k * every : (k + 1) * every] for k in range(3)]
        given = [*parts, np.ascontiguousarray(inputs), rows[:, :, 3 * every :], self._numbers]
        function = LaneFunction(self._library, READ, given, [out])
        if ranges is None:
            function(samples)
        else:
            function.widen(samples, ranges)
        return out[:, 0]

    def spectra(self, states: Array, inputs: Array) -> list[Spectrum]:
        """Of every member: small motions about its state."""
        at, lanes, free = self.layout, self.arrays.lanes, len(self.plant.free)
        if self.plant.shared is not None or free > MOST_COORDINATES:
            return [Spectrum.of(*np.zeros((3, 0, 0)))] * self.arrays.members
        q, v = (np.ascontiguousarray(states[:, part])[:, None] for part in (at.every_q, at.every_v))
        out = [np.zeros((self.arrays.groups, 1, free * free, lanes)) for _ in range(3)]
        given = [q, v, np.ascontiguousarray(inputs)[:, None], self._numbers]
        LaneFunction(self._library, SMALL, given, out)(1)
        matrices = [self.arrays.rows(each[:, 0]).reshape(-1, free, free).swapaxes(1, 2) for each in out]
        return [Spectrum.of(*each) for each in zip(*matrices, strict=True)]
