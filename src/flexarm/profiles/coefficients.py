"""Profiles as coefficient tables, which the compiled integration loop evaluates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace

import numpy as np
from numpy.polynomial import chebyshev

from flexarm.codegen.driver import SEGMENT_TYPE
from flexarm.foundation.validation import Array

TERM_COUNT = 12  # of the polynomials that stand for a formula
TOLERANCE = 1e-13  # of a formula's largest value, between it and these polynomials
MOST_INTERVALS = 4096
MOST_HALVINGS = 16  # of the first interval: what is still not smooth then has a kink

# From values at Chebyshev points on [-1, 1] to coefficients of Chebyshev polynomials; from these to values between the
# points, where they are farthest from what they stand for; and to coefficients of powers, the highest first
NODE_ANGLES = np.pi * (np.arange(TERM_COUNT) + 0.5) / TERM_COUNT
TO_CHEBYSHEV = 2 / TERM_COUNT * np.cos(np.outer(np.arange(TERM_COUNT), NODE_ANGLES))
TO_CHEBYSHEV[0] /= 2
CHECK_ANGLES = np.pi * np.arange(1, TERM_COUNT) / TERM_COUNT
TO_BETWEEN = np.cos(np.outer(CHECK_ANGLES, np.arange(TERM_COUNT)))
TO_POWERS = np.array([np.pad(chebyshev.cheb2poly(row), (0, TERM_COUNT))[:TERM_COUNT] for row in np.eye(TERM_COUNT)])[
    :, ::-1
]


@dataclass(frozen=True, eq=False)
class CoefficientSegment:
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

    def at(self, scale: float, shift: float) -> CoefficientSegment:
        """Return this function of scale t + shift."""
        return replace(self, scale=self.scale * scale, shift=self.scale * shift + self.shift)


@dataclass(frozen=True)
class Stretch:
    """A time without jumps; `edges_between` two times gives these and times between them, so near to each other that
    they see all that happens, or None where these would be too many."""

    begin: float
    end: float
    edges_between: Callable[[float, float], Array | None]

    def within(self, begin: float, end: float) -> Stretch:
        """Return the part of it between two times."""
        return Stretch(max(begin, self.begin), min(end, self.end), self.edges_between)

    def at(self, scale: float, shift: float) -> Stretch:
        """Return it on the clock scale t + shift."""

        def edges(begin: float, end: float) -> Array | None:
            own = self.edges_between(*sorted((each - shift) / scale for each in (begin, end)))
            return None if own is None else np.sort(scale * own + shift)

        begin, end = sorted(scale * each + shift for each in (self.begin, self.end))
        return Stretch(begin, end, edges)


def fit_segment(function: Callable[[Array], Array], stretch: Stretch) -> CoefficientSegment | None:
    """Return a piecewise polynomial that equals a function of times (s) to rounding; None where it is not smooth enough
    for that."""
    edges = stretch.edges_between(stretch.begin, stretch.end)
    if edges is None:
        return None
    waiting = np.column_stack([edges[:-1], edges[1:]])
    found: list[Array] = []
    largest, count = 0.0, 0
    for _ in range(MOST_HALVINGS):
        middle, half = waiting.mean(axis=1), np.diff(waiting, axis=1)[:, 0] / 2
        times = middle[:, None] + half[:, None] * np.cos(np.append(NODE_ANGLES, CHECK_ANGLES))
        try:
            with np.errstate(all="ignore"):
                values = np.asarray(function(times.ravel()), dtype=float).reshape(times.shape)
        except Exception:  # the run meets it when it comes there
            return None
        if not np.isfinite(values).all():
            return None
        largest = max(largest, float(np.abs(values).max()))
        coefficients, between = values[:, :TERM_COUNT] @ TO_CHEBYSHEV.T, values[:, TERM_COUNT:]
        well = np.abs(coefficients @ TO_BETWEEN.T - between).max(axis=1) <= TOLERANCE * largest
        kept = np.column_stack([waiting[well, 0], middle[well], 1 / half[well], (coefficients @ TO_POWERS)[well]])
        found.append(kept)
        count += len(kept)
        left = waiting[~well]
        if not len(left):
            table = np.concatenate(found)
            table = table[table[:, 0].argsort()]
            return CoefficientSegment(knots=table[:, 0], rows=table[:, 1:])
        if count + 2 * len(left) > MOST_INTERVALS:
            return None
        middle = left.mean(axis=1)
        waiting = np.concatenate([np.column_stack([left[:, 0], middle]), np.column_stack([middle, left[:, 1]])])
    return None


class SegmentTable:
    """Segments as the compiled loop reads them; `array` has a row of `SEGMENT` for each."""

    def __init__(self, segments: Sequence[CoefficientSegment]) -> None:
        self._segments = tuple(segments)  # addresses in the array are of theirs
        self.array = np.array([each.row for each in self._segments], dtype=SEGMENT_TYPE)

    def replaced(self, first: int, segments: Sequence[CoefficientSegment]) -> SegmentTable:
        """Return a table in which other segments stand from a place on."""
        out = copy(self)
        out._segments = (*self._segments, *segments)
        out.array = self.array.copy()
        for k, each in enumerate(segments, first):
            out.array[k] = each.row
        return out
