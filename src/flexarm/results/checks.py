"""Checks of a result: warnings about its validity."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Any

import numpy as np

from flexarm.dynamics.accuracy.shape_truncation import FEW_SHAPES, NOT_SUPPORTED, Truncation
from flexarm.dynamics.accuracy.validity import (
    MAX_NODE_TURN,
    ValidityWarning,
    bend_shares,
    could_be_exact,
    deflection_limit,
    deflection_warnings,
    error_size,
    largest_postures,
    node_turn_warnings,
    node_turns,
    twist_warnings,
)
from flexarm.dynamics.system import System
from flexarm.foundation.messages import warn
from flexarm.foundation.validation import Array
from flexarm.results import truncation_check
from flexarm.results.energy_balance import switches
from flexarm.results.run import Run
from flexarm.results.stiffening_check import MAX_STIFFENING_ERROR, LinkError, estimated_errors, warnings_of
from flexarm.results.vibration import A_PERIOD, ALIASED_SAMPLES
from flexarm.robot import RidingJoint, Robot

Plain = Mapping[str, Any]  # statistics and options

MIN_BEND = 1e-3  # of the length of a link: smaller deflections are no bending
MAX_ENERGY_ERROR = 0.05  # of the energy that moved: an integration that puts in or takes out more is not to be trusted
OF_LAWS = "a law that jumps (np.sign, np.where) needs a smooth form (np.tanh), or a sample rate"


def warn_of_validity(run: Run, system: System, errors: list[LinkError] | None = None) -> None:
    """Warn if a run ended early, did not converge, leaks energy, bends too far or hides its vibration.

    errors: those of second-order links, if they are computed already.
    """
    for sentence in (*_early_end(run, system.robot), *validity_warnings(run, system, errors)):
        warn(sentence, ValidityWarning)


def validity_warnings(run: Run, system: System, errors: list[LinkError] | None = None) -> list[str]:
    """Return the warnings of a run, as far as it was integrated."""
    robot, statistics, options = system.robot, run.statistics, run.options
    errors = estimated_errors(run, system) if errors is None else errors
    found = (
        _unsolved(statistics, options),
        _inaccurate(run, robot, statistics, options),
        _leak(run, statistics, options),
        smoothed_steps(system),
        _large_deflections(run, system, errors),
        warnings_of(errors, system),
        _large_twists(run, system),
        _coarse_nodes(run, system),
        _aliases(statistics, options),
        _too_few_shapes(run, robot, statistics, options),
    )
    return [*chain.from_iterable(found)]


def _early_end(run: Run, robot: Robot) -> list[str]:
    if run.status == "completed":
        return []
    return [f"the run ended early: {run.reason}; what was computed is kept{_hint(run, robot)}"]


def _hint(run: Run, robot: Robot) -> str:
    """Return a possible reason for the divergence of a run."""
    if not run.reason.startswith("diverged"):
        return ""
    if "rate" in run.options:
        return (
            f"; a controller that speaks every {1 / run.options['rate']:.3g} s shakes joints that feel little inertia: "
            "raise its rate, lower its gains, or give the joints the hub or rotor that a motor has"
        )
    if "Feedback" in run.options["torque"] and "changes too fast" in run.reason:
        return f"; {OF_LAWS}"
    largest = np.abs(run.array("deflection")).max(axis=(0, 2))
    for bend, link in zip(largest, robot.links, strict=True):
        if bend > deflection_limit(link) / 3 * link.length and could_be_exact(
            robot, link
        ):  # its mass matrix may lose definiteness
            return f"; stiffening='exact' of link '{link.name}' bears deflections of any size"
    return ""


def _unsolved(statistics: Plain, options: Plain) -> list[str]:
    if not statistics["unsolved"]:
        return []
    return [unsolved_steps(statistics["unsolved"], statistics["steps"], options["dt"])]


def _too_few_shapes(run: Run, robot: Robot, statistics: Plain, options: Plain) -> list[str]:
    found = statistics.get("truncation")
    if found is None:
        return []
    if found["reason"] == NOT_SUPPORTED:
        return _unchecked_shapes(run, robot)
    return truncation_check.warnings_of(Truncation.from_plain(found), options["duration"])


def _unchecked_shapes(run: Run, robot: Robot) -> list[str]:
    """Return a warning about links that bend with few shapes in a robot whose shapes cannot be compared."""
    bends = np.linalg.norm(run.array("deflection")[:, :, 1:], axis=2).max(axis=0)
    few = [
        f"{family}={count} of '{link.name}'"
        for link, bend in zip(robot.links, bends.tolist(), strict=True)
        if link.flexible is not None and bend > MIN_BEND * link.length
        for family, count in link.flexible.counts.items()
        if family.startswith("bend") and count <= FEW_SHAPES
    ]
    if not few:
        return []
    return [f"{NOT_SUPPORTED} with more shapes: {', '.join(few)} may be too few; see fa.convergence"]


def unsolved_steps(count: int, steps: int, dt: float) -> str:
    """Return the warning of steps of fixed size that were not solved."""
    return (
        f"Newton's iteration did not converge in {count} of {steps} steps of dt = {dt:g} s; take a shorter step, or "
        "leave dt out"
    )


def _inaccurate(run: Run, robot: Robot, statistics: Plain, options: Plain) -> list[str]:
    estimate = statistics.get("error_estimate")
    allowed = options["rtol"] * robot.size + options["atol"]
    if run.status == "failed" or estimate is None or estimate <= allowed:
        return []
    smaller = "dt" if options["dt"] else "rtol"
    replayed = "; in that run the recorded torques of the controller were repeated" if "rate" in options else ""
    return [
        f"links are up to {estimate:.3g} m from where a more accurate run has them, and "
        f"{allowed:.3g} m are allowed; take a smaller {smaller}{replayed}"
    ]


def smoothed_steps(system: System) -> list[str]:
    """Modes of a rail are smooth over the steps of its section, where curvature should jump."""
    robot = system.robot
    rails = {
        robot.links[parent].name: rider.name
        for rider, parent in zip(robot.links, robot.parents, strict=True)
        if parent is not None and isinstance(rider.joint, RidingJoint) and not rider.joint.on_mesh
    }
    return [
        f"link '{name}' has a section with steps, and '{rider}' slides along it: its modes are smooth over the steps "
        "and may be some per cent too stiff; see fa.convergence"
        for name, rider in rails.items()
        if (link := robot.link(name)).flexible is not None and link.section is not None and link.section.breaks
    ]


def _leak(run: Run, statistics: Plain, options: Plain) -> list[str]:
    """A run that gains or loses much energy by its integration is wrong, however smooth it looks."""
    share = statistics.get("energy_share", 0.0)
    if run.status != "completed" or abs(share) <= MAX_ENERGY_ERROR:
        return []
    did = "put in" if share > 0 else "took out"
    if switches(run.robot):
        return [
            f"contact from node to node {did} {statistics['energy_balance']:.3g} J until t = "
            f"{statistics['energy_worst_at']:.4g} s, where no more than {statistics['energy_moved']:.3g} J moved: that "
            "is the scheme's own; take more elements, or contact 'continuous'"
        ]
    return [
        f"the integration itself {did} {statistics['energy_balance']:.3g} J until t = "
        f"{statistics['energy_worst_at']:.4g} s, where no more than {statistics['energy_moved']:.3g} J moved: do not "
        f"trust this run; take a smaller {'dt' if options['dt'] else 'rtol'}, or another method"
    ]


def _states(run: Run) -> tuple[Array, Array]:
    """Return times and coordinates at steps if they are recorded, else at samples, which may miss extremes."""
    if isinstance(run._dense, str):
        return run.array("time"), run.array("q")
    nodes = run._dense.nodes
    return nodes.times, nodes.rows[:, : run.array("q").shape[1]]


def _large_deflections(run: Run, system: System, errors: list[LinkError]) -> list[str]:
    """Return warnings of large deflections: along the axis at steps, of the tip at samples."""
    found: list[str] = []
    bends = {each.link: each.bend for each in errors}  # of the axis, at all steps
    sizes = {each.link: each.error for each in errors if each.error > MAX_STIFFENING_ERROR}
    (time, q), samples, tips = _states(run), run.array("time"), run.array("deflection")
    for place, link in enumerate(system.robot.links):
        if not np.isfinite(limit := deflection_limit(link)):
            continue
        tip = np.linalg.norm(tips[:, place, 1:], axis=1) / link.length
        slides = link.joint.grips  # each part has a length of its own
        if not slides and bends.get(link.name, np.inf) < limit and tip.max() < limit:
            continue
        rows = largest_postures(system, link, q)
        axis = bend_shares(system, link, q[rows])
        worst = (float(axis.max()), time[rows[axis.argmax()]]), (float(tip.max()), samples[tip.argmax()])
        share, when = max(worst)
        off = (
            f", and its deflection may be off by {error_size(size)} of the peak"
            if (size := sizes.get(link.name))
            else ""
        )
        found += deflection_warnings(system.robot, link, share, f" at t = {when:.4g} s", off)
    return found


def _large_twists(run: Run, system: System) -> list[str]:
    time, q = _states(run)
    return list(twist_warnings(system, q, lambda row: f" at t = {time[row]:.4g} s"))


def _coarse_nodes(run: Run, system: System) -> list[str]:
    """Exact links that are curled up further than their nodes can follow."""
    found: list[str] = []
    time, q = _states(run)
    if not (np.abs(q) @ system._unit_turns > MAX_NODE_TURN).any():
        return found
    for name, turns in node_turns(system, q).items():
        worst = int(turns.argmax())
        found += node_turn_warnings(name, float(turns[worst]), f" at t = {time[worst]:.4g} s")
    return found


def _aliases(statistics: Plain, options: Plain) -> list[str]:
    found = statistics.get("vibration", {}).items()
    return [sentence for name, frequency in found for sentence in aliases(name, frequency, options["sample"])]


def aliases(name: str, frequency: float, sample: float) -> list[str]:
    """Samples that are too far apart for a vibration show a slower one, or none."""
    if frequency * sample * ALIASED_SAMPLES <= 1:
        return []
    return [
        f"'{name}' vibrates at about {frequency:.3g} Hz, which samples every {sample:.3g} s do not show: take "
        f"sample={1 / (A_PERIOD * frequency):.1g} (s) or less, or read the run between them with run.at(t)"
    ]
