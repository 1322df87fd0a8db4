"""Places on a link that is complete to second order: stiffening "shortening".

Displacements and angles of second order are forms 1/2 eta^T F(x) eta of constants (beam/foreshortening.py). The axis
keeps its length, so a point at x draws near to the root by 1/2 int_0^x (v'^2 + w'^2); stretch and twist move the points
of a bent link across its axis, and bending in two planes turns its sections about it.

Places on a link that bends in one plane by any angle: stiffening "exact".

The axis is r(x) = sum_h L_h(x) t_h, with directions t_h = (1 + u') (cos chi, sin chi) at nodes h
(beam/section_nodes.py) whose
angles chi_h, about z for bend_y and about y for bend_z, are linear in the elastic coordinates, however far it bends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from flexarm.beam.foreshortening import DISPLACEMENT_PRODUCTS, ROTATION_PRODUCTS, Product, SecondOrderBlocks
from flexarm.beam.integrals import LinkIntegrals
from flexarm.beam.polynomials import Grid, PiecewisePolynomials, from_gauss_values, merge_breaks
from flexarm.beam.section_nodes import LinkNodes
from flexarm.foundation.validation import Array
from flexarm.symbolic.algebra import ZERO, Expr, Power, Vector, cos, number, plus, ratio, sin, times

if TYPE_CHECKING:
    from flexarm.foundation.validation import Array
    from flexarm.symbolic.beams import Beam, ClosedFormShapes


DERIVATIVES = {"value": 0, "slope": 1, "rotation": 1, "curvature": 2}


def moved(beam: Beam, shapes: ClosedFormShapes, x: float, lean: Expr) -> Vector:
    """Return the displacement of second order at a constant x; slopes are `lean` times as large in a scaled part."""
    return _at(beam, shapes, DISPLACEMENT_PRODUCTS, x, lean)


def turned(beam: Beam, shapes: ClosedFormShapes, x: float, lean: Expr) -> Vector:
    """Return the angles of second order about x, y and z at a constant x."""
    return _at(beam, shapes, ROTATION_PRODUCTS, x, lean)


def moved_at(beam: Beam, at: Expr, near: float | None, label: str | None, lean: Expr) -> Vector:
    """Return the displacement of second order at a symbolic place."""
    return _along(beam, DISPLACEMENT_PRODUCTS, at, near, None if label is None else f"H_{label}", lean)


def turned_at(beam: Beam, at: Expr, near: float | None, label: str | None, lean: Expr) -> Vector:
    """Return the angles of second order at a symbolic place."""
    return _along(beam, ROTATION_PRODUCTS, at, near, None if label is None else f"Q_{label}", lean)


def _at(beam: Beam, shapes: ClosedFormShapes, products: Sequence[Product], x: float, lean: Expr) -> Vector:
    forms = SecondOrderBlocks(shapes.integrals)
    out: list[Expr] = [number(0)] * 3
    for _, product in forms.present(products):
        block, power = forms.at(product, x), _power(product)
        for i, j, p, q in _entries(shapes.integrals, product, block):
            value = beam.scales(float(block[i, j]), Power(l=power) * shapes.powers[p] * shapes.powers[q])
            out[product.axis] += lean**-power * _weight(p, q) * value * shapes.eta[p] * shapes.eta[q]
    return out[0], out[1], out[2]


def _along(
    beam: Beam, products: Sequence[Product], at: Expr, near: float | None, label: str | None, lean: Expr
) -> Vector:
    from flexarm.symbolic.beams import MovingShapes

    powers, eta = beam.front.powers, beam.front.eta
    found, space = forms_along(beam.integrals, products)
    scaled = [Power(l=_power(product)) * powers[p] * powers[q] for product, p, q in found]
    values = MovingShapes(beam, space, scaled, at, near).values(0, label) if found else []
    out: list[Expr] = [number(0)] * 3
    for (product, p, q), value in zip(found, values, strict=True):
        out[product.axis] += lean ** -_power(product) * _weight(p, q) * value * eta[p] * eta[q]
    return out[0], out[1], out[2]


def forms_along(
    integrals: LinkIntegrals, products: Sequence[Product]
) -> tuple[list[tuple[Product, int, int]], PiecewisePolynomials]:
    """Return which entries of the products there are, with their coordinates, and each of them as a function of x."""
    forms, spaces = SecondOrderBlocks(integrals), [*integrals.shapes.values()]
    breaks, degree = merge_breaks(*(space.breaks for space in spaces)), 2 * max(space.degree for space in spaces)
    places = Grid(breaks, degree + 1).x
    found, columns = [], []
    for _, product in forms.present(products):
        blocks = np.array([forms.at(product, x) for x in places.tolist()])
        for i, j, p, q in _entries(integrals, product, np.abs(blocks).max(axis=0)):
            found.append((product, p, q))
            columns.append(blocks[:, i, j])
    values = np.reshape(columns, (len(found), len(places)))
    return found, from_gauss_values(breaks, degree, values.T)


def _entries(integrals: LinkIntegrals, product: Product, block: Array) -> list[tuple[int, int, int, int]]:
    """Return rows and columns of a block that are not zero, with the coordinates to which they belong."""
    rows, others = (range(integrals.count)[integrals.columns[name]] for name in (product.one, product.other))
    places = zip(*np.nonzero(block), strict=True)
    found = [(int(i), int(j), rows[i], others[j]) for i, j in places]
    return [each for each in found if each[2] <= each[3] or product.one != product.other]


def _power(product: Product) -> int:
    """Return the power of the length with which a product varies."""
    order = DERIVATIVES[product.quantity] + DERIVATIVES[product.other_quantity]
    return (1 if product.integrated == "once" else 2) - order


def _weight(p: int, q: int) -> Expr:
    """Return a half for the square of a coordinate; products of two stand for both entries of a symmetric form."""
    return ratio(1, 2) if p == q else number(1)


LENGTH, PER_LENGTH = Power(l=1), Power(l=-1)


@dataclass(frozen=True)
class AxisNode:
    """The direction of the axis at a node: its angle and its stretch, with their derivatives by the coordinates."""

    angle: Expr
    stretch: Expr
    turning: list[Expr]
    stretching: list[Expr]
    across: Vector  # the direction to which e_x turns

    @property
    def direction(self) -> Vector:
        return self.in_link_axes(self.stretch, number(0))

    def in_link_axes(self, along: Expr, across: Expr) -> Vector:
        """Return the vector with components along the axis at this node and across it, in the plane of bending."""
        c, s = cos(self.angle), sin(self.angle)
        return plus((along * c - across * s, 0, 0), times(along * s + across * c, self.across))


def turning_axis(beam: Beam) -> int:
    """Return the axis about which sections turn: z, or y for a link with bend_z."""
    return 1 if "bend_z" in beam.integrals.columns else 2


def nodes(beam: Beam) -> list[AxisNode]:
    """Of a link that no joint grips; angles have names, chi_i(h)."""
    integrals, eta, axis = beam.integrals, beam.front.eta, turning_axis(beam)
    places = LinkNodes(integrals).places
    across: Vector = (0, 1, 0) if axis == 2 else (0, 0, -1)
    found = []
    for h, (slopes, strains) in enumerate(
        zip(integrals.rotation(places)[:, axis], _strains(beam, places), strict=True)
    ):
        turning, stretching = _scaled(beam, slopes), _scaled(beam, strains)
        angle = beam.short.name(f"chi_{beam.number}_{h + 1}", _sum(turning, eta))
        found.append(AxisNode(angle, 1 + _sum(stretching, eta), turning, stretching, across))
    return found


def place(beam: Beam, x: float) -> tuple[Vector, Vector]:
    """Of the point at a constant x, and the angles of its section."""
    weights = [beam.scales(float(weight), LENGTH) for weight in LinkNodes(beam.integrals).weights(x)]
    axis = turning_axis(beam)
    angle = _sum(_scaled(beam, beam.integrals.rotation(np.array([x]))[0, axis]), beam.front.eta)
    return _summed(beam, weights), (0, 0, angle) if axis == 2 else (0, angle, 0)


def axis_at(beam: Beam, at: Expr, near: float | None, label: str | None) -> Vector:
    """The point of the axis at a symbolic place."""
    from flexarm.symbolic.beams import MovingShapes

    space = _weights_along(beam)
    shapes = MovingShapes(beam, space, [LENGTH] * space.count, at, near)
    return _summed(beam, shapes.values(0, None if label is None else f"L_{label}"))


def _summed(beam: Beam, weights: list[Expr]) -> Vector:
    parts = (times(weight, node.direction) for weight, node in zip(weights, nodes(beam), strict=True))
    return plus(ZERO, *parts)


def _weights_along(beam: Beam) -> PiecewisePolynomials:
    """L_h as functions of x."""
    found, spaces = LinkNodes(beam.integrals), [*beam.integrals.shapes.values()]
    breaks = merge_breaks(found.breaks, *(space.breaks for space in spaces))
    degree = max(found.per_piece, *(space.degree for space in spaces))
    values = np.array([found.weights(x) for x in Grid(breaks, degree + 1).x.tolist()])
    return from_gauss_values(breaks, degree, values)


def _strains(beam: Beam, x: Array) -> Array:
    """(points, n): u' of the shapes."""
    out = np.zeros((len(x), beam.integrals.count))
    if "stretch" in beam.integrals.columns:
        out[:, beam.integrals.columns["stretch"]] = beam.integrals.shapes["stretch"].derivative()(x)
    return out


def _scaled(beam: Beam, values: Array) -> list[Expr]:
    powers = beam.front.powers
    return [beam.scales(float(value), PER_LENGTH * power) for value, power in zip(values, powers, strict=True)]


def _sum(weights: list[Expr], values: list[Expr]) -> Expr:
    return sum((weight * value for weight, value in zip(weights, values, strict=True) if weight != 0), number(0))
