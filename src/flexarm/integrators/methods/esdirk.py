"""ESDIRK method of order 5: diagonally implicit Runge-Kutta with one factorization per step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import casadi as ca
import numpy as np

from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.validation import Array
from flexarm.integrators.methods import newton
from flexarm.integrators.methods.method import Method
from flexarm.integrators.plant import Plant
from flexarm.integrators.state import State

# Kennedy and Carpenter's ESDIRK5(4)7L[2]SA2 (Applied Numerical Mathematics 146, 2019): the first two columns are equal.
GAMMA = 23 / 125
FIRST_COLUMNS = (
    0.0,
    GAMMA,
    791020047304 / 3561426431547,
    -158159076358 / 11257294102345,
    -1653327111580 / 4048416487981,
    -4540011970825 / 8418487046959,
    -188593204321 / 4778616380481,
)
TABLEAU_ROWS = (
    (),
    (),
    (),
    (-85517644447 / 5003708988389,),
    (1514767744496 / 9099671765375, 14283835447591 / 12247432691556),
    (-1790937573418 / 7393406387169, 10819093665085 / 7266595846747, 4109463131231 / 7386972500302),
    (
        2809310203510 / 10304234040467,
        1021729336898 / 2364210264653,
        870612361811 / 2470410392208,
        -1307970675534 / 8059683598661,
    ),
)
EMBEDDED_WEIGHTS = (
    *(-582099335757 / 7214068459310,) * 2,
    615023338567 / 3362626566945,
    3192122436311 / 6174152374399,
    6156034052041 / 14430468657929,
    -1011318518279 / 9693750372484,
    1914490192573 / 13754262428401,
)


def _tableau() -> tuple[Array, Array, Array]:
    """A (its last row are the weights b: the method is stiffly accurate), the nodes c, and the weights of the error."""
    stages = len(FIRST_COLUMNS)
    A = np.zeros((stages, stages))
    for k, (first, others) in enumerate(zip(FIRST_COLUMNS, TABLEAU_ROWS, strict=True)):
        A[k, 2 : 2 + len(others)] = others
        A[k, : min(k, 2)] = first
        A[k, k] = GAMMA if k else 0.0
    c = A.sum(axis=1)
    c[-1] = 1.0
    return A, c, A[-1] - np.array(EMBEDDED_WEIGHTS)


def trapezoids(c: Array, used: Sequence[int] | None = None) -> Array:
    """Weights of a quadrature by trapezoids between these nodes, or those of them that are `used`."""
    order = sorted(range(len(c)) if used is None else used, key=lambda k: c[k])
    weights = np.zeros(len(c))
    for k, j in pairwise(order):
        weights[[k, j]] += (c[j] - c[k]) / 2
    return weights


A, C, E = _tableau()

COARSE_STAGES = (0, 1, 4, 6)  # stages with nodes 0, 0.37, 0.7 and 1
ABRUPT_WEIGHTS = A[-1] - trapezoids(C), trapezoids(C) - trapezoids(C, COARSE_STAGES)
ABRUPT_CHANGE_COUNT = 10  # such changes in a run
RECTIFICATION_FACTOR = 10  # dry friction and stops turn errors of a vibration into a drift, which is larger
SLOW_CONVERGENCE = 0.02  # square of the factor by which changes shrink: above this, factors are made anew


@dataclass(frozen=True)
class EsdirkStage:
    """Result of a stage at all coordinates, with the powers supplied and dissipated."""

    q: Any
    v: Any
    a: Any
    powers: tuple[Any, ...]


class Esdirk(Method):
    """Kennedy and Carpenter's ESDIRK5(4)7L[2]SA2, 2019: order 5, L-stable and stiffly accurate.

    Six implicit stages with S = M + gamma dt D + gamma^2 dt^2 K, gamma = 0.184, each solved for its acceleration by
    Newton's method from a polynomial through the stages before. Modes that a step resolves are followed to order 5,
    those that it does not are damped out.
    """

    order = 5
    estimate = 5
    patience = 2
    nodes = tuple(sorted(C.tolist()))

    def advance(self, plant: Plant, state: State, inputs: list[Any], dt: Any) -> tuple[State, Any, Any]:
        at = dict(zip(self.nodes, inputs, strict=True))
        stages, last, solutions = self._stages(plant, state, at, dt)
        forces, end = solutions[-1].forces, stages[-1]
        if last.constrained is not None and last.constrained.constraint_solver.projects:
            q, v = last.constrained.projected(end.q, end.v)
            end = replace(end, q=q, v=v)
        work, lost = (
            _along(energy, A[-1], [each.powers[kind] for each in stages], dt)
            for kind, energy in enumerate((state.work, state.lost))
        )
        after = State(end.q, end.v, end.a, _ahead(stages), work, lost, *end.powers, *[forces])
        error = self._error(plant, stages, dt)
        none = ca.MX.zeros(len(plant.free))
        undone = newton.ERROR_STEPS * plant.horizon * _along(none, A[-1, 1:], [each.left for each in solutions], dt)
        of_error, left = plant.moved(state.q, state.v, error, undone)
        return after, of_error + self._abrupt(plant, stages, at, last, dt), left

    @staticmethod
    def _stages(
        plant: Plant, state: State, at: dict[float, Any], dt: Any
    ) -> tuple[list[EsdirkStage], newton.NewtonProblem, list[newton.Solution]]:
        """Return all stages, the problem solved in the last one, and the solutions."""
        stiff, damp = (GAMMA * dt) ** 2, GAMMA * dt
        middle = state.q + dt / 2 * state.v
        factors = plant.factor(middle, state.v, at[1.0], stiff, damp)
        solver = plant.constraint_solver
        about = factors, None if solver is None else solver.at(middle, factors)
        stages = [EsdirkStage(state.q, state.v, state.a, (state.given, state.drained))]
        solutions: list[newton.Solution] = []
        slowest, forces = ca.MX(0), state.forces
        for k in range(1, len(C)):
            u = at[float(C[k])]
            v_base = _along(plant.of_free(state.v), A[k, :k], [plant.of_free(each.a) for each in stages], dt)
            q_base = _along(plant.of_free(state.q), A[k, :k], [plant.of_free(each.v) for each in stages], dt)
            sought = newton.NewtonProblem(plant, q_base + damp * v_base, v_base, u, stiff, damp, *about)
            if solutions:
                slowest = ca.fmax(slowest, solutions[-1].rate)
                sought = sought.renewed(*_posture(stages, dt), slowest > SLOW_CONVERGENCE)
                about = sought.factors, sought.constrained
            weight, like = newton.ERROR_STEPS * abs(A[-1, k]) * dt, solutions[-1] if solutions else None
            solutions.append(sought.solve(_guess(plant, stages, state), forces, weight, like))
            forces = solutions[-1].forces
            q, v, a = sought.at(solutions[-1].a)
            powers = tuple(ca.dot(v, each) for each in plant.energy_forces(q, v, a, u, forces))
            stages.append(EsdirkStage(q, v, a, powers))
        return stages, sought, solutions

    @staticmethod
    def _error(plant: Plant, stages: list[EsdirkStage], dt: Any) -> Any:
        """Return accumulated errors: those of rates over the horizon, and those of positions once.

        Modes that steps do not resolve are damped out and need no filter.
        """
        none = ca.MX.zeros(len(plant.free))
        missed, rates = (
            _along(none, E, [plant.of_free(getattr(each, name)) for each in stages], dt) for name in ("v", "a")
        )
        adding_up = Esdirk.adding_up * (1 if plant.abrupt is None else RECTIFICATION_FACTOR)
        return missed + adding_up * plant.horizon * rates

    @staticmethod
    def _abrupt(
        plant: Plant, stages: list[EsdirkStage], at: dict[float, Any], last: newton.NewtonProblem, dt: Any
    ) -> Any:
        """Return accumulated errors due to forces that change within steps, as displacements of the links.

        Two measures are used, since each of them misses some changes.
        """
        if plant.abrupt is None:
            return 0
        end, none = stages[-1], ca.MX.zeros(len(plant.free))
        forces = [plant.abrupt(each.q, each.v, at[float(c)]) for each, c in zip(stages, C, strict=True)]
        factors = plant.factor(end.q, end.v, last.u, 0, 0)
        rates = (plant.substitute(factors, _along(none, weights, forces, dt)) for weights in ABRUPT_WEIGHTS)
        seen = (plant.resolved(last.factors, end.q, each, last.stiff, last.damp) for each in rates)
        first, second = plant.moved(end.q, end.v, *seen)
        return ABRUPT_CHANGE_COUNT * plant.horizon * (first + second)


def _along(start: Any, weights: Array, rates: list[Any], dt: Any) -> Any:
    terms = [weight * rate for weight, rate in zip(weights.tolist(), rates, strict=True) if weight]
    return start + dt * sum(terms[1:], terms[0])


def _posture(stages: list[EsdirkStage], dt: Any) -> tuple[Any, Any]:
    """About where the next stage is (q, v): a straight line from the nearest stage before it."""
    here = C[len(stages)]
    nearest = min(range(len(stages)), key=lambda k: abs(C[k] - here))
    known = stages[nearest]
    return known.q + (here - C[nearest]) * dt * known.v, known.v


def _ahead(stages: list[EsdirkStage]) -> Any:
    """The acceleration one step ahead, along the tangent at the end to a parabola through the last stages."""
    *_, first, second, last = stages
    x, y = C[-3] - 1, C[-2] - 1
    slope = ((first.a - last.a) * (-y / x) + (second.a - last.a) * (x / y)) / (x - y)
    return last.a + slope


def _guess(plant: Plant, stages: list[EsdirkStage], state: State) -> Any:
    """The acceleration of the next stage, by a parabola through the nearest stages before it; of the first, along the
    tangent at the end of the step before."""
    here = C[len(stages)]
    if len(stages) == 1:
        a = plant.of_free(state.a)
        return a + here * (plant.of_free(state.aux) - a)
    nearest = sorted(range(len(stages)), key=lambda k: abs(C[k] - here))[:3]
    weights = (np.prod([(here - C[j]) / (C[k] - C[j]) for j in nearest if j != k]) for k in nearest)
    terms = [float(weight) * plant.of_free(stages[k].a) for weight, k in zip(weights, nearest, strict=True)]
    return sum(terms[1:], terms[0])
