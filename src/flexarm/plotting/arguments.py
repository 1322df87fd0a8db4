"""Validation of the arguments of figures and films."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np

from flexarm.foundation.messages import shown
from flexarm.foundation.validation import Array, real_array, whole_number
from flexarm.results.run import Run

MAX_POSTURE_COUNT = 1000  # in one figure: more take minutes and cannot be distinguished


def require_run(name: str, value: object) -> Run:
    if not isinstance(value, Run):
        raise TypeError(f"{name} = {shown(value)}: must be a run, as fa.simulate gives it")
    return value


def require_optional_run(name: str, value: object) -> Run | None:
    return None if value is None else require_run(name, value)


def require_names(name: str, values: Sequence[object]) -> list[str]:
    """Return names of quantities as a list of str; it is checked later whether the run has them."""
    for value in values:
        if not isinstance(value, str):
            raise TypeError(f"{name} = {shown(value)}: must be the name of a quantity, one of run.names")
    return [str(value) for value in values]


def require_bool(name: str, value: object) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} = {shown(value)}: must be True or False")
    return bool(value)


def select_times(name: str, run: Run, times: Any) -> Array:
    """Return times within the run (s); an integer is a number of evenly spaced times."""
    begin, end = float(run.time.values[0]), float(run.time.values[-1])
    if isinstance(times, Integral) and not isinstance(times, bool):
        if whole_number(name, times, least=1) > MAX_POSTURE_COUNT:
            raise ValueError(f"{name} = {times}: at most {MAX_POSTURE_COUNT} postures are drawn in one picture")
        return np.linspace(begin, end, times)
    if isinstance(times, (str, bytes)) or np.ndim(times) != 1 or not len(times):
        raise ValueError(f"{name} = {shown(times)}: must be times (s) in a list, or how many times")
    if len(times) > MAX_POSTURE_COUNT:
        raise ValueError(
            f"{name}: are {len(times)} times; at most {MAX_POSTURE_COUNT} postures are drawn in one picture"
        )
    found = real_array(name, times)
    for time in found:
        if not begin <= time <= end:
            raise ValueError(f"{name}: {time:g} s is outside the run, which goes from {begin:g} to {end:g} s")
    return found
