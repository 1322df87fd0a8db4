"""Python functions as CasADi expressions, and what cannot become one found out while it is tried.

A symbol has no value: `float(t)`, and with it `math.sin(t)` and SciPy's functions, would give a NaN that freezes what
depends on it. While a function is traced such conversions raise instead. Profiles of the time that it calls become
inputs, `Channel`s, so that they are as exact inside a law as anywhere else.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm.foundation.numbers import Array

if TYPE_CHECKING:
    from flexarm.motion.inputs import Profile

_here = threading.local()  # .depth: how many functions this thread is tracing; .trace: what they were told


class ConversionError(TypeError):
    """A symbol was asked for its value."""


@dataclass(frozen=True)
class Channel:
    """A profile (or a rate of it) at scale t + shift, computed outside the compiled step."""

    profile: Profile
    rate: int
    scale: float
    shift: float

    def __call__(self, t: Array) -> Array:
        return np.asarray(self.profile(self.scale * t + self.shift, self.rate))

    @property
    def breaks(self) -> tuple[float, ...]:
        """Times at which it may jump."""
        return tuple((each - self.shift) / self.scale for each in self.profile.breaks)


@dataclass
class Trace:
    """One function being traced: its time, and the channels that it turned out to have."""

    t: Any
    channels: list[Channel] = field(default_factory=list)
    symbols: list[Any] = field(default_factory=list)

    def channel(self, profile: Profile, t: Any, rate: int) -> Any:
        """The symbol of a profile at a time that is a t + b; None at any other time."""
        import casadi as ca

        if any(not ca.is_equal(each, self.t) for each in ca.symvar(t)):
            return None
        slope = ca.simplify(ca.jacobian(t, self.t))
        if not slope.is_constant() or not float(slope):
            return None
        wanted = Channel(profile, rate, float(slope), float(ca.substitute(t, self.t, 0)))
        if wanted not in self.channels:
            self.channels.append(wanted)
            self.symbols.append(ca.SX.sym(f"channel{len(self.symbols)}"))
        return self.symbols[self.channels.index(wanted)]


def traced(function: Callable[..., Any], *symbols: Any) -> Any:
    """A Python function of plain arithmetic and numpy functions as a CasADi expression."""
    import casadi as ca

    with _tracing(None):
        return ca.SX(function(*symbols))


@contextmanager
def tracing(t: Any) -> Iterator[Trace]:
    """Inside, profiles at the symbolic time `t` become channels."""
    trace = Trace(t)
    with _tracing(trace):
        yield trace


def at_symbol(profile: Profile, t: Any, rate: int) -> Any:
    """A profile at a symbolic time: a channel in a law that is being traced, a formula elsewhere."""
    trace = getattr(_here, "trace", None)
    found = trace.channel(profile, t, rate) if trace is not None and t.is_scalar() and _is_sx(t) else None
    return profile.expression(t, rate) if found is None else found


def is_symbol(value: Any) -> bool:
    """Whether it is a CasADi expression, without loading CasADi for those who have none."""
    return type(value).__module__.partition(".")[0] == "casadi" and type(value).__name__ in ("SX", "MX")


def _is_sx(value: Any) -> bool:
    return type(value).__name__ == "SX"


@contextmanager
def _tracing(trace: Trace | None) -> Iterator[None]:
    _guard_conversions()
    before = getattr(_here, "depth", 0), getattr(_here, "trace", None)
    _here.depth, _here.trace = before[0] + 1, before[1] if trace is None else trace
    try:
        with warnings.catch_warnings():  # CasADi announces a change in how numpy functions treat its matrices
            warnings.simplefilter("ignore", FutureWarning)
            yield
    finally:
        _here.depth, _here.trace = before


@cache
def _guard_conversions() -> None:
    """Have `float(symbol)` raise in threads that are tracing; elsewhere it stays what CasADi makes of it, a NaN."""
    import casadi as ca

    plain = ca.SX.__float__

    def guarded(self: Any, *args: Any) -> float:
        if getattr(_here, "depth", 0) and not self.is_constant():
            raise ConversionError(f"float({self}) asks a symbol for its value")
        return float(plain(self, *args))

    setattr(ca.SX, "__float__", guarded)  # noqa: B010
