"""From the samples of a run to its labelled results."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from typing import Any

import numpy as np

from flexarm._version import __version__
from flexarm.foundation.numbers import Array
from flexarm.mechanics.system import System
from flexarm.motion.integration import Integration
from flexarm.motion.records import arrays
from flexarm.motion.run import Run

Points = dict[str, tuple[str, float | None]]  # by name: link, and place on it


def results(loop: Integration, points: Points, options: Mapping[str, Any], wall_time: float) -> Run:
    """The labelled results of a run as far as it came."""
    system, schedule = loop.system, loop.schedule
    at, times, samples = loop.layout, loop.recorder.times, loop.recorder.states
    q, v, a = samples[:, at.q], samples[:, at.v], samples[:, at.a]
    inputs = schedule.inputs(times, loop.recorder.held(times))
    forces = None
    if (solver := loop.plant.constraint_solver) is not None:
        columns = (q.T, v.T, a.T, inputs.T, schedule.given.numbers)
        if solver.projects:  # samples lie between steps
            q, v, a, forces = (part.full().T for part in solver.settled(*columns))
        else:
            forces = solver.multipliers(*columns).full().T
    energies, tip_rotation, tip, driving, deflection = loop.stepper.report(q, v, a, inputs)
    work, lost = samples[:, at.work], samples[:, at.lost]
    total = energies.sum(axis=1)
    balance = total - total[0] - work + lost
    statistics = {
        **vars(loop.recorder.statistics),
        **schedule.statistics(loop.stepper.nodes),
        "wall_time": wall_time,
        "energy_balance": float(np.abs(balance).max()),
    }
    return Run(
        arrays(
            names=system.names,
            units=system.units,
            kinds=[each.kind for each in system.coordinates],
            inputs=system.inputs,
            input_units=system.input_units,
            links=[link.name for link in system.robot.links],
            time=times,
            q=q,
            v=v,
            a=a,
            tip=tip,
            tip_rotation=tip_rotation,
            deflection=deflection,
            torque=_torques(loop, inputs, q, v, driving, forces),
            points={name: system.frame(link, x, q)[:, :3, 3] for name, (link, x) in points.items()},
            attributes={
                "robot": system.robot.name,
                "model": system.model,
                "options": json.dumps(options, default=float),
                "statistics": json.dumps(statistics, default=float),
                "reason": loop.reason,
                "status": loop.status,
                "version": __version__,
                "python": platform.python_version(),
            },
            **dict(zip(("kinetic", "elastic", "gravity", "drive"), energies.T, strict=True)),
            work=work,
            dissipated=lost,
            balance=balance,
            **_constraint_results(system, q, forces),
        )
    )


def _constraint_results(system: System, q: Array, forces: Array | None) -> dict[str, Any]:
    if forces is None:
        return {}
    return {
        "rows": {row.name: row.force_unit for row in system.constraint_rows},
        "reaction": -forces,
        "violation": np.abs(system.constraint(q)).max(axis=1, initial=0.0),
    }


def _torques(loop: Integration, inputs: Array, q: Array, v: Array, driving: Array, forces: Array | None) -> Array:
    """Of every actuator: as given or commanded, and what drives the driven joints."""
    system, schedule = loop.system, loop.schedule
    out = inputs[:, 1 : 1 + system.nu].copy()
    if schedule.law is not None:
        out = schedule.law.torques(inputs[:, 0], q, v)
    if schedule.driven:
        if forces is not None and (solver := loop.plant.constraint_solver) is not None:
            driving = driving + solver.pull.function(q.T, forces.T, schedule.given.numbers).full().T[:, schedule.driven]
        forces_at = dict(zip(schedule.driven, driving.T, strict=True))
        for column, actuator in enumerate(system.actuators):
            if (place := actuator.coordinate.index) in forces_at:
                out[:, column] += forces_at[place] / actuator.gear  # beside what a law commands there
    return out
