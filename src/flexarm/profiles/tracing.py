"""Trace Python functions into CasADi expressions.

A symbol has no value: `float(t)`, and with it `math.sin(t)` and functions of SciPy, would give a NaN that freezes
everything that depends on it. While a function is traced such conversions raise instead. Profiles of the symbolic time
become channels: inputs of the expression that are evaluated outside.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import field
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from flexarm.codegen.library import building
from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.validation import Array
from flexarm.profiles.bandwidth import Bandwidth
from flexarm.profiles.coefficients import CoefficientSegment, Stretch

if TYPE_CHECKING:
    from flexarm.profiles.profile import Profile

NO_VALUES = np.zeros(0)

_here = threading.local()  # .trace: that of the function being traced; .converted: the error of a conversion in it


class ConversionError(TypeError):
    """A symbol was converted to a number."""


@dataclass(frozen=True)
class Channel:
    """A profile (or a derivative of it) at scale t + shift, computed outside the compiled step."""

    profile: Profile
    order: int
    scale: float
    shift: float

    def __call__(self, t: Array) -> Array:
        """Evaluate the channel at times t.

        The segment is chosen by the channel's own breaks, which are step boundaries exactly; those of the profile would
        be met only up to rounding.
        """
        times, pieces = np.asarray(t, dtype=float), self.profile.pieces
        which = np.searchsorted(np.array(self.breaks), times, side="right")
        out = np.empty(times.shape)
        for k in np.unique(which):
            here, piece = which == k, pieces[k] if self.scale > 0 else pieces[len(pieces) - 1 - k]
            out[here] = piece.value(self.scale * times[here] + self.shift, self.order)
        return out

    def segment(self, t: float, run: Stretch) -> CoefficientSegment | None:
        """Return the coefficients of the piece that holds at a time t of a run."""
        k, pieces = int(np.searchsorted(np.array(self.breaks), t, side="right")), self.profile.pieces
        piece = pieces[k] if self.scale > 0 else pieces[len(pieces) - 1 - k]
        begin, until = self.breaks[k - 1] if k else -np.inf, self.breaks[k] if k < len(self.breaks) else np.inf
        own = run.within(begin, until).at(self.scale, self.shift)
        found = piece.segment(own, self.order) if hasattr(piece, "segment") else None
        return None if found is None else found.at(self.scale, self.shift)

    def look(self, begin: float, end: float) -> Bandwidth:
        """Return the bandwidth between two times."""
        first, last = sorted(self.scale * t + self.shift for t in (begin, end))
        return self.profile.look(first, last, self.order)[1].delayed(self.scale, self.shift)

    @property
    def data(self) -> tuple[float, float] | None:
        """First and last time of the profile's data, if its value outside was not specified. Rates vanish there."""
        if self.profile.data is None or self.order:
            return None
        first, last = sorted((each - self.shift) / self.scale for each in self.profile.data)
        return first, last

    @cached_property
    def breaks(self) -> tuple[float, ...]:
        """Times at which it may jump, ascending."""
        return tuple(sorted((each - self.shift) / self.scale for each in self.profile.breaks))


@dataclass
class Trace:
    """State of a function that is being traced: its time, symbols of known value, and channels."""

    t: Any
    known: Any
    values: Array
    channels: list[Channel] = field(default_factory=list)
    symbols: list[Any] = field(default_factory=list)

    def channel(self, profile: Profile, t: Any, order: int) -> Any:
        """Return the symbol of a profile at a time a t + b, where a and b depend on known symbols only; None at other
        times.
        """
        if ca.is_equal(t, self.t):
            return self._symbol(Channel(profile, order, 1.0, 0.0))
        if self.values.size:
            t = ca.substitute(t, self.known, self.values)
        if any(not ca.is_equal(each, self.t) for each in ca.symvar(t)):
            return None
        function = ca.Function("time", [self.t], [t, ca.jacobian(t, self.t)])
        operations = {function.instruction_id(k) for k in range(function.n_instructions())}
        if not operations <= _arithmetic():  # floor, fmod or a comparison may have a constant slope and yet jump
            return None
        (shift, slope), (_, elsewhere) = (map(float, function(at)) for at in (0.0, 1.0))
        if not slope or slope != elsewhere or not ca.SX(ca.jacobian(t, self.t)).is_constant():
            return None
        return self._symbol(Channel(profile, order, slope, shift))

    def _symbol(self, wanted: Channel) -> Any:
        if wanted not in self.channels:
            self.channels.append(wanted)
            self.symbols.append(ca.SX.sym(f"channel{len(self.symbols)}"))
        return self.symbols[self.channels.index(wanted)]


@cache
def _arithmetic() -> set[int]:
    """Operations of which a time a t + b can be made."""
    names = ("INPUT", "OUTPUT", "CONST", "ASSIGN", "ADD", "SUB", "MUL", "DIV", "NEG", "TWICE")
    return {getattr(ca, f"OP_{name}") for name in names}


def traced(function: Callable[..., Any], *symbols: Any) -> Any:
    """A Python function of plain arithmetic and numpy functions as a CasADi expression."""
    with _tracing(None):
        return ca.SX(function(*symbols))


@contextmanager
def tracing(t: Any, known: Any = None, values: Array = NO_VALUES) -> Iterator[Trace]:
    """Context in which profiles at the symbolic time `t` become channels; `known` symbols have these `values`."""
    trace = Trace(t, known, values)
    with _tracing(trace):
        _here.converted = None
        yield trace
        if _here.converted is not None:  # the function caught it, and went on without the value
            raise _here.converted


def at_symbol(profile: Profile, t: Any, order: int) -> Any:
    """A profile at a symbolic time: a channel in a law that is being traced, a formula elsewhere."""
    trace = getattr(_here, "trace", None)
    found = trace.channel(profile, t, order) if trace is not None and t.is_scalar() and isinstance(t, ca.SX) else None
    return profile.expression(t, order) if found is None else found


def is_symbol(value: Any) -> bool:
    """Return True for CasADi expressions."""
    return isinstance(value, (ca.SX, ca.MX))


@contextmanager
def _tracing(trace: Trace | None) -> Iterator[None]:
    before = getattr(_here, "trace", None)
    with building, _guarded_conversions(), silent_numpy_support():  # for all threads, so one after the other
        _here.trace = before if trace is None else trace
        try:
            yield
        finally:
            _here.trace = before


@contextmanager
def _guarded_conversions() -> Iterator[None]:
    """Make `float(symbol)` raise, and boolean masks select as in NumPy, while this thread traces a function.

    CasADi makes a nan of the former and reads the latter as the indices 1 and 0. The methods of `casadi.SX` are
    replaced during the call only, under the lock of all traces, and do in other threads what they always do.
    """
    plain, entry, thread = ca.SX.__float__, ca.SX.__getitem__, threading.get_ident()

    def guarded(self: Any, *args: Any) -> float:
        if threading.get_ident() == thread and not self.is_constant():
            _here.converted = ConversionError(f"float({self}) needs the value of a symbol")
            raise _here.converted
        return float(plain(self, *args))

    def masked(self: Any, key: Any) -> Any:
        if threading.get_ident() == thread and isinstance(key, (list, tuple, np.ndarray, bool)):
            mask = np.asarray(key)
            if mask.dtype == bool:
                key = np.flatnonzero(mask).tolist()
        return entry(self, key)

    ca.SX.__float__, ca.SX.__getitem__ = guarded, masked  # type: ignore[method-assign]
    try:
        yield
    finally:
        ca.SX.__float__, ca.SX.__getitem__ = plain, entry  # type: ignore[method-assign]


@contextmanager
def silent_numpy_support() -> Iterator[None]:
    """Do not let CasADi announce that its treatment of NumPy functions may change; under the lock `building`."""
    options = ca.GlobalOptions
    if not hasattr(options, "setNumpyMode"):  # before CasADi 3.8, which has nothing to announce
        yield
        return
    before = options.getNumpyMode()
    options.setNumpyMode(-1)
    try:
        yield
    finally:
        options.setNumpyMode(before)
