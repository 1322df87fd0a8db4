"""Links as the equations see them: with their values, and with symbols for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flexarm.beam.integrals import LinkIntegrals
from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.families import FAMILIES
from flexarm.mechanics.coordinates import Local
from flexarm.mechanics.symbols import SymbolsUnder
from flexarm.robot import Link
from flexarm.robot.description import Description

if TYPE_CHECKING:  # models know bodies
    from flexarm.mechanics.link_models.model import LinkModel


@dataclass(frozen=True)
class Body:
    """A link of some kind (`model`) with its integrals, its coordinates, and where (x) it hangs on which other body.

    A link that slides through its joint has its root frame where the joint grips it, unless it moves as a whole. Its
    `integrals` are those of the part in front, `rear` those of the part behind the joint (without shapes if that is
    rigid, None if it is not there).
    """

    link: Link
    model: LinkModel
    integrals: LinkIntegrals
    rear: LinkIntegrals | None
    local: Local
    parent: int | None
    hangs_at: float | None


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
    model: LinkModel
    local: Local
    parent: int | None
    shapes: Shapes
    rear: Shapes | None
    numbers: SymbolsUnder

    @property
    def elastic_count(self) -> int:
        return int(self.local.elastic.stop - self.local.elastic.start)

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
    front = _shapes(body.integrals, numbers)
    rear = None if body.rear is None else _shapes(body.rear, numbers.under("rear"))
    return SymbolicBody(erased(body.link), body.model, body.local, body.parent, front, rear, numbers)


def _shapes(of: LinkIntegrals, numbers: SymbolsUnder) -> Shapes:
    return Shapes(of.columns, of.stiffening, numbers)


def erased(value: Any) -> Any:
    """A description without its numbers: what is computed from one by mistake is not a number."""
    if isinstance(value, Description):
        fields = type(value).model_fields
        return value.model_copy(update={name: erased(getattr(value, name)) for name in fields})
    if isinstance(value, tuple):
        return tuple(erased(each) for each in value)
    return float("nan") if isinstance(value, float) else value
