"""Poses and twists of the links, outward from the ground."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import casadi as ca

from flexarm.beam.integrals import LinkIntegrals, Station
from flexarm.mechanics.coordinates import Coordinates, Local
from flexarm.mechanics.rotations import (
    Mount,
    Shift,
    Step,
    Turn,
    X,
    Y,
    Z,
    acceleration_along,
    pose_along,
    simplified,
    twist_along,
)
from flexarm.robot import Link, Revolute, Robot


@dataclass(frozen=True)
class Jet:
    """A vector of coordinates with its two rates."""

    x: Any
    dx: Any
    ddx: Any

    @staticmethod
    def slow(x: Any, dx: Any = None) -> Jet:
        """Without acceleration (and without velocity unless given)."""
        rest = ca.SX.zeros(x.shape)
        return Jet(x, rest if dx is None else dx, rest)

    def of(self, part: Any) -> Jet:
        return Jet(self.x[part, 0], self.dx[part, 0], self.ddx[part, 0])


@dataclass(frozen=True)
class Body:
    """A link as the equations see it: its integrals, its coordinates, where it hangs on which other body."""

    link: Link
    integrals: LinkIntegrals
    local: Local
    parent: int | None
    hangs_at: Station | None

    def elastic(self, x: Any) -> Any:
        """The elastic part of the body's own coordinates (as a column even where it is empty)."""
        return x[self.local.elastic, 0]


class Chain:
    """The bodies of a robot. `order` lists them parents first."""

    def __init__(self, robot: Robot) -> None:
        integrals = [LinkIntegrals(link) for link in robot.links]
        self.robot = robot
        self.coordinates = Coordinates(robot, integrals)
        self.order = robot.order
        self.bodies: list[Body] = []
        for i, link in enumerate(robot.links):
            parent = robot.parents[i]
            station = None
            if parent is not None:
                where = robot.links[parent].length if link.at is None else link.at
                station = integrals[parent].station(where)
            self.bodies.append(Body(link, integrals[i], self.coordinates.locals[i], parent, station))

    def part(self, vector: Any, body: int) -> Any:
        """A body's own part of a vector of all coordinates."""
        return vector[self.bodies[body].local.all, 0]

    def twists(self, q: Any, v: Any) -> list[Any]:
        """Twist (omega, v) of every link's root frame."""
        return self._outward((ca.SX.zeros(3), ca.SX.zeros(3)), lambda i, start: twist_along(self.path(i, q, v), *start))

    def accelerations(self, q: Any, v: Any, a: Any, ground: Any) -> list[Any]:
        """(omega, d omega, acceleration of the origin) of every link's root frame, the ground accelerating too."""
        return self._outward(
            (ca.SX.zeros(3), ca.SX.zeros(3), ground), lambda i, start: acceleration_along(self.path(i, q, v, a), *start)
        )

    def poses(self, q: Any) -> list[tuple[Any, Any]]:
        """(R, p) of every link's root frame in the world."""
        return self._outward((ca.SX.eye(3), ca.SX.zeros(3)), lambda i, start: pose_along(self.path(i, q), *start))

    def _outward(self, ground: Any, onward: Callable[[int, Any], Any]) -> list[Any]:
        found: list[Any] = [None] * len(self.bodies)
        for i in self.order:
            parent = self.bodies[i].parent
            found[i] = onward(i, ground if parent is None else found[parent])
        return found

    def path(self, i: int, q: Any, v: Any = None, a: Any = None) -> list[Step]:
        """From the root frame of a body's parent (or the world) to its own root frame."""
        parent = self.bodies[i].parent
        rest = ca.SX.zeros(self.coordinates.count)
        given = [q, rest if v is None else v, rest if a is None else a]
        own = Jet(*(self.part(vector, i) for vector in given))
        above = None if parent is None else Jet(*(self.part(vector, parent) for vector in given))
        return self.arrival(i, above, own)

    def arrival(self, i: int, above: Jet | None, own: Jet) -> list[Step]:
        """The same path from the coordinates of the two bodies alone."""
        body = self.bodies[i]
        if body.parent is None or above is None:
            base = self.robot.base
            steps: list[Step] = [_constant_shift(base.position), Mount(base.matrix)]
        else:
            assert body.hangs_at is not None
            eta = above.of(self.bodies[body.parent].local.elastic)
            steps = [*along_axis(body.hangs_at, eta), *section_turn(body.hangs_at, eta)]
        if any(body.link.offset):
            steps.append(_constant_shift(body.link.offset))
        joint = body.link.joint
        steps.append(Mount(joint.mount_matrix))
        if isinstance(joint, Revolute):
            angle = own.of(body.local.joint)
            steps.append(Turn(joint.axis_vector, angle.x, angle.dx, angle.ddx))
        return simplified(steps)


def along_axis(station: Station, eta: Jet) -> list[Step]:
    """From a link's root frame to a point of its deformed axis, axes kept: rho = (x + u - s, v, w)."""
    return [deflected(station, eta, shortening(station.H, eta))]


def shortening(H: Any, eta: Jet) -> Jet:
    """s = 1/2 eta^T H eta."""
    H = ca.sparsify(ca.DM(H))
    lean, dlean = H @ eta.x, H @ eta.dx
    return Jet(ca.dot(eta.x, lean) / 2, ca.dot(eta.dx, lean), ca.dot(eta.ddx, lean) + ca.dot(eta.dx, dlean))


def deflected(station: Station, eta: Jet, s: Jet) -> Step:
    U = ca.sparsify(ca.DM(station.U))

    def rho(x: Any, eta: Any, s: Any) -> Any:
        return ca.vertcat(x - s, 0, 0) + U @ eta

    return Shift(rho(station.x, eta.x, s.x), rho(0, eta.dx, s.dx), rho(0, eta.ddx, s.ddx))


def section_turn(station: Station, eta: Jet) -> list[Step]:
    """From there into the section's axes: Rz(v') Ry(-w') Rx(theta)."""
    W = ca.sparsify(ca.DM(station.W))
    angles, rates, second_rates = W @ eta.x, W @ eta.dx, W @ eta.ddx
    present = [row for row in (2, 1, 0) if station.W[row].any()]
    return [Turn((X, Y, Z)[row], angles[row], rates[row], second_rates[row]) for row in present]


def _constant_shift(r: tuple[float, float, float]) -> Step:
    return Shift(ca.SX(ca.DM(r)), ca.SX.zeros(3), ca.SX.zeros(3))
