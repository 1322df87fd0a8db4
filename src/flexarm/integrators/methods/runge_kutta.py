"""Explicit Runge-Kutta methods given by tableaux."""

from __future__ import annotations

import math
from typing import Any

import casadi as ca
import numpy as np

from flexarm.foundation.messages import shown
from flexarm.foundation.validation import Array, real_array, whole_number
from flexarm.integrators.methods.method import Method
from flexarm.integrators.plant import Plant
from flexarm.integrators.state import State

MAX_STABLE_STEP = 8.0  # no method here is stable for steps of more than this over the fastest rate


class RungeKutta(Method):
    """Explicit Runge-Kutta method given by its tableau.

    Parameters
    ----------
    order : int
        Order of the method in dt.
    estimate : int
        Order of the error that the weights e give for one step.
    A : array_like, shape (stages, stages)
        Coefficients.
    b, c : array_like, shape (stages,)
        Weights and nodes.
    e : array_like, shape (stages,)
        Weights of the error of the rates.
    """

    explicit = True

    def __init__(self, order: int, estimate: int, A: Any, b: Any, c: Any, e: Any) -> None:
        self.order = whole_number("order", order, least=1)
        self.estimate = whole_number("estimate", estimate, least=1)
        self.b = _row("b", b)
        stages = len(self.b)
        self.c, self.e = _row("c", c, stages), _row("e", e, stages, stages + 1)
        self.A = real_array("A", A)
        shaped = self.A.shape in ((stages, stages), (stages, stages - 1))  # its last column is zero
        if not shaped or not np.isfinite(self.A).all() or np.triu(self.A).any():
            raise ValueError(
                f"A = {shown(A)}: must have a row for each of the {stages} weights b, zero from the diagonal on"
            )
        if self.c[0] != 0 or self.c.min() < 0 or self.c.max() > 1:
            raise ValueError(f"c = {shown(c)}: must begin with 0 and lie between 0 and 1, fractions of the step")
        self.nodes = tuple(sorted({0.0, 1.0, *self.c.tolist()}))

    def longest_step(self, rates: Array, duration: float) -> float:
        """Return the largest stable step size, see `Method.longest_step`.

        Parameters
        ----------
        rates : ndarray
            Complex eigenvalues (1/s).
        duration : float
            Duration (s).

        Returns
        -------
        float
        """
        fastest = float(np.abs(rates).max(initial=0.0))
        if not fastest:
            return math.inf
        steps, stability = np.geomspace(MAX_STABLE_STEP, MAX_STABLE_STEP / 1e3, 300) / fastest, self._stability[::-1]
        for dt in steps.tolist():
            growth = np.log(np.abs(np.polyval(stability, dt * rates)).max())
            if growth * duration / dt <= 1:
                return float(dt)
        return float(steps[-1])

    @property
    def _stability(self) -> Array:
        """Coefficients of the polynomial R(z) by which a motion with the rate z / dt grows in a step."""
        A = np.zeros((len(self.b), len(self.b)))
        A[:, : self.A.shape[1]] = self.A
        powers, column = [1.0], np.ones(len(self.b))
        for _ in self.b:
            powers.append(float(self.b @ column))
            column = A @ column
        return np.array(powers)

    def advance(self, plant: Plant, state: State, inputs: list[Any], dt: Any) -> tuple[State, Any, Any]:
        """Build one step, see `Method.advance`.

        Parameters
        ----------
        plant : Plant
            The equations that are integrated.
        state : State
            State at the start.
        inputs : list
            Inputs at the nodes.
        dt : casadi.MX
            Step size (s).

        Returns
        -------
        tuple
            Next state, error, unsolved displacements.
        """
        at = dict(zip(self.nodes, inputs, strict=True))
        rates: list[Any] = []
        for row, node in zip(self.A, self.c, strict=True):
            q = self._along(state.q, row, [rate[0] for rate in rates], dt)
            v = self._along(state.v, row, [rate[1] for rate in rates], dt)
            u = at[float(node)]
            _, _, _, (q_driven, v_driven, _) = plant.split(u)
            q, v = plant.whole(plant.of_free(q), q_driven), plant.whole(plant.of_free(v), v_driven)
            a, forces = plant.motion(q, v, u) if rates else (state.a, state.forces)
            given, lost = plant.energy_forces(q, v, a, u, forces)
            rates.append((v, a, ca.dot(v, given), ca.dot(v, lost)))
        new = [
            self._along(part, self.b, [rate[k] for rate in rates], dt)
            for k, part in enumerate((state.q, state.v, state.work, state.lost))
        ]
        u = at[1.0]
        _, _, _, (q_driven, v_driven, _) = plant.split(u)
        q, v = plant.whole(plant.of_free(new[0]), q_driven), plant.whole(plant.of_free(new[1]), v_driven)
        free_v = v
        q, v = plant.projected(q, v, u)
        a, forces = plant.motion(q, v, u)
        missed = self._missed(plant, state, self.e, rates, (free_v, a), dt)
        error = missed[0] + self.adding_up * plant.horizon * missed[1]
        powers = (ca.dot(v, force) for force in plant.energy_forces(q, v, a, u, forces))
        return State(q, v, a, a, new[2], new[3], *powers, *[forces]), error, ca.MX.zeros(plant.measures)

    def _missed(self, plant: Plant, at: State, e: Array, rates: list[Any], last: tuple[Any, Any], dt: Any) -> Any:
        """Errors of q and of v by these weights, as displacements of the links."""
        ends = ([*(rate[kind] for rate in rates), last[kind]][: len(e)] for kind in (0, 1))
        return plant.moved(at.q, at.v, *(plant.of_free(self._along(0 * at.q, e, each, dt)) for each in ends))

    @staticmethod
    def _along(start: Any, weights: Any, rates: list[Any], dt: Any) -> Any:
        terms = [weight * rate for weight, rate in zip(weights, rates) if weight != 0]
        return start + dt * sum(terms[1:], terms[0]) if terms else start


def _row(name: str, values: Any, *sizes: int) -> Array:
    """A row of a tableau; of one of the sizes, if any are given."""
    row = real_array(name, values)
    if row.ndim != 1 or not row.size or not np.isfinite(row).all() or (sizes and len(row) not in sizes):
        count = f"one for each of the {sizes[0]} weights b" if sizes else "one for each stage"
        raise ValueError(f"{name} = {shown(values)}: must be a list of finite numbers, {count}")
    return row


def rk4() -> RungeKutta:
    """Kutta's classical method; its error is estimated by the second-order rule inside it, so on the safe side."""
    A = [[0, 0, 0, 0], [0.5, 0, 0, 0], [0, 0.5, 0, 0], [0, 0, 1, 0]]
    b = [1 / 6, 1 / 3, 1 / 3, 1 / 6]
    return RungeKutta(4, 3, A, b, [0, 0.5, 0.5, 1], [1 / 6, -2 / 3, 1 / 3, 1 / 6])


def rk45() -> RungeKutta:
    """Dormand and Prince 5(4). (SciPy has the same numbers, but importing it takes longer than many a run.)"""
    A = [
        [0, 0, 0, 0, 0],
        [1 / 5, 0, 0, 0, 0],
        [3 / 40, 9 / 40, 0, 0, 0],
        [44 / 45, -56 / 15, 32 / 9, 0, 0],
        [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729, 0],
        [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
    ]
    b = [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84]
    c = [0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1]
    e = [-71 / 57600, 0, 71 / 16695, -71 / 1920, 17253 / 339200, -22 / 525, 1 / 40]
    return RungeKutta(5, 5, A, b, c, e)
