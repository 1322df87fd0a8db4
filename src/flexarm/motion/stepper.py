"""Many steps in one call: a method's step map chained and compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from flexarm.beam.polynomials import Array
from flexarm.mechanics.native import compiled
from flexarm.motion.methods import Method, State
from flexarm.motion.plant import Plant


class Stepper:
    """`count` steps of a method. The arrays tied to the compiled function stay in place from call to call."""

    def __init__(self, plant: Plant, method: Method, count: int, native: bool) -> None:
        self.plant, self.method, self.count = plant, method, count
        chain = method.step(plant).mapaccum("chunk", count)
        self.function = compiled(chain) if native else chain
        stages = len(method.nodes)
        self.state = np.zeros(State.size(plant.n, plant.rows))
        self.inputs = np.zeros((count * stages, plant.input_count))  # a row per stage: a column to CasADi
        self.dt = np.zeros(count)
        self.states = np.zeros((count, State.size(plant.n, plant.rows)))
        self.errors, self.left = np.zeros((2, count, plant.measures))
        self._buffer: Any
        self._buffer, self._evaluate = self.function.buffer()
        for k, slot in enumerate((self.state, self.inputs, self.dt)):
            self._buffer.set_arg(k, slot.reshape(-1).data)
        for k, slot in enumerate((self.states, self.errors, self.left)):
            self._buffer.set_res(k, slot.reshape(-1).data)

    def __call__(self, state: Array, inputs: Array, dt: float) -> None:
        """Fill `states` (after each step), and `errors` and what is `left` of the iteration, as displacements."""
        self.state[:], self.inputs[:], self.dt[:] = state, inputs, dt
        self._evaluate()
