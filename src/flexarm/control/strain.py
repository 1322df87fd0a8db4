"""Strain feedback: torques from the bending moment at the root of a link, measured by a strain gauge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from flexarm.control.per_joint import DrivenJoint, driven_joints, require_known
from flexarm.dynamics.links.sliding import is_gripped
from flexarm.dynamics.quantity_names import derivative, strain_name
from flexarm.dynamics.system import System, as_system
from flexarm.feedback.composition import Answer, composed
from flexarm.feedback.feedback import Feedback
from flexarm.feedback.measurements import LawView
from flexarm.feedback.sensors import Sensor
from flexarm.feedback.signals import Signals
from flexarm.foundation.messages import shown
from flexarm.foundation.validation import real_number
from flexarm.robot import Link, Revolute, Robot

DEFAULT_GAUGE_OFFSET_M = 1e-3  # assumed distance of the gauge from the axis on sections without an outline
ALIGNMENT_TOLERANCE = 1e-9


def strain_feedback(
    robot: Robot | System,
    link: str,
    x: float = 0.0,
    *,
    gain: float = 0.0,
    rate_gain: float = 0.0,
    rate: float | None = None,
    sensors: Mapping[str, Sensor] | None = None,
) -> Feedback:
    """Create strain feedback gain * M + rate_gain * M' on the joint of a flexible link, to be added to its PD.

    Parameters
    ----------
    robot : Robot or System
        Robot to control, or its equations of motion.
    link : str
        Link whose strain is measured and whose joint is driven. It must bend in one plane, about the axis of its
        revolute joint.
    x : float, optional
        Distance of the gauge from the root of the link (m).
    gain : float, optional
        Gain of the moment, above -1, without unit; "strain.upper" among the gains of the feedback.
    rate_gain : float, optional
        Gain of the rate of the moment (s), not negative; "strain_rate.upper" among the gains of the feedback.
    rate : float, optional
        Sample rate (Hz) of a digital controller; continuous by default.
    sensors : dict of str to Sensor, optional
        Sensors by signal, as in `Feedback`. The signal of the gauge is "upper.strain(0.0)".

    Returns
    -------
    Feedback
        Law for `simulate(torque=...)`.

    See Also
    --------
    pd : Controller of the joint.

    Notes
    -----
    M = -E I strain / y is the moment that the deflected link exerts on its joint, from the strain at the surface y.
    Together with the joint's PD, `gain` makes the motor (1 + gain) times lighter and softer: a stiff velocity loop
    becomes Luo's direct strain feedback. `rate_gain` damps modes above sqrt(kp / inertia of the hub). For gauges at the
    root and drives without springs the joint only takes energy from the link, so that all modes are damped, if
    rate_gain * kp <= (1 + gain) * kd. Deflection due to gravity contributes to M.

    Examples
    --------
    >>> from flexarm.robot import library
    >>> sorted(strain_feedback(library.two_link_arm(), "fore", gain=2.0).gains)
    ['strain.fore', 'strain_rate.fore']
    """
    system = as_system(robot)
    joints = {each.link: each for each in driven_joints(system)}
    require_known("link", [link if isinstance(link, str) else shown(link)], list(joints))
    place = real_number("x", x, "m", least=0)
    gauge = _gauge(system, system.robot.link(link), place)
    gains = {
        f"strain.{link}": real_number("gain", gain, above=-1),
        f"strain_rate.{link}": real_number("rate_gain", rate_gain, "s", least=0),
    }
    return composed(StrainLaw(joints[link], *gauge), [link], gains=gains, rate=rate, sensors=sensors)


@dataclass(frozen=True)
class StrainLaw:
    """Law of the moment, which is `factor` times the `signal` of a gauge."""

    joint: DrivenJoint
    signal: str
    factor: float

    def __call__(self, t: Any, x: LawView, gains: Mapping[str, Any]) -> Answer:
        moment = gains[f"strain.{self.joint.link}"] * x[self.signal]
        moment = moment + gains[f"strain_rate.{self.joint.link}"] * x[derivative(self.signal)]
        return {self.joint.link: self.factor / self.joint.gear * moment}, {}


def _gauge(system: System, link: Link, x: float) -> tuple[str, float]:
    """Return the signal of a gauge, and the moment on the joint per unit strain."""
    bends = [] if link.flexible is None else [each for each in ("bend_y", "bend_z") if getattr(link.flexible, each)]
    if len(bends) != 1 or is_gripped(link):
        raise ValueError(f"link '{link.name}': strain is fed back of links that bend in one plane, clamped to a joint")
    if x > link.length:
        raise ValueError(f"x = {x:g} m: must lie on the link, between 0 and {link.length:g} m")
    axis = np.array(link.joint.axis_vector) if isinstance(link.joint, Revolute) else np.zeros(3)
    about = axis[2] if bends == ["bend_y"] else -axis[1]  # turning about y takes a tip to -z
    if abs(about) < 1 - ALIGNMENT_TOLERANCE:
        raise ValueError(
            f"link '{link.name}': strain is fed back to a revolute joint about the axis about which the link bends, "
            f"'{'z' if bends == ['bend_y'] else 'y'}'"
        )
    assert link.section is not None
    assert link.material is not None
    section = link.section.at(x / link.length)
    stiffness = link.material.E * (section.I_z if bends == ["bend_y"] else section.I_y)
    signals, name = Signals(system), strain_name(link.name, x)
    try:
        _, y, z = signals.gauge(name, link.name, repr(x))
    except ValueError:  # the section has no outline
        y, z = (DEFAULT_GAUGE_OFFSET_M, 0.0) if bends == ["bend_y"] else (0.0, DEFAULT_GAUGE_OFFSET_M)
        name = strain_name(link.name, x, y, z)
    return name, float(-np.sign(about) * stiffness / (y + z))
