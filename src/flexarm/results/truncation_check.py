"""Error of a run that the number of its shapes causes, estimated with twice the shapes.

The robot with its own shapes and the refined one are linear about the posture at the start. Both get the inputs of the
run: torques, loads, a linearized law, accelerations of driven joints, and weight and forces of velocities of straight
links that move as in the run. The distance between their tips is the estimate, and the difference of deflections is
that of each link (benchmarks/truncation.py compares both with nonlinear runs).
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from flexarm.dynamics.accuracy.shape_truncation import (
    MAX_DEFLECTION_ERROR,
    MAX_TRUNCATION_ERROR,
    RECOMMENDED_ERROR,
    Comparison,
    NormalModes,
    Truncation,
    comparison,
    joint_posture,
    listed_shapes,
    sufficient_shapes,
)
from flexarm.dynamics.accuracy.validity import error_size
from flexarm.dynamics.system import System
from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.validation import Array
from flexarm.integrators.inputs import Schedule
from flexarm.results.linear_response import growth, modal_responses, product, state_responses
from flexarm.results.run import Run
from flexarm.results.truncation_inputs import (
    Excitation,
    FeedbackLoop,
    NotCompared,
    RunInputs,
    SampledInputs,
    is_function,
)

__all__ = ["RunInputs", "estimate", "estimate_of", "is_function", "record", "warnings_of"]

MIN_SHARE = 1e-3  # of the largest response: weaker modes are taken as static
MAX_STORED_ESTIMATES = 32  # estimates
MIN_DEFLECTION = 1e-12  # of the robot's length: smaller deflections are none
MIN_LINK_SHARE = 0.1  # of the peak deflection: the deflections of links that bend less are not compared
LARGE_BEND = 0.4  # of the length of a link: beyond it the estimate may be too small
MAX_LOOP_GROWTH = 3.0  # exponent within a run, of the linear robot under its law, beyond which the law is not followed

_known: dict[tuple[object, ...], Truncation] = {}
_lock = threading.Lock()


def estimate(system: System, schedule: Schedule, run: Run) -> Truncation:
    """Estimate the error of a run that the number of its shapes causes.

    Parameters
    ----------
    system : System
        The system that was simulated.
    schedule : Schedule
        The inputs of the run.
    run : Run
        The run.
    """
    if run.status == "failed" or len(run.array("time")) < 2:
        return Truncation(reason="the run failed")
    return _with_limits(estimate_of(inputs_of(system, schedule, run)), run, system)


def inputs_of(system: System, schedule: Schedule, run: Run) -> RunInputs:
    """Return the inputs of a run that was computed."""
    times, start = run.array("time"), np.array([run.array("q")[0], run.array("v")[0]])
    calls = schedule.feedback is not None or any(is_function(each) for each in schedule.torques)
    torques = (times, run.array("torque")) if calls else None
    loads = (times, run.array("loads")) if schedule.loads else None
    states = (times, run.array("law_states")) if schedule.law is not None and schedule.law.states else None
    return RunInputs(system, schedule, float(times[-1]), start, _rates(system, run), torques, loads, states)


def _with_limits(found: Truncation, run: Run, system: System) -> Truncation:
    """Return the estimate with reasons why it may be too small."""
    if found.error is None:
        return found
    reasons = [found.reason] if found.reason else []
    bends = np.linalg.norm(run.array("deflection")[:, :, 1:], axis=2).max(axis=0)
    for link, bend in zip(system.robot.links, bends.tolist(), strict=True):
        if bend > LARGE_BEND * link.length:
            reasons.append(
                f"link '{link.name}' bends by {bend / link.length:.0%} of its length: the error may be larger"
            )
    return replace(found, reason="; ".join(reasons))


def estimate_of(inputs: RunInputs, shapes: dict[str, dict[str, int]] | None = None) -> Truncation:
    """Estimate the error of a run with these inputs.

    Parameters
    ----------
    inputs : RunInputs
        The inputs of the run.
    shapes : dict, optional
        Numbers of shapes that would do, if they are known from a similar robot.
    """
    these = comparison(inputs.system.robot, joint_posture(inputs.system, inputs.start[0]))
    if isinstance(these, str):
        return Truncation(reason=these)
    try:
        return _remembered(these, inputs, shapes)
    except NotCompared as error:
        return Truncation(reason=f"not computed: {error}")


def _remembered(these: Comparison, inputs: RunInputs, shapes: dict[str, dict[str, int]] | None) -> Truncation:
    key = inputs.key(these)
    if key is not None and key in _known:
        with _lock:
            if (known := _known.get(key)) is not None:
                return known
    found = _computed(these, inputs, shapes)
    if key is not None:
        with _lock:
            _known[key] = found
            while len(_known) > MAX_STORED_ESTIMATES:
                _known.pop(next(iter(_known)))
    return found


def _computed(these: Comparison, inputs: RunInputs, shapes: dict[str, dict[str, int]] | None) -> Truncation:
    cases = [_Case.of(these, inputs)]
    if not cases[0].is_followed:
        cases = [_Case.of(these, inputs.with_stuck(inputs.controlled_links))]
    if (rubbing := frozenset(_rubbing_links(inputs))) and inputs.rates is not None:
        cases.append(_Case.of(these, inputs.with_stuck(cases[0].inputs.stuck | rubbing)))  # friction may hold a joint

    def errors_of(one: Comparison) -> Errors:
        return Errors.largest([_errors(one, each.excitation(one)) for each in cases])

    errors, enough = errors_of(these), shapes or {}
    if errors.share > 1 and shapes is None:
        enough = sufficient_shapes(
            these.robot, lambda robot: errors_of(Comparison(robot, these.posture, these.robot)).recommended
        )
    free, held = these.frequencies(), these.frequencies(these.actuated)
    joints = "held" if cases[0].inputs.holds(these) else "free"
    reason = f"Coulomb friction of {_quoted(rubbing)} is not covered: the error may be larger" if rubbing else ""
    names = [link.name for link in these.robot.links]
    deflection = {name: share for name, share in zip(names, errors.deflections, strict=True) if share is not None}
    return Truncation(errors.tip, free, held, enough if errors.share > 1 else {}, reason, joints, deflection)


@dataclass(frozen=True)
class _Case:
    """Inputs of a run on a grid, and as forces on the robot that was simulated."""

    these: Comparison
    inputs: RunInputs
    sampled: SampledInputs
    forces: Excitation

    @classmethod
    def of(cls, these: Comparison, inputs: RunInputs) -> _Case:
        sampled = inputs.sampled(these)
        return cls(these, inputs, sampled, inputs.excitation(these, sampled))

    def excitation(self, one: Comparison) -> Excitation:
        """Return the forces on the robot, or on one with other shapes."""
        return self.forces if one is self.these else self.inputs.excitation(one, self.sampled)

    @property
    def is_followed(self) -> bool:
        """Return False if the linear robot is unstable under its law, while the run was not."""
        if (loop := self.forces.loop) is None:
            return True
        A = _closed_loop(self.these, 0, self.forces.held, loop, self.forces.dt).A
        return growth(A, self.inputs.duration) < MAX_LOOP_GROWTH


def _rubbing_links(inputs: RunInputs) -> list[str]:
    """Return the links whose joints have Coulomb friction and are not moved as prescribed."""
    moved = {each.link for each, kind in zip(inputs.system.actuators, inputs.kinds, strict=True) if kind == "motion"}
    links = [each for each in inputs.system.robot.links if each.name not in moved]
    return [each.name for each in links if any(one.coulomb for one in each.joint.freedom_properties)]


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f"'{name}'" for name in sorted(names))


def record(run: Run, found: Truncation) -> None:
    """Store the figures in the statistics of a run."""
    run._add_statistics(truncation=found.plain())


def warnings_of(found: Truncation, duration: float) -> list[str]:
    """Return a warning if the estimated error of a run of such a duration (s) is too large."""
    if found.error is None:
        return []
    link, share = max(found.deflection.items(), key=lambda item: item[1], default=("", 0.0))
    if found.error <= MAX_TRUNCATION_ERROR and share <= MAX_DEFLECTION_ERROR:
        return []
    _, own, fine = found.own_frequencies.decisive(duration)
    mode = f" (a mode at {fine:.4g} Hz is computed as {own:.4g} Hz)" if own else ""
    what = f"the tip of a link is off by {error_size(found.error)} of the peak deflection"
    if found.error <= MAX_TRUNCATION_ERROR:
        what = f"the deflection of '{link}' is off by {error_size(share)} of its own peak, although tips are near"
    return [
        f"too few shapes: {what}{mode}; take {listed_shapes(found.shapes)}, or see run.truncation and fa.convergence"
    ]


def _rates(system: System, run: Run) -> tuple[Array, Array]:
    """Return times and rates of all coordinates, at the steps of a run if it has them, else at its samples."""
    if isinstance(run._dense, str):
        return run.array("time"), run.array("v")
    nodes: Any = run._dense.nodes
    return nodes.times, nodes.motions(system.nq)[1]


class Errors(NamedTuple):
    """Errors of tips as a share of the peak deflection, and of the deflections of links as shares of their own peaks.

    A link that hardly bends has None.
    """

    tip: float
    deflections: list[float | None]

    @property
    def share(self) -> float:
        """Largest error divided by its bound."""
        return max(
            self.tip / MAX_TRUNCATION_ERROR, *((each or 0.0) / MAX_DEFLECTION_ERROR for each in self.deflections)
        )

    @property
    def recommended(self) -> float:
        """Error of the tips, or one that is small enough if those of deflections are below their bound."""
        return max(self.tip, RECOMMENDED_ERROR * max((each or 0.0) / MAX_DEFLECTION_ERROR for each in self.deflections))

    @classmethod
    def largest(cls, several: Sequence[Errors]) -> Errors:
        """Return the largest of several estimates."""
        deflections = [
            max((each for each in link if each is not None), default=None)
            for link in zip(*(each.deflections for each in several), strict=True)
        ]
        return cls(max(each.tip for each in several), deflections)


def _errors(these: Comparison, excitation: Excitation) -> Errors:
    straight = these.straight
    links, n = straight.tips.shape[0], len(straight.mass)
    rows = np.concatenate([straight.tips, straight.deflections]).reshape(-1, n)
    own, fine = (_displacements(these, basis, excitation, rows).reshape(2 * links, 4, -1) for basis in range(2))
    distance = float(_norms(own[:links] - fine[:links]).max(initial=0.0))
    bends = _norms(fine[links:]).max(axis=1, initial=0.0)
    peak = float(bends.max(initial=0.0))
    if peak <= MIN_DEFLECTION * these.robot.size:
        return Errors(0.0, [None] * links)
    across = [_norms(each[links:, 1:3]).max(axis=1, initial=0.0) for each in (own - fine, fine)]
    shares = [float(off / bend) if bend > MIN_LINK_SHARE * peak else None for off, bend in zip(*across, strict=True)]
    return Errors(distance / peak, shares)


def _norms(points: Array) -> Array:
    """Return the norms of displacements (links, axes, times) by link and time."""
    return np.asarray(np.sqrt((points * points).sum(axis=1)))


def _displacements(these: Comparison, basis: int, excitation: Excitation, rows: Array) -> Array:
    """Return displacements (rows, times) of a basis; `rows` give them for all coordinates."""
    if excitation.loop is not None:
        return _looped(these, basis, excitation, excitation.loop, rows)
    modes = these.modes(excitation.held)[basis]
    pushes = product(modes.shapes.T, excitation.forces)
    start = excitation.start[basis] @ these.straight.mass @ modes.shapes  # (2, modes)
    moved = np.linalg.norm(these.straight.tips @ modes.shapes, axis=1).max(axis=0, initial=0.0)
    impulse = np.abs(pushes).sum(axis=1) * excitation.dt / modes.omega  # what a short pulse leaves
    driven = np.minimum(np.abs(pushes).max(axis=1, initial=0.0) / modes.omega**2, impulse)
    largest = moved * (driven + np.abs(start[0]) + np.abs(start[1]) / modes.omega)
    followed = _followed(modes, excitation.dt) & (largest > MIN_SHARE * largest.max(initial=0.0))
    known = modes.omega[followed], modes.decay[followed], pushes[followed], start[:, followed]
    out = product(rows @ modes.shapes[:, followed], modal_responses(*known, excitation.dt))
    return out + product(rows @ modes.shapes[:, ~followed] / modes.omega[~followed] ** 2, pushes[~followed])


def _followed(modes: NormalModes, dt: float) -> NDArray[np.bool_]:
    """Return which modes are slow enough to be followed on a grid; the others are taken as static."""
    return np.asarray((modes.omega * dt < np.pi / 2) & (modes.decay < modes.omega))


@dataclass(frozen=True)
class _ClosedLoop:
    """A linear robot under a linearized law: joints and motors that are not held, and modes with these held.

    A: of the state (coordinates, rates, states of the law); joints: columns of joints and motors, which come first;
    shapes: (n, coordinates); mass: that of the coordinates; static: shapes and angular frequencies of modes that are
    taken as static.
    """

    A: Array
    shapes: Array
    joints: list[int]
    mass: Array
    static: tuple[Array, Array]


def _closed_loop(these: Comparison, basis: int, held: tuple[int, ...], loop: FeedbackLoop, dt: float) -> _ClosedLoop:
    modes, straight = these.modes(these.actuated)[basis], these.straight
    one = straight.bases[basis]
    slow = _followed(modes, dt)
    joints = [column for column in these.actuated if column not in held]
    rigid = np.array([these.rigid_motions[column] for column in joints]).reshape(len(joints), -1).T
    shapes = np.hstack([rigid, modes.shapes[:, slow]])
    own = shapes[one.columns]
    mass, K, D = shapes.T @ straight.mass @ shapes, own.T @ one.stiffness @ own, own.T @ one.damping @ own
    nq, nu, count = loop.readings.shape[1], loop.torques.shape[1], shapes.shape[1]
    reads = loop.readings[basis] @ shapes
    on_q, on_v, on_states = np.split(loop.slopes, [nq, 2 * nq], axis=1)
    torques = shapes.T @ loop.torques
    A = np.block(
        [
            [np.zeros((count, count)), np.eye(count), np.zeros((count, len(loop.start)))],
            [
                np.linalg.solve(mass, torques @ on_q[:nu] @ reads - K),
                np.linalg.solve(mass, torques @ on_v[:nu] @ reads - D),
                np.linalg.solve(mass, torques @ on_states[:nu]),
            ],
            [on_q[nu:] @ reads, on_v[nu:] @ reads, on_states[nu:]],
        ]
    )
    return _ClosedLoop(A, shapes, joints, mass, (modes.shapes[:, ~slow], modes.omega[~slow]))


def _looped(these: Comparison, basis: int, excitation: Excitation, loop: FeedbackLoop, rows: Array) -> Array:
    """Return displacements as `_displacements` does, of a robot under a law."""
    model = _closed_loop(these, basis, excitation.held, loop, excitation.dt)
    count, joints, nu = model.shapes.shape[1], len(model.joints), loop.torques.shape[1]
    given = np.zeros((len(model.A), excitation.forces.shape[1]))
    to_rates = np.asarray(np.linalg.solve(model.mass, model.shapes.T), dtype=float)
    given[count : 2 * count] = product(to_rates, excitation.forces) + product(to_rates @ loop.torques, loop.rest[:nu])
    given[2 * count :] = loop.rest[nu:]
    own = these.straight.mass
    start = np.concatenate([*(_projected(model, own, each) for each in excitation.start[basis]), loop.start])
    states = state_responses(model.A, given, start, excitation.dt)
    moved = product(rows @ model.shapes, states[:count])
    shapes, omega = model.static
    if not len(omega):
        return moved
    yields = (rows @ shapes / omega**2) @ shapes.T
    moved += product(yields, excitation.forces) + product(yields @ loop.torques, loop.rest[:nu])
    turned = product(model.A[count : count + joints], states) + given[count : count + joints]
    return moved - product(yields @ own @ model.shapes[:, :joints], turned)


def _projected(model: _ClosedLoop, mass: Array, start: Array) -> Array:
    """Return coordinates of a closed loop from those of the robot."""
    turning, bending = np.split(model.shapes, [len(model.joints)], axis=1)
    rigid = start[model.joints]
    return np.concatenate([rigid, bending.T @ mass @ (start - turning @ rigid)])
