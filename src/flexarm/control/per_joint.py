"""Joints as controllers see them: which signal each actuator is to follow, and gains by link.

Numbers and references of all joints of a robot, as a user gives them to a controller.

Gains to begin with, from a robot alone: its joints as slow as its links can follow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.linalg import null_space

from flexarm.analysis.modes import locked_joints, modes
from flexarm.analysis.rigid_kinematics import Twin, require_tree
from flexarm.dynamics.constraints.initial_projection import Assembly
from flexarm.dynamics.system import System
from flexarm.foundation.messages import shown, suggestion
from flexarm.foundation.validation import real_array, real_number
from flexarm.profiles.parse import profile
from flexarm.profiles.profile import Profile
from flexarm.robot import Robot

Side = Literal["motor", "joint"]


@dataclass(frozen=True)
class DrivenJoint:
    """An actuator and what is measured of its joint.

    signal: the coordinate that a law reads. gear: generalised force per unit of the actuator.
    """

    link: str
    signal: str
    gear: float


def system_of(robot: object) -> System:
    """Of whatever a user gives for a robot."""
    if not isinstance(robot, (Robot, System)):
        raise TypeError(f"robot = {shown(robot)}: must be a Robot or a System")
    return robot if isinstance(robot, System) else System(robot, native=False)


def driven_joints(system: System, side: Side = "motor") -> list[DrivenJoint]:
    """All of a robot. On the side of the motor what is measured is the coordinate on which the actuator acts."""
    if side not in ("motor", "joint"):
        raise ValueError(f"side = {shown(side)}: must be 'motor' or 'joint'")
    if not system.actuators:
        raise ValueError(f"robot '{system.robot.name}' has no joint that could be driven")
    return [
        DrivenJoint(each.link, each.coordinate.name if side == "motor" else system.joint(each.link).name, each.gear)
        for each in system.actuators
    ]


def numbers_by_link(name: str, given: Any, links: Sequence[str], unit: str = "") -> dict[str, float]:
    """A number for all links, or by link (those that are not named are left out); zero or positive."""
    if not isinstance(given, Mapping):
        number = real_number(name, given, unit, least=0)
        return dict.fromkeys(links, number)
    if not given:
        raise ValueError(f"{name} = {{}}: must be a number, or numbers by link, {{'{links[0]}': 1.0}}")
    require_known(name, given, links)
    return {link: real_number(f"{name}['{link}']", each, unit, least=0) for link, each in given.items()}


def values_by_link(name: str, given: Any, links: Sequence[str]) -> dict[str, Any]:
    """What a user gives by link, for all of these links."""
    if not isinstance(given, Mapping) or not given:
        raise TypeError(f"{name} = {shown(given)}: must be a mapping by link, {{'{links[0]}': ...}}")
    given = by_link(name, given, links)
    require_known(name, given, links)
    if missing := [link for link in links if link not in given]:
        raise ValueError(f"{name}: there is none for '{missing[0]}'; a number holds it there")
    return dict(given)


def by_link(name: str, given: Mapping[Any, Any], links: Sequence[str]) -> dict[Any, Any]:
    """The same by link, whether users write the link, `upper`, or the coordinate of its joint, `upper.q`."""
    found: dict[Any, Any] = {}
    for key, value in given.items():
        link = key.removesuffix(".q") if isinstance(key, str) and key.removesuffix(".q") in links else key
        if link in found:
            raise ValueError(f"{name}: has one for '{link}' twice")
        found[link] = value
    return found


def require_known(name: str, given: Mapping[Any, Any], links: Sequence[str]) -> None:
    """Refuse links that are not among those that are driven."""
    for link in given:
        if link not in links:
            raise KeyError(f"{name}: there is no actuator at {shown(link)}{suggestion(link, links)}")


def joint_numbers(name: str, given: Any, links: list[str], least: float | None = None) -> list[float]:
    """One for each joint: given for all, in order, or by link. Positive, or not below the least."""
    bounds: Any = {"above": 0.0} if least is None else {"least": least}
    if isinstance(given, Mapping):
        for link in given:
            if link not in links:
                raise KeyError(f"{name}: there is no joint at {shown(link)}{suggestion(link, links)}")
        if missing := [link for link in links if link not in given]:
            raise ValueError(f"{name}: has no number for '{missing[0]}'")
        return [real_number(f"{name}['{link}']", given[link], **bounds) for link in links]
    if isinstance(given, (list, tuple)) or hasattr(given, "shape"):
        values = real_array(name, given)
        if values.shape != (len(links),):
            raise ValueError(f"{name} = {shown(given)}: must be one number, or one for each of {', '.join(links)}")
        return [real_number(f"{name}[{k}]", float(value), **bounds) for k, value in enumerate(values)]
    return [real_number(name, given, **bounds)] * len(links)


def joint_references(given: Any, names: list[str]) -> dict[str, Profile]:
    """A profile for each joint's coordinate, given by link or by that."""
    links = [name.removesuffix(".q") for name in names]
    found = values_by_link("references", given, links)
    return {name: profile(found[link], f"references['{link}']") for name, link in zip(names, links, strict=True)}


def free_twin(robot: Any, what: str) -> Twin:
    """A robot beside its rigid twin, without constraints."""
    twin = Twin(robot)
    require_tree(twin.system, what)
    return twin


SLOWER = 2.0  # times than the lowest vibration with joints locked, which would take part in what joints do
RIGID = 1.0  # Hz: of a robot that does not vibrate
RATIO = 0.7  # damping ratio of each joint of the rigid twin alone
STILL = 1e-4  # of the joint that is moved most easily: one that hardly moves would be given any gain
INTEGRAL = 0.2  # of the bandwidth: how fast integrals grow against kp


@dataclass(frozen=True)
class UsualGains:
    """By link kp (N m/rad or N/m), kd (N m s/rad or N s/m) and ki, with which each joint of the rigid twin alone, the
    others held, has this bandwidth (Hz) and a damping ratio of 0.7; links that bend, and joints that move together,
    leave less of it (some 0.45). `kp_law` (1/s2), `kd_law` (1/s): the same of laws that know the robot's inertia.

    effort: of `fa.lqr` for errors of weight one: of a joint alone, kp is the root of weight over effort.
    """

    bandwidth: float
    kp: dict[str, float]
    kd: dict[str, float]
    ki: dict[str, float]

    @property
    def kp_law(self) -> float:
        return _rounded((2 * np.pi * self.bandwidth) ** 2)

    @property
    def kd_law(self) -> float:
        return _rounded(2 * RATIO * 2 * np.pi * self.bandwidth)

    @property
    def effort(self) -> dict[str, float]:
        return {link: _rounded(each**-2) for link, each in self.kp.items()}


def usual_gains(system: System, posture: Mapping[str, float], bandwidth: float | None = None) -> UsualGains:
    """Gains for the joints of a robot in a posture (by name, `upper.q`; links straight).

    bandwidth: of each joint alone (Hz); half of the lowest vibration with joints locked unless given.

    >>> import flexarm as fa
    >>> rod = System(fa.Robot("rod", links=[fa.Link("rod", 1.0, mass=3.0)]), native=False)  # 1 kg m2
    >>> usual_gains(rod, {}).kp["rod"]  # (2 pi)^2
    39.48
    """
    if bandwidth is None:
        bandwidth = _rounded(_lowest(system, posture))
    omega = 2 * np.pi * real_number("bandwidth", bandwidth, "Hz", above=0)
    inertia = _inertias(system, posture)
    kp = {link: _rounded(each * omega**2) for link, each in inertia.items()}
    kd = {link: _rounded(2 * RATIO * omega * each) for link, each in inertia.items()}
    ki = {link: _rounded(INTEGRAL * omega * each) for link, each in kp.items()}
    return UsualGains(bandwidth, kp, kd, ki)


def _lowest(system: System, posture: Mapping[str, float]) -> float:
    """The bandwidth that links and drives bear (Hz)."""
    if all(each.kind == "joint" for each in system.coordinates):
        return RIGID
    found = modes(system, q=dict(posture), joints=locked_joints(system, dict(posture)))
    vibrations = found.frequencies[~found.rigid & (found.frequencies > 0)]  # what falls over has none
    return float(vibrations.min()) / SLOWER if vibrations.size else RIGID


def _inertias(system: System, posture: Mapping[str, float]) -> dict[str, float]:
    """Of what each joint moves, rotors included, by link; joints of the rigid twin, which springs do not part. Of
    joints in loops a share of what all of them move: they hold it together."""
    twin = System(system.robot.rigid(), native=False)
    known = {name: value for name, value in posture.items() if name in twin.names}
    joints = {each.link: twin.joint(each.link).index for each in driven_joints(system)}
    if not twin.constraints:
        mass = np.diag(twin.mass_matrix(known or None))
        return {link: float(mass[place]) for link, place in joints.items()}
    q = Assembly(twin, ()).posture(twin.posture(known or None))
    free = null_space(twin.constraint_jacobian(q))
    answers = np.diag(free @ np.linalg.solve(free.T @ twin.mass_matrix(q) @ free, free.T))
    share, least = min(1.0, free.shape[1] / len(joints)), STILL * float(answers.max(initial=0.0))
    if not least:
        raise ValueError("the constraints leave no joint to move: there is nothing that gains could hold")
    return {link: share / max(float(answers[place]), least) for link, place in joints.items()}


def _rounded(value: float) -> float:
    """As many digits as somebody would type."""
    return float(f"{value:.4g}")
