"""Vectors of coordinates with their rates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca


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
