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
from flexarm.foundation.validation import Array
from flexarm.symbolic.algebra import (
    LENGTH,
    MASS,
    ZERO,
    Expr,
    ExprArray,
    X,
    Z,
    cos,
    number,
    quadratic_form,
    sin,
    vector,
    zeros,
)
from flexarm.symbolic.beams import AxisNode, axis_nodes, turning_axis
from flexarm.symbolic.link_segment import StiffenedPart
from flexarm.symbolic.mass_matrix import MassPiece

EXPONENTS: dict[IntegralOrder, int] = {"once": -1, "twice": 0}
"""Exponents of the scale of a part in displacements of second order."""


@dataclass(frozen=True)
class SecondOrderMoment:
    """Integrals of displacements of second order along x, y and z (3,), and their derivatives (3, columns)."""

    value: ExprArray
    rates: ExprArray


class ShortenedPart(StiffenedPart):
    """Link, or part of a sliding link whose first column is the coordinate d, with stiffening "shortening"."""

    def stiffen(self, piece: MassPiece) -> None:
        s = self.scale
        moved, turned = self._moments(0), self._moments(1)
        squeeze, squeeze_rates = self._moment(0, 1, -1.0 / (self.integrals.g0 or 1.0), -MASS - 2 * LENGTH)
        squeeze, squeeze_rates = squeeze / s, squeeze_rates / s
        sigma = self.beam.short.name(f"sigma_{self.beam.number}", squeeze)
        lever, first = self.vectors(self.integrals.b, MASS + LENGTH) @ self.eta, self._first_moments("b")
        piece.c = piece.c + s * moved.value
        # In a rotating link that is shorter by sigma, the product of lever arm and deflection is smaller by 4/3 sigma;
        # the rate of sigma has the factor 1/2 (docs/theory.md).
        x, y, z = s**2 * (turned.value - 4 * sigma / 3 * lever)  # change of int mu x rho, with rho normal to the axis
        piece.inertia = piece.inertia + vector(vector(0, -y, -z), vector(-y, 2 * x, 0), vector(-z, 0, 2 * x))
        rates = turned.rates + np.outer(lever, squeeze_rates / 2) - 4 * sigma / 3 * first
        piece.k = piece.k + s**2 * np.cross(X, rates.T)
        mixed = np.outer(squeeze_rates, first[0])
        piece.M = piece.M - s**2 * (mixed + mixed.T)
        if self.slides is not None:  # coupling of the sliding motion with the displacements
            piece.k[0] += self.outward * s * np.cross(moved.value, X)
            piece.A[0] += s * moved.rates[:, 0]
            piece.M[0] += self.outward * s * moved.rates[0]
            piece.M[:, 0] += self.outward * s * moved.rates[0]
        self._add_lateral_motion(piece, moved, turned)
        super().stiffen(piece)

    def _add_lateral_motion(self, piece: MassPiece, moved: SecondOrderMoment, turned: SecondOrderMoment) -> None:
        """Add the kinetic energy of lateral displacements due to stretch and twist of a bent link.

        They are approximated by a linear function of x with the same moments, which couples with bending and with a
        rotation of the link about its axis.
        """
        forms = SecondOrderBlocks(self.integrals)
        first = [self._first_moments(name) for name in "ab"]
        places = [
            self.vectors(getattr(self.integrals, name), size) @ self.eta
            for name, size in (("a", MASS), ("b", MASS + LENGTH))
        ]
        for axis in BENDING_FAMILIES:
            if not any(each.axis == axis for _, each in forms.present(DISPLACEMENT_PRODUCTS)):
                continue
            powers = np.add.outer([0, 1], [0, 1])[..., None]
            weights = self.beam.scales(forms.rigid_projection(axis), -MASS - powers * LENGTH)
            second = np.stack([moved.rates[axis], turned.rates[axis]])
            fitted = weights @ second
            other, sign = (2, -1) if axis == 1 else (1, 1)
            piece.k[:, 0] += sign * self.scale * (places[0][other] * fitted[0] + places[1][other] * fitted[1])
            for i in (0, 1):
                mixed = np.outer(first[i][axis], fitted[i])
                piece.M = piece.M + self.scale * (mixed + mixed.T + np.outer(second[i], fitted[i]))

    # --- integrals of second order ---

    def _moments(self, power: int) -> SecondOrderMoment:
        """Return int mu x^power u dx for the displacements u of second order, at full length."""
        values, rates = zip(*(self._moment(axis, power) for axis in range(3)), strict=True)
        return SecondOrderMoment(vector(*values), np.stack(rates))

    def _moment(
        self, axis: int, power: int, factor: float = 1.0, exponents: Array = 0 * LENGTH
    ) -> tuple[Expr, ExprArray]:
        """Return `factor` times such an integral along one axis, and its derivatives."""
        value, rates = number(0), zeros(self.n + (self.slides is not None))
        for often, exponent in EXPONENTS.items():
            form = self._form(axis, power, often, factor, exponents)
            if form is None:
                continue
            scale, here = self.scale**exponent, quadratic_form(form, self.eta) / 2
            by_coordinates = form @ self.eta
            if self.slides is not None:
                flowing = (1 + power + exponent) * here
                if power and (plain := self._form(axis, 0, often, factor, exponents)) is not None:
                    flowing -= self.beam.l * quadratic_form(plain, self.eta) / 2
                by_coordinates = np.append(self.flow * flowing, by_coordinates)
            value += scale * here
            rates = rates + scale * by_coordinates
        return value, rates

    def _form(self, axis: int, power: int, often: IntegralOrder, factor: float, exponents: Array) -> ExprArray | None:
        """Return the symmetric matrix of such an integral, None if there is no such displacement."""
        forms, columns = SecondOrderBlocks(self.integrals), self.integrals.columns
        present = [each for _, each in forms.present(DISPLACEMENT_PRODUCTS)]
        found = [each for each in present if each.axis == axis and each.integrated == often]
        whole = np.zeros((self.n, self.n))
        for each in found:
            whole[columns[each.one], columns[each.other]] = factor * forms.moment(each, power)
            whole[columns[each.other], columns[each.one]] = whole[columns[each.one], columns[each.other]].T
        return self.pairs(whole, exponents + MASS + (power + EXPONENTS[often]) * LENGTH) if found else None

    def _first_moments(self, name: str) -> ExprArray:
        """Return the derivatives (3, columns) of int mu u ("a") or int mu x u ("b"), with u of first order."""
        exponents = MASS + LENGTH if name == "b" else MASS
        moments = self.vectors(getattr(self.integrals, name), exponents)
        if self.slides is None:
            return moments
        flowing = self.flow * (self.vectors(getattr(self.sliding, f"{name}_c"), exponents) @ self.eta)
        return np.column_stack([flowing, moments])


class ClosedFormExactPart(StiffenedPart):
    """Link with stiffening "exact" that does not slide through its joint."""

    def points(self) -> MassPiece:
        nodes, axis, scales = axis_nodes(self.beam), turning_axis(self.beam), self.beam.scales
        first, second = node_moments(LinkNodes(self.integrals))
        beta, B = scales(first, MASS + LENGTH), scales(second, MASS + 2 * LENGTH)
        pairs = _PairProducts(nodes, B)
        places = np.array([(node.stretch, number(0)) for node in nodes], dtype=object)
        rates = [
            np.array([(node.stretching[p], node.stretch * node.turning[p]) for node in nodes], dtype=object)
            for p in range(self.n)
        ]
        turned = vector(*(pairs.cross(places, each) for each in rates))
        whole, t = pairs.dot(places, places), np.stack([node.direction for node in nodes])
        # about the root, from that about the normal of the plane of bending; a planar robot turns about z only
        inertia = whole * (np.outer(Z, Z) if self.beam.planar else np.eye(3, dtype=object))
        if not self.beam.planar:
            inertia = inertia - np.einsum("hk,hp,kq->pq", B, t, t)
        return MassPiece(
            scales(self.integrals.m, MASS),
            _sum_at_nodes(beta, nodes, places),
            inertia,
            list(self.shapes.columns),
            np.stack([_sum_at_nodes(beta, nodes, each) for each in rates]),
            np.outer(turned, np.eye(3, dtype=object)[axis]),
            np.array([[pairs.dot(one, other) for other in rates] for one in rates], dtype=object),
        )


def node_moments(nodes: LinkNodes) -> tuple[Array, Array]:
    """Return beta = int mu L and B = int mu L L^T over the nodes of a link; pieces are joined end to end."""
    count = len(nodes.places)
    beta, B, start = np.zeros(count), np.zeros((count, count)), np.zeros(count)
    for k, piece in enumerate(nodes.pieces):
        own = slice(k * nodes.per_piece, (k + 1) * nodes.per_piece)
        inside = np.zeros(count)
        inside[own] = piece.beta
        beta += piece.mass * start + inside
        B += piece.mass * np.outer(start, start) + np.outer(start, inside) + np.outer(inside, start)
        B[own, own] += piece.B
        start[own] = piece.weights
    return beta, B


def _sum_at_nodes(beta: ExprArray, nodes: list[AxisNode], vectors: ExprArray) -> ExprArray:
    """Return the weighted sum of vectors (along and normal to the axis) at nodes in the axes of the link."""
    each = zip(beta, nodes, vectors, strict=True)
    return sum((weight * node.in_link_axes(*pair) for weight, node, pair in each), ZERO)


class _PairProducts:
    """Sums of products of vectors at pairs of nodes, given by components along and normal to the axis there."""

    def __init__(self, nodes: list[AxisNode], B: ExprArray) -> None:
        angles = vector(*(node.angle for node in nodes))
        apart = np.subtract.outer(angles, angles).T
        self.B, self.c, self.s = B, cos(apart), sin(apart)

    def dot(self, one: ExprArray, other: ExprArray) -> Expr:
        """Return sum B_hk one_h . other_k."""
        (a, b), (x, y) = one.T, other.T
        both = self.c * (np.outer(a, x) + np.outer(b, y)) + self.s * (np.outer(b, x) - np.outer(a, y))
        return (self.B * both).sum()

    def cross(self, one: ExprArray, other: ExprArray) -> Expr:
        """Return sum B_hk one_h x other_k."""
        (a, b), (x, y) = one.T, other.T
        both = self.c * (np.outer(a, y) - np.outer(b, x)) + self.s * (np.outer(a, x) + np.outer(b, y))
        return (self.B * both).sum()
