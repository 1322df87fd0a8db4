"""Many steps in one call: a method's step map chained and compiled.

Code is shared by all runs that want the same; the arrays it works on belong to one run.
"""

from __future__ import annotations

import time as clock
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from flexarm.codegen.evaluator import Code, Evaluator, Native
from flexarm.codegen.loops import Many, Runner
from flexarm.foundation.numbers import Array
from flexarm.motion.code import code_of
from flexarm.motion.methods import Method
from flexarm.motion.plant import Plant
from flexarm.motion.report import Report
from flexarm.motion.spectrum import Spectrum
from flexarm.motion.starts import Starts


@dataclass(frozen=True)
class Given:
    """What a robot gives to the functions of its plant: its numbers, and what is large for each coordinate."""

    numbers: Array
    sizes: Array


class Limits(NamedTuple):
    """Of the errors of steps, and of what their iteration leaves (m), both added up over the horizon (s). Where as many
    steps in a row as `patience` says make less than the `least` error, longer ones should be tried. The iteration may
    leave rates of the energy `solved` (J)."""

    error: float
    left: float
    least: float
    patience: int
    horizon: float
    solved: float


class Stepper(Protocol):
    """What the loop over time needs of a method at work on a plant."""

    plant: Plant
    order: int
    estimate: int
    patience: int
    explicit: bool
    softens: bool  # a start by the size of the step that follows
    nodes: tuple[float, ...]
    count: int  # steps that one call takes at most
    states: Array  # after each step of the last call, in rows
    errors: Array  # what errors like that of each step add up to over the horizon, as displacements of the links (m)
    left: Array  # the same of what the iteration left undone
    sizes: Array  # what is large for each coordinate
    report: Report
    starts: Starts

    def __call__(self, state: Array, inputs: Array, dt: float, steps: int, limits: Limits) -> int:
        """Take up to `steps` steps, and return how many were: the last is where errors, or what is left of the
        iteration, first exceed their limits, or where errors have been small for a while. Fills `states`, `errors` and
        `left`."""

    def start(self, q: Array, v: Array, u: Array, dt: float) -> list[Array]:
        """Accelerations, power of the inputs, power dissipated and, with constraints, their multipliers, for a first
        step of size dt."""

    def longest_step(self, state: Array, u: Array, duration: float) -> float:
        """With which motions about this state stay bounded over a time (s)."""


class CompiledStepper:
    """Up to `count` steps of a method; a step that is not accurate enough is the last. (A `Stepper`.)

    The arrays that steps work on stay in place from call to call.
    """

    def __init__(self, plant: Plant, method: Method, count: int, native: Native, given: Given) -> None:
        self.method, self.count, self._native, self._given = method, count, native, given
        self.order, self.estimate, self.patience = method.order, method.estimate, method.patience
        self.nodes, self.explicit, self.softens = method.nodes, method.explicit, any(method.softening(1.0))
        self.sizes = given.sizes
        self._code = code_of(plant, method)
        self.plant = self._code.plant
        size = self.plant.layout.size
        self._path = np.zeros((count + 1, size))  # the state before the steps, and after each
        self._inputs = np.zeros((count, len(method.nodes) * self.plant.input_count))
        self._dt, self._horizon, self._solved = np.zeros((3, 1))
        self._limits = np.zeros(4)
        self.states = self._path[1:]
        self._connect(self._code.runners(native))

    def _connect(self, runners: list[Runner]) -> None:
        """Tie the arrays to the functions, in the virtual machine or as machine code."""
        self._is_compiled = runners[0].library is not None
        step, start, report, small_motions = runners
        measures = step.function.numel_out(1)
        self.errors, self.left = np.zeros((2, self.count, measures))
        arguments = [self._path[:-1], self._inputs, self._dt, self._horizon, self._solved, self._given.numbers]
        self._steps = Many(step, arguments, [self.states, self.errors, self.left], self._limits)
        self.starts = Starts(start, self._given.numbers)
        self._start = Evaluator(Code(start.function, [1, 0, 0, 1][: start.function.n_out()]), native=False)
        self._small_motions = small_motions.function
        self.report = Report(report, self._given.numbers)

    def __call__(self, state: Array, inputs: Array, dt: float, steps: int, limits: Limits) -> int:
        if not self._is_compiled and self._native == "auto" and self._code.compiled is not None:
            self._connect(self._code.compiled)
        self._path[0], self._limits[:], self._dt[:] = state, limits[:4], dt
        self._horizon[:], self._solved[:] = limits.horizon, limits.solved
        self._inputs[:steps] = inputs.reshape(steps, -1)
        if self._is_compiled or self._native is False:
            return self._steps(steps)
        return self._interpreted(steps)

    def _interpreted(self, steps: int) -> int:
        begin = clock.perf_counter()
        taken = self._steps(steps)
        self._code.spend(clock.perf_counter() - begin)
        return taken

    def start(self, q: Array, v: Array, u: Array, dt: float) -> list[Array]:
        softening = (np.array([float(each)]) for each in self.method.softening(dt))
        return self._start(q, v, u, *softening, self._given.numbers)

    def spectrum(self, q: Array, v: Array, u: Array) -> Spectrum:
        return Spectrum.of(*(each.full() for each in self._small_motions(q, v, u, self._given.numbers)))

    def longest_step(self, state: Array, u: Array, duration: float) -> float:
        q, v, a = (state[part] for part in self.plant.layout.motions)
        spectrum = self.spectrum(q, v, u).moving(v[self.plant.free], a[self.plant.free])
        return self.method.longest_step(spectrum.rates, duration)
