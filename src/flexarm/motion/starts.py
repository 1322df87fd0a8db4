"""Accelerations of the equations of motion in many states."""

from __future__ import annotations

import numpy as np

from flexarm.codegen.loops import Many, Runner
from flexarm.foundation.numbers import Array

AT_ONCE = 250  # states a call


class Starts:
    """The start of a plant, of many states."""

    def __init__(self, runner: Runner, numbers: Array) -> None:
        function, still = runner.function, np.zeros(1)
        self._inputs = [np.zeros((AT_ONCE, function.numel_in(k))) for k in range(3)]
        self._outputs = [np.zeros((AT_ONCE, function.numel_out(k))) for k in range(function.n_out())]
        self._evaluate = Many(runner, [*self._inputs, still, still, numbers], self._outputs)

    def __call__(self, *columns: Array) -> list[Array]:
        """For rows of q, v, u: accelerations, powers put in and lost, with constraints their multipliers, in rows."""
        parts: list[list[Array]] = [[] for _ in self._outputs]
        for start in range(0, len(columns[0]), AT_ONCE):
            here = min(AT_ONCE, len(columns[0]) - start)
            for slot, column in zip(self._inputs, columns, strict=True):
                slot[:here] = column[start : start + here]
            self._evaluate(here)
            for part, slot in zip(parts, self._outputs, strict=True):
                part.append(slot[:here].copy())
        return [np.concatenate(part) for part in parts]
