"""Models of joints: `joint_model` returns that of a joint.

Most kinds of joints consist of elementary motions and need no model of their own.
"""

from __future__ import annotations

from flexarm.dynamics.joints.model import JointModel
from flexarm.dynamics.joints.sliding import GuideModel, RidingModel
from flexarm.robot.joints import JOINT_KINDS, PACKAGE_KINDS, FixedPrismatic, Joint, Sleeve, SlidingPrismatic

__all__ = ["JointModel", "joint_model", "supported_joints"]

ELEMENTARY = JointModel()
SPECIAL_MODELS: dict[type[Joint], JointModel] = {
    SlidingPrismatic: RidingModel(),
    Sleeve: RidingModel(),
    FixedPrismatic: GuideModel(),
}
"""Models of the kinds of joints whose motion depends on the links that they connect."""


def joint_model(joint: Joint) -> JointModel:
    """Return the model of a joint."""
    return SPECIAL_MODELS.get(type(joint), ELEMENTARY)


def supported_joints() -> tuple[type[Joint], ...]:
    """Return the kinds of joints with a model: those registered that define their elementary motions."""
    found = dict.fromkeys((*PACKAGE_KINDS, *JOINT_KINDS.values()))
    return tuple(each for each in found if each in SPECIAL_MODELS or _defines_motions(each))


def _defines_motions(kind: type[Joint]) -> bool:
    return kind.elementary_motions is not Joint.elementary_motions
