"""What a link is: the questions that the equations of motion ask of every kind of link.

A kind answers them all in a file of its own, for bodies with values (which numbers there are) and for bodies with
symbols in their place (energies, places). Nothing else in this room knows which kinds there are.

Links that do not deform.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from flexarm.beam.integrals import LinkIntegrals
from flexarm.beam.loaded_modes import Loads
from flexarm.beam.sparsity import NODE_TOLERANCE
from flexarm.dynamics.links.beam_parameters import add_mass, add_section_inertia, beam_integrals
from flexarm.dynamics.parameters import SymbolsUnder
from flexarm.dynamics.spatial_algebra import Jet, Step, along_x
from flexarm.foundation.validation import Array

if TYPE_CHECKING:
    from flexarm.beam.integrals import LinkIntegrals
    from flexarm.beam.loaded_modes import Loads
    from flexarm.dynamics.bodies import Body, SymbolicBody
    from flexarm.dynamics.parameters import Numbers
    from flexarm.robot import Link
    from flexarm.robot.joints import PrismaticContact


class LinkModel(ABC):
    """One kind of link. It holds nothing: what differs from link to link is in the bodies.

    `x`, `dx` are a body's own coordinates and rates, `own` the two as a jet; `omega`, `v` the twist of its root.
    """

    # --- of links ---

    @abstractmethod
    def takes(self, link: Link) -> bool:
        """Whether a link is of this kind."""

    @abstractmethod
    def integrals(self, link: Link, smooth: bool, loads: Loads) -> LinkIntegrals:
        """Its shapes; `smooth`: something slides along it; `loads`: what it carries, for its modes."""

    def rear_integrals(self, link: Link) -> LinkIntegrals | None:
        """Those of a part behind its joint, if it has one."""
        return None

    @abstractmethod
    def size(self, link: Link) -> float:
        """About how many instructions its inverse dynamics takes."""

    # --- numbers of bodies ---

    @abstractmethod
    def add_numbers(self, numbers: Numbers, path: str, body: Body) -> None:
        """All that its energies need."""

    @abstractmethod
    def add_place(self, numbers: Numbers, path: str, body: Body, x: float, anywhere: bool = False) -> None:
        """Where something is fixed to it; `anywhere`: numbers for all that could have a value at some x."""

    @abstractmethod
    def add_rail(self, numbers: Numbers, path: str, body: Body, contact: PrismaticContact = "continuous") -> None:
        """Along what something slides, and how it touches it there."""

    @abstractmethod
    def points(self, body: Body, own: Array, x: Array) -> Array:
        """(..., points, 3): its deformed axis at the distances x, in its root frame, from its own coordinates."""

    def turns_between_nodes(self, body: Body, own: Array) -> Array | None:
        """(...,): the largest angle between neighbours of the nodes that follow it, if there are some."""
        return None

    def require(self, body: Body, q: Array, name: str) -> None:
        """A ValueError where it cannot be with coordinates q (..., nq); `name` is that of its joint's."""
        return

    # --- expressions of bodies with symbols ---

    @abstractmethod
    def kinetic(self, body: SymbolicBody, omega: Any, v: Any, x: Any, dx: Any) -> Any:
        """Kinetic energy, without lumps and rotors."""

    @abstractmethod
    def first_moment(self, body: SymbolicBody, x: Any) -> tuple[Any, Any]:
        """Mass and its first moment about the root, without lumps."""

    def stiffness(self, body: SymbolicBody) -> Any:
        """K of its elastic coordinates, as far as it is constant."""
        return ca.SX(*2 * (body.elastic_count,))

    def damping(self, body: SymbolicBody) -> Any:
        """D of its elastic coordinates, as far as it is constant."""
        return ca.SX(*2 * (body.elastic_count,))

    def varying_strain(self, body: SymbolicBody, x: Any) -> Any:
        """Strain energy that is not a form of a constant K."""
        return ca.SX(0)

    def varying_dissipation(self, body: SymbolicBody, x: Any, dx: Any) -> Any:
        """Half the power lost that is not a form of a constant D."""
        return ca.SX(0)

    @abstractmethod
    def place(self, body: SymbolicBody, there: SymbolsUnder, own: Jet) -> list[Step]:
        """From the root frame to a place that is fixed to it: to the axis, then into the axes of the section there."""

    @abstractmethod
    def moving_place(
        self, body: SymbolicBody, rail: SymbolsUnder, x: Jet, own: Jet, contact: PrismaticContact = "continuous"
    ) -> list[Step]:
        """The same to a place that moves along it, x from its root."""

    def reach(self, body: SymbolicBody, own: Jet) -> list[Step]:
        """From a guide that it slides through to its root frame: it moves as a whole unless its kind says else."""
        out = own.of(body.local.joint)
        return [along_x(Jet(out.x - body.length, out.dx, out.ddx))]

    def seen_at(self, body: SymbolicBody, X: Any, x: Any) -> Any:
        """Where on the link the point at the distance X along its root frame's axis is, as its places are counted."""
        return X

    @abstractmethod
    def deflection(self, body: SymbolicBody, x: Any) -> Any:
        """Displacement of its tip against the straight link, in its root frame."""

    # --- what follows; a kind may know a cheaper way ---

    def forces(self, body: SymbolicBody, omega: Any, domega: Any, a: Any, own: Jet, v: Any) -> tuple[Any, Any]:
        """Force (6,) on the link's twist and on its own coordinates, from how its root moves.

        Seen from an inertial frame that has the root's velocity just now, v = 0 and dv is the root's acceleration; the
        forces are the same (Galilei), and all terms in v drop out. `v` is a symbol for that velocity.
        """
        return differentiated(self.kinetic(body, omega, v, own.x, own.dx), omega, domega, a, own, v)

    def inertia(self, body: SymbolicBody, x: Any) -> Any:
        """(6 + n, 6 + n): the form of the kinetic energy in the twist of the root and the own rates."""
        rates = ca.SX.sym("rates", 6 + body.local.count)
        energy = self.kinetic(body, rates[:3], rates[3:6], x, rates[6:])
        return ca.hessian(energy, rates)[0]


def differentiated(T: Any, omega: Any, domega: Any, a: Any, own: Jet, v: Any) -> tuple[Any, Any]:
    """The forces (6,) on a twist and on coordinates of which T is the kinetic energy, by AD."""
    momentum = ca.gradient(T, ca.vertcat(omega, v, own.dx))
    along = ca.vertcat(domega, a, own.dx, own.ddx)
    rate = ca.jtimes(momentum, ca.vertcat(omega, v, own.x, own.dx), along)
    inner = rate[6:] - ca.gradient(T, own.x)
    momentum, rate, inner = ca.substitute([momentum, rate, inner], [v], [ca.SX.zeros(3)])
    return rate[:6] + ca.vertcat(ca.cross(omega, momentum[:3]), ca.cross(omega, momentum[3:6])), inner


def straight_points(x: Array, leading: tuple[int, ...]) -> Array:
    """(..., points, 3) of a straight axis."""
    out = np.zeros((*leading, len(x), 3))
    out[..., 0] = x
    return out


class RigidLink(LinkModel):
    """Without shapes."""

    def takes(self, link: Link) -> bool:
        return link.flexible is None

    def integrals(self, link: Link, smooth: bool, loads: Loads) -> LinkIntegrals:
        return beam_integrals(link, smooth, loads)

    def size(self, link: Link) -> float:
        return 0.0

    def add_numbers(self, numbers: Numbers, path: str, body: Body) -> None:
        add_mass(numbers, path, body.integrals)
        add_section_inertia(numbers, path, body.integrals)

    def add_place(self, numbers: Numbers, path: str, body: Body, x: float, anywhere: bool = False) -> None:
        near = NODE_TOLERANCE * body.link.length
        at = 0.0 if x <= near else body.link.length if x >= body.link.length - near else x
        numbers.add(f"{path}.x", "m", x if anywhere else at, np.array(anywhere or at > 0))

    def add_rail(self, numbers: Numbers, path: str, body: Body, contact: PrismaticContact = "continuous") -> None:
        return

    def points(self, body: Body, own: Array, x: Array) -> Array:
        return straight_points(x, own.shape[:-1])

    def kinetic(self, body: SymbolicBody, omega: Any, v: Any, x: Any, dx: Any) -> Any:
        n = body.numbers
        across = ca.cross(omega, ca.vertcat(1, 0, 0))
        return (
            n["m"] / 2 * ca.dot(v, v)
            + n["c0"] * ca.dot(v, across)
            + n["g0"] / 2 * ca.dot(across, across)
            + ca.dot(omega, n["section_inertia"] * omega) / 2
        )

    def first_moment(self, body: SymbolicBody, x: Any) -> tuple[Any, Any]:
        return body.numbers["m"], ca.vertcat(body.numbers["c0"], 0, 0)

    def place(self, body: SymbolicBody, there: SymbolsUnder, own: Jet) -> list[Step]:
        return [along_x(Jet.constant(there["x"]))]

    def moving_place(
        self, body: SymbolicBody, rail: SymbolsUnder, x: Jet, own: Jet, contact: PrismaticContact = "continuous"
    ) -> list[Step]:
        return [along_x(x)]

    def deflection(self, body: SymbolicBody, x: Any) -> Any:
        return ca.SX.zeros(3)
