"""Steps of a method for a single robot: the compiled step, the driver that takes many of them in one call, and initial
accelerations.

Code is shared by all runs that need the same; arrays belong to one run.
"""

from __future__ import annotations

import time as clock
from typing import Any

import numpy as np

from flexarm.codegen.driver import Driver, DriverStatus
from flexarm.codegen.evaluator import Native
from flexarm.codegen.loops import Runner, evaluate_rows, tied
from flexarm.codegen.sampler import SampledDriver
from flexarm.foundation.validation import Array
from flexarm.integrators.compiled_step import Report, code_of
from flexarm.integrators.methods.method import Method
from flexarm.integrators.plant import Plant, PlantParameters
from flexarm.integrators.step_size import LocalSpectrum
from flexarm.integrators.stepper import ScalarStepper


class InitialAccelerations:
    """The start of a plant, of many states."""

    def __init__(self, runner: Runner, numbers: Array) -> None:
        self._runner, self._fixed = runner, (np.zeros(1), np.zeros(1), numbers)

    def __call__(self, *columns: Array) -> list[Array]:
        """Return accelerations, powers and, with constraints, multipliers, for rows of q, v, u."""
        return evaluate_rows(self._runner, columns, *self._fixed)


LEAST_CAPACITY = 16  # steps that one call may take,
MOST_NUMBERS = 2e6  # and numbers in them


class CompiledStepper(ScalarStepper):
    """Steps of a method for a single robot, up to `capacity` in one call. (A `Stepper`.)"""

    def __init__(self, plant: Plant, method: Method, capacity: int, native: Native, given: PlantParameters) -> None:
        self.method, self._native, self._given = method, native, given
        self.order, self.nodes = method.order, method.nodes
        self.explicit, self.softens = method.explicit, any(method.softening(1.0))
        self._starts: InitialAccelerations | None = None
        self._code = code_of(plant, method)
        self.plant = self._code.plant
        runners, layout = self._code.runners(native), self.plant.layout
        driver = Driver(
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
        self._share(driver, given.sizes)
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
        if self.sampled is not None:
            self.sampled.connect(step, self._start_row)
        self._small_motions = small_motions.function
        self.report = Report(report, self._given.numbers)

    def _advance(self) -> DriverStatus:
        if not self._is_compiled and self._native == "auto" and self._code.compiled is not None:
            self._connect(self._code.compiled)
        advance = self.driver.advance if self.sampled is None else self.sampled.advance
        if self._is_compiled or self._native is False:
            return advance(self)
        begin = clock.perf_counter()
        status = advance(self)
        self._code.spend(clock.perf_counter() - begin)
        return status

    def rows(self, group: int) -> int:
        return super().rows(group) if self.sampled is None else int(self.sampled.control.rows)

    def sample_inside(self, lags: Array, rate: float, slack: float) -> SampledDriver | None:
        """Take the samples of a digital controller, whose actuators have these lags (s), between breakpoints.

        Return the loop that does so; None if there is none for this method and plant.
        """
        plant, at = self.plant, self.plant.layout
        stiffness, damping = softening = self.method.softening(1.0)
        is_usual = self.method.is_driven and self.method.softening(2.0) == (4 * stiffness, 2 * damping)
        if at.states or not is_usual:
            return None
        first = plant.input_places[1].start
        sizes = self._given.sizes
        found = SampledDriver(self.driver, at.n, at.multipliers, first, lags, sizes, rate, slack, softening)
        found.connect(self._step, self._start_row)
        self.sampled = found
        return found

    def numbers_of(self, member: int) -> Array:
        return self._given.numbers

    @property
    def is_compiled(self) -> bool:
        """True if steps are machine code."""
        return self._is_compiled

    @property
    def starts(self) -> InitialAccelerations:
        """Accelerations in many states; made when they are needed first."""
        if self._starts is None:
            self._starts = InitialAccelerations(self._start_runner, self._given.numbers)
        return self._starts

    def start(self, states: Array, inputs: Array, sizes: Array) -> list[Array]:
        at, state = self.plant.layout, states[0, :, 0]
        found = self._start_row(state[at.every_q], state[at.every_v], inputs[0, :, 0], float(sizes[0]))
        return [np.reshape(each, (1, -1, 1)) for each in found]

    def _start_row(self, q: Array, v: Array, u: Array, dt: float) -> list[Any]:
        """Return accelerations, powers and multipliers for a first step of size dt (s)."""
        given_now: list[Any] = [q, v, u, *self.method.softening(dt)]
        for slot, value in zip(self._start_inputs, given_now, strict=True):
            slot[:] = value
        self._start()
        a, given, drained, *forces = (each.copy() for each in self._started)
        return [a, given[0], drained[0], *forces]

    def accelerations(self, q: Array, v: Array, u: Array) -> Array:
        """Return the accelerations in a state."""
        found: Array = self._start_row(q, v, u, 0.0)[0]
        return found

    def spectrum(self, q: Array, v: Array, u: Array) -> LocalSpectrum:
        """Return the modes of small motions about a state."""
        return LocalSpectrum.of(*(each.full() for each in self._small_motions(q, v, u, self._given.numbers)))

    def longest_steps(self, inputs: Array, duration: float) -> Array:
        q, v, a = (self.states[0, part, 0] for part in self.plant.layout.motions)
        spectrum = self.spectrum(q, v, inputs[0, :, 0]).moving(v[self.plant.free], a[self.plant.free])
        return np.array([self.method.longest_step(spectrum.rates, duration)])
