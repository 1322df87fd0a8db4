"""Joint PD: each joint held to its reference by a spring and a damper that a motor plays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from flexarm.control.driven_joints import (
    DrivenJoint,
    Side,
    by_link,
    driven_joints,
    numbers_by_link,
    system_of,
    values_by_link,
)
from flexarm.control.given_torques import given_feedback
from flexarm.mechanics.system import System
from flexarm.motion.actuators import Actuator
from flexarm.motion.law_sums import Answer, composed
from flexarm.motion.law_view import View
from flexarm.motion.laws import Feedback
from flexarm.motion.sensors import Sensor
from flexarm.robot import Robot

Gain = float | Mapping[str, float]
Limit = float | Sequence[float] | Mapping[str, float] | None


def pd(
    robot: Robot | System,
    kp: Gain,
    kd: Gain,
    references: Mapping[str, Any],
    *,
    feedforward: Mapping[str, Any] | Feedback | None = None,
    side: Side = "motor",
    limit: Limit = None,
    rate: float | None = None,
    sensors: Mapping[str, Sensor] | None = None,
    actuators: Mapping[str, Actuator] | None = None,
) -> Feedback:
    """Torques kp (r - q) + kd (r' - q') of the joints, plus a feedforward.

    robot: whose joints they are.
    kp, kd: N m/rad and N m s/rad as the joint feels them (N/m, N s/m of a slide), one number for all or by link; links
    that kp does not name get no torque. They are gains of the feedback, `kp.upper`, `kd.upper`: others compile nothing.
    references: by link numbers, profiles or functions of t. In a robot with loops, where some joints are passive, a
    single kp is for the joints that references name; the others get no torque.
    feedforward: torques by link to be added, as `fa.feedforward` gives them, or a feedback such as `fa.gravity_torque`.
    side: what q is of an elastic drive: the "motor", on which the torque acts, or the "joint" behind the spring.
    limit, rate, sensors, actuators: as in `fa.Feedback`.

    >>> from flexarm.robot import library
    >>> arm = library.two_link_arm()
    >>> hold = pd(arm, kp={"upper": 20.0, "fore": 5.0}, kd=1.0, references={"upper": 0.5, "fore": 0.0})
    >>> sorted(hold.gains)
    ['kd.fore', 'kd.upper', 'kp.fore', 'kp.upper']
    """
    system = system_of(robot)
    fields = {"limit": limit, "rate": rate, "sensors": sensors, "actuators": actuators}
    own, _ = following(system, kp, kd, references, side, fields)
    more = given_feedback(system, feedforward, rate)
    return own if more is None else own + more


@dataclass(frozen=True)
class ErrorLaw:
    """Springs and dampers between joints and their references."""

    is_memoryless: ClassVar[bool] = True

    joints: tuple[DrivenJoint, ...]

    def error(self, x: View, joint: DrivenJoint, rate: int = 0) -> Any:
        """Or its rate."""
        return x.reference(joint.signal, rate) - (x.rate(joint.signal) if rate else x[joint.signal])

    def __call__(self, t: Any, x: View, gains: Mapping[str, Any]) -> Answer:
        return {each.link: self._torque(x, each, gains) for each in self.joints}, {}

    def _torque(self, x: View, joint: DrivenJoint, gains: Mapping[str, Any]) -> Any:
        kp, kd = (gains[f"{name}.{joint.link}"] for name in ("kp", "kd"))
        return (kp * self.error(x, joint) + kd * self.error(x, joint, 1)) / joint.gear


def following(
    system: System, kp: Gain, kd: Gain, references: Any, side: Side, fields: Mapping[str, Any]
) -> tuple[Feedback, ErrorLaw]:
    """The feedback without what is added to it, and its law; with other `fields` of a feedback."""
    joints = driven_joints(system, side)
    links = [each.link for each in joints]
    stiff = numbers_by_link("kp", kp, links, "N m/rad or N/m")
    reason = "kp does not name it; kp may be zero"
    if system.constraints and not isinstance(kp, Mapping) and isinstance(references, Mapping):
        named = by_link("references", references, links)
        stiff = {link: value for link, value in stiff.items() if link in named} or stiff
        reason = "references do not name it"
    chosen = [each for each in joints if each.link in stiff]
    require_chosen("kd", kd, links, stiff, reason)
    require_chosen("references", references, links, stiff)
    damp = numbers_by_link("kd", kd, [each.link for each in chosen], "N m s/rad or N s/m")
    wanted = values_by_link("references", references, [each.link for each in chosen])
    gains = {f"kp.{link}": value for link, value in stiff.items()}
    gains |= {f"kd.{link}": damp.get(link, 0.0) for link in stiff}
    aims = {each.signal: wanted[each.link] for each in chosen}
    law = ErrorLaw(tuple(chosen))
    return composed(law, [each.link for each in chosen], gains=gains, references=aims, **fields), law


def require_chosen(
    name: str,
    given: Any,
    links: Sequence[str],
    chosen: Mapping[str, float],
    reason: str = "kp does not name it; kp may be zero",
) -> None:
    """Refuse what is given for a link that could have a torque, but gets none."""
    for link in given if isinstance(given, Mapping) else ():
        if link in links and link not in chosen:
            raise ValueError(f"{name}: names '{link}', which gets no torque since {reason}")
