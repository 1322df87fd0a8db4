"""Profiles of the time: steps, ramps, sines, splines, tables."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from flexarm.foundation.numbers import real_array, real_number
from flexarm.foundation.sentences import shown
from flexarm.motion.adjustable import adjustable
from flexarm.motion.pieces import Piece, Spline, Sweep, Wave
from flexarm.motion.profiles import Profile
from flexarm.motion.tables import TableSource, points


def _pieces(name: str, *pieces: tuple[float, Piece]) -> Profile:
    return Profile(tuple(start for start, _ in pieces), tuple(piece for _, piece in pieces), name)


@adjustable
def constant(value: float) -> Profile:
    """Always `value`.

    >>> constant(2.0)(0.5)
    2.0
    """
    value = real_number("value", value)
    return _pieces(f"constant({value:g})", (0.0, Wave(value)))


@adjustable
def bang_bang(amplitude: float, switch: Sequence[float]) -> Profile:
    """+amplitude until the first `switch` time (s), -amplitude until the second, and so on; zero after the last, and
    before t = 0 (where a delayed one comes from).

    >>> push = bang_bang(0.02, (1, 2))
    >>> push(0.5), push(1.5), push(2.5), push(-0.5)
    (0.02, -0.02, 0.0, 0.0)
    """
    amplitude, times = real_number("amplitude", amplitude), _ascending("switch", switch)
    if not times:
        raise ValueError(f"switch = {shown(switch)}: must have at least one time (s)")
    if times[0] <= 0:
        raise ValueError(f"switch = {shown(switch)}: must be times after 0 (s)")
    signs = [0] + [(-1) ** k for k in range(len(times))] + [0]
    starts = [-np.inf, 0.0, *times]
    return _pieces(
        f"bang_bang({amplitude:g}, {tuple(times)})",
        *((start, Wave(sign * amplitude)) for start, sign in zip(starts, signs, strict=True)),
    )


@adjustable
def step(amplitude: float, at: float = 0.0, before: float = 0.0) -> Profile:
    """`before` until time `at` (s), then `amplitude`.

    >>> step(3.0, at=1.0)(1.0)
    3.0
    """
    amplitude, at, before = (
        real_number("amplitude", amplitude),
        real_number("at", at, "s"),
        real_number("before", before),
    )
    return _pieces(f"step({amplitude:g}, at={at:g})", (0.0, Wave(before)), (at, Wave(amplitude)))


@adjustable
def ramp(start: float, end: float, begin: float, finish: float) -> Profile:
    """`start` until time `begin` (s), then straight to `end` at time `finish` (s), then `end`.

    >>> ramp(0.0, 2.0, 1.0, 3.0)(2.0)
    1.0
    """
    start, end = real_number("start", start), real_number("end", end)
    begin, finish = real_number("begin", begin, "s"), real_number("finish", finish, "s")
    if begin >= finish:
        raise ValueError(f"finish = {shown(finish)}: must be later than begin = {shown(begin)} (s)")
    slope = (end - start) / (finish - begin)
    return _pieces(
        f"ramp({start:g}, {end:g}, {begin:g}, {finish:g})",
        (0.0, Wave(start)),
        (begin, Wave(start - slope * begin, slope)),
        (finish, Wave(end)),
    )


@adjustable
def sine(amplitude: float, frequency: float, phase: float = 0.0, offset: float = 0.0) -> Profile:
    """offset + amplitude sin(2 pi frequency t + phase), `frequency` in Hz, `phase` in rad.

    >>> sine(2.0, 0.25)(1.0)
    2.0
    """
    amplitude, offset = real_number("amplitude", amplitude), real_number("offset", offset)
    frequency, phase = real_number("frequency", frequency, "Hz"), real_number("phase", phase, "rad")
    return _pieces(
        f"sine({amplitude:g}, {frequency:g} Hz)",
        (0.0, Wave(offset, amplitude=amplitude, frequency=2 * np.pi * frequency, phase=phase)),
    )


@adjustable
def chirp(amplitude: float, start: float, end: float, duration: float) -> Profile:
    """A sine of this `amplitude` whose frequency runs linearly from `start` to `end` (Hz) over `duration`; else zero.

    >>> chirp(1.0, 1.0, 5.0, 2.0)(2.5)
    0.0
    """
    amplitude, duration = real_number("amplitude", amplitude), real_number("duration", duration, "s", above=0)
    start, end = real_number("start", start, "Hz"), real_number("end", end, "Hz")
    return _pieces(
        f"chirp({amplitude:g}, {start:g} to {end:g} Hz)",
        (-np.inf, Wave(0.0)),
        (0.0, Sweep(amplitude, start, (end - start) / duration)),
        (duration, Wave(0.0)),
    )


@adjustable
def cycloid(start: float, end: float, duration: float) -> Profile:
    """From rest at `start` to rest at `end`: a + (b - a)/T (t - T/(2 pi) sin(2 pi t/T)), T = `duration`.

    >>> cycloid(0.0, 1.0, 2.0)(1.0)
    0.5
    """
    start, end = real_number("start", start), real_number("end", end)
    T, rise = real_number("duration", duration, "s", above=0), end - start
    return _pieces(
        f"cycloid({start:g}, {end:g}, {T:g})",
        (-np.inf, Wave(start)),
        (0.0, Wave(start, rise / T, amplitude=-rise / (2 * np.pi), frequency=2 * np.pi / T)),
        (T, Wave(end)),
    )


@adjustable
def spin_up(speed: float, duration: float) -> Profile:
    """An angle, 0 before t = 0, whose rate rises from 0 to `speed` (rad/s) as a cycloid over `duration`, then stays.

    >>> spin_up(3.0, 2.0)(5.0, 1)
    3.0
    """
    speed, T = real_number("speed", speed, "rad/s"), real_number("duration", duration, "s", above=0)
    swing = speed * T / (2 * np.pi) ** 2
    rising = Wave(-swing, bend=speed / T, amplitude=swing, frequency=2 * np.pi / T, phase=np.pi / 2)
    pieces = ((-np.inf, Wave(0.0)), (0.0, rising), (T, Wave(-speed * T / 2, speed)))
    return _pieces(f"spin_up({speed:g}, {T:g})", *pieces)


def spline(times: Sequence[float], values: Sequence[float], after: str | None = None) -> Profile:
    """Interpolate data by a cubic spline with not-a-knot ends.

    Parameters
    ----------
    times : sequence of float
        Times in ascending order (s).
    values : sequence of float
        Values at these times.
    after : {"hold", "zero"}, optional
        Value outside the data: "hold" keeps the first value before and the last value after them, "zero" is zero on
        both sides. If omitted, a motion or a reference holds its end values, and a torque or a load is refused if the
        run needs it outside the data, unless it ends (or begins) at zero. In a feedback law of your own it holds its
        end values.

    Returns
    -------
    Profile

    Examples
    --------
    >>> spline([0.0, 1.0, 2.0], [0.0, 1.0, 4.0], after="zero")(2.5)
    0.0
    >>> spline([0.0, 1.0, 2.0], [0.0, 1.0, 4.0])(1.5)
    2.25
    """
    from scipy.interpolate import CubicSpline

    t, x = np.array(_ascending("times", times)), real_array("values", values)
    if x.shape != t.shape or len(t) < 2:
        raise ValueError(f"values: {len(t)} times and {x.size} values; give at least two points of each")
    if not np.isfinite(x).all():
        raise ValueError(f"values[{int((~np.isfinite(x)).argmax())}] = {x[~np.isfinite(x)][0]}: must be finite")
    inside: Piece = Spline(CubicSpline(t, x))
    if after not in (None, "hold", "zero"):
        raise ValueError(f"after = {shown(after)}: must be 'hold' or 'zero'")
    kept = 0.0 if after == "zero" else 1.0
    starts, ends = (-np.inf, float(t[0]), float(t[-1])), (Wave(kept * float(x[0])), Wave(kept * float(x[-1])))
    data = starts[1:] if after is None else None
    return Profile(starts, (ends[0], inside, ends[1]), f"spline({len(t)} points)", data=data)


def table(source: TableSource, column: str | None = None, after: str | None = None) -> Profile:
    """Interpolate a column of a table by a cubic spline.

    Parameters
    ----------
    source : path or mapping
        A CSV file with a header whose first column is the time, or {"t": times, name: values}.
    column : str, optional
        Name of the column; required if there are several.
    after : {"hold", "zero"}, optional
        Value outside the data, as in `fa.spline`.

    Returns
    -------
    Profile

    See Also
    --------
    spline : Interpolate times and values.
    """
    return spline(*points(source, column), after=after)


def _ascending(name: str, values: Any) -> list[float]:
    given = real_array(name, values)
    times: list[float] = given.tolist() if given.ndim == 1 else []
    if given.ndim != 1 or not np.isfinite(given).all() or any(b <= a for a, b in pairwise(times)):
        raise ValueError(f"{name} = {shown(values)}: must be a list of finite times in ascending order (s)")
    return times
