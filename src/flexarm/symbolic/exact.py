"""Where points of a planar link go that bends as far as it likes: stiffening "exact".

The axis is r(x) = sum_h L_h(x) t_h, with directions t_h = (1 + u') (cos chi, sin chi) at nodes h (beam/nodes.py) whose
angles chi_h are linear in the elastic coordinates, however far the link bends.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from flexarm.beam.nodes import LinkNodes
from flexarm.beam.polynomials import Grid, PiecewisePolynomials, merged, through_gauss_points
from flexarm.symbolic.algebra import Expr, Vector, cos, number, plus, sin, times
from flexarm.symbolic.scales import Power

if TYPE_CHECKING:
    from flexarm.foundation.numbers import Array
    from flexarm.symbolic.beams import Beam

LENGTH, PER_LENGTH = Power(l=1), Power(l=-1)


@dataclass(frozen=True)
class Node:
    """The direction of the axis at a node: its angle and its stretch, with their derivatives by the coordinates."""

    angle: Expr
    stretch: Expr
    turning: list[Expr]
    stretching: list[Expr]

    @property
    def direction(self) -> Vector:
        return times(self.stretch, (cos(self.angle), sin(self.angle), 0))


def nodes(beam: Beam) -> list[Node]:
    """Of a link that no joint grips; angles have names, chi_i(h)."""
    integrals, eta = beam.integrals, beam.front.eta
    places = LinkNodes(integrals).places
    found = []
    for h, (slopes, strains) in enumerate(zip(integrals.rotation(places)[:, 2], _strains(beam, places), strict=True)):
        turning, stretching = _scaled(beam, slopes), _scaled(beam, strains)
        angle = beam.short.name(f"chi_{beam.number}_{h + 1}", _sum(turning, eta))
        found.append(Node(angle, 1 + _sum(stretching, eta), turning, stretching))
    return found


def place(beam: Beam, x: float) -> tuple[Vector, Vector]:
    """Of the point at a constant x, and the angles of its section."""
    weights = [beam.scales(float(weight), LENGTH) for weight in LinkNodes(beam.integrals).weights(x)]
    angle = _sum(_scaled(beam, beam.integrals.rotation(np.array([x]))[0, 2]), beam.front.eta)
    return _summed(beam, weights), (0, 0, angle)


def axis_at(beam: Beam, at: Expr, near: float | None, label: str | None) -> Vector:
    """The point of the axis at a symbolic place."""
    from flexarm.symbolic.beams import MovingShapes

    space = _weights_along(beam)
    shapes = MovingShapes(beam, space, [LENGTH] * space.count, at, near)
    return _summed(beam, shapes.values(0, None if label is None else f"L_{label}"))


def _summed(beam: Beam, weights: list[Expr]) -> Vector:
    parts = (times(weight, node.direction) for weight, node in zip(weights, nodes(beam), strict=True))
    return plus((number(0), number(0), 0), *parts)


def _weights_along(beam: Beam) -> PiecewisePolynomials:
    """L_h as functions of x."""
    found, spaces = LinkNodes(beam.integrals), [*beam.integrals.shapes.values()]
    breaks = merged(found.breaks, *(space.breaks for space in spaces))
    degree = max(found.per_piece, *(space.degree for space in spaces))
    values = np.array([found.weights(x) for x in Grid(breaks, degree + 1).x.tolist()])
    return through_gauss_points(breaks, degree, values)


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
