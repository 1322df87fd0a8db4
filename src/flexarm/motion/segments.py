"""Profiles as coefficient tables, which the compiled integration loop evaluates by itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace

import numpy as np

from flexarm.codegen.driver import SEGMENT
from flexarm.foundation.numbers import Array

TERMS = 12  # of the polynomials that stand for a formula
TOLERANCE = 1e-13  # of a formula's largest value, between it and these polynomials
MOST_INTERVALS = 4096
MOST_HALVINGS = 16  # of the first interval: what is still not smooth then has a kink
FIRST_INTERVALS = 8

# Chebyshev points on [-1, 1], and the coefficients of powers (highest first) of the polynomial through values there
POINTS = np.cos(np.pi * (np.arange(TERMS) + 0.5) / TERMS)
TO_POWERS = np.linalg.inv(np.vander(POINTS))
BETWEEN = np.cos(np.pi * np.arange(1, TERMS) / TERMS)  # where polynomials are farthest from what they stand for
TO_BETWEEN = np.vander(BETWEEN, TERMS) @ TO_POWERS


@dataclass(frozen=True, eq=False)
class Segment:
    """A function of time over a stretch without jumps: the sum of a parabola, a wave, a decay and a piecewise
    polynomial in s = scale t + shift.

    Attributes
    ----------
    knots : numpy.ndarray
        Where the pieces of the polynomial begin; the first and the last one extend beyond their ends.
    rows : numpy.ndarray
        Of each piece an origin, a factor and coefficients, the highest power first, in (s - origin) factor.
    """

    offset: float = 0.0
    slope: float = 0.0
    curvature: float = 0.0
    amplitude: float = 0.0
    frequency: float = 0.0  # rad/s
    phase: float = 0.0
    growth: float = 0.0  # rad/s2, of s^2
    decaying: float = 0.0
    decay_rate: float = 0.0  # 1/s
    knots: Array | None = None
    rows: Array | None = None
    scale: float = 1.0
    shift: float = 0.0

    def __post_init__(self) -> None:
        for name in ("knots", "rows"):
            if getattr(self, name) is not None:  # C reads them row by row
                object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name), dtype=float))

    @property
    def row(self) -> tuple[float, ...]:
        """The row of `SEGMENT`; its addresses are of arrays that live as long as this."""
        table = (0, 0, 0, 0)
        if self.knots is not None and self.rows is not None:
            table = len(self.knots), self.rows.shape[1] - 2, self.knots.ctypes.data, self.rows.ctypes.data
        line = self.scale, self.shift, self.offset, self.slope, self.curvature
        return *line, self.amplitude, self.frequency, self.phase, self.growth, self.decaying, self.decay_rate, *table

    def at(self, scale: float, shift: float) -> Segment:
        """Return this function of scale t + shift."""
        return replace(self, scale=self.scale * scale, shift=self.scale * shift + self.shift)


def fit_segment(function: Callable[[Array], Array], begin: float, end: float) -> Segment | None:
    """Return a piecewise polynomial that equals a function to rounding; None where it is not smooth enough for that."""
    edges = np.linspace(begin, end, FIRST_INTERVALS + 1)
    waiting = np.column_stack([edges[:-1], edges[1:]])
    found: list[Array] = []
    largest, count = 0.0, 0
    for _ in range(MOST_HALVINGS):
        middle, half = waiting.mean(axis=1), np.diff(waiting, axis=1)[:, 0] / 2
        times = middle[:, None] + half[:, None] * np.append(POINTS, BETWEEN)
        with np.errstate(all="ignore"):
            values = np.asarray(function(times.ravel()), dtype=float).reshape(times.shape)
        if not np.isfinite(values).all():
            return None
        largest = max(largest, float(np.abs(values).max()))
        through, between = values[:, :TERMS], values[:, TERMS:]
        well = np.abs(through @ TO_BETWEEN.T - between).max(axis=1) <= TOLERANCE * largest
        kept = np.column_stack([waiting[well, 0], middle[well], 1 / half[well], (through @ TO_POWERS.T)[well]])
        found.append(kept)
        count += len(kept)
        left = waiting[~well]
        if not len(left):
            table = np.concatenate(found)
            table = table[table[:, 0].argsort()]
            return Segment(knots=table[:, 0], rows=table[:, 1:])
        if count + 2 * len(left) > MOST_INTERVALS:
            return None
        middle = left.mean(axis=1)
        waiting = np.concatenate([np.column_stack([left[:, 0], middle]), np.column_stack([middle, left[:, 1]])])
    return None


class SegmentTable:
    """Segments as the compiled loop reads them; `array` has a row of `SEGMENT` for each."""

    def __init__(self, segments: Sequence[Segment]) -> None:
        self._segments = tuple(segments)  # addresses in the array are of theirs
        self.array = np.array([each.row for each in self._segments], dtype=SEGMENT)

    def replaced(self, first: int, segments: Sequence[Segment]) -> SegmentTable:
        """Return a table in which other segments stand from a place on."""
        out = copy(self)
        out._segments = (*self._segments, *segments)
        out.array = self.array.copy()
        for k, each in enumerate(segments, first):
            out.array[k] = each.row
        return out
