"""Joints with one freedom about or along an axis of the joint's frame: hinges, slides, screws; and welds."""

from __future__ import annotations

from collections.abc import Iterator
from math import pi
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from flexarm.foundation.messages import format_number
from flexarm.robot.drives import Drive, Stop
from flexarm.robot.errors import DescriptionProblem
from flexarm.robot.field_types import Quantity, Vector, Vector3, nonnegative, positive
from flexarm.robot.joints.base import (
    AXIS_MEANING,
    MOUNT_MEANING,
    REST_MEANING,
    Actuated,
    ElementaryMotion,
    Joint,
    MovingJoint,
    SlideAlong,
    TurnAbout,
    Unit,
    axis_text,
)
from flexarm.robot.pose import AxisCheck, Rotation, unit_axis

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class AxisJoint(MovingJoint):
    """Base class of joints with one freedom about or along an axis of the joint's frame."""

    if TYPE_CHECKING:
        axis: str | Vector3

    @property
    def axis_vector(self) -> Vector3:
        """Axis as a unit vector in the joint's frame."""
        return unit_axis(self.axis)

    def conflicts(self) -> Iterator[DescriptionProblem]:
        yield from super().conflicts()
        if self.stop is not None and self.limits is None:
            yield DescriptionProblem("limits", ..., f"is required ({self.unit}), since the joint has a stop")


class Revolute(AxisJoint):
    """Revolute joint (hinge): the link rotates about an axis of the joint's frame.

    See Also
    --------
    Prismatic, Screw, Universal, Cylindrical, Planar, Weld : Other joints.
    SlidingPrismatic, FixedPrismatic, Sleeve : Joints that slide along a link.

    Examples
    --------
    >>> Revolute("z", limits=(-1.5, 1.5), viscous=0.1)
    Revolute(limits=(-1.5, 1.5), viscous=0.1)
    """

    unit: ClassVar[Unit] = "rad"

    type: Literal["revolute"] = Field("revolute", description="kind of joint")
    axis: Annotated[str | Vector3, AxisCheck()] = Field(
        "z", description="axis in the joint's frame: x, y, z, -x, -y, -z or three numbers (no unit)"
    )
    mount: Rotation = Field((0.0, 0.0, 0.0), description=MOUNT_MEANING)
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
    stiffness: Annotated[float, nonnegative("N m/rad")] = Field(
        0.0, description="stiffness of a spring in the joint (N m/rad)"
    )
    rest: Annotated[float, Quantity("rad")] = Field(0.0, description=f"{REST_MEANING} (rad)")
    actuated: Actuated = True

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
            stiffness: float = 0.0,
            rest: float = 0.0,
            actuated: bool = True,
        ) -> None: ...

    @property
    def elementary_motions(self) -> tuple[ElementaryMotion, ...]:
        return (TurnAbout(self.axis_vector),)

    @property
    def words(self) -> list[str]:
        return [f"revolute {axis_text(self.axis)}"]


class Prismatic(AxisJoint):
    """Prismatic joint (slide): the link moves along an axis of the joint's frame, by any distance.

    The coordinate is the distance of the link's root from the joint. The travel is not tied to the length of a link,
    and nothing slides along a link that bends: for that there are `SlidingPrismatic`, `FixedPrismatic` and `Sleeve`.

    See Also
    --------
    SlidingPrismatic, FixedPrismatic, Sleeve : Joints that slide along a link.
    Revolute, Screw, Cylindrical : Other joints about and along an axis.

    Examples
    --------
    >>> Prismatic("z", limits=(0.0, 0.4), viscous=20.0)
    Prismatic(axis='z', limits=(0.0, 0.4), viscous=20.0)
    """

    unit: ClassVar[Unit] = "m"

    type: Literal["prismatic"] = Field("prismatic", description="kind of joint")
    axis: Annotated[str | Vector3, AxisCheck()] = Field("x", description=f"axis of the translation {AXIS_MEANING}")
    mount: Rotation = Field((0.0, 0.0, 0.0), description=MOUNT_MEANING)
    limits: Annotated[tuple[float, float], Vector("m", size=2)] | None = Field(
        None, description="lowest and highest coordinate (m)"
    )
    viscous: Annotated[float, nonnegative("N s/m")] = Field(0.0, description="viscous friction (N s/m)")
    coulomb: Annotated[float, nonnegative("N")] = Field(0.0, description="Coulomb friction (N)")
    coulomb_speed: Annotated[float, positive("m/s")] = Field(
        0.001, description="speed v_s over which Coulomb friction is smoothed by tanh(v / v_s) (m/s)"
    )
    drive: Drive | None = Field(None, description="motor and gear; left out for a force that acts directly")
    stop: Stop | None = Field(None, description="elastic stop at the limits; left out for limits that only end a run")
    stiffness: Annotated[float, nonnegative("N/m")] = Field(
        0.0, description="stiffness of a spring along the joint (N/m)"
    )
    rest: Annotated[float, Quantity("m")] = Field(0.0, description=f"{REST_MEANING} (m)")
    actuated: Actuated = True

    if TYPE_CHECKING:

        def __init__(
            self,
            axis: str | ArrayLike = "x",
            mount: ArrayLike = (0, 0, 0),
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
    def elementary_motions(self) -> tuple[ElementaryMotion, ...]:
        return (SlideAlong(self.axis_vector),)

    @property
    def words(self) -> list[str]:
        return [f"prismatic {axis_text(self.axis)}"]


class Screw(AxisJoint):
    """Screw joint: the link rotates about an axis and moves along it by `pitch` for each turn.

    The coordinate is the angle.

    See Also
    --------
    Cylindrical : Rotation and translation that are independent.

    Examples
    --------
    >>> Screw("z", pitch=0.005)  # 5 mm for each turn
    Screw(pitch=0.005)
    """

    unit: ClassVar[Unit] = "rad"

    type: Literal["screw"] = Field("screw", description="kind of joint")
    axis: Annotated[str | Vector3, AxisCheck()] = Field("z", description=f"axis of the screw {AXIS_MEANING}")
    pitch: Annotated[float, Quantity("m")] = Field(
        description="translation along the axis for one turn (m); negative for a left-handed screw"
    )
    mount: Rotation = Field((0.0, 0.0, 0.0), description=MOUNT_MEANING)
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
    stiffness: Annotated[float, nonnegative("N m/rad")] = Field(
        0.0, description="stiffness of a spring in the joint (N m/rad)"
    )
    rest: Annotated[float, Quantity("rad")] = Field(0.0, description=f"{REST_MEANING} (rad)")
    actuated: Actuated = True

    if TYPE_CHECKING:

        def __init__(
            self,
            axis: str | ArrayLike = "z",
            *,
            pitch: float,
            mount: ArrayLike = (0, 0, 0),
            limits: ArrayLike | None = None,
            viscous: float = 0.0,
            coulomb: float = 0.0,
            coulomb_speed: float = 0.01,
            drive: Drive | None = None,
            stop: Stop | None = None,
            stiffness: float = 0.0,
            rest: float = 0.0,
            actuated: bool = True,
        ) -> None: ...

    @property
    def elementary_motions(self) -> tuple[ElementaryMotion, ...]:
        return TurnAbout(self.axis_vector), SlideAlong(self.axis_vector, ratio=self.pitch / (2 * pi))

    @property
    def words(self) -> list[str]:
        return [f"screw {axis_text(self.axis)}, {format_number(self.pitch)} m per turn"]


class Weld(Joint):
    """Rigid connection: the link is fixed to its parent."""

    if not TYPE_CHECKING:  # it has nothing to drive
        actuated: ClassVar[bool] = False

    type: Literal["weld"] = Field("weld", description="kind of joint")
    mount: Rotation = Field((0.0, 0.0, 0.0), description=MOUNT_MEANING)

    if TYPE_CHECKING:

        def __init__(self, mount: ArrayLike = (0, 0, 0)) -> None: ...

    @property
    def elementary_motions(self) -> tuple[ElementaryMotion, ...]:
        return ()

    def describe(self) -> str:
        return "weld"
