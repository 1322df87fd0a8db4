"""Apply the changes of a member to a case, by name.

Names lead to fields of the robot (`links.fore.payload.mass`), initial coordinates and rates (`q0.upper.q`,
`v0.upper.q`), gains of a law (`gains.kp`, `gains.kp[1]` of a list), and numbers of profiles: of torques, motions, loads
and references of a law (`torque.upper.amplitude`, `motion.upper.t1`, `loads.0.force.1`, `references.fore.q.y1`),
and the `scale` of any profile.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from flexarm.dynamics.system import System
from flexarm.feedback.feedback import Feedback
from flexarm.feedback.outputs import Gains
from flexarm.foundation.messages import suggestion
from flexarm.foundation.validation import real, real_number
from flexarm.integrators.loads import PointLoad
from flexarm.profiles.derived import copied
from flexarm.profiles.parse import profile
from flexarm.profiles.profile import Profile, with_numbers
from flexarm.profiles.standard import constant
from flexarm.robot import Robot
from flexarm.robot.path_updates import apply_changes as robot_changed
from flexarm.sweeps.case import SweepCase

SCALE = "scale"
SECONDS = ("switch", "t0", "t1")
RATES = {"speed": "/s", "acceleration": "/s2", "jerk": "/s3"}


def profile_number_names(given: Any, where: str) -> list[str]:
    """Return the names of the numbers of a profile, or of what may be given for one; that of a constant is empty."""
    made = profile(given, where)
    return [*(("",) if _is_constant(made) else profile_numbers(made)), SCALE]


def profile_numbers(made: Profile) -> dict[str, float]:
    """Return the numbers with which a profile was made: `amplitude`; of a list, `switch.0`, `switch.1`, ..."""
    return {} if made.made is None else dict(_numbers(made.made.given))


def _numbers(given: Any) -> Iterator[tuple[str, float]]:
    for name, each in given.items():
        if (number := real(each)) is not None:
            yield name, number
        elif not isinstance(each, (str, dict)) and hasattr(each, "__iter__"):
            row = [real(one) for one in each]
            yield from ((f"{name}.{k}", one) for k, one in enumerate(row) if one is not None)


def profile_number(given: Any, name: str, where: str) -> float:
    """Return the present value of a number of a profile."""
    _require(given, name, where)
    return 1.0 if name == SCALE else profile_numbers(profile(given, where))[name or "value"]


def profile_with(given: Any, new: Mapping[str, Any], where: str) -> Profile:
    """Return a profile with other numbers, all changed at once: switch times must be in order only together."""
    for name in new:
        _require(given, name, where)
    made = profile(given, where)
    arguments: dict[str, Any] = {}
    for name, number in new.items():
        argument, _, place = (name or "value").partition(".")
        if place:
            assert made.made is not None
            arguments.setdefault(argument, list(made.made.given[argument]))[int(place)] = number
        elif name != SCALE:
            arguments[argument] = number  # which the function checks
    try:
        made = with_numbers(made, where, arguments) if arguments else made
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None
    if SCALE not in new:
        return made
    factor = real_number(f"{where}.{SCALE}", new[SCALE])
    return copied(made, [factor], [0.0], f"{factor!r} * {made.name}")


def profile_number_unit(name: str, of_value: str) -> str:
    """Return the unit of an argument of a profile whose values have a unit."""
    argument = name.partition(".")[0]
    if argument in (SCALE, "smooth"):
        return "1"
    if argument in SECONDS:
        return "s"
    if argument in ("frequency", "f0", "f1"):
        return "Hz"
    if argument == "phase":
        return "rad"
    return of_value + RATES.get(argument, "") if of_value else ""


def _is_constant(made: Profile) -> bool:
    return made.made is not None and made.made.function is constant


def _require(given: Any, name: str, where: str) -> None:
    known = profile_number_names(given, where)
    if name not in known and not (name == "value" and "" in known):
        whole = [f"{where}.{each}" if each else where for each in known]
        asked = f"{where}.{name}" if name else where
        raise KeyError(f"over: there is no number {asked!r}{suggestion(asked, whole)}")


STATES = ("q0", "v0")
PROFILES = ("torque", "motion", "loads", "references")
ROOTS = (*STATES, "gains", *PROFILES)  # what names begin with that are not the robot's


def apply_changes(case: SweepCase, changes: Mapping[str, Any]) -> SweepCase:
    """Return the case of a member with these changes; raise ValueError, KeyError or DescriptionError if there is
    none.
    """
    of_robot = {name: value for name, value in changes.items() if not is_of_case(name)}
    if of_robot:
        case = replace(case, robot=robot_with(case.robot, of_robot))
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


def robot_with(robot: Robot, changes: Mapping[str, Any]) -> Robot:
    """Return a robot with changes, as `robot.with_` but without warnings of odd units, which members would repeat."""
    return Robot.model_validate(robot_changed(robot, changes)) if changes else robot


def is_of_case(name: str) -> bool:
    """Return True if a name does not lead into the robot."""
    return name.partition(".")[0] in ROOTS


# --- initial states ---


def start_of(case: SweepCase, root: str, coordinate: str) -> float:
    """Return the initial value of a coordinate or its rate."""
    given = getattr(case, root)
    _require_no_equilibrium(given, f"{root}.{coordinate}")
    system = System(case.robot, native=False)
    if coordinate not in system.names:
        raise KeyError(f"over: there is no coordinate '{root}.{coordinate}'{suggestion(coordinate, system.names)}")
    whole = system.posture(given, root) if root == "q0" else system.vector(given, root)
    return float(whole[system.index(coordinate)])


def _with_start(case: SweepCase, root: str, coordinate: str, value: Any) -> SweepCase:
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


def gains_of(case: SweepCase) -> dict[str, float]:
    """Return the numbers of the law by name; those of a list are `name[1]`, `name[2]`, ..."""
    if not isinstance(case.torque, Feedback) or case.torque.gains is None:
        return {}
    gains = Gains(case.torque.gains)
    return dict(zip(gains.labels, gains.numbers().tolist(), strict=True))


def _with_gain(case: SweepCase, name: str, value: Any) -> SweepCase:
    require_gain(case, name)
    numbers = {**gains_of(case), name: real_number(f"gains.{name}", value)}
    changed = Gains(case.torque.gains).like(np.array(list(numbers.values())))
    return replace(case, torque=replace(case.torque, gains=dict(changed)))


def require_gain(case: SweepCase, name: str) -> None:
    known = gains_of(case)
    if name not in known:
        without = "" if known else "; give the law some: torque=fa.Feedback(law, gains={'kp': 20.0})"
        raise KeyError(f"over: there is no gain 'gains.{name}'{suggestion(name, list(known)) if known else without}")


# --- profiles ---


def profiles_of(case: SweepCase, root: str) -> dict[str, Any]:
    """Return what may be numbers, profiles or functions of t, by place."""
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


def profile_at(case: SweepCase, root: str, rest: str) -> tuple[str, Any, str]:
    """Return place, profile and the name of its number. Places may contain dots: the longest that fits counts."""
    found = profiles_of(case, root)
    fits = [place for place in found if rest == place or rest.startswith(f"{place}.")]
    if not fits:
        known = [f"{root}.{place}" for place in found]
        raise KeyError(f"over: there is no '{root}.{rest}'{suggestion(f'{root}.{rest}', known)}")
    place = max(fits, key=len)
    return place, found[place], rest[len(place) + 1 :]


def _with_numbers(case: SweepCase, root: str, place: str, numbers: Mapping[str, Any]) -> SweepCase:
    new = profile_with(profiles_of(case, root)[place], numbers, f"{root}.{place}")
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
