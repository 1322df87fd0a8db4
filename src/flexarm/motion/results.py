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
from flexarm.motion.nodes import MOST, Nodes
from flexarm.motion.readings import Inputs, Points, Readings
from flexarm.motion.records import ENERGIES
from flexarm.motion.run import Run
from flexarm.motion.sundials import SundialsStepper
from flexarm.motion.vibration import Vibration, refined, refinement, vibration


def results(loop: Integration, points: Points, options: Mapping[str, Any], more: Mapping[str, Any]) -> Run:
    """The labelled results of a run as far as it came. Where options leave the sample open, it is chosen."""
    recorder, nodes = loop.recorder, _nodes(loop)
    system, fastest = loop.system, None
    if isinstance(nodes, Nodes):
        fastest = vibration(nodes, system.coordinates, system.sizes, options["rtol"])
    times, rows = recorder.times, recorder.rows
    inputs = Inputs(loop.schedule, loop.stepper, np.array(recorder.jumps), recorder.commands, float(times[-1]))
    sample = options["sample"] or float(recorder.wanted[1])
    if options["sample"] is None and isinstance(nodes, Nodes):
        finer = refinement(fastest, sample, len(times), loop.system.nq)
        if finer > 1:
            times, sample = refined(times, finer), sample / finer
            rows = nodes.at(times)
    readings = Readings(loop.system, points, inputs)
    attributes = {
        "robot": loop.system.robot.name,
        "model": loop.system.model,
        "tip_link": loop.system.robot.links[-1].name,
        "options": json.dumps({**options, "sample": sample} | ({"points": points} if points else {}), default=float),
        "statistics": "",
        "reason": loop.reason,
        "status": loop.status,
        "version": __version__,
        "python": platform.python_version(),
    }
    found = readings(times, rows, attributes, accelerations_later=isinstance(nodes, Nodes))
    if isinstance(nodes, Nodes):
        audited, energies = nodes.times, _energies(loop, nodes)
    else:
        audited, energies = times, {name: found.variables[name].values for name in ENERGIES}
    seen = audit(energies, loop.system.robot, float(times[-1]))
    statistics = {
        **vars(recorder.statistics),
        **loop.schedule.statistics(loop.stepper.nodes),
        **vars(loop.stepper.report.build),
        **more,
        "energy_balance": abs(seen.balance),
        "energy_share": seen.share,
        "energy_moved": seen.moved,
        "energy_worst_at": float(audited[seen.sample]),
        "vibration": _told(fastest, loop),
    }
    attributes["statistics"] = json.dumps(statistics, default=float)
    return Run(found, Dense(nodes, readings) if isinstance(nodes, Nodes) else nodes)


def _energies(loop: Integration, nodes: Nodes) -> dict[str, Array]:
    """At the steps' ends: between them energies are only as good as what is read there."""
    q, v, a = (nodes.rows[:, part] for part in loop.layout.motions)
    stored = loop.stepper.report(q, v, a, np.zeros((len(q), loop.stepper.report.inputs)))[0]
    work, lost = nodes.rows[:, -4], nodes.rows[:, -3]
    total = stored.sum(axis=1)
    names = ("kinetic", "elastic", "gravity", "drive")
    return dict(zip(names, stored.T, strict=True)) | {
        "work": work,
        "dissipated": lost,
        "balance": total - total[0] - work + lost,
    }


def _told(fastest: Vibration | None, loop: Integration) -> dict[str, float]:
    """The fastest vibration that is minded: its frequency (Hz) by the coordinate's name."""
    return {} if fastest is None else {loop.system.names[fastest.place]: fastest.frequency}


def _nodes(loop: Integration) -> Nodes | str:
    """The steps, or why there are none."""
    if isinstance(loop.stepper, SundialsStepper):
        return "adams and bdf keep their steps to themselves"
    nodes = loop.recorder.keeper.nodes
    if nodes is None:
        return f"its {loop.recorder.statistics.steps} steps take more memory than the {MOST / 1e6:.0f} MB that are kept"
    return nodes
