"""What drives a robot over time: profiles, tables, functions of t, feedback laws.

A profile is made of smooth pieces; where one ends and the next begins the integration puts a step boundary. Profiles
serve as torques, as loads and as motions of driven joints, for which their two rates are known.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from itertools import pairwise
from typing import Any, ParamSpec

import numpy as np

from flexarm.foundation.numbers import Array, real_array, real_number
from flexarm.foundation.sentences import shown, suggestion
from flexarm.motion.outlook import Outlook, calm, together
from flexarm.motion.pieces import Formula, Function, Opaque, Piece, Spline, Sweep, Wave, looked
from flexarm.motion.tables import TableSource, points
from flexarm.motion.tracing import Channel, at_symbol, is_symbol, tracing

Given = ParamSpec("Given")


@dataclass(frozen=True)
class Made:
    """How a profile was made: the function, and what it was given by name."""

    function: Callable[..., Profile]
    given: Mapping[str, Any]


@dataclass(frozen=True)
class Profile:
    """Smooth pieces in a row; each begins at its start (the first one reaches back) and ends where the next begins."""

    starts: tuple[float, ...]
    pieces: tuple[Piece, ...]
    name: str
    made: Made | None = field(default=None, compare=False, repr=False)

    def changed(self, where: str, name: str, value: Any) -> Profile:
        """The same with another `value` of the number `name`, one of those that made it; `where` is what a sentence
        calls the profile."""
        if self.made is None:
            raise ValueError(f"{where}.{name}: {self!r} has no numbers by name; fa.bang_bang and its like have")
        if name not in self.made.given:
            raise ValueError(f"{where}.{name}: {self!r} has no '{name}'{suggestion(name, list(self.made.given))}")
        return self.made.function(**{**self.made.given, name: value})

    @property
    def breaks(self) -> tuple[float, ...]:
        """Times at which one piece gives way to the next."""
        return self.starts[1:]

    def jumps(self) -> list[tuple[float, float]]:
        """Times at which the value itself jumps, and by how much."""
        found = []
        for time, before, after in zip(self.breaks, self.pieces, self.pieces[1:], strict=False):
            sides = (before, np.nextafter(time, -np.inf)), (after, time)  # a function may be both pieces
            left, right = (float(piece.value(np.array([at]), 0)[0]) for piece, at in sides)
            if abs(right - left) > 1e-9 * max(1.0, abs(left), abs(right)):
                found.append((time, right - left))
        return found

    def __call__(self, t: Any, rate: int = 0) -> Any:
        """Value (or its first or second rate) at a time or an array of times; also at a symbol, inside a law."""
        if rate not in (0, 1, 2):
            raise ValueError(f"rate = {shown(rate)}: must be 0 (the value), 1 or 2")
        if is_symbol(t):
            return at_symbol(self, t, rate)
        times = np.atleast_1d(real_array("t", t))
        if np.isnan(times).any():
            raise ValueError("t = nan: must be a time (s)")
        which = np.searchsorted(np.array(self.breaks), times, side="right")
        first, last = int(which.min(initial=len(self.breaks))), int(which.max(initial=0))
        out = np.empty(times.shape)
        for k in range(first, last + 1):
            here = slice(None) if first == last else which == k
            out[here] = self.pieces[k].value(times[here], rate)
        return out if np.ndim(t) else float(out[0])

    def look(self, begin: float, end: float, rate: int) -> tuple[Profile, Outlook]:
        """How fast it is from `begin` to `end`, up to this `rate`; and itself, with breaks where functions jump."""
        starts: list[float] = []
        pieces: list[Piece] = []
        outlooks: list[Outlook] = []
        for start, stop, piece in zip(self.starts, (*self.breaks, np.inf), self.pieces, strict=True):
            first, last = max(start if starts else begin, begin), min(stop, end)
            found, outlook = looked(piece, first, last, rate) if first < last else (piece, calm())
            starts += [start, *outlook.jumps]
            pieces += [found] * (1 + len(outlook.jumps))
            outlooks.append(outlook)
        return Profile(tuple(starts), tuple(pieces), self.name), together(outlooks)

    def expression(self, t: Any, rate: int = 0) -> Any:
        """The value (or its first or second `rate`) as a CasADi expression of a symbolic time t."""
        import casadi as ca

        s = ca.SX.sym("t")
        out = self.pieces[0].expression(s, rate)
        for start, piece in zip(self.breaks, self.pieces[1:], strict=True):
            out = ca.if_else(s >= start, piece.expression(s, rate), out)
        return ca.Function("profile", [s], [out])(t)

    def __repr__(self) -> str:
        return self.name


def adjustable(make: Callable[Given, Profile]) -> Callable[Given, Profile]:
    """A function that makes profiles which know how they were made."""
    signature = inspect.signature(make)

    @wraps(make)
    def made(*arguments: Given.args, **named: Given.kwargs) -> Profile:
        found, given = make(*arguments, **named), signature.bind(*arguments, **named)
        given.apply_defaults()
        kept = {
            name: tuple(each) if isinstance(each, (list, np.ndarray)) else each
            for name, each in given.arguments.items()
        }
        return replace(found, made=Made(made, kept))  # what happens to a list later does not matter here

    return made


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


def spline(times: Sequence[float], values: Sequence[float]) -> Profile:
    """A cubic spline through `values` at `times` (not-a-knot ends), held at its end values outside.

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
    ends = (Wave(float(x[0])), Wave(float(x[-1])))
    return Profile((-np.inf, float(t[0]), float(t[-1])), (ends[0], inside, ends[1]), f"spline({len(t)} points)")


def table(source: TableSource, column: str | None = None) -> Profile:
    """A spline through a `column` of a table.

    source: a CSV file with a header, its first column the time, or {"t": ..., name: ...}.
    column: its name, needed where there are several.
    """
    return spline(*points(source, column))


def profile(given: Any, where: str) -> Profile:
    """A profile from whatever a user may give: a number, a profile, or a function of t."""
    if isinstance(given, Profile):
        return given
    if isinstance(given, (int, float, np.number)) and not isinstance(given, bool):
        return constant(real_number(where, given))
    if isinstance(given, Mapping):
        return from_mapping(given, where)
    if callable(given):
        return _function_profile(given, where)
    raise TypeError(
        f"{where} = {shown(given)}: must be a number, a profile such as fa.bang_bang(...), or a function of t"
    )


PROBES = (0.0, 1e-6, 2.7e-6)  # s: where a function is tried: it may not be defined beyond the run


def _function_profile(function: Function, where: str) -> Profile:
    """A function of t: a formula, with the breaks of the profiles in it, if it can be traced; else called as it is."""
    name = getattr(function, "__name__", "function")
    try:
        first, second = ([float(function(t)) for t in PROBES] for _ in range(2))
    except Exception as error:
        is_law = "required positional" in str(error)
        hint = "; one law (t, q, v) is given for all actuators: torque=law" if is_law else ""
        failed = f"calling the function at t = 0 failed ({type(error).__name__}: {error})"
        raise TypeError(f"{where}: {failed}{hint}") from None
    if not np.array_equal(first, second, equal_nan=True):
        raise ValueError(
            f"{where} = {shown(function)}: gives something else each time it is called; a run calls it in no certain "
            "order, so draw random numbers before (fa.spline, fa.table)"
        )
    channels = _formula_channels(function, np.array(first))
    if channels is None:
        return Profile((0.0,), (Opaque(function),), name)
    breaks = sorted({each for channel in channels for each in channel.breaks})
    return Profile((-np.inf, *breaks), (Formula(function, channels),) * (len(breaks) + 1), name)


def _formula_channels(function: Function, values: Array) -> tuple[Channel, ...] | None:
    """Profiles inside the function; None if it is no formula that arrays may be put into."""
    import casadi as ca

    symbol = ca.SX.sym("t")
    try:
        with tracing(symbol) as trace:
            ca.SX(function(symbol))
        together = np.asarray(function(np.array(PROBES)), dtype=float)
    except Exception:  # whatever it does inside, it cannot be traced: call it time by time
        return None
    if together.shape not in ((), values.shape) or not np.array_equal(np.broadcast_to(together, values.shape), values):
        return None
    return tuple(trace.channels)


PROFILES: dict[str, Callable[..., Profile]] = {
    "constant": constant,
    "bang-bang": bang_bang,
    "step": step,
    "ramp": ramp,
    "sine": sine,
    "chirp": chirp,
    "cycloid": cycloid,
    "spin-up": spin_up,
    "spline": spline,
    "table": table,
}


def from_mapping(given: Mapping[str, Any], where: str) -> Profile:
    """A profile from its YAML form: {profile: bang-bang, amplitude: 0.02, switch: [1, 2]}."""
    fields = dict(given)
    kind = fields.pop("profile", None)
    if not isinstance(kind, str) or kind not in PROFILES:
        raise ValueError(f"{where}.profile = {shown(kind)}: must be one of {', '.join(PROFILES)}")
    try:
        return PROFILES[kind](**fields)
    except TypeError as error:
        allowed = ", ".join(inspect.signature(PROFILES[kind]).parameters)
        raise ValueError(f"{where}: {kind} takes {allowed} ({error})") from None
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None


def _ascending(name: str, values: Any) -> list[float]:
    given = real_array(name, values)
    times: list[float] = given.tolist() if given.ndim == 1 else []
    if given.ndim != 1 or not np.isfinite(given).all() or any(b <= a for a, b in pairwise(times)):
        raise ValueError(f"{name} = {shown(values)}: must be a list of finite times in ascending order (s)")
    return times
