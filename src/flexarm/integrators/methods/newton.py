"""Newton's method inside a step: iterations until the remaining correction does not matter.

The step itself decides how many iterations are taken, so that the code is the same for all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import casadi as ca

from flexarm.foundation.dataclass import dataclass
from flexarm.integrators.constraint_solver import ConstraintsAt

if TYPE_CHECKING:
    from flexarm.integrators.plant import Plant

MAX_ITERATIONS = 12  # iterations
ERROR_STEPS = 100  # steps for which what an iteration leaves is thought to be the same
MIN_POSITIVE = 1e-300  # nothing is smaller that is not zero


@dataclass(frozen=True)
class Solution:
    """Accelerations of the free coordinates, the last change of them, the square of the factor by which changes shrink
    from one iteration to the next, and the multipliers of the constraints (None without)."""

    a: Any
    change: Any
    rate: Any
    forces: Any

    @property
    def left(self) -> Any:
        """Correction that the next iteration would make."""
        return ca.sqrt(self.rate) * self.change


@dataclass(frozen=True)
class NewtonProblem:
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

    def solve(self, a: Any, forces: Any, weight: Any, like: Solution | None = None, least: int = 2) -> Solution:
        """Iterate from a first guess, at least `least` times, and while the next correction matters.

        `weight` (s) converts an error of the acceleration into one of the rate. One iteration does not show how fast
        corrections shrink: it is enough if there is a solution `like` this one, which does.
        """
        least = least if like is None else 1
        once, numbers = iteration(self.plant), self.plant.numbers
        given = [self.q_base, self.v_base, self.u, self.stiff, self.damp, *self.about]
        found = [a, 0 * a, ca.MX.zeros(2), *([] if forces is None else [forces])]
        for _ in range(least):
            found = list(once(*found, *given, numbers))
        first = _rate(found[2]) if like is None else like.rate
        counts = weight**2 * first * found[2][1] > self.plant.solved
        more = max(1, MAX_ITERATIONS - least)
        onward = self.plant.made(("onward", more), lambda _: _onward(once, more, len(found)))
        found = list(onward(counts, *found, *given, numbers, weight, self.plant.solved))
        measured = _rate(found[2])
        rate = measured if like is None else ca.if_else(found[2][0] > 0, measured, first)
        return Solution(found[0], found[1], rate, None if forces is None else found[3])

    @property
    def about(self) -> list[Any]:
        """The factors, and with constraints what belongs to these."""
        more = [] if self.constrained is None else [self.constrained.J, self.constrained.G, self.constrained.inverse]
        return [self.factors, *more]

    def renewed(self, q: Any, v: Any, when: Any) -> NewtonProblem:
        """Return the problem with factors at this posture if `when` is true, else with the given ones."""
        found = self.plant.made(("renewed",), _renewed)(
            when, q, v, self.u, self.stiff, self.damp, *self.about, self.plant.numbers
        )
        factors, *about = found if isinstance(found, (list, tuple)) else [found]
        constrained = None if self.constrained is None else ConstraintsAt(self.constrained.constraint_solver, *about)
        return replace(self, factors=factors, constrained=constrained)


def _renewed(plant: Plant) -> Callable[..., Any]:
    """Return the function (condition, q, v, u, stiff, damp, factors, numbers) -> new factors, or those given."""
    solver = plant.constraint_solver
    q, v, u = (ca.MX.sym(name, size) for name, size in zip("qvu", (plant.n, plant.n, plant.input_count)))
    stiff, damp = ca.MX.sym("stiff"), ca.MX.sym("damp")
    old = [ca.MX.sym("factors", plant.factor.numel_out(0))]
    new = [plant.factor(q, v, u, stiff, damp)]
    if solver is not None:
        old += [ca.MX.sym("about", solver.constrained.sparsity_out(k)) for k in range(3)]
        new += solver.constrained(q, new[0])
    inputs = [q, v, u, stiff, damp, *old]
    made, kept = (plant.step_function(name, inputs, out) for name, out in (("anew", new), ("kept", old)))
    return ca.Function.if_else("renewed", made, kept)


def _rate(sizes: Any) -> Any:
    return ca.fmin(1, sizes[1] / ca.fmax(sizes[0], MIN_POSITIVE))


def iteration(plant: Plant) -> ca.Function:
    """(a, its last change, sizes of the last two changes, forces, what is given, numbers) -> (a, its change, the sizes,
    forces). The size of a change is the work of what was missing along it: da' S da, to first order."""
    made: ca.Function = plant.made(("newton",), _iteration)
    return made


def _iteration(plant: Plant) -> ca.Function:
    free, solver = len(plant.free), plant.constraint_solver
    a, last, sizes = ca.MX.sym("a", free), ca.MX.sym("last", free), ca.MX.sym("sizes", 2)
    q_base, v_base = ca.MX.sym("q_base", free), ca.MX.sym("v_base", free)
    u, factors = ca.MX.sym("u", plant.input_count), ca.MX.sym("factors", plant.factor.numel_out(0))
    stiff, damp = ca.MX.sym("stiff"), ca.MX.sym("damp")
    inputs = [q_base, v_base, u, stiff, damp, factors]
    trial = NewtonProblem(plant, q_base, v_base, u, stiff, damp, factors, None).at(a)
    missing = plant.residual(*trial, u)
    if solver is None:
        short = plant.of_free(missing)
        change = plant.substitute(factors, -short)
        sizes_now = ca.vertcat(sizes[1], ca.fabs(ca.dot(change, short)))
        return plant.step_function("newton", [a, last, sizes, *inputs], [a + change, change, sizes_now])
    about = [ca.MX.sym("about", solver.constrained.sparsity_out(k)) for k in range(3)]
    J, G, inverse = about
    forces = ca.MX.sym("forces", solver.count)
    pull, across = solver.trial(*trial, forces)
    short = plant.of_free(missing + pull)
    change = plant.substitute(factors, -short)
    more = inverse @ (J @ change + across)
    change = change - G @ more
    sizes_now = ca.vertcat(sizes[1], ca.fabs(ca.dot(change, short)))
    outputs = [a + change, change, sizes_now, forces + more]
    return plant.step_function("newton", [a, last, sizes, forces, *inputs, *about], outputs)


def _onward(once: ca.Function, most: int, found: int) -> Callable[..., Any]:
    """Return the function that iterates while corrections matter, at most `most` times."""
    inputs = [ca.MX.sym(f"i{k}", *once.size_in(k)) for k in range(once.n_in())]
    weight, solved = ca.MX.sym("weight"), ca.MX.sym("solved")
    here = list(once(*inputs))
    if most > 1:
        counts = weight**2 * _rate(here[2]) * here[2][1] > solved
        here = list(_onward(once, most - 1, found)(counts, *here, *inputs[found:], weight, solved))
    taken = ca.Function(f"iteration_{most}", [*inputs, weight, solved], here)
    skipped = ca.Function("enough", [*inputs, weight, solved], inputs[:found])
    return ca.Function.if_else(f"onward_{most}", taken, skipped)
