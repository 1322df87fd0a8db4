"""Gains to begin with, from a robot alone: its joints as slow as its links can follow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from flexarm.analysis.locked import locked_joints
from flexarm.analysis.modes import modes
from flexarm.control.driven_joints import driven_joints
from flexarm.foundation.numbers import real_number
from flexarm.mechanics.system import System

SLOWER = 2.0  # times than the lowest vibration with joints locked, which would take part in what joints do
RIGID = 1.0  # Hz: of a robot that does not vibrate
RATIO = 0.7  # damping ratio of each joint alone
INTEGRAL = 0.2  # of the bandwidth: how fast integrals grow against kp


@dataclass(frozen=True)
class UsualGains:
    """By link kp (N m/rad or N/m), kd (N m s/rad or N s/m) and ki, with which each joint alone, the others held, has
    this bandwidth (Hz); `kp_law` (1/s2), `kd_law` (1/s): the same of laws that know the robot's inertia.

    effort: of `fa.lqr` for errors of weight one: of a joint alone, kp is the root of weight over effort.
    strain_rate: of strain feedback (s), half of what keeps joints passive (`fa.strain_feedback`).
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

    @property
    def strain_rate(self) -> float:
        return _rounded(0.5 * self.kd_law / self.kp_law)


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
    vibrations = found.frequencies[~found.rigid]
    return float(vibrations.min()) / SLOWER if vibrations.size else RIGID


def _inertias(system: System, posture: Mapping[str, float]) -> dict[str, float]:
    """Of what each joint moves, rotors included, by link; joints of the rigid twin, which springs do not part."""
    twin = System(system.robot.rigid(), native=False)
    known = {name: value for name, value in posture.items() if name in twin.names}
    mass = np.diag(twin.mass_matrix(known or None))
    return {each.link: float(mass[twin.joint(each.link).index]) for each in driven_joints(system)}


def _rounded(value: float) -> float:
    """As many digits as somebody would type."""
    return float(f"{value:.4g}")
