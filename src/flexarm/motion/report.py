"""What a run tells of its samples beyond their states: energies, the tip, what drives the driven joints."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from flexarm.beam.polynomials import Array
from flexarm.motion.plant import Plant


def report(plant: Plant, count: int) -> ca.Function:
    """Of `count` samples, (q, v, a, u) -> energies (kinetic, elastic, gravity, drive), rotation and position of the
    last link's tip, and what is missing to equilibrium at the driven coordinates."""
    e = plant.equations
    last = len(e.chain.bodies) - 1
    R, p = e.frame(last, e.chain.bodies[last].link.length)
    q, v, a, u = e.q, e.v, e.a, ca.SX.sym("u", plant.input_count)
    missing = plant.residual(q, v, a, u)[plant.driven] if plant.driven else ca.SX(0, 1)
    found = [ca.densify(each) for each in (ca.vertcat(*e.energies), R, p, missing)]
    one = ca.Function("sample", [q, v, a, u], [*ca.cse(found)])
    return one.map("report", "serial", count, [], [], {})


class Report:
    """A report of many samples, `count` in each call."""

    def __init__(self, function: ca.Function, count: int) -> None:
        self.count = count
        self._inputs = [np.zeros((count, function.size1_in(k))) for k in range(4)]
        self._outputs = [np.zeros((count, function.numel_out(k) // count)) for k in range(4)]
        self._buffer: Any
        self._buffer, self._evaluate = function.buffer()
        for k, slot in enumerate(self._inputs):
            self._buffer.set_arg(k, slot.reshape(-1).data)
        for k, slot in enumerate(self._outputs):
            self._buffer.set_res(k, slot.reshape(-1).data)

    def __call__(self, *columns: Array) -> tuple[Array, Array, Array, Array]:
        """Energies (n, 4), rotations (n, 3, 3), positions (n, 3) and forces (n, driven) for rows of q, v, a, u."""
        total = len(columns[0])
        parts: list[list[Array]] = [[], [], [], []]
        for start in range(0, total, self.count):
            here = min(self.count, total - start)
            for slot, column in zip(self._inputs, columns, strict=True):
                slot[:here] = column[start : start + here]
            self._evaluate()
            for part, slot in zip(parts, self._outputs, strict=True):
                part.append(slot[:here].copy())
        energies, R, p, missing = (np.concatenate(part) for part in parts)
        return energies, R.reshape(-1, 3, 3).swapaxes(1, 2), p, missing  # CasADi stores column after column
