"""Profiles from rest to rest: by limits of speed, acceleration and jerk, or by polynomials."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import Any

import numpy as np

from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.validation import Array, real_number, whole_number
from flexarm.profiles.bandwidth import RESOLVED_PERIODS, Bandwidth, constant_bandwidth, unlimited_bandwidth
from flexarm.profiles.coefficients import CoefficientSegment, Stretch
from flexarm.profiles.profile import Profile, adjustable
from flexarm.profiles.segments import Segment, Wave
from flexarm.profiles.standard import interval

MOST_SMOOTH = 6  # derivatives that vanish at the ends: polynomials of degree 15 and more are ill-conditioned


@dataclass(frozen=True)
class Polynomial:
    """Segment c0 + c1 s + c2 s^2 + ..., with the time s since `start`."""

    start: float
    coefficients: tuple[float, ...]

    def value(self, t: Array, order: int) -> Array:
        return np.broadcast_to(np.asarray(self._at(t, order), dtype=float), np.shape(t))

    def expression(self, t: Any, order: int) -> Any:
        return self._at(t, order)

    def look(self, begin: float, end: float, order: int) -> tuple[Segment, Bandwidth]:
        """Return the step size that resolves the segment: any up to degree 3, else that of a wave of as many turns."""
        turns = len(self.coefficients) - 4 - (2 - order if order < 2 else 0)
        if turns <= 0 or not any(self.coefficients[4:]):
            return self, unlimited_bandwidth()
        return self, constant_bandwidth(begin, end, 2 * RESOLVED_PERIODS * (end - begin) / turns)

    def segment(self, stretch: Stretch, order: int) -> CoefficientSegment | None:
        derived = np.polynomial.polynomial.polyder(np.array(self.coefficients), order)
        return CoefficientSegment(knots=np.array([self.start]), rows=np.array([[self.start, 1.0, *derived[::-1]]]))

    def _at(self, t: Any, order: int) -> Any:
        s, out = t - self.start, 0.0 * t
        derived = np.polynomial.polynomial.polyder(np.array(self.coefficients), order)
        for each in reversed(derived.tolist()):
            out = out * s + each
        return out


@adjustable
def minimum_jerk(y0: float, y1: float, t0: float = 0.0, t1: float | None = None) -> Profile:
    """Return the motion from rest to rest with the least mean square jerk.

    Parameters
    ----------
    y0, y1 : float
        Values at rest, before and after the motion.
    t0, t1 : float
        Start and end of the motion (s). A single time is the end of a motion that starts at t = 0.

    Returns
    -------
    Profile

    Notes
    -----
    The motion is a polynomial of degree 5.

    Examples
    --------
    >>> minimum_jerk(0.0, 1.0, 2.0)(1.0)
    0.5
    """
    return _polynomial("minimum_jerk", y0, y1, *interval(t0, t1), 2)


@adjustable
def rest_to_rest(y0: float, y1: float, t0: float = 0.0, t1: float | None = None, *, smooth: int = 3) -> Profile:
    """Return the polynomial motion whose first derivatives vanish at both ends.

    Parameters
    ----------
    y0, y1 : float
        Values at rest, before and after the motion.
    t0, t1 : float
        Start and end of the motion (s). A single time is the end of a motion that starts at t = 0.
    smooth : int, optional
        Number of derivatives that vanish; the degree is 2 smooth + 1. With 1 it is a cubic, with 2 the motion of
        minimum jerk, with 3 (default) the jerk is continuous.

    Returns
    -------
    Profile

    Examples
    --------
    >>> rest_to_rest(0.0, 1.0, 2.0, smooth=3)(2.0, 2)
    0.0
    """
    return _polynomial("rest_to_rest", y0, y1, *interval(t0, t1), smooth)


def _polynomial(name: str, y0: float, y1: float, t0: float, t1: float, smooth: int) -> Profile:
    y0, y1, n = real_number("y0", y0), real_number("y1", y1), whole_number("smooth", smooth, least=1)
    if n > MOST_SMOOTH:
        raise ValueError(f"smooth = {n}: must be at most {MOST_SMOOTH}")
    unit = np.zeros(2 * n + 2)
    for k in range(n + 1):  # the step of degree 2 n + 1
        unit[n + 1 + k] = (-1) ** k * comb(n + k, k) * comb(2 * n + 1, n - k)
    scaled = (y1 - y0) * unit / (t1 - t0) ** np.arange(2 * n + 2)
    moving = Polynomial(t0, (y0, *scaled[1:].tolist()))
    return _profile(f"{name}({y0:g}, {y1:g}, {t0:g}, {t1:g})", y0, [(t0, moving)], t1, y1)


@adjustable
def trapezoid(y0: float, y1: float, speed: float, acceleration: float, *, t0: float = 0.0) -> Profile:
    """Return the fastest motion from rest to rest with limited speed and acceleration.

    Parameters
    ----------
    y0, y1 : float
        Values at rest, before and after the motion.
    speed : float
        Largest speed (1/s).
    acceleration : float
        Largest acceleration (1/s^2).
    t0 : float, optional
        Start of the motion (s).

    Returns
    -------
    Profile

    Notes
    -----
    If the distance is too short to reach the speed, its rate is a triangle.

    Examples
    --------
    >>> trapezoid(0.0, 1.0, speed=1.0, acceleration=2.0).breaks  # accelerated, steady, braked
    (0.0, 0.5, 1.0, 1.5)
    """
    y0, y1, t0 = real_number("y0", y0), real_number("y1", y1), real_number("t0", t0, "s")
    speed, acceleration = (
        real_number("speed", speed, "per s", above=0),
        real_number("acceleration", acceleration, "per s2", above=0),
    )
    way = abs(y1 - y0)
    reached = min(speed, (way * acceleration) ** 0.5)
    ramp = reached / acceleration
    times = [ramp, max(way / reached - ramp, 0.0) if reached else 0.0, ramp]
    name = f"trapezoid({y0:g}, {y1:g}, {speed:g}, {acceleration:g})"
    return _driven(name, y0, y1, t0, times, [acceleration, 0.0, -acceleration])


@adjustable
def s_curve(y0: float, y1: float, speed: float, acceleration: float, jerk: float, *, t0: float = 0.0) -> Profile:
    """Return the fastest motion from rest to rest with limited speed, acceleration and jerk.

    Parameters
    ----------
    y0, y1 : float
        Values at rest, before and after the motion.
    speed : float
        Largest speed (1/s).
    acceleration : float
        Largest acceleration (1/s^2).
    jerk : float
        Largest jerk (1/s^3).
    t0 : float, optional
        Start of the motion (s).

    Returns
    -------
    Profile

    Notes
    -----
    The motion has seven stretches of constant jerk, fewer if the distance is short.

    Examples
    --------
    >>> move = s_curve(0.0, 1.0, speed=1.0, acceleration=2.0, jerk=10.0)
    >>> float(abs(move(np.linspace(0, 3, 301), 2)).max()) <= 2.0 + 1e-9
    True
    """
    y0, y1, t0 = real_number("y0", y0), real_number("y1", y1), real_number("t0", t0, "s")
    given = {"speed": (speed, "per s"), "acceleration": (acceleration, "per s2"), "jerk": (jerk, "per s3")}
    limits = [real_number(limit, each, unit, above=0) for limit, (each, unit) in given.items()]
    rise, steady_rise, cruise = _seven(abs(y1 - y0), *limits)
    times = [rise, steady_rise, rise, cruise, rise, steady_rise, rise]
    name = f"s_curve({y0:g}, {y1:g}, {speed:g}, {acceleration:g}, {jerk:g})"
    return _driven(name, y0, y1, t0, times, [jerk, 0.0, -jerk, 0.0, -jerk, 0.0, jerk], order=3)


def _seven(way: float, speed: float, acceleration: float, jerk: float) -> tuple[float, float, float]:
    """Durations of rising acceleration, of the steady one, and of the speed held."""
    if way == 0:
        return 0.0, 0.0, 0.0
    rise = min(acceleration / jerk, (speed / jerk) ** 0.5, (way / (2 * jerk)) ** (1 / 3))
    top = jerk * rise
    # speed after rise, steady and fall of the acceleration: top (rise + steady); way: speed (2 rise + steady + cruise)
    held = max(speed / top - rise, 0.0)
    short = (-3 * rise + (rise**2 + 4 * way / top) ** 0.5) / 2  # no cruise: (rise + s)(2 rise + s) = way / top
    steady_rise = max(min(held, short), 0.0)
    reached = top * (rise + steady_rise)
    return rise, steady_rise, max(way / reached - 2 * rise - steady_rise, 0.0)


def _driven(
    name: str, start: float, end: float, t: float, times: Sequence[float], rates: Sequence[float], order: int = 2
) -> Profile:
    """Stretches in which a derivative of this order is constant, from rest."""
    sign = float(np.sign(end - start))
    state = [start, *[0.0] * (order - 1)]
    pieces: list[tuple[float, Segment]] = []
    for duration, rate in zip(times, rates, strict=True):
        if duration <= 0:
            continue
        taylor = [*state, sign * rate]
        coefficients = tuple(each / float(np.prod(np.arange(1, k + 1))) for k, each in enumerate(taylor))
        piece = Polynomial(t, coefficients)
        pieces.append((t, piece))
        t += duration
        derived = [np.polynomial.polynomial.polyder(np.array(coefficients), k) for k in range(order)]
        state = [float(np.polynomial.polynomial.polyval(duration, each)) for each in derived]
    return _profile(name, start, pieces, t, end)


def _profile(name: str, start: float, pieces: Sequence[tuple[float, Segment]], finish: float, end: float) -> Profile:
    starts = (-np.inf, *(begin for begin, _ in pieces), finish) if pieces else (-np.inf,)
    held = (Wave(start), *(piece for _, piece in pieces), Wave(end)) if pieces else (Wave(start),)
    return Profile(starts, held, name)
