"""Results of a tool in a common form."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


class Failed(Exception):
    """The tool itself said that it did not get there."""


@dataclass(frozen=True)
class Result:
    times: np.ndarray  # s
    track: np.ndarray  # (times, axes), m: what the workload observes, a tip or a deflection
    loop: float  # s: the solver alone
    whole: float  # s: from the description to the results in arrays
    steps: int


@dataclass(frozen=True)
class Candidate:
    """A tool at one setting. `run` builds the model anew, solves it and raises when the tool reports a failure."""

    tool: str
    setting: str
    run: Callable[[], Result]


def lines(*functions: Callable[..., Any]) -> int:
    """Of code that a user writes: no blank lines, comments or docstrings."""
    return sum(_lines(function) for function in functions)


def _lines(function: Callable[..., Any]) -> int:
    text = inspect.getsource(function)
    if function.__doc__:
        text = text.replace(f'"""{function.__doc__}"""', "")
    return sum(bool(line.strip()) and not line.strip().startswith("#") for line in text.splitlines())
