"""Build the labelled results of a run from its recorded steps and samples."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from typing import Any

import numpy as np

from flexarm._version import __version__
from flexarm.foundation.validation import Array
from flexarm.integrators.sundials import SundialsStepper
from flexarm.results.dataset import ENERGIES
from flexarm.results.energy_balance import energy_balance
from flexarm.results.outputs import DenseOutput, Inputs, Points, RunOutputs
from flexarm.results.run import Run
from flexarm.results.step_history import MAX_HISTORY_BYTES, StepHistory
from flexarm.results.vibration import Vibration, refined, refinement, vibration
from flexarm.simulation.single_run import SingleRun


def results(loop: SingleRun, points: Points, options: Mapping[str, Any], more: Mapping[str, Any]) -> Run:
    """Build the run as far as it was integrated. If no sampling time was given, it is chosen here."""
    recorder, nodes = loop.recorder, _nodes(loop)
    system, fastest = loop.system, None
    if isinstance(nodes, StepHistory):
        fastest = vibration(nodes, system.coordinates, system.sizes, options["rtol"])
    times, rows = recorder.times, recorder.rows
    inputs = Inputs(loop.schedule, loop.stepper, np.array(recorder.jumps), recorder.commands, float(times[-1]))
    sample = options["sample"] or float(recorder.wanted[1])
    if options["sample"] is None and isinstance(nodes, StepHistory):
        finer = refinement(fastest, sample, len(times), loop.system.nq)
        if finer > 1:
            times, sample = refined(times, finer), sample / finer
            rows = nodes.at(times)
    readings = RunOutputs(loop.system, points, inputs)
    attributes = {
        "robot": loop.system.robot.name,
        "model": loop.system.model,
        "tip_link": loop.system.robot.tip_name,
        "options": json.dumps({**options, "sample": sample} | ({"points": points} if points else {}), default=float),
        "statistics": "",
        "reason": loop.reason,
        "status": loop.status,
        "version": __version__,
        "python": platform.python_version(),
    }
    found = readings(times, rows, attributes, accelerations_later=isinstance(nodes, StepHistory))
    if isinstance(nodes, StepHistory):
        audited, energies = nodes.times, _energies(loop, nodes)
    else:
        audited, energies = times, {name: found.variables[name].values for name in ENERGIES}
    seen = energy_balance(energies, loop.system.robot, float(times[-1]))
    statistics = {
        **vars(recorder.statistics),
        **loop.schedule.statistics(loop.stepper.nodes),
        **vars(loop.stepper.report.build),
        **more,
        "energy_balance": abs(seen.balance),
        "energy_share": seen.share,
        "energy_moved": seen.moved,
        "energy_worst_at": float(audited[seen.sample]),
        "vibration": _vibration_frequency(fastest, loop),
    }
    attributes["statistics"] = json.dumps(statistics, default=float)
    return Run(found, DenseOutput(nodes, readings) if isinstance(nodes, StepHistory) else nodes)


def _energies(loop: SingleRun, nodes: StepHistory) -> dict[str, Array]:
    """Return energies at the nodes; between nodes they are as accurate as the interpolation."""
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


def _vibration_frequency(fastest: Vibration | None, loop: SingleRun) -> dict[str, float]:
    """Return the frequency (Hz) of the fastest vibration that samples must show, by the name of its coordinate."""
    return {} if fastest is None else {loop.system.names[fastest.place]: fastest.frequency}


def _nodes(loop: SingleRun) -> StepHistory | str:
    """Return the recorded steps, or the reason why there are none."""
    if isinstance(loop.stepper, SundialsStepper):
        return "adams and bdf keep their steps to themselves"
    nodes = loop.recorder.keeper.nodes
    if nodes is None:
        steps, limit = loop.recorder.statistics.steps, MAX_HISTORY_BYTES / 1e6
        return f"its {steps} steps take more memory than the {limit:.0f} MB that are kept"
    return nodes
