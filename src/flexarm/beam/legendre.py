"""Tables of Legendre polynomials on [-1, 1], made once for each degree. They are shared, hence read-only."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.polynomial import legendre

from flexarm.foundation.numbers import Array

KEPT = 256  # tables of each kind; a robot needs some ten


def _shared(table: Array) -> Array:
    table.setflags(write=False)
    return table


@lru_cache(KEPT)
def gauss_rule(points: int) -> tuple[Array, Array]:
    """Gauss-Legendre nodes and weights."""
    nodes, weights = legendre.leggauss(points)
    return _shared(nodes), _shared(weights)


@lru_cache(KEPT)
def at_gauss(points: int, degree: int) -> Array:
    """(points, degree + 1): every polynomial at every Gauss node."""
    return _shared(np.ascontiguousarray(at(gauss_rule(points)[0], degree)))


@lru_cache(KEPT)
def at_even(points: int, degree: int) -> Array:
    """(points, degree + 1): every polynomial at points with equal distances, both ends among them."""
    return _shared(np.ascontiguousarray(at(np.linspace(-1, 1, points), degree)))


@lru_cache(KEPT)
def projection(degree: int) -> Array:
    """Values at degree + 1 Gauss nodes to coefficients, by the discrete orthogonality of the polynomials there."""
    _, weights = gauss_rule(degree + 1)
    return _shared((np.arange(degree + 1) + 0.5)[:, None] * at_gauss(degree + 1, degree).T * weights)


@lru_cache(KEPT)
def differentiation(degree: int, order: int) -> Array:
    """Coefficients to those of the derivative of an order."""
    return _shared(np.asarray(legendre.legder(np.eye(degree + 1), order)))


@lru_cache(KEPT)
def integration(degree: int) -> Array:
    """Coefficients to those of the antiderivative that is zero at -1."""
    return _shared(np.asarray(legendre.legint(np.eye(degree + 1), lbnd=-1)))


def at(points: Array, degree: int) -> Array:
    """(points, degree + 1): every polynomial at some points, by the recurrence of three terms."""
    rows = [np.ones(len(points)), points]
    for k in range(2, degree + 1):
        rows.append(((2 * k - 1) / k) * points * rows[-1] - ((k - 1) / k) * rows[-2])
    return np.array(rows[: degree + 1]).T


def at_point(point: float, degree: int) -> Array:
    """(degree + 1,): the same at one point, where plain numbers are much faster than arrays of one."""
    row = [1.0, point]
    for k in range(2, degree + 1):
        row.append(((2 * k - 1) * point * row[-1] - (k - 1) * row[-2]) / k)
    return np.array(row[: degree + 1])
