"""Base class of link models, and the rigid link.

A link model provides, for bodies with values, the parameters of a link, and for bodies with symbols, its energies and
positions. No other module of `dynamics` depends on which models exist.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from flexarm.beam.sparsity import NODE_TOLERANCE
from flexarm.dynamics.links.beam_parameters import add_mass, add_section_inertia, beam_integrals
from flexarm.dynamics.spatial_algebra import Jet, Step, along_x
from flexarm.foundation.validation import Array

if TYPE_CHECKING:
    from flexarm.beam.integrals import LinkIntegrals
    from flexarm.beam.loaded_modes import Loads
    from flexarm.dynamics.bodies import Body, SymbolicBody
    from flexarm.dynamics.parameters import Parameters, SymbolsUnder
    from flexarm.robot import Link
    from flexarm.robot.joints import PrismaticContact


class LinkModel(ABC):
    """Model of a link, without state: what differs from link to link is in the bodies.

    `x`, `dx` are a body's own coordinates and rates, `own` both as a jet; `omega`, `v` the twist of its root.
    """

    # --- of links ---

    @abstractmethod
    def accepts(self, link: Link) -> bool:
        """Return True if the model applies to a link."""

    @abstractmethod
    def integrals(self, link: Link, smooth: bool, loads: Loads) -> LinkIntegrals:
        """Return the shapes and their integrals.

        `smooth`: something slides along the link. `loads`: masses that the link carries, for its modes.
        """

    def rear_integrals(self, link: Link) -> LinkIntegrals | None:
        """Return the integrals of the part behind its joint, or None."""
        return None

    @abstractmethod
    def size(self, link: Link) -> float:
        """Return the approximate number of instructions of its inverse dynamics."""

    # --- parameters of bodies ---

    @abstractmethod
    def add_parameters(self, parameters: Parameters, path: str, body: Body) -> None:
        """Add all parameters of its energies."""

    @abstractmethod
    def add_place(self, parameters: Parameters, path: str, body: Body, x: float, anywhere: bool = False) -> None:
        """Add the parameters of a position on it.

        `anywhere`: include parameters that are not zero at some other x, so that all positions share their structure.
        """

    @abstractmethod
    def add_rail(self, parameters: Parameters, path: str, body: Body, contact: PrismaticContact = "continuous") -> None:
        """Add the parameters of positions along which something slides, with its kind of contact."""

    @abstractmethod
    def points(self, body: Body, own: Array, x: Array) -> Array:
        """Return points (..., points, 3) of its deformed axis at x in its root frame, from its own coordinates."""

    def turns_between_nodes(self, body: Body, own: Array) -> Array | None:
        """Return the largest rotation (...,) between neighbouring nodes, or None for a model without nodes."""
        return None

    def require(self, body: Body, q: Array, name: str) -> None:
        """Raise a ValueError if coordinates q (..., nq) are not possible; `name` is that of its joint."""
        return

    # --- expressions of bodies with symbols ---

    @abstractmethod
    def kinetic(self, body: SymbolicBody, omega: Any, v: Any, x: Any, dx: Any) -> Any:
        """Return the kinetic energy, without lumped masses and rotors."""

    @abstractmethod
    def first_moment(self, body: SymbolicBody, x: Any) -> tuple[Any, Any]:
        """Return the mass and its first moment (3,) about the root, without lumped masses."""

    def stiffness(self, body: SymbolicBody) -> Any:
        """Return the constant part of K over its elastic coordinates."""
        return ca.SX(*2 * (body.elastic_count,))

    def damping(self, body: SymbolicBody) -> Any:
        """Return the constant part of D over its elastic coordinates."""
        return ca.SX(*2 * (body.elastic_count,))

    def varying_strain(self, body: SymbolicBody, x: Any) -> Any:
        """Return the strain energy that is not a quadratic form of a constant K."""
        return ca.SX(0)

    def varying_dissipation(self, body: SymbolicBody, x: Any, dx: Any) -> Any:
        """Return half the dissipated power that is not a quadratic form of a constant D."""
        return ca.SX(0)

    @abstractmethod
    def place(self, body: SymbolicBody, there: SymbolsUnder, own: Jet) -> list[Step]:
        """Return the steps from the root frame to a fixed position: to the axis, then into the axes of the section."""

    @abstractmethod
    def moving_place(
        self, body: SymbolicBody, rail: SymbolsUnder, x: Jet, own: Jet, contact: PrismaticContact = "continuous"
    ) -> list[Step]:
        """Return the steps from the root frame to a position x that moves along the link."""

    def guide_steps(self, body: SymbolicBody, own: Jet) -> list[Step]:
        """Return the step from a guide to the root frame of a link that slides through it, by default as a whole."""
        out = own.of(body.local.joint)
        return [along_x(Jet(out.x - body.length, out.dx, out.ddx))]

    def position_at(self, body: SymbolicBody, X: Any, x: Any) -> Any:
        """Return the position, as positions on the link are counted, of the point at X along the root frame's axis."""
        return X

    @abstractmethod
    def deflection(self, body: SymbolicBody, x: Any) -> Any:
        """Return the displacement (3,) of its tip from the undeformed link, in its root frame."""

    # --- derived; overridden where there is a cheaper way ---

    def forces(self, body: SymbolicBody, omega: Any, domega: Any, a: Any, own: Jet, v: Any) -> tuple[Any, Any]:
        """Return forces on the link's twist (6,) and on its own coordinates, for a given motion of its root.

        In an inertial frame that has the root's velocity at this instant, v = 0 and dv is the root's acceleration; the
        forces are the same (Galilean invariance), and all terms in v vanish. `v` is a symbol for that velocity.
        """
        return differentiated(self.kinetic(body, omega, v, own.x, own.dx), omega, domega, a, own, v)

    def inertia(self, body: SymbolicBody, x: Any) -> Any:
        """Return the inertia matrix (6 + n, 6 + n) over the root's twist and the own rates."""
        rates = ca.SX.sym("rates", 6 + body.local.count)
        energy = self.kinetic(body, rates[:3], rates[3:6], x, rates[6:])
        return ca.hessian(energy, rates)[0]


def differentiated(T: Any, omega: Any, domega: Any, a: Any, own: Jet, v: Any) -> tuple[Any, Any]:
    """Return forces on a twist (6,) and on coordinates from their kinetic energy T, by algorithmic differentiation."""
    momentum = ca.gradient(T, ca.vertcat(omega, v, own.dx))
    along = ca.vertcat(domega, a, own.dx, own.ddx)
    rate = ca.jtimes(momentum, ca.vertcat(omega, v, own.x, own.dx), along)
    inner = rate[6:] - ca.gradient(T, own.x)
    momentum, rate, inner = ca.substitute([momentum, rate, inner], [v], [ca.SX.zeros(3)])
    return rate[:6] + ca.vertcat(ca.cross(omega, momentum[:3]), ca.cross(omega, momentum[3:6])), inner


def straight_points(x: Array, leading: tuple[int, ...]) -> Array:
    """Return points (..., points, 3) of a straight axis."""
    out = np.zeros((*leading, len(x), 3))
    out[..., 0] = x
    return out


class RigidLink(LinkModel):
    """Link without shapes."""

    def accepts(self, link: Link) -> bool:
        return link.flexible is None

    def integrals(self, link: Link, smooth: bool, loads: Loads) -> LinkIntegrals:
        return beam_integrals(link, smooth, loads)

    def size(self, link: Link) -> float:
        return 0.0

    def add_parameters(self, parameters: Parameters, path: str, body: Body) -> None:
        add_mass(parameters, path, body.integrals)
        add_section_inertia(parameters, path, body.integrals)

    def add_place(self, parameters: Parameters, path: str, body: Body, x: float, anywhere: bool = False) -> None:
        near = NODE_TOLERANCE * body.link.length
        at = 0.0 if x <= near else body.link.length if x >= body.link.length - near else x
        parameters.add(f"{path}.x", "m", x if anywhere else at, np.array(anywhere or at > 0))

    def add_rail(self, parameters: Parameters, path: str, body: Body, contact: PrismaticContact = "continuous") -> None:
        return

    def points(self, body: Body, own: Array, x: Array) -> Array:
        return straight_points(x, own.shape[:-1])

    def kinetic(self, body: SymbolicBody, omega: Any, v: Any, x: Any, dx: Any) -> Any:
        n = body.parameters
        across = ca.cross(omega, ca.vertcat(1, 0, 0))
        return (
            n["m"] / 2 * ca.dot(v, v)
            + n["c0"] * ca.dot(v, across)
            + n["g0"] / 2 * ca.dot(across, across)
            + ca.dot(omega, n["section_inertia"] * omega) / 2
        )

    def first_moment(self, body: SymbolicBody, x: Any) -> tuple[Any, Any]:
        return body.parameters["m"], ca.vertcat(body.parameters["c0"], 0, 0)

    def place(self, body: SymbolicBody, there: SymbolsUnder, own: Jet) -> list[Step]:
        return [along_x(Jet.constant(there["x"]))]

    def moving_place(
        self, body: SymbolicBody, rail: SymbolsUnder, x: Jet, own: Jet, contact: PrismaticContact = "continuous"
    ) -> list[Step]:
        return [along_x(x)]

    def deflection(self, body: SymbolicBody, x: Any) -> Any:
        return ca.SX.zeros(3)
