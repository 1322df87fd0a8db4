"""Truncation: what the number of shapes costs in accuracy, by comparison with twice the shapes.

Both robots are linear about a posture with straight links, so that a comparison takes milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexarm.dynamics.accuracy.straight_links import BasisMatrices, StraightRobot, is_supported, straight_robot
from flexarm.dynamics.accuracy.validity import ValidityWarning
from flexarm.dynamics.model import Chain
from flexarm.dynamics.system import System
from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.messages import warn
from flexarm.foundation.validation import Array
from flexarm.robot import Flexible, Link, Reduced, Robot
from flexarm.robot.errors import DescriptionError

MAX_TRUNCATION_ERROR = 0.01
"""Relative error of a frequency, or error of a tip as a share of the peak deflection, that raises a warning."""
MAX_DEFLECTION_ERROR = 0.1
"""Error of the deflection of a link, as a share of its own peak, that raises a warning."""
RECOMMENDED_ERROR = MAX_TRUNCATION_ERROR / 2  # bound for recommended numbers of shapes
MIN_WEIGHT = 0.005  # static response relative to the largest; weaker modes are not compared
WARNING_WEIGHT = 0.25  # of modes with unknown inputs: weaker ones raise no warning
MIN_SIMILARITY = 0.5  # square of the cosine between two mode shapes, below which they are not the same mode
ZERO_FREQUENCY = 1e-6  # of the largest frequency: slower modes are rigid-body motions
MAX_REFINEMENT = 4  # times the shapes, up to which numbers are recommended
MAX_COORDINATES = 400  # elastic coordinates of both robots together

NOT_SUPPORTED = (
    "robots with constraints, guides, sleeves, passive or compound joints, prismatic joints, screws or free elements "
    "are not compared"
)
FEW_SHAPES = 2  # of bending: links of a robot that is not compared, with so few or fewer, raise a warning

Posture = tuple[tuple[str, float], ...]
Counts = Mapping[tuple[str, str], int]


@dataclass(frozen=True)
class Frequencies:
    """Frequencies of modes that joints excite, in ascending order.

    Parameters
    ----------
    own : tuple of float
        Frequencies (Hz) with the robot's shapes. A mode that these shapes cannot make has the frequency of the next one
        above, or of the last.
    refined : tuple of float
        Frequencies (Hz) of the same modes with twice the shapes.
    weight : tuple of float
        Static response to a joint, as a share of the largest.
    """

    own: tuple[float, ...] = ()
    refined: tuple[float, ...] = ()
    weight: tuple[float, ...] = ()

    @property
    def errors(self) -> Array:
        """Relative errors."""
        own, refined = np.array(self.own), np.array(self.refined)
        return np.asarray(np.abs(own - refined) / refined)

    @property
    def error(self) -> float:
        """Largest relative error."""
        return float(self.errors.max(initial=0.0))

    def worst(self, least: float = 0.0) -> tuple[float, float, float]:
        """Return the largest error of modes with at least such a weight, and its frequencies, own and refined."""
        errors = np.where(np.array(self.weight) >= least, self.errors, 0.0)
        if not errors.any():
            return 0.0, 0.0, 0.0
        k = int(errors.argmax())
        return float(errors[k]), self.own[k], self.refined[k]

    def decisive(self, duration: float) -> tuple[float, float, float]:
        """Return weight, own and refined frequency of the mode whose phase error matters most within a duration (s)."""
        phase = 2 * np.pi * np.array(self.refined) * self.errors * duration
        matter = np.array(self.weight) * np.minimum(phase, 1.0)
        if not matter.any():
            return 0.0, 0.0, 0.0
        k = int(matter.argmax())
        return float(matter[k]), self.own[k], self.refined[k]


@dataclass(frozen=True)
class Truncation:
    """Error that the number of shapes causes, against twice the shapes.

    Parameters
    ----------
    error : float or None
        Estimated error of the tips of a run, as a share of the peak deflection; None if there is no estimate.
    free, held : Frequencies
        Frequencies at the posture at the start, with joints free and with joints held.
    shapes : dict of str to dict of str to int
        Numbers of shapes by link and family that bring the estimate below the bound, if those of the robot do not.
    reason : str
        Why there is no estimate, or why it may be too small; else empty.
    joints : {"free", "held"}
        Which of the frequencies are those of the run: "held" if the motion of all joints is given, or a stiff law
        controls them.
    deflection : dict of str to float
        Estimated error of the deflection at the tip of each link, as a share of its own peak. Links that bend by less
        than a tenth of the peak deflection are left out.
    """

    error: float | None = None
    free: Frequencies = field(default_factory=Frequencies)
    held: Frequencies = field(default_factory=Frequencies)
    shapes: dict[str, dict[str, int]] = field(default_factory=dict)
    reason: str = ""
    joints: str = "free"
    deflection: dict[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        """Return the estimates, one in a line."""
        tip = self.reason or "not estimated" if self.error is None else f"{self.error:.2%} of the peak deflection"
        lines = [f"error of the tips by the number of shapes: {tip}"]
        if self.error is not None and self.reason:
            lines.append(self.reason)
        for link, share in self.deflection.items():
            lines.append(f"error of the deflection of {link}: {share:.2%} of its peak")
        for joints, found in (("free", self.free), ("held", self.held)):
            error, own, refined = found.worst(WARNING_WEIGHT)
            if error > MAX_TRUNCATION_ERROR:
                lines.append(f"joints {joints}: a mode at {refined:.4g} Hz is computed as {own:.4g} Hz")
        wanted = [
            f"{family}={n} of '{link}'" for link, families in self.shapes.items() for family, n in families.items()
        ]
        return "\n".join([*lines, *([f"take {', '.join(wanted)}"] if wanted else [])])

    @property
    def own_frequencies(self) -> Frequencies:
        """Frequencies with joints as they are in the run."""
        return self.held if self.joints == "held" else self.free

    def plain(self) -> dict[str, Any]:
        """Return the figures as plain data."""
        shapes = {link: dict(families) for link, families in self.shapes.items()}
        return {
            **vars(self),
            "deflection": dict(self.deflection),
            "free": dict(vars(self.free)),
            "held": dict(vars(self.held)),
            "shapes": shapes,
        }

    @classmethod
    def from_plain(cls, data: Mapping[str, Any]) -> Truncation:
        """Return the figures from plain data."""
        free, held = (
            Frequencies(**{name: tuple(values) for name, values in data[joints].items()}) for joints in ("free", "held")
        )
        return cls(data["error"], free, held, *(data[name] for name in ("shapes", "reason", "joints", "deflection")))


@dataclass(frozen=True)
class NormalModes:
    """Modes of one basis with some coordinates held: angular frequencies, mass-normalized shapes, decay rates (1/s)."""

    omega: Array
    shapes: Array
    decay: Array


class Comparison:
    """A robot with its own shapes and a refined one, about a posture.

    run: robot whose run is estimated, if its shapes are others; fine: the refined robot, of twice the shapes if None.
    """

    def __init__(self, robot: Robot, posture: Posture, run: Robot | None = None, fine: Robot | None = None) -> None:
        self.robot, self.posture = robot, posture
        robots = [robot, refined(robot) if fine is None else fine, *([] if run is None else [run])]
        self.straight: StraightRobot = straight_robot([Chain(each) for each in robots], dict(posture))
        self.run_basis = 0 if run is None else 2
        self._modes: dict[tuple[int, ...], tuple[NormalModes, NormalModes]] = {}
        self._frequencies: dict[tuple[int, ...], Frequencies] = {}
        rigid = self.straight.rigid.values()
        self.actuated = [joint if motor is None else motor for joint, motor in rigid]

    def elastic_columns(self, basis: int) -> NDArray[np.intp]:
        """Return the columns of the elastic coordinates of a basis."""
        rigid = sum(1 + (motor is not None) for _, motor in self.straight.rigid.values())
        return self.straight.bases[basis].columns[rigid:]

    def readings(self, basis: int) -> Array:
        """Return the matrix from elastic coordinates of a basis to the nearest ones of the run."""
        own, other = (self.elastic_columns(k) for k in (self.run_basis, basis))
        mass = self.straight.mass
        return np.asarray(np.linalg.solve(mass[np.ix_(own, own)], mass[np.ix_(own, other)]))

    @cached_property
    def static_deflections(self) -> list[Array]:
        """Static deflections of all bases under gravity, with joints and motors held by their actuators."""
        return [self._static_deflection(basis) for basis in self.straight.bases]

    def _static_deflection(self, basis: BasisMatrices) -> Array:
        kept = _others(len(basis.columns), self.actuated)
        found = np.zeros(len(self.straight.mass))
        weight = self.straight.weight[basis.columns[kept]]
        found[basis.columns[kept]] = np.linalg.solve(basis.stiffness[np.ix_(kept, kept)], weight)
        return found

    def modes(self, held: Collection[int] = ()) -> tuple[NormalModes, NormalModes]:
        """Return the modes of both, with these columns of joints and motors held."""
        key = tuple(sorted(held))
        if key not in self._modes:
            own, fine = (_modes(self.straight, basis, key) for basis in self.straight.bases[:2])
            self._modes[key] = own, fine
        return self._modes[key]

    @cached_property
    def rigid_motions(self) -> dict[int, Array]:
        """By column of a joint or motor that an actuator moves, the motion (n,) of all that moves with it."""
        unit, found = np.eye(len(self.straight.mass)), dict[int, Array]()
        for joint, motor in self.straight.rigid.values():
            found[joint if motor is None else motor] = unit[joint] if motor is None else unit[joint] + unit[motor]
        return found

    def forces(self, held: Collection[int] = ()) -> Array:
        """Return the generalized forces (n, joints) of unit torques, and of unit accelerations of held joints."""
        mass = self.straight.mass
        columns = [-mass @ motion if k in held else np.eye(len(mass))[k] for k, motion in self.rigid_motions.items()]
        return np.array(columns).T.reshape(len(mass), -1)

    def frequencies(self, held: Collection[int] = ()) -> Frequencies:
        """Return the frequencies of modes that joints excite, with these columns of joints and motors held."""
        key = tuple(sorted(held))
        if key not in self._frequencies:
            self._frequencies[key] = self._compared(key)
        return self._frequencies[key]

    def _compared(self, held: tuple[int, ...]) -> Frequencies:
        own, fine = self.modes(held)
        if not len(own.omega):
            return Frequencies()
        weight = self._weights(fine, self.forces(held))
        similarity = (own.shapes.T @ self.straight.mass @ fine.shapes) ** 2
        kept = np.flatnonzero(weight > MIN_WEIGHT)
        found = [_counterpart(own.omega, similarity[:, k], fine.omega[k]) / (2 * np.pi) for k in kept]
        return Frequencies(tuple(found), tuple((fine.omega[kept] / (2 * np.pi)).tolist()), tuple(weight[kept].tolist()))

    def _weights(self, modes: NormalModes, forces: Array) -> Array:
        """Return how far each mode moves a tip under any static force, as a share of what the largest mode does."""
        pushed = np.abs(modes.shapes.T @ forces) / modes.omega[:, None] ** 2  # (modes, forces)
        moved = np.linalg.norm(self.straight.tips @ modes.shapes, axis=1)
        response = moved[:, :, None] * pushed  # (links, modes, forces)
        largest = response.max(axis=(0, 1), initial=0.0)
        return np.asarray((response / np.where(largest > 0, largest, 1.0)).max(axis=(0, 2), initial=0.0))


def _counterpart(omega: Array, similarity: Array, frequency: float) -> float:
    """Return the frequency of the same mode; a robot that cannot have this mode has the next one above."""
    most = int(similarity.argmax())
    if similarity[most] >= MIN_SIMILARITY:
        return float(omega[most])
    above = omega[omega >= frequency]
    return float(above[0] if len(above) else omega[-1])


@lru_cache(maxsize=64)
def comparison(robot: Robot, posture: Posture = ()) -> Comparison | str:
    """Compare a robot with one of twice the shapes, or return why that cannot be done.

    Parameters
    ----------
    robot : Robot
        Robot with numbers of shapes (resolved).
    posture : tuple of (str, float)
        Coordinates of joints that are not zero, by link.
    """
    if all(link.flexible is None for link in robot.links):
        return "the robot has no flexible link"
    if not is_supported(robot):
        return NOT_SUPPORTED
    if 3 * sum(link.flexible.coordinates for link in robot.links if link.flexible is not None) > MAX_COORDINATES:
        return f"the robot and the refined one have more than {MAX_COORDINATES} elastic coordinates"
    try:
        found = Comparison(robot, posture)
        for held in ((), found.actuated):
            found.modes(held)
        return found
    except DescriptionError as error:
        return f"the refined robot is not possible: {error}"
    except np.linalg.LinAlgError:
        return "the mass matrix is singular"


def refined(robot: Robot, counts: Counts | None = None) -> Robot:
    """Return the robot with twice the shapes, or with counts by link and family and its own where none is given."""
    flexible = [link for link in robot.links if link.flexible is not None]
    return robot.with_(
        {f"links.{link.name}.flexible": _with_counts(link.name, link.flexible, counts) for link in flexible}
    )


def _with_counts(link: str, flexible: Flexible | None, counts: Counts | None) -> Flexible:
    assert flexible is not None
    new: dict[str, Any] = {
        family: 2 * count if counts is None else counts.get((link, family), count)
        for family, count in flexible.counts.items()
    }
    basis = flexible.basis
    if isinstance(basis, Reduced):
        factor = max(new[family] / count for family, count in flexible.counts.items())
        kept = None if basis.modes is None else int(np.ceil(factor * basis.modes))
        new["basis"] = Reduced(int(np.ceil(factor * basis.elements)), kept, basis.interface)
    return Flexible(**{**dict(flexible.given), **new, "stiffening": "none"})


def sufficient_shapes(robot: Robot, error_of: Callable[[Robot], float]) -> dict[str, dict[str, int]]:
    """Return the numbers of shapes that must grow for an error below the bound, by link and family.

    All families grow by the same number, at most to MAX_REFINEMENT times the shapes; then those keep their numbers that
    may.

    Parameters
    ----------
    robot : Robot
        Robot with numbers of shapes.
    error_of : callable
        Error of a robot with other numbers.
    """
    own = {(link.name, family): count for link in robot.links for family, count in _counts(link).items()}
    counts = dict(own)
    for more in range(1, (MAX_REFINEMENT - 1) * max(own.values()) + 1):
        tried = {key: min(count + more, MAX_REFINEMENT * count) for key, count in own.items()}
        if 3 * sum(tried.values()) > MAX_COORDINATES:
            break
        counts = tried
        if error_of(refined(robot, counts)) <= RECOMMENDED_ERROR:
            break
    for key in own:
        fewer = {**counts, key: own[key]}
        if len(own) > 1 and error_of(refined(robot, fewer)) <= RECOMMENDED_ERROR:
            counts = fewer
    found: dict[str, dict[str, int]] = {}
    for (link, family), count in counts.items():
        if count > own[link, family]:
            found.setdefault(link, {})[family] = count
    return found


def _counts(link: Link) -> dict[str, int]:
    return {} if link.flexible is None else link.flexible.counts


def listed_shapes(shapes: Mapping[str, Mapping[str, int]]) -> str:
    """Return numbers of shapes in words."""
    parts = [f"{family}={count} of '{link}'" for link, families in shapes.items() for family, count in families.items()]
    return ", ".join(parts[:-1]) + (" and " if len(parts) > 1 else "") + parts[-1] if parts else ""


def frequency_warnings(robot: Robot, posture: Posture, held: Sequence[str] = ()) -> list[str]:
    """Return a warning if a frequency that joints excite is off by more than the bound.

    Parameters
    ----------
    robot : Robot
        Robot with numbers of shapes.
    posture : tuple of (str, float)
        Coordinates of joints that are not zero, by link.
    held : sequence of str
        Links whose joints are held.
    """
    found = comparison(robot, posture)
    if isinstance(found, str):
        return []

    def worst(pair: Comparison) -> tuple[float, float, float]:
        rigid = pair.straight.rigid
        columns = [joint if motor is None else motor for name in held for joint, motor in [rigid[name]]]
        return pair.frequencies(columns).worst(WARNING_WEIGHT)

    error, own, fine = worst(found)
    if error <= MAX_TRUNCATION_ERROR:
        return []
    better = sufficient_shapes(robot, lambda each: worst(Comparison(each, posture))[0])
    return [
        f"too few shapes: a mode at {fine:.4g} Hz is computed as {own:.4g} Hz ({error:.1%} off); "
        f"take {listed_shapes(better)}"
    ]


def warn_of_frequencies(system: System, q: Array, held: Collection[int]) -> None:
    """Warn if a frequency about a posture is off by too few shapes.

    Parameters
    ----------
    system : System
        The system.
    q : ndarray, shape (nq,)
        The posture.
    held : collection of int
        Places of coordinates that do not vibrate.
    """
    links = [each.link for each in system.actuators if each.coordinate.index in held]
    for sentence in frequency_warnings(system.robot, joint_posture(system, q), links):
        warn(sentence, ValidityWarning)


def joint_posture(system: System, q: Array) -> Posture:
    """Return the coordinates of joints that are not zero, by link."""
    joints = [each for each in system.coordinates if each.kind == "joint"]
    return tuple((each.link, float(q[each.index])) for each in joints if q[each.index])


def expected_accuracy(robot: Robot) -> str:
    """Return a sentence about the frequencies of a robot with straight joints; empty if it is not available."""
    resolved = robot.resolved()
    found = comparison(resolved, ())
    if isinstance(found, str):
        return ""
    parts = []
    for joints, held in (("free", ()), ("held", found.actuated)):
        figures = found.frequencies(held)
        error, own, fine = figures.worst(WARNING_WEIGHT)
        if not figures.own:
            continue
        mode = f" ({own:.4g} for {fine:.4g} Hz)" if error > MAX_TRUNCATION_ERROR else ""
        parts.append(f"{100 * error:.2g} % with joints {joints}{mode}")
    return f"frequencies of strong modes are off by {', '.join(parts)}" if parts else ""


def _others(count: int, places: Collection[int]) -> NDArray[np.intp]:
    """Return the indices below a count that are not given (`np.setdiff1d` imports `numpy.ma`)."""
    return np.array([k for k in range(count) if k not in places], dtype=np.intp)


def _modes(robot: StraightRobot, basis: BasisMatrices, held: Sequence[int]) -> NormalModes:
    kept = _others(len(basis.columns), held)
    if not len(kept):
        return NormalModes(np.zeros(0), np.zeros((len(robot.mass), 0)), np.zeros(0))
    M, K, D = (each[np.ix_(kept, kept)] for each in (basis.mass, basis.stiffness, basis.damping))
    inverse = np.linalg.inv(np.linalg.cholesky(M))
    squares, vectors = np.linalg.eigh(inverse @ K @ inverse.T)
    elastic = squares > ZERO_FREQUENCY**2 * squares[-1]
    vectors = inverse.T @ vectors[:, elastic]
    shapes = np.zeros((len(robot.mass), vectors.shape[1]))
    shapes[basis.columns[kept]] = vectors
    return NormalModes(np.sqrt(squares[elastic]), shapes, np.einsum("im,ij,jm->m", vectors, D, vectors) / 2)
