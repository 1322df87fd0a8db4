"""Models of joints along the axis of a link: those that ride on their parent, and guides of their own link."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flexarm.dynamics.joints.model import JointModel
from flexarm.dynamics.spatial_algebra import Jet, Step, along_x
from flexarm.robot.joints import FixedPrismatic, RidingJoint

if TYPE_CHECKING:
    from flexarm.dynamics.bodies import Body, SymbolicBody
    from flexarm.dynamics.parameters import Parameters
    from flexarm.robot.joints import Joint


class RidingModel(JointModel):
    """Model of a joint that slides along its parent, or along x of the base; it moves before its mount."""

    def add_parameters(self, out: Parameters, path: str, where: str, joint: Joint) -> None:
        assert isinstance(joint, RidingJoint)
        out.fact(where, "has contact =", joint.contact)

    def add_seat(self, out: Parameters, path: str, body: Body, above: Body) -> None:
        assert isinstance(body.link.joint, RidingJoint)
        above.model.add_rail(out, f"{path}.rail", above, body.link.joint.contact)

    def seat(self, body: SymbolicBody, carrier: SymbolicBody | None, above: Jet | None, own: Jet) -> list[Step]:
        x, joint = own.of(body.local.joint), body.link.joint
        if carrier is None or above is None:
            return [along_x(x)]
        assert isinstance(joint, RidingJoint)
        return carrier.model.moving_place(carrier, body.parameters.under("rail"), x, above, joint.contact)

    def steps(self, body: SymbolicBody, own: Jet) -> list[Step]:
        return []


class GuideModel(JointModel):
    """Model of a joint through which its link slides; the model of the link provides the translation."""

    def add_parameters(self, out: Parameters, path: str, where: str, joint: Joint) -> None:
        assert isinstance(joint, FixedPrismatic)
        out.fact(where, "has contact =", joint.contact)
        out.fact(where, "has rear =", joint.rear)

    def steps(self, body: SymbolicBody, own: Jet) -> list[Step]:
        return body.model.guide_steps(body, own)
