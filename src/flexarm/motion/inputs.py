"""What drives a robot over time: profiles, tables, functions of t, feedback laws.

A profile is made of smooth pieces; where one ends and the next begins the integration puts a step boundary. Profiles
serve as torques, as loads and as motions of driven joints, for which their two rates are known.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.motion.tables import TableSource, points

Function = Callable[[Any], Any]


def traced(function: Callable[..., Any], *symbols: Any) -> Any:
    """A Python function of plain arithmetic and numpy functions as a CasADi expression."""
    import casadi as ca

    with warnings.catch_warnings():  # CasADi announces a change in how numpy functions treat its matrices
        warnings.simplefilter("ignore", FutureWarning)
        return ca.SX(function(*symbols))


class Piece(Protocol):
    """A smooth function of time and its two derivatives, on arrays."""

    def value(self, t: Array, rate: int) -> Array: ...


@dataclass(frozen=True)
class Wave:
    """offset + slope t + bend t^2 / 2 + amplitude sin(frequency t + phase), frequency in rad/s."""

    offset: float
    slope: float = 0.0
    bend: float = 0.0
    amplitude: float = 0.0
    frequency: float = 0.0
    phase: float = 0.0

    def value(self, t: Array, rate: int) -> Array:
        terms = [self.offset, self.slope, self.bend][rate:]
        smooth = sum(term * t**k / max(k, 1) for k, term in enumerate(terms) if term)
        if not self.amplitude:
            return np.broadcast_to(np.asarray(smooth, dtype=float), t.shape)
        angle = self.frequency * t + self.phase + rate * np.pi / 2
        return np.asarray(smooth + self.amplitude * self.frequency**rate * np.sin(angle))


@dataclass(frozen=True)
class Formula:
    """A formula of t in plain arithmetic and numpy functions; its rates come from CasADi."""

    function: Function

    def value(self, t: Array, rate: int) -> Array:
        if rate == 0:
            return np.broadcast_to(np.asarray(self.function(t), dtype=float), t.shape)
        return np.asarray(self._rate(rate)(t[None, :]).full()[0])

    def _rate(self, order: int) -> Any:
        """The CasADi function of a rate, made once."""
        import casadi as ca

        kept: dict[int, Any] = self.__dict__.setdefault("_rates", {})
        if order not in kept:
            symbol = ca.SX.sym("t")
            expression = traced(self.function, symbol)
            for _ in range(order):
                expression = ca.jacobian(expression, symbol)
            kept[order] = ca.Function("rate", [symbol], [ca.densify(expression)])
        return kept[order]


@dataclass(frozen=True)
class Spline:
    """A cubic spline through points."""

    curve: Any

    def value(self, t: Array, rate: int) -> Array:
        return np.asarray(self.curve(t, rate))


@dataclass(frozen=True)
class Opaque:
    """A Python function of t that can only be called; its rates are five-point differences."""

    function: Function
    STEP = 1e-3

    def value(self, t: Array, rate: int) -> Array:
        weights = {0: {0: 1.0}, 1: {-2: 1 / 12, -1: -2 / 3, 1: 2 / 3, 2: -1 / 12}}.get(
            rate, {-2: -1 / 12, -1: 4 / 3, 0: -5 / 2, 1: 4 / 3, 2: -1 / 12}
        )
        values = (w * np.array([float(self.function(float(x))) for x in t + k * self.STEP]) for k, w in weights.items())
        return np.asarray(sum(values) / self.STEP**rate)


@dataclass(frozen=True)
class Profile:
    """Smooth pieces in a row; each begins at its start (the first one reaches back) and ends where the next begins."""

    starts: tuple[float, ...]
    pieces: tuple[Piece, ...]
    name: str

    @property
    def breaks(self) -> tuple[float, ...]:
        """Times at which one piece gives way to the next."""
        return self.starts[1:]

    def __call__(self, t: Any, rate: int = 0) -> Any:
        """Value (or its first or second rate) at a time or an array of times."""
        times = np.atleast_1d(np.asarray(t, dtype=float))
        which = np.searchsorted(np.array(self.breaks), times, side="right")
        first, last = int(which.min(initial=len(self.breaks))), int(which.max(initial=0))
        out = np.empty(times.shape)
        for k in range(first, last + 1):
            here = slice(None) if first == last else which == k
            out[here] = self.pieces[k].value(times[here], rate)
        return out if np.ndim(t) else float(out[0])

    def __repr__(self) -> str:
        return self.name


def _pieces(name: str, *pieces: tuple[float, Piece]) -> Profile:
    return Profile(tuple(start for start, _ in pieces), tuple(piece for _, piece in pieces), name)


def constant(value: float) -> Profile:
    """Always the same."""
    return _pieces(f"constant({value:g})", (0.0, Wave(value)))


def bang_bang(amplitude: float, switch: Sequence[float]) -> Profile:
    """+amplitude until the first switch time, -amplitude until the second, and so on; zero after the last."""
    times = [float(value) for value in switch]
    _ascending("switch", times)
    signs = [(-1) ** k for k in range(len(times))] + [0]
    starts = [0.0, *times]
    return _pieces(
        f"bang_bang({amplitude:g}, {tuple(times)})",
        *((start, Wave(sign * amplitude)) for start, sign in zip(starts, signs, strict=True)),
    )


def step(amplitude: float, at: float = 0.0, before: float = 0.0) -> Profile:
    """`before` until time `at`, then `amplitude`."""
    return _pieces(f"step({amplitude:g}, at={at:g})", (0.0, Wave(before)), (at, Wave(amplitude)))


def ramp(start: float, end: float, begin: float, finish: float) -> Profile:
    """`start` until `begin`, then straight to `end` at `finish`, then `end`."""
    _ascending("begin, finish", [begin, finish])
    slope = (end - start) / (finish - begin)
    return _pieces(
        f"ramp({start:g}, {end:g}, {begin:g}, {finish:g})",
        (0.0, Wave(start)),
        (begin, Wave(start - slope * begin, slope)),
        (finish, Wave(end)),
    )


def sine(amplitude: float, frequency: float, phase: float = 0.0, offset: float = 0.0) -> Profile:
    """offset + amplitude sin(2 pi frequency t + phase), frequency in Hz."""
    return _pieces(
        f"sine({amplitude:g}, {frequency:g} Hz)",
        (0.0, Wave(offset, amplitude=amplitude, frequency=2 * np.pi * frequency, phase=phase)),
    )


def chirp(amplitude: float, start: float, end: float, duration: float) -> Profile:
    """A sine whose frequency runs linearly from `start` to `end` (Hz) over `duration`; zero after."""
    _positive("duration", duration)
    rate = (end - start) / duration
    return _pieces(
        f"chirp({amplitude:g}, {start:g} to {end:g} Hz)",
        (0.0, Formula(lambda t: amplitude * np.sin(2 * np.pi * (start * t + rate / 2 * t**2)))),
        (duration, Wave(0.0)),
    )


def cycloid(start: float, end: float, duration: float) -> Profile:
    """Rest to rest: a + (b - a)/T (t - T/(2 pi) sin(2 pi t/T)), then b."""
    _positive("duration", duration)
    T, rise = duration, end - start
    return _pieces(
        f"cycloid({start:g}, {end:g}, {duration:g})",
        (0.0, Wave(start, rise / T, amplitude=-rise / (2 * np.pi), frequency=2 * np.pi / T)),
        (T, Wave(end)),
    )


def spin_up(speed: float, duration: float) -> Profile:
    """An angle whose rate rises from 0 to `speed` (rad/s) as a cycloid over `duration`, then stays."""
    _positive("duration", duration)
    T = duration
    swing = speed * T / (2 * np.pi) ** 2
    rising = Wave(-swing, bend=speed / T, amplitude=swing, frequency=2 * np.pi / T, phase=np.pi / 2)
    return _pieces(f"spin_up({speed:g}, {duration:g})", (0.0, rising), (T, Wave(-speed * T / 2, speed)))


def spline(times: Sequence[float], values: Sequence[float]) -> Profile:
    """A cubic spline through points (not-a-knot ends), held at its end values outside."""
    from scipy.interpolate import CubicSpline

    t, x = np.asarray(times, dtype=float), np.asarray(values, dtype=float)
    _ascending("times", t.tolist())
    if x.shape != t.shape or len(t) < 2:
        raise ValueError(f"spline: {len(t)} times and {x.size} values; give at least two points of each")
    inside: Piece = Spline(CubicSpline(t, x))
    ends = (Wave(float(x[0])), Wave(float(x[-1])))
    return Profile((-np.inf, float(t[0]), float(t[-1])), (ends[0], inside, ends[1]), f"spline({len(t)} points)")


def table(source: TableSource, column: str | None = None) -> Profile:
    """A spline through a table: a CSV file with a header (first column the time), or {"t": ..., name: ...}."""
    return spline(*points(source, column))


def profile(given: Any, where: str) -> Profile:
    """A profile from whatever a user may give: a number, a profile, or a function of t."""
    if isinstance(given, Profile):
        return given
    if isinstance(given, (int, float, np.number)) and not isinstance(given, bool):
        if not np.isfinite(given):
            raise ValueError(f"{where} = {given}: must be finite")
        return constant(float(given))
    if isinstance(given, Mapping):
        return from_mapping(given, where)
    if callable(given):
        return Profile((0.0,), (_function_piece(given, where),), getattr(given, "__name__", "function"))
    raise TypeError(f"{where} = {given!r}: must be a number, a profile such as fa.bang_bang(...), or a function of t")


def _function_piece(function: Function, where: str) -> Piece:
    import casadi as ca

    try:
        probe = function(0.0)
        float(probe)
    except Exception as error:
        raise TypeError(f"{where}: calling the function at t = 0 failed ({type(error).__name__}: {error})") from None
    try:
        traced(function, ca.SX.sym("t"))
        vector = np.asarray(function(np.array([0.0, 0.1])), dtype=float)
        return Formula(function) if vector.shape in ((2,), ()) else Opaque(function)
    except Exception:  # whatever it does inside, it cannot be traced: call it time by time
        return Opaque(function)


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
    if kind not in PROFILES:
        raise ValueError(f"{where}.profile = {kind!r}: must be one of {', '.join(PROFILES)}")
    try:
        return PROFILES[kind](**fields)
    except TypeError as error:
        import inspect

        allowed = ", ".join(inspect.signature(PROFILES[kind]).parameters)
        raise ValueError(f"{where}: {kind} takes {allowed} ({error})") from None
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None


def _ascending(name: str, values: list[float]) -> None:
    if not all(np.isfinite(values)) or any(b <= a for a, b in pairwise(values)):
        raise ValueError(f"{name} = {values}: must be finite times in ascending order")


def _positive(name: str, value: float) -> None:
    if not (np.isfinite(value) and value > 0):
        raise ValueError(f"{name} = {value}: must be positive (s)")
