"""Links that slide through their joint and change their length on both sides of it.

Each part, in front of the joint and behind it, is the whole link scaled to the length that sticks out
(beam/sliding_integrals.py): constant integrals times powers of that scale. The part behind is one in front, seen in
axes turned
half about y. The root frame is at the joint.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from flexarm.beam.loaded_modes import Loads
from flexarm.beam.sliding_integrals import SlidingIntegrals
from flexarm.beam.sparsity import NODE_TOLERANCE
from flexarm.dynamics.bodies import Body, SymbolicBody, symbolic
from flexarm.dynamics.links.exact import ExactLink
from flexarm.dynamics.links.model import LinkModel
from flexarm.dynamics.links.second_order import SecondOrderLink
from flexarm.dynamics.links.sections import section_steps
from flexarm.dynamics.links.sliding_segments import moving_parts, part_kind, parts
from flexarm.dynamics.parameters import Numbers, ParameterSymbols, SymbolsUnder
from flexarm.dynamics.spatial_algebra import Jet, Shift, Step
from flexarm.foundation.validation import Array
from flexarm.robot import FixedPrismatic, Link
from flexarm.robot.carried_inertia import hub_load
from flexarm.robot.joints import PrismaticContact

if TYPE_CHECKING:
    from flexarm.beam.integrals import LinkIntegrals

ROUNDING = 1e-12  # of a link's length


def gripped(link: Link) -> bool:
    """Whether a joint grips the link between two parts that change their length; else it moves as a whole."""
    joint = link.joint
    if not isinstance(joint, FixedPrismatic) or joint.on_mesh:
        return False
    return link.flexible is not None or joint.rear == "none"


class GrippedLink(LinkModel):
    """Between the two parts of which a joint holds it."""

    def takes(self, link: Link) -> bool:
        return gripped(link)

    def integrals(self, link: Link, smooth: bool, loads: Loads) -> SlidingIntegrals:
        return SlidingIntegrals(link, smooth, loads=loads)

    def rear_integrals(self, link: Link) -> LinkIntegrals | None:
        joint = link.joint
        if not isinstance(joint, FixedPrismatic) or joint.rear == "none":
            return None
        part = link if joint.rear == "flexible" else link.model_copy(update={"flexible": None})
        return SlidingIntegrals(part, loads=hub_load(link))  # at its end is the hub

    def size(self, link: Link) -> float:
        if link.flexible is None:
            return 0.0
        return 2 * (ExactLink() if link.stiffening == "exact" else SecondOrderLink()).size(link)

    # --- numbers ---

    def add_numbers(self, numbers: Numbers, path: str, body: Body) -> None:
        for stem, integrals in _both(body, path):
            part_kind(integrals.stiffening).add_numbers(numbers, stem, integrals)

    def add_place(self, numbers: Numbers, path: str, body: Body, x: float, anywhere: bool = False) -> None:
        """At an end the part is known and the shapes are constant; elsewhere the part is found while it moves."""
        end = _end(body, x)
        numbers.fact(path, "is at", f"the {end}" if end != "inside" else "a place between the ends")
        if end == "tip":
            part_kind(body.integrals.stiffening).add_end(numbers, f"{path}.front", body.integrals)
        elif end == "root" and body.rear is not None:
            part_kind(body.rear.stiffening).add_end(numbers, f"{path}.rear", body.rear)
        else:
            numbers.add(f"{path}.x", "m", x)
            self.add_rail(numbers, path, body)

    def add_rail(self, numbers: Numbers, path: str, body: Body, contact: PrismaticContact = "continuous") -> None:
        part_kind(body.integrals.stiffening).add_rail(numbers, f"{path}.front", body.integrals)
        if body.rear is not None:
            part_kind(body.rear.stiffening).add_rail(numbers, f"{path}.rear", body.rear)

    def points(self, body: Body, own: Array, x: Array) -> Array:
        function, numbers = _axis(body)
        leading, count = own.shape[:-1], len(x)
        states = np.broadcast_to(own[..., None, :], (*leading, count, own.shape[-1])).reshape(-1, own.shape[-1])
        places = np.broadcast_to(x, (*leading, count)).reshape(-1)
        found = function(states.T, places[None, :], numbers)
        return np.asarray(np.array(found).T.reshape(*leading, count, 3))

    def require(self, body: Body, q: Array, name: str) -> None:
        """A bending part must stick out of the joint."""
        place, length = body.local.place(body.local.joint), body.link.length
        shortest = float(np.min(q[..., place], initial=length))
        longest = float(np.max(q[..., place], initial=0.0))
        slack = ROUNDING * length  # to a part that bends, nothing: without a length it has no finite stiffness
        short = shortest <= 0 if body.integrals.count else shortest < -slack
        behind = body.rear is not None and body.rear.count
        if short or (longest >= length if behind else longest > length + slack):
            ends = " without the end of a part that bends" if body.integrals.count else ""
            raise ValueError(
                f"q of '{name}' is {shortest if short else longest:g}: it must lie between 0 "
                f"and {length:g} m{ends}, since link '{body.link.name}' slides through its joint"
            )

    # --- expressions ---

    def kinetic(self, body: SymbolicBody, omega: Any, v: Any, x: Any, dx: Any) -> Any:
        return _sum(part.kind.kinetic(part, part.axes(omega), part.axes(v)) for part in parts(body, x, dx))

    def first_moment(self, body: SymbolicBody, x: Any) -> tuple[Any, Any]:
        found = parts(body, x, ca.SX.zeros(x.shape))
        moment = _sum(part.axes(part.kind.first(part)) for part in found)
        return _sum(part.scale * part.numbers["m"] for part in found), moment

    def varying_strain(self, body: SymbolicBody, x: Any) -> Any:
        return _sum(part.strain for part in parts(body, x, ca.SX.zeros(x.shape)))

    def varying_dissipation(self, body: SymbolicBody, x: Any, dx: Any) -> Any:
        return _sum(part.dissipation for part in parts(body, x, dx))

    def place(self, body: SymbolicBody, there: SymbolsUnder, own: Jet) -> list[Step]:
        front, *rear = moving_parts(body, own)
        if "front.x" in there:
            return section_steps(*front.kind.end(front, there.under("front")))
        if rear and "rear.x" in there:
            return section_steps(*rear[0].back(rear[0].kind.end(rear[0], there.under("rear"))))
        return self.moving_place(body, there, Jet.constant(there["x"]), own)

    def moving_place(
        self, body: SymbolicBody, rail: SymbolsUnder, x: Jet, own: Jet, contact: PrismaticContact = "continuous"
    ) -> list[Step]:
        """x counts from the end behind the joint."""
        front, *rear = moving_parts(body, own)
        length = Jet.constant(body.length)
        ahead = x - length + own.of(body.local.joint)
        at = ahead / front.scale
        if not rear:  # what is not there is thought straight
            place, angles = front.kind.sliding(front, rail.under("front"), at.choose(at.x > 0, Jet.constant(0.0)))
            return section_steps(place.choose(at.x > 0, ahead.along_x), angles)
        in_front = front.kind.sliding(front, rail.under("front"), at)
        behind = rear[0].kind.sliding(rear[0], rail.under("rear"), -ahead / rear[0].scale)
        both = zip(in_front, rear[0].back(behind), strict=True)
        return section_steps(*(one.choose(ahead.x >= 0, other) for one, other in both))

    def reach(self, body: SymbolicBody, own: Jet) -> list[Step]:
        return []

    def seen_at(self, body: SymbolicBody, X: Any, x: Any) -> Any:
        return X + body.length - x[body.local.joint]

    def deflection(self, body: SymbolicBody, x: Any) -> Any:
        front = moving_parts(body, Jet.slow(x))[0]
        place, _ = front.kind.end(front, body.numbers.under("tip.front"))
        return place.x - ca.vertcat(x[body.local.joint], 0, 0)


@lru_cache(maxsize=16)
def _axis(body: Body) -> tuple[ca.Function, Array]:
    """(own coordinates, x, numbers) -> point of the axis; and the numbers."""
    numbers = Numbers()
    numbers.add("link.length", "m", body.link.length)
    body.model.add_numbers(numbers, "link", body)
    body.model.add_rail(numbers, "link.rail", body)
    symbols = ParameterSymbols(numbers)
    alone = symbolic(body, symbols.under("link"))
    own, x = ca.SX.sym("own", body.local.count), ca.SX.sym("x")
    there = body.model.moving_place(alone, alone.numbers.under("rail"), Jet.slow(x), Jet.slow(own))[0]
    assert isinstance(there, Shift)
    return ca.Function("axis", [own, x, symbols.column], [there.r]), numbers.vector


def _both(body: Body, path: str) -> list[tuple[str, Any]]:
    found = [(path, body.integrals)]
    return found if body.rear is None else [*found, (f"{path}.rear", body.rear)]


def _end(body: Body, x: float) -> str:
    near = NODE_TOLERANCE * body.link.length
    if x <= near and body.rear is not None:
        return "root"
    return "tip" if x >= body.link.length - near else "inside"


def _sum(parts: Any) -> Any:
    return sum(parts, ca.SX(0))
