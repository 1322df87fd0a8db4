"""What a run tells of its samples beyond their states: energies, the tip, deflections, what drives driven joints."""

from __future__ import annotations

import casadi as ca
import numpy as np

from flexarm.codegen.loops import Many, Runner
from flexarm.foundation.numbers import Array
from flexarm.motion.controlled_plant import ControlledPlant
from flexarm.motion.plant import Plant

REPORTED = 250  # samples a call


def report(plant: Plant) -> ca.Function:
    """Of a sample, (q, v, a, u, numbers) -> energies (kinetic, elastic, gravity, drive), rotation and position of the
    last link's tip, what is missing to equilibrium at the driven coordinates, and deflections of the links' tips."""
    if isinstance(plant, ControlledPlant):
        return plant.report(report(plant.robot))
    if plant.shared is not None:
        return plant.shared.report
    e = plant.equations
    last = len(e.chain.bodies) - 1
    R, p = e.frame(last, e.tip_of(last))
    q, v, a, u = e.q, e.v, e.a, ca.SX.sym("u", plant.input_count)
    missing = plant.residual(q, v, a, u)[plant.driven] if plant.driven else ca.SX(0, 1)
    bends = ca.horzcat(*(e.tip_deflection(link) for link in range(last + 1)))
    found = [ca.densify(each) for each in (ca.vertcat(*e.energies), R, p, missing, bends)]
    return plant.function("report", [q, v, a, u], [*ca.cse(found)]).function


class Report:
    """A report of many samples."""

    def __init__(self, runner: Runner, numbers: Array) -> None:
        function, self.build = runner.function, runner.build
        self.inputs = int(function.numel_in(3))  # of the plant
        self._inputs = [np.zeros((REPORTED, function.numel_in(k))) for k in range(4)]
        self._outputs = [np.zeros((REPORTED, function.numel_out(k))) for k in range(function.n_out())]
        self._evaluate = Many(runner, [*self._inputs, numbers], self._outputs)

    def __call__(self, *columns: Array) -> tuple[Array, ...]:
        """Energies (n, 4), rotations (n, 3, 3), positions (n, 3), forces (n, driven) and deflections (n, links, 3) for
        rows of q, v, a, u."""
        total = len(columns[0])
        parts: list[list[Array]] = [[] for _ in self._outputs]
        for start in range(0, total, REPORTED):
            here = min(REPORTED, total - start)
            for slot, column in zip(self._inputs, columns, strict=True):
                slot[:here] = column[start : start + here]
            self._evaluate(here)
            for part, slot in zip(parts, self._outputs, strict=True):
                part.append(slot[:here].copy())
        energies, R, p, missing, bends = (np.concatenate(part) for part in parts)
        R = R.reshape(-1, 3, 3).swapaxes(1, 2)  # CasADi stores column after column
        return energies, R, p, missing, bends.reshape(total, -1, 3)
