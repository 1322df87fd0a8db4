"""What a link carries: everything fixed to it and hanging on it, as rigid bodies at places along it.

Joints count as if they took every angle, one as often as another: of a hinge's load the mean over a whole turn. So
the load does not depend on a posture: for a hinge at the tip its mass and its inertia about the hinge are what they
are, and its first moment, which turns with the hinge, is none. A slide stands in the middle of its travel.

Trees given by the index of each node's parent (None at a root).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from itertools import pairwise
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.validation import Array
from flexarm.robot.flexibility import Modes
from flexarm.robot.joints import FixedPrismatic, Revolute, RidingJoint
from flexarm.robot.links import Link

if TYPE_CHECKING:
    from flexarm.robot.robot import Robot


# Gauss points on [-1, 1]: three are exact for x^2 times the mass of a taper.
GAUSS_POINTS, GAUSS_WEIGHTS = np.polynomial.legendre.leggauss(3)

# Of few shapes of bending the inertia behind a hinge would take one, and a hinge that nothing holds does not feel it:
# an arm driven by torques would be far off, and one with held joints if it did not count at all. So a share of it does,
# with the smallest errors of both (benchmarks/shapes.py). From four shapes on, and of one, all of it counts.
LIGHTENED_COUNTS = (2, 3)
HINGED_SHARE = 0.01


@dataclass(frozen=True)
class CarriedBody:
    """A rigid body at a place of a link (m from its root), in the axes of the section there.

    moment: first moment along x (kg m); inertia: about x, y and z through the place (kg m2); hinged: what of it turns
    about hinges, and is not felt while nothing holds them.
    """

    at: float
    mass: float
    moment: float
    inertia: tuple[float, float, float]
    hinged: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def inertia_about(self, axis: int, shapes: int) -> float:
        """The inertia about y (1) or z (2) that so many shapes of bending are loaded with."""
        return self.inertia[axis] - ((1 - HINGED_SHARE) * self.hinged[axis] if shapes in LIGHTENED_COUNTS else 0.0)

    @property
    def size(self) -> float:
        """Zero if there is nothing of it."""
        return self.mass + sum(self.inertia)

    def summary(self) -> str:
        """For tables: the mass, and the largest inertia."""
        inertia = max(self.inertia)
        parts = [f"{self.mass:.4g} kg"] if self.mass or not inertia else []
        return ", ".join([*parts, *([f"{inertia:.4g} kg m2"] if inertia else [])])


@dataclass(frozen=True)
class _Rigid:
    """A rigid body about some origin: mass, first moment (3,), inertia (3, 3) and what of it turns about hinges."""

    mass: float
    moment: Array
    inertia: Array
    hinged: Array = field(default_factory=lambda: np.zeros((3, 3)))

    def __add__(self, other: _Rigid) -> _Rigid:
        inertia, hinged = self.inertia + other.inertia, self.hinged + other.hinged
        return _Rigid(self.mass + other.mass, self.moment + other.moment, inertia, hinged)

    def shifted(self, by: Any) -> _Rigid:
        """About an origin from which the old one is `by` away."""
        d, c, m = np.asarray(by, dtype=float), self.moment, self.mass
        cross = np.outer(c, d)
        inertia = self.inertia + (2 * c @ d + m * d @ d) * np.eye(3) - cross - cross.T - m * np.outer(d, d)
        return _Rigid(m, c + m * d, inertia, self.hinged)

    def turned(self, matrix: Any) -> _Rigid:
        """In axes from which the old ones are turned by a matrix."""
        R = np.asarray(matrix, dtype=float)
        return _Rigid(self.mass, R @ self.moment, R @ self.inertia @ R.T, R @ self.hinged @ R.T)

    def spun(self, axis: Any) -> _Rigid:
        """The mean over a whole turn about an axis through the origin."""
        along = np.outer(axis, axis)
        about = float(np.sum(along * self.inertia))
        across = (float(np.trace(self.inertia)) - about) / 2
        return _Rigid(self.mass, along @ self.moment, about * along + across * (np.eye(3) - along), about * along)

    def load(self, at: float) -> CarriedBody:
        # rounding may leave less than nothing
        inertia, hinged = (np.maximum(np.diag(each), 0.0).tolist() for each in (self.inertia, self.hinged))
        return CarriedBody(at, float(self.mass), float(self.moment[0]), tuple(inertia), tuple(hinged))


def carried_bodies(robot: Robot) -> list[tuple[CarriedBody, ...]]:
    """What each link carries, place by place: what rides along it has none and does not count."""
    hanging: list[dict[float, _Rigid]] = [{} for _ in robot.links]
    riding: list[list[_Rigid]] = [[] for _ in robot.links]
    parents = robot.parents
    for index, link in enumerate(robot.links):
        for at, lump in _lumps(link):
            _put(hanging[index], at, lump)
    for index in reversed(robot.order):
        link, parent = robot.links[index], parents[index]
        if parent is None:
            continue
        whole = sum((body.shifted((at, 0, 0)) for at, body in hanging[index].items()), _beam(link))
        whole = sum(riding[index], whole)
        body = _seated(robot, link, whole)
        if isinstance(link.joint, RidingJoint):
            riding[parent].append(body.shifted((_middle(robot, link), 0, 0)))
        else:
            _put(hanging[parent], robot.links[parent].length if link.at is None else link.at, body)
    loads = ([body.load(at) for at, body in sorted(places.items()) if at > 0] for places in hanging)
    return [tuple(load for load in each if load.size != 0) for each in loads]


def hub_load(link: Link) -> tuple[CarriedBody, ...]:
    """What the rear part of a link that slides through its joint has at its end, in its own axes: x points there."""
    if link.hub is None:
        return ()
    (_, body), *_ = _lumps(link)
    return (body.turned(np.diag([-1.0, 1.0, -1.0])).load(link.length),)


def takes_loads(link: Link) -> bool:
    """Whether the modes of a link are loaded with what it carries."""
    basis = None if link.flexible is None else link.flexible.basis
    return isinstance(basis, Modes) and not basis.given_load


def reference_loads(link: Link, loads: tuple[CarriedBody, ...]) -> tuple[CarriedBody, ...]:
    """What the modes of a link are loaded with: what it carries (`loads`), unless its basis says."""
    basis = None if link.flexible is None else link.flexible.basis
    if not isinstance(basis, Modes):
        return ()
    if basis.given_load:
        inertia = basis.tip_inertia or 0.0
        loads = (CarriedBody(link.length, basis.tip_mass or 0.0, 0.0, (inertia, inertia, inertia)),)
    # one that is not finite is told where its owner's numbers are
    return tuple(load for load in loads if isfinite(load.size) and load.size > 0)


def _put(places: dict[float, _Rigid], at: float, body: _Rigid) -> None:
    places[at] = places[at] + body if at in places else body


def _lumps(link: Link) -> Iterator[tuple[float, _Rigid]]:
    """Everything fixed to a link, with where along it."""
    fixed = [(0.0, link.hub), (link.length, link.payload), *((lump.at or 0.0, lump) for lump in link.masses)]
    for at, lump in fixed:
        if lump is not None:
            body = _Rigid(lump.mass, np.zeros(3), np.array(lump.inertia_matrix))
            yield at, body.shifted(lump.offset)


def _beam(link: Link) -> _Rigid:
    """The link itself about its root, straight."""
    section, length = link.section, link.length
    even = section is None or (section.uniform and not section.breaks)
    stations = [(0.5, 1.0)] if even else list(_stations((0.0, *section.breaks, 1.0) if section is not None else ()))
    mass, moment, second, about = 0.0, 0.0, 0.0, np.zeros(3)
    for xi, share in stations:
        x, here = xi * length, share * length * link.mass_per_length(xi)
        mass, moment, second = mass + here, moment + here * x, second + here * x * x
        about[0] += share * length * link.polar_inertia_per_length(xi)
        if link.rotary_inertia:
            about[1:] += share * length * np.array([link.inertia_y_per_length(xi), link.inertia_z_per_length(xi)])
    second += mass * length * length / 12 if even else 0.0
    return _Rigid(mass, np.array([moment, 0.0, 0.0]), np.diag(about + np.array([0.0, second, second])))


def _stations(breaks: tuple[float, ...]) -> Iterator[tuple[float, float]]:
    """Gauss points of every piece, as fractions of the length, with what part of it each stands for."""
    for a, b in pairwise(breaks):
        for point, weight in zip(GAUSS_POINTS, GAUSS_WEIGHTS, strict=True):
            yield (a + b + (b - a) * point) / 2, (b - a) / 2 * weight


def _seated(robot: Robot, link: Link, body: _Rigid) -> _Rigid:
    """A link and all that it carries, about the place where it hangs, in the axes of its parent there."""
    joint = link.joint
    if isinstance(joint, Revolute):
        body = body.spun(joint.axis_vector)
    elif isinstance(joint, FixedPrismatic):
        body = body.shifted((_middle(robot, link) - link.length, 0, 0))
    return body.turned(joint.mount_matrix).shifted(link.offset)


def _middle(robot: Robot, link: Link) -> float:
    travel = robot.travel(link)
    return 0.0 if travel is None else sum(travel) / 2


def parents_first(parents: Sequence[int | None]) -> tuple[int, ...]:
    """Every node after its parent; nodes that already stand so keep their order.

    >>> parents_first([2, None, 1])
    (1, 2, 0)
    """
    placed: dict[int, None] = {}
    for start in range(len(parents)):
        branch: list[int] = []
        node: int | None = start
        while node is not None and node not in placed:
            branch.append(node)
            node = parents[node]
        placed.update(dict.fromkeys(reversed(branch)))
    return tuple(placed)


def find_cycle(parents: Sequence[int | None]) -> list[int]:
    """A circle of parents, parent before child, its first node repeated at the end; empty when there is none.

    >>> circle([None, 2, 1]), circle([None, 0, 1])
    ([1, 2, 1], [])
    """
    clear: set[int] = set()  # nodes from which the way leads to a root
    for start in range(len(parents)):
        way: dict[int, None] = {}
        node: int | None = start
        while node is not None and node not in way and node not in clear:
            way[node] = None
            node = parents[node]
        if node in way:
            seen = list(way)
            turn = seen[seen.index(node) :]
            first = turn.index(min(turn))  # begin with the link that is listed first
            around = [turn[first], *reversed(turn[first + 1 :] + turn[:first])]
            return [*around, turn[first]]
        clear.update(way)
    return []
