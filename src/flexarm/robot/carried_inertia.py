"""Rigid bodies that each link carries (masses and following links), and the tree of links.

The load behind a revolute joint is its mean over a whole turn, so that it does not depend on the posture: mass and
inertia about a hinge at the tip are exact, and the first moment, which rotates with the joint, is zero. Prismatic
joints are in the middle of their travel.
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
from flexarm.robot.joints import TurnAbout
from flexarm.robot.links import Link
from flexarm.robot.masses import PointMass

if TYPE_CHECKING:
    from flexarm.robot.robot import Robot


# Gauss points on [-1, 1]; three are exact for x^2 times the mass of a taper.
GAUSS_POINTS, GAUSS_WEIGHTS = np.polynomial.legendre.leggauss(3)

# The inertia behind a hinge would determine one of few bending shapes, but has no effect if the hinge is free. With the
# full inertia, an arm driven by torques would be inaccurate; without it, an arm with held joints. This share has the
# smallest errors of both (benchmarks/shapes.py). With one shape, or four and more, the full inertia is used.
LIGHTENED_COUNTS = (2, 3)
HINGED_SHARE = 0.01


@dataclass(frozen=True)
class CarriedBody:
    """Rigid body at a place of a link, in the axes of the section there.

    Parameters
    ----------
    at : float
        Place, from the link's root (m).
    mass : float
        Mass (kg).
    moment : float
        First moment along x (kg m).
    inertia : tuple of float
        Inertia about x, y and z through the place (kg m2).
    hinged : tuple of float
        Part of the inertia that rotates about hinges and has no effect while they are free (kg m2).
    """

    at: float
    mass: float
    moment: float
    inertia: tuple[float, float, float]
    hinged: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def inertia_about(self, axis: int, shapes: int) -> float:
        """Return the inertia about y (1) or z (2) with which a number of bending shapes is loaded (kg m2)."""
        return self.inertia[axis] - ((1 - HINGED_SHARE) * self.hinged[axis] if shapes in LIGHTENED_COUNTS else 0.0)

    @property
    def size(self) -> float:
        """Sum of mass and inertia, zero for no body."""
        return self.mass + sum(self.inertia)

    def summary(self) -> str:
        """Return the mass and the largest inertia as text for tables."""
        inertia = max(self.inertia)
        parts = [f"{self.mass:.4g} kg"] if self.mass or not inertia else []
        return ", ".join([*parts, *([f"{inertia:.4g} kg m2"] if inertia else [])])


@dataclass(frozen=True)
class _Rigid:
    """Rigid body about an origin: mass, first moment (3,), inertia (3, 3) and the hinged part of it (3, 3)."""

    mass: float
    moment: Array
    inertia: Array
    hinged: Array = field(default_factory=lambda: np.zeros((3, 3)))

    def __add__(self, other: _Rigid) -> _Rigid:
        inertia, hinged = self.inertia + other.inertia, self.hinged + other.hinged
        return _Rigid(self.mass + other.mass, self.moment + other.moment, inertia, hinged)

    def shifted(self, by: Any) -> _Rigid:
        """Return the body about an origin from which the old one is at `by`."""
        d, c, m = np.asarray(by, dtype=float), self.moment, self.mass
        cross = np.outer(c, d)
        inertia = self.inertia + (2 * c @ d + m * d @ d) * np.eye(3) - cross - cross.T - m * np.outer(d, d)
        return _Rigid(m, c + m * d, inertia, self.hinged)

    def turned(self, matrix: Any) -> _Rigid:
        """Return the body in axes relative to which the old ones are rotated by a matrix."""
        R = np.asarray(matrix, dtype=float)
        return _Rigid(self.mass, R @ self.moment, R @ self.inertia @ R.T, R @ self.hinged @ R.T)

    def spun(self, axis: Any) -> _Rigid:
        """Return the mean over a whole turn about an axis through the origin."""
        along = np.outer(axis, axis)
        about = float(np.sum(along * self.inertia))
        across = (float(np.trace(self.inertia)) - about) / 2
        return _Rigid(self.mass, along @ self.moment, about * along + across * (np.eye(3) - along), about * along)

    def load(self, at: float) -> CarriedBody:
        """Return the body as a load at a place of a link."""
        # rounding may leave negative values
        inertia, hinged = (np.maximum(np.diag(each), 0.0).tolist() for each in (self.inertia, self.hinged))
        return CarriedBody(at, float(self.mass), float(self.moment[0]), tuple(inertia), tuple(hinged))


def carried_bodies(robot: Robot) -> list[tuple[CarriedBody, ...]]:
    """Return the bodies that each link carries, by place; those that slide along it have no place and are left out."""
    attached: list[dict[float, _Rigid]] = [{} for _ in robot.links]
    sliding: list[list[_Rigid]] = [[] for _ in robot.links]
    parents = robot.parents
    for index, link in enumerate(robot.links):
        for _, lump, at in link.lumps:
            _add(attached[index], at, _lump(lump))
    for index in reversed(robot.order):
        link, parent = robot.links[index], parents[index]
        if parent is None:
            continue
        whole = sum((body.shifted((at, 0, 0)) for at, body in attached[index].items()), _beam(link))
        whole = sum(sliding[index], whole)
        body = _at_parent(robot, link, whole)
        if link.joint.rides:
            sliding[parent].append(body.shifted((_middle(robot.travel(link)), 0, 0)))
        else:
            _add(attached[parent], robot.links[parent].length if link.at is None else link.at, body)
    loads = ([body.load(at) for at, body in sorted(places.items()) if at > 0] for places in attached)
    return [tuple(load for load in each if load.size != 0) for each in loads]


def hub_load(link: Link) -> tuple[CarriedBody, ...]:
    """Return the hub as a load at the end of the rear part of a sliding link, in the axes of that part."""
    if link.hub is None:
        return ()
    return (_lump(link.hub).turned(np.diag([-1.0, 1.0, -1.0])).load(link.length),)


def takes_loads(link: Link) -> bool:
    """Return True if the modes of a link are loaded with the bodies that it carries."""
    basis = None if link.flexible is None else link.flexible.basis
    return isinstance(basis, Modes) and not basis.given_load


def reference_loads(link: Link, loads: tuple[CarriedBody, ...]) -> tuple[CarriedBody, ...]:
    """Return the loads of a link's modes: the bodies that it carries (`loads`), unless its basis gives the load."""
    basis = None if link.flexible is None else link.flexible.basis
    if not isinstance(basis, Modes):
        return ()
    if basis.given_load:
        inertia = basis.tip_inertia or 0.0
        loads = (CarriedBody(link.length, basis.tip_mass or 0.0, 0.0, (inertia, inertia, inertia)),)
    # values that are not finite are reported by the checks of the model's parameters
    return tuple(load for load in loads if isfinite(load.size) and load.size > 0)


def _add(places: dict[float, _Rigid], at: float, body: _Rigid) -> None:
    places[at] = places[at] + body if at in places else body


def _lump(lump: PointMass) -> _Rigid:
    """Return a point mass about its place on the link."""
    return _Rigid(lump.mass, np.zeros(3), np.array(lump.inertia_matrix)).shifted(lump.offset)


def _beam(link: Link) -> _Rigid:
    """Return the straight link without point masses, about its root."""
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
    """Yield Gauss points and weights of all pieces as fractions of the length."""
    for a, b in pairwise(breaks):
        for point, weight in zip(GAUSS_POINTS, GAUSS_WEIGHTS, strict=True):
            yield (a + b + (b - a) * point) / 2, (b - a) / 2 * weight


def _at_parent(robot: Robot, link: Link, body: _Rigid) -> _Rigid:
    """Return a link and its bodies about the place of its joint on the parent, in the axes of the parent."""
    joint = link.joint
    if joint.grips:
        body = body.shifted((_middle(robot.travel(link)) - link.length, 0, 0))
    for motion in reversed(joint.elementary_motions):
        if isinstance(motion, TurnAbout):
            body = body.spun(motion.axis)
        else:
            distance = (motion.ratio or 1.0) * _middle(robot.travels(link)[motion.freedom])
            body = body.shifted(np.array(motion.axis) * distance)
    return body.turned(joint.mount_matrix).shifted(link.offset)


def _middle(travel: tuple[float, float] | None) -> float:
    return 0.0 if travel is None else sum(travel) / 2


def parents_first(parents: Sequence[int | None]) -> tuple[int, ...]:
    """Return all nodes of a tree, each after its parent, otherwise in their order.

    The tree is given by the index of each node's parent, None for a root.

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
    """Return a cycle of parents, parent before child, with its first node repeated at the end; empty if there is none.

    >>> find_cycle([None, 2, 1]), find_cycle([None, 0, 1])
    ([1, 2, 1], [])
    """
    clear: set[int] = set()  # nodes below a root
    for start in range(len(parents)):
        path: dict[int, None] = {}
        node: int | None = start
        while node is not None and node not in path and node not in clear:
            path[node] = None
            node = parents[node]
        if node in path:
            visited = list(path)
            cycle = visited[visited.index(node) :]
            first = cycle.index(min(cycle))  # begin with the link that is listed first
            return [cycle[first], *reversed(cycle[first + 1 :] + cycle[:first]), cycle[first]]
        clear.update(path)
    return []
