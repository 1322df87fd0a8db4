"""Torques that carry a robot's weight: at measured coordinates, or for a posture in which it is to be held."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import casadi as ca

from flexarm.analysis.places import require_tree
from flexarm.control.driven_joints import DrivenJoint, driven_joints, system_of, values_by_link
from flexarm.control.given_torques import given_torques
from flexarm.foundation.numbers import real_number
from flexarm.foundation.sentences import shown
from flexarm.mechanics.equilibrium import equilibrium
from flexarm.mechanics.system import System
from flexarm.motion.law_sums import Answer, composed
from flexarm.motion.law_view import View
from flexarm.motion.laws import Feedback
from flexarm.robot import Robot


def gravity_torque(
    robot: Robot | System,
    posture: Mapping[str, float] | None = None,
    model: Literal["rigid", "flexible"] = "rigid",
    rate: float | None = None,
) -> Feedback:
    """Torques that hold a robot against gravity, to be added to others: `fa.pd(...) + fa.gravity_torque(arm)`.

    robot: which is held.
    posture: by link where its joints (motors of elastic drives) are to be held: torques are then constant. Without it
    they are those of where the joints are.
    model: "rigid" is the weight of the rigid twin with its joints there (motors, of elastic drives); "flexible" that of
    the robot as it is bent: as coordinates of links and joints say, or in the equilibrium of a posture.
    rate: sample rate (Hz), that of the feedback to which it is added.

    >>> from flexarm.robot import Link, PointMass, Revolute
    >>> arm = Robot(links=[Link("arm", 2.0, Revolute("y"), mass=0.0, payload=PointMass(1.0))], gravity=(0, 0, -9.81))
    >>> gravity_torque(arm, {"arm": 0.0}).references["gravity.arm"](0.0)  # turning down is positive
    -19.62
    """
    system = system_of(robot)
    if model not in ("rigid", "flexible"):
        raise ValueError(f"model = {shown(model)}: must be 'rigid' or 'flexible'")
    require_tree(system, "a torque against gravity")
    joints = driven_joints(system)
    links = [each.link for each in joints]
    if posture is not None:
        given = values_by_link("posture", posture, links)
        at = {link: real_number(f"posture['{link}']", each, "rad or m") for link, each in given.items()}
        return given_torques(_held(system, joints, at, model), "gravity", rate)
    if model == "flexible":
        own = {each.link: system.joint(each.link).index for each in joints}
        return composed(BentWeight(system.casadi["gravity"], tuple(joints), tuple(own.values())), links, rate=rate)
    twin = System(system.robot.rigid(), native=False)
    signals = {each.link: each.signal for each in joints}
    order = tuple(signals[each.link] for each in twin.coordinates)
    places = tuple(twin.joint(each.link).index for each in joints)
    return composed(RigidWeight(twin.casadi["gravity"], tuple(joints), places, order), links, rate=rate)


@dataclass(frozen=True)
class RigidWeight:
    """Of a rigid twin whose coordinates are signals."""

    gravity: ca.Function
    joints: tuple[DrivenJoint, ...]
    places: tuple[int, ...]
    signals: tuple[str, ...]

    def __call__(self, t: Any, x: View, gains: Mapping[str, Any]) -> Answer:
        return _torques(self.gravity(ca.vertcat(*(x[each] for each in self.signals))), self.joints, self.places), {}


@dataclass(frozen=True)
class BentWeight:
    """Of a robot with all its coordinates. Behind a spring the motor has no weight: it carries its joint's."""

    gravity: ca.Function
    joints: tuple[DrivenJoint, ...]
    places: tuple[int, ...]

    def __call__(self, t: Any, x: View, gains: Mapping[str, Any]) -> Answer:
        q = x.q
        every = ca.SX(q) if isinstance(q, ca.SX) else ca.DM(list(map(float, q)))
        return _torques(self.gravity(every), self.joints, self.places), {}


def _torques(forces: Any, joints: tuple[DrivenJoint, ...], places: tuple[int, ...]) -> dict[str, Any]:
    found = (forces[place] / joint.gear for joint, place in zip(joints, places, strict=True))
    return {joint.link: float(each) if isinstance(each, ca.DM) else each for joint, each in zip(joints, found)}


def _held(system: System, joints: list[DrivenJoint], at: Mapping[str, float], model: str) -> dict[str, float]:
    if model == "rigid":
        twin = System(system.robot.rigid(), native=False)
        forces = twin.gravity({twin.joint(link).name: each for link, each in at.items()})
        return {each.link: float(forces[twin.joint(each.link).index] / each.gear) for each in joints}
    names = {each.link: {each.signal, system.joint(each.link).name} for each in joints}
    q = equilibrium(system, {name: at[link] for link, both in names.items() for name in both})
    forces = system.inverse_dynamics(q, None, None)
    return {each.link: float(forces[system.index(each.signal)] / each.gear) for each in joints}
