"""What can be varied, by name: its unit, what it is, and the value that it has in a case."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from flexarm.foundation.sentences import shown, suggestion, unknown
from flexarm.mechanics.system import System
from flexarm.robot import DescriptionError, Robot
from flexarm.robot.changes import value_at
from flexarm.robot.joints import Prismatic
from flexarm.sweeps import profile_numbers
from flexarm.sweeps.applied import ROOTS, STATES, applied, is_of_case, profile_at, require_gain, start_of
from flexarm.sweeps.applied import gains_of as gains_of_law
from flexarm.sweeps.member import Case


@dataclass(frozen=True)
class Field:
    """One thing that varies: its unit (empty where it has none), what it is, and its value in the case, if any."""

    name: str
    unit: str
    meaning: str
    value: Any = None


def field(case: Case, name: object, sample: Any = None) -> Field:
    """The field of that name. `sample`: a value that it may have, for parts of a robot that are not there yet."""
    if not isinstance(name, str) or not name:
        raise TypeError(f"over: {shown(name)} is no name; names are such as 'links.fore.payload.mass' and 'q0.upper.q'")
    root, _, rest = name.partition(".")
    if not is_of_case(name):
        return _of_robot(case, name, sample)
    if not rest:
        known = {"q0": "upper.q", "v0": "upper.q", "gains": "kp", "loads": "0.force.1"}.get(root, "upper.amplitude")
        raise KeyError(f"over: {name!r}: say which, as in '{root}.{known}'")
    if root in STATES:
        return _start(case, name, root, rest)
    if root == "gains":
        require_gain(case, rest)
        return Field(name, "", f"gain {rest} of the law", gains_of_law(case)[rest])
    place, given, number = profile_at(case, root, rest)
    where = f"{root}.{place}"
    now = profile_numbers.value(given, number, where)
    unit = profile_numbers.unit(given, number, _unit_of(case, root, place), where)
    words = {"torque": "torque of", "motion": "motion of", "references": "reference of", "loads": "load"}[root]
    return Field(name, unit, f"{number.replace('.', ' ') or 'value'} of the {words} {place}", now)


def _of_robot(case: Case, name: str, sample: Any) -> Field:
    root = name.partition(".")[0].partition("[")[0]
    if root not in Robot.model_fields:
        raise KeyError(f"over: {name!r}: {unknown('there is no such field', root, [*Robot.model_fields, *ROOTS])}")
    try:
        value = value_at(case.robot, name)[0]
    except DescriptionError:
        value = None  # a part that would be made, or a name that is wrong: the robot that has it tells
    robot = case.robot if sample is None else applied(case, {name: sample}).robot
    try:
        unit = value_at(robot, name)[1]
    except DescriptionError as error:
        raise KeyError(f"over: {error}") from None
    return Field(name, _unit_of_joint(unit, robot, name), _words(name), value)


def _unit_of_joint(unit: str, robot: Robot, name: str) -> str:
    """The one of `N m/rad, N/m in a prismatic joint` that is meant."""
    turning, _, sliding = unit.partition(", ")
    link = name.split(".")[1] if name.startswith("links.") else ""
    if not sliding or not link:
        return unit
    joint = robot.links[int(link)].joint if link.isdecimal() else robot.link(link).joint
    return sliding.partition(" in ")[0] if isinstance(joint, Prismatic) else turning


def _words(path: str) -> str:
    """`mass of payload of fore`, as far as a path can be said."""
    return " of ".join(each for each in reversed(path.split(".")) if each not in ("links", "constraints"))


def _start(case: Case, name: str, root: str, coordinate: str) -> Field:
    value = start_of(case, root, coordinate)
    system = System(case.robot, native=False)
    unit = system.units[system.index(coordinate)]
    if root == "v0":
        return Field(name, "1/s" if unit == "1" else f"{unit}/s", f"initial rate of {coordinate}", value)
    return Field(name, unit, f"initial {coordinate}", value)


def _unit_of(case: Case, root: str, place: str) -> str:
    """Of the values of a profile."""
    if root == "loads":
        return "N" if ".force." in place else "N m"
    if root == "references":
        return ""
    system = System(case.robot, native=False)
    found: Mapping[str, str] = {each.link: each.unit for each in system.actuators}
    if root == "motion":
        found = {each.link: each.coordinate.unit for each in system.actuators}
    if place not in found:
        raise KeyError(f"over: {root}.{place}: there is no actuator {place!r}{suggestion(place, list(found))}")
    return found[place]
