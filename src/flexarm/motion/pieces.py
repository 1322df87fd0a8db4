"""Smooth pieces of profiles: their values and rates on arrays, and as CasADi expressions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.numbers import Array
from flexarm.motion.outlook import EIGHTH, Outlook, calm, steady, together
from flexarm.motion.probing import BLOCKS, LONGEST, block_scales, probed
from flexarm.motion.segments import Segment, Stretch, fit_segment
from flexarm.motion.tracing import Channel, traced

Function = Callable[[Any], Any]

DIFFERENCES = 16  # in the longest step that sees a function,
SHORTEST_DIFFERENCE = 1e-5  # s: unless rounding would drown them
MOST_KNOTS = 500  # of a spline in an expression: each costs some fifteen instructions whenever it is evaluated


class Piece(Protocol):
    """A smooth function of time and its two derivatives."""

    def value(self, t: Array, rate: int) -> Array:
        """On an array of times."""

    def expression(self, t: Any, rate: int) -> Any:
        """At a symbolic time."""

    def look(self, begin: float, end: float, rate: int) -> tuple[Piece, Outlook]:
        """How fast it is between two times, up to this rate; and itself, fit for that."""

    def segment(self, stretch: Stretch, rate: int) -> Segment | None:
        """Return its coefficients over a stretch; None where it can only be called."""


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
        found = self._at(t, rate, np.sin)
        return found if isinstance(found, np.ndarray) else np.full(t.shape, found, dtype=float)

    def expression(self, t: Any, rate: int) -> Any:
        import casadi as ca

        return self._at(t, rate, ca.sin)

    def look(self, begin: float, end: float, rate: int) -> tuple[Piece, Outlook]:
        if not self.amplitude * self.frequency:
            return self, calm()
        return self, steady(begin, end, EIGHTH * 2 * np.pi / abs(self.frequency))

    def segment(self, stretch: Stretch, rate: int) -> Segment | None:
        offset, slope, curvature, *_ = (*(self.offset, self.slope, self.bend)[rate:], 0.0, 0.0, 0.0)
        amplitude, phase = self.amplitude * self.frequency**rate, self.phase + rate * np.pi / 2
        return Segment(offset, slope, curvature, amplitude, self.frequency, phase)

    def _at(self, t: Any, rate: int, sine: Function) -> Any:
        value, *slopes = (self.offset, self.slope, self.bend)[rate:]
        smooth = value + (sum(slope * t**k / k for k, slope in enumerate(slopes, 1) if slope) if any(slopes) else 0)
        if not self.amplitude:
            return smooth
        angle = self.frequency * t + self.phase + rate * np.pi / 2
        return smooth + self.amplitude * self.frequency**rate * sine(angle)


@dataclass(frozen=True)
class Formula:
    """A formula of t in plain arithmetic and numpy functions; its rates come from CasADi."""

    function: Function
    channels: tuple[Channel, ...] = ()  # profiles inside

    def value(self, t: Array, rate: int) -> Array:
        if rate == 0:
            return np.broadcast_to(np.asarray(self.function(t), dtype=float), t.shape)
        return np.asarray(self._rates[rate](t[None, :]).full()[0])

    def expression(self, t: Any, rate: int) -> Any:
        return self._rates[rate](t)

    def look(self, begin: float, end: float, rate: int) -> tuple[Piece, Outlook]:
        inside = (each.look(begin, end) for each in self.channels)
        return self, together([_probed(self, begin, end, *range(rate + 1)), *inside])

    def segment(self, stretch: Stretch, rate: int) -> Segment | None:
        return fit_segment(lambda t: self.value(t, rate), stretch)

    @cached_property
    def _rates(self) -> list[Any]:
        """CasADi functions of the value and its two rates."""
        import casadi as ca

        t = ca.SX.sym("t")
        found = [traced(self.function, t)]
        for _ in range(2):
            found.append(ca.jacobian(found[-1], t))
        return [ca.Function("rate", [t], [ca.densify(each)]) for each in found]


@dataclass(frozen=True)
class Sweep:
    """amplitude sin(2 pi (start t + growth t^2 / 2)): a frequency that grows from `start` (Hz)."""

    amplitude: float
    start: float
    growth: float

    def value(self, t: Array, rate: int) -> Array:
        return np.asarray(self._at(t, rate, np.sin, np.cos), dtype=float)

    def expression(self, t: Any, rate: int) -> Any:
        import casadi as ca

        return self._at(t, rate, ca.sin, ca.cos)

    def look(self, begin: float, end: float, rate: int) -> tuple[Piece, Outlook]:
        """In parts along which the frequency grows by a quarter; the first is one in which it hardly turns."""
        if not self.amplitude or not (self.start or self.growth):
            return self, calm()
        if not self.growth:
            return self, steady(begin, end, EIGHTH / abs(self.start))
        still, slowest = -self.start / self.growth, 0.5 * abs(self.growth) ** 0.5
        fastest = max(slowest, abs(self.growth) * max(abs(begin - still), abs(end - still)))
        speeds = np.append(0.0, slowest * 1.25 ** np.arange(np.ceil(np.log(fastest / slowest) / np.log(1.25)) + 1))
        after = np.column_stack([speeds[:-1], speeds[1:]]) / abs(self.growth)
        both = np.vstack([still + after, still - after[:, ::-1]])
        stretches = np.column_stack([np.clip(both, begin, end), np.tile(EIGHTH / speeds[1:], 2)])
        return self, Outlook(stretches[stretches[:, 0] < stretches[:, 1]])

    def segment(self, stretch: Stretch, rate: int) -> Segment | None:
        if rate:
            return fit_segment(lambda t: self.value(t, rate), stretch)
        return Segment(amplitude=self.amplitude, frequency=2 * np.pi * self.start, growth=np.pi * self.growth)

    def _at(self, t: Any, rate: int, sine: Function, cosine: Function) -> Any:
        angle = 2 * np.pi * (self.start * t + self.growth / 2 * t**2)
        speed = 2 * np.pi * (self.start + self.growth * t)
        if rate == 0:
            return self.amplitude * sine(angle)
        if rate == 1:
            return self.amplitude * speed * cosine(angle)
        return self.amplitude * (2 * np.pi * self.growth * cosine(angle) - speed**2 * sine(angle))


@dataclass(frozen=True, eq=False)
class Spline:
    """A cubic spline through points."""

    curve: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Spline) and all(
            np.array_equal(getattr(self.curve, name), getattr(other.curve, name)) for name in ("x", "c")
        )

    def __hash__(self) -> int:
        return hash((self.curve.x.tobytes(), self.curve.c.tobytes()))

    def value(self, t: Array, rate: int) -> Array:
        return np.asarray(self.curve(t, rate))

    def look(self, begin: float, end: float, rate: int) -> tuple[Piece, Outlook]:
        """Knots may be dense where nothing happens, so it is probed as a function is; but no step need be shorter than
        from knot to knot."""
        knots, spacing = self.curve.x, np.diff(self.curve.x)
        first, last, finest = max(begin, float(knots[0])), min(end, float(knots[-1])), float(spacing.min())
        rates = (0, rate) if rate else (0,)
        found = _probed(self, first, last, *rates, noise=1e-13 / finest**rate, longest=2 * finest)
        stretches = found.stretches[found.stretches[:, 2] < np.inf]
        local = spacing[np.clip(np.searchsorted(knots, stretches[:, 0], side="right") - 1, 0, len(spacing) - 1)]
        stretches = np.column_stack([stretches[:, :2], np.maximum(stretches[:, 2], local)])
        unseen = (spacing < found.resolution) & (knots[1:] > begin) & (knots[:-1] < end)
        return self, Outlook(np.vstack([stretches, self._between_knots(rates)[unseen]]))

    def segment(self, stretch: Stretch, rate: int) -> Segment | None:
        curve = self.curve.derivative(rate) if rate else self.curve
        knots = np.array(curve.x[:-1], dtype=float)
        rows = np.column_stack([knots, np.ones(len(knots)), np.asarray(curve.c).T])
        return Segment(knots=knots, rows=rows)

    def _between_knots(self, rates: tuple[int, ...]) -> Array:
        """Stretches between knots that probes may miss: how fast a wave is that has such derivatives."""
        knots, spacing = self.curve.x, np.diff(self.curve.x)
        speed, blocks = np.zeros(len(spacing)), np.arange(len(spacing)) * BLOCKS // len(spacing)
        for rate in rates:
            curve = self.curve.derivative(rate) if rate else self.curve
            scale = block_scales(curve(knots)[:, None], np.zeros(1))[blocks, 0] / 2
            scale = np.maximum(scale, 1e-13 * np.abs(self.curve(knots)).max() / spacing**rate)
            for order in range(1, 4 - rate):
                change = np.abs(curve(knots, order))
                speed = np.maximum(speed, (np.maximum(change[:-1], change[1:]) / scale) ** (1 / order))
        with np.errstate(divide="ignore"):
            longest = np.maximum(spacing, EIGHTH * 2 * np.pi / speed)
        return np.column_stack([knots[:-1], knots[1:], longest])

    def expression(self, t: Any, rate: int) -> Any:
        import casadi as ca

        curve = self.curve.derivative(rate) if rate else self.curve
        if len(curve.x) > MOST_KNOTS:
            raise ValueError(
                f"a spline of {len(curve.x)} points (at most {MOST_KNOTS}) in a formula of something else than the "
                "time; take fewer points"
            )

        def pick(values: Array) -> Any:
            """The value that belongs to the interval of t."""
            inner = ca.DM(curve.x[1:-1])
            return float(values[0]) if len(values) == 1 else ca.pw_const(t, inner, ca.DM(values))

        s = t - pick(curve.x[:-1])
        out: Any = 0.0
        for row in curve.c:
            out = out * s + pick(row)
        return out


@dataclass(frozen=True)
class Opaque:
    """A Python function of t that can only be called; its rates are five-point differences."""

    function: Function
    step: float = 1e-3  # s

    def value(self, t: Array, rate: int) -> Array:
        weights = {0: {0: 1.0}, 1: {-2: 1 / 12, -1: -2 / 3, 1: 2 / 3, 2: -1 / 12}}.get(
            rate, {-2: -1 / 12, -1: 4 / 3, 0: -5 / 2, 1: 4 / 3, 2: -1 / 12}
        )
        values = (w * np.array([float(self.function(float(x))) for x in t + k * self.step]) for k, w in weights.items())
        return np.asarray(sum(values) / self.step**rate)

    def expression(self, t: Any, rate: int) -> Any:
        raise TypeError("a function that can only be called at numbers has no formula")

    def look(self, begin: float, end: float, rate: int) -> tuple[Piece, Outlook]:
        """With rates by differences that are as short as the function is fast."""
        values = _probed(self, begin, end, 0)
        if not rate:
            return self, values
        fit = replace(self, step=float(np.clip(values.longest / DIFFERENCES, SHORTEST_DIFFERENCE, self.step)))
        return fit, _probed(fit, begin, end, 0, rate, noise=4 * np.finfo(float).eps / fit.step**rate)

    def segment(self, stretch: Stretch, rate: int) -> Segment | None:
        """None: it is called at the times of steps and at no others."""
        return None


def looked(piece: Any, begin: float, end: float, rate: int) -> tuple[Piece, Outlook]:
    """How fast a piece is, also one of the user's that cannot tell."""
    if hasattr(piece, "look"):
        return piece.look(begin, end, rate)  # type: ignore[no-any-return]
    return piece, _probed(piece, begin, end, *range(rate + 1))


def _probed(
    piece: Piece, begin: float, end: float, *rates: int, noise: float = 0.0, longest: float = LONGEST
) -> Outlook:
    """Of a piece and these rates of it; `noise` in the last; intervals at first no longer than the `longest`."""

    def values(t: Array) -> Array:
        return np.stack([_until_failure(piece, t, rate) for rate in rates], axis=1)

    return probed(values, begin, end, np.append(np.zeros(len(rates) - 1), noise), min(longest, LONGEST))


def _until_failure(piece: Piece, t: Array, rate: int) -> Array:
    """Values at ascending times, not numbers from the first on at which the function fails: a run ends there."""
    out = np.full(t.shape, np.nan)
    low, high = 0, len(t)  # so many are known to succeed, and not more than so many do
    end = high
    while low < end:
        try:
            out[low:end] = piece.value(t[low:end], rate)
            low = end
        except Exception:
            high = end
        end = low + (high - low) // 2
    return out
