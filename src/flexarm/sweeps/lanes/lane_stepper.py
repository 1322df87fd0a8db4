"""Functions of a plant for many robots at once: starts of steps, readings of states, small motions."""

from __future__ import annotations

import numpy as np

from flexarm.codegen.simd_library import LaneFunction
from flexarm.foundation.numbers import Array
from flexarm.motion.spectrum import MOST_COORDINATES, Spectrum
from flexarm.sweeps.lanes.lane_arrays import LaneArrays
from flexarm.sweeps.lanes.lane_code import READ, SMALL, START, LaneCode
from flexarm.sweeps.lanes.readings import Readings


class LaneStepper:
    """Compiled functions of a plant and a method with the parameters of each member, (members, numbers)."""

    def __init__(self, code: LaneCode, numbers: Array) -> None:
        assert code.library is not None
        self.library, self.code, self.method = code.library, code, code.method
        self.plant, self.layout = code.plant, code.plant.layout
        self.arrays = LaneArrays(len(numbers), code.width.lanes)
        self.nodes = self.method.nodes
        self.numbers = self.arrays.packed(numbers)[:, None]
        self.readings = Readings(len(self.plant.structure.equations.chain.bodies), self.plant.nu)

    def start(self, states: Array, inputs: Array, sizes: Array) -> list[Array]:
        """Return accelerations, powers put in and lost, with constraints their multipliers, (groups, entries, lanes)
        each, for first steps of these sizes (s, by group); inputs are (groups or 1, entries, lanes)."""
        at, lanes, groups = self.layout, self.arrays.lanes, self.arrays.groups
        q, v = (np.ascontiguousarray(states[:, part])[:, None] for part in (at.every_q, at.every_v))
        by_group = np.array([self.method.softening(each) for each in sizes.tolist()], dtype=float).reshape(groups, -1)
        softening = [np.repeat(each[:, None, None, None], lanes, axis=3) for each in by_group.T]
        entries = [at.every, 1, 1, *([at.multipliers] if at.multipliers else [])]
        out = [np.zeros((groups, 1, size, lanes)) for size in entries]
        given = [q, v, np.ascontiguousarray(inputs)[:, None], *softening, self.numbers]
        LaneFunction(self.library, START, given, out)(1)
        return [each[:, 0] for each in out]

    def read(self, states: Array, inputs: Array) -> Array:
        """Return readings of states with these inputs, (groups, readings, lanes); both are (groups, entries, lanes)."""
        at, lanes = self.layout, self.arrays.lanes
        parts = [states[:, each] for each in (at.every_q, at.every_v, at.every_a)]
        given = [np.ascontiguousarray(each)[:, None] for each in (*parts, inputs, states[:, [at.work, at.lost]])]
        out = np.empty((self.arrays.groups, 1, self.readings.count, lanes))
        LaneFunction(self.library, READ, [*given, self.numbers], [out])(1)
        return out[:, 0]

    def spectra(self, states: Array, inputs: Array) -> list[Spectrum]:
        """Return the spectrum of small motions of every member about its state."""
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
