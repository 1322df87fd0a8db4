"""Poses and twists of the links, outward from the ground."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca

from flexarm.dynamics.bodies import Coordinates, SymbolicBody
from flexarm.dynamics.parameters import ParameterSymbols
from flexarm.dynamics.spatial_algebra import (
    Jet,
    Mount,
    Shift,
    Step,
    Turn,
    acceleration_along,
    along_x,
    known_axis,
    pose_along,
    simplified,
    twist_along,
)
from flexarm.robot import FixedPrismatic, Revolute, RidingJoint, Sleeve, SlidingPrismatic, Weld
from flexarm.robot.joints import Joint


class Kinematics:
    """How the bodies of a robot move, with symbols for its numbers. `order` lists them parents first."""

    def __init__(
        self,
        bodies: Sequence[SymbolicBody],
        coordinates: Coordinates,
        order: tuple[int, ...],
        numbers: ParameterSymbols,
    ) -> None:
        self.bodies, self.coordinates, self.order, self.numbers = bodies, coordinates, order, numbers

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

    def pose_from(self, top: int | None, i: int, q: Any) -> tuple[Any, Any]:
        """(R, p) of a link's root frame as seen from that of one on which it hangs, or from the world (None)."""
        line: list[int] = []
        at: int | None = i
        while at is not None and at != top:
            line.insert(0, at)
            at = self.bodies[at].parent
        R, p = ca.SX.eye(3), ca.SX.zeros(3)
        for each in line:
            R, p = pose_along(self.path(each, q), R, p)
        return R, p

    def shared(self, one: int, other: int) -> int | None:
        """The last link on which both hang, or that one of them is; None if they have the ground in common."""
        above: set[int | None] = set()
        at: int | None = one
        while at is not None:
            above.add(at)
            at = self.bodies[at].parent
        found: int | None = other
        while found is not None and found not in above:
            found = self.bodies[found].parent
        return found

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
        body, joint = self.bodies[i], self.bodies[i].link.joint
        if body.parent is None or above is None:
            steps: list[Step] = [_still_shift(self.numbers["base.position"]), Mount(self.numbers["base.rotation"])]
            if isinstance(joint, RidingJoint):
                steps.append(along_x(own.of(body.local.joint)))
        elif isinstance(joint, RidingJoint):
            carrier, rail, x = self.bodies[body.parent], body.numbers.under("rail"), own.of(body.local.joint)
            steps = carrier.model.moving_place(carrier, rail, x, above, joint.contact)
        else:
            holder = self.bodies[body.parent]
            steps = holder.model.place(holder, body.numbers.under("place"), above)
        if body.numbers["offset"].nnz():
            steps.append(_still_shift(body.numbers["offset"]))
        return simplified([*steps, Mount(body.numbers["joint.mount"]), *MOTIONS[type(joint)](body, own)])


def _turned(body: SymbolicBody, own: Jet) -> list[Step]:
    angle = own.of(body.local.joint)
    return [Turn(known_axis(body.numbers["joint.axis"]), angle.x, angle.dx, angle.ddx)]


def _pushed_out(body: SymbolicBody, own: Jet) -> list[Step]:
    """How far a link has come out of its guide, as its kind takes it."""
    return body.model.reach(body, own)


def _still(body: SymbolicBody, own: Jet) -> list[Step]:
    """A weld; and a joint that rides along its parent has moved before its mount."""
    return []


MOTIONS: dict[type[Joint], Callable[[SymbolicBody, Jet], list[Step]]] = {
    Revolute: _turned,
    FixedPrismatic: _pushed_out,
    SlidingPrismatic: _still,
    Sleeve: _still,
    Weld: _still,
}
"""The steps that each kind of joint makes beyond its mount."""


def _still_shift(r: ca.SX) -> Step:
    return Shift(r, ca.SX.zeros(3), ca.SX.zeros(3))
