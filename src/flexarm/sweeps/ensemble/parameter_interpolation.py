"""Rows of parameters as smooth functions of the swept fields, from as few computed rows as possible.

Describing a robot takes longer than running one in lanes, but its parameters are smooth in each field. Most are sums or
products of functions of single fields (a stiffness is that of the material times that of the section), or sums of
inverses. Fields for which that is not true (a payload and the length of its link) form a block, whose rows are computed
on a grid. All this is found by trial, and checked with computed rows at the corners of all ranges and at members.

Along one field rows are rational functions: parameters often have poles beyond the range of a field (a length to the
power of minus three, modes with a tip mass), which polynomials meet with many more nodes. Every other Chebyshev node is
interpolated (barycentric formula); weights are such that the nodes between are met as well as possible (the idea of the
AAA algorithm: Nakatsukasa, Sete and Trefethen, SIAM J. Sci. Comput. 40, A1494, 2018), and closest to those of a
polynomial among these, so that no poles arise that the rows do not have.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, product
from typing import Any

import numpy as np

from flexarm.foundation.validation import Array

LEVELS = (3, 5, 9, 17, 33)  # nodes; each has those of the one before
PROBES = 4  # rows by which a level is judged, of the nodes that the next one would add
SHARE = 0.3  # of what is allowed, along one field
LOOKS = 129  # places at which a denominator is looked at
LOST = 1e-6  # of a polynomial's weights: less of them is nothing

Line = Callable[[float], Array]  # from a place between -1 and 1 to a row


@dataclass(frozen=True)
class Axis:
    """Nodes between -1 and 1, and for each entry of a row the weights of the nodes."""

    nodes: Array
    weights: Array  # (nodes, entries)

    def at(self, local: Array, rows: Array, of_points: bool = False) -> Array:
        """Return values at points, (points, ..., entries), from rows at the nodes or from those of each point.

        A point on a node has its row, whatever the weights.
        """
        away = local[:, None] - self.nodes
        met = away == 0
        exact = met.any(axis=1)
        inverse = np.where(exact[:, None], met, 1 / np.where(met, 1.0, away))
        between = (1,) * (rows.ndim - of_points - 2)
        sums = (inverse @ self.weights).reshape(len(local), *between, -1)
        weighted = rows * self.weights.reshape(len(self.nodes), *between, -1)
        values = _summed(inverse, weighted, of_points) / sums
        if exact.any():
            values[exact] = _summed(inverse[exact], rows[exact] if of_points else rows, of_points)
        return values

    def only(self, entries: Array) -> Axis:
        return Axis(self.nodes, self.weights[:, entries])


def _summed(factors: Array, rows: Array, of_points: bool) -> Array:
    """Return sums over the nodes of rows times factors (points, nodes); rows may be those of each point."""
    if of_points:
        return np.asarray(np.einsum("xn,xn...e->x...e", factors, rows))
    return (factors @ rows.reshape(len(rows), -1)).reshape(len(factors), *rows.shape[1:])


def axis(line: Line, largest: Callable[[Array], Array], close: Array, least: int = 0) -> Axis | None:
    """Return the interpolation along a line of rows; None if no number of nodes is enough.

    Parameters
    ----------
    largest : callable
        Of rows, by entry, with what a difference is compared.
    close : ndarray
        By entry, how small a difference must be.
    least : int
        Smallest number of nodes.
    """
    for count in LEVELS:
        if count // 2 + 1 < least:
            continue
        nodes, places = chebyshev(count), _probes(count)
        rows, probes = (np.stack([line(each) for each in some]) for some in (nodes, places))
        scale = largest(rows)
        made = Axis(nodes[::2], _weights(nodes, rows / scale, SHARE * close))
        off = np.abs(made.at(places, rows[::2]) - probes) / scale
        if (off <= SHARE * close).all() and not _has_poles(made):
            return made
    return None


def chebyshev(count: int) -> Array:
    """Return Chebyshev nodes from -1 to 1; the one in the middle is exactly 0."""
    nodes = -np.cos(np.pi * np.arange(count) / (count - 1))
    nodes[count // 2] = 0.0
    return nodes


def _probes(count: int) -> Array:
    """Return some of the nodes that the next level would add, the outermost among them."""
    new = chebyshev(2 * count - 1)[1::2]
    return np.asarray(new[np.unique(np.linspace(0, len(new) - 1, PROBES).round().astype(int))])


def _weights(nodes: Array, rows: Array, close: Array) -> Array:
    """Return weights of every other node, (nodes, entries), as close to a polynomial's as the rows between allow."""
    met = nodes[::2]
    plain = np.array([1 / np.prod(each - met[met != each]) for each in met])
    plain /= np.linalg.norm(plain)
    weights = np.repeat(plain[:, None], rows.shape[1], axis=1)
    moved = (rows != rows[0]).any(axis=0)  # few of many entries
    weights[:, moved] = _nearest(plain, nodes, rows[:, moved], close[moved])
    return weights


def _nearest(plain: Array, nodes: Array, rows: Array, close: Array) -> Array:
    """Return the weights closest to the plain ones among those that meet the rows between, (nodes, entries)."""
    met, between = nodes[::2], nodes[1::2]
    loewner = (rows[1::2, None] - rows[None, ::2]) / (between[:, None] - met)[:, :, None]
    _, sizes, directions = np.linalg.svd(np.moveaxis(loewner, 2, 0))
    free = np.ones((rows.shape[1], len(met)), dtype=bool)
    free[:, : sizes.shape[1]] = sizes <= close[:, None]
    along = np.where(free, directions @ plain, 0.0)
    weights = np.einsum("en,enm->em", along, directions)
    lost = np.abs(along).max(axis=1) < LOST
    weights[lost] = directions[lost, -1]  # the one direction that meets them best
    return np.asarray(weights.T)


def _has_poles(made: Axis) -> bool:
    """Return True if the denominator of an entry changes its sign between the nodes."""
    places, count = np.linspace(-1, 1, LOOKS), len(made.nodes)
    products = [np.prod(places[:, None] - np.delete(made.nodes, k), axis=1) for k in range(count)]
    denominators = np.stack(products, axis=1) @ made.weights
    return bool(((denominators.min(axis=0) <= 0) & (denominators.max(axis=0) >= 0)).any())


CORNERS = 4  # fields: of as many all corners are looked at, by which sums and products are distinguished
CHECKS = 6  # members, to see that it is right
WORTH = 3  # members for each row of a grid
TINY = np.finfo(float).tiny

Rows = Callable[[Array], Array]  # from a point, a number for each field, to a row

ADDED, KINDS = 0, range(3)
"""How blocks work together in an entry: their changes add up, or multiply, or add up in the inverse of it."""


@dataclass(frozen=True)
class Scale:
    """With which entries errors are compared, a number of their group by entry, and how small they must be."""

    among: Any
    close: Array

    def largest(self, rows: Array) -> Array:
        """Return for each entry the largest of those with which it is compared."""
        found = np.zeros(int(self.among.max()) + 1)
        np.maximum.at(found, self.among, np.abs(rows).max(axis=0))
        return np.asarray(np.maximum(found[self.among], TINY))

    def excess(self, found: Array, exact: Array) -> Array:
        """Return the largest difference of each entry as a share of what is allowed; infinite if it is nan."""
        off = (np.abs(found - exact) / self.largest(exact)).max(axis=0) / self.close
        return np.where(np.isfinite(off), off, np.inf)


@dataclass(frozen=True)
class InterpolatedBlock:
    """Fields by index, and rows (a node of the first, ..., entries) on the grid of their nodes."""

    fields: tuple[int, ...]
    axes: tuple[Axis, ...]
    rows: Array

    def at(self, local: Array, entries: Any) -> Array:
        """Return rows at points (points, all fields)."""
        rows = self.rows[..., entries]
        for k, (field, along) in enumerate(zip(self.fields, self.axes, strict=True)):
            rows = along.only(entries).at(local[:, field], rows, of_points=bool(k))
        return rows

    def moved(self, middle: Array) -> Any:
        """Entries that it changes."""
        return np.flatnonzero((self.rows != middle).reshape(-1, len(middle)).any(axis=0))


@dataclass(frozen=True)
class Surrogate:
    """Rows at any points within the ranges of the fields."""

    low: Array
    high: Array
    middle: Array
    blocks: Sequence[InterpolatedBlock]
    kinds: Any  # by entry, how blocks work together
    points: Array  # at which rows were computed, and these
    rows: Array

    def __call__(self, points: Array) -> Array:
        return self.together(len(points), self.moves(points), self.kinds)

    def moves(self, points: Array) -> list[Array]:
        """Return by block the entries that it changes (points, entries), with all other fields in the middle."""
        spread = np.where(self.high > self.low, self.high - self.low, 1.0)
        local = (2 * points - self.low - self.high) / spread
        return [block.at(local, moved) for block, moved in self._moved]

    def together(self, points: int, moves: Sequence[Array], kinds: Any) -> Array:
        """Return the sum of what blocks do at so many points, combined by these kinds."""
        out = np.repeat(self.middle[None], points, axis=0)
        for (_, moved), now in zip(self._moved, moves, strict=True):
            out[:, moved] = _together(out[:, moved], now, self.middle[moved], kinds[moved])
        return out

    @cached_property
    def _moved(self) -> list[tuple[InterpolatedBlock, Any]]:
        return [(each, each.moved(self.middle)) for each in self.blocks]


def _together(so_far: Array, now: Array, middle: Array, kinds: Any) -> Array:
    """Return what a block adds to the others; nan if that is impossible."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        multiplied = so_far * (now / middle)
        in_inverse = 1 / (1 / so_far + (1 / now - 1 / middle))
    return np.asarray(np.choose(kinds, (so_far + (now - middle), multiplied, in_inverse)))


def surrogate(points: Array, row: Rows, scale: Scale, generator: np.random.Generator) -> Surrogate | None:
    """Return an interpolation of rows at the points of members, (members, fields); None if none is accurate enough.

    `row`: computes one.
    """
    known = _Known(row, points, scale)
    axes = known.axes()
    if axes is None:
        return None
    checks = points[generator.choice(len(points), min(len(points), CHECKS), replace=False)]
    for blocks in _partitions(known, axes, len(points)):
        made = _fitted(known, blocks, known.corners)
        if made is not None and (scale.excess(made(checks), np.stack([known(each) for each in checks])) <= 1).all():
            return made
    return None


class _Known:
    """Rows that were computed, once at each point, and how accurately they must be met."""

    def __init__(self, row: Rows, points: Array, scale: Scale) -> None:
        self._row, self._found, self.scale = row, dict[bytes, tuple[Array, Array]](), scale
        self.low, self.high = points.min(axis=0), points.max(axis=0)
        self.low = np.where(self.low == -self.high, 1.01 * self.low, self.low)  # zero may be another structure
        self.center = (self.low + self.high) / 2

    def __call__(self, point: Array) -> Array:
        key = point.tobytes()
        if key not in self._found:
            self._found[key] = point, self._row(point)
        return self._found[key][1]

    def near(self, places: dict[int, float]) -> Array:
        """Return the row with fields at places between -1 and 1 of their ranges, the others in the middle."""
        point = self.center.copy()
        for field, place in places.items():
            ends = {-1.0: self.low[field], 1.0: self.high[field]}
            half = (self.high[field] - self.low[field]) / 2
            point[field] = ends.get(place, self.center[field] + place * half)
        return self(point)

    @property
    def corners(self) -> Array:
        """Corners of the ranges of the first fields, where joint effects are largest, and the corner of all low
        ends.
        """
        moving = np.flatnonzero(self.high > self.low).tolist()[:CORNERS]
        found = []
        for ends in product((False, True), repeat=len(moving)):
            point = self.high.copy()
            point[moving] = [(self.high if end else self.low)[field] for end, field in zip(ends, moving, strict=True)]
            found.append(point)
        return np.stack([*found, self.low])

    def axes(self, beyond: dict[int, Axis] | None = None) -> dict[int, Axis] | None:
        """Return the interpolation along each field through the middle, with more nodes than `beyond`; None if one
        fails.
        """
        found = {}
        for field in np.flatnonzero(self.high > self.low).tolist():
            least = 0 if beyond is None else len(beyond[field].nodes) + 1
            made = axis(lambda at, field=field: self.near({field: at}), self.scale.largest, self.scale.close, least)  # type: ignore[misc]
            if made is None:
                return None
            found[field] = made
        return found

    @property
    def all(self) -> tuple[Array, Array]:
        points, rows = zip(*self._found.values(), strict=True)
        return np.stack(points), np.stack(rows)


def _partitions(known: _Known, axes: dict[int, Axis], members: int) -> Iterator[list[InterpolatedBlock]]:
    """Yield partitions of the fields into blocks: single fields, then those together for which an entry is no sum or
    product, then all together.

    Grids must be worth their rows. First the nodes of single fields are used, then more: what is enough in the middle
    of the other ranges need not be at their ends.
    """
    alone = [(field,) for field in axes]
    yield [_block(known, part, axes) for part in alone]
    if len(axes) < 2:
        return
    mixed, whole = _mixed(known, axes), [tuple(axes)]
    for parts in [mixed, whole] if mixed != whole else [whole]:
        along: dict[int, Axis] | None = axes
        for _ in range(2):
            if along is not None and parts != alone and WORTH * _rows(parts, along) <= members:
                yield [_block(known, part, along) for part in parts]
                along = known.axes(beyond=along)


def _rows(parts: list[tuple[int, ...]], axes: dict[int, Axis]) -> int:
    return sum(math.prod(len(axes[field].nodes) for field in part) for part in parts)


def _block(known: _Known, fields: tuple[int, ...], axes: dict[int, Axis]) -> InterpolatedBlock:
    along = tuple(axes[field] for field in fields)
    grid = [known.near(dict(zip(fields, places, strict=True))) for places in product(*(each.nodes for each in along))]
    return InterpolatedBlock(fields, along, np.stack(grid).reshape(*(len(each.nodes) for each in along), -1))


def _fitted(known: _Known, blocks: list[InterpolatedBlock], trials: Array) -> Surrogate | None:
    """Return the interpolation whose combinations meet the trials best; None if they do not meet them."""
    middle, exact = known(known.center), np.stack([known(each) for each in trials])
    made = Surrogate(known.low, known.high, middle, blocks, np.full(middle.shape, ADDED), *known.all)
    moves = made.moves(trials)
    every = (made.together(len(trials), moves, np.full(middle.shape, kind)) for kind in KINDS)
    tried = np.stack([known.scale.excess(each, exact) for each in every])
    return replace(made, kinds=np.argmin(tried, axis=0)) if (tried.min(axis=0) <= 1).all() else None


def _mixed(known: _Known, axes: dict[int, Axis]) -> list[tuple[int, ...]]:
    """Return blocks of fields: two that change together in another way than by sums, products or sums of inverses."""
    part = {field: {field} for field in axes}
    singles = {field: _block(known, (field,), axes) for field in axes}
    for a, b in combinations(axes, 2):
        point = known.center.copy()
        point[[a, b]] = known.high[[a, b]]
        if part[a] is not part[b] and _fitted(known, [singles[a], singles[b]], point[None]) is None:
            part[a] |= part[b]
            for field in part[a]:
                part[field] = part[a]
    return sorted({tuple(sorted(each)) for each in part.values()})
