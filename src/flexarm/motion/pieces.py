"""Smooth pieces of profiles: their values and rates on arrays, and as CasADi expressions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.motion.tracing import traced

Function = Callable[[Any], Any]

MOST_KNOTS = 500  # of a spline in an expression: each costs some fifteen instructions whenever it is evaluated


class Piece(Protocol):
    """A smooth function of time and its two derivatives."""

    def value(self, t: Array, rate: int) -> Array:
        """On an array of times."""

    def expression(self, t: Any, rate: int) -> Any:
        """At a symbolic time."""


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
        return np.broadcast_to(np.asarray(self._at(t, rate, np.sin), dtype=float), t.shape)

    def expression(self, t: Any, rate: int) -> Any:
        import casadi as ca

        return self._at(t, rate, ca.sin)

    def _at(self, t: Any, rate: int, sine: Function) -> Any:
        terms = [self.offset, self.slope, self.bend][rate:]
        smooth = sum(term * t**k / max(k, 1) for k, term in enumerate(terms) if term)
        if not self.amplitude:
            return smooth
        angle = self.frequency * t + self.phase + rate * np.pi / 2
        return smooth + self.amplitude * self.frequency**rate * sine(angle)


@dataclass(frozen=True)
class Formula:
    """A formula of t in plain arithmetic and numpy functions; its rates come from CasADi."""

    function: Function

    def value(self, t: Array, rate: int) -> Array:
        if rate == 0:
            return np.broadcast_to(np.asarray(self.function(t), dtype=float), t.shape)
        return np.asarray(self._rates[rate](t[None, :]).full()[0])

    def expression(self, t: Any, rate: int) -> Any:
        return self._rates[rate](t)

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
    STEP = 1e-3

    def value(self, t: Array, rate: int) -> Array:
        weights = {0: {0: 1.0}, 1: {-2: 1 / 12, -1: -2 / 3, 1: 2 / 3, 2: -1 / 12}}.get(
            rate, {-2: -1 / 12, -1: 4 / 3, 0: -5 / 2, 1: 4 / 3, 2: -1 / 12}
        )
        values = (w * np.array([float(self.function(float(x))) for x in t + k * self.STEP]) for k, w in weights.items())
        return np.asarray(sum(values) / self.STEP**rate)

    def expression(self, t: Any, rate: int) -> Any:
        raise TypeError("a function that can only be called at numbers has no formula")
