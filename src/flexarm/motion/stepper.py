"""Many steps in one call: a method's step map chained and compiled."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.mechanics.evaluate import Evaluator, tied
from flexarm.mechanics.native import compiled_library
from flexarm.motion.methods import Method, State
from flexarm.motion.plant import Plant
from flexarm.motion.report import Report, report

REPORTED = 250  # samples a call


class Stepper:
    """Up to `count` steps of a method; a step that is not accurate enough is the last.

    The arrays tied to the compiled function stay in place from call to call.
    """

    def __init__(self, plant: Plant, method: Method, count: int, native: bool, depends: list[object] | None) -> None:
        """`depends`: all that decides the functions but `count`, unless that cannot be told (a traced law)."""
        self.plant, self.method, self.count = plant, method, count

        def make() -> list[ca.Function]:
            chunk = _guarded(method.step(plant)).mapaccum("chunk", count)
            sizes = ca.Function("sizes", [], [ca.DM(plant.system._chain.coordinates.sizes)])
            return [chunk, plant.start, report(plant, REPORTED), sizes]

        names = ["chunk", "start", "report", "sizes"]
        functions = compiled_library(names, make, None if depends is None else [*depends, count]) if native else make()
        self.function, start, of_samples, sizes = functions
        self.start = Evaluator(start, [1, 0, 0, 1][: start.n_out()], native=False)
        self.report = Report(of_samples, REPORTED)
        self.sizes = np.asarray(sizes()["o0"].full()[:, 0])
        stages, size, measures = len(method.nodes), State.size(plant.n, plant.rows), self.function.size1_out(1)
        self._first = np.ones(size + 1)  # the state, and whether to go on
        self.inputs = np.zeros((count * stages, plant.input_count))  # a row per stage: a column to CasADi
        self.dt = np.zeros(count)
        self.limits = np.zeros((count, 2))
        self._after = np.zeros((count, size + 1))
        self.states = self._after[:, :size]
        self.errors, self.left = np.zeros((2, count, measures))
        arguments = (self._first, self.inputs, self.dt, self.limits)
        self._evaluate = tied(self.function, arguments, (self._after, self.errors, self.left))

    def __call__(self, state: Array, inputs: Array, dt: float, steps: int, limits: tuple[float, float]) -> int:
        """Take up to `steps` steps, and return how many were: the last is where errors, or what is left of the
        iteration, first exceed their limits. Fills `states` (after each step), `errors` and `left`."""
        self._first[:-1], self.inputs[: len(inputs)], self.limits[:] = state, inputs, limits
        self.dt[:steps], self.dt[steps:] = dt, 0.0
        self._evaluate()
        return min(steps, int(self._after[:steps, -1].sum()) + 1)


def _guarded(step: ca.Function) -> ca.Function:
    """A step that is taken only while all went well before, and dt is not zero."""
    before = ca.MX.sym("before", step.size1_in(0) + 1)  # the state, and whether to go on
    inputs, dt, limits = ca.MX.sym("inputs", step.sparsity_in(1)), ca.MX.sym("dt"), ca.MX.sym("limits", 2)
    given = [before, inputs, dt, limits]
    after, error, left = step(before[:-1], inputs, dt)
    well = ca.mmin(ca.vertcat(1, error <= limits[0], left <= limits[1]))  # a nan is never well
    taken = ca.Function("taken", given, [ca.vertcat(after, well), error, left])
    idle = [ca.MX.zeros(size.numel()) for size in (error, left)]
    skipped = ca.Function("skipped", given, [ca.vertcat(before[:-1], 0), *idle])
    either = ca.Function.if_else("either", taken, skipped)
    outcome: Any = either(ca.logic_and(before[-1], dt > 0), *given)
    return ca.Function("guarded", given, [*outcome])
