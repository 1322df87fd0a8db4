"""Links as the equations see them: with their values, and with symbols for them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from flexarm.beam.integrals import LinkIntegrals
from flexarm.beam.sliding import SlidingIntegrals
from flexarm.foundation.families import FAMILIES
from flexarm.mechanics.coordinates import Local
from flexarm.mechanics.symbols import SymbolsUnder
from flexarm.robot import FixedPrismatic, Link, PointSupport, Robot, SlidingPrismatic, Weld
from flexarm.robot.description import Description


@dataclass(frozen=True)
class Body:
    """A link with its integrals, its coordinates, and where (x) it hangs on which other body.

    A link that slides through its joint has its root frame where the joint grips it, unless it moves as a whole. Its
    `integrals` are those of the part in front, `rear` those of the part behind the joint (without shapes if that is
    rigid, None if it is not there).
    """

    link: Link
    integrals: LinkIntegrals
    rear: SlidingIntegrals | None
    local: Local
    parent: int | None
    hangs_at: float | None

    @property
    def gripped(self) -> bool:
        """Whether the joint divides the link into two parts that change their length."""
        return isinstance(self.integrals, SlidingIntegrals)


@dataclass(frozen=True)
class Shapes:
    """Of a link, or of a part of it: how many there are of each family, and their integrals as symbols."""

    columns: dict[str, slice]
    stiffening: str
    numbers: SymbolsUnder

    @property
    def count(self) -> int:
        return max((place.stop for place in self.columns.values()), default=0)

    def order(self, family: str) -> int:
        return FAMILIES[family].order


@dataclass(frozen=True)
class SymbolicBody:
    """A body with symbols for its numbers. Its `link` tells the kinds of things; no number can be read from it."""

    link: Link
    local: Local
    parent: int | None
    shapes: Shapes
    rear: Shapes | None
    numbers: SymbolsUnder

    @property
    def gripped(self) -> bool:
        return gripped(self.link)

    @property
    def length(self) -> Any:
        return self.numbers["length"]

    def elastic(self, x: Any) -> Any:
        """The elastic part of the body's own coordinates (as a column even where it is empty)."""
        return x[self.local.elastic, 0]

    def front(self, x: Any) -> Any:
        """The elastic coordinates of the part in front of the joint."""
        return self.elastic(x)[: self.shapes.count, 0]

    def behind(self, x: Any) -> Any:
        """The elastic coordinates of the part behind the joint."""
        return self.elastic(x)[self.shapes.count :, 0]

    @property
    def lumps(self) -> list[SymbolsUnder]:
        """Everything fixed to the link."""
        link = self.link
        names = ["hub"] * (link.hub is not None) + ["payload"] * (link.payload is not None)
        return [self.numbers.under(name) for name in (*names, *(f"masses.{k}" for k in range(len(link.masses))))]


def symbolic(body: Body, numbers: SymbolsUnder) -> SymbolicBody:
    """The body with symbols instead of its numbers."""
    front = Shapes(body.integrals.columns, body.integrals.stiffening, numbers)
    rear = None
    if body.rear is not None:
        rear = Shapes(body.rear.columns, body.rear.stiffening, numbers.under("rear"))
    return SymbolicBody(erased(body.link), body.local, body.parent, front, rear, numbers)


def erased(value: Any) -> Any:
    """A description without its numbers: what is computed from one by mistake is not a number."""
    if isinstance(value, Description):
        fields = type(value).model_fields
        return value.model_copy(update={name: erased(getattr(value, name)) for name in fields})
    if isinstance(value, tuple):
        return tuple(erased(each) for each in value)
    return float("nan") if isinstance(value, float) else value


def link_integrals(robot: Robot, link: Link) -> LinkIntegrals:
    """Of a link, or of its part in front of the joint; smooth along it if something rides there."""
    riders = (rider for rider, parent in zip(robot.links, robot.parents) if parent is not None)
    above = (robot.links[parent] for parent in robot.parents if parent is not None)
    carries = any(
        on is link and isinstance(rider.joint, SlidingPrismatic) and rider.joint.contact == "continuous"
        for rider, on in zip(riders, above, strict=True)
    )
    carries |= any(isinstance(each, PointSupport) and each.link == link.name for each in robot.constraints)
    if gripped(link):
        return SlidingIntegrals(link, carries)
    loose = link.flexible is not None and link.flexible.loose
    return _integrals(_beam_of(link), carries, not (loose or nodally_held(link)))


def _beam_of(link: Link) -> Link:
    """The link without what its integrals do not depend on: what hangs on it, and how it hangs."""
    rest: dict[str, Any] = {"name": "", "joint": Weld(), "parent": None, "at": None, "offset": (0.0, 0.0, 0.0)}
    return link.model_copy(update=rest | {"hub": None, "payload": None, "masses": ()})


@lru_cache(maxsize=32)
def _integrals(beam: Link, smooth: bool, clamped: bool) -> LinkIntegrals:
    """Links that are the same beam share them: other payloads, other joints need no new ones."""
    return LinkIntegrals(beam, smooth, clamped)


def rear_integrals(link: Link) -> SlidingIntegrals | None:
    """Of the part of a link behind the joint that grips it."""
    if not gripped(link) or not isinstance(link.joint, FixedPrismatic) or link.joint.rear == "none":
        return None
    return SlidingIntegrals(link if link.joint.rear == "flexible" else link.model_copy(update={"flexible": None}))


def nodally_held(link: Link) -> bool:
    """Whether the link slides through its joint as a whole and is held there at the nearest node."""
    joint = link.joint
    return isinstance(joint, FixedPrismatic) and joint.contact == "nodal" and link.flexible is not None


def gripped(link: Link) -> bool:
    """Whether a joint grips the link between two parts that change their length; else it moves as a whole."""
    joint = link.joint
    if not isinstance(joint, FixedPrismatic) or joint.contact == "nodal":
        return False
    return link.flexible is not None or joint.rear == "none"
