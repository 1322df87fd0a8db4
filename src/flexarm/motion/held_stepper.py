"""One step a call: held steps on arrays that stay in place, in the virtual machine or as machine code."""

from __future__ import annotations

import time as clock
from collections.abc import Callable

import numpy as np

from flexarm.codegen.evaluator import Code, Evaluator, Native
from flexarm.codegen.loops import Many, Runner
from flexarm.foundation.numbers import Array
from flexarm.motion.code import code_of
from flexarm.motion.held import Held, HeldLayout
from flexarm.motion.methods import Method
from flexarm.motion.plant import Plant
from flexarm.motion.report import Report
from flexarm.motion.step_size import Tolerance
from flexarm.motion.stepper import Given


class HeldStepper:
    """`take()` goes from `before` to `after` in equal substeps, with the `inputs` (substeps, nodes, of the plant).

    Coordinates, rates and accelerations are watched: `low` and `high` are their bounds, (3 nq,).
    """

    def __init__(
        self, plant: Plant, method: Method, dt: float, substeps: int, native: Native, given: Given, tolerance: Tolerance
    ) -> None:
        self.method, self._given, self._native = Held(method), given, native
        self._code = code_of(plant, self.method)
        self.plant = self._code.plant
        self.order, self.sizes = method.order, given.sizes
        self.layout = HeldLayout(self.plant.layout, self.plant.input_count)
        self.path = np.zeros((substeps + 1, self.layout.size))
        self.before, self.after = self.path[0], self.path[-1]
        self.told = self.after[self.layout.told]
        self.inputs = np.zeros((substeps, len(method.nodes), self.plant.input_count))
        self.low, self.high = np.full((2, 3 * self.plant.n), [[-np.inf], [np.inf]])
        self._dt = np.array([dt / substeps])
        self._softening = np.array([float(each) for each in method.softening(dt / substeps)])
        self._horizon, self._solved = np.array([tolerance.horizon]), np.array([tolerance.solved])
        self._connect(self._code.runners(native))

    @property
    def is_compiled(self) -> bool:
        return self._compiled

    def _connect(self, runners: list[Runner]) -> None:
        """Tie the arrays to the functions, in the virtual machine or as machine code."""
        step, start, report, _ = runners
        self._compiled, substeps = step.library is not None, len(self.inputs)
        fixed = [self._dt, self._horizon, self._solved, self._softening, self.low, self.high, self._given.numbers]
        self._steps = Many(step, [self.path[:-1], self.inputs.reshape(substeps, -1), *fixed], [self.path[1:]])
        self.raw = self._steps.repeated(substeps)  # what a call costs at least
        waits = not self._compiled and self._native == "auto"
        self.take: Callable[[], int] = self._interpreted if waits else self.raw
        self._start = Evaluator(Code(start.function, [1, 0, 0, 1][: start.function.n_out()]), native=False)
        self.report = Report(report, self._given.numbers)

    def _interpreted(self) -> int:
        """In the virtual machine, until there is machine code."""
        if self._code.compiled is not None:
            self._connect(self._code.compiled)
            return self.take()
        begin = clock.perf_counter()
        done = self.raw()
        self._code.spend(clock.perf_counter() - begin)
        return done

    def start(self, q: Array, v: Array, u: Array, dt: float) -> list[Array]:
        """Accelerations, power of the inputs, power dissipated and, with constraints, their multipliers, for a first
        step of size dt."""
        softening = (np.array([float(each)]) for each in self.method.softening(dt))
        return self._start(q, v, u, *softening, self._given.numbers)
