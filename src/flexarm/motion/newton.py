"""Newton's method inside a step: some iterations always, and rounds of more where a step is told to take them.

How many rounds is an input of the step, so more iterations are the same code.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import casadi as ca

from flexarm.motion.constraint_solver import ConstraintsAt

if TYPE_CHECKING:
    from flexarm.motion.plant import Plant


@dataclass(frozen=True)
class Solution:
    """Accelerations of the free coordinates, the last change of them, the factor by which changes shrank from one
    iteration to the next (where there were two), and the multipliers of the constraints (None without)."""

    a: Any
    change: Any
    shrinking: Any
    forces: Any


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

    def solve(self, a: Any, forces: Any, counts: Sequence[int], round_: int = 0) -> Solution:
        """From a first guess: the first of these `counts` of iterations always, the others from this round on."""
        once, numbers, rounds = iteration(self.plant), self.plant.numbers, self.plant.rounds
        given = [self.q_base, self.v_base, self.u, self.stiff, self.damp, *self.about]
        found = [a, 0 * a, ca.MX.zeros(2), *([] if forces is None else [forces])]
        for _ in range(counts[0]):
            found = list(once(*found, *given, numbers))
        if len(counts) > 1:
            more = self.plant.made(("more", *counts), lambda _: _more(once, counts, len(found), round_))
            found = list(more(rounds > round_, *found, *given, numbers, rounds))
        before, after = found[2][0], found[2][1]
        shrinking = ca.fmin(1, ca.sqrt(after / ca.fmax(before, TINY)))
        return Solution(found[0], found[1], shrinking, None if forces is None else found[3])

    @property
    def about(self) -> list[Any]:
        """The factors, and with constraints what belongs to these."""
        more = [] if self.constrained is None else [self.constrained.J, self.constrained.G, self.constrained.inverse]
        return [self.factors, *more]

    def renewed(self, q: Any, v: Any) -> Problem:
        """From the first round on with factors at this posture instead of those that were given."""
        found = self.plant.made(("renewed",), _renewed)(
            self.plant.rounds > 0, q, v, self.u, self.stiff, self.damp, *self.about, self.plant.numbers
        )
        factors, *about = found if isinstance(found, (list, tuple)) else [found]
        constrained = None if self.constrained is None else ConstraintsAt(self.constrained.constraint_solver, *about)
        return replace(self, factors=factors, constrained=constrained)


def _renewed(plant: Plant) -> Callable[..., Any]:
    """(whether, q, v, u, stiff, damp, factors and what belongs to them, numbers) -> these anew, or as they were."""
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


TINY = 1e-300  # nothing is smaller that is not zero


def iteration(plant: Plant) -> ca.Function:
    """(a, its last change, sizes of the last two changes, forces, what is given, numbers) -> (a, its change, the sizes,
    forces). The size of a change is the work of what was missing along it: da' S da, to first order."""
    return plant.made(("newton",), _iteration)


def _iteration(plant: Plant) -> ca.Function:
    free, solver = len(plant.free), plant.constraint_solver
    a, last, sizes = ca.MX.sym("a", free), ca.MX.sym("last", free), ca.MX.sym("sizes", 2)
    q_base, v_base = ca.MX.sym("q_base", free), ca.MX.sym("v_base", free)
    u, factors = ca.MX.sym("u", plant.input_count), ca.MX.sym("factors", plant.factor.numel_out(0))
    stiff, damp = ca.MX.sym("stiff"), ca.MX.sym("damp")
    inputs = [q_base, v_base, u, stiff, damp, factors]
    trial = Problem(plant, *inputs, None).at(a)
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


def _more(once: ca.Function, counts: Sequence[int], found: int, round_: int) -> Callable[..., Any]:
    """Iterations from the first of these counts up to the second, then up to the others as far as the rounds go."""
    inputs = [ca.MX.sym(f"i{k}", *once.size_in(k)) for k in range(once.n_in())]
    rounds = ca.MX.sym("rounds")
    here = inputs[:found]
    for _ in range(counts[1] - counts[0]):
        here = list(once(*here, *inputs[found:]))
    if len(counts) > 2:
        onward = _more(once, counts[1:], found, round_ + 1)
        here = list(onward(rounds > round_ + 1, *here, *inputs[found:], rounds))
    taken = ca.Function(f"round_{round_}", [*inputs, rounds], here)
    skipped = ca.Function("skipped", [*inputs, rounds], inputs[:found])
    return ca.Function.if_else(f"more_{round_}", taken, skipped)
