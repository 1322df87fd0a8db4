"""A case with changes by name: what a member of a sweep is.

Names lead to fields of the robot (`links.fore.payload.mass`), initial coordinates and rates (`q0.upper.q`,
`v0.upper.q`), gains of a law (`gains.kp`, `gains.kp[1]` of a list), numbers of profiles: of torques, motions, loads and
references of a law (`torque.upper.amplitude`, `motion.upper.duration`, `loads.0.force.1`, `references.fore.q.end`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from flexarm.foundation.numbers import real_number
from flexarm.foundation.sentences import suggestion
from flexarm.mechanics.system import System
from flexarm.motion.gains import Gains
from flexarm.motion.laws import Feedback
from flexarm.motion.loads import PointLoad
from flexarm.robot import Robot
from flexarm.robot.changes import changed as robot_changed
from flexarm.sweeps import profile_numbers
from flexarm.sweeps.member import Case

STATES = ("q0", "v0")
PROFILES = ("torque", "motion", "loads", "references")
ROOTS = (*STATES, "gains", *PROFILES)  # what names begin with that are not the robot's


def applied(case: Case, changes: Mapping[str, Any]) -> Case:
    """The case of a member that changes these; a ValueError, KeyError or DescriptionError where there is none."""
    of_robot = {name: value for name, value in changes.items() if not is_of_case(name)}
    if of_robot:
        case = replace(case, robot=changed_robot(case.robot, of_robot))
    profiles: dict[tuple[str, str], dict[str, Any]] = {}
    for name, value in changes.items():
        root, _, rest = name.partition(".")
        if root in STATES:
            case = _with_start(case, root, rest, value)
        elif root == "gains":
            case = _with_gain(case, rest, value)
        elif root in PROFILES:
            place, _, number = profile_at(case, root, rest)
            profiles.setdefault((root, place), {})[number] = value
    for (root, place), numbers in profiles.items():
        case = _with_numbers(case, root, place, numbers)
    return case


def changed_robot(robot: Robot, changes: Mapping[str, Any]) -> Robot:
    """As `robot.with_`, which warns of units that look wrong; members would say that again and again."""
    return Robot.model_validate(robot_changed(robot, changes)) if changes else robot


def is_of_case(name: str) -> bool:
    """Whether a name leads to something else than the robot."""
    return name.partition(".")[0] in ROOTS


def known_names(case: Case) -> Iterator[str]:
    """All names that do not lead into the robot."""
    coordinates = System(case.robot, native=False).names
    for root in STATES:
        yield from (f"{root}.{each}" for each in coordinates)
    yield from (f"gains.{each}" for each in gains_of(case))
    for root in PROFILES:
        for place, given in profiles_of(case, root).items():
            where = f"{root}.{place}"
            yield from (f"{where}.{each}" if each else where for each in profile_numbers.names(given, where))


# --- initial states ---


def start_of(case: Case, root: str, coordinate: str) -> float:
    """The initial value of a coordinate or its rate."""
    given = getattr(case, root)
    _require_no_equilibrium(given, f"{root}.{coordinate}")
    system = System(case.robot, native=False)
    if coordinate not in system.names:
        raise KeyError(f"over: there is no coordinate '{root}.{coordinate}'{suggestion(coordinate, system.names)}")
    whole = system.posture(given, root) if root == "q0" else system.vector(given, root)
    return float(whole[system.index(coordinate)])


def _with_start(case: Case, root: str, coordinate: str, value: Any) -> Case:
    given = getattr(case, root)
    name = f"{root}.{coordinate}"
    _require_no_equilibrium(given, name)
    number = real_number(name, value)
    if given is not None and not isinstance(given, Mapping):
        system = System(case.robot, native=False)
        given = dict(zip(system.names, system.vector(given, root).tolist(), strict=True))
    states = {**(given or {}), coordinate: number}
    return replace(case, q0=states) if root == "q0" else replace(case, v0=states)


def _require_no_equilibrium(given: Any, name: str) -> None:
    if isinstance(given, str):
        raise ValueError(f"over: {name}: q0={given!r} finds the coordinates itself; give q0 by name to vary one")


# --- gains ---


def gains_of(case: Case) -> dict[str, float]:
    """The numbers of the law by name; those of a list by `name[1]`, `name[2]`, ..."""
    if not isinstance(case.torque, Feedback) or case.torque.gains is None:
        return {}
    gains = Gains(case.torque.gains)
    return dict(zip(gains.labels, gains.numbers().tolist(), strict=True))


def _with_gain(case: Case, name: str, value: Any) -> Case:
    require_gain(case, name)
    numbers = {**gains_of(case), name: real_number(f"gains.{name}", value)}
    changed = Gains(case.torque.gains).like(np.array(list(numbers.values())))
    return replace(case, torque=replace(case.torque, gains=dict(changed)))


def require_gain(case: Case, name: str) -> None:
    known = gains_of(case)
    if name not in known:
        without = "" if known else "; give the law some: torque=fa.Feedback(law, gains={'kp': 20.0})"
        raise KeyError(f"over: there is no gain 'gains.{name}'{suggestion(name, list(known)) if known else without}")


# --- profiles ---


def profiles_of(case: Case, root: str) -> dict[str, Any]:
    """What may be numbers, profiles or functions of t, by place."""
    if root == "torque":
        return dict(case.torque) if isinstance(case.torque, Mapping) else {}
    if root == "motion":
        return dict(case.motion or {})
    if root == "references":
        return dict(case.torque.references or {}) if isinstance(case.torque, Feedback) else {}
    return {
        f"{k}.{kind}.{axis}": each
        for k, load in enumerate(case.loads or ())
        if isinstance(load, PointLoad)
        for kind in ("force", "torque")
        for axis, each in enumerate(getattr(load, kind))
    }


def profile_at(case: Case, root: str, rest: str) -> tuple[str, Any, str]:
    """Place, profile and the name of its number. Places may have dots of their own: the longest that fits."""
    found = profiles_of(case, root)
    fits = [place for place in found if rest == place or rest.startswith(f"{place}.")]
    if not fits:
        known = [f"{root}.{place}" for place in found]
        raise KeyError(f"over: there is no '{root}.{rest}'{suggestion(f'{root}.{rest}', known)}")
    place = max(fits, key=len)
    return place, found[place], rest[len(place) + 1 :]


def _with_numbers(case: Case, root: str, place: str, numbers: Mapping[str, Any]) -> Case:
    new = profile_numbers.changed(profiles_of(case, root)[place], numbers, f"{root}.{place}")
    if root == "torque":
        return replace(case, torque={**case.torque, place: new})
    if root == "motion":
        return replace(case, motion={**(case.motion or {}), place: new})
    if root == "references":
        return replace(case, torque=replace(case.torque, references={**case.torque.references, place: new}))
    k, kind, axis = place.split(".")
    return replace(case, loads=_with_part(case.loads, int(k), kind, int(axis), new))


def _with_part(loads: Sequence[PointLoad], k: int, kind: str, axis: int, new: Any) -> tuple[PointLoad, ...]:
    parts = list(getattr(loads[k], kind))
    parts[axis] = new
    changed = replace(loads[k], force=tuple(parts)) if kind == "force" else replace(loads[k], torque=tuple(parts))
    return (*loads[:k], changed, *loads[k + 1 :])
