"""What drives a robot over time, as smooth pieces.

Where one ends and the next begins the integration puts a step boundary. Profiles serve as torques, as loads and as
motions of driven joints, for which their two rates are known.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import field
from functools import cached_property
from typing import Any

import numpy as np

from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.numbers import Array, real_array
from flexarm.foundation.sentences import shown
from flexarm.motion.outlook import Outlook, calm, together
from flexarm.motion.pieces import Piece, looked
from flexarm.motion.segments import Segment, Stretch
from flexarm.motion.tracing import at_symbol, is_symbol


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
    data: tuple[float, float] | None = field(default=None, compare=False, repr=False)
    """First and last time (s) of the data, if it was left open how the profile continues outside."""

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
        if isinstance(rate, (bool, float)) or rate not in (0, 1, 2):
            raise ValueError(f"rate = {shown(rate)}: must be 0 (the value), 1 or 2")
        if is_symbol(t):
            return at_symbol(self, t, rate)
        times = np.atleast_1d(real_array("t", t))
        if np.isnan(times).any():
            raise ValueError("t = nan: must be a time (s)")
        out = self.values(times, rate)
        return out if np.ndim(t) else float(out[0])

    def values(self, times: Array, rate: int = 0) -> Array:
        """The value (or its first or second `rate`) on an array of times that are known to be such."""
        out = np.empty(times.shape)
        if len(self.pieces) == 1 or times.size < 2:
            k = bisect_right(self.breaks, times.item()) if times.size == 1 else 0
            out[...] = self.pieces[k].value(times, rate)
            return out
        which = self._breaks.searchsorted(times, side="right")
        first, last = int(which.min()), int(which.max())
        for k in range(first, last + 1):
            here: Any = ... if first == last else which == k
            out[here] = self.pieces[k].value(times[here], rate)
        return out

    def segment(self, t: float, run: Stretch, rate: int = 0) -> Segment | None:
        """Return the coefficients of the piece (or its first or second `rate`) that holds at a time t of a `run`."""
        k = int(self._breaks.searchsorted(t, side="right"))
        piece, begin = self.pieces[k], self.breaks[k - 1] if k else -np.inf
        until = self.breaks[k] if k < len(self.breaks) else np.inf
        return piece.segment(run.within(begin, until), rate) if hasattr(piece, "segment") else None

    @cached_property
    def _breaks(self) -> Array:
        return np.array(self.breaks)

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


def require_data(force: Profile, name: str, duration: float | None = None) -> None:
    """Raise a ValueError if a force is needed outside its data and its value there was not specified.

    duration: that of the run (s); None if the run may be of any length.
    """
    if force.data is None:
        return
    first, last = force.data
    slack = 1e-9 * max(abs(first), abs(last))
    zero = 1e-9 * float(np.abs(force(np.linspace(first, last, 65))).max())
    before = first > slack and abs(float(force(first))) > zero
    later = duration is None or last < duration - slack
    if before or (later and abs(float(force(last))) > zero):
        run = "" if duration is None else f" and the run from 0 to {duration:g} s"
        raise ValueError(
            f"{name} = {force!r}: its data reach from {first:g} to {last:g} s{run}; specify its value outside of them: "
            "after='zero' or after='hold' (the end values), as in fa.spline(times, values, after='zero'); data that "
            "end at zero need none"
        )
