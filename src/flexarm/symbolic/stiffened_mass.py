"""Terms of second order that stiffening "shortening" adds to a link of the zero-order model, in the plane and in space.

The kept terms are those of `System` (docs/theory.md): the first moment c, the angular momentum k and the inertia of
points that are known to second order, and at third order how the shortening, taken as a line sigma x, enters k. In a
part that is `scale` times as long as the link, a displacement of second order is 1/scale as large if it is integrated
once and as large if it is integrated twice; material flows through the shapes of such a part.

The mass of a link that bends in one plane by any angle: stiffening "exact".

With dt_h the rates of the directions at its nodes, T = 1/2 m V.V + V . sum beta_h dt_h + 1/2 sum B_hk dt_h . dt_k; two
nodes meet in the cosine and sine of the angle between them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flexarm.beam.foreshortening import BENDING_FAMILIES, DISPLACEMENT_PRODUCTS, IntegralOrder, SecondOrderBlocks
from flexarm.beam.section_nodes import LinkNodes
from flexarm.beam.sliding_integrals import SlidingIntegrals
from flexarm.foundation.validation import Array
from flexarm.symbolic import stiffened_places
from flexarm.symbolic.algebra import ZERO, Expr, Power, Rows, Vector, cos, cross, number, plus, ratio, sin, times
from flexarm.symbolic.link_segment import StiffenedPart, X
from flexarm.symbolic.mass_elements import MassPiece
from flexarm.symbolic.stiffened_places import AxisNode

# Of a link that turns as a whole, and so is seen shorter by sigma, the product of lever and deflection is smaller by
# 4/3 sigma; the rate of sigma counts by a half (docs/theory.md).
LEVER, SWING = ratio(4, 3), ratio(1, 2)

EXPONENTS: dict[IntegralOrder, int] = {"once": -1, "twice": 0}
"""Powers of the scale of a part with which displacements of second order vary."""


@dataclass(frozen=True)
class Moment:
    """An integral of a displacement of second order, and its derivatives by column of the piece."""

    value: Expr
    rates: list[Expr]

    def __mul__(self, factor: Expr) -> Moment:
        return Moment(factor * self.value, [factor * rate for rate in self.rates])


class ShortenedPart(StiffenedPart):
    """A link or a part of one. Lists are by column of the piece; the column of d is first in a part that slides."""

    def stiffen(self, piece: MassPiece) -> None:
        s, columns = self.scale, range(len(piece.columns))
        moved, turned = ([self._moment(axis, power) for axis in range(3)] for power in (0, 1))
        squeeze = self._moment(0, 1, -1.0 / (self.integrals.g0 or 1.0), Power(ml=-1, l=-2)) * (1 / s)
        sigma = self.beam.short.name(f"sigma_{self.beam.number}", squeeze.value)
        lever = self._weighted([self._of(self.integrals.b, p, Power(ml=1, l=1)) for p in range(self.n)])
        first = [self._first("b", p) for p in columns]
        piece.c = plus(piece.c, times(s, _vector([each.value for each in moved])))
        shift = plus(_vector([each.value for each in turned]), times(-LEVER * sigma, lever))
        self._shift_points(piece, times(s**2, shift))
        for p in columns:
            shrinking = squeeze.rates[p]
            rate = plus(
                _vector([each.rates[p] for each in turned]),
                times(SWING * shrinking, lever),
                times(-LEVER * sigma, first[p]),
            )
            piece.k[p] = plus(piece.k[p], times(s**2, cross(X, rate)))
            for q in columns:
                piece.M[p][q] -= s**2 * (shrinking * first[q][0] + squeeze.rates[q] * first[p][0])
        if self.slides is not None:
            self._slide_moved(piece, moved)
        self._sweep(piece, moved, turned)
        super().stiffen(piece)

    def _shift_points(self, piece: MassPiece, shift: Vector) -> None:
        """Add a change of int mu x rho, rho beside the axis, to the inertia."""
        x, y, z = shift
        piece.inertia[1][1] += 2 * x
        piece.inertia[2][2] += 2 * x
        for row, entry in ((1, y), (2, z)):
            piece.inertia[0][row] -= entry
            piece.inertia[row][0] -= entry

    def _slide_moved(self, piece: MassPiece, moved: list[Moment]) -> None:
        """Add what the motion of the material in the joint along the axis has in common with these displacements."""
        s, sign = self.scale, self.outward
        piece.k[0] = plus(piece.k[0], times(sign * s, cross(_vector([each.value for each in moved]), X)))
        piece.A[0] = plus(piece.A[0], times(s, _vector([each.rates[0] for each in moved])))
        for p, rate in enumerate(moved[0].rates):
            piece.M[0][p] += sign * s * rate
            piece.M[p][0] += sign * s * rate

    def _sweep(self, piece: MassPiece, moved: list[Moment], turned: list[Moment]) -> None:
        """Add the square of how stretch and twist move a bent link's points across its axis.

        Shapes of bending can do part of a line in x with the same moments. A roll of the link moves the same points.
        """
        s, columns, forms = self.scale, range(len(piece.columns)), SecondOrderBlocks(self.integrals)
        first = [[self._first(name, p) for p in columns] for name in ("a", "b")]
        places = [
            self._weighted([self._of(getattr(self.integrals, name), p, size) for p in range(self.n)])
            for name, size in (("a", Power(ml=1)), ("b", Power(ml=1, l=1)))
        ]
        for axis in BENDING_FAMILIES:
            if not any(each.axis == axis for _, each in forms.present(DISPLACEMENT_PRODUCTS)):
                continue
            line, second = forms.rigid_projection(axis), [moved[axis].rates, turned[axis].rates]
            weights = [[self.beam.scales(float(line[i, j]), Power(ml=-1, l=-i - j)) for j in (0, 1)] for i in (0, 1)]
            fitted = [[weights[i][0] * second[0][p] + weights[i][1] * second[1][p] for p in columns] for i in (0, 1)]
            other, sign = (2, -1) if axis == 1 else (1, 1)
            for p in columns:
                roll = sum((places[i][other] * fitted[i][p] for i in (0, 1)), number(0))
                piece.k[p] = plus(piece.k[p], (sign * s * roll, 0, 0))
                for q in columns:
                    for i in (0, 1):
                        mixed = first[i][p][axis] * fitted[i][q] + fitted[i][p] * first[i][q][axis]
                        piece.M[p][q] += s * (mixed + second[i][p] * fitted[i][q])

    # --- integrals of second order ---

    def _moment(self, axis: int, power: int, factor: float = 1.0, size: Power | None = None) -> Moment:
        """Return a factor of some size times int mu x^power of the displacement along an axis, x at full length."""
        size = Power() if size is None else size
        value, rates = number(0), [number(0)] * (self.n + (self.slides is not None))
        for often, exponent in EXPONENTS.items():
            form = self._blocks(axis, power, often, factor, size)
            if form is None:
                continue
            scale, here = self.scale**exponent, self._half(form)
            by_eta = [sum((entry * eta for entry, eta in zip(row, self.eta, strict=True)), number(0)) for row in form]
            if self.slides is not None:
                flowing = (1 + power + exponent) * here
                if power and (plain := self._blocks(axis, 0, often, factor, size)) is not None:
                    flowing -= self.beam.l * self._half(plain)
                by_eta = [self.flow * flowing, *by_eta]
            value += scale * here
            rates = [one + scale * other for one, other in zip(rates, by_eta, strict=True)]
        return Moment(value, rates)

    def _blocks(self, axis: int, power: int, often: IntegralOrder, factor: float, size: Power) -> Rows | None:
        """Return the symmetric matrix of such an integral, at full length; None if there is no such displacement."""
        forms, columns, powers = SecondOrderBlocks(self.integrals), self.integrals.columns, self.shapes.powers
        found = [
            each for _, each in forms.present(DISPLACEMENT_PRODUCTS) if each.axis == axis and each.integrated == often
        ]
        size = size * Power(ml=1, l=power + EXPONENTS[often])
        out: Rows = [[number(0)] * self.n for _ in range(self.n)]
        for each in found:
            block = factor * forms.moment(each, power)
            rows, others = (range(self.n)[columns[name]] for name in (each.one, each.other))
            for i, p in enumerate(rows):
                for j, q in enumerate(others):
                    out[p][q] = self.beam.scales(float(block[i, j]), size * powers[p] * powers[q])
                    out[q][p] = out[p][q]
        return out if found else None

    def _half(self, form: Rows) -> Expr:
        return ratio(1, 2) * self._form(form, self.eta, self.eta)

    def _first(self, name: str, column: int) -> Vector:
        """Return the derivative of int mu ("a") or int mu x ("b") of the displacement of first order by a column."""
        size = Power(ml=1, l=1 if name == "b" else 0)
        if self.slides is None:
            return self._of(getattr(self.integrals, name), column, size)
        if column:
            return self._of(getattr(self.integrals, name), column - 1, size)
        assert isinstance(self.integrals, SlidingIntegrals)
        flowing = self._weighted([self._of(getattr(self.integrals, f"{name}_c"), p, size) for p in range(self.n)])
        return times(self.flow, flowing)


def _vector(entries: list[Expr]) -> Vector:
    x, y, z = entries
    return (x, y, z) if any(entry != 0 for entry in entries) else ZERO


Pair = tuple[Expr, Expr]
"""A vector along and across the direction of a node."""


class ClosedFormExactPart(StiffenedPart):
    """A link that no joint grips."""

    def points(self) -> MassPiece:
        nodes = stiffened_places.nodes(self.beam)
        first, second = moments(LinkNodes(self.integrals))
        scales = self.beam.scales
        beta = [scales(float(value), Power(ml=1, l=1)) for value in first]
        B: Rows = [[scales(float(value), Power(ml=1, l=2)) for value in row] for row in second]
        places = [(node.stretch, number(0)) for node in nodes]
        rates = [[(node.stretching[p], node.stretch * node.turning[p]) for node in nodes] for p in range(self.n)]
        turned = [_crosses(B, nodes, places, each) for each in rates]
        return MassPiece(
            scales(self.integrals.m, Power(ml=1)),
            _weighted(beta, nodes, places),
            self._inertia(B, nodes, _dots(B, nodes, places, places)),
            list(self.shapes.columns),
            [_weighted(beta, nodes, each) for each in rates],
            [(0, 0, each) if stiffened_places.turning_axis(self.beam) == 2 else (0, each, 0) for each in turned],
            [[_dots(B, nodes, one, other) for other in rates] for one in rates],
        )

    def _inertia(self, B: Rows, nodes: list[AxisNode], whole: Expr) -> Rows:
        """Return the inertia about the root from that about the axis across the plane of bending."""
        if self.beam.planar:
            return [[0, 0, 0], [0, 0, 0], [0, 0, whole]]  # a planar robot turns about z only
        t, G = [node.direction for node in nodes], [[number(0)] * 3 for _ in range(3)]
        for p in range(3):
            for q in range(p, 3):
                pairs = ((B[h][k], t[h][p] * t[k][q]) for h in range(len(t)) for k in range(len(t)))
                G[p][q] = G[q][p] = sum((weight * product for weight, product in pairs), number(0))
        return [[(whole if p == q else 0) - G[p][q] for q in range(3)] for p in range(3)]


def moments(nodes: LinkNodes) -> tuple[Array, Array]:
    """beta = int mu L and B = int mu L L^T over all nodes of a link, each piece beginning at the end of the last."""
    count = len(nodes.places)
    beta, B, start = np.zeros(count), np.zeros((count, count)), np.zeros(count)
    for k, piece in enumerate(nodes.pieces):
        own = slice(k * nodes.per_piece, (k + 1) * nodes.per_piece)
        inside, mixed = np.zeros(count), np.zeros((count, count))
        inside[own] = piece.beta
        mixed[own, own] = piece.B
        beta += piece.mass * start + inside
        B += piece.mass * np.outer(start, start) + np.outer(start, inside) + np.outer(inside, start) + mixed
        start[own] = piece.weights
    return beta, B


def _weighted(beta: list[Expr], nodes: list[AxisNode], vectors: list[Pair]) -> Vector:
    """The sum of vectors at the nodes, in the link's axes."""
    each = zip(beta, nodes, vectors, strict=True)
    return plus(ZERO, *(times(weight, node.in_link_axes(*vector)) for weight, node, vector in each))


def _dots(B: Rows, nodes: list[AxisNode], one: list[Pair], other: list[Pair]) -> Expr:
    """sum B_hk one_h . other_k."""
    out = number(0)
    for h, k, c, s in _angles(nodes):
        (a, b), (x, y) = one[h], other[k]
        out += B[h][k] * (c * (a * x + b * y) + s * (b * x - a * y))
    return out


def _crosses(B: Rows, nodes: list[AxisNode], one: list[Pair], other: list[Pair]) -> Expr:
    """sum B_hk one_h x other_k."""
    out = number(0)
    for h, k, c, s in _angles(nodes):
        (a, b), (x, y) = one[h], other[k]
        out += B[h][k] * (c * (a * y - b * x) + s * (a * x + b * y))
    return out


def _angles(nodes: list[AxisNode]) -> list[tuple[int, int, Expr, Expr]]:
    """Pairs of nodes with cosine and sine of the angle from one to the other; that of a pair is written one way."""
    out = []
    for h, one in enumerate(nodes):
        for k, other in enumerate(nodes):
            angle = other.angle - one.angle if h < k else one.angle - other.angle
            out.append((h, k, cos(angle), sin(angle) if h < k else -sin(angle)))
    return out
