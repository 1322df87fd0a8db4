"""Drives and elastic stops of joints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from flexarm.robot.description import Description
from flexarm.robot.errors import DescriptionProblem
from flexarm.robot.field_types import nonnegative, positive

_STIFFNESS = "N m/rad, N/m in a prismatic joint"
_DAMPING = "N m s/rad, N s/m in a prismatic joint"


class Drive(Description):
    """Motor and gear of a joint. An elastic drive adds the motor's angle as a coordinate (Spong's model).

    The kinetic energy of the rotor contains only its spin relative to its own link. The units are those of a revolute
    joint; in a prismatic joint stiffness is in N/m, damping in N s/m and gear_ratio in rad/m, and the motor's
    coordinate is a length. The motor's coordinate is its angle divided by the gear ratio, and actuator torques are
    those of the motor multiplied by it: both are measured at the joint. With torque_at = motor, torques are those of
    the motor's shaft.

    Examples
    --------
    >>> Drive(stiffness=5000.0, rotor_inertia=0.001, gear_ratio=100).reflected_inertia
    10.0
    """

    stiffness: Annotated[float, positive(_STIFFNESS)] | None = Field(
        None, description=f"stiffness between motor and link ({_STIFFNESS}); left out for a rigid drive"
    )
    damping: Annotated[float, nonnegative(_DAMPING)] = Field(
        0.0, description=f"damping between motor and link ({_DAMPING}); needs a stiffness"
    )
    rotor_inertia: Annotated[float, nonnegative("kg m2")] = Field(
        0.0, description="inertia of the rotor about its own axis, before the gear (kg m2)"
    )
    gear_ratio: Annotated[float, positive("")] = Field(
        1.0,
        description="turns of the rotor for one turn of the joint (no unit); in a prismatic joint its angle for one "
        "metre (rad/m). It multiplies the rotor's inertia; actuator torques are those at the joint, after the gear, "
        "unless torque_at is motor",
    )
    torque_at: Literal["joint", "motor"] = Field(
        "joint",
        description="where actuator torques act: at the joint, after the gear, or at the motor's shaft (N m, also in "
        "a prismatic joint), multiplied by gear_ratio at the joint",
    )

    @property
    def elastic(self) -> bool:
        """True if the drive has a spring."""
        return self.stiffness is not None

    @property
    def reflected_inertia(self) -> float:
        """Inertia of the rotor reflected to the joint (kg m2; a mass in kg in a prismatic joint)."""
        return self.rotor_inertia * self.gear_ratio**2

    @property
    def force_per_input(self) -> float:
        """Generalized force, in the joint's unit, per unit of the actuator."""
        return self.gear_ratio if self.torque_at == "motor" else 1.0

    def conflicts(self) -> Iterator[DescriptionProblem]:
        if self.elastic and self.rotor_inertia == 0:
            yield DescriptionProblem(
                "rotor_inertia",
                self.rotor_inertia,
                "must be positive (kg m2): behind a spring the motor would have no inertia",
            )
        if self.damping and not self.elastic:
            yield DescriptionProblem("damping", self.damping, "needs a stiffness: a rigid drive has nothing to damp")

    def rigid(self) -> Drive:
        """Return the drive without its spring and damper.

        Returns
        -------
        Drive
        """
        return self.model_copy(update={"stiffness": None, "damping": 0.0})


class Stop(Description):
    """Elastic stop at both limits of a joint: a spring and a damper that act beyond them."""

    stiffness: Annotated[float, positive(_STIFFNESS)] = Field(description=f"stiffness of the stop ({_STIFFNESS})")
    damping: Annotated[float, nonnegative(_DAMPING)] = Field(0.0, description=f"damping of the stop ({_DAMPING})")

    if TYPE_CHECKING:

        def __init__(self, stiffness: float, damping: float = 0.0) -> None: ...
