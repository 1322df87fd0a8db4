"""Methods of integration as step maps: one step of a robot, written once as a CasADi function.

A step takes the state at a node (`motion/state.py`), the inputs at the method's stages and dt, and returns the state at
the next node and an estimate of the error made.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy
from dataclasses import replace
from typing import Any, Self

import casadi as ca
import numpy as np

from flexarm.foundation.numbers import Array, real_array, real_number, whole_number
from flexarm.foundation.sentences import shown
from flexarm.motion import newton
from flexarm.motion.plant import Plant
from flexarm.motion.state import State


class Method(ABC):
    """A method that `simulate(method=...)` takes, ours or one of your own.

    `order` in dt; `nodes` are the stages at which inputs are needed, in fractions of the step, the last one 1.
    The estimated error of a step is of the order `estimate` in dt.
    """

    order: int
    estimate: int
    nodes: tuple[float, ...]

    def softening(self, dt: float) -> tuple[float, float]:
        """How much of K and D a step of this size adds to M in its linear systems: nothing for explicit methods."""
        return 0.0, 0.0

    @property
    def identity(self) -> tuple[object, ...] | None:
        """All that decides its steps; None for a class from elsewhere, whose code may change unseen."""
        if type(self).__module__ != __name__:
            return None
        decisive = vars(self) | ({"iterations": newton.first(self.iterations)} if hasattr(self, "iterations") else {})
        return type(self).__name__, *sorted(
            (name, repr(np.asarray(value).tolist())) for name, value in decisive.items()
        )

    def __repr__(self) -> str:
        numbers = (f"{name}={np.asarray(value).tolist()}" for name, value in vars(self).items())
        return f"{type(self).__name__}({', '.join(numbers)})"

    @property
    def rounds(self) -> int:
        """How many rounds of more iterations a step is told to take."""
        return 0

    def stronger(self) -> Self | None:
        """The same method with more iterations in a step, if that can help."""
        return None

    @abstractmethod
    def advance(self, plant: Plant, state: State, inputs: list[Any], dt: Any) -> tuple[State, Any, Any]:
        """One step of dt of a `plant` from a `state`, with the `inputs` at the method's nodes: the next state, the
        error made in this step and the acceleration that the iteration added last, as displacements of the links."""

    def step(self, plant: Plant) -> ca.Function:
        """The step of a `plant`: (state, inputs, dt, rounds of more iterations, numbers) -> (next state, error, last
        acceleration of the iteration)."""
        column = ca.MX.sym("state", plant.layout.size)
        inputs = ca.MX.sym("inputs", plant.input_count, len(self.nodes))
        dt = ca.MX.sym("dt")
        stages = [inputs[:, k] for k in range(len(self.nodes))]
        after, error, left = self.advance(plant, State.of(column, plant.layout), stages, dt)
        return plant.step_function("step", [column, inputs, dt, plant.rounds], [after.column, error, left])


class GeneralizedAlpha(Method):
    """Chung and Hulbert 1993, in the form of Arnold and Bruels 2007; second order with numerical damping.

    `radius` is the spectral radius at infinite frequency: 1 damps nothing, 0 kills unresolved modes in one step.
    Unknowns are the accelerations; the iteration matrix S = M + gamma' dt D + beta' dt^2 K leaves gyroscopic terms out
    and is factorised once a step. Two `iterations` usually do; stiff links whose vibration is not resolved want more.
    The error, c dt^2 times the change of acceleration, is counted in modes that the step resolves: twice filtered by
    S^-1 M, for the method itself damps the others out.
    """

    order = 2
    estimate = 3
    nodes = (0.0, 1.0)

    def __init__(self, radius: float = 0.9, iterations: int = newton.ITERATIONS[0]) -> None:
        radius = real_number("radius", radius, least=0, most=1)
        self.iterations = whole_number("iterations", iterations, least=1)
        self.alpha_m, self.alpha_f = (2 * radius - 1) / (radius + 1), radius / (radius + 1)
        self.gamma = 0.5 + self.alpha_f - self.alpha_m
        self.beta = 0.25 * (self.gamma + 0.5) ** 2

    def stronger(self) -> Self | None:
        more = [count for count in newton.ITERATIONS if count > self.iterations]
        if not more:
            return None
        out = copy(self)
        out.iterations = more[0]
        return out

    @property
    def rounds(self) -> int:
        return newton.rounds(self.iterations)

    def softening(self, dt: Any) -> tuple[Any, Any]:
        scale = (1 - self.alpha_f) / (1 - self.alpha_m)
        return self.beta * scale * dt**2, self.gamma * scale * dt

    def advance(self, plant: Plant, state: State, inputs: list[Any], dt: Any) -> tuple[State, Any, Any]:
        before, u = inputs
        a_driven = plant.split(u)[3][2]
        q, v, a, aux = (plant.of_free(part) for part in (state.q, state.v, state.a, state.aux))
        scale = (1 - self.alpha_f) / (1 - self.alpha_m)
        base = (self.alpha_f * a - self.alpha_m * aux) / (1 - self.alpha_m)
        q_base = q + dt * v + dt**2 * ((0.5 - self.beta) * aux + self.beta * base)
        v_base = v + dt * ((1 - self.gamma) * aux + self.gamma * base)
        stiff, damp = self.softening(dt)

        sought = newton.Problem(plant, q_base, v_base, u, stiff, damp, None, None)
        first = sought.at(a)[0]
        ahead = plant.switched(state.q, first)
        factors = plant.factor(ahead, state.v, u, stiff, damp)
        solver = plant.constraint_solver
        constrained = None if solver is None else solver.at(first, factors)
        sought = replace(sought, factors=factors, constrained=constrained)
        new, change, forces = sought.solve(a, state.forces, self.iterations)
        q_next, v_next, a_next = sought.at(new)
        drifted = q_next
        if constrained is not None and constrained.constraint_solver.projects:
            q_next, v_next = constrained.projected(q_next, v_next)
        energies = self._energies(plant, state, (q_next, v_next, a_next, forces), before, u)
        after = State(q_next, v_next, a_next, plant.whole(base + scale * new, a_driven), *energies, *[forces])
        error = (self.beta - 1 / 6) * dt**2 * (new - a)
        for _ in range(2):
            error = plant.resolved(factors, ahead, error, stiff, damp)
            if constrained is not None and constrained.constraint_solver.projects:
                error = constrained.along(error)
        if constrained is not None and constrained.constraint_solver.projects and not plant.nodal_slides:
            error = error + plant.of_free(q_next - drifted)  # across the constraints it is what projection took away
        return after, *plant.displacements(state.q, error, change)

    @staticmethod
    def _energies(plant: Plant, state: State, after: tuple[Any, ...], before: Any, u: Any) -> tuple[Any, ...]:
        """Mean force times displacement: exact for constant forces, whatever the step."""
        q, v, a, forces = after
        first = plant.energy_forces(state.q, state.v, state.a, before, state.forces)
        last = plant.energy_forces(q, v, a, u, forces)
        moved = after[0] - state.q
        sums = (old + ca.dot(f + g, moved) / 2 for old, f, g in zip((state.work, state.lost), first, last, strict=True))
        return (*sums, *(ca.dot(after[1], g) for g in last))


class Newmark(GeneralizedAlpha):
    """Newmark's average acceleration (beta 1/4, gamma 1/2): second order, no numerical damping.

    `iterations` of Newton's method in a step; more are taken where these do not converge.
    """

    def __init__(self, iterations: int = newton.ITERATIONS[0]) -> None:
        self.iterations = whole_number("iterations", iterations, least=1)
        self.alpha_m = self.alpha_f = 0.0
        self.beta, self.gamma = 0.25, 0.5


# s: how long an error of v is thought to last. At the limit of stability a stiff mode flutters, too little to be seen
# in q, but with more energy than all the rest; a step that is a little shorter ends that.
RATES_MATTER = 0.2


class RungeKutta(Method):
    """An explicit method by its tableau: A (stages x stages), b, c, and the weights e of the error of its rates.

    `order` of the method in dt, and `estimate`, that of the error which e gives for one step.
    """

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

    def advance(self, plant: Plant, state: State, inputs: list[Any], dt: Any) -> tuple[State, Any, Any]:
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
        missed = self._error(rates, 0, v, dt)
        q, v = plant.projected(q, v, u)
        a, forces = plant.motion(q, v, u)
        missed_rates = self._error(rates, 1, a, dt)
        of_q, of_v = plant.displacements(state.q, plant.of_free(missed), plant.of_free(missed_rates))
        error = ca.fmax(of_q, RATES_MATTER * of_v)
        powers = (ca.dot(v, force) for force in plant.energy_forces(q, v, a, u, forces))
        return State(q, v, a, a, new[2], new[3], *powers, *[forces]), error, ca.MX.zeros(plant.measures)

    def _error(self, rates: list[Any], kind: int, last: Any, dt: Any) -> Any:
        """Of q (kind 0) or v (kind 1)."""
        ends = [*(rate[kind] for rate in rates), last]
        return self._along(0 * last, self.e, ends[: len(self.e)], dt)

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
