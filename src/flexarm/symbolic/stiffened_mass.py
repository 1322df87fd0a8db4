"""Mass of links with stiffening "shortening" (second order) and "exact" (bending in one plane by any angle).

Shortening: the terms are those of `System` (docs/theory.md): the first moment c, the angular momentum k and the inertia
to second order, and the contribution of the foreshortening, as a linear function sigma x, to k to third order. In a
part with `scale` times the length of the link, displacements of second order are multiplied by 1/scale if integrated
once, and by 1 if integrated twice; material flows through the shape functions of such a part.

Exact: with dt_h the rates of the directions at nodes h of the axis,
T = 1/2 m V.V + V . sum beta_h dt_h + 1/2 sum B_hk dt_h . dt_k; products of two nodes depend on the angle between them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flexarm.beam.foreshortening import BENDING_FAMILIES, DISPLACEMENT_PRODUCTS, IntegralOrder, SecondOrderBlocks
from flexarm.beam.section_nodes import LinkNodes
from flexarm.beam.sliding_integrals import SlidingIntegrals
from flexarm.foundation.validation import Array
from flexarm.symbolic import stiffened_places
from flexarm.symbolic.algebra import ZERO, Exponents, Expr, Rows, Vector, cos, cross, number, plus, ratio, sin, times
from flexarm.symbolic.link_segment import StiffenedPart, X
from flexarm.symbolic.mass_elements import MassPiece
from flexarm.symbolic.stiffened_places import AxisNode

# In a rotating link that is shorter by sigma, the product of lever arm and deflection is smaller by 4/3 sigma; the rate
# of sigma has the factor 1/2 (docs/theory.md).
LEVER_FACTOR, SWING_FACTOR = ratio(4, 3), ratio(1, 2)

EXPONENTS: dict[IntegralOrder, int] = {"once": -1, "twice": 0}
"""Exponents of the scale of a part in displacements of second order."""


@dataclass(frozen=True)
class SecondOrderMoment:
    """Integral of a displacement of second order, and its derivatives with respect to the columns of a piece."""

    value: Expr
    rates: list[Expr]

    def __mul__(self, factor: Expr) -> SecondOrderMoment:
        return SecondOrderMoment(factor * self.value, [factor * rate for rate in self.rates])


class ShortenedPart(StiffenedPart):
    """Link or part of a sliding link with stiffening "shortening".

    Lists are by column of the piece; in a part of a sliding link the coordinate d is the first column.
    """

    def stiffen(self, piece: MassPiece) -> None:
        s, columns = self.scale, range(len(piece.columns))
        moved, turned = ([self._moment(axis, power) for axis in range(3)] for power in (0, 1))
        squeeze = self._moment(0, 1, -1.0 / (self.integrals.g0 or 1.0), Exponents(ml=-1, l=-2)) * (1 / s)
        sigma = self.beam.short.name(f"sigma_{self.beam.number}", squeeze.value)
        lever = self._weighted_sum(
            [self._moment_vector(self.integrals.b, p, Exponents(ml=1, l=1)) for p in range(self.n)]
        )
        first = [self._first_order_moment("b", p) for p in columns]
        piece.c = plus(piece.c, times(s, _vector([each.value for each in moved])))
        shift = plus(_vector([each.value for each in turned]), times(-LEVER_FACTOR * sigma, lever))
        self._shift_inertia(piece, times(s**2, shift))
        for p in columns:
            shrinking = squeeze.rates[p]
            rate = plus(
                _vector([each.rates[p] for each in turned]),
                times(SWING_FACTOR * shrinking, lever),
                times(-LEVER_FACTOR * sigma, first[p]),
            )
            piece.k[p] = plus(piece.k[p], times(s**2, cross(X, rate)))
            for q in columns:
                piece.M[p][q] -= s**2 * (shrinking * first[q][0] + squeeze.rates[q] * first[p][0])
        if self.slides is not None:
            self._add_sliding_moments(piece, moved)
        self._add_lateral_motion(piece, moved, turned)
        super().stiffen(piece)

    def _shift_inertia(self, piece: MassPiece, shift: Vector) -> None:
        """Add a change of int mu x rho, with rho normal to the axis, to the inertia."""
        x, y, z = shift
        piece.inertia[1][1] += 2 * x
        piece.inertia[2][2] += 2 * x
        for row, entry in ((1, y), (2, z)):
            piece.inertia[0][row] -= entry
            piece.inertia[row][0] -= entry

    def _add_sliding_moments(self, piece: MassPiece, moved: list[SecondOrderMoment]) -> None:
        """Add the coupling of the sliding motion with the displacements of second order."""
        s, sign = self.scale, self.outward
        piece.k[0] = plus(piece.k[0], times(sign * s, cross(_vector([each.value for each in moved]), X)))
        piece.A[0] = plus(piece.A[0], times(s, _vector([each.rates[0] for each in moved])))
        for p, rate in enumerate(moved[0].rates):
            piece.M[0][p] += sign * s * rate
            piece.M[p][0] += sign * s * rate

    def _add_lateral_motion(
        self, piece: MassPiece, moved: list[SecondOrderMoment], turned: list[SecondOrderMoment]
    ) -> None:
        """Add the kinetic energy of lateral displacements due to stretch and twist of a bent link.

        They are approximated by a linear function of x with the same moments, which couples with bending and with a
        rotation of the link about its axis.
        """
        s, columns, forms = self.scale, range(len(piece.columns)), SecondOrderBlocks(self.integrals)
        first = [[self._first_order_moment(name, p) for p in columns] for name in ("a", "b")]
        places = [
            self._weighted_sum([self._moment_vector(getattr(self.integrals, name), p, size) for p in range(self.n)])
            for name, size in (("a", Exponents(ml=1)), ("b", Exponents(ml=1, l=1)))
        ]
        for axis in BENDING_FAMILIES:
            if not any(each.axis == axis for _, each in forms.present(DISPLACEMENT_PRODUCTS)):
                continue
            line, second = forms.rigid_projection(axis), [moved[axis].rates, turned[axis].rates]
            weights = [
                [self.beam.scales(float(line[i, j]), Exponents(ml=-1, l=-i - j)) for j in (0, 1)] for i in (0, 1)
            ]
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

    def _moment(self, axis: int, power: int, factor: float = 1.0, size: Exponents | None = None) -> SecondOrderMoment:
        """Return factor * int mu x^power u dx for the displacement u of second order along an axis, at full length."""
        size = Exponents() if size is None else size
        value, rates = number(0), [number(0)] * (self.n + (self.slides is not None))
        for often, exponent in EXPONENTS.items():
            form = self._blocks(axis, power, often, factor, size)
            if form is None:
                continue
            scale, here = self.scale**exponent, self._half_form(form)
            by_eta = [sum((entry * eta for entry, eta in zip(row, self.eta, strict=True)), number(0)) for row in form]
            if self.slides is not None:
                flowing = (1 + power + exponent) * here
                if power and (plain := self._blocks(axis, 0, often, factor, size)) is not None:
                    flowing -= self.beam.l * self._half_form(plain)
                by_eta = [self.flow * flowing, *by_eta]
            value += scale * here
            rates = [one + scale * other for one, other in zip(rates, by_eta, strict=True)]
        return SecondOrderMoment(value, rates)

    def _blocks(self, axis: int, power: int, often: IntegralOrder, factor: float, size: Exponents) -> Rows | None:
        """Return the symmetric matrix of such an integral, None if there is no such displacement."""
        forms, columns, powers = SecondOrderBlocks(self.integrals), self.integrals.columns, self.shapes.powers
        found = [
            each for _, each in forms.present(DISPLACEMENT_PRODUCTS) if each.axis == axis and each.integrated == often
        ]
        size = size * Exponents(ml=1, l=power + EXPONENTS[often])
        out: Rows = [[number(0)] * self.n for _ in range(self.n)]
        for each in found:
            block = factor * forms.moment(each, power)
            rows, others = (range(self.n)[columns[name]] for name in (each.one, each.other))
            for i, p in enumerate(rows):
                for j, q in enumerate(others):
                    out[p][q] = self.beam.scales(float(block[i, j]), size * powers[p] * powers[q])
                    out[q][p] = out[p][q]
        return out if found else None

    def _half_form(self, form: Rows) -> Expr:
        return ratio(1, 2) * self._form(form, self.eta, self.eta)

    def _first_order_moment(self, name: str, column: int) -> Vector:
        """Return the derivative of int mu u ("a") or int mu x u ("b") with respect to a column, u of first order."""
        size = Exponents(ml=1, l=1 if name == "b" else 0)
        if self.slides is None:
            return self._moment_vector(getattr(self.integrals, name), column, size)
        if column:
            return self._moment_vector(getattr(self.integrals, name), column - 1, size)
        assert isinstance(self.integrals, SlidingIntegrals)
        flowing = self._weighted_sum(
            [self._moment_vector(getattr(self.integrals, f"{name}_c"), p, size) for p in range(self.n)]
        )
        return times(self.flow, flowing)


def _vector(entries: list[Expr]) -> Vector:
    x, y, z = entries
    return (x, y, z) if any(entry != 0 for entry in entries) else ZERO


Pair = tuple[Expr, Expr]
"""Components of a vector along and normal to the direction of a node."""


class ClosedFormExactPart(StiffenedPart):
    """Link with stiffening "exact" that does not slide through its joint."""

    def points(self) -> MassPiece:
        nodes = stiffened_places.axis_nodes(self.beam)
        first, second = node_moments(LinkNodes(self.integrals))
        scales = self.beam.scales
        beta = [scales(float(value), Exponents(ml=1, l=1)) for value in first]
        B: Rows = [[scales(float(value), Exponents(ml=1, l=2)) for value in row] for row in second]
        places = [(node.stretch, number(0)) for node in nodes]
        rates = [[(node.stretching[p], node.stretch * node.turning[p]) for node in nodes] for p in range(self.n)]
        turned = [_weighted_cross(B, nodes, places, each) for each in rates]
        return MassPiece(
            scales(self.integrals.m, Exponents(ml=1)),
            _sum_at_nodes(beta, nodes, places),
            self._inertia(B, nodes, _weighted_dot(B, nodes, places, places)),
            list(self.shapes.columns),
            [_sum_at_nodes(beta, nodes, each) for each in rates],
            [(0, 0, each) if stiffened_places.turning_axis(self.beam) == 2 else (0, each, 0) for each in turned],
            [[_weighted_dot(B, nodes, one, other) for other in rates] for one in rates],
        )

    def _inertia(self, B: Rows, nodes: list[AxisNode], whole: Expr) -> Rows:
        """Return the inertia about the root from that about the normal of the plane of bending."""
        if self.beam.planar:
            return [[0, 0, 0], [0, 0, 0], [0, 0, whole]]  # a planar robot turns about z only
        t, G = [node.direction for node in nodes], [[number(0)] * 3 for _ in range(3)]
        for p in range(3):
            for q in range(p, 3):
                pairs = ((B[h][k], t[h][p] * t[k][q]) for h in range(len(t)) for k in range(len(t)))
                G[p][q] = G[q][p] = sum((weight * product for weight, product in pairs), number(0))
        return [[(whole if p == q else 0) - G[p][q] for q in range(3)] for p in range(3)]


def node_moments(nodes: LinkNodes) -> tuple[Array, Array]:
    """Return beta = int mu L and B = int mu L L^T over the nodes of a link; pieces are joined end to end."""
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


def _sum_at_nodes(beta: list[Expr], nodes: list[AxisNode], vectors: list[Pair]) -> Vector:
    """Return the weighted sum of vectors at nodes in the axes of the link."""
    each = zip(beta, nodes, vectors, strict=True)
    return plus(ZERO, *(times(weight, node.in_link_axes(*vector)) for weight, node, vector in each))


def _weighted_dot(B: Rows, nodes: list[AxisNode], one: list[Pair], other: list[Pair]) -> Expr:
    """Return sum B_hk one_h . other_k."""
    out = number(0)
    for h, k, c, s in _node_pair_angles(nodes):
        (a, b), (x, y) = one[h], other[k]
        out += B[h][k] * (c * (a * x + b * y) + s * (b * x - a * y))
    return out


def _weighted_cross(B: Rows, nodes: list[AxisNode], one: list[Pair], other: list[Pair]) -> Expr:
    """Return sum B_hk one_h x other_k."""
    out = number(0)
    for h, k, c, s in _node_pair_angles(nodes):
        (a, b), (x, y) = one[h], other[k]
        out += B[h][k] * (c * (a * y - b * x) + s * (a * x + b * y))
    return out


def _node_pair_angles(nodes: list[AxisNode]) -> list[tuple[int, int, Expr, Expr]]:
    """Return pairs of nodes with cosine and sine of the angle between them; both orders share one expression."""
    out = []
    for h, one in enumerate(nodes):
        for k, other in enumerate(nodes):
            angle = other.angle - one.angle if h < k else one.angle - other.angle
            out.append((h, k, cos(angle), sin(angle) if h < k else -sin(angle)))
    return out
