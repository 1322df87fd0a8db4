"""Error of a run that the number of its shapes causes, estimated with twice the shapes.

The robot with its own shapes and the refined one are linear about the posture at the start. Both get the inputs of the
run: torques, loads and weight, and accelerations of joints that are driven or controlled. The
distance between their tips is the estimate (benchmarks/truncation.py compares it with nonlinear runs).
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.numbers import Array
from flexarm.mechanics.system import System
from flexarm.mechanics.truncation import (
    MAX_ERROR,
    WARNED_WEIGHT,
    Comparison,
    NormalModes,
    Truncation,
    comparison,
    enough_shapes,
    joint_posture,
    listed_shapes,
)
from flexarm.motion.pieces import Opaque
from flexarm.motion.profiles import Profile
from flexarm.motion.run import Run
from flexarm.motion.schedule import Schedule
from flexarm.motion.shaped import pieces_of
from flexarm.robot import Robot

POINTS_PER_PERIOD = 8  # of the fastest mode that is followed
SAMPLES_PER_POINT = 3  # of inputs, whose mean counts
MIN_POINTS, MAX_POINTS = 200, 6000
MIN_SHARE = 1e-3  # of the largest response: weaker modes are taken as static
MAX_GROWTH = 30.0  # exponent within a block of the recurrence
BLOCK = 256  # points of a block, at most
POINTS_AT_ONCE = 1024  # so that arrays stay in the cache, and products too small for BLAS to start threads
REMEMBERED = 32  # estimates
AT_REST = 0.1  # distance from the linear static deflection, as a share of it, of links at rest in equilibrium
ROUNDING = 1e-12  # of the robot's length: smaller deflections are none
LARGE_ERROR = 0.2  # beyond it the size of the estimate means nothing

_known: dict[tuple[object, ...], Truncation] = {}
_lock = threading.Lock()


@dataclass(frozen=True)
class Excitation:
    """Inputs of a linear robot on an even grid of times.

    held: columns of joints and motors whose motion is given; forces: (n, inputs), generalized forces of unit inputs;
    values: (inputs, times), in the middle of each interval; start: (bases, 2, n), coordinates and rates at the start.
    """

    dt: float
    held: tuple[int, ...]
    forces: Array
    values: Array
    start: Array


@dataclass(frozen=True)
class Sampled:
    """Inputs on an even grid of times: means over each interval.

    drives: by actuator, "torque" or "acceleration", and its values; loads: by load, values of its six components.
    """

    dt: float
    points: int
    drives: list[tuple[str, Array]]
    loads: list[list[Array]]


class RunInputs:
    """Inputs of a run as functions of time, for any basis.

    start: (2, nq), coordinates and rates at the start.
    rates: times, rates of all coordinates and torques of all actuators in the course of the run. They stand for
        controllers and for functions of the user, which are not called again.
    """

    def __init__(
        self,
        system: System,
        schedule: Schedule,
        duration: float,
        start: Array,
        rates: tuple[Array, Array] | None = None,
        torques: tuple[Array, Array] | None = None,
    ) -> None:
        self.system, self.schedule, self.duration = system, schedule, duration
        self.start, self.rates, self.torques = start, rates, torques
        self.controlled = schedule.feedback is not None

    def key(self, these: Comparison) -> tuple[object, ...] | None:
        """Return what decides the estimate; None if recorded motions or torques do.

        Profiles are compared by value, splines by identity. Functions of the user are not compared: they may give
        other values in the next run.
        """
        loads = [(load.link, load.x, *parts) for load, parts in self.schedule.loads]
        if self.controlled or not self.schedule.is_data:
            return None
        inputs = (*self.schedule.torques, None, *self.schedule.motions.items(), None, *loads)
        return these, self.duration, inputs, self.start.tobytes()

    @classmethod
    def of_run(cls, system: System, schedule: Schedule, run: Run) -> RunInputs:
        """Return the inputs of a run that was computed."""
        times, start = run.array("time"), np.array([run.array("q")[0], run.array("v")[0]])
        calls = any(_is_function(each) for each in schedule.torques)
        torques = (times, run.array("torque")) if calls else None
        return cls(system, schedule, float(times[-1]), start, _rates(system, run), torques)

    def held(self, these: Comparison) -> tuple[int, ...]:
        """Return the columns of joints and motors whose motion is given."""
        if self.controlled:
            return tuple(these.actuated)
        driven = {self.system.coordinates[k].link for k in self.schedule.motions}
        columns = zip(these.straight.rigid, these.actuated, strict=True)
        return tuple(column for link, column in columns if link in driven)

    def sampled(self, these: Comparison) -> Sampled:
        """Return the inputs on a grid that follows modes that matter, and jumps of the inputs.

        A run that would need too many points is followed from its start as long as they suffice.
        """
        figures = these.frequencies(self.held(these))
        inside = (each for each in self.schedule.jumps if 0 < each < self.duration)
        jumps = np.array(sorted({0.0, self.duration, *inside}))  # np.unique imports numpy.ma
        fastest = min(
            1 / (POINTS_PER_PERIOD * max(figures.refined, default=1.0 / self.duration)),
            float(np.diff(jumps).min()) / 2,
            float(self.schedule.pace.longest.min(initial=np.inf)),
        )
        points = int(np.clip(np.ceil(self.duration / fastest), MIN_POINTS, MAX_POINTS))
        strong = [each for each, weight in zip(figures.refined, figures.weight, strict=True) if weight >= WARNED_WEIGHT]
        dt = min(self.duration / points, 1 / (POINTS_PER_PERIOD * max(strong, default=1.0 / self.duration)))
        points = min(points, int(np.ceil(self.duration / dt - 1e-9)))
        fine = np.asarray((np.arange(SAMPLES_PER_POINT * points) + 0.5) * (dt / SAMPLES_PER_POINT), dtype=float)

        def mean(values: Array) -> Array:
            return np.asarray(values.reshape(points, SAMPLES_PER_POINT).mean(axis=1))

        drives = []
        for k, actuator in enumerate(self.system.actuators):
            place = actuator.coordinate.index
            motion = self.schedule.motions.get(place)
            if self.controlled or (motion is not None and _is_function(motion)):
                drives.append(("acceleration", mean(np.interp(fine, *self._accelerations(place)))))
            elif motion is not None:
                drives.append(("acceleration", mean(motion.values(fine, 2))))
            elif _is_function(self.schedule.torques[k]):
                if self.torques is None:
                    raise ValueError("a torque is a function, which is not called again")
                drives.append(("torque", mean(np.interp(fine, self.torques[0], self.torques[1][:, k]))))
            else:
                drives.append(("torque", mean(self.schedule.torques[k].values(fine))))
        if any(_is_function(part) for _, parts in self.schedule.loads for part in parts):
            raise ValueError("a load is a function, which is not called again")
        loads = [[mean(part.values(fine)) for part in parts] for _, parts in self.schedule.loads]
        return Sampled(dt, points, drives, loads)

    def excitation(self, these: Comparison, sampled: Sampled) -> Excitation:
        """Return the inputs as generalized forces on the coordinates of both bases."""
        straight, names = these.straight, [link.name for link in self.system.robot.links]
        columns = dict(zip(straight.rigid, these.actuated, strict=True))
        parts = [(straight.weight, np.ones(sampled.points))]
        for actuator, (kind, values) in zip(self.system.actuators, sampled.drives, strict=True):
            column = columns[actuator.link]
            unit = actuator.gear * np.eye(len(straight.mass))[column]
            parts.append((unit if kind == "torque" else -straight.mass[:, column], values))
        for (load, _), components in zip(self.schedule.loads, sampled.loads, strict=True):
            for unit, values in zip(np.eye(6), components, strict=True):
                parts.append((straight.force(names[load.link], load.x, unit.tolist()), values))
        kept = [(force, values) for force, values in parts if np.any(values) and np.any(force)]
        forces = np.array([force for force, _ in kept]).reshape(len(kept), -1).T
        return Excitation(
            sampled.dt,
            self.held(these),
            forces if kept else np.zeros((len(straight.mass), 0)),
            np.array([values for _, values in kept]).reshape(len(kept), sampled.points),
            self._start(these),
        )

    def _accelerations(self, place: int) -> tuple[Array, Array]:
        """Return times and accelerations of a coordinate, from differences of its rates."""
        if self.rates is None:
            raise ValueError("the motion of joints was not stored")
        times, first = np.unique(self.rates[0], return_index=True)
        if len(times) < 2:
            return np.array([0.0, self.duration]), np.zeros(2)
        return (times[1:] + times[:-1]) / 2, np.diff(self.rates[1][first, place]) / np.diff(times)

    def _start(self, these: Comparison) -> Array:
        """Return deflections and their rates at the start, for both bases.

        A robot at rest in static equilibrium is so in both bases, each with its own deflections; else the start is that
        of the run, projected on the shapes.
        """
        own = these.straight.bases[0]
        start = np.zeros((2, 2, len(these.straight.mass)))
        loose = [k for k, each in enumerate(self.system.coordinates) if each.kind == "elastic"]
        columns = own.columns[-len(loose) :]
        sags = these.static_deflections
        bent = self.start[0][loose]
        settled = np.linalg.norm(bent - sags[0][columns]) <= AT_REST * np.linalg.norm(bent)
        if settled and not np.any(self.start[1][loose]):
            start[0, 0], start[1, 0] = sags
        else:
            start[:, :, columns] = self.start[:, loose]
        return start


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
    return estimate_of(RunInputs.of_run(system, schedule, run))


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
    except (ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
        return Truncation(reason=f"not computed: {error}")


def _remembered(these: Comparison, inputs: RunInputs, shapes: dict[str, dict[str, int]] | None) -> Truncation:
    key = inputs.key(these)
    if key is not None and key in _known:
        with _lock:
            if (known := _known.get(key)) is not None:
                return known
    sampled = inputs.sampled(these)
    excitation = inputs.excitation(these, sampled)
    error, enough = _error(these, excitation), shapes or {}
    free, held = these.frequencies(), these.frequencies(these.actuated)
    if error > MAX_ERROR and shapes is None:

        def error_of(robot: Robot) -> float:
            candidate = Comparison(robot, these.posture, these.fine)
            return _error(candidate, inputs.excitation(candidate, sampled))

        enough = enough_shapes(these.robot, error_of)
    joints = "held" if set(excitation.held) == set(these.actuated) else "free"
    found = Truncation(error, free, held, enough if error > MAX_ERROR else {}, joints=joints)
    if key is not None:
        with _lock:
            _known[key] = found
            while len(_known) > REMEMBERED:
                _known.pop(next(iter(_known)))
    return found


def _is_function(profile: Profile) -> bool:
    """Return True if a profile calls a function of the user."""
    return any(isinstance(each, Opaque) for each in pieces_of(profile))


def record(run: Run, found: Truncation) -> None:
    """Store the figures in the statistics of a run."""
    run._add_statistics(truncation=found.plain())


def warnings_of(found: Truncation, duration: float) -> list[str]:
    """Return a warning if the estimated error of a run of such a duration (s) is too large."""
    if found.error is None or found.error <= MAX_ERROR:
        return []
    _, own, fine = found.own_frequencies.decisive(duration)
    size = f"about {found.error:.1%}" if found.error < LARGE_ERROR else f"more than {LARGE_ERROR:.0%}"
    mode = f" (a mode at {fine:.4g} Hz is computed as {own:.4g} Hz)" if own else ""
    return [
        f"too few shapes: the tip of a link is off by {size} of the peak deflection{mode}; take "
        f"{listed_shapes(found.shapes)}, or see run.truncation and fa.convergence"
    ]


def _rates(system: System, run: Run) -> tuple[Array, Array]:
    """Return times and rates of all coordinates, at the steps of a run if it has them, else at its samples."""
    if isinstance(run._dense, str):
        return run.array("time"), run.array("v")
    nodes: Any = run._dense.nodes
    return nodes.times, nodes.motions(system.nq)[1]


def _error(these: Comparison, excitation: Excitation) -> float:
    """Return the largest distance between tips of links, as a share of the peak deflection."""
    straight, values = these.straight, excitation.values
    inputs = len(values)
    coordinates, rows = [], [values]
    for basis, modes in enumerate(these.modes(excitation.held)):
        followed, amplitudes, static = _amplitudes(these, modes, excitation, basis)
        coordinates.append(np.hstack([static, modes.shapes[:, followed]]))
        rows.append(amplitudes)
    own, fine = coordinates
    tips, deflections = (each.reshape(-1, len(straight.mass)) for each in (straight.tips, straight.deflections))
    moved = np.hstack([tips @ (own[:, :inputs] - fine[:, :inputs]), tips @ own[:, inputs:], -tips @ fine[:, inputs:]])
    bent = deflections @ fine
    distance = peak = 0.0
    for begin in range(0, values.shape[1], POINTS_AT_ONCE):
        some = [each[:, begin : begin + POINTS_AT_ONCE] for each in rows]
        distance = max(distance, _largest_norm(moved @ np.concatenate(some)))
        peak = max(peak, _largest_norm(bent @ np.concatenate(some[::2])))
    if peak <= ROUNDING * sum(link.length for link in these.robot.links):
        return 0.0
    return distance / peak


def _largest_norm(points: Array) -> float:
    """Return the largest norm of displacements of links (4 links, times)."""
    squares = (points * points).reshape(-1, 4, points.shape[1]).sum(axis=1)
    return float(np.sqrt(squares.max(initial=0.0)))


def _amplitudes(
    these: Comparison, modes: NormalModes, excitation: Excitation, basis: int
) -> tuple[NDArray[np.bool_], Array, Array]:
    """Return the modes of a basis that are followed, their coordinates (modes, times), and the static response (n,
    inputs) of the others.
    """
    pushes = modes.shapes.T @ excitation.forces  # (modes, inputs)
    start = excitation.start[basis] @ these.straight.mass @ modes.shapes  # (2, modes)
    moved = np.linalg.norm(these.straight.tips @ modes.shapes, axis=1).max(axis=0, initial=0.0)
    peak, total = _sizes(pushes, excitation.values)
    impulse = total * excitation.dt / modes.omega  # what a short pulse leaves
    driven = np.minimum(peak / modes.omega**2, impulse)
    largest = moved * (driven + np.abs(start[0]) + np.abs(start[1]) / modes.omega)
    followed = (modes.omega * excitation.dt < np.pi / 2) & (modes.decay < modes.omega)
    followed &= largest > MIN_SHARE * largest.max(initial=0.0)
    amplitudes = _responses(
        modes.omega[followed],
        modes.decay[followed],
        pushes[followed],
        excitation.values,
        start[:, followed],
        excitation.dt,
    )
    static = (modes.shapes[:, ~followed] / modes.omega[~followed] ** 2) @ pushes[~followed]
    return followed, amplitudes, static


def _sizes(pushes: Array, values: Array) -> tuple[Array, Array]:
    """Return the peak of the force on each mode, and the sum of its magnitude over all times."""
    peak, total = np.zeros((2, len(pushes)))
    for begin in range(0, values.shape[1], POINTS_AT_ONCE):
        force = np.abs(pushes @ values[:, begin : begin + POINTS_AT_ONCE])
        np.maximum(peak, force.max(axis=1, initial=0.0), out=peak)
        total += force.sum(axis=1)
    return peak, total


def _responses(omega: Array, decay: Array, pushes: Array, values: Array, start: Array, dt: float) -> Array:
    """Return the coordinates of modes (modes, times) under forces that are constant from one time to the next.

    With the pole p of a mode and w = x' - conj(p) x, its equation is w' = p w + f. It is solved in blocks: in each of
    them as a sum from rest, to which the motion at the end of the block before is added.
    """
    modes, count = len(omega), values.shape[1]
    if not modes:
        return np.zeros((0, count))
    turning = np.sqrt(omega**2 - decay**2)
    pole = -decay + 1j * turning
    fastest = float(decay.max(initial=0.0)) * dt
    block = int(max(min(BLOCK, count, MAX_GROWTH / fastest if fastest else np.inf), 1))
    step, powers = np.exp(pole * dt), np.exp((pole * dt)[:, None] * np.arange(block))
    weights = ((1 - 1 / step) / pole)[:, None] / powers
    through = powers[:, -1] * step
    w = start[1] - np.conj(pole) * start[0]
    out, powers = np.empty((modes, count)), powers / turning[:, None]
    blocks = max(POINTS_AT_ONCE // block, 1)
    for begin in range(0, count, blocks * block):
        force = pushes @ values[:, begin : begin + blocks * block]
        here = force.shape[1]
        many = -(-here // block)
        padded = np.zeros((modes, many * block))
        padded[:, :here] = force
        added = np.cumsum(padded.reshape(modes, many, block) * weights[:, None, :], axis=2)
        before = np.empty((modes, many), dtype=complex)
        for k in range(many):
            before[:, k] = w
            w = through * (w + added[:, k, -1])
        motion = np.empty_like(added)
        motion[:, :, 0] = 0.0
        motion[:, :, 1:] = added[:, :, :-1]
        motion += before[:, :, None]
        out[:, begin : begin + here] = (powers[:, None, :] * motion).imag.reshape(modes, -1)[:, :here]
    return out
