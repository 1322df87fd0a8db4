"""Newton's method inside a step: some iterations always, and rounds of more where a step is told to take them.

How many rounds is an input of the step, so more iterations are the same code.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import casadi as ca

if TYPE_CHECKING:
    from flexarm.motion.constraint_solver import ConstraintsAt
    from flexarm.motion.plant import Plant

ITERATIONS = (2, 4, 8, 16)  # in all: more are taken when these do not converge


def first(iterations: int) -> int:
    """How many iterations the code always takes for a wanted number."""
    return ITERATIONS[0] if iterations in ITERATIONS else iterations


def rounds(iterations: int) -> int:
    """How many rounds of more it takes to come to that number."""
    return ITERATIONS.index(iterations) if iterations in ITERATIONS else 0


@dataclass(frozen=True)
class Problem:
    """Accelerations of the free coordinates are sought with q = q_base + stiff a and v = v_base + damp a."""

    plant: Plant
    q_base: Any
    v_base: Any
    u: Any
    stiff: Any
    damp: Any
    factors: Any
    constrained: ConstraintsAt | None

    def at(self, a: Any) -> tuple[Any, Any, Any]:
        """q, v and a of all coordinates."""
        q_driven, v_driven, a_driven = self.plant.split(self.u)[3]
        whole = self.plant.whole
        q, v = self.q_base + self.stiff * a, self.v_base + self.damp * a
        return whole(q, q_driven), whole(v, v_driven), whole(a, a_driven)

    def solve(self, a: Any, forces: Any, iterations: int) -> tuple[Any, Any, Any]:
        """Accelerations, the last change of them and the multipliers of the constraints (None without)."""
        given = [self.q_base, self.v_base, self.u, self.stiff, self.damp, self.factors]
        if self.constrained is not None:
            given += [self.constrained.J, self.constrained.G, self.constrained.inverse]
        once, numbers = self._iteration(given), self.plant.numbers
        held = [] if forces is None else [forces]
        found = [a, 0 * a, *held]
        for _ in range(first(iterations)):
            found = _listed(once(*found, *given, numbers))
        further = [count for count in ITERATIONS if count > first(iterations)]
        if further:
            more = _more(once, first(iterations), further, len(found))
            found = _listed(more(self.plant.rounds > 0, *found, *given, numbers, self.plant.rounds))
        return found[0], found[1], None if forces is None else found[2]

    def _iteration(self, given: Sequence[Any]) -> ca.Function:
        """(a, its last change, forces, what is given, numbers) -> (a, its change, forces)."""
        plant = self.plant
        q_base, v_base, u, stiff, damp, factors, *about = (ca.MX.sym("given", *each.shape) for each in given)
        a, last = ca.MX.sym("a", len(plant.free)), ca.MX.sym("last", len(plant.free))
        here = Problem(plant, q_base, v_base, u, stiff, damp, factors, None)
        inputs = [q_base, v_base, u, stiff, damp, factors, *about]
        trial = here.at(a)
        missing = plant.residual(*trial, u)
        solver = plant.constraint_solver
        if solver is None:
            change = plant.substitute(factors, -plant.of_free(missing))
            return plant.step_function("newton", [a, last, *inputs], [a + change, change])
        J, G, inverse = about
        forces = ca.MX.sym("forces", solver.count)
        pull, across = solver.trial(*trial, forces)
        change = plant.substitute(factors, -plant.of_free(missing + pull))
        more = inverse @ (J @ change + across)
        change = change - G @ more
        return plant.step_function("newton", [a, last, forces, *inputs], [a + change, change, forces + more])


def _more(once: ca.Function, done: int, counts: Sequence[int], found: int, round_: int = 0) -> Callable[..., Any]:
    """Iterations up to the first of these counts, then up to the others as far as the rounds go; or none."""
    inputs = [ca.MX.sym(f"i{k}", *once.size_in(k)) for k in range(once.n_in())]
    rounds = ca.MX.sym("rounds")
    here = inputs[:found]
    for _ in range(counts[0] - done):
        here = _listed(once(*here, *inputs[found:]))
    if len(counts) > 1:
        onward = _more(once, counts[0], counts[1:], found, round_ + 1)
        here = _listed(onward(rounds > round_ + 1, *here, *inputs[found:], rounds))
    taken = ca.Function(f"round_{round_}", [*inputs, rounds], here)
    skipped = ca.Function("skipped", [*inputs, rounds], inputs[:found])
    return ca.Function.if_else(f"more_{round_}", taken, skipped)


def _listed(outputs: Any) -> list[Any]:
    return list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]
