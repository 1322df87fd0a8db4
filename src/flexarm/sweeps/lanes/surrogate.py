"""Rows of members as smooth functions of what is swept: polynomials in each field, put together entry by entry.

To describe a robot takes longer than to run one in lanes. But its numbers are smooth in each field, and most of them
are sums or products of what single fields do (a stiffness is that of the material times that of the section); of some
the inverse is simpler (of a length to the minus third power, of the inverse of a mass). All this is found by trial, and
checked against rows that were computed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from flexarm.foundation.numbers import Array

LEVELS = (3, 5, 9, 17, 33)  # nodes; each has those of the one before
CLOSE = 1e-10  # of the largest of the entries with which one is compared
CHECKS = 2  # members by which sums and products are told apart, and as many to see that it is right
TINY = np.finfo(float).tiny

Rows = Callable[[Array], Array]  # from a point, a number for each field, to a row


@dataclass(frozen=True)
class Axis:
    """Of one field: rows at nodes along it, all other fields in the middle; which of their entries are inverted before
    they are made polynomials."""

    low: float
    high: float
    rows: Array  # (nodes, entries)
    inverted: Any

    def at(self, x: Array) -> Array:
        """(points, entries), by the barycentric formula."""
        nodes = _nodes(len(self.rows))
        local = (2 * x - self.low - self.high) / (self.high - self.low) if self.high > self.low else np.zeros_like(x)
        weights = (-1.0) ** np.arange(len(nodes))
        weights[[0, -1]] /= 2
        away = local[:, None] - nodes
        met = away == 0
        shares = weights / np.where(met, 1.0, away)
        shares = np.where(met.any(axis=1)[:, None], met, shares)
        with np.errstate(invalid="ignore", over="ignore"):  # where an inverse is none, nobody takes it
            values = shares @ _inverted(self.rows, self.inverted) / shares.sum(axis=1)[:, None]
        return _inverted(values, self.inverted)

    def only(self, entries: Any) -> Axis:
        return Axis(self.low, self.high, self.rows[:, entries], self.inverted[entries])


def _inverted(values: Array, where: Any) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(where, 1 / values, values)


ADDED, MULTIPLIED, IN_INVERSE = 0, 1, 2
"""How fields work together in an entry: their changes add up, or multiply, or add up in the inverse of it."""


@dataclass(frozen=True)
class Surrogate:
    """Rows at any points within the ranges of the fields."""

    axes: Sequence[Axis]
    middle: Array
    kinds: Any  # by entry, how fields work together
    points: Array  # at which rows were computed, and these
    rows: Array

    def __call__(self, points: Array) -> Array:
        out = np.repeat(self.middle[None], len(points), axis=0)
        for axis, x in zip(self.axes, points.T, strict=True):
            moved = np.flatnonzero((axis.rows != self.middle).any(axis=0))
            out[:, moved] = _together(out[:, moved], axis.only(moved).at(x), self.middle[moved], self.kinds[moved])
        return out


def _together(so_far: Array, now: Array, middle: Array, kinds: Any) -> Array:
    """What a field adds to what others have done so far; not numbers where that cannot be."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        multiplied = so_far * (now / middle)
        in_inverse = 1 / (1 / so_far + (1 / now - 1 / middle))
    return np.where(kinds == ADDED, so_far + (now - middle), np.where(kinds == MULTIPLIED, multiplied, in_inverse))


def surrogate(points: Array, row: Rows, scales: Any, generator: np.random.Generator) -> Surrogate | None:
    """Of rows at the points of members, (members, fields); None where no polynomials meet them.

    row: computes one. scales: by entry, a number of those with which it is compared.
    """
    low, high = points.min(axis=0), points.max(axis=0)
    center = (low + high) / 2
    known = _Known(row)
    axes = []
    for k in range(points.shape[1]):
        axis = _axis(known, center, k, low[k], high[k], scales)
        if axis is None:
            return None
        axes.append(axis)
    middle = known(center)
    chosen = points[generator.choice(len(points), min(len(points), 2 * CHECKS), replace=False)]
    corners = np.stack([low, high])
    trials, checks = np.concatenate([chosen[:CHECKS], corners[:1]]), np.concatenate([chosen[CHECKS:], corners[1:]])
    exact = np.stack([known(each) for each in trials])
    tried = [
        _difference(Surrogate(axes, middle, np.full(middle.shape, kind), trials, exact)(trials), exact, scales)
        for kind in (ADDED, MULTIPLIED, IN_INVERSE)
    ]
    kinds = np.argmin(np.nan_to_num(np.stack(tried), nan=np.inf), axis=0)
    made = Surrogate(axes, middle, kinds, *known.all)
    if not (_apart(made(trials), exact, scales) <= CLOSE):
        return None
    return made if _apart(made(checks), np.stack([known(each) for each in checks]), scales) <= CLOSE else None


class _Known:
    """Rows that were computed, once at each point."""

    def __init__(self, row: Rows) -> None:
        self._row, self._found = row, dict[bytes, tuple[Array, Array]]()

    def __call__(self, point: Array) -> Array:
        key = point.tobytes()
        if key not in self._found:
            self._found[key] = point, self._row(point)
        return self._found[key][1]

    @property
    def all(self) -> tuple[Array, Array]:
        points, rows = zip(*self._found.values(), strict=True)
        return np.stack(points), np.stack(rows)


def _axis(known: _Known, center: Array, k: int, low: float, high: float, scales: Any) -> Axis | None:
    """With as many nodes as it takes: those of the next level tell whether they are enough."""
    none = np.zeros(len(known(center)), dtype=bool)
    if low == high:
        return Axis(low, high, known(center)[None], none)

    def rows(count: int) -> Array:
        found = []
        for node in _nodes(count):
            point = center.copy()
            point[k] = low if node == -1 else high if node == 1 else center[k] + node * (high - low) / 2
            found.append(known(point))
        return np.stack(found)

    coarse = rows(LEVELS[0])
    for level, count in enumerate(LEVELS[1:]):
        fine, x = rows(count), center[k] + _nodes(count) * (high - low) / 2
        plain, inverse = (_difference(Axis(low, high, coarse, each).at(x), fine, scales) for each in (none, ~none))
        inverted = np.nan_to_num(inverse, nan=np.inf) < plain
        if np.where(inverted, inverse, plain).max(initial=0.0) <= CLOSE / 10:
            return Axis(low, high, coarse if not level else fine, inverted)
        coarse = fine
    return None


def _nodes(count: int) -> Array:
    """Of Chebyshev, from -1 to 1, both among them; the one in the middle is 0."""
    nodes = -np.cos(np.pi * np.arange(count) / max(count - 1, 1))
    nodes[count // 2] = 0.0
    return nodes


def _apart(found: Array, exact: Array, scales: Any) -> float:
    """The largest difference; infinite where there are no numbers."""
    apart = _difference(found, exact, scales)
    return float(apart.max(initial=0.0)) if np.isfinite(apart).all() else np.inf


def _difference(found: Array, exact: Array, scales: Any) -> Array:
    """The largest of each entry, in shares of the largest with which it is compared."""
    largest = np.zeros(int(scales.max()) + 1)
    np.maximum.at(largest, scales, np.abs(exact).max(axis=0))
    return np.asarray((np.abs(found - exact) / np.maximum(largest[scales], TINY)).max(axis=0))
