"""Profiles derived from others: sums of delayed copies (input shaping), and third and fourth derivatives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.validation import Array
from flexarm.profiles.bandwidth import Bandwidth, combined_bandwidth, unlimited_bandwidth
from flexarm.profiles.coefficients import CoefficientSegment, Stretch, fit_segment
from flexarm.profiles.profile import Profile
from flexarm.profiles.segments import (
    ChirpSegment,
    Formula,
    Opaque,
    Segment,
    Spline,
    Wave,
    derivative_functions,
    segment_bandwidth,
)

DATA_SEGMENTS = (Wave, ChirpSegment, Spline)  # pieces whose values are given by their numbers


def pieces_of(profile: Profile) -> Iterator[Segment]:
    """Yield the pieces of a profile; of sums of copies, those that are copied."""
    pieces = [*profile.pieces]
    while pieces:
        piece = pieces.pop()
        if isinstance(piece, DelayedSum):
            pieces += [each.piece for each in piece.copies]
        else:
            yield piece


def joined(parts: Sequence[Profile], edges: Sequence[float], name: str) -> Profile:
    """Return a profile of splines, each between two edges; the first and the last hold outside."""
    pieces = (parts[0].pieces[0], *(each.pieces[1] for each in parts), parts[-1].pieces[2])
    return Profile((-np.inf, *edges), pieces, name)


@dataclass(frozen=True)
class DelayedSegment:
    """Segment times an amplitude, delayed (s); it is never evaluated before it begins."""

    amplitude: float
    delay: float
    piece: Segment
    began: float = -np.inf

    def value(self, t: Array, order: int) -> Array:
        return np.asarray(self.amplitude * self.piece.value(np.maximum(t - self.delay, self.began), order))

    def look(self, begin: float, end: float, order: int) -> tuple[DelayedSegment, Bandwidth]:
        first, last = max(begin - self.delay, self.began), end - self.delay
        if not first < last:  # but for rounding
            return self, unlimited_bandwidth()
        found, outlook = segment_bandwidth(self.piece, first, last, order)
        return DelayedSegment(self.amplitude, self.delay, found, self.began), outlook.delayed(1.0, -self.delay)


@dataclass(frozen=True)
class DelayedSum:
    """Sum of delayed copies.

    The segments of the profile that hold are stored for the whole time between two breaks: at a break, t - delay
    decides it only up to rounding.
    """

    copies: tuple[DelayedSegment, ...]

    def value(self, t: Array, order: int) -> Array:
        return np.asarray(sum((each.value(t, order) for each in self.copies), np.zeros(np.shape(t))))

    def expression(self, t: Any, order: int) -> Any:
        return sum(each.amplitude * each.piece.expression(t - each.delay, order) for each in self.copies)

    def look(self, begin: float, end: float, order: int) -> tuple[Segment, Bandwidth]:
        found, outlooks = zip(*(each.look(begin, end, order) for each in self.copies), strict=True)
        return DelayedSum(found), combined_bandwidth(outlooks)

    def segment(self, stretch: Stretch, order: int) -> CoefficientSegment | None:
        if any(isinstance(each.piece, Opaque) for each in self.copies):
            return None
        return fit_segment(lambda t: self.value(t, order), stretch)


def copied(profile: Profile, amplitudes: Sequence[float], delays: Sequence[float], name: str) -> Profile:
    """The profile that is the sum of these copies; a function of t is held where it begins before t = 0."""
    profile = _held(profile)
    pairs = [(float(amplitude), float(delay)) for amplitude, delay in zip(amplitudes, delays, strict=True)]
    ends = np.array(profile.breaks, dtype=float)
    starts = (-np.inf, *sorted({each for _, delay in pairs for each in (ends + delay).tolist() if np.isfinite(each)}))
    began = (-np.inf, *profile.breaks)

    def between(start: float) -> DelayedSum:
        which = [int(np.searchsorted(ends + delay, start, side="right")) for _, delay in pairs]
        return DelayedSum(
            tuple(DelayedSegment(*pair, profile.pieces[k], began[k]) for pair, k in zip(pairs, which, strict=True))
        )

    late = [delay for _, delay in pairs]
    data = None if profile.data is None else (profile.data[0] + min(late), profile.data[1] + max(late))
    return Profile(starts, tuple(between(start) for start in starts), name, data=data)


def _held(profile: Profile) -> Profile:
    """A function can often not be called before t = 0, where a run begins: there it stays as it is then."""
    if not isinstance(profile.pieces[0], (Formula, Opaque)) or profile.starts[0] > 0:
        return profile
    still = Wave(float(profile(0.0)))
    later = [(start, piece) for start, piece in zip(profile.breaks, profile.pieces[1:], strict=True) if start > 0]
    first = profile.pieces[int(np.searchsorted(np.array(profile.breaks), 0.0, side="right"))]
    starts, pieces = zip((-np.inf, still), (0.0, first), *later, strict=True)
    return Profile(starts, pieces, profile.name, data=profile.data)


@dataclass(frozen=True)
class SecondRate:
    """The second rate of a piece that has a formula; its rates come from CasADi."""

    of: Segment

    def value(self, t: Array, order: int) -> Array:
        if order == 0:
            return self.of.value(t, 2)
        return np.broadcast_to(self._rates[order](t[None, :]).full()[0], t.shape)

    def expression(self, t: Any, order: int) -> Any:
        return self._rates[order](t)

    def look(self, begin: float, end: float, order: int) -> tuple[Segment, Bandwidth]:
        """A wave and its rates are equally fast; so is, nearly, what is as smooth as a profile of this kind."""
        return self, segment_bandwidth(self.of, begin, end, 2)[1]

    def segment(self, stretch: Stretch, order: int) -> CoefficientSegment | None:
        return fit_segment(lambda t: self.value(t, order), stretch)

    @cached_property
    def _rates(self) -> list[Any]:
        return derivative_functions(lambda t: self.of.expression(t, 2))


def second_rate(profile: Profile, where: str) -> Profile:
    """Return the second derivative of a profile as a profile; its segments must have four derivatives.

    `where` begins the message if they have not.
    """
    for piece in profile.pieces:
        _require_smooth(piece, where, profile)
    return Profile(profile.starts, tuple(SecondRate(each) for each in profile.pieces), f"second rate of {profile.name}")


def _require_smooth(piece: Segment, where: str, profile: Profile) -> None:
    if isinstance(piece, DelayedSum):
        for each in piece.copies:
            _require_smooth(each.piece, where, profile)
    if isinstance(piece, (Opaque, Spline)):
        why = "a function that can only be called" if isinstance(piece, Opaque) else "a cubic spline"
        raise ValueError(
            f"{where} = {profile.name}: {why} has no third and fourth rates; give a formula of t or a profile, such as "
            "fa.rest_to_rest(0, 1, 2)"
        )
