"""Generalized-alpha and Newmark methods: second-order step maps with one factorization."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import casadi as ca

from flexarm.foundation.validation import real_number, whole_number
from flexarm.integrators.methods import newton
from flexarm.integrators.methods.method import Method
from flexarm.integrators.plant import Plant
from flexarm.integrators.state import State


class GeneralizedAlpha(Method):
    """Generalized-alpha method: second order, with numerical damping of high frequencies.

    Parameters
    ----------
    radius : float, optional
        Spectral radius at infinite frequency: 1 damps nothing, 0 removes unresolved modes in one step.
    iterations : int, optional
        Least number of Newton iterations in a step; more are made while their corrections matter.

    Notes
    -----
    The method of Chung and Hulbert (1993) in the form of Arnold and Bruels (2007). Unknowns are the accelerations. The
    iteration matrix S = M + gamma' dt D + beta' dt^2 K leaves out gyroscopic terms and is factorized once a step. The
    error, c dt^2 times the change of the acceleration, is filtered twice by S^-1 M, so that modes count that the step
    resolves: the method itself damps out the others.
    """

    order = 2
    estimate = 2
    nodes = (0.0, 1.0)

    def __init__(self, radius: float = 0.9, iterations: int = 2) -> None:
        radius = real_number("radius", radius, least=0, most=1)
        self.iterations = whole_number("iterations", iterations, least=1)
        self.alpha_m, self.alpha_f = (2 * radius - 1) / (radius + 1), radius / (radius + 1)
        self.gamma = 0.5 + self.alpha_f - self.alpha_m
        self.beta = 0.25 * (self.gamma + 0.5) ** 2

    def softening(self, dt: Any) -> tuple[Any, Any]:
        """Return the factors of D and K in the iteration matrix, see `Method.softening`.

        Parameters
        ----------
        dt : float
            Step size (s).

        Returns
        -------
        tuple of float
        """
        scale = (1 - self.alpha_f) / (1 - self.alpha_m)
        return self.beta * scale * dt**2, self.gamma * scale * dt

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
        before, u = inputs
        a_driven = plant.split(u)[3][2]
        q, v, a, aux = (plant.of_free(part) for part in (state.q, state.v, state.a, state.aux))
        scale = (1 - self.alpha_f) / (1 - self.alpha_m)
        base = (self.alpha_f * a - self.alpha_m * aux) / (1 - self.alpha_m)
        q_base = q + dt * v + dt**2 * ((0.5 - self.beta) * aux + self.beta * base)
        v_base = v + dt * ((1 - self.gamma) * aux + self.gamma * base)
        stiff, damp = self.softening(dt)

        sought = newton.NewtonProblem(plant, q_base, v_base, u, stiff, damp, None, None)
        first = sought.at(a)[0]
        ahead = plant.switched(state.q, first)
        factors = plant.factor(ahead, state.v, u, stiff, damp)
        solver = plant.constraint_solver
        constrained = None if solver is None else solver.at(first, factors)
        sought = replace(sought, factors=factors, constrained=constrained)
        solved = sought.solve(a, state.forces, newton.ERROR_STEPS * dt, least=self.iterations)
        new, forces = solved.a, solved.forces
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
        undone = newton.ERROR_STEPS * plant.horizon * dt * solved.left
        return after, *plant.moved(state.q, state.v, plant.horizon / dt * error, undone)

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
    """Newmark's average acceleration method (beta 1/4, gamma 1/2): second order, without numerical damping.

    Parameters
    ----------
    iterations : int, optional
        Least number of Newton iterations in a step.
    """

    def __init__(self, iterations: int = 2) -> None:
        self.iterations = whole_number("iterations", iterations, least=1)
        self.alpha_m = self.alpha_f = 0.0
        self.beta, self.gamma = 0.25, 0.5
