"""Forces and torques on points of links."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from flexarm.foundation.numbers import Array, real_number
from flexarm.foundation.sentences import shown
from flexarm.mechanics.reach import ValidityWarning
from flexarm.mechanics.system import System
from flexarm.motion.inputs import Profile, profile
from flexarm.robot.picking import OUT_OF_PLANE

IDLE = 1e-9  # of the largest entry of a Jacobian


@dataclass(frozen=True)
class Load:
    """A point at which a force and a torque act: the number of its link, and where on it."""

    link: int
    x: float


@dataclass(frozen=True)
class PointLoad:
    """A force and a torque in world axes on a section of a link.

    link: the link's name.
    x: where on it, from its root (m); its tip unless given.
    force, torque: three numbers or profiles each (N, N m).
    """

    link: str
    x: float | None = None
    force: Any = (0.0, 0.0, 0.0)
    torque: Any = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        if not isinstance(self.link, str):
            raise TypeError(f"PointLoad: link = {shown(self.link)}: must be the name of a link")
        if self.x is not None:
            real_number("PointLoad: x", self.x, "m", least=0)
        for name in ("force", "torque"):
            given = getattr(self, name)
            if not isinstance(given, (list, tuple, np.ndarray)) or len(given) != 3:
                raise ValueError(f"PointLoad: {name} = {shown(given)}: give three numbers or profiles, in world axes")
            for k, each in enumerate(given):
                profile(each, f"PointLoad: {name}[{k}]")
            object.__setattr__(self, name, tuple(given))  # what happens to a list later does not matter here


def loads_of(system: System, loads: Any) -> list[tuple[Load, list[Profile]]]:
    """Where the loads of `simulate(loads=...)` act, and the profiles of their six components."""
    if loads is None:
        return []
    if not isinstance(loads, (list, tuple)):
        raise TypeError(f"loads = {shown(loads)}: must be a list of fa.PointLoad")
    found = []
    for k, load in enumerate(loads):
        if not isinstance(load, PointLoad):
            raise TypeError(f"loads[{k}] = {shown(load)}: must be a fa.PointLoad")
        try:
            place = Load(*system.place(load.link, load.x))
        except (KeyError, ValueError, TypeError) as error:
            raise type(error)(f"loads[{k}]: {error.args[0]}") from None
        found.append((place, [profile(each, f"loads[{k}]") for each in (*load.force, *load.torque)]))
    return found


def warn_of_idle_loads(system: System, loads: list[tuple[Load, list[Profile]]], q: Array) -> None:
    """Where shapes were picked for a robot that stays in its plane, loads that push it out of there move nothing."""
    picked = {name: pick.left_out for name, pick in system.picks.items()} if loads else {}
    missing = {name: left for name, left in picked.items() if OUT_OF_PLANE in left.values()}
    if not missing:
        return
    turns = system.elastic | np.array([each.unit == "rad" for each in system.coordinates])  # slides may be at an end
    posture = q + turns * np.random.default_rng(0).uniform(-0.1, 0.1, system.nq) * system.sizes  # none idle by chance
    for k, (load, parts) in enumerate(loads):
        name = system.robot.links[load.link].name
        moved = np.abs(system.jacobian(name, load.x, posture, axes="world")).max(axis=1)
        rows = (*(("force", "xyz"[i], 3 + i) for i in range(3)), *(("torque", "xyz"[i], i) for i in range(3)))
        idle = [
            f"{kind} {axis}"
            for (kind, axis, row), part in zip(rows, parts, strict=True)
            if part != profile(0.0, "loads") and moved[row] < IDLE * moved.max()
        ]
        if idle:
            families = " or ".join(dict.fromkeys(each for left in missing.values() for each in left))
            warnings.warn(
                f"loads[{k}]: {', '.join(idle)} on link '{name}' moves nothing: shapes were picked for a robot that "
                f"stays in its plane, without its loads; give numbers of {families} ({', '.join(missing)})",
                ValidityWarning,
                stacklevel=3,
            )
