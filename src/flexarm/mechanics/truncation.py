"""Truncation error: frequencies of a robot against those with twice the shapes.

At rest and with straight links, all link models have the same mass and stiffness matrices. So both robots are computed
without stiffening, whose equations are small.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.mechanics.system import System
from flexarm.robot import Flexible, Reduced, Robot

FREQUENCY_TOLERANCE = 0.01  # relative error of a frequency beyond which a warning is raised
MIN_PARTICIPATION = 0.03  # of the largest modal response: weaker modes are not compared
MAX_COORDINATES = 60  # of the refined robot: beyond it tracing takes longer than a short run
ZERO_FREQUENCY = 1e-6  # of the largest frequency: slower modes are rigid-body motions


@dataclass(frozen=True)
class Truncation:
    """Errors of frequencies that are caused by the number of shapes.

    Parameters
    ----------
    joints : str
        "free" or "held": how joints are in the compared modes.
    frequencies, refined : tuple of float
        Frequencies (Hz) of modes that inputs excite, with the robot's shapes and with twice as many.
    link : str
        Link that has too few shapes; empty if all have enough.
    shapes : dict of str to int
        Numbers of shapes by family of that link that would do.
    reason : str
        Why frequencies were not compared; empty if they were.
    """

    joints: str = "free"
    frequencies: tuple[float, ...] = ()
    refined: tuple[float, ...] = ()
    link: str = ""
    shapes: dict[str, int] = field(default_factory=dict)
    reason: str = ""

    @property
    def error(self) -> float:
        """Largest relative error of a frequency."""
        pairs = zip(self.frequencies, self.refined, strict=True)
        return max((abs(one - other) / other for one, other in pairs), default=0.0)

    def sentences(self) -> list[str]:
        """Return the warning, if there is one."""
        if self.error <= FREQUENCY_TOLERANCE:
            return []
        errors = [abs(one - other) / other for one, other in zip(self.frequencies, self.refined, strict=True)]
        worst = int(np.argmax(errors))
        counts = " and ".join(f"{family}={count}" for family, count in self.shapes.items())
        return [
            f"link '{self.link}' has too few shapes: with joints {self.joints} a mode at {self.refined[worst]:.4g} Hz "
            f"is computed as {self.frequencies[worst]:.4g} Hz ({errors[worst]:.1%} off); take {counts}"
        ]

    def plain(self) -> dict[str, Any]:
        """Return the figures as plain data."""
        return {**asdict(self), "error": self.error}


@lru_cache(maxsize=256)
def truncation(robot: Robot, joints: str, posture: tuple[tuple[str, float], ...] = ()) -> Truncation:
    """Compare the frequencies of a robot with those of twice the shapes; never raises.

    Parameters
    ----------
    robot : Robot
        Robot with numbers of shapes (resolved).
    joints : {"free", "held"}
        How joints are.
    posture : tuple of (str, float)
        Joint coordinates that are not zero, by name.
    """
    if all(link.flexible is None for link in robot.links):
        return Truncation(joints, reason="the robot has no flexible link")
    if robot.every_constraint:
        return Truncation(joints, reason="robots with constraints are not checked")
    try:
        fine = refined(robot, 2)
        if fine.coordinates > MAX_COORDINATES:
            reason = f"twice the shapes are {fine.coordinates} coordinates, more than {MAX_COORDINATES}"
            return Truncation(joints, reason=reason)
        return _compared(robot, fine, joints, dict(posture))
    except Exception as error:  # a check must not end the run that it is about
        return Truncation(joints, reason=f"not computed: {type(error).__name__}: {error}")


def refined(robot: Robot, factor: int, more: int = 0, only: str | None = None) -> Robot:
    """Return the robot without stiffening and with `factor` times the shapes and `more`, of one link or of all."""
    changes: dict[str, object] = {}
    for link in robot.links:
        if link.flexible is None:
            continue
        grows = only is None or link.name == only
        times, plus = (factor, more) if grows else (1, 0)
        new: dict[str, Any] = {family: times * count + plus for family, count in link.flexible.counts.items()}
        basis = link.flexible.basis
        if isinstance(basis, Reduced):
            kept = None if basis.modes is None else times * basis.modes + plus
            new["basis"] = Reduced(times * basis.elements + plus, kept, basis.interface)
        flexible = {**dict(link.flexible.given), "stiffening": "none", "damping": None, **new}
        changes[f"links.{link.name}.flexible"] = Flexible(**flexible)
    return robot.with_(changes)


def _compared(robot: Robot, fine: Robot, joints: str, posture: dict[str, float]) -> Truncation:
    theirs, weights = _vibrations(fine, joints, posture)
    count = max((k + 1 for k, weight in enumerate(weights) if weight > MIN_PARTICIPATION), default=0)
    own = _vibrations(refined(robot, 1), joints, posture)[0]
    count = min(count, len(own))
    kept = [k for k in range(count) if weights[k] > MIN_PARTICIPATION]
    one, other = (tuple(float(each[k]) for k in kept) for each in (own, theirs))
    found = Truncation(joints, one, other)
    if found.error <= FREQUENCY_TOLERANCE:
        return found

    def error(candidate: Robot) -> float:
        there = _vibrations(candidate, joints, posture)[0]
        return float(max(abs(there[k] - theirs[k]) / theirs[k] for k in kept))

    flexible = [link for link in robot.links if link.flexible is not None]
    link = min(flexible, key=lambda each: error(refined(robot, 2, only=each.name)))
    assert link.flexible is not None
    most = max(link.flexible.counts.values())
    enough = (more for more in range(1, most) if error(refined(robot, 1, more)) <= FREQUENCY_TOLERANCE)
    more = next(enough, most)
    shapes = {family: min(count + more, 2 * count) for family, count in link.flexible.counts.items()}
    return Truncation(joints, one, other, link.name, shapes)


def _vibrations(robot: Robot, joints: str, posture: dict[str, float]) -> tuple[Array, Array]:
    """Return frequencies (Hz) in ascending order and how strongly inputs excite them, of the strongest."""
    system = System(robot, native=False)
    q = system.vector(posture)
    M, K = system.mass_matrix(q), system.stiffness_matrix(q)
    actuated = [each.coordinate.index for each in system.actuators]
    if joints == "held":
        kept = [k for k in range(system.nq) if k not in actuated]
        forces = M[np.ix_(kept, actuated)]  # of accelerated joints
    else:
        kept, forces = list(range(system.nq)), np.eye(system.nq)[:, actuated]
    squares, shapes = _eigen(M[np.ix_(kept, kept)], K[np.ix_(kept, kept)])
    lively = squares > (ZERO_FREQUENCY**2) * squares[-1]
    squares, shapes = squares[lively], shapes[:, lively]
    whole = np.zeros((system.nq, shapes.shape[1]))
    whole[kept] = shapes
    size = np.array(list(_tip_deflections(system, q, whole))).max(axis=0)
    response = size * np.abs(shapes.T @ forces[: len(kept)]).max(axis=1, initial=0.0) / squares
    return np.sqrt(squares) / (2 * np.pi), response / response.max(initial=np.finfo(float).tiny)


def _eigen(M: Array, K: Array) -> tuple[Array, Array]:
    inverse = np.linalg.inv(np.linalg.cholesky(M))
    squares, vectors = np.linalg.eigh(inverse @ (K + K.T) @ inverse.T / 2)
    return squares, inverse.T @ vectors


def _tip_deflections(system: System, q: Array, shapes: Array) -> Iterator[Array]:
    """Yield the size of the tip deflection of each flexible link in each mode (columns of `shapes`)."""
    step = 1e-6 / np.abs(shapes / system.sizes[:, None]).max(axis=0)
    elastic = np.where(system.elastic[:, None], shapes, 0.0) * step
    for link in system.robot.links:
        if link.flexible is not None:
            bent = system.deflection(link.name, q + elastic.T, 2)[1][:, -1]
            yield np.linalg.norm(bent, axis=1) / step
