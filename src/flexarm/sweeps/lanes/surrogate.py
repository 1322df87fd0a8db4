"""Rows of members as smooth functions of what is swept, put together field by field.

To describe a robot takes longer than to run one in lanes. But its numbers are smooth in each field
(`interpolation.py`), and most of them are sums or products of what single fields do (a stiffness is that of the
material times that of the section), or sums in the inverse. Fields of which that is not true (a payload and the length
of its link) are a block, whose rows are computed on a grid. All this is found by trial, and checked against rows that
were computed, at the corners of all ranges and at members.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, product
from typing import Any

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.sweeps.lanes.interpolation import Axis, axis

CORNERS = 4  # fields: of as many all corners are looked at, by which sums and products are told apart
CHECKS = 6  # members, to see that it is right
WORTH = 3  # members for each row of a grid
TINY = np.finfo(float).tiny

Rows = Callable[[Array], Array]  # from a point, a number for each field, to a row

ADDED, MULTIPLIED, IN_INVERSE = KINDS = 0, 1, 2
"""How blocks work together in an entry: their changes add up, or multiply, or add up in the inverse of it."""


@dataclass(frozen=True)
class Scale:
    """With what errors are compared: by entry, a number of those among which it is, and how small they must be."""

    among: Any
    close: Array

    def largest(self, rows: Array) -> Array:
        """By entry of rows, the largest of those among which it is."""
        found = np.zeros(int(self.among.max()) + 1)
        np.maximum.at(found, self.among, np.abs(rows).max(axis=0))
        return np.asarray(np.maximum(found[self.among], TINY))

    def excess(self, found: Array, exact: Array) -> Array:
        """By entry the largest difference, as a share of what is allowed; infinite where there are no numbers."""
        off = (np.abs(found - exact) / self.largest(exact)).max(axis=0) / self.close
        return np.where(np.isfinite(off), off, np.inf)


@dataclass(frozen=True)
class Block:
    """Fields by their places, and rows (a node of the first, ..., entries) on the grid of their nodes."""

    fields: tuple[int, ...]
    axes: tuple[Axis, ...]
    rows: Array

    def at(self, local: Array, entries: Any) -> Array:
        """(points, entries) of points (points, all fields)."""
        rows = self.rows[..., entries]
        for k, (field, along) in enumerate(zip(self.fields, self.axes, strict=True)):
            rows = along.only(entries).at(local[:, field], rows, of_points=bool(k))
        return rows

    def moved(self, middle: Array) -> Any:
        """Which entries it changes."""
        return np.flatnonzero((self.rows != middle).reshape(-1, len(middle)).any(axis=0))


@dataclass(frozen=True)
class Surrogate:
    """Rows at any points within the ranges of the fields."""

    low: Array
    high: Array
    middle: Array
    blocks: Sequence[Block]
    kinds: Any  # by entry, how blocks work together
    points: Array  # at which rows were computed, and these
    rows: Array

    def __call__(self, points: Array) -> Array:
        return self.together(len(points), self.moves(points), self.kinds)

    def moves(self, points: Array) -> list[Array]:
        """By block, entries that it changes (points, entries), with all others in the middle."""
        spread = np.where(self.high > self.low, self.high - self.low, 1.0)
        local = (2 * points - self.low - self.high) / spread
        return [block.at(local, moved) for block, moved in self._moved]

    def together(self, points: int, moves: Sequence[Array], kinds: Any) -> Array:
        """What blocks do at so many points, put together by these kinds."""
        out = np.repeat(self.middle[None], points, axis=0)
        for (_, moved), now in zip(self._moved, moves, strict=True):
            out[:, moved] = _together(out[:, moved], now, self.middle[moved], kinds[moved])
        return out

    @cached_property
    def _moved(self) -> list[tuple[Block, Any]]:
        return [(each, each.moved(self.middle)) for each in self.blocks]


def _together(so_far: Array, now: Array, middle: Array, kinds: Any) -> Array:
    """What a block adds to what others have done so far; not numbers where that cannot be."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        multiplied = so_far * (now / middle)
        in_inverse = 1 / (1 / so_far + (1 / now - 1 / middle))
    return np.where(kinds == ADDED, so_far + (now - middle), np.where(kinds == MULTIPLIED, multiplied, in_inverse))


def surrogate(points: Array, row: Rows, scale: Scale, generator: np.random.Generator) -> Surrogate | None:
    """Of rows at the points of members, (members, fields); None where nothing of the kind meets them.

    row: computes one.
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
    """Rows that were computed, once at each point, and how well they must be met."""

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
        """With fields at places between -1 and 1 of their ranges, the others in the middle."""
        point = self.center.copy()
        for field, place in places.items():
            ends = {-1.0: self.low[field], 1.0: self.high[field]}
            half = (self.high[field] - self.low[field]) / 2
            point[field] = ends.get(place, self.center[field] + place * half)
        return self(point)

    @property
    def corners(self) -> Array:
        """Of the ranges: where what fields do together is most unlike what each of them does. Of many fields those of
        the first, and where all of them are low."""
        moving = np.flatnonzero(self.high > self.low).tolist()[:CORNERS]
        found = []
        for ends in product((False, True), repeat=len(moving)):
            point = self.high.copy()
            point[moving] = [(self.high if end else self.low)[field] for end, field in zip(ends, moving, strict=True)]
            found.append(point)
        return np.stack([*found, self.low])

    def axes(self, beyond: dict[int, Axis] | None = None) -> dict[int, Axis] | None:
        """By field, through the middle, with more nodes than those `beyond`; None where one cannot be met."""
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


def _partitions(known: _Known, axes: dict[int, Axis], members: int) -> Iterator[list[Block]]:
    """Fields by themselves; then those together of which some entry is no sum or product; then all together. As far as
    their grids are worth it; first with the nodes of single fields, then with more: what is enough in the middle need
    not be at the ends."""
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


def _block(known: _Known, fields: tuple[int, ...], axes: dict[int, Axis]) -> Block:
    along = tuple(axes[field] for field in fields)
    grid = [known.near(dict(zip(fields, places, strict=True))) for places in product(*(each.nodes for each in along))]
    return Block(fields, along, np.stack(grid).reshape(*(len(each.nodes) for each in along), -1))


def _fitted(known: _Known, blocks: list[Block], trials: Array) -> Surrogate | None:
    """With the kinds that meet the trials best, if they do."""
    middle, exact = known(known.center), np.stack([known(each) for each in trials])
    made = Surrogate(known.low, known.high, middle, blocks, np.full(middle.shape, ADDED), *known.all)
    moves = made.moves(trials)
    every = (made.together(len(trials), moves, np.full(middle.shape, kind)) for kind in KINDS)
    tried = np.stack([known.scale.excess(each, exact) for each in every])
    return replace(made, kinds=np.argmin(tried, axis=0)) if (tried.min(axis=0) <= 1).all() else None


def _mixed(known: _Known, axes: dict[int, Axis]) -> list[tuple[int, ...]]:
    """Fields in parts: those of which two, moved together, do what no sum, product or sum of inverses says."""
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
