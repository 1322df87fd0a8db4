"""Profiles: functions of time made of smooth segments.

The integration takes a step boundary where one segment ends and the next begins. Profiles are torques, loads and
motions of driven joints, for which their first two derivatives are needed. A profile stores the function and the
numbers that made it, so that one of the numbers can be changed.
"""

from __future__ import annotations

import inspect
from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from functools import cached_property, wraps
from typing import Any, ParamSpec

import casadi as ca
import numpy as np

from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.messages import shown, suggestion
from flexarm.foundation.validation import Array, real_array
from flexarm.profiles.bandwidth import Bandwidth, combined_bandwidth, unlimited_bandwidth
from flexarm.profiles.coefficients import CoefficientSegment, Stretch
from flexarm.profiles.segments import Segment, segment_bandwidth
from flexarm.profiles.tracing import at_symbol, is_symbol


@dataclass(frozen=True)
class ProfileSource:
    """Function that made a profile, with its arguments by name."""

    function: Callable[..., Profile]
    given: Mapping[str, Any]


@dataclass(frozen=True)
class Profile:
    """Function of time made of smooth segments.

    Each segment begins at its start (the first one also holds before) and ends where the next one begins. Profiles are
    called with a time and, optionally, the order of a derivative: `profile(t)`, `profile(t, 1)`.

    Parameters
    ----------
    starts : tuple of float
        Times at which the segments begin (s).
    pieces : tuple of Segment
        The segments.
    name : str
        How the profile is printed.
    made : ProfileSource, optional
        Function and numbers that made it, so that one of the numbers can be changed.
    data : (float, float), optional
        First and last time of the data behind it (s).
    """

    starts: tuple[float, ...]
    pieces: tuple[Segment, ...]
    name: str
    made: ProfileSource | None = field(default=None, compare=False, repr=False)
    data: tuple[float, float] | None = field(default=None, compare=False, repr=False)
    """First and last time (s) of the data, if it was left open how the profile continues outside."""

    @property
    def breaks(self) -> tuple[float, ...]:
        """Times at which one segment ends and the next begins (s)."""
        return self.starts[1:]

    def jumps(self) -> list[tuple[float, float]]:
        """Return the times at which the value jumps, with the size of each jump.

        Returns
        -------
        list of (float, float)
        """
        found = []
        for time, before, after in zip(self.breaks, self.pieces, self.pieces[1:], strict=False):
            sides = (before, np.nextafter(time, -np.inf)), (after, time)  # a function may be both pieces
            left, right = (float(piece.value(np.array([at]), 0)[0]) for piece, at in sides)
            if abs(right - left) > 1e-9 * max(1.0, abs(left), abs(right)):
                found.append((time, right - left))
        return found

    def __call__(self, t: Any, order: int = 0) -> Any:
        """Evaluate the profile, or a derivative, at a time, an array of times, or a symbol inside a law.

        Parameters
        ----------
        t : float or array_like
            Times (s).
        order : {0, 1, 2}, optional
            Order of the derivative.

        Returns
        -------
        float or ndarray
        """
        if isinstance(order, (bool, float)) or order not in (0, 1, 2):
            raise ValueError(f"order = {shown(order)}: must be 0 (the value), 1 or 2")
        if is_symbol(t):
            return at_symbol(self, t, order)
        times = np.atleast_1d(real_array("t", t))
        if np.isnan(times).any():
            raise ValueError("t = nan: must be a time (s)")
        out = self.values(times, order)
        return out if np.ndim(t) else float(out[0])

    def values(self, times: Array, order: int = 0) -> Array:
        """Evaluate the profile, or a derivative, on an array of times.

        Parameters
        ----------
        times : ndarray
            Times (s), not checked.
        order : {0, 1, 2}, optional
            Order of the derivative.

        Returns
        -------
        ndarray
        """
        out = np.empty(times.shape)
        if len(self.pieces) == 1 or times.size < 2:
            k = bisect_right(self.breaks, times.item()) if times.size == 1 else 0
            out[...] = self.pieces[k].value(times, order)
            return out
        which = self._breaks.searchsorted(times, side="right")
        first, last = int(which.min()), int(which.max())
        for k in range(first, last + 1):
            here: Any = ... if first == last else which == k
            out[here] = self.pieces[k].value(times[here], order)
        return out

    def segment(self, t: float, run: Stretch, order: int = 0) -> CoefficientSegment | None:
        """Return the coefficients of the segment that holds at a time.

        Parameters
        ----------
        t : float
            Time (s).
        run : Stretch
            Stretch without jumps over which the coefficients hold.
        order : {0, 1, 2}, optional
            Order of the derivative.

        Returns
        -------
        CoefficientSegment or None
            None if the segment has no coefficients.
        """
        k = int(self._breaks.searchsorted(t, side="right"))
        piece, begin = self.pieces[k], self.breaks[k - 1] if k else -np.inf
        until = self.breaks[k] if k < len(self.breaks) else np.inf
        return piece.segment(run.within(begin, until), order) if hasattr(piece, "segment") else None

    @cached_property
    def _breaks(self) -> Array:
        return np.array(self.breaks)

    def look(self, begin: float, end: float, order: int) -> tuple[Profile, Bandwidth]:
        """Determine the bandwidth of the profile.

        Parameters
        ----------
        begin, end : float
            Part that is evaluated (s).
        order : int
            Order of the highest derivative that is needed.

        Returns
        -------
        tuple
            The profile with breaks where functions of the user jump, and its bandwidth.
        """
        starts: list[float] = []
        pieces: list[Segment] = []
        outlooks: list[Bandwidth] = []
        for start, stop, piece in zip(self.starts, (*self.breaks, np.inf), self.pieces, strict=True):
            first, last = max(start if starts else begin, begin), min(stop, end)
            found, outlook = (
                segment_bandwidth(piece, first, last, order) if first < last else (piece, unlimited_bandwidth())
            )
            starts += [start, *outlook.jumps]
            pieces += [found] * (1 + len(outlook.jumps))
            outlooks.append(outlook)
        return Profile(tuple(starts), tuple(pieces), self.name), combined_bandwidth(outlooks)

    def expression(self, t: Any, order: int = 0) -> Any:
        """Return the profile, or a derivative, as a CasADi expression.

        Parameters
        ----------
        t : casadi.SX or casadi.MX
            Symbolic time.
        order : {0, 1, 2}, optional
            Order of the derivative.

        Returns
        -------
        casadi.SX or casadi.MX
        """
        s = ca.SX.sym("t")
        out = self.pieces[0].expression(s, order)
        for start, piece in zip(self.breaks, self.pieces[1:], strict=True):
            out = ca.if_else(s >= start, piece.expression(s, order), out)
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


Given = ParamSpec("Given")


def with_numbers(given: Profile, where: str, numbers: Mapping[str, Any]) -> Profile:
    """A profile with other numbers of those that made it; `where` is what a sentence calls it."""
    for name in numbers:
        if given.made is None:
            raise ValueError(f"{where}.{name}: {given!r} has no numbers by name; fa.bang_bang and its like have")
        if name not in given.made.given:
            raise ValueError(f"{where}.{name}: {given!r} has no '{name}'{suggestion(name, list(given.made.given))}")
    return given if given.made is None else given.made.function(**{**given.made.given, **numbers})


def adjustable(make: Callable[Given, Profile]) -> Callable[Given, Profile]:
    """Decorate a function so that its profiles store how they were made.

    If only one of the times t0 and t1 is given, it is the end, and the profile begins at t = 0.
    """
    signature = inspect.signature(make)

    @wraps(make)
    def made(*arguments: Given.args, **named: Given.kwargs) -> Profile:
        try:
            given = signature.bind(*arguments, **named)
        except TypeError:
            return make(*arguments, **named)  # which raises an error that names the function
        given.apply_defaults()
        if given.arguments.get("t1", ...) is None:
            given.arguments |= {"t0": 0.0, "t1": given.arguments["t0"]}
        found = make(*given.args, **given.kwargs)
        kept = {
            name: tuple(each) if isinstance(each, (list, np.ndarray)) else each
            for name, each in given.arguments.items()
        }
        return replace(found, made=ProfileSource(made, kept))  # what happens to a list later does not matter here

    return made
