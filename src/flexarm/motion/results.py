"""From the samples of a run to its labelled results."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from typing import Any

import numpy as np

from flexarm._version import __version__
from flexarm.foundation.numbers import Array
from flexarm.motion.audit import audit
from flexarm.motion.dense import Dense
from flexarm.motion.integration import Integration
from flexarm.motion.nodes import MOST
from flexarm.motion.readings import Inputs, Points, Readings
from flexarm.motion.records import ENERGIES
from flexarm.motion.run import Run
from flexarm.motion.sundials import SundialsStepper


def results(loop: Integration, points: Points, options: Mapping[str, Any], wall_time: float) -> Run:
    """The labelled results of a run as far as it came."""
    recorder = loop.recorder
    times = recorder.times
    inputs = Inputs(loop.schedule, loop.stepper, np.array(recorder.jumps), recorder.commands, float(times[-1]))
    readings = Readings(loop.system, points, inputs)
    attributes = {
        "robot": loop.system.robot.name,
        "model": loop.system.model,
        "options": json.dumps({**options, **({"points": points} if points else {})}, default=float),
        "statistics": "",
        "reason": loop.reason,
        "status": loop.status,
        "version": __version__,
        "python": platform.python_version(),
    }
    found = readings(times, _rows(loop), attributes)
    energies = {name: found.variables[name].values for name in ENERGIES}
    seen = audit(energies, loop.system.robot, float(times[-1]))
    statistics = {
        **vars(recorder.statistics),
        "wall_time": wall_time,
        "energy_balance": abs(seen.balance),
        "energy_share": seen.share,
    }
    attributes["statistics"] = json.dumps(statistics, default=float)
    return Run(found, _dense(loop, readings))


def _rows(loop: Integration) -> Array:
    """(q, v, a, work, lost) of the samples."""
    at, states = loop.layout, loop.recorder.states
    return np.concatenate([states[:, at.motion], states[:, [at.work, at.lost]]], axis=1)


def _dense(loop: Integration, readings: Readings) -> Dense | str:
    """The run between its samples, or why there is none."""
    if isinstance(loop.stepper, SundialsStepper):
        return "adams and bdf keep their steps to themselves"
    nodes = loop.recorder.keeper.nodes
    if nodes is None:
        return f"its {loop.recorder.statistics.steps} steps take more memory than the {MOST / 1e6:.0f} MB that are kept"
    return Dense(nodes, readings)
