"""Equations of motion by algorithmic differentiation of the links' kinematics and energies.

Each link i has a twist V_i(q, v), linear in v, and an energy T_i(V_i, x_i, dx_i) of that twist and its own coordinates
x_i. Then (Kane, Boltzmann-Hamel; docs/theory.md, "Equations of motion")

    inverse dynamics = sum_i (dV_i/dv)^T F_i + own forces + K q + D v + friction,

with F_i (6,) the rate of the link's momentum in its own axes. Each term involves one link and its parent only, so the
cost is proportional to the number of coordinates. Gravity is an upward acceleration of the ground.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import casadi as ca

from flexarm.dynamics import energies
from flexarm.dynamics.articulated import Articulated, LocalInertia
from flexarm.dynamics.kinematics import Kinematics
from flexarm.dynamics.parameters import SymbolsUnder
from flexarm.dynamics.places import steps_to_place, tip_symbols
from flexarm.dynamics.spatial_algebra import Jet, Step, pose_along, twist_along


class Equations:
    """CasADi expressions of all functions of a System, each built at first use; `p` are the parameters.

    `owners` are the indices of links by the names of links and frames; `tip_link` is the link that has the robot's tip.
    """

    def __init__(self, chain: Kinematics, owners: Mapping[str, int], tip_link: int) -> None:
        self.chain, self.owners, self.tip_link = chain, owners, tip_link
        self.p = chain.parameters.column
        n = chain.coordinates.count
        self.q, self.v, self.a = ca.SX.sym("q", n), ca.SX.sym("v", n), ca.SX.sym("a", n)
        self.tau = ca.SX.sym("tau", n)

    @cached_property
    def K(self) -> Any:
        """Constant part of the stiffness matrix (nq, nq)."""
        return energies.stiffness(self.chain)

    @cached_property
    def D(self) -> Any:
        """Constant part of the damping matrix (nq, nq)."""
        return energies.damping(self.chain)

    # --- inverse dynamics ---

    @cached_property
    def _twists(self) -> list[Any]:
        return [ca.vertcat(*twist) for twist in self.chain.twists(self.q, self.v)]

    @cached_property
    def inverse_dynamics(self) -> Any:
        """Generalized forces (nq,) for accelerations a: M(q) a + h(q, v)."""
        return ca.cse(self._inertia_forces + self._internal_forces)

    @cached_property
    def bias(self) -> Any:
        """Generalized forces h(q, v), (nq,), at zero acceleration."""
        return ca.cse(ca.substitute(self.inverse_dynamics, self.a, ca.SX.zeros(self.a.shape)))

    @cached_property
    def _inertia_forces(self) -> Any:
        """Generalized forces of inertia and gravity, d/dt dT/dv - dT/dq + dU/dq."""
        forces, own = self.forces_of_links
        return ca.jtimes(ca.vertcat(*self._twists), self.v, ca.vertcat(*forces), True) + own

    @cached_property
    def forces_of_links(self) -> tuple[list[Any], Any]:
        """Forces (6,) on the twist of each link, and forces (nq,) on all coordinates; gravity included."""
        chain = self.chain
        upward = -chain.parameters["gravity"]
        forces, own = [], ca.SX.zeros(chain.coordinates.count)
        for i, moved in enumerate(chain.accelerations(self.q, self.v, self.a, upward)):
            coordinates = (chain.part(vector, i) for vector in (self.q, self.v, self.a))
            force, own[chain.bodies[i].local.all, 0] = self.link_forces(i)(*moved, *coordinates, self.p)
            forces.append(force)
        return forces, own

    def link_forces(self, i: int) -> ca.Function:
        """Return the function (omega, domega, a, x, dx, ddx, parameters) -> forces on the twist and own coordinates.

        omega, domega and a are angular velocity, its rate and the acceleration of the link's root in root axes.
        """
        body = self.chain.bodies[i]
        omega, domega, a = (ca.SX.sym(name, 3) for name in ("omega", "domega", "a"))
        own = Jet(*(ca.SX.sym(name, body.local.count) for name in ("x", "dx", "ddx")))
        force, inner = energies.link_forces(body, omega, domega, a, own)
        return ca.Function("link", [omega, domega, a, own.x, own.dx, own.ddx, self.p], [force, inner])

    @property
    def _internal_forces(self) -> Any:
        """Generalized forces of springs, dampers and friction."""
        return self.springs + self.dampers

    @cached_property
    def springs(self) -> Any:
        """Generalized forces (nq,) against the deformation of links, drives and stops."""
        varying = ca.gradient(energies.varying_potential(self.chain, self.q), self.q)
        return self.K @ self.q + varying

    @cached_property
    def dampers(self) -> Any:
        """Generalized forces (nq,) of dampers and friction."""
        varying = ca.gradient(energies.varying_dissipation(self.chain, self.q, self.v), self.v)
        return self.D @ self.v + varying + energies.dry_friction(self.chain, self.v)

    @cached_property
    def spring_stiffness(self) -> Any:
        """Tangent stiffness (nq, nq) of links, drives and stops."""
        return ca.cse(ca.jacobian(self.springs, self.q))

    @cached_property
    def damper_matrix(self) -> Any:
        """Derivative of the dampers by v, with the slope of smoothed Coulomb friction."""
        return ca.cse(ca.jacobian(self.dampers, self.v))

    @cached_property
    def linear_damping(self) -> Any:
        """Damping matrix D(q) without Coulomb friction."""
        varying, _ = ca.hessian(energies.varying_dissipation(self.chain, self.q, self.v), self.v)
        return ca.cse(self.D + varying)

    # --- mass matrix and what follows from it ---

    @cached_property
    def articulated(self) -> Articulated:
        """Tree of link inertias at q."""
        return Articulated([self._local_inertia(i) for i in range(len(self.chain.bodies))], self.chain.order)

    def _local_inertia(self, i: int) -> LocalInertia:
        """Return the second derivatives of a link's T and the Jacobians of its twist, at q."""
        chain, body = self.chain, self.chain.bodies[i]
        dx = ca.SX.sym("dx", body.local.count)
        x = chain.part(self.q, i)
        above = body.parent
        above_count = 0 if above is None else chain.bodies[above].local.count
        above_V, above_dx = ca.SX.sym("above_V", 6), ca.SX.sym("above_dx", above_count)
        above_jet = None if above is None else Jet.slow(chain.part(self.q, above), above_dx)
        steps = chain.joint_path(i, above_jet, Jet.slow(x, dx))
        twist = ca.vertcat(*twist_along(steps, above_V[:3], above_V[3:]))
        return LocalInertia(
            parent=above,
            place=body.local.all,
            inertia=energies.inertia(body, x),
            carry=ca.jacobian(twist, above_V),
            carry_x=ca.jacobian(twist, above_dx),
            joint=ca.jacobian(twist, dx),
        )

    @cached_property
    def mass_matrix(self) -> Any:
        """Mass matrix M(q), (nq, nq)."""
        return ca.cse(self.articulated.matrix())

    @cached_property
    def forward_dynamics(self) -> Any:
        """Accelerations (nq,) under generalized forces tau, M^-1 (tau - h), without forming M."""
        return ca.cse(self.articulated.solve(self.tau - self.bias))

    @cached_property
    def coriolis(self) -> Any:
        """Matrix C(q, v) of Christoffel symbols: dM/dt - 2 C is skew and C v is the quadratic part of h."""
        M = ca.densify(self.mass_matrix)
        rate = ca.reshape(ca.jtimes(ca.vec(M), self.q, self.v), *M.shape)
        turn = ca.jacobian(ca.gradient(self.kinetic, self.v), self.q)  # momentum from T: cheaper than M v
        return ca.cse((rate + turn - turn.T) / 2)

    @cached_property
    def linearization(self) -> tuple[Any, Any, Any]:
        """Tangent stiffness, gyroscopic matrix and damping matrix (nq, nq): derivatives of the inverse dynamics."""
        inertia = self._inertia_forces
        K = ca.jacobian(inertia + self.dampers, self.q) + self.spring_stiffness
        return ca.cse(K), ca.cse(ca.jacobian(inertia, self.v)), self.damper_matrix

    def linearization_along(self, x: Any) -> tuple[Any, Any, Any]:
        """Return the products of the matrices of `linearization` with a vector x."""
        inertia = self._inertia_forces
        Kx = ca.jtimes(inertia + self.dampers + self.springs, self.q, x)
        return ca.cse(Kx), ca.cse(ca.jtimes(inertia, self.v, x)), ca.cse(ca.jtimes(self.dampers, self.v, x))

    # --- energies ---

    @cached_property
    def kinetic(self) -> Any:
        """Kinetic energy."""
        parts = (
            energies.kinetic_energy(body, twist, self.chain.part(self.q, i), self.chain.part(self.v, i))
            for i, (body, twist) in enumerate(zip(self.chain.bodies, self._twists, strict=True))
        )
        return ca.cse(sum(parts))

    @cached_property
    def momentum(self) -> Any:
        """Generalized momentum M(q) v, at the cost of the kinetic energy."""
        return ca.cse(ca.gradient(self.kinetic, self.v))

    @cached_property
    def gravity_potential(self) -> Any:
        """Potential energy of gravity."""
        g = self.chain.parameters["gravity"]
        total = ca.SX(0)
        for i, (R, p) in enumerate(self.chain.poses(self.q)):
            mass, moment = energies.first_moment(self.chain.bodies[i], self.chain.part(self.q, i))
            total -= ca.dot(g, mass * p + R @ moment)
        return total

    @cached_property
    def gravity(self) -> Any:
        """Generalized forces of gravity G(q), (nq,)."""
        return ca.cse(ca.gradient(self.gravity_potential, self.q))

    @cached_property
    def gravity_stiffness(self) -> Any:
        """Derivative dG/dq, (nq, nq)."""
        return ca.cse(ca.jacobian(self.gravity, self.q))

    @cached_property
    def energies(self) -> tuple[Any, Any, Any, Any]:
        """Kinetic, elastic (links), gravity and drive (springs and stops) energy."""
        bodies = [(body, self.chain.part(self.q, i)) for i, body in enumerate(self.chain.bodies)]
        elastic = sum((energies.strain_energy(body, x) for body, x in bodies), ca.SX(0))
        drive = sum((energies.drive_energy(body, x) for body, x in bodies), ca.SX(0))
        return self.kinetic, elastic, self.gravity_potential, drive

    # --- poses of sections ---

    @property
    def tip(self) -> Any:
        """Position (3,) of the robot's tip in the world."""
        return self.tip_pose[1]

    @property
    def tip_pose(self) -> tuple[Any, Any]:
        """Rotation and position of the robot's tip in the world."""
        return self.frame(self.tip_link, tip_symbols(self.chain.bodies[self.tip_link]))

    def frame(self, link: int, there: SymbolsUnder) -> tuple[Any, Any]:
        """Return rotation and position of the section at a position on a link, in the world."""
        return pose_along(self.to_section(link, there), *self.chain.poses(self.q)[link])

    def tip_deflection(self, link: int) -> Any:
        """Return the displacement (3,) of a link's tip from the undeformed link, in its root frame."""
        body = self.chain.bodies[link]
        return body.model.deflection(body, self.chain.part(self.q, link))

    def twist(self, link: int, there: SymbolsUnder) -> Any:
        """Return the twist (omega, v) of the section at a position on a link, in its own axes."""
        root = self._twists[link]
        return ca.vertcat(*twist_along(self.to_section(link, there), root[:3], root[3:]))

    def jacobian(self, link: int, there: SymbolsUnder) -> Any:
        """Return the Jacobian (6, nq) of the section at a position on a link, in its own axes."""
        return ca.cse(ca.jacobian(self.twist(link, there), self.v))

    def to_section(self, link: int, there: SymbolsUnder) -> list[Step]:
        """Return the steps from a link's root frame to its section at a position."""
        own = Jet.slow(*(self.chain.part(vector, link) for vector in (self.q, self.v)))
        return steps_to_place(self.chain.bodies[link], there, own)

    # --- inputs ---

    @cached_property
    def input_matrix(self) -> Any:
        """Matrix B (nq, nu) of generalized forces per unit of each input."""
        actuators = self.chain.coordinates.actuators
        out = ca.SX(self.chain.coordinates.count, len(actuators))
        gears = {body.link.name: body.parameters for body in self.chain.bodies}
        for column, each in enumerate(actuators):
            out[each.coordinate.index, column] = gears[each.link].get("joint.drive.gear_ratio", 1.0)
        return out
