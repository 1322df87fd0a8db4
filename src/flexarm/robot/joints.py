"""How a link hangs on its parent, and what drives the joint.

A new kind of joint is a class here and an entry in `AnyJoint`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from math import hypot
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from .description import Description
from .errors import Problem, unknown
from .pose import LARGE_ANGLE, LOOKS_LIKE_DEGREES, ROTATION_MEANING, Rotation, looks_like_degrees, rotation_matrix
from .quantities import Checked, Matrix3, Vector, Vector3, finite_numbers, nonnegative, numbers_schema, positive
from .unions import Shorthand

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

_AXES: dict[str, Vector3] = {
    "x": (1.0, 0.0, 0.0),
    "y": (0.0, 1.0, 0.0),
    "z": (0.0, 0.0, 1.0),
    "-x": (-1.0, 0.0, 0.0),
    "-y": (0.0, -1.0, 0.0),
    "-z": (0.0, 0.0, -1.0),
}


class AxisCheck(Checked):
    """An axis by name or as a direction."""

    def check(self, value: object) -> str | tuple[float, ...]:
        if isinstance(value, str):
            if value not in _AXES:
                raise ValueError(unknown("unknown axis", value, _AXES) + " or three numbers")
            return value
        direction = finite_numbers(value)
        if direction is None or len(direction) != 3:
            raise ValueError(f"must be an axis ({', '.join(_AXES)}) or three numbers")
        if not any(direction):
            raise ValueError("must not be zero: it has no direction")
        return direction

    def json_schema(self) -> dict[str, Any]:
        return {"anyOf": [{"enum": list(_AXES)}, numbers_schema(3)]}


def unit_axis(axis: str | Vector3) -> Vector3:
    """A validated axis as a unit vector."""
    if isinstance(axis, str):
        return _AXES[axis]
    size = hypot(*axis)
    return axis[0] / size, axis[1] / size, axis[2] / size


class Drive(Description):
    """Motor and gear of a joint. An elastic one adds the motor's angle as a coordinate (Spong's model).

    The rotor's kinetic energy counts its spin relative to its own link only.
    """

    stiffness: Annotated[float, positive("N m/rad")] | None = Field(
        None, description="stiffness between motor and link (N m/rad); left out for a rigid drive"
    )
    damping: Annotated[float, nonnegative("N m s/rad")] = Field(
        0.0, description="damping between motor and link (N m s/rad); needs a stiffness"
    )
    rotor_inertia: Annotated[float, nonnegative("kg m2")] = Field(
        0.0, description="inertia of the rotor about its own axis, before the gear (kg m2)"
    )
    gear_ratio: Annotated[float, positive("")] = Field(
        1.0, description="turns of the rotor for one turn of the joint (no unit)"
    )

    @property
    def elastic(self) -> bool:
        return self.stiffness is not None

    @property
    def reflected_inertia(self) -> float:
        """Inertia of the rotor as the joint feels it (kg m2)."""
        return self.rotor_inertia * self.gear_ratio**2

    def conflicts(self) -> Iterator[Problem]:
        if self.elastic and self.rotor_inertia == 0:
            yield Problem(
                "rotor_inertia",
                self.rotor_inertia,
                "must be positive (kg m2): behind a spring the motor would have no inertia",
            )
        if self.damping and not self.elastic:
            yield Problem("damping", self.damping, "needs a stiffness: a rigid drive has nothing to damp")

    def rigid(self) -> Drive:
        """The same drive without its spring and damper."""
        return self.model_copy(update={"stiffness": None, "damping": 0.0})


class Joint(Description):
    """The connection of a link with its parent."""

    tag: ClassVar[str | None] = "type"

    if TYPE_CHECKING:  # each kind declares its own mount, so that the axis can come first
        mount: Vector3 | Matrix3

    @property
    def mount_matrix(self) -> Matrix3:
        """The mount as a 3x3 matrix."""
        return rotation_matrix(self.mount)

    @property
    @abstractmethod
    def coordinates(self) -> int:
        """How many coordinates the joint and its drive add."""

    def doubts(self) -> list[tuple[str, str]]:
        return [("mount", LOOKS_LIKE_DEGREES)] if looks_like_degrees(self.mount) else []

    def rigid(self) -> Joint:
        """The same joint without elasticity in its drive."""
        return self


_MOUNT_MEANING = f"rotation from the parent's frame to the joint's: {ROTATION_MEANING}"


class Revolute(Joint):
    """A hinge: the link turns about an axis of the joint's frame."""

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
        ) -> None: ...

    @property
    def axis_vector(self) -> Vector3:
        """The axis as a unit vector in the joint's frame."""
        return unit_axis(self.axis)

    @property
    def coordinates(self) -> int:
        return 2 if self.drive is not None and self.drive.elastic else 1

    def conflicts(self) -> Iterator[Problem]:
        if self.limits is not None and self.limits[0] >= self.limits[1]:
            yield Problem("limits", self.limits, "the lower limit must be below the upper one (rad)")

    def doubts(self) -> list[tuple[str, str]]:
        wide = self.limits is not None and max(map(abs, self.limits)) > LARGE_ANGLE
        return super().doubts() + ([("limits", LOOKS_LIKE_DEGREES)] if wide else [])

    def rigid(self) -> Revolute:
        return self if self.drive is None else self.model_copy(update={"drive": self.drive.rigid()})


class Weld(Joint):
    """No joint at all: the link is fixed to its parent."""

    type: Literal["weld"] = Field("weld", description="kind of joint")
    mount: Rotation = Field((0.0, 0.0, 0.0), description=_MOUNT_MEANING)

    if TYPE_CHECKING:

        def __init__(self, mount: ArrayLike = (0, 0, 0)) -> None: ...

    @property
    def coordinates(self) -> int:
        return 0


AnyJoint = Annotated[Revolute | Weld, Field(discriminator="type"), Shorthand(("revolute", "weld"))]
