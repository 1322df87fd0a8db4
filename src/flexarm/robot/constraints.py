"""Constraints beyond the tree of links: closed loops, points on lines and planes, supports on which links slide."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from flexarm.robot.description import Description
from flexarm.robot.errors import DescriptionProblem
from flexarm.robot.field_types import Shorthand, Vector, Vector3, nonnegative
from flexarm.robot.links import GROUND, NameCheck
from flexarm.robot.pose import LOOKS_LIKE_DEGREES, ROTATION_MEANING, AxisCheck, Rotation, looks_like_degrees, unit_axis

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Direction = Annotated[str | Vector3, AxisCheck()]
Name = Annotated[str, NameCheck()]
Place = Annotated[float, nonnegative("m")]
Point = Annotated[Vector3, Vector("m")]

_NAME = "name in results; its kind and place in the list unless given: loop[0]"
_DIRECTION = "in the world: x, y, z, -x, -y, -z or three numbers (no unit)"


class Constraint(Description):
    """Base class of constraints, equations that the coordinates must satisfy at all times."""

    tag: ClassVar[str | None] = "type"

    if TYPE_CHECKING:  # each kind declares its own, so that the name can come last
        type: str
        name: str | None

    @property
    @abstractmethod
    def places(self) -> dict[str, tuple[str, str | None, float | None]]:
        """Links by the field that names them: the link, the field for the place on it, and that field's value."""


class Loop(Constraint):
    """Closed loop: joins two sections, or a section and a point of the ground."""

    type: Literal["loop"] = Field("loop", description="kind of constraint")
    first: str = Field(description="name of a link")
    second: str = Field(description="name of the link it is joined with, or ground")
    first_at: Place | None = Field(None, description="where on the first link, from its root (m); its tip unless given")
    second_at: Place | None = Field(None, description="where on the second link (m); its tip unless given")
    joint: Literal["revolute", "weld"] = Field("revolute", description="what joins them: revolute or weld")
    axis: Direction = Field(
        "z", description="axis of a revolute joint in the first section: x, y, z, -x, -y, -z or three numbers (no unit)"
    )
    mount: Rotation = Field(
        (0.0, 0.0, 0.0), description=f"rotation from the first section's axes to the second's: {ROTATION_MEANING}"
    )
    position: Point = Field((0.0, 0.0, 0.0), description="with second = ground: the point of the world (m)")
    name: Name | None = Field(None, description=_NAME)

    if TYPE_CHECKING:

        def __init__(
            self,
            first: str,
            second: str,
            first_at: float | None = None,
            second_at: float | None = None,
            joint: str = "revolute",
            axis: str | ArrayLike = "z",
            mount: ArrayLike = (0, 0, 0),
            position: ArrayLike = (0, 0, 0),
            name: str | None = None,
        ) -> None: ...

    @property
    def axis_vector(self) -> Vector3:
        """Axis as a unit vector in the first section's axes."""
        return unit_axis(self.axis)

    @property
    def places(self) -> dict[str, tuple[str, str | None, float | None]]:
        return {"first": (self.first, "first_at", self.first_at), "second": (self.second, "second_at", self.second_at)}

    def conflicts(self) -> Iterator[DescriptionProblem]:
        if self.first == GROUND:
            yield DescriptionProblem("first", self.first, "must be a link; the ground comes second")
        elif (self.first, self.first_at) == (self.second, self.second_at):
            yield DescriptionProblem("second", self.second, "must be another link, or another place on the same one")
        if self.second == GROUND and self.second_at is not None:
            yield DescriptionProblem(
                "second_at", self.second_at, "must be left out: a point of the ground is its position"
            )
        if self.second != GROUND and any(self.position):
            yield DescriptionProblem(
                "position", self.position, f"is for second = ground only; here it is {self.second!r}"
            )

    def unit_warnings(self) -> list[tuple[str, str]]:
        return [("mount", LOOKS_LIKE_DEGREES)] if looks_like_degrees(self.mount) else []


class OnLine(Constraint):
    """Constraint of a point of a link to a line that is fixed in space."""

    type: Literal["on-line"] = Field("on-line", description="kind of constraint")
    link: str = Field(description="name of the link")
    at: Place | None = Field(None, description="where on the link, from its root (m); its tip unless given")
    point: Point = Field((0.0, 0.0, 0.0), description="a point of the line in the world (m)")
    direction: Direction = Field("x", description=f"direction of the line {_DIRECTION}")
    name: Name | None = Field(None, description=_NAME)

    if TYPE_CHECKING:

        def __init__(
            self,
            link: str,
            at: float | None = None,
            point: ArrayLike = (0, 0, 0),
            direction: str | ArrayLike = "x",
            name: str | None = None,
        ) -> None: ...

    @property
    def direction_vector(self) -> Vector3:
        """Direction as a unit vector in the world."""
        return unit_axis(self.direction)

    @property
    def places(self) -> dict[str, tuple[str, str | None, float | None]]:
        return {"link": (self.link, "at", self.at)}


class OnPlane(Constraint):
    """Constraint of a point of a link to a plane that is fixed in space."""

    type: Literal["on-plane"] = Field("on-plane", description="kind of constraint")
    link: str = Field(description="name of the link")
    at: Place | None = Field(None, description="where on the link, from its root (m); its tip unless given")
    point: Point = Field((0.0, 0.0, 0.0), description="a point of the plane in the world (m)")
    normal: Direction = Field("z", description=f"normal of the plane {_DIRECTION}")
    name: Name | None = Field(None, description=_NAME)

    if TYPE_CHECKING:

        def __init__(
            self,
            link: str,
            at: float | None = None,
            point: ArrayLike = (0, 0, 0),
            normal: str | ArrayLike = "z",
            name: str | None = None,
        ) -> None: ...

    @property
    def normal_vector(self) -> Vector3:
        """Normal as a unit vector in the world."""
        return unit_axis(self.normal)

    @property
    def places(self) -> dict[str, tuple[str, str | None, float | None]]:
        return {"link": (self.link, "at", self.at)}


class PointSupport(Constraint):
    """Support on which a link slides, in space or on another link; it holds the link's axis on both sides."""

    type: Literal["point-support"] = Field("point-support", description="kind of constraint")
    link: str = Field(description="name of the link")
    position: Point | None = Field(
        None, description="the support in the world (m); on a link, from its section in the section's axes, zero there"
    )
    directions: Literal["yz", "y", "z"] = Field(
        "yz", description="in which directions of the link's root frame it holds: yz, y or z"
    )
    name: Name | None = Field(None, description=_NAME)
    on: str = Field(GROUND, description="name of the link to which the support is fixed, or ground")
    at: Place | None = Field(None, description="where on that link, from its root (m); its tip unless given")

    if TYPE_CHECKING:

        def __init__(
            self,
            link: str,
            position: ArrayLike | None = None,
            directions: str = "yz",
            name: str | None = None,
            on: str = GROUND,
            at: float | None = None,
        ) -> None: ...

    @property
    def places(self) -> dict[str, tuple[str, str | None, float | None]]:
        return {"link": (self.link, None, None), "on": (self.on, "at", self.at)}

    def conflicts(self) -> Iterator[DescriptionProblem]:
        if self.on == self.link:
            yield DescriptionProblem("on", self.on, "must be another link than the one that slides on it, or ground")
        if self.on == GROUND and self.position is None:
            yield DescriptionProblem(
                "position", ..., "is required: a support on the ground is a point of the world (m)"
            )
        if self.on == GROUND and self.at is not None:
            yield DescriptionProblem("at", self.at, "must be left out: a point of the ground is its position")


class Mouth(PointSupport):
    """Support at the mouth of a `Sleeve`, created by the joint; on the ground its position is relative to the base."""


AnyConstraint = Annotated[Loop | OnLine | OnPlane | PointSupport, Field(discriminator="type"), Shorthand()]


def constraint_names(constraints: tuple[Constraint, ...]) -> list[str]:
    """Return the names of constraints; the default is the kind and the index in the list, `loop[0]`."""
    return [each.name or f"{each.type}[{index}]" for index, each in enumerate(constraints)]
