"""Shapes of a link at a place that moves along it."""

from __future__ import annotations

from dataclasses import dataclass
from math import factorial
from typing import Any

import casadi as ca

from flexarm.mechanics.bodies import Shapes
from flexarm.mechanics.symbols import SymbolsUnder


@dataclass(frozen=True)
class SlidingShapes:
    """Functions of x, by their polynomials; beyond the ends the last piece goes on."""

    of: Shapes
    numbers: SymbolsUnder

    def orders(self, name: str, x: Any, slope: bool = False) -> list[Any]:
        """A family's functions, or their slopes, at x, and two derivatives more."""
        first = 1 if slope else 0
        return self._values(name, "N", x, 3 + first)[first:]

    def shortening(self, x: Any) -> Any:
        """H(x) (n x n)."""
        H = ca.SX(self.of.count, self.of.count)
        for name, place in self.of.columns.items():
            if name.startswith("bend"):
                half = ca.SX(ca.Sparsity.upper(place.stop - place.start), self._values(name, "H", x, 1)[0].T)
                H[place, place] = ca.triu2symm(half)  # column by column it is the lower half row by row
        return H

    def _values(self, name: str, what: str, x: Any, orders: int) -> list[Any]:
        """Rows (1, n): the functions on the piece on which x is and their derivatives, by Horner's rule for all at
        once."""
        breaks, powers = self.numbers[f"{name}.breaks"], self.numbers[f"{name}.{what}"]
        pieces = breaks.numel() - 1

        def pick(values: Any) -> Any:
            return values[0] if pieces == 1 else ca.pw_const(x, breaks[1:-1], ca.densify(values))

        left, right = pick(breaks[:-1]), pick(breaks[1:])
        t, rate = (2 * x - left - right) / (right - left), 2 / (right - left)
        count = powers.shape[1] // pieces
        rows: list[list[Any]] = [[] for _ in range(orders)]
        for k in range(count):
            found = [ca.SX(0) for _ in range(orders)]  # derivatives by t, each divided by its factorial
            for power in reversed(range(powers.shape[0])):
                for order in reversed(range(1, orders)):
                    found[order] = found[order] * t + found[order - 1]
                found[0] = found[0] * t + pick(powers[power, k::count].T)
            for order, value in enumerate(found):
                rows[order].append(value * (factorial(order) * rate**order))
        return [ca.horzcat(*row) if row else ca.SX(1, 0) for row in rows]


@dataclass(frozen=True)
class NodalShapes:
    """The same by the nearest node of a mesh: the functions jump, and do not change in between."""

    of: Shapes
    numbers: SymbolsUnder

    def orders(self, name: str, x: Any, slope: bool = False) -> list[Any]:
        values = self.values(name, x, slope)
        none = ca.SX(*values.shape)
        return [values, none, none]

    def values(self, name: str, x: Any, slope: bool = False) -> Any:
        """(1, n): of the functions, or their slopes."""
        return self._nearest(name, self.numbers[f"{name}.{'dN' if slope else 'N'}"], x)

    def shortening(self, x: Any) -> Any:
        H = ca.SX(self.of.count, self.of.count)
        for name, place in self.of.columns.items():
            if name.startswith("bend"):
                width, nodes = place.stop - place.start, self.numbers[f"{name}.nodes"].numel()
                rows = [ca.densify(ca.vec(self.numbers[f"{name}.H.{k}"])).T for k in range(nodes)]
                H[place, place] = ca.reshape(self._nearest(name, ca.vertcat(*rows), x), width, width)
        return H

    def _nearest(self, name: str, values: Any, x: Any) -> Any:
        nodes = self.numbers[f"{name}.nodes"]
        middles = (nodes[:-1] + nodes[1:]) / 2
        out = ca.SX(1, values.shape[1])
        for k in range(values.shape[1]):
            if not values[:, k].is_zero():
                out[0, k] = ca.pw_const(x, middles, ca.densify(values[:, k]))
        return out
