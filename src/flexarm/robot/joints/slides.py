"""Prismatic joints along the axis of a link: slides that ride on a link, guides of their own link, sleeves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, Self

from pydantic import Field

from flexarm.foundation.messages import format_number
from flexarm.robot.drives import Drive, Stop
from flexarm.robot.errors import DescriptionProblem
from flexarm.robot.field_types import Matrix3, Quantity, Vector, Vector3, nonnegative, positive
from flexarm.robot.joints.base import REST_MEANING, Actuated, MovingJoint, Unit
from flexarm.robot.pose import (
    LARGE_ANGLE,
    LOOKS_LIKE_DEGREES,
    ROTATION_MEANING,
    Rotation,
    rotation_matrix,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

PrismaticContact = Literal["continuous", "nodal", "element"]
"""Contact of a prismatic joint with a flexible link: at any point, at the nearest node, or by the element inside it."""


class SlideJoint(MovingJoint):
    """Base class of joints whose coordinate d is a length along the axis of a link."""

    unit: ClassVar[Unit] = "m"

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
_Stiffness = Annotated[float, nonnegative("N/m"), Field(description="stiffness of a spring along the joint (N/m)")]
_Rest = Annotated[float, Quantity("m"), Field(description=f"{REST_MEANING} (m)")]
_Stop = Annotated[Stop | None, Field(description="elastic stop at the limits; left out for limits that only end a run")]


class RidingJoint(SlideJoint):
    """Base class of prismatic joints that slide along the previous link, or along the ground's x axis.

    The coordinate d is the distance from the previous link's root.
    """

    rides: ClassVar[bool] = True


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
    stiffness: _Stiffness = 0.0
    rest: _Rest = 0.0
    actuated: Actuated = True

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
            stiffness: float = 0.0,
            rest: float = 0.0,
            actuated: bool = True,
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
    stiffness: _Stiffness = 0.0
    rest: _Rest = 0.0
    actuated: Actuated = True

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
            stiffness: float = 0.0,
            rest: float = 0.0,
            actuated: bool = True,
        ) -> None: ...

    @property
    def words(self) -> list[str]:
        return ["sleeve"]


class FixedPrismatic(SlideJoint):
    """Prismatic joint with a guide that is fixed to the previous link and through which this link slides.

    The coordinate d is the length of this link in front of the guide; the rear part, length - d, is behind it.
    """

    grips: ClassVar[bool] = True

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
    stiffness: _Stiffness = 0.0
    rest: _Rest = 0.0
    actuated: Actuated = True

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
            stiffness: float = 0.0,
            rest: float = 0.0,
            actuated: bool = True,
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
