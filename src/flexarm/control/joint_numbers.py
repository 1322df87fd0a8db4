"""Numbers and references of all joints of a robot, as a user gives them to a controller."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flexarm.analysis.places import Twin, require_tree
from flexarm.foundation.numbers import real_array, real_number
from flexarm.foundation.sentences import shown, suggestion
from flexarm.motion.given_profiles import profile
from flexarm.motion.profiles import Profile


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
    """A profile for each joint's coordinate."""
    if not isinstance(given, Mapping) or not given:
        raise TypeError(
            f"references = {shown(given)}: must be numbers, profiles or functions of t by joint, {{'{names[0]}': ...}}"
        )
    for name in given:
        if name not in names:
            raise KeyError(f"references: there is no joint {shown(name)}{suggestion(name, names)}")
    if missing := [name for name in names if name not in given]:
        raise ValueError(f"references: there is none for '{missing[0]}'; a number holds it there")
    return {name: profile(given[name], f"references['{name}']") for name in names}


def free_twin(robot: Any, what: str) -> Twin:
    """A robot beside its rigid twin, without constraints."""
    twin = Twin(robot)
    require_tree(twin.system, what)
    return twin
