"""Base class of integration methods: step maps, written once as CasADi functions.

A step takes the state at a node (`integrators/state.py`), the inputs at the stages of the method and dt, and returns
the state at the next node and an error estimate.
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
    """Base class of integration methods, built-in or supplied to `simulate(method=...)`.

    Attributes
    ----------
    order : int
        Order of the method in dt.
    nodes : tuple of float
        Stages at which inputs are needed, as fractions of the step; the last one is 1.
    estimate : int
        Order in dt of the error estimate of a step.
    patience : int
        Number of steps over which an error counts in the choice of step sizes: part of a period of the motion that the
        steps resolve.
    adding_up : float
        In an undamped vibration errors add up to this factor times the horizon times the estimated error of the rate,
        if the result is of one order more than the estimate. It is 0.33 for the pair of Kennedy and Carpenter and 0.36
        for that of Dormand and Prince, at 4 to 100 steps a period.
    explicit : bool
        True if steps must be kept stable.
    is_driven : bool
        True if steps are taken by the compiled driver.
    """

    order: int
    estimate: int
    adding_up: float = 1 / 3
    patience: int = 32
    explicit: bool = False
    is_driven: bool = True  # its step has the arguments that the compiled loop gives it
    nodes: tuple[float, ...]

    def softening(self, dt: float) -> tuple[float, float]:
        """Return the factors of D and K that are added to M in the linear systems of a step.

        Parameters
        ----------
        dt : float
            Step size (s).

        Returns
        -------
        tuple of float
            Factors of D and K; zero for explicit methods.
        """
        return 0.0, 0.0

    def longest_step(self, rates: Array, duration: float) -> float:
        """Return the largest step size with which motions stay bounded.

        Parameters
        ----------
        rates : ndarray
            Complex eigenvalues of small motions (1/s).
        duration : float
            Duration (s) over which they must stay bounded.

        Returns
        -------
        float
            Step size (s).
        """
        return math.inf

    @property
    def identity(self) -> tuple[object, ...] | None:
        """Everything that decides the steps; None for a class defined elsewhere, whose code may change unseen."""
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
        """Build one step.

        Parameters
        ----------
        plant : Plant
            The equations that are integrated.
        state : State
            State at the start of the step, as expressions.
        inputs : list
            Inputs of the plant at the nodes of the method.
        dt : casadi.MX
            Step size (s).

        Returns
        -------
        state : State
            State at the end of the step.
        error : casadi.MX
            Displacements of the links (m) to which errors as that of this step add up over `plant.horizon`.
        left : casadi.MX
            Displacements (m) that the iteration left unsolved.
        """

    def step(self, plant: Plant) -> ca.Function:
        """Return the step as a CasADi function.

        Parameters
        ----------
        plant : Plant
            The equations that are integrated.

        Returns
        -------
        casadi.Function
            (state, inputs, dt, horizon, solved, numbers) -> (next state, error, unsolved displacements).
        """
        column = ca.MX.sym("state", plant.layout.size)
        inputs = ca.MX.sym("inputs", plant.input_count, len(self.nodes))
        dt = ca.MX.sym("dt")
        stages = [inputs[:, k] for k in range(len(self.nodes))]
        after, error, left = self.advance(plant, State.of(column, plant.layout), stages, dt)
        given = [column, inputs, dt, plant.horizon, plant.solved]
        return plant.step_function("step", given, [after.column, error, left])
