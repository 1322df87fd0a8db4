"""Vectors of coordinates with their rates.

Rotations and twists, as CasADi expressions.

Conventions of the whole package: R_ab turns coordinates in b into coordinates in a; a twist is (omega, v), angular
velocity first, both written in the moving frame's own axes; v is the velocity of the frame's origin.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from flexarm.foundation.dataclass import dataclass


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

    @staticmethod
    def constant(value: Any) -> Jet:
        return Jet.slow(ca.SX(value))

    @property
    def parts(self) -> tuple[Any, Any, Any]:
        return self.x, self.dx, self.ddx

    def of(self, part: Any) -> Jet:
        return Jet(self.x[part, 0], self.dx[part, 0], self.ddx[part, 0])

    def above(self, other: Jet) -> Jet:
        """The two vectors as one."""
        pairs = ((self.x, other.x), (self.dx, other.dx), (self.ddx, other.ddx))
        return Jet(*(ca.vertcat(*pair) for pair in pairs))

    def choose(self, condition: Any, other: Jet) -> Jet:
        """This one where the condition holds, else the other."""
        pairs = ((self.x, other.x), (self.dx, other.dx), (self.ddx, other.ddx))
        return Jet(*(ca.if_else(condition, *pair) for pair in pairs))

    def through(self, matrix: Any) -> Jet:
        """A constant matrix times the vector."""
        return Jet(matrix @ self.x, matrix @ self.dx, matrix @ self.ddx)

    def form(self, matrix: Any) -> Jet:
        """Half the quadratic form of a constant symmetric matrix."""
        lean, dlean = matrix @ self.x, matrix @ self.dx
        second = ca.dot(self.ddx, lean) + ca.dot(self.dx, dlean)
        return Jet(ca.dot(self.x, lean) / 2, ca.dot(self.dx, lean), second)

    def form_with(self, matrix: Any, other: Jet) -> Jet:
        """The bilinear form of a constant matrix and another vector; rates from its two gradients, which cost least."""
        mine, theirs = matrix @ other.x, matrix.T @ self.x
        rate = ca.dot(mine, self.dx) + ca.dot(theirs, other.dx)
        second = ca.dot(mine, self.ddx) + ca.dot(theirs, other.ddx) + 2 * ca.dot(self.dx, matrix @ other.dx)
        return Jet(ca.dot(self.x, mine), rate, second)

    def cross(self, other: Jet) -> Jet:
        """The vector product of two vectors of three."""
        rate = ca.cross(self.dx, other.x) + ca.cross(self.x, other.dx)
        second = ca.cross(self.ddx, other.x) + 2 * ca.cross(self.dx, other.dx) + ca.cross(self.x, other.ddx)
        return Jet(ca.cross(self.x, other.x), rate, second)

    @property
    def square(self) -> Jet:
        """The vector times itself."""
        second = ca.dot(self.dx, self.dx) + ca.dot(self.x, self.ddx)
        return Jet(ca.dot(self.x, self.x), 2 * ca.dot(self.x, self.dx), 2 * second)

    @property
    def along_x(self) -> Jet:
        """A number as a vector along x."""
        return Jet(*(ca.vertcat(part, 0, 0) for part in (self.x, self.dx, self.ddx)))

    @property
    def idle(self) -> bool:
        """Whether this is zero at all times."""
        return all(part.is_zero() for part in (self.x, self.dx, self.ddx))

    def __add__(self, other: Jet) -> Jet:
        return Jet(self.x + other.x, self.dx + other.dx, self.ddx + other.ddx)

    def __neg__(self) -> Jet:
        return Jet(-self.x, -self.dx, -self.ddx)

    def __sub__(self, other: Jet) -> Jet:
        return self + (-other)

    def __mul__(self, other: Jet) -> Jet:
        """The product of two numbers."""
        second = self.ddx * other.x + 2 * self.dx * other.dx + self.x * other.ddx
        return Jet(self.x * other.x, self.dx * other.x + self.x * other.dx, second)

    def __truediv__(self, other: Jet) -> Jet:
        """The quotient y of two numbers, from y other = self."""
        y = self.x / other.x
        dy = (self.dx - y * other.dx) / other.x
        return Jet(y, dy, (self.ddx - 2 * dy * other.dx - y * other.ddx) / other.x)


def jet_along(expression: Any, symbols: Any, given: Jet) -> Jet:
    """An expression of symbols, with its rates, where the symbols move as given."""
    rates, second_rates = ca.SX.sym("rates", symbols.shape[0]), ca.SX.sym("second_rates", symbols.shape[0])
    rate = ca.jtimes(expression, symbols, rates)
    second = ca.jtimes(rate, symbols, rates) + ca.jtimes(expression, symbols, second_rates)
    values = [ca.densify(each) for each in given.parts]
    return Jet(*ca.substitute([expression, rate, second], [symbols, rates, second_rates], values))


X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


Axis = tuple[float, float, float] | ca.SX  # numbers if it belongs to the structure, else symbols


def constant_axis(column: ca.SX) -> Axis:
    """An axis of symbols as numbers, if it has no symbols."""
    if not column.is_constant():
        return column
    x, y, z = ca.DM(column).full().ravel().tolist()
    return x, y, z


def _column(axis: Axis) -> Any:
    return ca.DM(axis) if isinstance(axis, tuple) else axis


def rotation(axis: Axis, angle: Any) -> Any:
    """Rotation about a constant unit axis (Rodrigues); zeros of the axis cost nothing."""
    n = _column(axis)
    along_axis = n @ n.T
    return along_axis + ca.cos(angle) * (ca.DM.eye(3) - along_axis) + ca.sin(angle) * ca.skew(n)


@dataclass(frozen=True)
class Shift:
    """Move the origin by r (in the frame's axes), with its two rates."""

    r: Any
    dr: Any
    ddr: Any

    def twist(self, omega: Any, v: Any) -> tuple[Any, Any]:
        return omega, v + ca.cross(omega, self.r) + self.dr

    def acceleration(self, omega: Any, domega: Any, a: Any) -> tuple[Any, Any, Any]:
        inner = ca.cross(omega, self.r) + 2 * self.dr
        return omega, domega, a + ca.cross(domega, self.r) + ca.cross(omega, inner) + self.ddr

    def pose(self, R: Any, p: Any) -> tuple[Any, Any]:
        return R, p + R @ self.r


@dataclass(frozen=True)
class Turn:
    """Turn about a constant axis by a varying angle, with its two rates."""

    axis: Axis
    angle: Any
    rate: Any
    second_rate: Any

    def twist(self, omega: Any, v: Any) -> tuple[Any, Any]:
        back = rotation(self.axis, self.angle).T
        return back @ omega + _column(self.axis) * self.rate, back @ v

    def acceleration(self, omega: Any, domega: Any, a: Any) -> tuple[Any, Any, Any]:
        back, axis = rotation(self.axis, self.angle).T, _column(self.axis)
        turned = back @ omega
        domega = back @ domega + ca.cross(turned, axis) * self.rate + axis * self.second_rate
        return turned + axis * self.rate, domega, back @ a

    def pose(self, R: Any, p: Any) -> tuple[Any, Any]:
        return R @ rotation(self.axis, self.angle), p


@dataclass(frozen=True)
class Mount:
    """A constant rotation."""

    matrix: ca.SX

    @property
    def idle(self) -> bool:
        return bool(self.matrix.is_constant()) and np.array_equal(ca.DM(self.matrix).full(), np.eye(3))

    def twist(self, omega: Any, v: Any) -> tuple[Any, Any]:
        back = self.matrix.T
        return back @ omega, back @ v

    def acceleration(self, omega: Any, domega: Any, a: Any) -> tuple[Any, Any, Any]:
        back = self.matrix.T
        return back @ omega, back @ domega, back @ a

    def pose(self, R: Any, p: Any) -> tuple[Any, Any]:
        return R @ self.matrix, p


@dataclass(frozen=True)
class GeneralRotation:
    """Any rotation, with its angular velocity in the new axes and the rate of that."""

    matrix: Any
    omega: Any
    domega: Any

    def twist(self, omega: Any, v: Any) -> tuple[Any, Any]:
        back = self.matrix.T
        return back @ omega + self.omega, back @ v

    def acceleration(self, omega: Any, domega: Any, a: Any) -> tuple[Any, Any, Any]:
        back = self.matrix.T
        turned = back @ omega
        return turned + self.omega, back @ domega + ca.cross(turned, self.omega) + self.domega, back @ a

    def pose(self, R: Any, p: Any) -> tuple[Any, Any]:
        return R @ self.matrix, p


Step = Shift | Turn | Mount | GeneralRotation


def along_x(d: Jet) -> Step:
    """Along the axis of a frame."""
    r = d.along_x
    return Shift(r.x, r.dx, r.ddx)


def simplify(steps: list[Step]) -> list[Step]:
    """The same path in fewer steps: idle ones dropped, turns about one axis in a row made one.

    In the plane this makes R(v') R(theta) one rotation by v' + theta: one sine and cosine a joint.
    """
    out: list[Step] = []
    for step in steps:
        if isinstance(step, Mount) and step.idle:
            continue
        last = out[-1] if out else None
        if isinstance(step, Turn) and isinstance(last, Turn) and _is_same_axis(step.axis, last.axis):
            out[-1] = Turn(
                step.axis, last.angle + step.angle, last.rate + step.rate, last.second_rate + step.second_rate
            )
        else:
            out.append(step)
    return out


def _is_same_axis(one: Axis, other: Axis) -> bool:
    return isinstance(one, tuple) and isinstance(other, tuple) and one == other


def twist_along(steps: list[Step], omega: Any, v: Any) -> tuple[Any, Any]:
    """The twist at the end of a path from the twist at its start."""
    for step in steps:
        omega, v = step.twist(omega, v)
    return omega, v


def acceleration_along(steps: list[Step], omega: Any, domega: Any, a: Any) -> tuple[Any, Any, Any]:
    """omega, its rate and the acceleration of the origin (not the rate of v: that lacks omega x v), in own axes."""
    for step in steps:
        omega, domega, a = step.acceleration(omega, domega, a)
    return omega, domega, a


def pose_along(steps: list[Step], R: Any, p: Any) -> tuple[Any, Any]:
    """The pose at the end of a path from the pose at its start."""
    for step in steps:
        R, p = step.pose(R, p)
    return R, p
