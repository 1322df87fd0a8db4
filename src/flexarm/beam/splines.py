"""B-splines on a mesh: elements whose functions are smooth across nodes, clamped at the root."""

from __future__ import annotations

import numpy as np
from numpy.polynomial import legendre

from flexarm.beam.polynomials import PiecewisePolynomials
from flexarm.foundation.numbers import Array


def splines(nodes: Array, order: int, degree: int) -> PiecewisePolynomials:
    """Of a degree, with one continuous derivative less; those that move or (order 2) turn the clamped root left out.

    Each lives on degree + 1 neighbouring elements at the most.
    """
    knots = np.concatenate([np.full(degree, nodes[0]), nodes, np.full(degree, nodes[-1])])
    points, _ = legendre.leggauss(degree + 1)
    fitted = np.linalg.inv(legendre.legvander(points, degree))
    pieces = len(nodes) - 1
    coefficients = np.zeros((degree + 1, pieces, pieces + degree))
    for piece in range(pieces):
        left, right = nodes[piece], nodes[piece + 1]
        x = (left + right + (right - left) * points) / 2
        coefficients[:, piece, piece : piece + degree + 1] = fitted @ _alive(knots, piece + degree, degree, x)
    return PiecewisePolynomials(nodes, np.ascontiguousarray(coefficients[:, :, order:]))


def _alive(knots: Array, interval: int, degree: int, x: Array) -> Array:
    """(points, degree + 1): the B-splines that differ from zero between two knots, by Cox and de Boor's recursion."""
    found = np.ones((len(x), 1))
    for k in range(1, degree + 1):
        higher = np.zeros((len(x), k + 1))
        for j in range(k):
            left, right = knots[interval + 1 - k + j], knots[interval + 1 + j]
            share = found[:, j] / (right - left)
            higher[:, j] += share * (right - x)
            higher[:, j + 1] += share * (x - left)
        found = higher
    return found
