"""Shapes of a link at a position that moves along it."""

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
    """Shapes as functions of x; `of` are the shapes of the link."""

    of: ShapeSymbols
    parameters: SymbolsUnder

    @abstractmethod
    def orders(self, name: str, x: Any, slope: bool = False) -> list[Any]:
        """Return rows (1, n): a family's functions, or their slopes, at x, and two more derivatives."""

    def forms(self, name: str, products: Sequence[Product], x: Any, eta: Any) -> list[Any]:
        """Return products of families as quadratic forms of eta at x; 0 for absent ones."""
        out = []
        for k, product in enumerate(products):
            if not self._has_form(f"{name}.{k}"):
                out.append(ca.SX(0))
                continue
            one, other = (eta[self.of.columns[family], 0] for family in (product.one, product.other))
            half = 2 if product.one == product.other else 1
            out.append(ca.dot(one, self.form(f"{name}.{k}", product, x) @ other) / half)
        return out

    @abstractmethod
    def _has_form(self, form: str) -> bool: ...

    @abstractmethod
    def form(self, name: str, product: Product, x: Any) -> Any:
        """Return the matrix of a product at x."""

    @property
    @abstractmethod
    def moves(self) -> bool:
        """True if the functions change continuously with x."""


@dataclass(frozen=True)
class SlidingShapes(RailShapes):
    """Shapes by their polynomials; the last piece continues beyond the ends."""

    moves = True

    def orders(self, name: str, x: Any, slope: bool = False) -> list[Any]:
        first = 1 if slope else 0
        return self.values(name, x, 3 + first)[first:]

    def _has_form(self, form: str) -> bool:
        return form in self.parameters

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
        """Return rows (1, n): functions on the piece that contains x and their derivatives, by Horner's scheme."""
        breaks, powers = self.parameters[f"{name}.breaks"], self.parameters[name]
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
            for power in reversed(range(powers.shape[0] if own.nnz() else 0)):  # shapes without overlap have no product
                for order in reversed(range(1, orders)):
                    found[order] = found[order] * t + found[order - 1]
                found[0] = found[0] * t + pick(own[power, :].T)
            for order, value in enumerate(found):
                rows[order].append(value * scales[order])
        return [ca.horzcat(*row) if row else ca.SX(1, 0) for row in rows]


@dataclass(frozen=True)
class NodalShapes(RailShapes):
    """Shapes at the node of a mesh that represents x: they jump between nodes and are constant in between."""

    moves = False

    @abstractmethod
    def standing(self, nodes: Any) -> tuple[Any, slice]:
        """Return the positions where one node replaces the previous one, and the slice of the nodes used."""

    def orders(self, name: str, x: Any, slope: bool = False) -> list[Any]:
        values = self.picked(name, self.parameters[f"{name}.{'dN' if slope else 'N'}"], x)
        none = ca.SX(*values.shape)
        return [values, none, none]

    def _has_form(self, form: str) -> bool:
        return f"{form}.0" in self.parameters

    def form(self, name: str, product: Product, x: Any) -> Any:
        rows, columns = (self.of.columns[each] for each in (product.one, product.other))
        shape = rows.stop - rows.start, columns.stop - columns.start
        nodes = self.parameters[f"{product.one}.nodes"].numel()
        entries = [ca.densify(ca.vec(self.parameters[f"{name}.{k}"])).T for k in range(nodes)]
        return ca.reshape(self.picked(product.one, ca.vertcat(*entries), x), *shape)

    def picked(self, name: str, values: Any, x: Any) -> Any:
        """Return the row of the values, one for each node, of the node that represents x."""
        changes, which = self.standing(self.parameters[f"{name}.nodes"])
        out = ca.SX(1, values.shape[1])
        for k in range(values.shape[1]):
            column = values[which, k]
            if not column.is_zero():
                out[0, k] = ca.pw_const(x, changes, ca.densify(column)) if changes.numel() else column
        return out


@dataclass(frozen=True)
class NearestNode(NodalShapes):
    """Node nearest to x."""

    def standing(self, nodes: Any) -> tuple[Any, slice]:
        return (nodes[:-1] + nodes[1:]) / 2, slice(None)


@dataclass(frozen=True)
class DistalNode(NodalShapes):
    """End of the element that contains x; a position at a node, up to rounding, is on the element that ends there."""

    def standing(self, nodes: Any) -> tuple[Any, slice]:
        return nodes[1:-1] + NODE_TOLERANCE * nodes[-1], slice(1, None)


@dataclass(frozen=True)
class ProximalNode(DistalNode):
    """Beginning of the element that contains x."""

    def standing(self, nodes: Any) -> tuple[Any, slice]:
        return super().standing(nodes)[0], slice(0, -1)


SLIDER_SHAPES: dict[PrismaticContact, type[RailShapes]] = {
    "continuous": SlidingShapes,
    "nodal": NearestNode,
    "element": DistalNode,
}
"""Shapes that a joint follows as it slides along a link."""

GUIDE_NODES: dict[PrismaticContact, dict[str, type[NodalShapes]]] = {
    "nodal": {"grip": NearestNode},
    "element": {"grip.proximal": ProximalNode, "grip.distal": DistalNode},  # My et al., section 4.3
}
"""Nodes of a mesh that are held by the joint through which it slides, by name."""
