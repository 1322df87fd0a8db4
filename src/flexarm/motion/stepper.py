"""A method at work on a plant: its compiled step, and the driver that takes many of them in one call.

Code is shared by all runs that want the same; the arrays it works on belong to one run.
"""

from __future__ import annotations

import time as clock
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from flexarm.codegen.driver import Driver, DriverInputs, DriverStatus
from flexarm.codegen.evaluator import Native
from flexarm.codegen.loops import Runner, tied
from flexarm.codegen.sampler import Sampler
from flexarm.foundation.numbers import Array
from flexarm.motion.code import code_of
from flexarm.motion.methods import Method
from flexarm.motion.plant import Plant
from flexarm.motion.report import Report
from flexarm.motion.spectrum import Spectrum
from flexarm.motion.starts import Starts

LEAST_CAPACITY = 16  # steps that one call may take,
MOST_NUMBERS = 2e6  # and numbers in them


@dataclass(frozen=True)
class Given:
    """What a robot gives to the functions of its plant: its numbers, and what is large for each coordinate."""

    numbers: Array
    sizes: Array


class Stepper(Protocol):
    """What the loop over time needs of a method at work on a plant."""

    plant: Plant
    order: int
    explicit: bool
    softens: bool  # a start by the size of the step that follows
    nodes: tuple[float, ...]
    sizes: Array  # what is large for each coordinate
    driver: Driver  # errors are displacements of the links (m) that such steps add up to over the horizon
    report: Report

    @property
    def starts(self) -> Starts:
        """Accelerations in many states."""

    def advance(self, inputs: DriverInputs) -> DriverStatus:
        """Take steps as the driver was instructed; its `times` and `path` hold them."""

    def sampler(self, lags: Array, rate: float, slack: float) -> Sampler | None:
        """Return the loop with samples of a digital controller, whose actuators have these lags (s), between
        breakpoints; None where there is none. It takes the steps from now on."""

    def start(self, q: Array, v: Array, u: Array, dt: float) -> list[Array]:
        """Accelerations, power of the inputs, power dissipated and, with constraints, their multipliers, for a first
        step of size dt."""

    def longest_step(self, state: Array, u: Array, duration: float) -> float:
        """With which motions about this state stay bounded over a time (s)."""


class CompiledStepper:
    """Steps of a method, up to `capacity` in one call. (A `Stepper`.)"""

    def __init__(self, plant: Plant, method: Method, capacity: int, native: Native, given: Given) -> None:
        self.method, self._native, self._given = method, native, given
        self.order, self.nodes = method.order, method.nodes
        self.explicit, self.softens = method.explicit, any(method.softening(1.0))
        self.sizes = given.sizes
        self._sampler: Sampler | None = None
        self._starts: Starts | None = None
        self._code = code_of(plant, method)
        self.plant = self._code.plant
        runners, layout = self._code.runners(native), self.plant.layout
        self.driver = Driver(
            layout.size,
            runners[0].output_sizes[1],
            self.plant.input_count,
            method.nodes,
            given.numbers,
            layout.every_a,
            layout.every_aux,
            method.estimate,
            method.patience,
            max(LEAST_CAPACITY, min(capacity, int(MOST_NUMBERS / layout.size))),
        )
        self._connect(runners)

    def _connect(self, runners: list[Runner]) -> None:
        """Tie the arrays to the functions, in the virtual machine or as machine code."""
        self._is_compiled = runners[0].library is not None
        step, start, report, small_motions = runners
        self.driver.connect(step)
        self._start_runner, self._starts = start, None
        self._started = [np.zeros(size) for size in start.output_sizes]
        self._start_inputs = [np.zeros(size) for size in start.input_sizes[:-1]]
        self._start = tied(start.function, [*self._start_inputs, self._given.numbers], self._started)
        self._step = step
        if self._sampler is not None:
            self._sampler.connect(step, self.start)
        self._small_motions = small_motions.function
        self.report = Report(report, self._given.numbers)

    def advance(self, inputs: DriverInputs) -> DriverStatus:
        if not self._is_compiled and self._native == "auto" and self._code.compiled is not None:
            self._connect(self._code.compiled)
        advance = self.driver.advance if self._sampler is None else self._sampler.advance
        if self._is_compiled or self._native is False:
            return advance(inputs)
        begin = clock.perf_counter()
        status = advance(inputs)
        self._code.spend(clock.perf_counter() - begin)
        return status

    def sampler(self, lags: Array, rate: float, slack: float) -> Sampler | None:
        plant, at = self.plant, self.plant.layout
        stiffness, damping = softening = self.method.softening(1.0)
        is_usual = self.method.is_driven and self.method.softening(2.0) == (4 * stiffness, 2 * damping)
        if at.states or not is_usual:
            return None
        first = plant.input_places[1].start
        self._sampler = Sampler(self.driver, at.n, at.multipliers, first, lags, self.sizes, rate, slack, softening)
        self._sampler.connect(self._step, self.start)
        return self._sampler

    @property
    def is_compiled(self) -> bool:
        """True if steps are machine code."""
        return self._is_compiled

    @property
    def starts(self) -> Starts:
        """Accelerations in many states; made when they are needed first."""
        if self._starts is None:
            self._starts = Starts(self._start_runner, self._given.numbers)
        return self._starts

    def start(self, q: Array, v: Array, u: Array, dt: float) -> list[Array]:
        given_now: list[Any] = [q, v, u, *self.method.softening(dt)]
        for slot, value in zip(self._start_inputs, given_now, strict=True):
            slot[:] = value
        self._start()
        a, given, drained, *forces = (each.copy() for each in self._started)
        return [a, given[0], drained[0], *forces]

    def spectrum(self, q: Array, v: Array, u: Array) -> Spectrum:
        return Spectrum.of(*(each.full() for each in self._small_motions(q, v, u, self._given.numbers)))

    def longest_step(self, state: Array, u: Array, duration: float) -> float:
        q, v, a = (state[part] for part in self.plant.layout.motions)
        spectrum = self.spectrum(q, v, u).moving(v[self.plant.free], a[self.plant.free])
        return self.method.longest_step(spectrum.rates, duration)
