"""Accelerations of the equations of motion in many states."""

from __future__ import annotations

import numpy as np

from flexarm.codegen.loops import Runner, evaluate_rows
from flexarm.foundation.numbers import Array


class Starts:
    """The start of a plant, of many states."""

    def __init__(self, runner: Runner, numbers: Array) -> None:
        self._runner, self._fixed = runner, (np.zeros(1), np.zeros(1), numbers)

    def __call__(self, *columns: Array) -> list[Array]:
        """For rows of q, v, u: accelerations, powers put in and lost, with constraints their multipliers, in rows."""
        return evaluate_rows(self._runner, columns, *self._fixed)
