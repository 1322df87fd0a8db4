"""Piecewise polynomials on [0, L] in Legendre form: evaluation, derivatives, integrals, products and fits.

Every shape function of a link is a piecewise polynomial, so that Gauss quadrature integrates exactly over a link.
Unlike powers of x, Legendre polynomials on each piece remain well conditioned at degree 30 and more. Tables of
Legendre polynomials on [-1, 1] are cached by degree and shared, hence read-only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import NDArray

from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.validation import Array

CACHE_SIZE = 256  # tables of each kind; a robot needs about ten


def _shared(table: Array) -> Array:
    table.setflags(write=False)
    return table


@lru_cache(CACHE_SIZE)
def gauss_rule(points: int) -> tuple[Array, Array]:
    """Return Gauss-Legendre nodes and weights on [-1, 1]."""
    nodes, weights = legendre.leggauss(points)
    return _shared(nodes), _shared(weights)


@lru_cache(CACHE_SIZE)
def values_at_gauss(points: int, degree: int) -> Array:
    """Return the Legendre polynomials at the Gauss nodes, shape (points, degree + 1)."""
    return _shared(np.ascontiguousarray(legendre_values(gauss_rule(points)[0], degree)))


@lru_cache(CACHE_SIZE)
def values_at_even(points: int, degree: int) -> Array:
    """Return the Legendre polynomials at equidistant points including both ends, shape (points, degree + 1)."""
    return _shared(np.ascontiguousarray(legendre_values(np.linspace(-1, 1, points), degree)))


@lru_cache(CACHE_SIZE)
def projection(degree: int) -> Array:
    """Return the matrix from values at degree + 1 Gauss nodes to coefficients, by discrete orthogonality."""
    _, weights = gauss_rule(degree + 1)
    return _shared((np.arange(degree + 1) + 0.5)[:, None] * values_at_gauss(degree + 1, degree).T * weights)


@lru_cache(CACHE_SIZE)
def differentiation(degree: int, order: int) -> Array:
    """Return the matrix from coefficients to those of a derivative."""
    return _shared(np.asarray(legendre.legder(np.eye(degree + 1), order)))


@lru_cache(CACHE_SIZE)
def integration(degree: int) -> Array:
    """Return the matrix from coefficients to those of the antiderivative that is zero at -1."""
    return _shared(np.asarray(legendre.legint(np.eye(degree + 1), lbnd=-1)))


def legendre_values(points: Array, degree: int) -> Array:
    """Return the Legendre polynomials at points by the three-term recurrence, shape (points, degree + 1)."""
    rows = [np.ones(len(points)), points]
    for k in range(2, degree + 1):
        rows.append(((2 * k - 1) / k) * points * rows[-1] - ((k - 1) / k) * rows[-2])
    return np.array(rows[: degree + 1]).T


def values_at_point(point: float, degree: int) -> Array:
    """Return the Legendre polynomials at one point, shape (degree + 1,); floats are faster than arrays of length 1."""
    row = [1.0, point]
    for k in range(2, degree + 1):
        row.append(((2 * k - 1) * point * row[-1] - (k - 1) * row[-2]) / k)
    return np.array(row[: degree + 1])


Indices = NDArray[np.intp]

MAX_HALVINGS = 12
TINY = float(np.finfo(float).tiny)


@dataclass(frozen=True, eq=False)
class Grid:
    """Gauss points, `count` on every piece. Functions with the same pieces are evaluated by tables."""

    breaks: Array
    count: int

    @property
    def x(self) -> Array:
        return self._rule[0]

    @property
    def weights(self) -> Array:
        return self._rule[1]

    @cached_property
    def _rule(self) -> tuple[Array, Array]:
        """Points and weights."""
        return gauss(self.breaks, self.count)

    def table(self, degree: int) -> Array:
        """Return the Legendre polynomials at the points of one piece, shape (count, degree + 1)."""
        return values_at_gauss(self.count, degree)

    def located(self, breaks: Array, degree: int) -> tuple[Indices, Array]:
        """Return the piece of each point and the polynomials there, for functions with other pieces."""
        key = breaks.tobytes()
        if key not in self._located or self._located[key][1].shape[1] <= degree:
            self._located[key] = _located(self.x, breaks, degree)
        piece, table = self._located[key]
        return piece, table[:, : degree + 1]

    @cached_property
    def _located(self) -> dict[bytes, tuple[Indices, Array]]:
        return {}


class EvenGrid(Grid):
    """Equidistant points on one piece, including both ends."""

    @property
    def x(self) -> Array:
        return np.linspace(self.breaks[0], self.breaks[-1], self.count)

    @property
    def weights(self) -> Array:
        raise TypeError("points with equal distances are no quadrature: they have no weights")

    def table(self, degree: int) -> Array:
        return values_at_even(self.count, degree)


@dataclass(frozen=True)
class PiecewisePolynomials:
    """Functions of x with common pieces.

    Parameters
    ----------
    breaks : ndarray, shape (m + 1,)
        Ends of the pieces, ascending.
    coefficients : ndarray, shape (degree + 1, m, n)
        Legendre coefficients of the n functions on each piece.
    """

    breaks: Array
    coefficients: Array

    @property
    def count(self) -> int:
        """Number of functions."""
        return int(self.coefficients.shape[2])

    @property
    def degree(self) -> int:
        """Degree of the polynomials."""
        return int(self.coefficients.shape[0]) - 1

    @property
    def constant(self) -> bool:
        """True if each is a constant on the whole length by construction."""
        return self.coefficients.shape[:2] == (1, 1)

    def __call__(self, x: Array | float | Grid) -> Array:
        """Return values at the points x, shape (points, n); at a break those of the right piece."""
        if isinstance(x, Grid):
            return self._on(x)
        if isinstance(x, float):
            return self._at(x)
        return self._combined(*_located(np.atleast_1d(np.asarray(x, dtype=float)), self.breaks, self.degree))

    def _combined(self, piece: Indices, table: Array) -> Array:
        """Return values from the piece of each point and the polynomials there."""
        if len(self.breaks) == 2:
            return np.asarray(table @ self._only_piece)
        return np.asarray(np.einsum("pk,kpn->pn", table, self.coefficients[:, piece, :]))

    @property
    def _only_piece(self) -> Array:
        return np.asarray(self.coefficients[:, 0, :])

    def _at(self, x: float) -> Array:
        last = len(self.breaks) - 2
        piece = min(max(int(np.searchsorted(self.breaks, x, side="right")) - 1, 0), last) if last else 0
        left, right = float(self.breaks[piece]), float(self.breaks[piece + 1])
        row = values_at_point((2 * x - left - right) / (right - left), self.degree)
        return np.asarray(row @ self.coefficients[:, piece, :])[None, :]

    def _on(self, grid: Grid) -> Array:
        """Return values on a grid, by one table for all pieces if the grid has the same pieces."""
        if self.constant:
            return np.full(((len(grid.breaks) - 1) * grid.count, self.count), self._only_piece)
        if grid.breaks is not self.breaks and grid.breaks.tobytes() != self.breaks.tobytes():
            return self._combined(*grid.located(self.breaks, self.degree))
        values = grid.table(self.degree) @ self.coefficients.transpose(1, 0, 2)  # (pieces, points of each, n)
        return np.asarray(values.reshape(values.shape[0] * values.shape[1], self.count))

    def derivative(self, order: int = 1) -> PiecewisePolynomials:
        """Return the derivative of each piece; jumps at breaks are ignored."""
        return self._transformed(differentiation(self.degree, order), (2 / self._sizes) ** order)

    def integral(self) -> PiecewisePolynomials:
        """Return the continuous antiderivative that is zero at x = 0."""
        found = self.integral_of_pieces()
        ends = found.coefficients.sum(axis=0)  # every Legendre polynomial is 1 at the right end
        found.coefficients[0, 1:, :] += np.cumsum(ends, axis=0)[:-1]
        return found

    def times_x(self) -> PiecewisePolynomials:
        """Return the functions times x."""
        grid = Grid(self.breaks, self.degree + 2)
        return from_gauss_values(self.breaks, self.degree + 1, self(grid) * grid.x[:, None])

    def integral_of_pieces(self) -> PiecewisePolynomials:
        """Return the antiderivative that is zero at the left end of each piece."""
        return self._transformed(integration(self.degree), self._sizes / 2)

    def _transformed(self, table: Array, scale: Array) -> PiecewisePolynomials:
        """Apply a matrix to the coefficients of each piece, and a factor for each piece."""
        found = (table @ self._flat).reshape(len(table), *self.coefficients.shape[1:])
        return PiecewisePolynomials(self.breaks, found * scale[:, None])

    @property
    def _sizes(self) -> Array:
        """Lengths of the pieces."""
        return np.asarray(self.breaks[1:] - self.breaks[:-1])

    @property
    def _flat(self) -> Array:
        """Coefficients with one column per function and piece."""
        return self.coefficients.reshape(len(self.coefficients), -1)

    def __matmul__(self, combination: Array) -> PiecewisePolynomials:
        """Return the functions N(x) @ combination for a matrix of shape (n, k)."""
        flat = self.coefficients.reshape(-1, self.count) @ combination
        return PiecewisePolynomials(self.breaks, flat.reshape(*self.coefficients.shape[:2], combination.shape[1]))


def pair_indices(one: int, other: int, both: bool) -> tuple[Indices, Indices]:
    """Return indices of all pairs of two sets, row by row, or (not `both`) the lower triangle of one set's pairs."""
    if not both:
        rows, columns = np.tril_indices(one)
        return rows, columns
    return np.repeat(np.arange(one), other), np.tile(np.arange(other), one)


def from_gauss_values(breaks: Array, degree: int, values: Array) -> PiecewisePolynomials:
    """Return the polynomials with given values (points, n) at the degree + 1 Gauss points of each piece."""
    shaped = values.reshape(len(breaks) - 1, degree + 1, -1)
    return PiecewisePolynomials(breaks, np.einsum("kg,pgn->kpn", projection(degree), shaped))


def multiply(one: PiecewisePolynomials, other: PiecewisePolynomials, both: bool = True) -> PiecewisePolynomials:
    """Return the products of all `pair_indices` of the functions of two sets."""
    breaks, degree = merge_breaks(one.breaks, other.breaks), one.degree + other.degree
    grid, (rows, columns) = Grid(breaks, degree + 1), pair_indices(one.count, other.count, both)
    return from_gauss_values(breaks, degree, one(grid)[:, rows] * other(grid)[:, columns])


def gauss(breaks: Array, points: int) -> tuple[Array, Array]:
    """Return Gauss-Legendre nodes and weights on all pieces, exact for polynomials of degree 2 points - 1."""
    nodes, weights = gauss_rule(points)
    left, right = breaks[:-1, None], breaks[1:, None]
    half, centre = (right - left) / 2, (left + right) / 2
    return (centre + half * nodes).ravel(), (half * weights).ravel()


def _located(x: Array, breaks: Array, degree: int) -> tuple[Indices, Array]:
    """Return the piece of each point and the Legendre polynomials of that piece there."""
    piece = np.clip(np.searchsorted(breaks, x, side="right") - 1, 0, len(breaks) - 2)
    left, right = breaks[piece], breaks[piece + 1]
    return piece, legendre_values((2 * x - left - right) / (right - left), degree)


def constant(value: float, length: float) -> PiecewisePolynomials:
    """Return the constant function on [0, length]."""
    return PiecewisePolynomials(np.array([0.0, length]), np.full((1, 1, 1), value))


def fit(function: Callable[[float], float], breaks: Array, degree: int) -> PiecewisePolynomials:
    """Return the polynomial of a degree on each piece that equals the function at the Gauss nodes."""
    values = _values(function, Grid(breaks, degree + 1)).reshape(-1, degree + 1)
    return PiecewisePolynomials(breaks, (projection(degree) @ values.T)[:, :, None])


def fit_within(
    function: Callable[[float], float], breaks: Array, degree: int, tolerance: float
) -> PiecewisePolynomials:
    """Fit a function and halve pieces until the relative error between the nodes is at most `tolerance`."""
    ends = np.asarray(breaks, dtype=float)
    for _ in range(MAX_HALVINGS):
        found, missed = fit_with_misses(function, ends, degree, tolerance)
        if not missed.any():
            return found
        ends = merge_breaks(ends, (ends[:-1] + ends[1:])[missed] / 2)
    return found


def fit_with_misses(
    function: Callable[[float], float], breaks: Array, degree: int, tolerance: float
) -> tuple[PiecewisePolynomials, NDArray[np.bool_]]:
    """Return the fit and the pieces on which its relative error between the nodes exceeds `tolerance`."""
    found, between = fit(function, breaks, degree), Grid(breaks, degree + 2)
    exact = _values(function, between)
    missed = np.abs(found(between) - exact) > tolerance * np.abs(exact)
    return found, np.asarray(missed.reshape(-1, between.count).any(axis=1))


def _values(function: Callable[[float], float], grid: Grid) -> Array:
    """Return values of a scalar function on a grid, shape (points, 1)."""
    return np.array([[function(x)] for x in grid.x.tolist()])


def merge_breaks(*parts: Array | Sequence[float]) -> Array:
    """Return the union of the breaks of several functions; breaks that differ by rounding are merged."""
    ends = sorted({end for part in parts for end in np.asarray(part, dtype=float).tolist()})
    tolerance = 1e-12 * max(abs(ends[-1]), TINY)
    return np.array([ends[0], *(end for before, end in pairwise(ends) if end - before > tolerance)])
