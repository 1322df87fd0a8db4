"""Numbers and references of all joints of a robot, as a user gives them to a controller."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flexarm.analysis.places import Twin, require_tree
from flexarm.control.driven_joints import values_by_link
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
    """A profile for each joint's coordinate, given by link or by that."""
    links = [name.removesuffix(".q") for name in names]
    found = values_by_link("references", given, links)
    return {name: profile(found[link], f"references['{link}']") for name, link in zip(names, links, strict=True)}


def free_twin(robot: Any, what: str) -> Twin:
    """A robot beside its rigid twin, without constraints."""
    twin = Twin(robot)
    require_tree(twin.system, what)
    return twin
