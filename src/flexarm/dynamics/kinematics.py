"""Poses, twists and accelerations of the links, by recursion outward from the ground.

See "From one link to the next" in docs/theory.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca

from flexarm.dynamics.bodies import Coordinates, SymbolicBody
from flexarm.dynamics.joints import joint_model
from flexarm.dynamics.parameters import ParameterSymbols
from flexarm.dynamics.spatial_algebra import (
    Jet,
    Mount,
    Shift,
    Step,
    acceleration_along,
    pose_along,
    simplify,
    twist_along,
)


class Kinematics:
    """Kinematics of the bodies of a robot, with symbols for its parameters; `order` lists parents first."""

    def __init__(
        self,
        bodies: Sequence[SymbolicBody],
        coordinates: Coordinates,
        order: tuple[int, ...],
        parameters: ParameterSymbols,
    ) -> None:
        self.bodies, self.coordinates, self.order, self.parameters = bodies, coordinates, order, parameters

    def part(self, vector: Any, body: int) -> Any:
        """Return a body's own part of a vector of all coordinates."""
        return vector[self.bodies[body].local.all, 0]

    def twists(self, q: Any, v: Any) -> list[Any]:
        """Return the twist (omega, v) of every link's root frame."""
        return self._outward((ca.SX.zeros(3), ca.SX.zeros(3)), lambda i, start: twist_along(self.path(i, q, v), *start))

    def accelerations(self, q: Any, v: Any, a: Any, ground: Any) -> list[Any]:
        """Return (omega, domega, acceleration of the origin) of every link's root frame on an accelerating ground."""
        return self._outward(
            (ca.SX.zeros(3), ca.SX.zeros(3), ground), lambda i, start: acceleration_along(self.path(i, q, v, a), *start)
        )

    def poses(self, q: Any) -> list[tuple[Any, Any]]:
        """Return (R, p) of every link's root frame in the world."""
        return self._outward((ca.SX.eye(3), ca.SX.zeros(3)), lambda i, start: pose_along(self.path(i, q), *start))

    def pose_from(self, top: int | None, i: int, q: Any) -> tuple[Any, Any]:
        """Return (R, p) of a link's root frame relative to that of an ancestor, or to the world (None)."""
        line: list[int] = []
        at: int | None = i
        while at is not None and at != top:
            line.insert(0, at)
            at = self.bodies[at].parent
        R, p = ca.SX.eye(3), ca.SX.zeros(3)
        for each in line:
            R, p = pose_along(self.path(each, q), R, p)
        return R, p

    def common_ancestor(self, one: int, other: int) -> int | None:
        """Return the last common ancestor of two links, themselves included; None if it is the ground."""
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
        """Return the steps from the root frame of a body's parent (or the world) to its own root frame."""
        parent = self.bodies[i].parent
        rest = ca.SX.zeros(self.coordinates.count)
        given = [q, rest if v is None else v, rest if a is None else a]
        own = Jet(*(self.part(vector, i) for vector in given))
        above = None if parent is None else Jet(*(self.part(vector, parent) for vector in given))
        return self.joint_path(i, above, own)

    def joint_path(self, i: int, above: Jet | None, own: Jet) -> list[Step]:
        """Return the steps of `path` from the coordinates of the two bodies alone."""
        body = self.bodies[i]
        model = joint_model(body.link.joint)
        steps: list[Step] = []
        if body.parent is None:
            steps += [_constant_shift(self.parameters["base.position"]), Mount(self.parameters["base.rotation"])]
        steps += model.seat(body, None if body.parent is None else self.bodies[body.parent], above, own)
        if body.parameters["offset"].nnz():
            steps.append(_constant_shift(body.parameters["offset"]))
        return simplify([*steps, Mount(body.parameters["joint.mount"]), *model.steps(body, own)])


def _constant_shift(r: ca.SX) -> Step:
    return Shift(r, ca.SX.zeros(3), ca.SX.zeros(3))
