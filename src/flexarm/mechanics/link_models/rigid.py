"""Links that do not deform."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from flexarm.beam.integrals import LinkIntegrals
from flexarm.beam.loads import Loads
from flexarm.beam.patterns import NEAR
from flexarm.foundation.numbers import Array
from flexarm.mechanics.jets import Jet
from flexarm.mechanics.link_models.beams import add_mass, add_section_inertia, beam_integrals
from flexarm.mechanics.link_models.model import LinkModel, straight_points
from flexarm.mechanics.rotations import Step, along_x
from flexarm.mechanics.symbols import SymbolsUnder

if TYPE_CHECKING:
    from flexarm.mechanics.bodies import Body, SymbolicBody
    from flexarm.mechanics.numbers import Numbers
    from flexarm.robot import Link
    from flexarm.robot.joints import Contact


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
        near = NEAR * body.link.length
        at = 0.0 if x <= near else body.link.length if x >= body.link.length - near else x
        numbers.add(f"{path}.x", "m", x if anywhere else at, np.array(anywhere or at > 0))

    def add_rail(self, numbers: Numbers, path: str, body: Body, contact: Contact = "continuous") -> None:
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
        self, body: SymbolicBody, rail: SymbolsUnder, x: Jet, own: Jet, contact: Contact = "continuous"
    ) -> list[Step]:
        return [along_x(x)]

    def deflection(self, body: SymbolicBody, x: Any) -> Any:
        return ca.SX.zeros(3)
