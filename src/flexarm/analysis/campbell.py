"""Modes of a robot that turns steadily about a joint, over its speed: Campbell's diagram.

At each speed the robot is first brought to where it stays in its turning frame, links stretched and bent by what
turning does to them; then come the modes about that state, gyroscopic terms included.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm.analysis.frequency_maps import one_by_one
from flexarm.analysis.modes import Complex, Hold, ModeSet, steady_speeds, vibrating
from flexarm.analysis.modes import modes as modes_of
from flexarm.dynamics.arguments import Vector
from flexarm.dynamics.system import System
from flexarm.dynamics.validity import exact_model_hint
from flexarm.foundation.messages import shown
from flexarm.foundation.validation import Array, real_array, real_number, whole_number
from flexarm.robot import Revolute, Robot

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ITERATIONS = 30
REACH = 1.0  # of what is large for a coordinate: further than this one step is not trusted
TURNS = (1.0, 2.3)  # rad: a robot that turns steadily is the same after these
SAME = 1e-7  # against what is large
ALIKE = 0.7  # of the modal assurance criterion: less asks for a speed in between
HALVINGS = 6
OTHERS = 6  # modes beyond those asked for among which they are looked for
EQUAL = 1e-6  # of a frequency: modes that are nearer may be mixed in any way


@dataclass(frozen=True, eq=False)
class Campbell:
    """Modes over speeds (rad/s), each followed by its shape, in the order of their frequencies at the first speed.

    joint: about which the robot turns. eigenvalues: (speeds, modes), with a positive real part where a motion grows.
    damping_ratios: to first order. shapes: (speeds, nq, modes). q: (speeds, nq), where the robot stays. names: of the
    coordinates.
    """

    joint: str
    speeds: Array
    eigenvalues: Complex
    damping_ratios: Array
    shapes: Complex
    q: Array
    names: tuple[str, ...]

    @property
    def frequencies(self) -> Array:
        """(speeds, modes), Hz."""
        return np.asarray(np.abs(self.eigenvalues.imag) / (2 * np.pi))

    @property
    def unstable(self) -> Any:
        """(speeds, modes): which of them grow."""
        return (self.eigenvalues.real > 1e-9 * np.abs(self.eigenvalues)) | (self.damping_ratios < -1e-9)

    def critical(self, order: float = 1.0) -> list[tuple[float, float]]:
        """Speeds (rad/s) at which some mode has `order` vibrations a turn, and its frequency (Hz) there: squares of
        frequencies are followed straight, over squares of speeds, from one speed to the next."""
        order = real_number("order", order, above=0)
        found = []
        x, y = self.speeds**2, (2 * np.pi * self.frequencies) ** 2
        for mode in range(y.shape[1]):
            gap = y[:, mode] - order**2 * x
            for k in np.flatnonzero((gap[:-1] >= 0) != (gap[1:] >= 0)):
                share = gap[k] / (gap[k] - gap[k + 1])
                speed = float(np.sqrt(x[k] + share * (x[k + 1] - x[k])))
                found.append((speed * float(np.sign(self.speeds[k + 1] + self.speeds[k])), order * speed / (2 * np.pi)))
        return sorted(found)

    def plot(self, orders: Sequence[float] = (1, 2, 3, 4)) -> Figure:
        """Frequencies over speed, with lines of so many vibrations a turn (`orders`)."""
        from flexarm.plotting.frequency import campbell_figure

        return campbell_figure(self, orders)

    def __repr__(self) -> str:
        low, high = self.speeds[0], self.speeds[-1]
        return f"Campbell of {self.eigenvalues.shape[1]} modes about {self.joint}, {low:g} to {high:g} rad/s"


def campbell(
    robot: Robot | System,
    joint: str,
    speeds: Any,
    *,
    modes: int = 6,
    q: Vector = None,
    joints: Hold | Mapping[str, Hold] = "locked",
    progress: bool | None = None,
) -> Campbell:
    """Frequencies of a robot that turns steadily about a `joint` (by its link) at `speeds` (rad/s, rising).

    modes: how many, the slowest at the first speed; each is followed by its shape, not by its place.
    q: the posture at rest; where links and drives go as it turns is found. joints: the others, as in `fa.modes`.
    progress: None shows a bar on a terminal only. Ctrl-C ends it with the speeds so far.

    >>> from flexarm.robot import library
    >>> found = campbell(library.rotating_beam(modes=3, stiffening="shortening"), "beam", [0.0, 3.0, 6.0], modes=1)
    >>> found.frequencies[:, 0].round(3)  # lag: centrifugal force stiffens the beam
    array([0.463, 0.506, 0.596])
    """
    if not isinstance(robot, (Robot, System)):
        raise TypeError(f"robot = {shown(robot)}: must be a Robot or a System")
    system = robot if isinstance(robot, System) else System(robot, native=False)
    given = np.array(real_array("speeds", speeds))
    if given.ndim != 1 or not len(given) or not np.isfinite(given).all() or (np.diff(given) <= 0).any():
        raise ValueError(f"speeds = {shown(speeds)}: must be finite speeds (rad/s) that rise")
    count = whole_number("modes", modes, least=1)
    _require_hinge(system, joint)
    posture = system.posture(q)
    if posture.ndim != 1:
        raise ValueError(f"q has shape {posture.shape}: a robot turns in one posture at a time")
    turning = _Turning(system, joint, joints)
    turning.require_symmetry(posture)
    track = _Track(turning, posture, count)
    done = one_by_one(given.tolist(), track.go, "speeds", progress)
    rows = track.rows[:done]
    return Campbell(
        joint,
        given[:done],
        np.array([row.eigenvalues for row in rows]),
        np.array([row.ratios for row in rows]),
        np.array([row.shapes for row in rows]),
        np.array([row.q for row in rows]),
        system.names,
    )


def _require_hinge(system: System, joint: object) -> None:
    if not isinstance(joint, str):
        raise TypeError(f"joint = {shown(joint)}: must be the name of a link")
    try:
        system.joint(joint)
    except KeyError as error:
        raise KeyError(f"joint: {error.args[0]}") from None
    if not isinstance(system.robot.link(joint).joint, Revolute):
        raise ValueError(f"joint = {joint!r}: must be a hinge, about which the robot can turn for ever")
    if system.constraints:
        raise ValueError("robot: has constraints; steady rotation is that of robots without")


@dataclass(frozen=True)
class _Turning:
    """A robot and the joint about which it turns."""

    system: System
    joint: str
    joints: Hold | Mapping[str, Hold]

    def speed(self, omega: float) -> dict[str, float]:
        return {self.system.joint(self.joint).name: omega}

    def kept(self) -> tuple[list[int], Array]:
        """Coordinates that may vibrate, and speeds of all at one rad/s."""
        one, held = steady_speeds(self.system, self.system.vector(self.speed(1.0), "v"))
        return vibrating(self.system, self.joints, held), one

    def require_symmetry(self, q: Array) -> None:
        """What turns must look the same at every angle: no weight across its axis, nothing soft that carries it."""
        system, (kept, _) = self.system, self.kept()
        place = system.joint(self.joint).index
        here = np.ix_(kept, kept)
        turned = [q + angle * np.eye(system.nq)[place] for angle in (0.0, *TURNS)]
        weights = [system.gravity(each)[kept] * system.sizes[kept] for each in turned]
        masses = [(system.mass_matrix(each) * np.outer(system.sizes, system.sizes))[here] for each in turned]
        robot = system.robot
        heavy = float(np.linalg.norm(robot.gravity)) * robot.total_mass * sum(link.length for link in robot.links)
        inert = max(float(np.abs(each).max(initial=0.0)) for each in masses)
        for what, values, size in (("its weight", weights, heavy), ("the inertia of what carries it", masses, inert)):
            if any(np.abs(each - values[0]).max(initial=0.0) > SAME * size for each in values):
                raise ValueError(
                    f"joint = {self.joint!r}: {what} changes as it turns, so that there is no steady rotation; turn "
                    "about gravity, and with the links that carry the joint rigid"
                )

    def steady(self, omega: float, q: Array) -> Array:
        """Where the robot stays at a speed, from a posture near it, by Newton's method."""
        kept, one = self.kept()
        v, out, here = one * omega, q.copy(), np.ix_(kept, kept)
        scale, last = (self.system.sizes * self.system.meshes)[kept], np.inf
        for _ in range(ITERATIONS):
            force = self.system.inverse_dynamics(out, v, None)[kept]
            if not force.any():
                return out
            slope = self.system.linearization(out, v).K[here]
            change = np.linalg.lstsq(slope * scale, -force, rcond=1e-14)[0] * scale
            size = float(np.abs(change / scale).max(initial=0.0))
            if not size <= REACH:
                break
            out[kept] += change
            if size < 1e-13 or last / 2 < size < 1e-8:
                return out
            last = size
        raise ArithmeticError(
            f"no steady rotation was found at {omega:g} rad/s: some link is too soft for it"
            f"{exact_model_hint(self.system.robot)}"
        )


@dataclass(frozen=True)
class _Row:
    """Modes at one speed."""

    speed: float
    q: Array
    eigenvalues: Complex
    ratios: Array
    shapes: Complex

    def part(self, places: Any) -> _Row:
        return _Row(self.speed, self.q, self.eigenvalues[places], self.ratios[places], self.shapes[:, places])


class _Track:
    """Goes from speed to speed, each mode with the one most like it at the speed before."""

    def __init__(self, turning: _Turning, q: Array, count: int) -> None:
        self.turning, self.q, self.count = turning, q, count
        self.rows: list[_Row] = []

    def go(self, speed: float) -> None:
        found = self._at(speed, self.rows[-1].q if self.rows else self.q)
        if not self.rows:
            if len(found.eigenvalues) < self.count:
                raise ValueError(f"modes = {self.count}: the robot has {len(found.eigenvalues)} that vibrate")
            self.rows.append(found.part(slice(0, self.count)))
            return
        if len(self.rows) == 1:  # equal frequencies at the first speed: mixed as the next speed has them
            self.rows[0] = self._unmixed(self.rows[0], self._weight(found.q), found.shapes)
        self.rows.append(self._followed(self.rows[-1], found, HALVINGS))

    def _at(self, speed: float, q: Array) -> _Row:
        here = self.turning.steady(speed, q)
        found: ModeSet = modes_of(
            self.turning.system, here, self.turning.speed(speed) if speed else None, self._joints()
        )
        moving = np.flatnonzero(~found.rigid)[: self.count + OTHERS]
        shapes = found.shapes[:, moving].astype(complex)
        return _Row(speed, here, found.eigenvalues[moving], found.damping_ratios[moving], shapes)

    def _joints(self) -> Any:
        """The joint about which it turns is held, at rest too."""
        given = self.turning.joints
        names = [link.name for link in self.turning.system.robot.links]
        every = dict.fromkeys(names, given) if isinstance(given, str) else dict(given)
        return {**every, self.turning.joint: "locked"}

    def _weight(self, q: Array) -> Array:
        return self.turning.system.mass_matrix(q)

    def _followed(self, last: _Row, found: _Row, halvings: int) -> _Row:
        """The modes of the last row among those found, by way of speeds in between where shapes change fast."""
        from scipy.optimize import linear_sum_assignment

        M = self._weight(found.q)
        found = self._unmixed(found, M, last.shapes)
        alike = _assurance(M, last.shapes, found.shapes)
        if alike.shape[1] < alike.shape[0]:
            raise ArithmeticError(f"{alike.shape[0]} modes cannot be followed to {found.speed:g} rad/s; ask for fewer")
        _, places = linear_sum_assignment(-alike)
        least = float(alike[np.arange(len(places)), places].min())
        if least < ALIKE and halvings:
            middle = self._followed(last, self._at((last.speed + found.speed) / 2, last.q), halvings - 1)
            return self._followed(middle, found, halvings - 1)
        return found.part(places)

    def _unmixed(self, row: _Row, M: Array, like: Complex) -> _Row:
        """Modes of equal frequency, whose shapes are any mixture, as those that they should be like."""
        shapes, size = row.shapes.copy(), np.abs(row.eigenvalues)
        start = 0
        while start < len(size):
            end = start + 1
            while end < len(size) and abs(size[end] - size[start]) <= EQUAL * size[start]:
                end += 1
            if end - start > 1:
                shapes[:, start:end] = _aligned(M, shapes[:, start:end], like)
            start = end
        return _Row(row.speed, row.q, row.eigenvalues, row.ratios, shapes)


def _assurance(M: Array, one: Complex, other: Complex) -> Array:
    """Modal assurance criterion of shapes, weighted with the mass: 1 where they are the same, 0 where none of each."""
    product = np.abs(one.conj().T @ M @ other) ** 2
    sizes = [np.einsum("im,ij,jm->m", each.conj(), M, each).real for each in (one, other)]
    return np.asarray(product / np.maximum(np.outer(*sizes), np.finfo(float).tiny))


def _aligned(M: Array, mixed: Complex, like: Complex) -> Complex:
    """A basis of what mixed shapes span: nearest to those of the others that lie most in it."""
    width = mixed.shape[1]
    gram = mixed.conj().T @ M @ mixed
    inside = np.linalg.solve(gram, mixed.conj().T @ M @ like)  # coefficients of the others' projections
    sizes = np.einsum("im,ij,jm->m", inside.conj(), gram, inside).real
    whole = np.einsum("im,ij,jm->m", like.conj(), M, like).real
    best = inside[:, np.argsort(-sizes / whole, kind="stable")[:width]]
    if best.shape[1] < width or np.linalg.cond(best) > 1e3:
        return mixed
    factor = np.linalg.cholesky(best.conj().T @ gram @ best).conj().T
    return np.asarray(mixed @ best @ np.linalg.inv(factor))
