"""Places on a link that bends in one plane by any angle: stiffening "exact".

The axis is r(x) = sum_h L_h(x) t_h, with directions t_h = (1 + u') (cos chi, sin chi) at nodes h (beam/nodes.py) whose
angles chi_h, about z for bend_y and about y for bend_z, are linear in the elastic coordinates, however far it bends.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from flexarm.beam.nodes import LinkNodes
from flexarm.beam.polynomials import Grid, PiecewisePolynomials, merged, through_gauss_points
from flexarm.symbolic.algebra import ZERO, Expr, Vector, cos, number, plus, sin, times
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


def nodes(beam: Beam) -> list[Node]:
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
        found.append(Node(angle, 1 + _sum(stretching, eta), turning, stretching, across))
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
