"""Standard profiles: steps, ramps, sines, chirps, cycloids, splines and tables."""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from flexarm.foundation.files import read_bytes
from flexarm.foundation.messages import shown, suggestion
from flexarm.foundation.validation import Array, real_array, real_number
from flexarm.profiles.profile import Profile, adjustable
from flexarm.profiles.segments import ChirpSegment, Segment, Spline, Wave

MOST_BYTES = 100_000_000

TableSource = str | os.PathLike[str] | Mapping[str, Sequence[float]]


def points(source: TableSource, column: str | None = None) -> tuple[list[float], list[float]]:
    """Return the times and values of one column of a table.

    The table is a CSV file with a header whose first column is the time, or a mapping {"t": ..., name: ...}.
    """
    if isinstance(source, Mapping):
        columns, where = {str(name): _column(f"source: {name}", values) for name, values in source.items()}, "source"
        if len({len(column) for column in columns.values()}) > 1:
            raise ValueError(f"source = {shown(source)}: its columns must be equally long")
    elif isinstance(source, (str, os.PathLike)) and os.fspath(source):
        columns, where = _read(os.fspath(source)), f"table {os.fspath(source)}"
    else:
        raise ValueError(f"source = {shown(source)}: must be the name of a CSV file, or a mapping of columns")
    time, *others = columns or [""]
    if column is None and len(others) != 1:
        raise ValueError(f"{where}: has {len(others)} columns after the time; choose one with column{_of(others)}")
    chosen = others[0] if column is None else column
    if chosen not in others:
        raise ValueError(f"{where}: column = {shown(column)}: there is no such column{suggestion(column, others)}")
    return columns[time].tolist(), columns[chosen].tolist()


def _column(where: str, values: object) -> Array:
    column = real_array(where, values)
    if column.ndim != 1 or not np.isfinite(column).all():
        raise ValueError(f"{where} = {shown(values)}: must be a list of finite numbers")
    return column


def _of(names: list[str]) -> str:
    return f": {suggestion('', names).removeprefix('; there are ')}" if names else ""


def _read(path: str) -> dict[str, Array]:
    rows = list(_rows(path))
    if not rows:
        raise ValueError(f"{path}: is empty; a table has a header and rows of numbers below it")
    (first, header), *body = rows
    if all(_number(cell) is not None for cell in header):
        raise ValueError(f"{path}:{first}: holds numbers, but a table begins with a header, such as t,torque")
    names = [name.strip() for name in header]
    if len(names) < 2:
        raise ValueError(f"{path}:{first}: the header has 1 column; a table has the time and at least one more")
    for k, name in enumerate(names):
        if not name or names.index(name) != k:
            raise ValueError(f"{path}:{first}: column {k + 1} of the header must have a name of its own")
    if len(body) < 2:
        raise ValueError(f"{path}: a table needs a header and at least two rows")
    values: list[list[float]] = [[] for _ in names]
    for line, row in body:
        if len(row) != len(names):
            raise ValueError(f"{path}:{line}: {len(row)} values in a row, but the header has {len(names)}")
        for k, cell in enumerate(row):
            number = _number(cell)
            if number is None or not math.isfinite(number):
                raise ValueError(f"{path}:{line}: column {k + 1}: must be a finite number")
            values[k].append(number)
        if len(values[0]) > 1 and values[0][-1] <= values[0][-2]:
            raise ValueError(f"{path}:{line}: column 1: times must ascend")
    return {name: np.array(column) for name, column in zip(names, values, strict=True)}


def _rows(path: str) -> Iterator[tuple[int, list[str]]]:
    """Rows that are not empty, each with its line."""
    try:
        text = read_bytes(path, MOST_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{path}: is not UTF-8 text") from None
    reader = csv.reader(io.StringIO(text, newline=""))
    try:
        for row in reader:
            if row:
                yield reader.line_num, row
    except csv.Error:
        raise ValueError(f"{path}:{reader.line_num}: cannot be read as CSV") from None


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _pieces(name: str, *pieces: tuple[float, Segment]) -> Profile:
    return Profile(tuple(start for start, _ in pieces), tuple(piece for _, piece in pieces), name)


@adjustable
def constant(value: float) -> Profile:
    """Return a constant profile.

    Parameters
    ----------
    value : float
        Its value.

    Returns
    -------
    Profile

    Examples
    --------
    >>> constant(2.0)(0.5)
    2.0
    """
    value = real_number("value", value)
    return _pieces(f"constant({value:g})", (0.0, Wave(value)))


@adjustable
def bang_bang(amplitude: float, switch: Sequence[float]) -> Profile:
    """Return a square pulse that changes its sign at given times.

    Parameters
    ----------
    amplitude : float
        Value until the first switch.
    switch : sequence of float
        Times (s) at which the sign changes; the profile is zero after the last one and before t = 0.

    Returns
    -------
    Profile

    Examples
    --------
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
def step(y0: float, y1: float, t0: float = 0.0) -> Profile:
    """Return a step.

    Parameters
    ----------
    y0, y1 : float
        Values before the step and from the step on.
    t0 : float, optional
        Time of the step (s).

    Returns
    -------
    Profile

    Examples
    --------
    >>> step(0.0, 3.0, 1.0)(1.0)
    3.0
    """
    y0, y1, t0 = real_number("y0", y0), real_number("y1", y1), real_number("t0", t0, "s")
    return _pieces(f"step({y0:g}, {y1:g}, {t0:g})", (0.0, Wave(y0)), (t0, Wave(y1)))


@adjustable
def ramp(y0: float, y1: float, t0: float = 0.0, t1: float | None = None) -> Profile:
    """Return a ramp between two constant values.

    Parameters
    ----------
    y0, y1 : float
        Values before and after the ramp.
    t0, t1 : float
        Start and end (s), between which the value changes linearly. A single time is the end of a ramp that starts at
        t = 0.

    Returns
    -------
    Profile

    Examples
    --------
    >>> ramp(0.0, 2.0, 1.0, 3.0)(2.0)
    1.0
    """
    y0, y1, (begin, end) = real_number("y0", y0), real_number("y1", y1), interval(t0, t1)
    slope = (y1 - y0) / (end - begin)
    return _pieces(
        f"ramp({y0:g}, {y1:g}, {begin:g}, {end:g})",
        (0.0, Wave(y0)),
        (begin, Wave(y0 - slope * begin, slope)),
        (end, Wave(y1)),
    )


@adjustable
def sine(amplitude: float, frequency: float, phase: float = 0.0, offset: float = 0.0) -> Profile:
    """Return a sine about a mean value, offset + amplitude sin(2 pi frequency t + phase).

    Parameters
    ----------
    amplitude : float
        Amplitude.
    frequency : float
        Frequency (Hz).
    phase : float, optional
        Phase (rad).
    offset : float, optional
        Mean value.

    Returns
    -------
    Profile

    Examples
    --------
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
def chirp(amplitude: float, f0: float, f1: float, t0: float = 0.0, t1: float | None = None) -> Profile:
    """Return a sine whose frequency changes linearly with time.

    Parameters
    ----------
    amplitude : float
        Amplitude.
    f0, f1 : float
        Frequencies at the start and at the end (Hz).
    t0, t1 : float
        Start and end (s); the profile is zero outside. A single time is the end of a chirp that starts at t = 0.

    Returns
    -------
    Profile

    Examples
    --------
    >>> chirp(1.0, 1.0, 5.0, 2.0)(2.5)
    0.0
    """
    amplitude, (begin, end) = real_number("amplitude", amplitude), interval(t0, t1)
    f0, f1 = real_number("f0", f0, "Hz"), real_number("f1", f1, "Hz")
    return _pieces(
        f"chirp({amplitude:g}, {f0:g} to {f1:g} Hz, {begin:g}, {end:g})",
        (-np.inf, Wave(0.0)),
        (begin, ChirpSegment(amplitude, f0, (f1 - f0) / (end - begin), begin)),
        (end, Wave(0.0)),
    )


@adjustable
def cycloid(y0: float, y1: float, t0: float = 0.0, t1: float | None = None) -> Profile:
    """Return a cycloidal motion from rest to rest.

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
    The value is y0 + (y1 - y0)/T (s - T/(2 pi) sin(2 pi s/T)), with s = t - t0 and T = t1 - t0.

    Examples
    --------
    >>> cycloid(0.0, 1.0, 2.0)(1.0)
    0.5
    """
    y0, y1, (begin, end) = real_number("y0", y0), real_number("y1", y1), interval(t0, t1)
    T, rise = end - begin, y1 - y0
    slope, frequency = rise / T, 2 * np.pi / T
    moving = Wave(y0 - slope * begin, slope, 0.0, -rise / (2 * np.pi), frequency, -frequency * begin)
    return _pieces(
        f"cycloid({y0:g}, {y1:g}, {begin:g}, {end:g})", (-np.inf, Wave(y0)), (begin, moving), (end, Wave(y1))
    )


@adjustable
def spin_up(speed: float, t0: float = 0.0, t1: float | None = None) -> Profile:
    """Return an angle whose rate rises from zero as a cycloid and then stays.

    Parameters
    ----------
    speed : float
        Final rate (rad/s).
    t0, t1 : float
        Start and end of the acceleration (s). A single time is the end of an acceleration that starts at t = 0.

    Returns
    -------
    Profile

    Notes
    -----
    The angle is zero before t0.

    Examples
    --------
    >>> spin_up(3.0, 2.0)(5.0, 1)
    3.0
    """
    speed, (begin, end) = real_number("speed", speed, "rad/s"), interval(t0, t1)
    T = end - begin
    swing, frequency, bend = speed * T / (2 * np.pi) ** 2, 2 * np.pi / T, speed / T
    offset, phase = bend * begin * begin / 2 - swing, np.pi / 2 - frequency * begin
    rising = Wave(offset, -bend * begin, bend, swing, frequency, phase)
    steady = Wave(-speed * T / 2 - speed * begin, speed)
    return _pieces(f"spin_up({speed:g}, {begin:g}, {end:g})", (-np.inf, Wave(0.0)), (begin, rising), (end, steady))


def interval(t0: float, t1: float | None) -> tuple[float, float]:
    """Return start and end (s); raise ValueError if the end is not later."""
    begin, end = real_number("t0", t0, "s"), real_number("t1", t1, "s")
    if begin >= end:
        raise ValueError(f"t1 = {shown(end)}: must be later than t0 = {shown(begin)} (s)")
    return begin, end


def spline(times: Sequence[float], values: Sequence[float], *, after: str | None = None) -> Profile:
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
    inside: Segment = Spline(CubicSpline(t, x))
    if after not in (None, "hold", "zero"):
        raise ValueError(f"after = {shown(after)}: must be 'hold' or 'zero'")
    kept = 0.0 if after == "zero" else 1.0
    starts, ends = (-np.inf, float(t[0]), float(t[-1])), (Wave(kept * float(x[0])), Wave(kept * float(x[-1])))
    data = starts[1:] if after is None else None
    return Profile(starts, (ends[0], inside, ends[1]), f"spline({len(t)} points)", data=data)


def table(source: TableSource, column: str | None = None, *, after: str | None = None) -> Profile:
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
