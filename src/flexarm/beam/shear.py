"""Shear of short links (Timoshenko): sections that do not stay normal to the axis, without coordinates of their own.

Sections turn by psi and the axis leans by N' = psi + gamma, with the strain energy 1/2 int (EI psi'^2 + kGA gamma^2).
Modes find their gamma as they find their psi. An element has that of statics, where moment and shear force balance.
"""

from __future__ import annotations

import numpy as np

from flexarm.beam.polynomials import Grid, PiecewisePolynomials
from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.numbers import Array

POINTS = 8  # in an element, for the mean of its shear strain


@dataclass(frozen=True)
class ShearedShapes(PiecewisePolynomials):
    """Deflections of the axis, with the rotations `turns` of the sections that belong to them."""

    turns: PiecewisePolynomials

    def __matmul__(self, combination: Array) -> ShearedShapes:
        moves = super().__matmul__(combination)
        return ShearedShapes(moves.breaks, moves.coefficients, self.turns @ combination)


def rotation(shapes: PiecewisePolynomials) -> PiecewisePolynomials:
    """How sections turn where the axis bends: with its slope, unless they are sheared."""
    return shapes.turns if isinstance(shapes, ShearedShapes) else shapes.derivative()


def shear_strain(shapes: PiecewisePolynomials) -> PiecewisePolynomials:
    """By how much the axis leans more than sections turn."""
    slope, turns = shapes.derivative(), rotation(shapes)
    out = np.zeros((max(slope.degree, turns.degree) + 1, *slope.coefficients.shape[1:]))
    out[: slope.degree + 1] = slope.coefficients
    out[: turns.degree + 1] -= turns.coefficients
    return PiecewisePolynomials(shapes.breaks, out)


def with_shear(bending: PiecewisePolynomials, shear: PiecewisePolynomials) -> ShearedShapes:
    """Functions that bend the link without shear, and others of the same pieces that shear it without bending."""
    turns, still = bending.derivative(), PiecewisePolynomials(shear.breaks, np.zeros_like(shear.coefficients))
    return ShearedShapes(bending.breaks, _beside(bending, shear).coefficients, _beside(turns, still))


def _beside(one: PiecewisePolynomials, other: PiecewisePolynomials) -> PiecewisePolynomials:
    """The functions of both, whose degrees may differ."""
    degrees = max(one.degree, other.degree) + 1
    out = np.zeros((degrees, len(one.breaks) - 1, one.count + other.count))
    out[: one.degree + 1, :, : one.count] = one.coefficients
    out[: other.degree + 1, :, one.count :] = other.coefficients
    return PiecewisePolynomials(one.breaks, out)


def element_functions(nodes: Array, EI: PiecewisePolynomials, kGA: PiecewisePolynomials) -> tuple[Array, Array]:
    """Deflections and rotations of the elements between nodes, as coefficients (degrees, pieces, functions): those of a
    unit deflection and of a unit rotation at the left node, then at the right one.

    The rotation is quadratic, the shear strain constant. Of a uniform element these are the exact functions of statics
    (Przemieniecki 1968).
    """
    count = len(nodes) - 1
    turns = PiecewisePolynomials(nodes, np.repeat(np.eye(3)[:, None, :], count, axis=1))
    leans = turns.coefficients.copy()
    leans[0] += _static_strain(turns, EI, kGA)
    grown = PiecewisePolynomials(nodes, leans).integral_of_pieces().coefficients
    ends = np.empty((count, 3, 3))  # rotation at the left, at the right, growth of the deflection between them
    ends[:, 0], ends[:, 1], ends[:, 2] = [1, -1, 1], 1, grown.sum(axis=0)
    nodal = np.linalg.solve(ends, np.array([[0.0, 1, 0, 0], [0, 0, 0, 1], [-1, 0, 1, 0]]))
    deflections = np.einsum("kpa,pad->kpd", grown, nodal)
    deflections[0, :, 0] += 1
    return deflections, nodal.transpose(1, 0, 2)


def _static_strain(turns: PiecewisePolynomials, EI: PiecewisePolynomials, kGA: PiecewisePolynomials) -> Array:
    """(pieces, functions): the mean of gamma = -(EI psi')' / kGA on each piece."""
    grid, curvature = Grid(turns.breaks, POINTS), turns.derivative()
    force = -EI(grid) * curvature.derivative()(grid) - EI.derivative()(grid) * curvature(grid)
    shares = grid.weights.reshape(-1, POINTS, 1)
    return np.asarray((shares * (force / kGA(grid)).reshape(-1, POINTS, turns.count)).sum(1) / shares.sum(1))
