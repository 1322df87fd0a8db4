"""Zero-order hold: one step of any method with constant torques.

The step recomputes accelerations if the inputs have jumped, and returns a few numbers that show if it is valid. All of
it is one function, so that a step of `Simulation` is one call of machine code on arrays that stay in place.
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

from flexarm.codegen.evaluator import Evaluator, Native, SharedFunction
from flexarm.codegen.loops import RowLoop, Runner
from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.validation import Array
from flexarm.integrators.compiled_step import Report, code_of
from flexarm.integrators.lanes import Lanes
from flexarm.integrators.methods.method import Method
from flexarm.integrators.plant import Plant, PlantParameters
from flexarm.integrators.state import Layout, State
from flexarm.integrators.step_size import Tolerance
from flexarm.integrators.stepper import USUAL_ACCELERATION

EQUAL_INPUTS = 1e-18  # square, of all inputs: what differs by less has not jumped
DIAGNOSTIC_COUNT = 5  # numbers that steps report


@dataclass(frozen=True)
class ZeroOrderHoldLayout:
    """Layout: state of the method, inputs at the end of the last step, and diagnostics accumulated over all steps.

    Diagnostics are the sum of the errors (m), the largest unsolved correction (m), how often a coordinate left its
    bounds, the sum of squares of the state (nan if one is nan), and the number of steps.
    """

    state: Layout
    inputs: int

    @property
    def size(self) -> int:
        return self.state.size + self.inputs + DIAGNOSTIC_COUNT

    @property
    def own(self) -> slice:
        """The state of the method."""
        return slice(0, self.state.size)

    @property
    def last(self) -> slice:
        """The inputs with which the last step ended."""
        return slice(self.state.size, self.state.size + self.inputs)

    @property
    def diagnostics(self) -> slice:
        """Places of the accumulated diagnostics."""
        return slice(self.size - DIAGNOSTIC_COUNT, self.size)


class ZeroOrderHoldMethod(Method):
    """Another method, for steps between which torques jump."""

    is_driven = False

    def __init__(self, method: Method) -> None:
        self.method, self.nodes = method, method.nodes
        self.order, self.estimate, self.explicit = method.order, method.estimate, method.explicit

    def softening(self, dt: float) -> tuple[float, float]:
        return self.method.softening(dt)

    @property
    def identity(self) -> tuple[object, ...] | None:
        own = self.method.identity
        return None if own is None else ("held", *own)

    def advance(self, plant: Plant, state: State, inputs: list[Any], dt: Any) -> tuple[State, Any, Any]:
        return self.method.advance(plant, state, inputs, dt)

    def step(self, plant: Plant) -> ca.Function:
        """(held state, inputs, dt, horizon, solved, softening, lower and upper bounds of q, v, a, numbers) -> held
        state."""
        layout = ZeroOrderHoldLayout(plant.layout, plant.input_count)
        column, dt = ca.MX.sym("state", layout.size), ca.MX.sym("dt")
        inputs = ca.MX.sym("inputs", plant.input_count, len(self.nodes))
        softening = ca.MX.sym("softening", 2)
        low, high = (ca.MX.sym(name, 3 * plant.n) for name in ("low", "high"))
        stages = [inputs[:, k] for k in range(len(self.nodes))]
        before, last = column[layout.own], column[layout.last]
        jumped = ca.sumsqr((stages[0] - last)[1:]) > EQUAL_INPUTS * ca.sumsqr(stages[0][1:])  # the first is the time
        started = _restarted(plant)(jumped, before, stages[0], softening, plant.numbers)
        after, error, left = self.advance(plant, State.of(started, plant.layout), stages, dt)
        error_before, left_before, alarms, _, steps = ca.vertsplit(column[layout.diagnostics])
        motion, left = after.column[plant.layout.motion], ca.mmax(left)
        diagnostics = [
            error_before + dt / plant.horizon * (ca.mmax(error) + left),
            ca.fmax(left_before, left),
            alarms + ca.sum1(motion < low) + ca.sum1(motion > high),
            ca.sumsqr(after.column),
            steps + 1,
        ]
        given = [column, inputs, dt, plant.horizon, plant.solved, softening, low, high]
        return plant.step_function("held", given, [ca.vertcat(after.column, stages[-1], *diagnostics)])


def _restarted(plant: Plant) -> Callable[..., Any]:
    """(whether, state, u, softening, numbers) -> the state with accelerations, powers and multipliers of these inputs,
    or as it was."""
    column, u = ca.MX.sym("state", plant.layout.size), ca.MX.sym("u", plant.input_count)
    softening, old = ca.MX.sym("softening", 2), State.of(column, plant.layout)
    a, forces = plant.motion(old.q, old.v, u, softening[0], softening[1])
    powers = (ca.dot(old.v, force) for force in plant.energy_forces(old.q, old.v, a, u, forces))
    new = State(old.q, old.v, a, a, old.work, old.lost, *powers, *[forces])
    inputs = [column, u, softening]
    return ca.Function.if_else(
        "restarted", plant.step_function("anew", inputs, [new.column]), plant.step_function("kept", inputs, [column])
    )


class ZeroOrderHoldStepper:
    """`take()` goes from `before` to `after` in equal substeps, with the `inputs` (substeps, nodes, of the plant).

    Coordinates, rates and accelerations are watched: `low` and `high` are their bounds, (3 nq,).
    """

    def __init__(
        self,
        plant: Plant,
        method: Method,
        dt: float,
        substeps: int,
        native: Native,
        given: PlantParameters,
        tolerance: Tolerance,
    ) -> None:
        self.method, self._given, self._native = ZeroOrderHoldMethod(method), given, native
        self._code = code_of(plant, self.method)
        self.plant = self._code.plant
        self.order, self.lanes = method.order, Lanes()
        self.sizes, self.unusual = given.sizes[None, : self.plant.n, None], np.full((1, 1), USUAL_ACCELERATION)
        self.layout = ZeroOrderHoldLayout(self.plant.layout, self.plant.input_count)
        self.path = np.zeros((substeps + 1, self.layout.size))
        self.before, self.after = self.path[0], self.path[-1]
        self.diagnostics = self.after[self.layout.diagnostics]
        self.inputs = np.zeros((substeps, len(method.nodes), self.plant.input_count))
        self.low, self.high = np.full((2, 3 * self.plant.n), [[-np.inf], [np.inf]])
        self._dt = np.array([dt / substeps])
        self._softening = np.array([float(each) for each in method.softening(dt / substeps)])
        self._horizon, self._solved = np.array([tolerance.horizon]), np.array([tolerance.solved])
        self._connect(self._code.runners(native))

    def _connect(self, runners: list[Runner]) -> None:
        """Tie the arrays to the functions, in the virtual machine or as machine code."""
        step, start, report, _ = runners
        self.is_compiled, substeps = step.library is not None, len(self.inputs)
        fixed = [self._dt, self._horizon, self._solved, self._softening, self.low, self.high, self._given.numbers]
        self._steps = RowLoop(step, [self.path[:-1], self.inputs.reshape(substeps, -1), *fixed], [self.path[1:]])
        self.raw = self._steps.repeated(substeps)  # what a call costs at least
        waits = not self.is_compiled and self._native == "auto"
        self.take: Callable[[], int] = self._interpreted if waits else self.raw
        self._start = Evaluator(SharedFunction(start.function, [1, 0, 0, 1][: start.function.n_out()]), native=False)
        self.report = Report(report, self._given.numbers)

    def _interpreted(self) -> int:
        """Step in the virtual machine until there is machine code."""
        if self._code.compiled is not None:
            self._connect(self._code.compiled)
            return self.take()
        begin = clock.perf_counter()
        done = self.raw()
        self._code.spend(clock.perf_counter() - begin)
        return done

    def start(self, states: Array, inputs: Array, sizes: Array) -> list[Array]:
        """Return accelerations, powers and multipliers, as `Stepper.start`."""
        at, state = self.plant.layout, states[0, :, 0]
        softening = (np.array([float(each)]) for each in self.method.softening(float(sizes[0])))
        found = self._start(state[at.every_q], state[at.every_v], inputs[0, :, 0], *softening, self._given.numbers)
        return [np.reshape(each, (1, -1, 1)) for each in found]
