"""Arguments of joint controllers by link, the joints that actuators drive, and suggested gains."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.linalg import null_space

from flexarm.analysis.modes import locked_joints, modes
from flexarm.dynamics.constraints.initial_projection import Assembly
from flexarm.dynamics.system import System
from flexarm.foundation.messages import shown, suggestion
from flexarm.foundation.validation import real_array, real_number
from flexarm.profiles.parse import profile
from flexarm.profiles.profile import Profile

Side = Literal["motor", "joint"]
VIBRATION_TO_BANDWIDTH = 2.0  # ratio of the lowest vibration with locked joints to the bandwidth
RIGID_BANDWIDTH_HZ = 1.0  # bandwidth for a robot that does not vibrate
DAMPING_RATIO = 0.7  # of each joint of the rigid twin alone
MIN_RELATIVE_MOBILITY = 1e-4  # relative to the most mobile joint; gains of nearly immobile joints stay bounded
INTEGRAL_RATIO = 0.2  # ki / (kp omega), omega the bandwidth in rad/s


@dataclass(frozen=True)
class DrivenJoint:
    """Joint with an actuator: link, coordinate that a law reads, and generalised force per actuator unit (`gear`)."""

    link: str
    signal: str
    gear: float


def driven_joints(system: System, side: Side = "motor") -> list[DrivenJoint]:
    """Return all joints with actuators; on the motor side the coordinate is that on which the actuator acts."""
    if side not in ("motor", "joint"):
        raise ValueError(f"side = {shown(side)}: must be 'motor' or 'joint'")
    if not system.actuators:
        raise ValueError(f"robot '{system.robot.name}' has no joint that could be driven")
    return [
        DrivenJoint(each.link, each.coordinate.name if side == "motor" else system.joint(each.link).name, each.gear)
        for each in system.actuators
    ]


def numbers_by_link(name: str, given: Any, links: Sequence[str], unit: str = "") -> dict[str, float]:
    """Return non-negative numbers by link, from one number for all links or a mapping that may leave out links."""
    if not isinstance(given, Mapping):
        number = real_number(name, given, unit, least=0)
        return dict.fromkeys(links, number)
    if not given:
        raise ValueError(f"{name} = {{}}: must be a number, or numbers by link, {{'{links[0]}': 1.0}}")
    require_known(name, given, links)
    return {link: real_number(f"{name}['{link}']", each, unit, least=0) for link, each in given.items()}


def values_by_link(name: str, given: Any, links: Sequence[str]) -> dict[str, Any]:
    """Return the values of a mapping that must have one for each of the links."""
    if not isinstance(given, Mapping) or not given:
        raise TypeError(f"{name} = {shown(given)}: must be a mapping by link, {{'{links[0]}': ...}}")
    given = by_link(name, given, links)
    require_known(name, given, links)
    if missing := [link for link in links if link not in given]:
        raise ValueError(f"{name}: there is none for '{missing[0]}'; a number holds it there")
    return dict(given)


def by_link(name: str, given: Mapping[Any, Any], links: Sequence[str]) -> dict[Any, Any]:
    """Return the mapping with links as keys, if it has the coordinates of their joints (`upper.q`)."""
    found: dict[Any, Any] = {}
    for key, value in given.items():
        link = key.removesuffix(".q") if isinstance(key, str) and key.removesuffix(".q") in links else key
        if link in found:
            raise ValueError(f"{name}: has one for '{link}' twice")
        found[link] = value
    return found


def require_known(name: str, given: Iterable[Any], links: Sequence[str]) -> None:
    """Raise KeyError for links without actuators."""
    for link in given:
        if link not in links:
            raise KeyError(f"{name}: there is no actuator at {shown(link)}{suggestion(link, links)}")


def joint_numbers(name: str, given: Any, links: list[str], least: float | None = None) -> list[float]:
    """Return a number for each joint, above 0 or at least `least`, from one for all, a list in order, or a mapping."""
    bounds: Any = {"above": 0.0} if least is None else {"least": least}
    if isinstance(given, Mapping):
        return [real_number(f"{name}['{link}']", each, **bounds) for link, each in complete_by_link(name, given, links)]
    if not isinstance(given, (list, tuple)) and not hasattr(given, "shape"):
        return [real_number(name, given, **bounds)] * len(links)
    values = real_array(name, given)
    if values.shape != (len(links),):
        raise ValueError(f"{name} = {shown(given)}: must be one number, or one for each of {', '.join(links)}")
    return [real_number(f"{name}[{k}]", float(value), **bounds) for k, value in enumerate(values)]


def complete_by_link(name: str, given: Mapping[Any, Any], links: Sequence[str]) -> list[tuple[str, Any]]:
    """Return the links with their values; raise errors for unknown and missing links."""
    for link in given:
        if link not in links:
            raise KeyError(f"{name}: there is no joint at {shown(link)}{suggestion(link, links)}")
    if missing := [link for link in links if link not in given]:
        raise ValueError(f"{name}: has no number for '{missing[0]}'")
    return [(link, given[link]) for link in links]


def joint_references(given: Any, names: list[str]) -> dict[str, Profile]:
    """Return a profile for each joint's coordinate, from references by link or by coordinate."""
    links = [name.removesuffix(".q") for name in names]
    found = values_by_link("references", given, links)
    return {name: profile(found[link], f"references['{link}']") for name, link in zip(names, links, strict=True)}


@dataclass(frozen=True)
class UsualGains:
    """Gains by link kp (N m/rad or N/m), kd (N m s/rad or N s/m) and ki that give each joint a bandwidth (Hz).

    They give each joint of the rigid twin, the others held, this bandwidth and a damping ratio of 0.7; flexible links,
    and joints that move together, reduce it (to about 0.45). `kp_law` (1/s2) and `kd_law` (1/s) are the gains of laws
    that include the robot's inertia. `effort` is R of `fa.lqr` for errors of weight one: for a joint alone, kp is
    sqrt(weight / effort).
    """

    bandwidth: float
    kp: dict[str, float]
    kd: dict[str, float]
    ki: dict[str, float]

    @property
    def kp_law(self) -> float:
        """Return kp (1/s2) of laws that include the robot's inertia."""
        return _round((2 * np.pi * self.bandwidth) ** 2)

    @property
    def kd_law(self) -> float:
        """Return kd (1/s) of laws that include the robot's inertia."""
        return _round(2 * DAMPING_RATIO * 2 * np.pi * self.bandwidth)

    @property
    def effort(self) -> dict[str, float]:
        """Return weights R by link with which `fa.lqr` gives about the same stiffness."""
        return {link: _round(each**-2) for link, each in self.kp.items()}


def usual_gains(system: System, posture: Mapping[str, float], bandwidth: float | None = None) -> UsualGains:
    """Return gains for the joints of a robot in a posture (by name, `upper.q`; links straight).

    The bandwidth is that of each joint alone (Hz); by default half of the lowest vibration with joints locked.

    >>> import flexarm as fa
    >>> rod = System(fa.Robot("rod", links=[fa.Link("rod", 1.0, mass=3.0)]), native=False)  # 1 kg m2
    >>> usual_gains(rod, {}).kp["rod"]  # (2 pi)^2
    39.48
    """
    if bandwidth is None:  # that flexible links and drives allow
        bandwidth = RIGID_BANDWIDTH_HZ
        if any(each.kind != "joint" for each in system.coordinates):
            found = modes(system, q=dict(posture), joints=locked_joints(system, dict(posture)))
            vibrations = found.frequencies[~found.rigid & (found.frequencies > 0)]  # an unstable motion has none
            bandwidth = _round(float(vibrations.min()) / VIBRATION_TO_BANDWIDTH) if vibrations.size else bandwidth
    omega = 2 * np.pi * real_number("bandwidth", bandwidth, "Hz", above=0)
    inertia = _effective_inertias(system, posture)
    kp = {link: _round(each * omega**2) for link, each in inertia.items()}
    kd = {link: _round(2 * DAMPING_RATIO * omega * each) for link, each in inertia.items()}
    ki = {link: _round(INTEGRAL_RATIO * omega * each) for link, each in kp.items()}
    return UsualGains(bandwidth, kp, kd, ki)


def _effective_inertias(system: System, posture: Mapping[str, float]) -> dict[str, float]:
    """Return the inertia that each joint of the rigid twin moves, rotors included, by link; loops share theirs."""
    twin = System(system.robot.rigid(), native=False)
    given = {name: value for name, value in posture.items() if name in twin.names}
    joints = {each.link: twin.joint(each.link).index for each in driven_joints(system)}
    if not twin.constraints:
        mass = np.diag(twin.mass_matrix(given or None))
        return {link: float(mass[place]) for link, place in joints.items()}
    q = Assembly(twin, ()).posture(twin.posture(given or None))
    free = null_space(twin.constraint_jacobian(q))
    mobilities = np.diag(free @ np.linalg.solve(free.T @ twin.mass_matrix(q) @ free, free.T))
    share, least = min(1.0, free.shape[1] / len(joints)), MIN_RELATIVE_MOBILITY * float(mobilities.max(initial=0.0))
    if not least:
        raise ValueError("the constraints leave no joint to move: there is nothing that gains could hold")
    return {link: share / max(float(mobilities[place]), least) for link, place in joints.items()}


def _round(value: float) -> float:
    """Round to four significant digits, as a user would type."""
    return float(f"{value:.4g}")
