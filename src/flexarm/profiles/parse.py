"""Profiles from arguments of users: numbers, functions of t, and entries of robot files."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import casadi as ca
import numpy as np

from flexarm.foundation.messages import shown
from flexarm.foundation.validation import Array, real_number
from flexarm.profiles.point_to_point import minimum_jerk, rest_to_rest, s_curve, trapezoid
from flexarm.profiles.profile import Profile
from flexarm.profiles.segments import Formula, Function, Opaque
from flexarm.profiles.standard import bang_bang, chirp, constant, cycloid, ramp, sine, spin_up, spline, step, table
from flexarm.profiles.tracing import Channel, tracing

PROFILES: dict[str, Callable[..., Profile]] = {
    "constant": constant,
    "bang-bang": bang_bang,
    "step": step,
    "ramp": ramp,
    "sine": sine,
    "chirp": chirp,
    "cycloid": cycloid,
    "minimum-jerk": minimum_jerk,
    "rest-to-rest": rest_to_rest,
    "trapezoid": trapezoid,
    "s-curve": s_curve,
    "spin-up": spin_up,
    "spline": spline,
    "table": table,
}
"""By the name that robot files have for them."""


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


PROBE_TIMES_S = (0.0, 1e-6, 2.7e-6)  # s: where a function is tried: it may not be defined beyond the run


def _function_profile(function: Function, where: str) -> Profile:
    """A function of t: a formula, with the breaks of the profiles in it, if it can be traced; else called as it is."""
    name = getattr(function, "__name__", "function")
    try:
        first, second = ([float(function(t)) for t in PROBE_TIMES_S] for _ in range(2))
    except Exception as error:
        is_law = "required positional" in str(error)
        hint = "; one law (t, q, v) is given for all actuators: torque=law" if is_law else ""
        failed = f"calling the function at t = 0 failed ({type(error).__name__}: {error})"
        raise TypeError(f"{where} = {shown(function)}: {failed}{hint}") from None
    if not np.array_equal(first, second, equal_nan=True):
        raise ValueError(
            f"{where} = {shown(function)}: gives something else each time it is called; a run calls it in no certain "
            "order, so draw random numbers before (fa.spline, fa.table)"
        )
    channels = _formula_channels(function, np.array(first))
    if channels is None:
        return Profile((0.0,), (Opaque(function),), name)
    breaks = sorted({each for channel in channels for each in channel.breaks})
    known = [channel.data for channel in channels if channel.data is not None]
    data = (max(first for first, _ in known), min(last for _, last in known)) if known else None
    return Profile((-np.inf, *breaks), (Formula(function, channels),) * (len(breaks) + 1), name, data=data)


def _formula_channels(function: Function, values: Array) -> tuple[Channel, ...] | None:
    """Profiles inside the function; None if it is no formula that arrays may be put into."""
    symbol = ca.SX.sym("t")
    try:
        with tracing(symbol) as trace:
            ca.SX(function(symbol))
        together = np.asarray(function(np.array(PROBE_TIMES_S)), dtype=float)
    except Exception:  # whatever it does inside, it cannot be traced: call it time by time
        return None
    if together.shape not in ((), values.shape) or not np.array_equal(np.broadcast_to(together, values.shape), values):
        return None
    return tuple(trace.channels)


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
