"""Error of a run that the number of its shapes causes, estimated with twice the shapes.

The robot with its own shapes and the refined one are linear about the posture at the start. Both get the inputs of the
run: torques, loads and weight where joints are free, accelerations of joints that are driven or controlled. The
distance between their tips is the estimate (benchmarks/truncation.py compares it with nonlinear runs).
"""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexarm.foundation.numbers import Array
from flexarm.mechanics.system import System
from flexarm.mechanics.truncation import (
    MAX_ERROR,
    Comparison,
    Modes,
    Truncation,
    comparison,
    enough_shapes,
    joint_posture,
    listed_shapes,
)
from flexarm.motion.run import Run
from flexarm.motion.schedule import Schedule

POINTS_PER_PERIOD = 8  # of the fastest mode that is followed
MIN_POINTS, MAX_POINTS = 200, 4000
FOLLOWED = 0.1  # weight of the fastest mode that sets the grid
MAX_GROWTH = 30.0  # exponent within a block of the recurrence
REMEMBERED = 32  # estimates
AT_REST = 1e-3  # residual of equilibrium, of the weight, below which gravity makes no vibration

_known: dict[tuple[int, bytes, bytes], tuple[Comparison, Truncation]] = {}
_lock = threading.Lock()


@dataclass(frozen=True)
class Excitation:
    """Inputs of a linear robot on an even grid of times.

    held: columns of joints and motors whose motion is given; forces: (n, inputs), generalized forces of unit inputs;
    values: (inputs, times), in the middle of each interval; start: (2, n), coordinates and rates at the start.
    """

    dt: float
    held: tuple[int, ...]
    forces: Array
    values: Array
    start: Array


class Inputs:
    """Inputs of a run as functions of time, for any basis.

    start: (2, nq), coordinates and rates at the start.
    rates: times and rates of all coordinates in the course of the run, which a controller needs.
    """

    def __init__(
        self,
        system: System,
        schedule: Schedule,
        duration: float,
        start: Array,
        rates: tuple[Array, Array] | None = None,
    ) -> None:
        self.system, self.schedule, self.duration = system, schedule, duration
        self.start, self.rates = start, rates
        self.controlled = schedule.feedback is not None

    @classmethod
    def of_run(cls, system: System, schedule: Schedule, run: Run) -> Inputs:
        """Return the inputs of a run that was computed."""
        start = np.array([run.array("q")[0], run.array("v")[0]])
        return cls(system, schedule, float(run.array("time")[-1]), start, _rates(system, run))

    def held(self, these: Comparison) -> tuple[int, ...]:
        """Return the columns of joints and motors whose motion is given."""
        if self.controlled:
            return tuple(these.actuated)
        driven = {self.system.coordinates[k].link for k in self.schedule.motions}
        columns = zip(these.straight.rigid, these.actuated, strict=True)
        return tuple(column for link, column in columns if link in driven)

    def excitation(self, these: Comparison) -> Excitation:
        """Return the inputs on a grid that follows all strong modes."""
        held = self.held(these)
        figures = these.frequencies(held)
        strong = [each for each, weight in zip(figures.refined, figures.weight, strict=True) if weight >= FOLLOWED]
        fastest = max(strong, default=0.0)
        points = int(np.clip(self.duration * fastest * POINTS_PER_PERIOD, MIN_POINTS, MAX_POINTS))
        dt = self.duration / points
        middle = np.linspace(dt / 2, self.duration - dt / 2, points)
        forces, values = [], []
        for force, value in self._parts(these, middle):
            if np.any(value):
                forces.append(force)
                values.append(value)
        count = len(these.straight.mass)
        start = self._start(these)
        return Excitation(
            dt,
            held,
            np.array(forces).T.reshape(count, -1),
            np.array(values).reshape(-1, points),
            start,
        )

    def _parts(self, these: Comparison, t: Array) -> Any:
        """Yield generalized forces of a unit input, and the input at times t."""
        straight, system, schedule = these.straight, self.system, self.schedule
        columns = dict(zip(straight.rigid, these.actuated, strict=True))
        for k, actuator in enumerate(system.actuators):
            column, place = columns[actuator.link], actuator.coordinate.index
            if self.controlled:
                yield -straight.mass[:, column], np.interp(t, *self._accelerations(place))
            elif place in schedule.motions:
                yield -straight.mass[:, column], schedule.motions[place].values(t, 2)
            else:
                yield actuator.gear * np.eye(len(straight.mass))[column], schedule.torques[k].values(t)
        names = [link.name for link in system.robot.links]
        for load, parts in schedule.loads:
            for unit, part in zip(np.eye(6), parts, strict=True):
                yield straight.force(names[load.link], load.x, unit.tolist()), part.values(t)
        if not self._hangs(these):
            yield straight.weight, np.ones_like(t)

    def _accelerations(self, place: int) -> tuple[Array, Array]:
        """Return times and accelerations of a coordinate, from differences of its rates."""
        assert self.rates is not None
        times, first = np.unique(self.rates[0], return_index=True)
        if len(times) < 2:
            return np.array([0.0, self.duration]), np.zeros(2)
        return (times[1:] + times[:-1]) / 2, np.diff(self.rates[1][first, place]) / np.diff(times)

    def _start(self, these: Comparison) -> Array:
        """Return deflections and their rates at the start, in the columns of the robot's own basis."""
        start = np.zeros((2, len(these.straight.mass)))
        if not self._hangs(these):
            own = these.straight.bases[0]
            start[:, own.columns[-int(self.system.elastic.sum()) :]] = self.start[:, self.system.elastic]
        return start

    def _hangs(self, these: Comparison) -> bool:
        """Whether links are at rest in static equilibrium at the start, so that nothing vibrates by itself."""
        own, elastic = these.straight.bases[0], self.system.elastic
        count = int(elastic.sum())
        weight = these.straight.weight[own.columns[-count:]]
        stiffness = own.stiffness[-count:, -count:]
        left = stiffness @ self.start[0][elastic] - weight
        still = not np.any(self.start[1][elastic])
        return still and bool(np.linalg.norm(left) <= AT_REST * np.linalg.norm(weight))


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
    return estimate_of(Inputs.of_run(system, schedule, run))


def estimate_of(inputs: Inputs, shapes: dict[str, dict[str, int]] | None = None) -> Truncation:
    """Estimate the error of a run with these inputs.

    Parameters
    ----------
    inputs : Inputs
        The inputs of the run.
    shapes : dict, optional
        Numbers of shapes that would do, if they are known from a similar robot.
    """
    these = comparison(inputs.system.robot, joint_posture(inputs.system, inputs.start[0]))
    if isinstance(these, str):
        return Truncation(reason=these)
    try:
        return _remembered(these, inputs, shapes)
    except np.linalg.LinAlgError as error:  # of some joints held, or with other numbers of shapes
        return Truncation(reason=f"not computed: {error}")


def _remembered(these: Comparison, inputs: Inputs, shapes: dict[str, dict[str, int]] | None) -> Truncation:
    excitation = inputs.excitation(these)
    key = (id(these), excitation.values.tobytes(), excitation.start.tobytes())
    with _lock:
        known = _known.get(key)
    if known is not None and known[0] is these:
        return known[1]
    error, enough = _error(these, excitation), shapes or {}
    free, held = these.frequencies(), these.frequencies(these.actuated)
    if error > MAX_ERROR and shapes is None:
        enough = enough_shapes(these.robot, lambda each: _error_of(Comparison(each, these.posture, these.fine), inputs))
    found = Truncation(error, free, held, enough if error > MAX_ERROR else {})
    with _lock:
        _known[key] = (these, found)
        while len(_known) > REMEMBERED:
            _known.pop(next(iter(_known)))
    return found


def _error_of(these: Comparison, inputs: Inputs) -> float:
    return _error(these, inputs.excitation(these))


def record(run: Run, found: Truncation) -> None:
    """Store the figures in the statistics of a run."""
    run._records.attrs["statistics"] = json.dumps({**run.statistics, "truncation": found.plain()}, default=float)


def warnings_of(found: Truncation, duration: float) -> list[str]:
    """Return a warning if the estimated error of a run of such a duration (s) is too large."""
    if found.error is None or found.error <= MAX_ERROR:
        return []
    _, own, fine = max(found.free.decisive(duration), found.held.decisive(duration))
    mode = f" (a mode at {fine:.4g} Hz is computed as {own:.4g} Hz)" if own else ""
    return [
        f"too few shapes: the tip of a link is off by about {found.error:.1%} of the peak deflection{mode}; take "
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
    straight = these.straight
    own, fine = these.modes(excitation.held)
    small, large = (_amplitudes(these, modes, excitation) for modes in (own, fine))
    tips = np.tensordot(straight.tips @ own.shapes, small, axes=1) - np.tensordot(
        straight.tips @ fine.shapes, large, axes=1
    )
    deflections = np.tensordot(straight.deflections @ fine.shapes, large, axes=1)
    peak = float(np.linalg.norm(deflections, axis=1).max(initial=0.0))
    return float(np.linalg.norm(tips, axis=1).max(initial=0.0)) / peak if peak > 0 else 0.0


def _amplitudes(these: Comparison, modes: Modes, excitation: Excitation) -> Array:
    """Return the coordinates of modes (modes, times) of the linear robot."""
    force = modes.shapes.T @ excitation.forces @ excitation.values
    start = excitation.start @ these.straight.mass @ modes.shapes  # (2, modes)
    amplitude = force / modes.omega[:, None] ** 2  # static, of modes that the grid does not follow
    followed = (modes.omega * excitation.dt < np.pi / 2) & (modes.decay < modes.omega)
    amplitude[followed] = _responses(
        modes.omega[followed], modes.decay[followed], force[followed], start[:, followed], excitation.dt
    )
    return np.asarray(amplitude)


def _responses(omega: Array, decay: Array, force: Array, start: Array, dt: float) -> Array:
    """Return the coordinates of modes (modes, times) under forces that are constant from one time to the next.

    With the pole p of a mode and w = x' - conj(p) x, its equation is w' = p w + f.
    """
    if not len(omega):
        return np.zeros((0, force.shape[1]))
    turning = np.sqrt(omega**2 - decay**2)
    pole = (-decay + 1j * turning)[:, None]
    step, count = np.exp(pole * dt), force.shape[1]
    gain = (1 - 1 / step) / pole
    w = start[1][:, None] - np.conj(pole) * start[0][:, None]
    out = np.empty((len(omega), count))
    fastest = float(decay.max(initial=0.0)) * dt
    block = count if fastest * count <= MAX_GROWTH else max(int(MAX_GROWTH / fastest), 1)
    for begin in range(0, count, block):
        here = force[:, begin : begin + block]
        grown = _powers(pole * dt, here.shape[1])
        added = np.cumsum(here * gain / grown, axis=1)
        w_here = w + added
        w_here[:, 1:] = w_here[:, :-1]
        w_here[:, :1] = w
        out[:, begin : begin + block] = (grown * w_here).imag / turning[:, None]
        w = grown[:, -1:] * step * (w + added[:, -1:])
    return out


def _powers(exponent: NDArray[np.complex128], count: int) -> NDArray[np.complex128]:
    """Return exp(k exponent) for k = 0 ... count - 1, with few calls of exp."""
    inner = 64
    small = np.exp(exponent * np.arange(inner))
    large = np.exp(exponent * (inner * np.arange(-(-count // inner))))
    return (large[:, :, None] * small[:, None, :]).reshape(len(exponent), -1)[:, :count]
