"""Gains to begin with, from a robot alone: its joints as slow as its links can follow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.linalg import null_space

from flexarm.analysis.locked import locked_joints
from flexarm.analysis.modes import modes
from flexarm.control.driven_joints import driven_joints
from flexarm.foundation.numbers import real_number
from flexarm.mechanics.assembly import Assembly
from flexarm.mechanics.system import System

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
