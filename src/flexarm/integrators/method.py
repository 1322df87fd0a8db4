"""Methods of integration as step maps: one step of a robot, written once as a CasADi function.

A step takes the state at a node (`integrators/state.py`), the inputs at the method's stages and dt, and returns the
state at
the next node and an estimate of the error made.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any

import casadi as ca
import numpy as np

from flexarm.foundation.validation import Array
from flexarm.integrators.plant import Plant
from flexarm.integrators.state import State


class Method(ABC):
    """A method that `simulate(method=...)` takes, ours or one of your own.

    `order` in dt; `nodes` are the stages at which inputs are needed, in fractions of the step, the last one 1.
    The error that a step tells is of the order `estimate` in dt. In the choice of step sizes an error counts for some
    `patience` steps: part of a period of what the steps follow. In an undamped vibration errors add up to `adding_up`
    times the horizon times the estimated error of the rate, where the result is of one order more than the estimate.
    (0.33 for Kennedy and Carpenter's pair, 0.36 for Dormand and Prince's, at 4 to 100 steps a period.)
    """

    order: int
    estimate: int
    adding_up: float = 1 / 3
    patience: int = 32
    explicit: bool = False
    is_driven: bool = True  # its step has the arguments that the compiled loop gives it
    nodes: tuple[float, ...]

    def softening(self, dt: float) -> tuple[float, float]:
        """How much of K and D a step of this size adds to M in its linear systems: nothing for explicit methods."""
        return 0.0, 0.0

    def longest_step(self, rates: Array, duration: float) -> float:
        """The longest step (s) with which motions of these complex `rates` (1/s) stay bounded over a `duration` (s)."""
        return math.inf

    @property
    def identity(self) -> tuple[object, ...] | None:
        """All that decides its steps; None for a class from elsewhere, whose code may change unseen."""
        if type(self).__module__.rpartition(".")[0] != __name__.rpartition(".")[0]:
            return None
        return type(self).__name__, *sorted(
            (name, repr(np.asarray(value).tolist())) for name, value in vars(self).items()
        )

    def __repr__(self) -> str:
        numbers = (f"{name}={np.asarray(value).tolist()}" for name, value in vars(self).items())
        return f"{type(self).__name__}({', '.join(numbers)})"

    @abstractmethod
    def advance(self, plant: Plant, state: State, inputs: list[Any], dt: Any) -> tuple[State, Any, Any]:
        """One step of dt of a `plant` from a `state`, with the `inputs` at the method's nodes: the next state, and as
        displacements of the links (m) what errors such as that of this step add up to over `plant.horizon`, and what
        the iteration left undone."""

    def step(self, plant: Plant) -> ca.Function:
        """The step of a `plant`: (state, inputs, dt, horizon, solved, numbers) -> (next state,
        error, what the iteration left)."""
        column = ca.MX.sym("state", plant.layout.size)
        inputs = ca.MX.sym("inputs", plant.input_count, len(self.nodes))
        dt = ca.MX.sym("dt")
        stages = [inputs[:, k] for k in range(len(self.nodes))]
        after, error, left = self.advance(plant, State.of(column, plant.layout), stages, dt)
        given = [column, inputs, dt, plant.horizon, plant.solved]
        return plant.step_function("step", given, [after.column, error, left])
