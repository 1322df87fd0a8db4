"""What a run tells of its samples beyond their states: energies, the tip, deflections, what drives driven joints."""

from __future__ import annotations

import casadi as ca

from flexarm.codegen.loops import Runner, evaluate_rows
from flexarm.foundation.numbers import Array
from flexarm.motion.controlled_plant import ControlledPlant
from flexarm.motion.plant import Plant


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
        self._runner, self._numbers, self.build = runner, numbers, runner.build
        self.inputs = runner.input_sizes[3]  # of the plant

    def __call__(self, *columns: Array) -> tuple[Array, ...]:
        """Energies (n, 4), rotations (n, 3, 3), positions (n, 3), forces (n, driven) and deflections (n, links, 3) for
        rows of q, v, a, u."""
        energies, R, p, missing, bends = evaluate_rows(self._runner, columns, self._numbers)
        R = R.reshape(-1, 3, 3).swapaxes(1, 2)  # CasADi stores column after column
        return energies, R, p, missing, bends.reshape(len(bends), -1, 3)
