"""Joint PID with back-calculation: the integral unwinds by what the limit cuts off."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from flexarm.control.driven_joints import Side, numbers_by_link, system_of
from flexarm.control.given_torques import given_feedback
from flexarm.control.pd import ErrorLaw, Gain, Limit, following, require_chosen
from flexarm.foundation.numbers import real_number
from flexarm.mechanics.system import System
from flexarm.motion.actuators import Actuator
from flexarm.motion.law_sums import Answer, Part, composed, joined, links_of
from flexarm.motion.law_view import View
from flexarm.motion.laws import Feedback
from flexarm.motion.sensors import Sensor
from flexarm.robot import Robot


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
    law = IntegralLaw(errors, None if more is None else Part.of(more), tuple(top))
    every = links if more is None else links_of(base + more)
    return composed(law, every, **whole)


@dataclass(frozen=True)
class IntegralLaw:
    """A PD law with integrals; `limited` are links whose torque has a limit."""

    follows_limits: ClassVar[bool] = True

    errors: ErrorLaw
    feedforward: Part | None
    limited: tuple[str, ...]

    @property
    def is_memoryless(self) -> bool:
        """True if it depends on its arguments only."""
        return self.feedforward is None or self.feedforward.is_memoryless

    def __call__(self, t: Any, x: View, gains: Mapping[str, Any]) -> Answer:
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
