"""PD and PID control of joints; the integral of PID is limited by back-calculation."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
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
    values_by_link,
)
from flexarm.dynamics.quantity_names import derivative
from flexarm.dynamics.system import System, as_system
from flexarm.feedback.actuators import Actuator
from flexarm.feedback.composition import Answer, LawComponent, combined_feedback, composed, links_of
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
    """Create a PD controller of the joints: torques kp (r - q) + kd (r' - q') plus a feedforward.

    Parameters
    ----------
    robot : Robot or System
        Robot to control, or its equations of motion.
    kp : float or dict of str to float
        Stiffness as the joint feels it (N m/rad, or N/m for a sliding joint), for all joints or by link. Links that a
        mapping does not name get no torque.
    kd : float or dict of str to float
        Damping as the joint feels it (N m s/rad or N s/m), for all joints or by link.
    references : dict of str to float, Profile or callable
        References r by link: numbers, profiles or functions of t. In a robot with loops, where some joints are passive,
        a single `kp` applies to the joints that `references` names; the others get no torque.
    feedforward : dict of str to Profile, or Feedback, optional
        Torques by link that are added, such as those of `feedforward`, or a feedback such as `gravity_torque`.
    side : {"motor", "joint"}, optional
        Measured coordinate q of an elastic drive: the motor, on which the torque acts, or the joint behind the spring.
    limit : float, sequence of float or dict of str to float, optional
        Largest torque (N m) or force (N) of the actuators, as in `Feedback`.
    rate : float, optional
        Sample rate (Hz) of a digital controller; continuous by default.
    sensors : dict of str to Sensor, optional
        Sensors by signal, as in `Feedback`.
    actuators : dict of str to Actuator, optional
        Actuators by link, as in `Feedback`.

    Returns
    -------
    Feedback
        Law for `simulate(torque=...)` with the gains "kp.upper", "kd.upper", ..., which can be changed without a new
        compilation.

    Raises
    ------
    KeyError
        If there is no actuator at a given link.
    ValueError
        If a gain is negative, or a reference is missing.

    See Also
    --------
    pid : PD with an integral.
    computed_torque : Tracking with the inverse dynamics of the robot.

    Examples
    --------
    >>> from flexarm.robot import library
    >>> arm = library.two_link_arm()
    >>> hold = pd(arm, kp={"upper": 20.0, "fore": 5.0}, kd=1.0, references={"upper": 0.5, "fore": 0.0})
    >>> sorted(hold.gains)
    ['kd.fore', 'kd.upper', 'kp.fore', 'kp.upper']
    """
    system = as_system(robot)
    fields = {"limit": limit, "rate": rate, "sensors": sensors, "actuators": actuators}
    own, _ = joint_feedback(system, kp, kd, references, side, fields)
    more = given_feedback(system, feedforward, rate)
    return own if more is None else own + more


@dataclass(frozen=True)
class ErrorLaw:
    """Law of springs and dampers between joints and their references."""

    is_memoryless: ClassVar[bool] = True

    joints: tuple[DrivenJoint, ...]

    def error(self, x: LawView, joint: DrivenJoint, order: int = 0) -> Any:
        """Return the error of a joint, or its rate."""
        return x.reference(joint.signal, order) - x[derivative(joint.signal, order)]

    def __call__(self, t: Any, x: LawView, gains: Mapping[str, Any]) -> Answer:
        torques = {}
        for each in self.joints:
            kp, kd = gains[f"kp.{each.link}"], gains[f"kd.{each.link}"]
            torques[each.link] = (kp * self.error(x, each) + kd * self.error(x, each, 1)) / each.gear
        return torques, {}


def joint_feedback(
    system: System, kp: Gain, kd: Gain, references: Any, side: Side, fields: Mapping[str, Any]
) -> tuple[Feedback, ErrorLaw]:
    """Return the PD feedback without feedforward and its law; `fields` are further arguments of `Feedback`."""
    joints = driven_joints(system, side)
    links = [each.link for each in joints]
    stiffnesses = numbers_by_link("kp", kp, links, "N m/rad or N/m")
    reason = NOT_NAMED
    require_chosen("references", references, links, stiffnesses)
    if system.constraints and not isinstance(kp, Mapping) and isinstance(references, Mapping):
        named = by_link("references", references, links)
        stiffnesses = {link: value for link, value in stiffnesses.items() if link in named} or stiffnesses
        reason = "references do not name it"
    require_chosen("kd", kd, links, stiffnesses, reason)
    chosen = [each for each in joints if each.link in stiffnesses]
    links = [each.link for each in chosen]
    dampings = numbers_by_link("kd", kd, links, "N m s/rad or N s/m")
    profiles = values_by_link("references", references, links)
    gains = {f"kp.{link}": value for link, value in stiffnesses.items()}
    gains |= {f"kd.{link}": dampings.get(link, 0.0) for link in stiffnesses}
    law = ErrorLaw(tuple(chosen))
    signals = {each.signal: profiles[each.link] for each in chosen}
    return composed(law, links, gains=gains, references=signals, **fields), law


NOT_NAMED = "kp does not name it; kp may be zero"


def require_chosen(
    name: str, given: Any, links: Sequence[str], chosen: Collection[str], reason: str = NOT_NAMED
) -> None:
    """Raise ValueError if a link that has an actuator, but gets no torque, is named."""
    for link in given if isinstance(given, Mapping) else ():
        if link in links and link not in chosen:
            raise ValueError(f"{name}: names '{link}', which gets no torque since {reason}")


def pid(
    robot: Robot | System,
    kp: Gain,
    ki: Gain,
    kd: Gain,
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
    """Create a PID controller of the joints, with an integral that unwinds when torques are limited.

    Parameters
    ----------
    robot : Robot or System
        Robot to control, or its equations of motion.
    kp : float or dict of str to float
        Stiffness as the joint feels it (N m/rad, or N/m for a sliding joint), for all joints or by link. Links that a
        mapping does not name get no torque.
    ki : float or dict of str to float
        Integral gain (N m/(rad s) or N/(m s)), for all joints or by link; zero for links that a mapping does not name.
    kd : float or dict of str to float
        Damping as the joint feels it (N m s/rad or N s/m), for all joints or by link.
    references : dict of str to float, Profile or callable
        References by link: numbers, profiles or functions of t.
    tracking_time : float, optional
        Time constant (s) with which the integral follows the part of the torque that the limits cut off; by default
        sqrt(kd / ki), or kp / ki without kd.
    feedforward : dict of str to Profile, or Feedback, optional
        Torques by link that are added, within the limits.
    side : {"motor", "joint"}, optional
        Measured coordinate of an elastic drive: the motor, on which the torque acts, or the joint behind the spring.
    limit : float, sequence of float or dict of str to float, optional
        Largest torque (N m) or force (N) of the actuators, as in `Feedback`.
    rate : float, optional
        Sample rate (Hz) of a digital controller, which updates the integral once per period; continuous by default.
    sensors : dict of str to Sensor, optional
        Sensors by signal, as in `Feedback`.
    actuators : dict of str to Actuator, optional
        Actuators by link, as in `Feedback`; their limits count for the integral, too.

    Returns
    -------
    Feedback
        Law for `simulate(torque=...)`. Its states "integral.upper", ... are in the actuators' units.

    Raises
    ------
    KeyError
        If there is no actuator at a given link.
    ValueError
        If a gain is negative, a reference is missing, or `tracking_time` is below the period.

    See Also
    --------
    pd : Without an integral.

    Notes
    -----
    The law is u = kp e + kd e' + I + feedforward with I' = ki e + (sat(u) - u) / tracking_time (back-calculation).
    Torques that are added to the whole feedback, `pid(...) + other`, are not seen by the integral: pass them as
    `feedforward`, since sums with further limits are refused.

    Examples
    --------
    >>> from flexarm.robot import library
    >>> arm = library.two_link_arm()
    >>> hold = pid(arm, kp=20.0, ki=8.0, kd=2.0, references={"upper": 0.5, "fore": 0.0}, limit=3.0)
    >>> hold.gains["reset.upper"]  # 1 / tracking_time
    2.0
    """
    system = as_system(robot)
    fields = {"limit": limit, "rate": rate, "sensors": sensors, "actuators": actuators}
    base, errors = joint_feedback(system, kp, kd, references, side, fields)
    links = links_of(base) or ()
    require_chosen("ki", ki, system.inputs, links)
    slopes = numbers_by_link("ki", ki, links, "N m/(rad s) or N/(m s)")
    if tracking_time is not None:
        real_number("tracking_time", tracking_time, "s", above=0)
        if rate is not None and tracking_time * rate < 1:
            period = f"{1 / rate:g} s"
            raise ValueError(f"tracking_time = {tracking_time:g} s: must be at least the law's period, {period}")
    added = given_feedback(system, feedforward, rate)
    whole: dict[str, Any] = {**fields, "gains": base.gains, "references": base.references}
    if added is not None:
        whole = combined_feedback(base, added)
    limits = replace(base, limit=whole["limit"], actuators=whole["actuators"]).limits(system)
    limited = {link: float(each) for link, each in zip(system.inputs, limits) if np.isfinite(each) and link in links}
    given, slopes = whole["gains"], {link: slopes.get(link, 0.0) for link in links}
    whole["gains"] = {
        **given,
        **{f"ki.{link}": each for link, each in slopes.items()},
        **{f"limit.{link}": each for link, each in limited.items()},
        **{f"reset.{link}": _reset_rate(link, slopes[link], given, tracking_time, rate) for link in limited},
    }
    whole["states"] = {**(whole.get("states") or {}), **{f"integral.{link}": 0.0 for link in links}}
    law = IntegralLaw(errors, None if added is None else LawComponent.of(added), tuple(limited))
    every = links if added is None else links_of(base + added)
    return composed(law, every, **whole)


@dataclass(frozen=True)
class IntegralLaw:
    """PD law with integrals; the torques of the links in `limited` have limits."""

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
        added, rates = ({}, {}) if self.feedforward is None else self.feedforward(t, x, gains)
        for joint in self.errors.joints:
            link, name = joint.link, f"integral.{joint.link}"
            torques[link] = torques[link] + x.state(name) + added.pop(link, 0.0)
            rate = gains[f"ki.{link}"] * self.errors.error(x, joint) / joint.gear
            if link in self.limited:
                largest = gains[f"limit.{link}"]
                saturated = np.minimum(np.maximum(torques[link], -largest), largest)
                rate = rate + gains[f"reset.{link}"] * (saturated - torques[link])
            rates[name] = rate if x.period is None else x.state(name) + x.period * rate
        return {**torques, **added}, rates


def _reset_rate(
    link: str, ki: float, gains: Mapping[str, Any], tracking_time: float | None, rate: float | None
) -> float:
    """Return 1 / tracking_time, at most the sample rate; zero without an integral."""
    if not ki:
        return 0.0
    if tracking_time is not None:
        return 1 / tracking_time
    kp, kd = gains[f"kp.{link}"], gains[f"kd.{link}"]
    if not kp and not kd:
        raise ValueError(f"tracking_time: give one (s), since '{link}' has an integral alone")
    return float(min(np.sqrt(ki / kd) if kd else ki / kp, np.inf if rate is None else rate))
