"""Joints: the connections of links with their parents.

A new kind of joint is a subclass of `Joint` with a `type` of its own, here or in other code (docs/design.md).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, get_args

from pydantic import Field, GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from flexarm.foundation.dataclass import dataclass
from flexarm.robot.field_types import Shorthand
from flexarm.robot.joints.base import (
    JOINT_KINDS,
    CompoundJoint,
    Freedom,
    FreedomProperties,
    Joint,
    MovingJoint,
    SlideAlong,
    TurnAbout,
)
from flexarm.robot.joints.compound import Cylindrical, Planar, Universal
from flexarm.robot.joints.single import AxisJoint, Prismatic, Revolute, Screw, Weld
from flexarm.robot.joints.slides import (
    FixedPrismatic,
    PrismaticContact,
    RidingJoint,
    Sleeve,
    SlideJoint,
    SlidingPrismatic,
)

__all__ = [
    "JOINT_KINDS",
    "PACKAGE_KINDS",
    "AnyJoint",
    "AxisJoint",
    "CompoundJoint",
    "Cylindrical",
    "FixedPrismatic",
    "Freedom",
    "FreedomProperties",
    "Joint",
    "MovingJoint",
    "Planar",
    "Prismatic",
    "PrismaticContact",
    "Revolute",
    "RidingJoint",
    "Screw",
    "Sleeve",
    "SlideAlong",
    "SlideJoint",
    "SlidingPrismatic",
    "TurnAbout",
    "Universal",
    "Weld",
]

_PackageJoint = (
    Revolute | Prismatic | Screw | Universal | Cylindrical | Planar | SlidingPrismatic | FixedPrismatic | Sleeve | Weld
)
PACKAGE_KINDS: tuple[type[Joint], ...] = get_args(_PackageJoint)
"""Kinds of joints of this package; their fields are in the JSON Schema."""


@dataclass(frozen=True)
class JointShorthand(Shorthand):
    """Annotation that accepts `joint: weld` for `joint: {type: weld}`, and kinds of joints defined elsewhere."""

    def validate(self, value: object, validate_package_kind: Callable[[object], Joint]) -> Joint:
        """Return a joint from a description, its plain data or a shorthand."""
        value = self.expand(value)
        tag = value.get("type") if isinstance(value, dict) else getattr(value, "type", None)
        kind = JOINT_KINDS.get(tag) if isinstance(tag, str) else None
        if kind is None or kind in PACKAGE_KINDS:
            return validate_package_kind(value)
        return kind.model_validate(value)

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_wrap_validator_function(self.validate, handler(source))


if TYPE_CHECKING:
    AnyJoint = Joint
else:
    AnyJoint = Annotated[
        _PackageJoint,
        Field(discriminator="type"),
        JointShorthand(tuple(kind.model_fields["type"].default for kind in PACKAGE_KINDS if kind is not Screw)),
    ]
