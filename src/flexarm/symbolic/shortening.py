"""Where points of a planar link go that is complete to second order: stiffening "shortening".

Its axis keeps its length, so a point at x draws near to the root by 1/2 int_0^x v'^2; where it stretches, its slope
carries that along, int u' v' across. Both are forms 1/2 eta^T F(x) eta of constants (beam/second_order.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flexarm.beam.integrals import LinkIntegrals
from flexarm.beam.polynomials import Grid, PiecewisePolynomials, merged, through_gauss_points
from flexarm.beam.second_order import SecondOrder
from flexarm.symbolic.algebra import Expr, Vector, number, ratio
from flexarm.symbolic.scales import Power

if TYPE_CHECKING:
    from flexarm.symbolic.beams import Beam, Shapes

PER_LENGTH = Power(l=-1)  # of two slopes, integrated once


def moved(beam: Beam, shapes: Shapes, x: float) -> Vector:
    """What is of second order in the displacement at a constant x, of the link or of a part of it at full length."""
    forms = SecondOrder(shapes.integrals).moved(x)
    powers, eta = shapes.powers, shapes.eta
    out: list[Expr] = [number(0)] * 3
    for axis, p, q in _pairs(forms):
        block = beam.scales(float(forms[axis, p, q]), PER_LENGTH * powers[p] * powers[q])
        out[axis] += _weight(p, q) * block * eta[p] * eta[q]
    return out[0], out[1], out[2]


def moved_at(beam: Beam, at: Expr, near: float | None, label: str | None) -> Vector:
    """The same at a symbolic place."""
    from flexarm.symbolic.beams import MovingShapes

    powers, eta = beam.front.powers, beam.front.eta
    found, space = forms_along(beam.integrals)
    scaled = [PER_LENGTH * powers[p] * powers[q] for _, p, q in found]
    values = MovingShapes(beam, space, scaled, at, near).values(0, None if label is None else f"H_{label}")
    out: list[Expr] = [number(0)] * 3
    for (axis, p, q), value in zip(found, values, strict=True):
        out[axis] += _weight(p, q) * value * eta[p] * eta[q]
    return out[0], out[1], out[2]


def forms_along(integrals: LinkIntegrals) -> tuple[list[tuple[int, int, int]], PiecewisePolynomials]:
    """Which entries of F there are (axis, p <= q), and each of them as a function of x."""
    forms, spaces = SecondOrder(integrals), [*integrals.shapes.values()]
    breaks, degree = merged(*(space.breaks for space in spaces)), 2 * max(space.degree for space in spaces)
    places = Grid(breaks, degree + 1).x
    values = np.array([forms.moved(x) for x in places.tolist()])
    found = _pairs(np.abs(values).max(axis=0))
    columns = np.reshape([values[:, axis, p, q] for axis, p, q in found], (len(found), len(places)))
    return found, through_gauss_points(breaks, degree, columns.T)


def _pairs(forms: np.ndarray) -> list[tuple[int, int, int]]:
    axes, ps, qs = np.nonzero(forms)
    return [(int(axis), int(p), int(q)) for axis, p, q in zip(axes, ps, qs, strict=True) if p <= q]


def _weight(p: int, q: int) -> Expr:
    """Of an entry of a symmetric form, half of which counts."""
    return ratio(1, 2) if p == q else number(1)
