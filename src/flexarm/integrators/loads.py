"""Loads: forces and torques on points of links."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from flexarm.dynamics.accuracy.validity import ValidityWarning
from flexarm.dynamics.places import Place
from flexarm.dynamics.system import System
from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.messages import shown, warn
from flexarm.foundation.validation import Array, real_number
from flexarm.profiles.parse import profile
from flexarm.profiles.profile import Profile
from flexarm.robot import Robot
from flexarm.robot.basis_selection import OUT_OF_PLANE

LOAD_COMPONENTS = [(kind, axis) for kind in ("force", "torque") for axis in range(3)]
EXCITED_BY = {
    "bend_y": {"force": [1], "torque": [2]},
    "bend_z": {"force": [2], "torque": [1]},
    "twist": {"torque": [0]},
}
"""By family, along and about which axes of its link forces and torques excite it."""
MIN_COMPONENT = 1e-6  # of a unit vector


@dataclass(frozen=True)
class PointLoad:
    """Force and torque in world axes on a section of a link or on a frame.

    Parameters
    ----------
    link : str
        Name of the link, or of a frame.
    x : float, optional
        Distance of the section from the link's root (m). By default its tip. A frame has its own.
    force : sequence, optional
        Three numbers or profiles (N).
    torque : sequence, optional
        Three numbers or profiles (N m).
    """

    link: str
    x: float | None = None
    force: Any = (0.0, 0.0, 0.0)
    torque: Any = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        if not isinstance(self.link, str):
            raise TypeError(f"PointLoad: link = {shown(self.link)}: must be the name of a link or frame")
        if self.x is not None:
            real_number("PointLoad: x", self.x, "m", least=0)
        for name in ("force", "torque"):
            given = getattr(self, name)
            if not isinstance(given, (list, tuple, np.ndarray)) or len(given) != 3:
                raise ValueError(f"PointLoad: {name} = {shown(given)}: give three numbers or profiles, in world axes")
            for k, each in enumerate(given):
                profile(each, f"PointLoad: {name}[{k}]")
            object.__setattr__(self, name, tuple(given))  # what happens to a list later does not matter here


def loads_of(system: System, loads: Any) -> list[tuple[Place, list[Profile]]]:
    """Return the points of `simulate(loads=...)` and the profiles of their six components."""
    if loads is None:
        return []
    if not isinstance(loads, (list, tuple)):
        raise TypeError(f"loads = {shown(loads)}: must be a list of fa.PointLoad")
    found = []
    for k, load in enumerate(loads):
        if not isinstance(load, PointLoad):
            raise TypeError(f"loads[{k}] = {shown(load)}: must be a fa.PointLoad")
        try:
            place = system.place(load.link, load.x)
        except (KeyError, ValueError, TypeError) as error:
            raise type(error)(f"loads[{k}]: {error.args[0]}") from None
        found.append((place, [profile(each, f"loads[{k}]") for each in (*load.force, *load.torque)]))
    return found


def warn_of_idle_loads(system: System, loads: list[tuple[Place, list[Profile]]], q: Array) -> None:
    """Warn of loads out of the plane of a robot whose shapes were selected for motion in that plane."""
    picks = system.picks.items() if loads else ()
    flat = {name: [family for family, why in pick.left_out.items() if why == OUT_OF_PLANE] for name, pick in picks}
    missing = {name: families for name, families in flat.items() if families}
    if not missing:
        return
    for k, (load, parts) in enumerate(loads):
        name = system.robot.links[load.link].name
        inboard = {name, *_inboard(system.robot, load.link)}
        idle = [
            f"{kind} {'xyz'[axis]}"
            for (kind, axis), part in zip(LOAD_COMPONENTS, parts, strict=True)
            if part != profile(0.0, "loads")
            and any(_bends(system, link, left, kind, axis, q) for link, left in missing.items() if link in inboard)
        ]
        if idle:
            families = " or ".join(dict.fromkeys(each for left in missing.values() for each in left))
            warn(
                f"loads[{k}]: {', '.join(idle)} on link '{name}' moves nothing that was picked: shapes are those of a "
                f"robot that stays in its plane, without its loads; give numbers of {families} ({', '.join(missing)})",
                ValidityWarning,
            )


def _inboard(robot: Robot, link: int) -> Iterator[str]:
    """Names of the links between the ground and a link."""
    parent = robot.parents[link]
    while parent is not None:
        yield robot.links[parent].name
        parent = robot.parents[parent]


def _bends(system: System, link: str, families: Iterable[str], kind: str, axis: int, q: Array) -> bool:
    """Return True if a force or torque along a world axis excites families of a link at the posture q."""
    own = system.frame(link, 0.0, q)[:3, :3]
    felt = {k for family in families for k in EXCITED_BY.get(family, {}).get(kind, [])}
    return any(abs(own[axis, k]) > MIN_COMPONENT for k in felt)
