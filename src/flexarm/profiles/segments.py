"""Smooth segments of profiles: values and derivatives on arrays and as CasADi expressions, and bandwidths."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any, Protocol

import casadi as ca
import numpy as np

from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.validation import Array
from flexarm.profiles.bandwidth import (
    BLOCK_COUNT,
    MAX_INTERVAL_S,
    RESOLVED_PERIODS,
    Bandwidth,
    block_scales,
    combined_bandwidth,
    constant_bandwidth,
    sampled_bandwidth,
    unlimited_bandwidth,
)
from flexarm.profiles.coefficients import CoefficientSegment, Stretch, fit_segment
from flexarm.profiles.tracing import Channel, traced

Function = Callable[[Any], Any]

DIFFERENCES_PER_STEP = 16  # in the longest step that sees a function,
SHORTEST_DIFFERENCE = 1e-5  # s: unless rounding would drown them
MOST_KNOTS = 500  # of a spline in an expression: each costs some fifteen instructions whenever it is evaluated


class Segment(Protocol):
    """A smooth function of time and its two derivatives."""

    def value(self, t: Array, order: int) -> Array:
        """Evaluate the segment, or a derivative, on an array of times."""

    def expression(self, t: Any, order: int) -> Any:
        """Return the segment, or a derivative, at a symbolic time."""

    def look(self, begin: float, end: float, order: int) -> tuple[Segment, Bandwidth]:
        """Return the segment, prepared for evaluation, and its bandwidth between two times, up to a derivative."""

    def segment(self, stretch: Stretch, order: int) -> CoefficientSegment | None:
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

    def value(self, t: Array, order: int) -> Array:
        found = self._at(t, order, np.sin)
        return found if isinstance(found, np.ndarray) else np.full(t.shape, found, dtype=float)

    def expression(self, t: Any, order: int) -> Any:
        return self._at(t, order, ca.sin)

    def look(self, begin: float, end: float, order: int) -> tuple[Segment, Bandwidth]:
        if not self.amplitude * self.frequency:
            return self, unlimited_bandwidth()
        return self, constant_bandwidth(begin, end, RESOLVED_PERIODS * 2 * np.pi / abs(self.frequency))

    def segment(self, stretch: Stretch, order: int) -> CoefficientSegment | None:
        offset, slope, curvature, *_ = (*(self.offset, self.slope, self.bend)[order:], 0.0, 0.0, 0.0)
        amplitude, phase = self.amplitude * self.frequency**order, self.phase + order * np.pi / 2
        return CoefficientSegment(offset, slope, curvature, amplitude, self.frequency, phase)

    def _at(self, t: Any, order: int, sine: Function) -> Any:
        value, *slopes = (self.offset, self.slope, self.bend)[order:]
        smooth = value + (sum(slope * t**k / k for k, slope in enumerate(slopes, 1) if slope) if any(slopes) else 0)
        if not self.amplitude:
            return smooth
        angle = self.frequency * t + self.phase + order * np.pi / 2
        return smooth + self.amplitude * self.frequency**order * sine(angle)


@dataclass(frozen=True)
class Formula:
    """A formula of t in plain arithmetic and numpy functions; its rates come from CasADi."""

    function: Function
    channels: tuple[Channel, ...] = ()  # profiles inside

    def value(self, t: Array, order: int) -> Array:
        if order == 0:
            return np.broadcast_to(np.asarray(self.function(t), dtype=float), t.shape)
        return np.asarray(self._rates[order](t[None, :]).full()[0])

    def expression(self, t: Any, order: int) -> Any:
        return self._rates[order](t)

    def look(self, begin: float, end: float, order: int) -> tuple[Segment, Bandwidth]:
        inside = (each.look(begin, end) for each in self.channels)
        return self, combined_bandwidth([_probed(self, begin, end, *range(order + 1)), *inside])

    def segment(self, stretch: Stretch, order: int) -> CoefficientSegment | None:
        return fit_segment(lambda t: self.value(t, order), stretch)

    @cached_property
    def _rates(self) -> list[Any]:
        return derivative_functions(lambda t: traced(self.function, t))


def derivative_functions(formula: Callable[[ca.SX], Any]) -> list[ca.Function]:
    """Return CasADi functions of the value of a formula of t and of its first two derivatives."""
    t = ca.SX.sym("t")
    found = [ca.SX(formula(t))]
    for _ in range(2):
        found.append(ca.jacobian(found[-1], t))
    return [ca.Function("derivative", [t], [ca.densify(each)]) for each in found]


@dataclass(frozen=True)
class ChirpSegment:
    """amplitude sin(2 pi (start s + growth s^2 / 2)), s = t - t0: a frequency that grows from `start` (Hz)."""

    amplitude: float
    start: float
    growth: float
    t0: float = 0.0

    def value(self, t: Array, order: int) -> Array:
        return np.asarray(self._at(t, order, np.sin, np.cos), dtype=float)

    def expression(self, t: Any, order: int) -> Any:
        return self._at(t, order, ca.sin, ca.cos)

    def look(self, begin: float, end: float, order: int) -> tuple[Segment, Bandwidth]:
        """Return the bandwidth in parts along which the frequency grows by a quarter; in the first it hardly turns."""
        if not self.amplitude or not (self.start or self.growth):
            return self, unlimited_bandwidth()
        if not self.growth:
            return self, constant_bandwidth(begin, end, RESOLVED_PERIODS / abs(self.start))
        still, slowest = self.t0 - self.start / self.growth, 0.5 * abs(self.growth) ** 0.5
        fastest = max(slowest, abs(self.growth) * max(abs(begin - still), abs(end - still)))
        speeds = np.append(0.0, slowest * 1.25 ** np.arange(np.ceil(np.log(fastest / slowest) / np.log(1.25)) + 1))
        after = np.column_stack([speeds[:-1], speeds[1:]]) / abs(self.growth)
        both = np.vstack([still + after, still - after[:, ::-1]])
        stretches = np.column_stack([np.clip(both, begin, end), np.tile(RESOLVED_PERIODS / speeds[1:], 2)])
        return self, Bandwidth(stretches[stretches[:, 0] < stretches[:, 1]])

    def segment(self, stretch: Stretch, order: int) -> CoefficientSegment | None:
        if order:
            return fit_segment(lambda t: self.value(t, order), stretch)
        return CoefficientSegment(
            amplitude=self.amplitude, frequency=2 * np.pi * self.start, growth=np.pi * self.growth, shift=-self.t0
        )

    def _at(self, t: Any, order: int, sine: Function, cosine: Function) -> Any:
        s = t - self.t0
        angle = 2 * np.pi * (self.start * s + self.growth / 2 * s**2)
        speed = 2 * np.pi * (self.start + self.growth * s)
        if order == 0:
            return self.amplitude * sine(angle)
        if order == 1:
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

    def value(self, t: Array, order: int) -> Array:
        return np.asarray(self.curve(t, order))

    def look(self, begin: float, end: float, order: int) -> tuple[Segment, Bandwidth]:
        """Knots may be dense where nothing happens, so it is probed as a function is; but no step need be shorter than
        from knot to knot."""
        knots, spacing = self.curve.x, np.diff(self.curve.x)
        first, last, finest = max(begin, float(knots[0])), min(end, float(knots[-1])), float(spacing.min())
        orders = (0, order) if order else (0,)
        found = _probed(self, first, last, *orders, noise=1e-13 / finest**order, longest=2 * finest)
        stretches = found.stretches[found.stretches[:, 2] < np.inf]
        local = spacing[np.clip(np.searchsorted(knots, stretches[:, 0], side="right") - 1, 0, len(spacing) - 1)]
        stretches = np.column_stack([stretches[:, :2], np.maximum(stretches[:, 2], local)])
        unseen = (spacing < found.resolution) & (knots[1:] > begin) & (knots[:-1] < end)
        return self, Bandwidth(np.vstack([stretches, self._between_knots(orders)[unseen]]))

    def segment(self, stretch: Stretch, order: int) -> CoefficientSegment | None:
        curve = self.curve.derivative(order) if order else self.curve
        knots = np.array(curve.x[:-1], dtype=float)
        rows = np.column_stack([knots, np.ones(len(knots)), np.asarray(curve.c).T])
        return CoefficientSegment(knots=knots, rows=rows)

    def _between_knots(self, orders: tuple[int, ...]) -> Array:
        """Stretches between knots that probes may miss: how fast a wave is that has such derivatives."""
        knots, spacing = self.curve.x, np.diff(self.curve.x)
        speed, blocks = np.zeros(len(spacing)), np.arange(len(spacing)) * BLOCK_COUNT // len(spacing)
        for order in orders:
            curve = self.curve.derivative(order) if order else self.curve
            scale = block_scales(curve(knots)[:, None], np.zeros(1))[blocks, 0] / 2
            scale = np.maximum(scale, 1e-13 * np.abs(self.curve(knots)).max() / spacing**order)
            for further in range(1, 4 - order):
                change = np.abs(curve(knots, further))
                speed = np.maximum(speed, (np.maximum(change[:-1], change[1:]) / scale) ** (1 / further))
        with np.errstate(divide="ignore"):
            longest = np.maximum(spacing, RESOLVED_PERIODS * 2 * np.pi / speed)
        return np.column_stack([knots[:-1], knots[1:], longest])

    def expression(self, t: Any, order: int) -> Any:
        curve = self.curve.derivative(order) if order else self.curve
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

    def value(self, t: Array, order: int) -> Array:
        weights = {0: {0: 1.0}, 1: {-2: 1 / 12, -1: -2 / 3, 1: 2 / 3, 2: -1 / 12}}.get(
            order, {-2: -1 / 12, -1: 4 / 3, 0: -5 / 2, 1: 4 / 3, 2: -1 / 12}
        )
        values = (w * np.array([float(self.function(float(x))) for x in t + k * self.step]) for k, w in weights.items())
        return np.asarray(sum(values) / self.step**order)

    def expression(self, t: Any, order: int) -> Any:
        raise TypeError("a function that can only be called at numbers has no formula")

    def look(self, begin: float, end: float, order: int) -> tuple[Segment, Bandwidth]:
        """Return the bandwidth, found by calls; derivatives become differences as short as the function is fast."""
        values = _probed(self, begin, end, 0)
        if not order:
            return self, values
        fit = replace(self, step=float(np.clip(values.longest / DIFFERENCES_PER_STEP, SHORTEST_DIFFERENCE, self.step)))
        return fit, _probed(fit, begin, end, 0, order, noise=4 * np.finfo(float).eps / fit.step**order)

    def segment(self, stretch: Stretch, order: int) -> CoefficientSegment | None:
        """Return None: the function is called at the times of steps only."""
        return None


def segment_bandwidth(piece: Any, begin: float, end: float, order: int) -> tuple[Segment, Bandwidth]:
    """Return the bandwidth of a segment, also of one of the user's that does not provide it."""
    if hasattr(piece, "look"):
        return piece.look(begin, end, order)  # type: ignore[no-any-return]
    return piece, _probed(piece, begin, end, *range(order + 1))


def _probed(
    piece: Segment, begin: float, end: float, *orders: int, noise: float = 0.0, longest: float = MAX_INTERVAL_S
) -> Bandwidth:
    """Sample a segment and its derivatives; `noise` is that of the highest one."""

    def values(t: Array) -> Array:
        return np.stack([_until_failure(piece, t, order) for order in orders], axis=1)

    return sampled_bandwidth(
        values, begin, end, np.append(np.zeros(len(orders) - 1), noise), min(longest, MAX_INTERVAL_S)
    )


def _until_failure(piece: Segment, t: Array, order: int) -> Array:
    """Values at ascending times, not numbers from the first on at which the function fails: a run ends there."""
    out = np.full(t.shape, np.nan)
    low, high = 0, len(t)  # so many are known to succeed, and not more than so many do
    end = high
    while low < end:
        try:
            out[low:end] = piece.value(t[low:end], order)
            low = end
        except Exception:
            high = end
        end = low + (high - low) // 2
    return out
