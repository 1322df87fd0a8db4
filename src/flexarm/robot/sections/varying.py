"""Cross-sections that vary along a link: tapered and stepped ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from flexarm.foundation.messages import format_number
from flexarm.robot.description import Description
from flexarm.robot.errors import DescriptionProblem
from flexarm.robot.field_types import Quantity
from flexarm.robot.sections.base import ConstantSection, Section, SectionProperties, check_fraction
from flexarm.robot.sections.shapes import Box, Circle, IBeam, PlainSection, Properties, Rectangle, Tube


class Tapered(Section):
    """Section whose dimensions (for `properties`, whose numbers) vary linearly from root to tip."""

    shape: Literal["tapered"] = Field("tapered", description="kind of section")
    root: PlainSection = Field(description="section at the root")
    tip: PlainSection = Field(description="section at the tip, of the same shape as the root's")

    if TYPE_CHECKING:

        def __init__(self, root: PlainSection, tip: PlainSection) -> None: ...

    def at(self, xi: float) -> SectionProperties:
        check_fraction(xi)
        if isinstance(self.root, Properties):
            root, tip = self.root.numbers(), self.tip.numbers()
            names = [field.name for field in fields(SectionProperties)]
            pairs = [(getattr(root, name), getattr(tip, name)) for name in names]
            values: Any = [None if None in pair else _between(*pair, xi) for pair in pairs]
            return SectionProperties(*values)
        return self.plain_at(xi).numbers()

    def plain_at(self, xi: float) -> ConstantSection:
        """Return the shape at the fraction xi of the length; for `properties`, that of the root."""
        check_fraction(xi)
        if isinstance(self.root, Properties):
            return self.root
        names = [name for name in type(self.root).model_fields if name != "shape"]
        sizes = {name: _between(getattr(self.root, name), getattr(self.tip, name), xi) for name in names}
        return type(self.root).model_construct(None, **sizes)

    @property
    def uniform(self) -> bool:
        return self.root == self.tip

    @property
    def plain_sections(self) -> dict[str, ConstantSection]:
        return {"root.": self.root, "tip.": self.tip}

    def conflicts(self) -> Iterator[DescriptionProblem]:
        if self.root.shape != self.tip.shape:
            yield DescriptionProblem(
                "tip.shape", self.tip.shape, f"must be the same as root.shape = {self.root.shape!r}"
            )

    def extents(self) -> dict[str, float]:
        ends: dict[str, ConstantSection] = {"root": self.root, "tip": self.tip}
        return {f"{end}.{name}": size for end, section in ends.items() for name, size in section.extents().items()}


class SectionPiece(Description):
    """Piece of a stepped section, from the end of the piece before it."""

    upto: Annotated[float, Quantity("", above=0.0, most=1.0)] = Field(
        description="where the piece ends, as a fraction of the link's length (no unit)"
    )
    section: PlainSection = Field(description="section of the piece")

    if TYPE_CHECKING:

        def __init__(self, upto: float, section: PlainSection) -> None: ...


class Stepped(Section):
    """Section with pieces of different constant sections."""

    shape: Literal["stepped"] = Field("stepped", description="kind of section")
    pieces: tuple[SectionPiece, ...] = Field(
        description="pieces from root to tip; the last ends at 1", json_schema_extra={"minItems": 1}
    )

    if TYPE_CHECKING:

        def __init__(self, pieces: Iterable[SectionPiece | Mapping[str, Any]]) -> None: ...

    def at(self, xi: float) -> SectionProperties:
        return self.plain_at(xi).at(0.0)

    def plain_at(self, xi: float) -> ConstantSection:
        check_fraction(xi)
        return next((piece for piece in self.pieces if xi < piece.upto), self.pieces[-1]).section

    @property
    def breaks(self) -> tuple[float, ...]:
        return tuple(piece.upto for piece in self.pieces[:-1])

    @property
    def uniform(self) -> bool:
        return all(piece.section == self.pieces[0].section for piece in self.pieces)

    @property
    def plain_sections(self) -> dict[str, ConstantSection]:
        return {f"pieces[{index}].section.": piece.section for index, piece in enumerate(self.pieces)}

    def conflicts(self) -> Iterator[DescriptionProblem]:
        if not self.pieces:
            yield DescriptionProblem("pieces", self.pieces, "must have at least one piece")
            return
        for index, (before, piece) in enumerate(pairwise(self.pieces), start=1):
            if piece.upto <= before.upto:
                sentence = f"must be above {format_number(before.upto)}, where the piece before it ends"
                yield DescriptionProblem(f"pieces[{index}].upto", piece.upto, sentence)
        if self.pieces[-1].upto != 1.0:
            path = f"pieces[{len(self.pieces) - 1}].upto"
            yield DescriptionProblem(path, self.pieces[-1].upto, "must be 1: the last piece ends at the tip")


AnySection = Annotated[
    Rectangle | Circle | Tube | Box | IBeam | Properties | Tapered | Stepped, Field(discriminator="shape")
]


def _between(root: float, tip: float, xi: float) -> float:
    return (1.0 - xi) * root + xi * tip
