"""Shapes of a link at a place that moves along it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from math import factorial
from typing import Any

import casadi as ca

from flexarm.beam.foreshortening import Product
from flexarm.beam.sparsity import NODE_TOLERANCE
from flexarm.dynamics.bodies import ShapeSymbols
from flexarm.dynamics.parameters import SymbolsUnder
from flexarm.foundation.dataclass import dataclass
from flexarm.robot.joints import PrismaticContact


@dataclass(frozen=True)
class RailShapes(ABC):
    """Functions of x; `of` are the shapes of the link."""

    of: ShapeSymbols
    numbers: SymbolsUnder

    @abstractmethod
    def orders(self, name: str, x: Any, slope: bool = False) -> list[Any]:
        """Rows (1, n): a family's functions, or their slopes, at x, and two derivatives more."""

    def forms(self, name: str, products: Sequence[Product], x: Any, eta: Any) -> list[Any]:
        """Of products of families, as forms of eta at x; 0 of those that the link has not."""
        out = []
        for k, product in enumerate(products):
            if not self._known(f"{name}.{k}"):
                out.append(ca.SX(0))
                continue
            one, other = (eta[self.of.columns[family], 0] for family in (product.one, product.other))
            half = 2 if product.one == product.other else 1
            out.append(ca.dot(one, self.form(f"{name}.{k}", product, x) @ other) / half)
        return out

    @abstractmethod
    def _known(self, form: str) -> bool: ...

    @abstractmethod
    def form(self, name: str, product: Product, x: Any) -> Any:
        """The matrix of a product at x."""

    @property
    @abstractmethod
    def moves(self) -> bool:
        """Whether the functions change between one x and the next."""


@dataclass(frozen=True)
class SlidingShapes(RailShapes):
    """By their polynomials; beyond the ends the last piece goes on."""

    moves = True

    def orders(self, name: str, x: Any, slope: bool = False) -> list[Any]:
        first = 1 if slope else 0
        return self.values(name, x, 3 + first)[first:]

    def _known(self, form: str) -> bool:
        return form in self.numbers

    def form(self, name: str, product: Product, x: Any) -> Any:
        rows, columns = (self._width(each) for each in (product.one, product.other))
        (values,) = self.values(name, x, 1)
        if product.one != product.other:
            return ca.reshape(values, columns, rows).T  # row by row
        half = ca.SX(ca.Sparsity.upper(rows), values.T)  # column by column it is the lower half row by row
        return ca.triu2symm(half)

    def _width(self, family: str) -> int:
        place = self.of.columns[family]
        return int(place.stop - place.start)

    def values(self, name: str, x: Any, orders: int) -> list[Any]:
        """Rows (1, n): functions on the piece on which x is and their derivatives, by Horner's rule for all at once."""
        breaks, powers = self.numbers[f"{name}.breaks"], self.numbers[name]
        pieces = breaks.numel() - 1

        def pick(values: Any) -> Any:
            return values[0] if pieces == 1 else ca.pw_const(x, breaks[1:-1], ca.densify(values))

        left, right = pick(breaks[:-1]), pick(breaks[1:])
        t, rate = (2 * x - left - right) / (right - left), 2 / (right - left)
        count = powers.shape[1] // pieces
        rows: list[list[Any]] = [[] for _ in range(orders)]
        scales = [factorial(order) * rate**order for order in range(orders)]
        for k in range(count):
            found = [ca.SX(0) for _ in range(orders)]  # derivatives by t, each divided by its factorial
            own = powers[:, k::count]
            for power in reversed(range(powers.shape[0] if own.nnz() else 0)):  # shapes that never meet have no product
                for order in reversed(range(1, orders)):
                    found[order] = found[order] * t + found[order - 1]
                found[0] = found[0] * t + pick(own[power, :].T)
            for order, value in enumerate(found):
                rows[order].append(value * scales[order])
        return [ca.horzcat(*row) if row else ca.SX(1, 0) for row in rows]


@dataclass(frozen=True)
class NodalShapes(RailShapes):
    """The same by a node of a mesh that stands for x: the functions jump, and do not change in between."""

    moves = False

    @abstractmethod
    def standing(self, nodes: Any) -> tuple[Any, slice]:
        """Where along the link one node gives way to the next, and which of all nodes these are."""

    def orders(self, name: str, x: Any, slope: bool = False) -> list[Any]:
        values = self.picked(name, self.numbers[f"{name}.{'dN' if slope else 'N'}"], x)
        none = ca.SX(*values.shape)
        return [values, none, none]

    def _known(self, form: str) -> bool:
        return f"{form}.0" in self.numbers

    def form(self, name: str, product: Product, x: Any) -> Any:
        rows, columns = (self.of.columns[each] for each in (product.one, product.other))
        shape = rows.stop - rows.start, columns.stop - columns.start
        nodes = self.numbers[f"{product.one}.nodes"].numel()
        entries = [ca.densify(ca.vec(self.numbers[f"{name}.{k}"])).T for k in range(nodes)]
        return ca.reshape(self.picked(product.one, ca.vertcat(*entries), x), *shape)

    def picked(self, name: str, values: Any, x: Any) -> Any:
        """The row of the values, one for each node, that belongs to the node that stands for x."""
        changes, which = self.standing(self.numbers[f"{name}.nodes"])
        out = ca.SX(1, values.shape[1])
        for k in range(values.shape[1]):
            column = values[which, k]
            if not column.is_zero():
                out[0, k] = ca.pw_const(x, changes, ca.densify(column)) if changes.numel() else column
        return out


@dataclass(frozen=True)
class NearestNode(NodalShapes):
    """The node next to x on either side."""

    def standing(self, nodes: Any) -> tuple[Any, slice]:
        return (nodes[:-1] + nodes[1:]) / 2, slice(None)


@dataclass(frozen=True)
class DistalNode(NodalShapes):
    """The end of the element on which x is. A place that is at a node, but for rounding, is on the element that ends
    there, so that this node is where x is."""

    def standing(self, nodes: Any) -> tuple[Any, slice]:
        return nodes[1:-1] + NODE_TOLERANCE * nodes[-1], slice(1, None)


@dataclass(frozen=True)
class ProximalNode(DistalNode):
    """The beginning of the same element."""

    def standing(self, nodes: Any) -> tuple[Any, slice]:
        return super().standing(nodes)[0], slice(0, -1)


UNDER_A_SLIDE: dict[PrismaticContact, type[RailShapes]] = {
    "continuous": SlidingShapes,
    "nodal": NearestNode,
    "element": DistalNode,
}
"""What a joint follows that rides along a link."""

IN_A_GUIDE: dict[PrismaticContact, dict[str, type[NodalShapes]]] = {
    "nodal": {"grip": NearestNode},
    "element": {"grip.proximal": ProximalNode, "grip.distal": DistalNode},  # My et al., section 4.3
}
"""Which nodes of a mesh a joint holds through which it slides, by name."""
