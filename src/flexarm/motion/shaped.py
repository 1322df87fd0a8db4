"""Sums of delayed copies of a profile: what a shaper makes of a command."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.motion.outlook import Outlook, together
from flexarm.motion.pieces import Opaque, Piece, Wave
from flexarm.motion.profiles import Profile

Copy = tuple[float, float, Profile]  # amplitude, delay (s), what is delayed


@dataclass(frozen=True)
class Copies:
    """The sum of amplitude times profile(t - delay). Smooth between the breaks of all copies."""

    copies: tuple[Copy, ...]

    def value(self, t: Array, rate: int) -> Array:
        parts = (amplitude * _at(profile, t - delay, rate) for amplitude, delay, profile in self.copies)
        return np.asarray(sum(parts, np.zeros(np.shape(t))))

    def expression(self, t: Any, rate: int) -> Any:
        return sum(amplitude * profile.expression(t - delay, rate) for amplitude, delay, profile in self.copies)

    def look(self, begin: float, end: float, rate: int) -> tuple[Piece, Outlook]:
        found, outlooks = [], []
        for amplitude, delay, profile in self.copies:
            fit, outlook = profile.look(begin - delay, end - delay, rate)
            found.append((amplitude, delay, fit))
            outlooks.append(outlook.delayed(1.0, -delay))
        return Copies(tuple(found)), together(outlooks)


def _at(profile: Profile, t: Array, rate: int) -> Array:
    return np.asarray(profile(t, rate))


def copied(profile: Profile, amplitudes: Sequence[float], delays: Sequence[float], name: str) -> Profile:
    """The profile that is the sum of these copies; a function of t is held where it begins before t = 0."""
    profile = _held(profile)
    piece = Copies(tuple((float(a), float(d), profile) for a, d in zip(amplitudes, delays, strict=True)))
    breaks = sorted({each + float(delay) for delay in delays for each in profile.breaks if np.isfinite(each)})
    return Profile((-np.inf, *breaks), (piece,) * (len(breaks) + 1), name)


def _held(profile: Profile) -> Profile:
    """A function can often not be called before t = 0, where a run begins: there it stays as it is then."""
    if not isinstance(profile.pieces[0], Opaque) or profile.starts[0] > 0:
        return profile
    still = Wave(float(profile(0.0)))
    return Profile((-np.inf, 0.0, *profile.breaks), (still, *profile.pieces), profile.name)
