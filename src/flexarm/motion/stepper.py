"""Many steps in one call: a method's step map chained and compiled.

Code is shared by all runs that want the same; the arrays it works on belong to one run.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import casadi as ca
import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.mechanics.building import building
from flexarm.mechanics.evaluate import Evaluator, tied
from flexarm.mechanics.native import compiled_library
from flexarm.motion.methods import Method
from flexarm.motion.plant import Plant
from flexarm.motion.report import Report, report

REPORTED = 250  # samples a call
REMEMBERED = 16  # codes of different robots, methods, ... that are kept in memory; all of them are kept on disk

_codes: OrderedDict[tuple[object, ...], Sequence[ca.Function]] = OrderedDict()


class Stepper(Protocol):
    """What the loop over time needs of a method at work on a plant."""

    plant: Plant
    order: int
    estimate: int
    nodes: tuple[float, ...]
    count: int  # steps that one call takes at most
    states: Array  # after each step of the last call, in rows
    errors: Array  # made in each step, as displacements of the links (m)
    left: Array  # accelerations that the iteration still corrected, as displacements a second squared
    sizes: Array  # what is large for each coordinate
    report: Report

    def __call__(self, state: Array, inputs: Array, dt: float, steps: int, limits: tuple[float, float]) -> int:
        """Take up to `steps` steps, and return how many were: the last is where errors, or what is left of the
        iteration, first exceed their limits. Fills `states`, `errors` and `left`."""

    def start(self, q: Array, v: Array, u: Array, dt: float) -> list[Array]:
        """Accelerations, power of the inputs, power dissipated and, with constraints, their multipliers, for a first
        step of size dt."""

    def stronger(self) -> Stepper | None:
        """One whose iteration goes further, if there is any."""


@dataclass(frozen=True)
class Code:
    """Functions of one plant and method: a chunk of steps, the start, the report of samples, sizes of coordinates."""

    NAMES = ("chunk", "start", "report", "sizes")

    chunk: ca.Function
    start: ca.Function
    report: ca.Function
    sizes: ca.Function

    @staticmethod
    def of(plant: Plant, method: Method, count: int, native: bool) -> Code:
        """Made, or found where it was made before."""

        def make() -> list[ca.Function]:
            chunk = _guarded(method.step(plant)).mapaccum("chunk", count)
            sizes = ca.Function("sizes", [], [ca.DM(plant.system.sizes)])
            return [chunk, plant.start, report(plant, REPORTED), sizes]

        decides = None if method.identity is None else (*plant.identity, method.identity, count, native)
        return Code(*_remembered(decides, lambda: _compiled(make, decides) if native else make()))


def _compiled(make: Callable[[], list[ca.Function]], decides: Sequence[object] | None) -> Sequence[ca.Function]:
    return compiled_library(Code.NAMES, make, None if decides is None else list(decides))


def _remembered(key: tuple[object, ...] | None, make: Callable[[], Sequence[ca.Function]]) -> Sequence[ca.Function]:
    with building:
        if key is None:
            return make()
        if key not in _codes:
            _codes[key] = make()
            while len(_codes) > REMEMBERED:
                _codes.popitem(last=False)
        _codes.move_to_end(key)
        return _codes[key]


class CompiledStepper:
    """Up to `count` steps of a method; a step that is not accurate enough is the last. (A `Stepper`.)

    The arrays tied to the compiled function stay in place from call to call.
    """

    def __init__(self, plant: Plant, method: Method, count: int, native: bool) -> None:
        self.plant, self.method, self.count, self._native = plant, method, count, native
        self.order, self.estimate, self.nodes = method.order, method.estimate, method.nodes
        code = Code.of(plant, method, count, native)
        self._start = Evaluator(code.start, [1, 0, 0, 1][: code.start.n_out()], native=False)
        self.report = Report(code.report, REPORTED)
        self.sizes = np.asarray(code.sizes()["o0"].full()[:, 0])
        size, measures = plant.layout.size, code.chunk.size1_out(1)
        self._first = np.ones(size + 1)  # the state, and whether to go on
        self._inputs = np.zeros((count * len(method.nodes), plant.input_count))  # a row per stage: a column to CasADi
        self._dt = np.zeros(count)
        self._limits = np.zeros((count, 2))
        self._after = np.zeros((count, size + 1))
        self.states = self._after[:, :size]
        self.errors, self.left = np.zeros((2, count, measures))
        arguments = (self._first, self._inputs, self._dt, self._limits)
        self._evaluate = tied(code.chunk, arguments, (self._after, self.errors, self.left))

    def __call__(self, state: Array, inputs: Array, dt: float, steps: int, limits: tuple[float, float]) -> int:
        self._first[:-1], self._inputs[: len(inputs)], self._limits[:] = state, inputs, limits
        self._dt[:steps], self._dt[steps:] = dt, 0.0
        self._evaluate()
        return min(steps, int(self._after[:steps, -1].sum()) + 1)

    def start(self, q: Array, v: Array, u: Array, dt: float) -> list[Array]:
        softening = (np.array([float(each)]) for each in self.method.softening(dt))
        return self._start(q, v, u, *softening)

    def stronger(self) -> CompiledStepper | None:
        method = self.method.stronger()
        return None if method is None else CompiledStepper(self.plant, method, self.count, self._native)


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
