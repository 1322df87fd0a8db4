"""Joints as controllers see them: which signal each actuator is to follow, and gains by link."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from flexarm.foundation.numbers import real_number
from flexarm.foundation.sentences import shown, suggestion
from flexarm.mechanics.system import System
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
