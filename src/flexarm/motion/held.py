"""A step of any method with what is held over it: accelerations start anew where that has jumped, and the step tells
in a few numbers whether it can be trusted.

What follows is one function, so that a step by hand is one call of machine code.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca

from flexarm.foundation.dataclass import dataclass
from flexarm.motion.methods import Method
from flexarm.motion.plant import Plant
from flexarm.motion.state import Layout, State

SAME = 1e-18  # square, of all inputs: what differs by less has not jumped
TOLD = 5  # numbers that steps tell


@dataclass(frozen=True)
class HeldLayout:
    """The state of a method, then the inputs with which the last step ended, then what all steps so far tell.

    That is the sum of their errors (m), the most that an iteration left undone (m), how often a coordinate left its
    bounds, the sum of squares of the state (which is not a number where one of them is not), and how many steps they
    are."""

    state: Layout
    inputs: int

    @property
    def size(self) -> int:
        return self.state.size + self.inputs + TOLD

    @property
    def own(self) -> slice:
        """The state of the method."""
        return slice(0, self.state.size)

    @property
    def last(self) -> slice:
        """The inputs with which the last step ended."""
        return slice(self.state.size, self.state.size + self.inputs)

    @property
    def told(self) -> slice:
        """What all steps so far tell."""
        return slice(self.size - TOLD, self.size)


class Held(Method):
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
        layout = HeldLayout(plant.layout, plant.input_count)
        column, dt = ca.MX.sym("state", layout.size), ca.MX.sym("dt")
        inputs = ca.MX.sym("inputs", plant.input_count, len(self.nodes))
        softening = ca.MX.sym("softening", 2)
        low, high = (ca.MX.sym(name, 3 * plant.n) for name in ("low", "high"))
        stages = [inputs[:, k] for k in range(len(self.nodes))]
        before, last = column[layout.own], column[layout.last]
        jumped = ca.sumsqr((stages[0] - last)[1:]) > SAME * ca.sumsqr(stages[0][1:])  # the first is the time
        started = _restarted(plant)(jumped, before, stages[0], softening, plant.numbers)
        after, error, left = self.advance(plant, State.of(started, plant.layout), stages, dt)
        error_before, left_before, alarms, _, steps = ca.vertsplit(column[layout.told])
        motion, left = after.column[plant.layout.motion], ca.mmax(left)
        told = [
            error_before + dt / plant.horizon * (ca.mmax(error) + left),
            ca.fmax(left_before, left),
            alarms + ca.sum1(motion < low) + ca.sum1(motion > high),
            ca.sumsqr(after.column),
            steps + 1,
        ]
        given = [column, inputs, dt, plant.horizon, plant.solved, softening, low, high]
        return plant.step_function("held", given, [ca.vertcat(after.column, stages[-1], *told)])


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
