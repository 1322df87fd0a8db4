"""Strain feedback: what a gauge at the root of a link tells of the moment that the link puts on its joint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from flexarm.control.per_joint import DrivenJoint, driven_joints, require_known, system_of
from flexarm.dynamics.links.sliding import is_gripped
from flexarm.dynamics.system import System
from flexarm.feedback.composition import Answer, composed
from flexarm.feedback.feedback import Feedback
from flexarm.feedback.measurements import LawView
from flexarm.feedback.sensors import Sensor
from flexarm.feedback.signals import Signals
from flexarm.foundation.messages import shown
from flexarm.foundation.validation import real_number
from flexarm.robot import Link, Revolute, Robot

OFF_AXIS = 1e-3  # m: where a gauge is thought to be on sections whose outline is not known
ALIGNED = 1e-9


def strain_feedback(
    robot: Robot | System,
    link: str,
    x: float = 0.0,
    gain: float = 0.0,
    rate_gain: float = 0.0,
    rate: float | None = None,
    sensors: Mapping[str, Sensor] | None = None,
) -> Feedback:
    """Torques gain * M + rate_gain * M' on the joint of a link that bends, to be added to its PD.

    M is the moment that the bent link puts on its joint, from the strain of a gauge: M = -E I strain / y at the surface
    y. Through the joint's PD, gain makes the motor as much lighter and softer, (1 + gain) times: a stiff velocity loop
    becomes Luo's direct strain feedback. rate_gain damps modes above sqrt(kp / hub's inertia). The link sees a joint
    that only ever takes energy from it, so that all its modes are damped, where rate_gain * kp <= (1 + gain) * kd. (For
    gauges at the root and drives without springs; docs/theory.md.) What gravity bends counts, too.

    robot, link: whose joint and whose strain: a link that bends in one plane, about the axis of a revolute joint.
    x: place of the gauge (m from the link's root).
    gain: no unit, above -1. rate_gain: in s, zero or positive. Both are gains of the feedback, `strain.upper` and
    `strain_rate.upper`.
    rate, sensors: as in `fa.Feedback`; the gauge's signal is `upper.strain(0.0)`.

    >>> from flexarm.robot import library
    >>> sorted(strain_feedback(library.two_link_arm(), "fore", gain=2.0).gains)
    ['strain.fore', 'strain_rate.fore']
    """
    system = system_of(robot)
    joints = {each.link: each for each in driven_joints(system)}
    require_known("link", {link: None} if isinstance(link, str) else {shown(link): None}, list(joints))
    place = real_number("x", x, "m", least=0)
    gauge = _gauge(system, system.robot.link(link), place)
    gains = {
        f"strain.{link}": real_number("gain", gain, above=-1),
        f"strain_rate.{link}": real_number("rate_gain", rate_gain, "s", least=0),
    }
    return composed(StrainLaw(joints[link], *gauge), [link], gains=gains, rate=rate, sensors=sensors)


@dataclass(frozen=True)
class StrainLaw:
    """Of the moment `factor` times the `signal` of a gauge."""

    joint: DrivenJoint
    signal: str
    factor: float

    def __call__(self, t: Any, x: LawView, gains: Mapping[str, Any]) -> Answer:
        told = gains[f"strain.{self.joint.link}"] * x[self.signal]
        told = told + gains[f"strain_rate.{self.joint.link}"] * x.rate(self.signal)
        return {self.joint.link: self.factor / self.joint.gear * told}, {}


def _gauge(system: System, link: Link, x: float) -> tuple[str, float]:
    """The signal of a gauge, and the moment on the joint for a strain of one."""
    bends = [] if link.flexible is None else [each for each in ("bend_y", "bend_z") if getattr(link.flexible, each)]
    if len(bends) != 1 or is_gripped(link):
        raise ValueError(f"link '{link.name}': strain is fed back of links that bend in one plane, clamped to a joint")
    if x > link.length:
        raise ValueError(f"x = {x:g} m: must lie on the link, between 0 and {link.length:g} m")
    axis = np.array(link.joint.axis_vector) if isinstance(link.joint, Revolute) else np.zeros(3)
    about = axis[2] if bends == ["bend_y"] else -axis[1]  # turning about y takes a tip to -z
    if abs(about) < 1 - ALIGNED:
        raise ValueError(
            f"link '{link.name}': strain is fed back to a revolute joint about the axis about which the link bends, "
            f"'{'z' if bends == ['bend_y'] else 'y'}'"
        )
    assert link.section is not None
    assert link.material is not None
    section = link.section.at(x / link.length)
    stiffness = link.material.E * (section.I_z if bends == ["bend_y"] else section.I_y)
    signals, name = Signals(system), f"{link.name}.strain({x!r})"
    try:
        _, y, z = signals.gauge(name, link.name, repr(x))
    except ValueError:  # nobody knows its outline
        y, z = (OFF_AXIS, 0.0) if bends == ["bend_y"] else (0.0, OFF_AXIS)
        name = f"{link.name}.strain({x!r}, {y!r}, {z!r})"
    return name, float(-np.sign(about) * stiffness / (y + z))
