"""Rigid bodies as links: all mass is that of a lump at the root, of any inertia; the length only places the tip."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import casadi as ca

from flexarm.dynamics.links.model import RigidLink
from flexarm.dynamics.spatial_algebra import Jet
from flexarm.robot import Link

if TYPE_CHECKING:
    from flexarm.dynamics.bodies import Body, SymbolicBody
    from flexarm.dynamics.parameters import Parameters


class BodyLink(RigidLink):
    """Link whose mass and inertia are those of its `body`, one of the masses fixed to it."""

    def accepts(self, link: Link) -> bool:
        return link.body is not None

    def add_parameters(self, parameters: Parameters, path: str, body: Body) -> None:
        return

    def kinetic(self, body: SymbolicBody, omega: Any, v: Any, x: Any, dx: Any) -> Any:
        return ca.SX(0)

    def forces(self, body: SymbolicBody, omega: Any, domega: Any, a: Any, own: Jet, v: Any) -> tuple[Any, Any]:
        return ca.SX.zeros(6), ca.SX.zeros(body.local.count)

    def inertia(self, body: SymbolicBody, x: Any) -> Any:
        return ca.SX.zeros(6 + body.local.count, 6 + body.local.count)

    def first_moment(self, body: SymbolicBody, x: Any) -> tuple[Any, Any]:
        return ca.SX(0), ca.SX.zeros(3)
