"""Constraints in a step: M a + Phi_q^T lambda = f with Phi_q a + gamma + 2 g Phi_q v + b^2 Phi = 0, and their
stabilization.

S stays factorized link by link; only G = S^-1 Phi_q^T and the small matrix Phi_q G are added.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import casadi as ca

from flexarm.dynamics.articulated import back_substitute, unpack_eliminated
from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.messages import shown
from flexarm.foundation.validation import real_number

if TYPE_CHECKING:
    from flexarm.integrators.plant import Plant, WithNumbers


@dataclass(frozen=True)
class Baumgarte:
    """Stabilization of constraints by feedback of their violation, Phi'' + 2 gamma Phi' + beta^2 Phi = 0.

    Parameters
    ----------
    gamma, beta : float, optional
        Damping and stiffness of the feedback (1/s).
    """

    gamma: float = 5.0
    beta: float = 5.0

    def __post_init__(self) -> None:
        for name in ("gamma", "beta"):
            real_number(f"Baumgarte: {name}", getattr(self, name), "1/s", least=0)


Stabilization = Literal["projection"] | Baumgarte


def checked(given: object) -> Stabilization:
    """The option of `simulate`, or a sentence about what it may be."""
    if isinstance(given, str) and given == "projection":
        return "projection"
    if isinstance(given, Baumgarte):
        return given
    raise ValueError(f"stabilization = {shown(given)}: must be 'projection' or fa.Baumgarte(gamma, beta)")


PROJECTION_COUNT = 2  # corrections of q after a step; the second takes what the first leaves by its curvature


@dataclass(frozen=True)
class ConstraintsAt:
    """The constraints about one posture, as MX: J = Phi_q, G = S^-1 J^T, inverse = (J G)^-1, at free coordinates."""

    constraint_solver: ConstraintSolver
    J: Any
    G: Any
    inverse: Any

    def forces(self, violation: Any) -> Any:
        """The multipliers that undo an acceleration across the constraints."""
        return self.inverse @ violation

    def along(self, change: Any) -> Any:
        """The part of a change of the free coordinates along the constraints."""
        return change - self.G @ self.forces(self.J @ change)

    def projected(self, q: Any, v: Any) -> tuple[Any, Any]:
        """q and v moved onto the constraints."""
        for _ in range(PROJECTION_COUNT):
            q = q - self._whole(self.constraint_solver.value(q))
        return q, v - self._whole(self.constraint_solver.rate(q, v))

    def _whole(self, violation: Any) -> Any:
        plant = self.constraint_solver.plant
        return plant.whole(self.G @ self.forces(violation), ca.MX.zeros(len(plant.driven)))


class ConstraintSolver:
    """CasADi functions of a plant's constraints."""

    def __init__(self, plant: Plant, stabilization: Stabilization) -> None:
        self.plant = plant
        self.stabilization = stabilization
        self.constraints = plant.structure.constraints
        self.count = self.constraints.count

    def prepare(self) -> None:
        """Build the functions that results need, under the lock of expressions."""
        _ = (self.settled if self.projects else self.multipliers), self.pull

    @property
    def projects(self) -> bool:
        return self.stabilization == "projection"

    @cached_property
    def value(self) -> WithNumbers:
        """q -> Phi."""
        return self.plant.function("gap", [self.plant.equations.q], [ca.densify(self.constraints.value)])

    @cached_property
    def rate(self) -> WithNumbers:
        """(q, v) -> Phi_q v."""
        e = self.plant.equations
        return self.plant.function("gap_rate", [e.q, e.v], [ca.cse(ca.densify(self.constraints.rate))])

    @cached_property
    def acceleration(self) -> WithNumbers:
        """(q, v, a) -> Phi_q a + gamma, with the terms of stabilization."""
        e = self.plant.equations
        return self.plant.function("gap_acceleration", [e.q, e.v, e.a], [ca.cse(ca.densify(self._stabilized))])

    @property
    def _stabilized(self) -> Any:
        c = self.constraints
        if isinstance(self.stabilization, str):
            return c.acceleration
        return c.acceleration + 2 * self.stabilization.gamma * c.rate + self.stabilization.beta**2 * c.value

    @cached_property
    def trial(self) -> WithNumbers:
        """(q, v, a, lambda) -> Phi_q^T lambda and the stabilized acceleration: together, since they share the poses."""
        e, forces = self.plant.equations, ca.SX.sym("forces", self.count)
        outputs = ca.cse([ca.densify(self.constraints.pull(forces)), ca.densify(self._stabilized)])
        return self.plant.function("trial", [e.q, e.v, e.a, forces], outputs)

    @cached_property
    def pull(self) -> WithNumbers:
        """(q, lambda) -> Phi_q^T lambda at all coordinates."""
        forces = ca.SX.sym("forces", self.count)
        return self.plant.function(
            "pull", [self.plant.equations.q, forces], [ca.densify(self.constraints.pull(forces))]
        )

    @cached_property
    def constrained(self) -> WithNumbers:
        """(q, factors of S) -> J, G, (J G)^-1 at the free coordinates."""
        plant = self.plant
        _, _, links = plant._eliminated
        factors = ca.SX.sym("factors", plant.factor.numel_out(0))
        J = self.constraints.jacobian[:, plant.free]
        tree, order = unpack_eliminated(factors, links), plant.equations.chain.order
        G = ca.horzcat(*(back_substitute(tree, order, J[k, :].T) for k in range(self.count)))
        inverse = ca.ldl_solve(ca.SX.eye(self.count), *ca.ldl(ca.densify(J @ G)))
        return plant.function(
            "constrained", [plant.equations.q, factors], [*ca.cse([J, ca.densify(G), ca.densify(inverse)])]
        )

    def at(self, q: Any, factors: Any) -> ConstraintsAt:
        return ConstraintsAt(self, *self.constrained(q, factors))

    @cached_property
    def settled(self) -> ca.Function:
        """(q, v, a, u) -> the same on the constraints, and the multipliers that this motion takes."""
        plant, (q, v, a, u), constrained = self.plant, *self._motion()
        new_q, new_v = constrained.projected(q, v)
        new_a = a - constrained._whole(self.acceleration(new_q, new_v, a))
        forces = self._multipliers(constrained, plant.residual(new_q, new_v, new_a, u))
        return plant.step_function("settled", [q, v, a, u], [new_q, new_v, new_a, forces])

    @cached_property
    def multipliers(self) -> ca.Function:
        """(q, v, a, u) -> multipliers of a motion as it is."""
        plant, (q, v, a, u), constrained = self.plant, *self._motion()
        return plant.step_function(
            "multipliers", [q, v, a, u], [self._multipliers(constrained, plant.residual(q, v, a, u))]
        )

    def _motion(self) -> tuple[Any, ConstraintsAt]:
        """Symbols (q, v, a, u), and the constraints there with M for S."""
        plant = self.plant
        sizes = (plant.n, plant.n, plant.n, plant.input_count)
        symbols = [ca.MX.sym(name, size) for name, size in zip("qvau", sizes)]
        q, v, _, u = symbols
        return symbols, self.at(q, plant.factor(q, v, u, 0, 0))

    def _multipliers(self, constrained: ConstraintsAt, residual: Any) -> Any:
        """Return the multipliers that balance the residual best; exactly if the motion satisfies the equations."""
        return -constrained.inverse @ (constrained.G.T @ self.plant.of_free(residual))
