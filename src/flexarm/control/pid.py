"""Joint PD: each joint held to its reference by a spring and a damper that a motor plays.

Joint PID with back-calculation: the integral unwinds by what the limit cuts off.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from flexarm.control.feedforward import given_feedback
from flexarm.control.per_joint import (
    DrivenJoint,
    Side,
    by_link,
    driven_joints,
    numbers_by_link,
    system_of,
    values_by_link,
)
from flexarm.dynamics.system import System
from flexarm.feedback.actuators import Actuator
from flexarm.feedback.composition import Answer, LawComponent, composed, joined, links_of
from flexarm.feedback.feedback import Feedback
from flexarm.feedback.measurements import LawView
from flexarm.feedback.sensors import Sensor
from flexarm.foundation.validation import real_number
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

    def error(self, x: LawView, joint: DrivenJoint, rate: int = 0) -> Any:
        """Or its rate."""
        return x.reference(joint.signal, rate) - (x.rate(joint.signal) if rate else x[joint.signal])

    def __call__(self, t: Any, x: LawView, gains: Mapping[str, Any]) -> Answer:
        return {each.link: self._torque(x, each, gains) for each in self.joints}, {}

    def _torque(self, x: LawView, joint: DrivenJoint, gains: Mapping[str, Any]) -> Any:
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


def pid(
    robot: Robot | System,
    kp: Gain,
    kd: Gain,
    ki: Gain,
    references: Mapping[str, Any],
    *,
    tracking_time: float | None = None,
    feedforward: Mapping[str, Any] | Feedback | None = None,
    side: Side = "motor",
    limit: Limit = None,
    rate: float | None = None,
    sensors: Mapping[str, Sensor] | None = None,
    actuators: Mapping[str, Actuator] | None = None,
) -> Feedback:
    """`fa.pd` with an integral I: u = kp e + kd e' + I + feedforward, I' = ki e + (sat(u) - u) / tracking_time.

    robot, kp, kd, references, feedforward, side, limit, rate, sensors, actuators: as in `fa.pd`.
    ki: N m/(rad s), or N/(m s) of a slide, one number for all or by link; zero for links that are not named.
    tracking_time: within which the integral follows what the limits (those of `actuators`, too) leave of the torque
    (s); sqrt(kd / ki) unless given, or kp / ki without kd. It ends wind-up. A feedforward is inside the limits; of
    torques that are added to the whole, `fa.pid(...) + other`, the integral does not know, so give those as feedforward
    (limits are refused there).

    With a sample rate the integral grows once a period. `feedback.states` are the integrals, `integral.upper`, ..., in
    the actuators' units.

    >>> from flexarm.robot import library
    >>> arm = library.two_link_arm()
    >>> hold = pid(arm, kp=20.0, kd=2.0, ki=8.0, references={"upper": 0.5, "fore": 0.0}, limit=3.0)
    >>> hold.gains["reset.upper"]  # 1 / tracking_time
    2.0
    """
    system = system_of(robot)
    fields = {"limit": limit, "rate": rate, "sensors": sensors, "actuators": actuators}
    base, errors = following(system, kp, kd, references, side, fields)
    links = links_of(base) or ()
    require_chosen("ki", ki, system.inputs, dict.fromkeys(links, 0.0))
    slopes = numbers_by_link("ki", ki, links, "N m/(rad s) or N/(m s)")
    if tracking_time is not None:
        _require_period(real_number("tracking_time", tracking_time, "s", above=0), rate)
    more = given_feedback(system, feedforward, rate)
    whole: dict[str, Any] = {**fields, "gains": base.gains, "references": base.references}
    if more is not None:
        whole = joined(base, more)
    limits = replace(base, limit=whole["limit"], actuators=whole["actuators"]).limits(system)
    top = {link: float(each) for link, each in zip(system.inputs, limits) if np.isfinite(each) and link in links}
    given = whole["gains"]
    whole["gains"] = {
        **given,
        **{f"ki.{link}": slopes.get(link, 0.0) for link in links},
        **{f"limit.{link}": each for link, each in top.items()},
        **{f"reset.{link}": _reset(link, slopes.get(link, 0.0), given, tracking_time, rate) for link in top},
    }
    whole["states"] = {**(whole.get("states") or {}), **{f"integral.{link}": 0.0 for link in links}}
    law = IntegralLaw(errors, None if more is None else LawComponent.of(more), tuple(top))
    every = links if more is None else links_of(base + more)
    return composed(law, every, **whole)


@dataclass(frozen=True)
class IntegralLaw:
    """A PD law with integrals; `limited` are links whose torque has a limit."""

    follows_limits: ClassVar[bool] = True

    errors: ErrorLaw
    feedforward: LawComponent | None
    limited: tuple[str, ...]

    @property
    def is_memoryless(self) -> bool:
        """True if it depends on its arguments only."""
        return self.feedforward is None or self.feedforward.is_memoryless

    def __call__(self, t: Any, x: LawView, gains: Mapping[str, Any]) -> Answer:
        torques, _ = self.errors(t, x, gains)
        more, told = ({}, {}) if self.feedforward is None else self.feedforward(t, x, gains)
        for joint in self.errors.joints:
            link, name = joint.link, f"integral.{joint.link}"
            torques[link] = torques[link] + x.state(name) + more.pop(link, 0.0)
            grows = gains[f"ki.{link}"] * self.errors.error(x, joint) / joint.gear
            if link in self.limited:
                top = gains[f"limit.{link}"]
                kept = np.minimum(np.maximum(torques[link], -top), top)
                grows = grows + gains[f"reset.{link}"] * (kept - torques[link])
            told[name] = grows if x.period is None else x.state(name) + x.period * grows
        return {**torques, **more}, told


def _require_period(tracking_time: float, rate: float | None) -> None:
    if rate is not None and tracking_time * rate < 1:
        raise ValueError(f"tracking_time = {tracking_time:g} s: must be at least the law's period, {1 / rate:g} s")


def _reset(link: str, ki: float, gains: Mapping[str, Any], tracking_time: float | None, rate: float | None) -> float:
    """1 / tracking time; nothing where there is no integral. Once a period it cannot be quicker than the period."""
    if not ki:
        return 0.0
    if tracking_time is not None:
        return 1 / tracking_time
    kp, kd = gains[f"kp.{link}"], gains[f"kd.{link}"]
    if not kp and not kd:
        raise ValueError(f"tracking_time: give one (s), since '{link}' has an integral alone")
    return float(min(np.sqrt(ki / kd) if kd else ki / kp, np.inf if rate is None else rate))
