"""Torques by inverse dynamics along given motions of the joints."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from flexarm.analysis.places import require_tree
from flexarm.control.driven_joints import driven_joints, system_of, values_by_link
from flexarm.control.quasi_static import quasi_static
from flexarm.foundation.numbers import Array, real_number
from flexarm.foundation.sentences import shown
from flexarm.mechanics.reach import ValidityWarning
from flexarm.mechanics.system import System
from flexarm.motion.given_profiles import profile
from flexarm.motion.inputs import spline
from flexarm.motion.profiles import Profile
from flexarm.robot import Robot

ACCURATE = 1e-7  # of the largest torque, that splines may miss between their points
LONGEST = 1e9  # s: beyond it times have no digits left for a motion
POINTS, MOST_POINTS = 17, 20_000  # of a spline


def feedforward(
    robot: Robot | System,
    motion: Mapping[str, Any],
    duration: float,
    model: Literal["rigid", "quasi-static"] = "rigid",
) -> dict[str, Profile]:
    """Torques by link that move a robot's joints: for `simulate(torque=...)` or `fa.pd(..., feedforward=...)`.

    robot: whose joints are moved.
    motion: by link numbers, profiles or functions of t that its joints (motors, of elastic drives) are to follow.
    duration: until when torques are computed (s); before t = 0 and after it they are held.
    model: "rigid" is the inverse dynamics of the rigid twin; "quasi-static" that of the robot whose links and drives
    are bent, at every moment, as weight and inertia of the motion bend them.

    >>> from flexarm.motion.inputs import cycloid
    >>> from flexarm.robot import Link, PointMass
    >>> rod = Robot(links=[Link("rod", 3.0, mass=0.0, payload=PointMass(2.0))])
    >>> torque = feedforward(rod, {"rod": cycloid(0.0, 1.0, 2.0)}, 2.0)
    >>> bool(abs(torque["rod"](0.5) - 18 * cycloid(0.0, 1.0, 2.0)(0.5, 2)) < 1e-6)  # m l^2 times the acceleration
    True
    """
    system = system_of(robot)
    if model not in ("rigid", "quasi-static"):
        raise ValueError(f"model = {shown(model)}: must be 'rigid' or 'quasi-static'")
    require_tree(system, "a feedforward torque")
    links = [each.link for each in driven_joints(system)]
    given = values_by_link("motion", motion, links)
    wanted = {link: profile(given[link], f"motion['{link}']") for link in links}
    end = real_number("duration", duration, "s", above=0, most=LONGEST)
    if model == "rigid":
        system = System(system.robot.rigid(), native=False)
    wanted = {link: each.look(0.0, end, 2)[0] for link, each in wanted.items()}
    for link, each in wanted.items():
        _require_smooth(link, each, end)
    return InverseDynamics(system, tuple(wanted.values()), end).torques()


@dataclass(frozen=True)
class InverseDynamics:
    """Of actuated coordinates along profiles, in the order of the actuators."""

    system: System
    motion: tuple[Profile, ...]
    end: float

    def torques(self) -> dict[str, Profile]:
        """Splines, one between every two breaks of the motion."""
        edges = sorted({0.0, self.end, *(b for each in self.motion for b in each.breaks if 0 < b < self.end)})
        parts = [self._part(*both) for both in pairwise(edges)]
        return {link: _joined(edges, [part[k] for part in parts]) for k, link in enumerate(self.system.inputs)}

    def _part(self, begin: float, end: float) -> list[Profile]:
        """With points halved until splines tell what is between them."""
        from scipy.interpolate import CubicSpline

        times = np.linspace(begin, end, POINTS)
        values = self._at(times, begin, end)
        while True:
            middles = (times[1:] + times[:-1]) / 2
            between = self._at(middles, begin, end)
            missed = np.abs(CubicSpline(times, values)(middles) - between).max(axis=0)
            share = float((missed / np.maximum(np.abs(values).max(), 1e-300)).max())
            if share <= ACCURATE:
                break
            if 2 * len(times) > MOST_POINTS:
                sentence = f"the torques are off by up to {share:.1g} of the largest between their {len(times)} points"
                warnings.warn(f"{sentence}; the motion is not smooth there", ValidityWarning, stacklevel=5)
                break
            every = np.concatenate([times, middles])
            order = np.argsort(every, kind="stable")
            times, values = every[order], np.concatenate([values, between])[order]
        return [spline(times.tolist(), each.tolist(), after="hold") for each in values.T]

    def _at(self, times: Array, begin: float, end: float) -> Array:
        """(times, actuators), by the pieces that hold between two breaks."""
        middle = (begin + end) / 2
        rows = [
            np.array([_piece(each, middle).value(times, rate) * np.ones(len(times)) for each in self.motion]).T
            for rate in range(3)
        ]
        state = quasi_static(self.system, *rows)
        forces = self.system.inverse_dynamics(*state)
        if not np.isfinite(forces).all():
            raise ValueError("motion: its torques are not finite; it is too fast or too far")
        return np.asarray(forces[:, [a.coordinate.index for a in self.system.actuators]] / self._gears)

    @property
    def _gears(self) -> Array:
        return np.array([each.gear for each in self.system.actuators])


def _piece(given: Profile, t: float) -> Any:
    return given.pieces[int(np.searchsorted(np.array(given.breaks), t, side="right"))]


def _joined(edges: list[float], parts: list[Profile]) -> Profile:
    """Held outside."""
    starts = (-np.inf, *edges)
    pieces = (parts[0].pieces[0], *(each.pieces[1] for each in parts), parts[-1].pieces[2])
    return Profile(starts, pieces, f"feedforward({edges[-1]:g} s)")


def _require_smooth(link: str, given: Profile, end: float) -> None:
    """A joint that jumps, or whose speed does, would take a torque without bound."""
    for at, before, after in zip(given.breaks, given.pieces, given.pieces[1:], strict=False):
        if not 0 < at < end:
            continue
        for rate, what in enumerate(("it", "its speed")):
            left, right = (float(np.ravel(each.value(np.array([at]), rate))[0]) for each in (before, after))
            if abs(right - left) > 1e-9 * max(1.0, abs(left), abs(right)):
                raise ValueError(
                    f"motion['{link}']: {what} jumps at t = {at:g} s, which no torque does; take a smooth profile such "
                    "as fa.minimum_jerk"
                )
