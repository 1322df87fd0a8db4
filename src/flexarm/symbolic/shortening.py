"""Places on a link that is complete to second order: stiffening "shortening".

Displacements and angles of second order are forms 1/2 eta^T F(x) eta of constants (beam/second_order.py). The axis
keeps its length, so a point at x draws near to the root by 1/2 int_0^x (v'^2 + w'^2); stretch and twist move the points
of a bent link across its axis, and bending in two planes turns its sections about it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from flexarm.beam.integrals import LinkIntegrals
from flexarm.beam.polynomials import Grid, PiecewisePolynomials, merged, through_gauss_points
from flexarm.beam.second_order import MOVES, TURNS, Product, SecondOrder
from flexarm.foundation.numbers import Array
from flexarm.symbolic.algebra import Expr, Vector, number, ratio
from flexarm.symbolic.scales import Power

if TYPE_CHECKING:
    from flexarm.symbolic.beams import Beam, Shapes

DERIVATIVES = {"value": 0, "slope": 1, "rotation": 1, "curvature": 2}


def moved(beam: Beam, shapes: Shapes, x: float, lean: Expr) -> Vector:
    """Return the displacement of second order at a constant x; slopes are `lean` times as large in a scaled part."""
    return _at(beam, shapes, MOVES, x, lean)


def turned(beam: Beam, shapes: Shapes, x: float, lean: Expr) -> Vector:
    """Return the angles of second order about x, y and z at a constant x."""
    return _at(beam, shapes, TURNS, x, lean)


def moved_at(beam: Beam, at: Expr, near: float | None, label: str | None, lean: Expr) -> Vector:
    """Return the displacement of second order at a symbolic place."""
    return _along(beam, MOVES, at, near, None if label is None else f"H_{label}", lean)


def turned_at(beam: Beam, at: Expr, near: float | None, label: str | None, lean: Expr) -> Vector:
    """Return the angles of second order at a symbolic place."""
    return _along(beam, TURNS, at, near, None if label is None else f"Q_{label}", lean)


def _at(beam: Beam, shapes: Shapes, products: Sequence[Product], x: float, lean: Expr) -> Vector:
    forms = SecondOrder(shapes.integrals)
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
    forms, spaces = SecondOrder(integrals), [*integrals.shapes.values()]
    breaks, degree = merged(*(space.breaks for space in spaces)), 2 * max(space.degree for space in spaces)
    places = Grid(breaks, degree + 1).x
    found, columns = [], []
    for _, product in forms.present(products):
        blocks = np.array([forms.at(product, x) for x in places.tolist()])
        for i, j, p, q in _entries(integrals, product, np.abs(blocks).max(axis=0)):
            found.append((product, p, q))
            columns.append(blocks[:, i, j])
    values = np.reshape(columns, (len(found), len(places)))
    return found, through_gauss_points(breaks, degree, values.T)


def _entries(integrals: LinkIntegrals, product: Product, block: Array) -> list[tuple[int, int, int, int]]:
    """Return rows and columns of a block that are not zero, with the coordinates to which they belong."""
    rows, others = (range(integrals.count)[integrals.columns[name]] for name in (product.one, product.other))
    places = zip(*np.nonzero(block), strict=True)
    found = [(int(i), int(j), rows[i], others[j]) for i, j in places]
    return [each for each in found if each[2] <= each[3] or product.one != product.other]


def _power(product: Product) -> int:
    """Return the power of the length with which a product varies."""
    order = DERIVATIVES[product.what] + DERIVATIVES[product.other_what]
    return (1 if product.integrated == "once" else 2) - order


def _weight(p: int, q: int) -> Expr:
    """Return a half for the square of a coordinate; products of two stand for both entries of a symmetric form."""
    return ratio(1, 2) if p == q else number(1)
