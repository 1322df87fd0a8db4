"""Forces and torques on points of links."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from flexarm.foundation.numbers import real_number
from flexarm.foundation.sentences import shown
from flexarm.mechanics.system import System
from flexarm.motion.inputs import Profile, profile


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
