"""Base classes of joints: their freedoms, and the elementary motions that each freedom causes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import Field

from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.messages import format_number
from flexarm.robot.description import Description
from flexarm.robot.drives import Drive, Stop
from flexarm.robot.errors import DescriptionProblem
from flexarm.robot.field_types import Matrix3, Vector3
from flexarm.robot.pose import LARGE_ANGLE, LOOKS_LIKE_DEGREES, ROTATION_MEANING, looks_like_degrees, rotation_matrix

Unit = Literal["rad", "m"]

MOUNT_MEANING = f"rotation from the parent's frame to the joint's: {ROTATION_MEANING}"
REST_MEANING = "where the spring is relaxed"
AXIS_MEANING = "in the joint's frame: x, y, z, -x, -y, -z or three numbers (no unit)"
Actuated = Annotated[
    bool,
    Field(
        strict=True,
        description="true if an actuator drives the joint; a passive joint has no input, and settles where others are "
        "held",
    ),
]


@dataclass(frozen=True)
class Freedom:
    """Freedom of a joint: one coordinate, named `link.name`.

    Parameters
    ----------
    name : str
        Name of the coordinate after that of the link.
    unit : {"rad", "m"}
        Unit of the coordinate.
    """

    name: str
    unit: Unit

    @property
    def force_unit(self) -> Literal["N m", "N"]:
        """Unit of the generalized force on the coordinate."""
        return "N m" if self.unit == "rad" else "N"


@dataclass(frozen=True)
class FreedomProperties:
    """Limits, spring, damper and friction of one freedom of a joint, in its unit.

    Parameters
    ----------
    limits : tuple of float or None
        Lowest and highest coordinate.
    stiffness, rest : float
        Spring between the links, and the coordinate where it is relaxed.
    viscous, coulomb, coulomb_speed : float
        Viscous friction, Coulomb friction and the speed over which this is smoothed.
    """

    limits: tuple[float, float] | None = None
    stiffness: float = 0.0
    rest: float = 0.0
    viscous: float = 0.0
    coulomb: float = 0.0
    coulomb_speed: float = 1.0


@dataclass(frozen=True)
class TurnAbout:
    """Elementary motion of a joint: rotation about an axis by a coordinate, or by `ratio` times the coordinate.

    Parameters
    ----------
    axis : tuple of float
        Unit vector in the axes that the motions before it have reached.
    freedom : int, optional
        Index of the coordinate among the joint's freedoms.
    ratio : float, optional
        Angle per unit of the coordinate (rad/m, or no unit); None for 1.
    field : str, optional
        Name of the axis, which motions along the same axis share.
    """

    axis: Vector3
    freedom: int = 0
    ratio: float | None = None
    field: str = "axis"


@dataclass(frozen=True)
class SlideAlong:
    """Elementary motion of a joint: translation along an axis by a coordinate, or by `ratio` times the coordinate.

    Parameters
    ----------
    axis : tuple of float
        Unit vector in the axes that the motions before it have reached.
    freedom : int, optional
        Index of the coordinate among the joint's freedoms.
    ratio : float, optional
        Distance per unit of the coordinate (m/rad, or no unit); None for 1.
    field : str, optional
        Name of the axis, which motions along the same axis share.
    """

    axis: Vector3
    freedom: int = 0
    ratio: float | None = None
    field: str = "axis"


ElementaryMotion = TurnAbout | SlideAlong

JOINT_KINDS: dict[str, type[Joint]] = {}
"""Kinds of joints by their `type`, in the order in which they were defined."""


class Joint(Description):
    """Base class of joints, the connections of links with their parents.

    A subclass with a `type` of its own is a kind of joint: it is registered, and links accept it. It declares its
    freedoms and the elementary motions that they cause; the equations of motion, drawings and analyses follow from
    these. The number and kinds of the motions must not depend on values of fields.
    """

    tag: ClassVar[str | None] = "type"
    rides: ClassVar[bool] = False
    """True if the joint slides along its parent: its coordinate is the distance from the parent's root."""
    grips: ClassVar[bool] = False
    """True if the link slides through the joint."""

    if TYPE_CHECKING:  # each kind declares its own mount, so that the axis can come first
        type: str
        mount: Vector3 | Matrix3
        actuated: bool

    @classmethod
    def __pydantic_init_subclass__(cls, **options: Any) -> None:
        super().__pydantic_init_subclass__(**options)
        kind = cls.model_fields.get("type")
        parents = [each for each in cls.__mro__[1:] if issubclass(each, Joint)]
        inherited = [each.model_fields["type"].default for each in parents if "type" in each.model_fields]
        if kind is not None and kind.default not in inherited:
            JOINT_KINDS[kind.default] = cls

    @property
    def mount_matrix(self) -> Matrix3:
        """Mount as a 3x3 rotation matrix."""
        return rotation_matrix(self.mount)

    @property
    def freedoms(self) -> tuple[Freedom, ...]:
        """Freedoms of the joint, each with a coordinate."""
        return ()

    @property
    def freedom_properties(self) -> tuple[FreedomProperties, ...]:
        """Limits, spring, damper and friction of each freedom."""
        return tuple(FreedomProperties() for _ in self.freedoms)

    @property
    def elementary_motions(self) -> tuple[ElementaryMotion, ...]:
        """Rotations and translations from the mounted frame to the link's root, in this order.

        Joints that slide along a link have none: the link provides their motion.
        """
        return ()

    @property
    def is_passive(self) -> bool:
        """True if the joint moves and has no actuator."""
        return bool(self.freedoms) and not self.actuated

    @property
    def coordinates(self) -> int:
        """Number of coordinates of the joint and its drive."""
        return len(self.freedoms)

    @abstractmethod
    def describe(self) -> str:
        """Return a short description for the table of a robot."""

    def conflicts(self) -> Iterator[DescriptionProblem]:
        several = len(self.freedoms) > 1
        for k, (freedom, each) in enumerate(zip(self.freedoms, self.freedom_properties, strict=True)):
            if each.limits is not None and each.limits[0] >= each.limits[1]:
                sentence = f"the lower limit must be below the upper one ({freedom.unit})"
                yield DescriptionProblem(f"limits[{k}]" if several else "limits", each.limits, sentence)
            if each.rest and not each.stiffness:
                sentence = "needs a stiffness: without a spring no position is at rest"
                yield DescriptionProblem(f"rest[{k}]" if several else "rest", each.rest, sentence)

    def unit_warnings(self) -> list[tuple[str, str]]:
        pairs = zip(self.freedoms, self.freedom_properties, strict=True)
        wide = any(
            freedom.unit == "rad" and each.limits is not None and max(map(abs, each.limits)) > LARGE_ANGLE
            for freedom, each in pairs
        )
        return [
            *([("mount", LOOKS_LIKE_DEGREES)] if looks_like_degrees(self.mount) else []),
            *([("limits", LOOKS_LIKE_DEGREES)] if wide else []),
        ]

    def rigid(self) -> Joint:
        """Return the joint without elasticity in its drive.

        Returns
        -------
        Joint
        """
        return self


class MovingJoint(Joint):
    """Base class of joints with one freedom, which may have a drive and a stop; its coordinate is `link.q`."""

    unit: ClassVar[Unit]
    """Unit of the coordinate."""

    if TYPE_CHECKING:  # each kind declares them in its own units
        limits: tuple[float, float] | None
        viscous: float
        coulomb: float
        coulomb_speed: float
        drive: Drive | None
        stop: Stop | None
        stiffness: float
        rest: float

    @property
    def freedoms(self) -> tuple[Freedom, ...]:
        return (Freedom("q", self.unit),)

    @property
    def freedom_properties(self) -> tuple[FreedomProperties, ...]:
        return (
            FreedomProperties(self.limits, self.stiffness, self.rest, self.viscous, self.coulomb, self.coulomb_speed),
        )

    @property
    def coordinates(self) -> int:
        return 2 if self.drive is not None and self.drive.elastic else 1

    @property
    @abstractmethod
    def words(self) -> list[str]:
        """Words of the short description, without drive and spring."""

    def describe(self) -> str:
        elastic = self.drive is not None and self.drive.elastic
        return ", ".join([*self.words, *(["elastic"] if elastic else []), *_more_words(self)])

    def conflicts(self) -> Iterator[DescriptionProblem]:
        yield from super().conflicts()
        if self.drive is not None and not self.actuated:
            sentence = "must be left out with actuated = false: a passive joint has no motor"
            yield DescriptionProblem("drive", self.drive, sentence)

    def rigid(self) -> Self:
        return self if self.drive is None else self.model_copy(update={"drive": self.drive.rigid()})


class CompoundJoint(Joint):
    """Base class of joints with several freedoms, passive unless `actuated`, with values for each freedom."""

    if TYPE_CHECKING:  # each kind declares them in its own units
        limits: tuple[tuple[float, float] | None, ...]
        stiffness: tuple[float, ...]
        rest: tuple[float, ...]
        viscous: tuple[float, ...]
        coulomb: tuple[float, ...]
        coulomb_speed: tuple[float, ...]

    @property
    def freedom_properties(self) -> tuple[FreedomProperties, ...]:
        values = self.limits, self.stiffness, self.rest, self.viscous, self.coulomb, self.coulomb_speed
        return tuple(FreedomProperties(*each) for each in zip(*values, strict=True))

    @property
    @abstractmethod
    def words(self) -> list[str]:
        """Words of the short description, without springs."""

    def describe(self) -> str:
        return ", ".join([*self.words, *_more_words(self)])


def _more_words(joint: Joint) -> list[str]:
    """Return words for springs, and for what is unusual for a kind: a passive hinge, a driven universal joint."""
    springs = ["spring"] if any(each.stiffness for each in joint.freedom_properties) else []
    unusual = joint.actuated != type(joint).model_fields["actuated"].default
    return [*springs, *(["actuated" if joint.actuated else "passive"] if unusual else [])]


def axis_text(axis: str | Vector3) -> str:
    """Return an axis as text: its name, or its components."""
    return axis if isinstance(axis, str) else f"({', '.join(map(format_number, axis))})"
