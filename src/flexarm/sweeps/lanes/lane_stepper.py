"""Many steps of many robots in one call, and what else is asked of compiled lanes."""

from __future__ import annotations

import numpy as np

from flexarm.codegen.simd_library import LaneFunction, LaneLoop, vectors
from flexarm.foundation.numbers import Array
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
        self.library = code.library
        self.code, self.count, self.method = code, count, code.method
        self.plant, self.layout = code.plant, code.plant.layout
        self.arrays = at = LaneArrays(len(numbers), code.width.lanes)
        self.patience, self.nodes = self.method.patience, self.method.nodes
        groups, lanes, size = at.groups, at.lanes, self.layout.size
        self.path = np.zeros((groups, count + 1, size, lanes))
        inputs = len(self.nodes) * self.plant.input_count
        self._inputs = np.zeros((groups if own_inputs else 1, count, inputs, lanes))
        self.numbers = at.packed(numbers)[:, None]
        self._share, self._allowed, self._solved = (
            at.packed(each[:, None])[:, None] for each in (share, allowed, solved)
        )
        self._dt, self._horizon = np.zeros((1, 1, 1, lanes)), np.full((1, 1, 1, lanes), horizon)
        self._errors, self._left = np.zeros((2, groups, count, code.measures, lanes))
        self._limits, self.ranges = np.zeros((groups, 5, lanes)), np.zeros((groups, 2, size, lanes))
        self._limited, self._worst = (np.nan, np.nan), np.zeros((count, 2))
        given = [self.path[:, :-1], self._inputs, self._dt, self._horizon, self._solved, self.numbers]
        self._steps = LaneFunction(self.library, STEP, given, [self.path[:, 1:], self._errors, self._left])
        begin = (groups, size, self.layout.every, vectors(self.path, 0), self.path)
        self._begin = LaneLoop(self.library, "flexarm_begin", (float, np.ndarray), *begin)
        self.readings = Readings(len(self.plant.structure.equations.chain.bodies), self.plant.nu)

    @property
    def _packed(self) -> tuple[Array, ...]:
        return self.numbers, self._share, self._allowed, self._solved

    def replace(self, target: int, source: int) -> None:
        """Let the lane of a member that has ended compute what another does: it then asks for nothing of its own."""
        self._limited = (np.nan, np.nan)
        for each in self._packed:
            self.arrays.copy(each, source, target)

    def restore(self, numbers: Array) -> None:
        """Let every lane be its own member's again, for what is read of it."""
        self.numbers[:] = self.arrays.packed(numbers)[:, None]

    def __call__(
        self, states: Array, longer: float, inputs: Array, dt: float, steps: int, most: float, least: float
    ) -> int:
        """From states (groups, entries, lanes) of steps that these are so many times longer than, up to so many steps
        with inputs (groups or 1, steps, entries, lanes), whose errors may be the shares `most` and, where longer steps
        should be tried, `least` of what is allowed."""
        states = np.ascontiguousarray(states)
        self._begin(longer, states.ctypes.data)
        self._dt[:] = dt
        self._inputs[:, :steps] = inputs
        if self._limited != (most, least):
            self._limit(most, least)
        return self._steps.steps(steps, self._limits, self.ranges, self._worst, self.patience)

    def _limit(self, most: float, least: float) -> None:
        self._limited, (share, allowed) = (most, least), (each[:, 0, 0] for each in (self._share, self._allowed))
        limits = (np.minimum(most * share, INFINITE), np.minimum(most * allowed, INFINITE), least * share)
        self._limits[:] = np.stack([*limits, share, allowed], axis=1)

    def excess(self, used: int) -> tuple[Array, Array]:
        """Of each step and lane, (groups, steps, lanes): errors and what was left, as shares of what is allowed."""
        worst = (each[:, :used].max(axis=2, initial=0.0) for each in (self._errors, self._left))
        shares = (self._share[:, 0], self._allowed[:, 0])
        error, left = (np.where(np.isfinite(one), one / share, np.inf) for one, share in zip(worst, shares))
        return error, left

    def measured(self, used: int) -> tuple[Array, Array]:
        """The worst of all lanes in each step."""
        error, left = self._worst[:used].T.copy()
        return error, left

    def start(self, states: Array, inputs: Array, dt: float) -> list[Array]:
        """(groups, entries, lanes) each: accelerations, powers put in and lost, with constraints their multipliers;
        inputs are (groups or 1, entries, lanes)."""
        at, lanes = self.layout, self.arrays.lanes
        q, v = (np.ascontiguousarray(states[:, part])[:, None] for part in (at.every_q, at.every_v))
        softening = [np.full((1, 1, 1, lanes), float(each)) for each in self.method.softening(dt)]
        sizes = [at.every, 1, 1, *([at.multipliers] if at.multipliers else [])]
        out = [np.zeros((self.arrays.groups, 1, size, lanes)) for size in sizes]
        given = [q, v, np.ascontiguousarray(inputs)[:, None], *softening, self.numbers]
        LaneFunction(self.library, START, given, out)(1)
        return [each[:, 0] for each in out]

    def read(self, states: Array, inputs: Array) -> Array:
        """What states tell with these inputs, (groups, readings, lanes); both are (groups, entries, lanes)."""
        at, lanes = self.layout, self.arrays.lanes
        parts = [states[:, each] for each in (at.every_q, at.every_v, at.every_a)]
        given = [np.ascontiguousarray(each)[:, None] for each in (*parts, inputs, states[:, [at.work, at.lost]])]
        out = np.empty((self.arrays.groups, 1, self.readings.count, lanes))
        LaneFunction(self.library, READ, [*given, self.numbers], [out])(1)
        return out[:, 0]

    def spectra(self, states: Array, inputs: Array) -> list[Spectrum]:
        """Of every member: small motions about its state."""
        at, lanes, free = self.layout, self.arrays.lanes, len(self.plant.free)
        if self.plant.shared is not None or free > MOST_COORDINATES:
            return [Spectrum.of(*np.zeros((3, 0, 0)))] * self.arrays.members
        q, v = (np.ascontiguousarray(states[:, part])[:, None] for part in (at.every_q, at.every_v))
        out = [np.zeros((self.arrays.groups, 1, free * free, lanes)) for _ in range(3)]
        given = [q, v, np.ascontiguousarray(inputs)[:, None], self.numbers]
        LaneFunction(self.library, SMALL, given, out)(1)
        square = (self.arrays.members, free, free)
        matrices = [self.arrays.rows(each[:, 0]).reshape(square).swapaxes(1, 2) for each in out]
        return [Spectrum.of(*each) for each in zip(*matrices, strict=True)]
