"""Campbell diagram: modes of a robot in steady rotation about a joint, over its speed.

At each speed the steady state in the rotating frame is computed first, with links stretched and bent by the rotation;
then the modes about that state, gyroscopic terms included. Modes are tracked by the modal assurance criterion.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm.analysis.frequency_maps import run_pieces
from flexarm.analysis.modes import Complex, Hold, steady_speeds, vibrating_coordinates
from flexarm.analysis.modes import modes as modes_of
from flexarm.dynamics.accuracy.stiffening import system_for_posture
from flexarm.dynamics.accuracy.validity import exact_model_hint
from flexarm.dynamics.arguments import Vector
from flexarm.dynamics.system import System, as_system
from flexarm.foundation.messages import shown
from flexarm.foundation.validation import Array, real_array, real_number, whole_number
from flexarm.robot import Revolute, Robot

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_ITERATIONS = 30
MAX_RELATIVE_STEP = 1.0  # largest Newton step, in units of each coordinate's characteristic size
TEST_ANGLES = (1.0, 2.3)  # rad; angles at which rotational symmetry is checked
SYMMETRY_TOLERANCE = 1e-7  # relative change of weight or inertia with the angle
MIN_ASSURANCE = 0.7  # modal assurance criterion below which an intermediate speed is inserted
MAX_HALVINGS = 6
SPARE_MODE_COUNT = 6  # further modes among which the tracked ones are searched
FREQUENCY_TOLERANCE = 1e-6  # relative difference below which frequencies are equal, and shapes may mix


@dataclass(frozen=True, eq=False)
class Campbell:
    """Modes of a rotating robot over its speed, tracked by their shapes.

    Modes are in the order of their frequencies at the first speed.

    Parameters
    ----------
    joint : str
        Link whose joint is the axis of rotation.
    speeds : ndarray, shape (n,)
        Speeds (rad/s).
    eigenvalues : ndarray of complex, shape (n, modes)
        Undamped eigenvalues (rad/s), with positive real part if the motion grows.
    damping_ratios : ndarray, shape (n, modes)
        Damping ratios, to first order.
    shapes : ndarray of complex, shape (n, nq, modes)
        Mass-normalised mode shapes.
    q : ndarray, shape (n, nq)
        Steady state at each speed.
    names : tuple of str
        Names of the coordinates.

    See Also
    --------
    flexarm.campbell : Compute the diagram.
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
        """Frequencies in Hz, shape (speeds, modes)."""
        return np.asarray(np.abs(self.eigenvalues.imag) / (2 * np.pi))

    @property
    def unstable(self) -> Any:
        """Mask of the growing modes, shape (speeds, modes)."""
        return (self.eigenvalues.real > 1e-9 * np.abs(self.eigenvalues)) | (self.damping_ratios < -1e-9)

    def critical(self, order: float = 1.0) -> list[tuple[float, float]]:
        """Find the critical speeds, at which a mode vibrates `order` times per revolution.

        Squares of frequencies are interpolated linearly over squares of speeds.

        Parameters
        ----------
        order : float, optional
            Number of vibrations per revolution.

        Returns
        -------
        list of tuple of float
            Critical speed (rad/s) and frequency (Hz), ascending.
        """
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
        """Plot the frequencies over the speed.

        Parameters
        ----------
        orders : sequence of float, optional
            Numbers of vibrations per revolution for which lines are drawn.

        Returns
        -------
        matplotlib.figure.Figure
            The figure.
        """
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
    """Compute the modes of a robot in steady rotation about a joint, over the speed.

    Parameters
    ----------
    robot : Robot or System
        Robot without constraints, or its equations of motion.
    joint : str
        Link whose revolute joint is the axis of rotation.
    speeds : array_like, shape (n,)
        Ascending speeds (rad/s).
    modes : int, optional
        Number of modes, the slowest at the first speed. Each is tracked by its shape.
    q : dict of str to float or array_like, shape (nq,), optional
        Posture at rest, by coordinate name or as an array; zero by default. The steady deflections at each speed are
        computed.
    joints : {"locked", "free"} or dict of str to {"locked", "free"}, optional
        State of the other joints, as in `modes`.
    progress : bool, optional
        True shows a progress bar, False none. By default it is shown on a terminal. Ctrl-C ends the computation; the
        speeds so far are returned.

    Returns
    -------
    Campbell
        Eigenvalues, damping ratios and shapes over the speed.

    Raises
    ------
    ValueError
        If there is no steady rotation because weight or inertia change with the angle.
    ArithmeticError
        If no steady state is found, or a mode cannot be tracked.

    See Also
    --------
    flexarm.modes : Modes at one speed.

    Examples
    --------
    >>> from flexarm.robot import library
    >>> found = campbell(library.rotating_beam(modes=3, stiffening="shortening"), "beam", [0.0, 3.0, 6.0], modes=1)
    >>> found.frequencies[:, 0].round(3)  # in-plane bending: centrifugal force stiffens the beam
    array([0.463, 0.506, 0.596])
    """
    system = as_system(robot)
    given = np.array(real_array("speeds", speeds))
    if given.ndim != 1 or not len(given) or not np.isfinite(given).all() or (np.diff(given) <= 0).any():
        raise ValueError(f"speeds = {shown(speeds)}: must be finite speeds (rad/s) that rise")
    count = whole_number("modes", modes, least=1)
    if not isinstance(joint, str):
        raise TypeError(f"joint = {shown(joint)}: must be the name of a link")
    try:
        system.joint(joint)
    except (KeyError, ValueError) as error:
        raise type(error)(f"joint: {error.args[0]}") from None
    if not isinstance(system.robot.link(joint).joint, Revolute):
        raise ValueError(f"joint = {joint!r}: must be a hinge, about which the robot can turn for ever")
    if system.constraints:
        raise ValueError("robot: has constraints; steady rotation is that of robots without")
    posture = system.posture(q)
    if posture.ndim != 1:
        raise ValueError(f"q has shape {posture.shape}: a robot turns in one posture at a time")
    turning = _SteadyRotation(system, joint, joints)
    turning.require_symmetry(posture)
    track = _ModeTracker(turning, posture, count)
    done = run_pieces(given.tolist(), track.advance, "speeds", progress)
    names = ("eigenvalues", "damping_ratios", "shapes", "q")
    found = {name: np.array([getattr(row, name) for row in track.rows[:done]]) for name in names}
    if done and (exact := system_for_posture(robot, found["q"])) is not None:
        return campbell(exact, joint, given[:done], modes=modes, q=q, joints=joints, progress=progress)
    return Campbell(joint, given[:done], **found, names=system.names)


class _SteadyRotation:
    """Robot that rotates steadily about a joint."""

    def __init__(self, system: System, joint: str, joints: Hold | Mapping[str, Hold]) -> None:
        self.system, self.joint, self.joints = system, joint, joints
        self._unit_speeds, held = steady_speeds(system, system.vector(self.speed(1.0), "v"))
        self.kept = vibrating_coordinates(system, joints, held)  # may vibrate

    def speed(self, omega: float) -> dict[str, float]:
        """Return the speed omega (rad/s) of the joint, by coordinate name."""
        return {self.system.joint(self.joint).name: omega}

    def require_symmetry(self, q: Array) -> None:
        """Raise ValueError if weight or inertia depend on the angle of rotation."""
        system, kept, place = self.system, self.kept, self.system.joint(self.joint).index
        here = np.ix_(kept, kept)
        turned = [q + angle * np.eye(system.nq)[place] for angle in (0.0, *TEST_ANGLES)]
        weights = [system.gravity(each)[kept] * system.sizes[kept] for each in turned]
        masses = [(system.mass_matrix(each) * np.outer(system.sizes, system.sizes))[here] for each in turned]
        robot = system.robot
        heavy = float(np.linalg.norm(robot.gravity)) * robot.total_mass * robot.size
        inert = max(float(np.abs(each).max(initial=0.0)) for each in masses)
        for what, values, size in (("its weight", weights, heavy), ("the inertia of what carries it", masses, inert)):
            if any(np.abs(each - values[0]).max(initial=0.0) > SYMMETRY_TOLERANCE * size for each in values):
                raise ValueError(
                    f"joint = {self.joint!r}: {what} changes as it turns, so that there is no steady rotation; turn "
                    "about gravity, and with the links that carry the joint rigid"
                )

    def steady(self, omega: float, q: Array) -> Array:
        """Return the steady state at a speed, found by Newton's method from a posture near it."""
        kept, v, out = self.kept, self._unit_speeds * omega, q.copy()
        here = np.ix_(kept, kept)
        scale, last = (self.system.sizes * self.system.meshes)[kept], np.inf
        for _ in range(MAX_ITERATIONS):
            force = self.system.inverse_dynamics(out, v, None)[kept]
            if not force.any():
                return out
            slope = self.system.linearization(out, v).K[here]
            change = np.linalg.lstsq(slope * scale, -force, rcond=1e-14)[0] * scale
            size = float(np.abs(change / scale).max(initial=0.0))
            if not size <= MAX_RELATIVE_STEP:
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
class _ModesAtSpeed:
    """Modes at one speed."""

    speed: float
    q: Array
    eigenvalues: Complex
    damping_ratios: Array
    shapes: Complex

    def part(self, places: Any) -> _ModesAtSpeed:
        """Return the modes with the given indices."""
        values, ratios = self.eigenvalues[places], self.damping_ratios[places]
        return replace(self, eigenvalues=values, damping_ratios=ratios, shapes=self.shapes[:, places])


class _ModeTracker:
    """Tracks modes from speed to speed: each is matched with the most similar one at the speed before."""

    def __init__(self, turning: _SteadyRotation, q: Array, count: int) -> None:
        self.turning, self.system, self.q, self.count = turning, turning.system, q, count
        self.rows: list[_ModesAtSpeed] = []
        names = [link.name for link in self.system.robot.links]
        given = turning.joints
        every = dict.fromkeys(names, given) if isinstance(given, str) else dict(given)
        self.joints: Any = {**every, turning.joint: "locked"}  # also at rest

    def advance(self, speed: float) -> None:
        """Compute the modes at the next speed and match them with the last ones."""
        found = self._modes_at(speed, self.rows[-1].q if self.rows else self.q)
        if not self.rows:
            if len(found.eigenvalues) < self.count:
                raise ValueError(f"modes = {self.count}: the robot has {len(found.eigenvalues)} that vibrate")
            self.rows.append(found.part(slice(0, self.count)))
            return
        if len(self.rows) == 1:  # equal frequencies at the first speed: mixed as the next speed has them
            M = self.system.mass_matrix(found.q)
            self.rows[0] = _separate_equal_modes(self.rows[0], M, found.shapes)
        self.rows.append(self._match(self.rows[-1], found, MAX_HALVINGS))

    def _modes_at(self, speed: float, q: Array) -> _ModesAtSpeed:
        here = self.turning.steady(speed, q)
        v = self.turning.speed(speed) if speed else None
        found = modes_of(self.system, here, v, joints=self.joints)
        moving = np.flatnonzero(~found.rigid)[: self.count + SPARE_MODE_COUNT]
        shapes = found.shapes[:, moving].astype(complex)
        return _ModesAtSpeed(speed, here, found.eigenvalues[moving], found.damping_ratios[moving], shapes)

    def _match(self, last: _ModesAtSpeed, found: _ModesAtSpeed, halvings: int) -> _ModesAtSpeed:
        """Return the modes that continue those of the last speed, with intermediate speeds if shapes change fast."""
        from scipy.optimize import linear_sum_assignment

        M = self.system.mass_matrix(found.q)
        found = _separate_equal_modes(found, M, last.shapes)
        # mass-weighted modal assurance criterion: 1 if shapes are equal, 0 if they are orthogonal
        alike = np.abs(last.shapes.conj().T @ M @ found.shapes) ** 2
        alike /= np.maximum(np.outer(_squares(M, last.shapes), _squares(M, found.shapes)), np.finfo(float).tiny)
        if alike.shape[1] < alike.shape[0]:
            raise ArithmeticError(f"{alike.shape[0]} modes cannot be followed to {found.speed:g} rad/s; take fewer")
        _, places = linear_sum_assignment(-alike)
        least = float(alike[np.arange(len(places)), places].min())
        if least < MIN_ASSURANCE and halvings:
            middle = self._match(last, self._modes_at((last.speed + found.speed) / 2, last.q), halvings - 1)
            return self._match(middle, found, halvings - 1)
        return found.part(places)


def _separate_equal_modes(row: _ModesAtSpeed, M: Array, like: Complex) -> _ModesAtSpeed:
    """Rotate modes of equal frequency, whose shapes may be any mixture, towards the shapes of other modes."""
    shapes, size = row.shapes.copy(), np.abs(row.eigenvalues)
    start = 0
    while start < len(size):
        end = start + 1
        while end < len(size) and abs(size[end] - size[start]) <= FREQUENCY_TOLERANCE * size[start]:
            end += 1
        if end - start > 1:
            shapes[:, start:end] = _align(M, shapes[:, start:end], like)
        start = end
    return replace(row, shapes=shapes)


def _squares(M: Array, shapes: Complex) -> Array:
    """Return x^H M x of each shape."""
    return np.asarray(np.einsum("im,ij,jm->m", shapes.conj(), M, shapes).real)


def _align(M: Array, mixed: Complex, like: Complex) -> Complex:
    """Return a basis of the span of `mixed` that is closest to the shapes in `like` lying most within it."""
    width = mixed.shape[1]
    gram = mixed.conj().T @ M @ mixed
    inside = np.linalg.solve(gram, mixed.conj().T @ M @ like)  # coefficients of the others' projections
    share = np.einsum("im,ij,jm->m", inside.conj(), gram, inside).real / _squares(M, like)
    best = inside[:, np.argsort(-share, kind="stable")[:width]]
    if best.shape[1] < width or np.linalg.cond(best) > 1e3:
        return mixed
    factor = np.linalg.cholesky(best.conj().T @ gram @ best).conj().T
    return np.asarray(mixed @ best @ np.linalg.inv(factor))
