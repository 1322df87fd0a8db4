"""Arguments of figures and films, checked before anything is drawn."""

from __future__ import annotations

import os
from collections.abc import Sequence
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from flexarm.foundation.numbers import Array, real_array, real_number
from flexarm.foundation.sentences import shown
from flexarm.motion.run import Run

MAX_TIMES = 1000  # postures in a picture: more take minutes and cannot be told apart


def a_run(name: str, value: object) -> Run:
    if not isinstance(value, Run):
        raise TypeError(f"{name} = {shown(value)}: must be a run, as fa.simulate gives it")
    return value


def a_run_or_none(name: str, value: object) -> Run | None:
    return None if value is None else a_run(name, value)


def names(name: str, values: Sequence[object]) -> list[str]:
    """Names of quantities; whether the run has them is seen later."""
    for value in values:
        if not isinstance(value, str):
            raise TypeError(f"{name} = {shown(value)}: must be the name of a quantity, one of run.names")
    return [str(value) for value in values]


def flag(name: str, value: object) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} = {shown(value)}: must be True or False")
    return bool(value)


def count(name: str, value: object) -> int:
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} = {shown(value)}: must be a whole number, at least 1")
    return int(value)


def magnification(value: object) -> float:
    """How much larger than life deflections are drawn; 1 shows them as they are."""
    return real_number("magnify", value, least=0)


def file_name(name: str, value: object) -> Path:
    if not isinstance(value, (str, os.PathLike)) or not os.fspath(value):
        raise TypeError(f"{name} = {shown(value)}: must be the name of a file")
    return Path(os.fsdecode(value))


def times_of(name: str, run: Run, times: Any) -> Array:
    """Times inside the run (s); a whole number means so many, evenly spaced from its begin to its end."""
    begin, end = float(run.time.values[0]), float(run.time.values[-1])
    if isinstance(times, Integral) and not isinstance(times, bool):
        if count(name, times) > MAX_TIMES:
            raise ValueError(f"{name} = {times}: at most {MAX_TIMES} postures are drawn in one picture")
        return np.linspace(begin, end, times)
    if isinstance(times, (str, bytes)) or np.ndim(times) != 1 or not len(times):
        raise ValueError(f"{name} = {shown(times)}: must be times (s) in a list, or how many times")
    if len(times) > MAX_TIMES:
        raise ValueError(f"{name}: are {len(times)} times; at most {MAX_TIMES} postures are drawn in one picture")
    found = real_array(name, times)
    for time in found:
        if not begin <= time <= end:
            raise ValueError(f"{name}: {time:g} s is outside the run, which goes from {begin:g} to {end:g} s")
    return found
