"""Rotations, twists and vectors with their time derivatives, as CasADi expressions.

Conventions of the package: R_ab turns coordinates in b into coordinates in a; a twist is (omega, v), angular velocity
first, both in the moving frame's own axes; v is the velocity of the frame's origin.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from flexarm.foundation.dataclass import dataclass


@dataclass(frozen=True)
class Jet:
    """Vector with its first and second time derivative."""

    x: Any
    dx: Any
    ddx: Any

    @staticmethod
    def slow(x: Any, dx: Any = None) -> Jet:
        """Return a jet without acceleration, and without velocity unless given."""
        rest = ca.SX.zeros(x.shape)
        return Jet(x, rest if dx is None else dx, rest)

    @staticmethod
    def constant(value: Any) -> Jet:
        """Return a jet of a constant value."""
        return Jet.slow(ca.SX(value))

    @property
    def parts(self) -> tuple[Any, Any, Any]:
        """Value, first and second derivative."""
        return self.x, self.dx, self.ddx

    def of(self, part: Any) -> Jet:
        """Return a part of the vector."""
        return Jet(self.x[part, 0], self.dx[part, 0], self.ddx[part, 0])

    def above(self, other: Jet) -> Jet:
        """Return this vector stacked on another."""
        pairs = ((self.x, other.x), (self.dx, other.dx), (self.ddx, other.ddx))
        return Jet(*(ca.vertcat(*pair) for pair in pairs))

    def choose(self, condition: Any, other: Jet) -> Jet:
        """Return this jet where the condition holds, else the other."""
        pairs = ((self.x, other.x), (self.dx, other.dx), (self.ddx, other.ddx))
        return Jet(*(ca.if_else(condition, *pair) for pair in pairs))

    def through(self, matrix: Any) -> Jet:
        """Return a constant matrix times the vector."""
        return Jet(matrix @ self.x, matrix @ self.dx, matrix @ self.ddx)

    def form(self, matrix: Any) -> Jet:
        """Return half the quadratic form of a constant symmetric matrix."""
        lean, dlean = matrix @ self.x, matrix @ self.dx
        second = ca.dot(self.ddx, lean) + ca.dot(self.dx, dlean)
        return Jet(ca.dot(self.x, lean) / 2, ca.dot(self.dx, lean), second)

    def form_with(self, matrix: Any, other: Jet) -> Jet:
        """Return the bilinear form of a constant matrix with another vector; rates from its two gradients."""
        by_self, by_other = matrix @ other.x, matrix.T @ self.x
        rate = ca.dot(by_self, self.dx) + ca.dot(by_other, other.dx)
        second = ca.dot(by_self, self.ddx) + ca.dot(by_other, other.ddx) + 2 * ca.dot(self.dx, matrix @ other.dx)
        return Jet(ca.dot(self.x, by_self), rate, second)

    def cross(self, other: Jet) -> Jet:
        """Return the cross product of two vectors (3,)."""
        rate = ca.cross(self.dx, other.x) + ca.cross(self.x, other.dx)
        second = ca.cross(self.ddx, other.x) + 2 * ca.cross(self.dx, other.dx) + ca.cross(self.x, other.ddx)
        return Jet(ca.cross(self.x, other.x), rate, second)

    @property
    def square(self) -> Jet:
        """Dot product of the vector with itself."""
        second = ca.dot(self.dx, self.dx) + ca.dot(self.x, self.ddx)
        return Jet(ca.dot(self.x, self.x), 2 * ca.dot(self.x, self.dx), 2 * second)

    @property
    def along_x(self) -> Jet:
        """Vector (3,) along x of a scalar."""
        return Jet(*(ca.vertcat(part, 0, 0) for part in (self.x, self.dx, self.ddx)))

    @property
    def vanishes(self) -> bool:
        """True if value and derivatives are zero by structure."""
        return all(part.is_zero() for part in (self.x, self.dx, self.ddx))

    def __add__(self, other: Jet) -> Jet:
        return Jet(self.x + other.x, self.dx + other.dx, self.ddx + other.ddx)

    def __neg__(self) -> Jet:
        return Jet(-self.x, -self.dx, -self.ddx)

    def __sub__(self, other: Jet) -> Jet:
        return self + (-other)

    def __mul__(self, other: Jet) -> Jet:
        """Return the product of two scalars."""
        second = self.ddx * other.x + 2 * self.dx * other.dx + self.x * other.ddx
        return Jet(self.x * other.x, self.dx * other.x + self.x * other.dx, second)

    def __truediv__(self, other: Jet) -> Jet:
        """Return the quotient y of two scalars, from y other = self."""
        y = self.x / other.x
        dy = (self.dx - y * other.dx) / other.x
        return Jet(y, dy, (self.ddx - 2 * dy * other.dx - y * other.ddx) / other.x)


def jet_along(expression: Any, symbols: Any, given: Jet) -> Jet:
    """Return an expression of symbols with its time derivatives, for given motions of the symbols."""
    rates, second_rates = ca.SX.sym("rates", symbols.shape[0]), ca.SX.sym("second_rates", symbols.shape[0])
    rate = ca.jtimes(expression, symbols, rates)
    second = ca.jtimes(rate, symbols, rates) + ca.jtimes(expression, symbols, second_rates)
    values = [ca.densify(each) for each in given.parts]
    return Jet(*ca.substitute([expression, rate, second], [symbols, rates, second_rates], values))


X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


Axis = tuple[float, float, float] | ca.SX  # numbers if fixed by the structure, else symbols


def constant_axis(column: ca.SX) -> Axis:
    """Return an axis as numbers if it contains no symbols, else the symbols."""
    if not column.is_constant():
        return column
    x, y, z = ca.DM(column).full().ravel().tolist()
    return x, y, z


def _column(axis: Axis) -> Any:
    return ca.DM(axis) if isinstance(axis, tuple) else axis


def rotation(axis: Axis, angle: Any) -> Any:
    """Return the rotation matrix about a constant unit axis (Rodrigues); zeros of the axis cost nothing."""
    n = _column(axis)
    along_axis = n @ n.T
    return along_axis + ca.cos(angle) * (ca.DM.eye(3) - along_axis) + ca.sin(angle) * ca.skew(n)


@dataclass(frozen=True)
class Shift:
    """Translation by r, in the frame's axes, with its two rates."""

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
    """Rotation about a constant axis by a varying angle, with its two rates."""

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
    """Constant rotation."""

    matrix: ca.SX

    @property
    def is_identity(self) -> bool:
        """True if the rotation is the identity."""
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
    """Rotation with its angular velocity in the new axes and the rate of that."""

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
    """Return the translation along the x axis of a frame."""
    r = d.along_x
    return Shift(r.x, r.dx, r.ddx)


def simplify(steps: list[Step]) -> list[Step]:
    """Return the same path in fewer steps: identities dropped, successive rotations about one axis merged.

    In the plane this makes R(v') R(theta) one rotation by v' + theta: one sine and cosine per joint.
    """
    out: list[Step] = []
    for step in steps:
        if isinstance(step, Mount) and step.is_identity:
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
    """Return the twist at the end of a path from the twist at its start."""
    for step in steps:
        omega, v = step.twist(omega, v)
    return omega, v


def acceleration_along(steps: list[Step], omega: Any, domega: Any, a: Any) -> tuple[Any, Any, Any]:
    """Return omega, its rate and the acceleration of the origin at the end of a path, in its own axes.

    The acceleration of the origin is not the rate of v, which lacks omega x v.
    """
    for step in steps:
        omega, domega, a = step.acceleration(omega, domega, a)
    return omega, domega, a


def pose_along(steps: list[Step], R: Any, p: Any) -> tuple[Any, Any]:
    """Return the pose at the end of a path from the pose at its start."""
    for step in steps:
        R, p = step.pose(R, p)
    return R, p
