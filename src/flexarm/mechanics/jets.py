"""Vectors of coordinates with their rates."""

from __future__ import annotations

from typing import Any

import casadi as ca

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


def followed(expression: Any, symbols: Any, given: Jet) -> Jet:
    """An expression of symbols, with its rates, where the symbols move as given."""
    rates, second_rates = ca.SX.sym("rates", symbols.shape[0]), ca.SX.sym("second_rates", symbols.shape[0])
    rate = ca.jtimes(expression, symbols, rates)
    second = ca.jtimes(rate, symbols, rates) + ca.jtimes(expression, symbols, second_rates)
    values = [ca.densify(each) for each in given.parts]
    return Jet(*ca.substitute([expression, rate, second], [symbols, rates, second_rates], values))
