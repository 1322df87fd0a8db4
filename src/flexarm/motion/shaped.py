"""Sums of delayed copies of a profile: what a shaper makes of a command."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.numbers import Array
from flexarm.motion.outlook import Outlook, calm, together
from flexarm.motion.pieces import Formula, Opaque, Piece, Spline, Sweep, Wave, looked
from flexarm.motion.profiles import Profile
from flexarm.motion.segments import Segment, Stretch, fit_segment

DATA = (Wave, Sweep, Spline)  # pieces whose values are given by their numbers


def pieces_of(profile: Profile) -> Iterator[Piece]:
    """Yield the pieces of a profile; of sums of copies, those that are copied."""
    pieces = [*profile.pieces]
    while pieces:
        piece = pieces.pop()
        if isinstance(piece, Copies):
            pieces += [each.piece for each in piece.copies]
        else:
            yield piece


@dataclass(frozen=True)
class Copy:
    """amplitude times a piece that is delayed (s), and that is never asked for times before it began."""

    amplitude: float
    delay: float
    piece: Piece
    began: float = -np.inf

    def value(self, t: Array, rate: int) -> Array:
        return np.asarray(self.amplitude * self.piece.value(np.maximum(t - self.delay, self.began), rate))

    def look(self, begin: float, end: float, rate: int) -> tuple[Copy, Outlook]:
        first, last = max(begin - self.delay, self.began), end - self.delay
        if not first < last:  # but for rounding
            return self, calm()
        found, outlook = looked(self.piece, first, last, rate)
        return Copy(self.amplitude, self.delay, found, self.began), outlook.delayed(1.0, -self.delay)


@dataclass(frozen=True)
class Copies:
    """A sum of copies. Which pieces of a profile they are is known for all of the time between two breaks: right at
    one, t - delay tells it only to rounding."""

    copies: tuple[Copy, ...]

    def value(self, t: Array, rate: int) -> Array:
        return np.asarray(sum((each.value(t, rate) for each in self.copies), np.zeros(np.shape(t))))

    def expression(self, t: Any, rate: int) -> Any:
        return sum(each.amplitude * each.piece.expression(t - each.delay, rate) for each in self.copies)

    def look(self, begin: float, end: float, rate: int) -> tuple[Piece, Outlook]:
        found, outlooks = zip(*(each.look(begin, end, rate) for each in self.copies), strict=True)
        return Copies(found), together(outlooks)

    def segment(self, stretch: Stretch, rate: int) -> Segment | None:
        if any(isinstance(each.piece, Opaque) for each in self.copies):
            return None
        return fit_segment(lambda t: self.value(t, rate), stretch)


def copied(profile: Profile, amplitudes: Sequence[float], delays: Sequence[float], name: str) -> Profile:
    """The profile that is the sum of these copies; a function of t is held where it begins before t = 0."""
    profile = _held(profile)
    pairs = [(float(amplitude), float(delay)) for amplitude, delay in zip(amplitudes, delays, strict=True)]
    ends = np.array(profile.breaks, dtype=float)
    starts = (-np.inf, *sorted({each for _, delay in pairs for each in (ends + delay).tolist() if np.isfinite(each)}))
    began = (-np.inf, *profile.breaks)

    def between(start: float) -> Copies:
        which = [int(np.searchsorted(ends + delay, start, side="right")) for _, delay in pairs]
        return Copies(tuple(Copy(*pair, profile.pieces[k], began[k]) for pair, k in zip(pairs, which, strict=True)))

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
