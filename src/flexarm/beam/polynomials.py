"""Piecewise polynomials on [0, L]: evaluate, differentiate, integrate, combine.

Every shape function of a link is one of these, so that all integrals over a link are exact by Gauss quadrature.
The coefficients are Legendre's on each piece: unlike powers of x they stay well conditioned at degree 30 and more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.polynomial import legendre

from flexarm.foundation.numbers import Array

MOST_HALVINGS = 12


@dataclass(frozen=True)
class PiecewisePolynomials:
    """`n` functions of x that share their pieces: `breaks` (m + 1,), `coefficients` (degree + 1, m, n)."""

    breaks: Array
    coefficients: Array

    @property
    def count(self) -> int:
        return int(self.coefficients.shape[2])

    @property
    def degree(self) -> int:
        return int(self.coefficients.shape[0]) - 1

    def __call__(self, x: Array | float) -> Array:
        """Values at the points x, shape (points, n); at a break the piece to the right counts."""
        x = np.atleast_1d(np.asarray(x, dtype=float))
        piece = np.clip(np.searchsorted(self.breaks, x, side="right") - 1, 0, len(self.breaks) - 2)
        left, right = self.breaks[piece], self.breaks[piece + 1]
        local = (2 * x - left - right) / (right - left)
        powers = legendre.legvander(local, self.degree)
        return np.asarray(np.einsum("pk,kpn->pn", powers, self.coefficients[:, piece, :]))

    def derivative(self) -> PiecewisePolynomials:
        """d/dx of each piece (a jump at a break is not seen)."""
        scale = (2 / np.diff(self.breaks))[:, None]
        return PiecewisePolynomials(self.breaks, legendre.legder(self.coefficients, axis=0) * scale)

    def integral(self) -> PiecewisePolynomials:
        """The continuous antiderivative that is zero at x = 0."""
        scale = (np.diff(self.breaks) / 2)[:, None]
        pieces = legendre.legint(self.coefficients, lbnd=-1, axis=0) * scale
        ends = pieces.sum(axis=0)  # every Legendre polynomial is 1 at the right end
        pieces[0, 1:, :] += np.cumsum(ends, axis=0)[:-1]
        return PiecewisePolynomials(self.breaks, pieces)

    def __matmul__(self, combination: Array) -> PiecewisePolynomials:
        """The functions N(x) @ combination, combination of shape (n, k)."""
        return PiecewisePolynomials(self.breaks, self.coefficients @ combination)


_leggauss = cache(legendre.leggauss)


def gauss(breaks: Array, points: int) -> tuple[Array, Array]:
    """Gauss-Legendre nodes and weights on every piece: exact for polynomials of degree 2 points - 1."""
    nodes, weights = _leggauss(points)
    half = np.diff(breaks)[:, None] / 2
    centre = (breaks[:-1] + breaks[1:])[:, None] / 2
    return (centre + half * nodes).ravel(), (half * weights).ravel()


def fit(function: Callable[[float], float], breaks: Array, degree: int) -> PiecewisePolynomials:
    """The polynomial of `degree` on each piece that equals the function at the Gauss nodes."""
    nodes, weights = _leggauss(degree + 1)
    x, _ = gauss(breaks, degree + 1)
    values = np.array([function(float(point)) for point in x]).reshape(len(breaks) - 1, degree + 1)
    # discrete orthogonality of Legendre polynomials at the Gauss nodes
    projection = (np.arange(degree + 1) + 0.5)[:, None] * legendre.legvander(nodes, degree).T * weights
    return PiecewisePolynomials(breaks, (projection @ values.T)[:, :, None])


def fit_within(
    function: Callable[[float], float], breaks: Array, degree: int, tolerance: float
) -> PiecewisePolynomials:
    """The same, with pieces halved until the fit meets the function between the nodes to `tolerance` of its value."""
    ends = np.asarray(breaks, dtype=float)
    for _ in range(MOST_HALVINGS):
        found = fit(function, ends, degree)
        between, _ = gauss(ends, degree + 2)
        exact = np.array([function(float(x)) for x in between])
        missed = np.abs(found(between)[:, 0] - exact) > tolerance * np.abs(exact)
        bad = missed.reshape(len(ends) - 1, -1).any(axis=1)
        if not bad.any():
            return found
        ends = merged(ends, (ends[:-1] + ends[1:])[bad] / 2)
    return found


def merged(*parts: Any) -> Array:
    """Break points of several functions together, those that differ by rounding taken as one."""
    ends = np.sort(np.concatenate([np.asarray(part, dtype=float) for part in parts]))
    keep = np.concatenate([[True], np.diff(ends) > 1e-12 * max(abs(ends[-1]), np.finfo(float).tiny)])
    return np.asarray(ends[keep])
