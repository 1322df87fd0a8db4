"""Joints: the connection of a link with its parent.

A new kind of joint is a class here and an entry in `AnyJoint`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, Self

from pydantic import Field

from flexarm.foundation.messages import format_number
from flexarm.robot.description import Description
from flexarm.robot.drives import Drive, Stop
from flexarm.robot.errors import DescriptionProblem
from flexarm.robot.field_types import Matrix3, Quantity, Shorthand, Vector, Vector3, nonnegative, positive
from flexarm.robot.pose import (
    LARGE_ANGLE,
    LOOKS_LIKE_DEGREES,
    ROTATION_MEANING,
    AxisCheck,
    Rotation,
    looks_like_degrees,
    rotation_matrix,
    unit_axis,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


PrismaticContact = Literal["continuous", "nodal", "element"]
"""Contact of a prismatic joint with a flexible link: at any point, at the nearest node, or by the element inside it."""


class Joint(Description):
    """Base class of joints, the connections of links with their parents."""

    tag: ClassVar[str | None] = "type"

    if TYPE_CHECKING:  # each kind declares its own mount, so that the axis can come first
        mount: Vector3 | Matrix3

    @property
    def mount_matrix(self) -> Matrix3:
        """Mount as a 3x3 rotation matrix."""
        return rotation_matrix(self.mount)

    @property
    @abstractmethod
    def coordinates(self) -> int:
        """Number of coordinates of the joint and its drive."""

    @abstractmethod
    def describe(self) -> str:
        """Return a short description for the table of a robot."""

    def unit_warnings(self) -> list[tuple[str, str]]:
        return [("mount", LOOKS_LIKE_DEGREES)] if looks_like_degrees(self.mount) else []

    def rigid(self) -> Joint:
        """Return the joint without elasticity in its drive.

        Returns
        -------
        Joint
        """
        return self


class MovingJoint(Joint):
    """Base class of joints with a coordinate, limits, friction and a drive."""

    unit: ClassVar[Literal["rad", "m"]]
    """Unit of the coordinate."""

    if TYPE_CHECKING:  # each kind declares them in its own units
        limits: tuple[float, float] | None
        viscous: float
        coulomb: float
        coulomb_speed: float
        drive: Drive | None
        stop: Stop | None

    @property
    def coordinates(self) -> int:
        return 2 if self.drive is not None and self.drive.elastic else 1

    @property
    @abstractmethod
    def words(self) -> list[str]:
        """Words of the short description, without the drive."""

    def describe(self) -> str:
        elastic = self.drive is not None and self.drive.elastic
        return ", ".join([*self.words, *(["elastic"] if elastic else [])])

    def conflicts(self) -> Iterator[DescriptionProblem]:
        if self.limits is not None and self.limits[0] >= self.limits[1]:
            yield DescriptionProblem(
                "limits", self.limits, f"the lower limit must be below the upper one ({self.unit})"
            )

    def rigid(self) -> Self:
        return self if self.drive is None else self.model_copy(update={"drive": self.drive.rigid()})


_MOUNT_MEANING = f"rotation from the parent's frame to the joint's: {ROTATION_MEANING}"


class Revolute(MovingJoint):
    """Revolute joint (hinge): the link rotates about an axis of the joint's frame.

    See Also
    --------
    SlidingPrismatic, FixedPrismatic, Sleeve, Weld : Other joints.

    Examples
    --------
    >>> Revolute("z", limits=(-1.5, 1.5), viscous=0.1)
    Revolute(limits=(-1.5, 1.5), viscous=0.1)
    """

    unit: ClassVar[Literal["rad", "m"]] = "rad"

    type: Literal["revolute"] = Field("revolute", description="kind of joint")
    axis: Annotated[str | Vector3, AxisCheck()] = Field(
        "z", description="axis in the joint's frame: x, y, z, -x, -y, -z or three numbers (no unit)"
    )
    mount: Rotation = Field((0.0, 0.0, 0.0), description=_MOUNT_MEANING)
    limits: Annotated[tuple[float, float], Vector("rad", size=2)] | None = Field(
        None, description="lowest and highest angle (rad)"
    )
    viscous: Annotated[float, nonnegative("N m s/rad")] = Field(0.0, description="viscous friction (N m s/rad)")
    coulomb: Annotated[float, nonnegative("N m")] = Field(0.0, description="Coulomb friction (N m)")
    coulomb_speed: Annotated[float, positive("rad/s")] = Field(
        0.01, description="speed v_s over which Coulomb friction is smoothed by tanh(v / v_s) (rad/s)"
    )
    drive: Drive | None = Field(None, description="motor and gear; left out for a torque that acts directly")
    stop: Stop | None = Field(None, description="elastic stop at the limits; left out for limits that only end a run")

    if TYPE_CHECKING:

        def __init__(
            self,
            axis: str | ArrayLike = "z",
            mount: ArrayLike = (0, 0, 0),
            limits: ArrayLike | None = None,
            viscous: float = 0.0,
            coulomb: float = 0.0,
            coulomb_speed: float = 0.01,
            drive: Drive | None = None,
            stop: Stop | None = None,
        ) -> None: ...

    @property
    def axis_vector(self) -> Vector3:
        """Axis as a unit vector in the joint's frame."""
        return unit_axis(self.axis)

    @property
    def words(self) -> list[str]:
        axis = self.axis if isinstance(self.axis, str) else f"({', '.join(map(format_number, self.axis))})"
        return [f"revolute {axis}"]

    def conflicts(self) -> Iterator[DescriptionProblem]:
        yield from super().conflicts()
        if self.stop is not None and self.limits is None:
            yield DescriptionProblem("limits", ..., "is required (rad), since the joint has a stop")

    def unit_warnings(self) -> list[tuple[str, str]]:
        wide = self.limits is not None and max(map(abs, self.limits)) > LARGE_ANGLE
        return super().unit_warnings() + ([("limits", LOOKS_LIKE_DEGREES)] if wide else [])


class Prismatic(MovingJoint):
    """Base class of joints whose coordinate d is a length along the axis of a link."""

    unit: ClassVar[Literal["rad", "m"]] = "m"

    if TYPE_CHECKING:
        angle: float
        contact: PrismaticContact

    @property
    def mount_matrix(self) -> Matrix3:
        """Rotation by `angle` about z, or the mount, as a 3x3 matrix."""
        return rotation_matrix((0.0, 0.0, self.angle) if self.angle else self.mount)

    @property
    def words(self) -> list[str]:
        return [*([f"{self.angle:.4g} rad"] if self.angle else []), *([self.contact] if self.on_mesh else [])]

    @property
    def on_mesh(self) -> bool:
        """True if the joint touches nodes of a mesh, instead of any point of smooth shapes."""
        return self.contact != "continuous"

    def conflicts(self) -> Iterator[DescriptionProblem]:
        yield from super().conflicts()
        if self.angle and rotation_matrix(self.mount) != rotation_matrix((0.0, 0.0, 0.0)):
            sentence = (
                f"must be left out with angle = {format_number(self.angle)} (rad): it is given instead of the angle"
            )
            yield DescriptionProblem("mount", self.mount, sentence)

    def unit_warnings(self) -> list[tuple[str, str]]:
        turned = abs(self.angle) > LARGE_ANGLE
        return super().unit_warnings() + ([("angle", LOOKS_LIKE_DEGREES)] if turned else [])

    def rigid(self) -> Self:
        """Return the joint between rigid links, which have no nodes, without elasticity in its drive.

        Returns
        -------
        Joint
        """
        joint = super().rigid()
        return joint.model_copy(update={"contact": "continuous"}) if joint.on_mesh else joint


_Angle = Annotated[float, Quantity("rad")]
_Mount = Annotated[Rotation, Field(description=f"the rotation instead of `angle`: {ROTATION_MEANING}")]
_Contact = Annotated[
    PrismaticContact,
    Field(
        description="where it touches a flexible link: at any point of smooth shapes (continuous), at the nearest node "
        "of a mesh (nodal), or by the element of a mesh that is in it (element): a guide holds both nodes of that "
        "element, a slide follows the one farther from the root"
    ),
]
_Viscous = Annotated[float, nonnegative("N s/m"), Field(description="viscous friction (N s/m)")]
_Coulomb = Annotated[float, nonnegative("N"), Field(description="Coulomb friction (N)")]
_CoulombSpeed = Annotated[
    float,
    positive("m/s"),
    Field(description="speed v_s over which Coulomb friction is smoothed by tanh(v / v_s) (m/s)"),
]
_Drive = Annotated[Drive | None, Field(description="motor and gear; left out for a force that acts directly")]
_Stop = Annotated[Stop | None, Field(description="elastic stop at the limits; left out for limits that only end a run")]


class RidingJoint(Prismatic):
    """Base class of prismatic joints that slide along the previous link, or along the ground's x axis.

    The coordinate d is the distance from the previous link's root.
    """


class SlidingPrismatic(RidingJoint):
    """Prismatic joint with a slider that is fixed to this link and slides along the previous one.

    The coordinate d is the distance from the previous link's root, or along the ground's x axis.
    """

    type: Literal["sliding-prismatic"] = Field("sliding-prismatic", description="kind of joint")
    angle: _Angle = Field(
        0.0, description="rotation about z from the section of the previous link on which it rides to this link (rad)"
    )
    mount: _Mount = (0.0, 0.0, 0.0)
    contact: _Contact = "continuous"
    limits: Annotated[tuple[float, float], Vector("m", size=2)] | None = Field(
        None, description="lowest and highest d (m); the ends of the previous link unless given, none on the ground"
    )
    viscous: _Viscous = 0.0
    coulomb: _Coulomb = 0.0
    coulomb_speed: _CoulombSpeed = 0.001
    drive: _Drive = None
    stop: _Stop = None

    if TYPE_CHECKING:

        def __init__(
            self,
            angle: float = 0.0,
            mount: ArrayLike = (0, 0, 0),
            contact: PrismaticContact = "continuous",
            limits: ArrayLike | None = None,
            viscous: float = 0.0,
            coulomb: float = 0.0,
            coulomb_speed: float = 0.001,
            drive: Drive | None = None,
            stop: Stop | None = None,
        ) -> None: ...

    @property
    def words(self) -> list[str]:
        return ["sliding prismatic", *super().words]


class Sleeve(RidingJoint):
    """Prismatic joint with a sleeve along the axis of the previous link, in which the end of this link slides.

    The end of this link is held in displacement and slope without play, as in Pan, Scott and Ulsoy. The mouth of the
    sleeve supports the axis of the link on both sides and lets it rotate; between them the link bends freely
    (`FixedPrismatic` is a guide that clamps). The coordinate d is the position of the link's end, as a distance from
    the previous link's root, or along the ground's x axis; the mouth is at `mouth - d` along this link.
    """

    if not TYPE_CHECKING:  # it lies along its carrier: fixed for all sleeves, while other kinds have fields
        angle: ClassVar[float] = 0.0
        mount: ClassVar[Vector3] = (0.0, 0.0, 0.0)
        contact: ClassVar[str] = "continuous"

    type: Literal["sleeve"] = Field("sleeve", description="kind of joint")
    mouth: Annotated[float, Quantity("m")] | None = Field(
        None,
        description="where the sleeve ends, from the previous link's root (m); its tip unless given, 0 on the ground",
    )
    limits: Annotated[tuple[float, float], Vector("m", size=2)] | None = Field(
        None,
        description="lowest and highest d (m); unless given, the end stays in the sleeve and the tip out of it, with a "
        "hundredth of the length left inside",
    )
    viscous: _Viscous = 0.0
    coulomb: _Coulomb = 0.0
    coulomb_speed: _CoulombSpeed = 0.001
    drive: _Drive = None
    stop: _Stop = None

    if TYPE_CHECKING:

        def __init__(
            self,
            mouth: float | None = None,
            limits: ArrayLike | None = None,
            viscous: float = 0.0,
            coulomb: float = 0.0,
            coulomb_speed: float = 0.001,
            drive: Drive | None = None,
            stop: Stop | None = None,
        ) -> None: ...

    @property
    def words(self) -> list[str]:
        return ["sleeve"]


class FixedPrismatic(Prismatic):
    """Prismatic joint with a guide that is fixed to the previous link and through which this link slides.

    The coordinate d is the length of this link in front of the guide; the rear part, length - d, is behind it.
    """

    type: Literal["fixed-prismatic"] = Field("fixed-prismatic", description="kind of joint")
    angle: _Angle = Field(
        0.0, description="rotation about z from the section of the previous link that holds it to this link (rad)"
    )
    rear: Literal["flexible", "rigid", "none"] = Field(
        "flexible", description="the part behind the guide: it bends with a flexible link, is rigid, or is not there"
    )
    mount: _Mount = (0.0, 0.0, 0.0)
    contact: _Contact = "continuous"
    limits: Annotated[tuple[float, float], Vector("m", size=2)] | None = Field(
        None,
        description="lowest and highest d (m); the ends of this link unless given, "
        "with a hundredth of the length left to each part that bends",
    )
    viscous: _Viscous = 0.0
    coulomb: _Coulomb = 0.0
    coulomb_speed: _CoulombSpeed = 0.001
    drive: _Drive = None
    stop: _Stop = None

    if TYPE_CHECKING:

        def __init__(
            self,
            angle: float = 0.0,
            rear: Literal["flexible", "rigid", "none"] = "flexible",
            mount: ArrayLike = (0, 0, 0),
            contact: PrismaticContact = "continuous",
            limits: ArrayLike | None = None,
            viscous: float = 0.0,
            coulomb: float = 0.0,
            coulomb_speed: float = 0.001,
            drive: Drive | None = None,
            stop: Stop | None = None,
        ) -> None: ...

    @property
    def words(self) -> list[str]:
        rear = [f"rear {self.rear}"] if self.rear != "flexible" else []
        return ["fixed prismatic", *super().words, *rear]

    def conflicts(self) -> Iterator[DescriptionProblem]:
        yield from super().conflicts()
        if self.on_mesh and self.rear != "flexible":
            sentence = f"needs rear = 'flexible', not {self.rear!r}: the mesh runs through the guide"
            yield DescriptionProblem("contact", self.contact, sentence)


class Weld(Joint):
    """Rigid connection: the link is fixed to its parent."""

    type: Literal["weld"] = Field("weld", description="kind of joint")
    mount: Rotation = Field((0.0, 0.0, 0.0), description=_MOUNT_MEANING)

    if TYPE_CHECKING:

        def __init__(self, mount: ArrayLike = (0, 0, 0)) -> None: ...

    @property
    def coordinates(self) -> int:
        return 0

    def describe(self) -> str:
        return "weld"


AnyJoint = Annotated[
    Revolute | SlidingPrismatic | FixedPrismatic | Sleeve | Weld,
    Field(discriminator="type"),
    Shorthand(("revolute", "sliding-prismatic", "fixed-prismatic", "sleeve", "weld")),
]
