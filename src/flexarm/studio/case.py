"""The robot and the simulation that a page shows, with all of their parameters by name, and the undo history.

A `StudioCase` is immutable; changed parameters give a new one. `History` stores one case per completed change.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from flexarm.dynamics.system import System
from flexarm.feedback.feedback import Feedback
from flexarm.foundation.messages import suggestion
from flexarm.foundation.validation import real
from flexarm.profiles.derived import copied
from flexarm.profiles.parse import PROFILES, profile
from flexarm.profiles.profile import Profile
from flexarm.robot import Link, Robot
from flexarm.robot.description import Description
from flexarm.robot.io.files import SWEEP, read_source
from flexarm.robot.path_updates import value_at
from flexarm.simulation.simulation_file import FIELDS, simulation_options
from flexarm.studio.control import NO_CONTROL, Control
from flexarm.sweeps.apply_changes import profile_number_unit

DEFAULT_DURATION_S = 2.0
DEFAULT_ACCELERATION = 2.0  # rad/s2 or m/s2, of each joint alone
DEFAULT_ROTATION_RAD = 0.3
OPTION_UNITS = {"duration": "s", "sample": "s", "dt": "s", "atol": "m", "gamma": "1/s", "beta": "1/s"}
FILE_TYPES = (str, bool, int, float, np.number, type(None))  # values that a file can contain
STATES = ("q0", "v0")
SWEPT_ROOTS = (*STATES, "torque", "motion", "loads", "gains", "references")  # of names of a sweep, not of the robot
SCALE = "scale"  # name of the factor of a profile
MAX_LIST_LENGTH = 24  # longer lists get no input fields


@dataclass(frozen=True)
class Parameter:
    """A scalar parameter of a case, and whether it takes integers only.

    Parameters are named as in `fa.sweep`: `links.fore.payload.mass`, `torque.upper.amplitude`, `q0.fore.q`, `gains.kp`.
    `steps` lead to a parameter in the plan; those of the robot have none.
    """

    name: str
    value: float
    unit: str = ""
    is_integer: bool = False
    steps: tuple[str, ...] = ()

    @property
    def is_sweepable(self) -> bool:
        """True if `fa.sweep` can vary the parameter."""
        if not self.steps:
            return True
        root, *inner = self.steps
        if root in STATES:
            return not inner[0].isdecimal()
        return root in ("torque", "motion") or (root == "loads" and len(inner) > 2)


@dataclass(frozen=True)
class ScaledProfile:
    """A profile times a factor, for a profile whose own parameters are unknown."""

    profile: Profile
    factor: float = 1.0

    def build(self) -> Profile:
        """Return the scaled profile."""
        if self.factor == 1:
            return self.profile
        return copied(self.profile, [self.factor], [0.0], f"{self.factor:g} x {self.profile.name}")


@dataclass(frozen=True)
class StudioCase:
    """A robot with the arguments of `fa.simulate`: plain data as in a file's `simulation` section, or objects."""

    robot: Robot
    plan: Mapping[str, Any]  # arguments of `fa.simulate` except the robot
    file: str = ""  # tables are looked up in its folder
    is_default: bool = False  # True if no simulation was given and `plan` is a default motion
    control: Control = NO_CONTROL  # added to the plan
    sweep: Mapping[str, Any] = field(default_factory=dict)  # a file's `sweep` section

    @staticmethod
    def from_file(path: str | Path) -> StudioCase:
        """Read a robot file with its `simulation` and `sweep` sections."""
        robot, section, source = read_source(path)
        case = StudioCase(robot, section, str(path)) if section else StudioCase.from_robot(robot, {}, str(path))
        return replace(case, sweep=source.data.get(SWEEP) or {})

    @staticmethod
    def from_robot(robot: Robot, options: Mapping[str, Any], file: str = "") -> StudioCase:
        """Return the case of a robot with options of `fa.simulate`; without options, of a small default motion."""
        if not options:
            return StudioCase(robot, _default_plan(robot), file, is_default=True)
        return StudioCase(robot, {"duration": DEFAULT_DURATION_S, **_describe_profiles(options)}, file)

    def parameters(self) -> list[Parameter]:
        """Return all parameters that can be changed: those of the robot, then those of the simulation."""
        return [*_iterate_description(self.robot, ""), *self._plan_parameters()]

    def with_(self, changes: Mapping[str, Any]) -> StudioCase:
        """Return a copy with other parameters, by name; raise an error for invalid values."""
        known = {each.name: each for each in self.parameters()}
        robot_changes, plan_changes = {}, []
        for name, value in changes.items():
            found = known.get(name) or known.get(f"{name}.value")
            if found is not None and found.is_integer and float(value).is_integer():
                value = int(value)
            if (found is None and name.partition(".")[0] not in SWEPT_ROOTS) or (found is not None and not found.steps):
                robot_changes[name] = value
            else:
                plan_changes.append((name, None if found is None else found.steps, value))
        robot, plan = self.robot.with_(robot_changes) if robot_changes else self.robot, self.plan
        for name, steps, value in sorted(plan_changes, key=lambda each: each[0].endswith(f".{SCALE}")):
            plan = _set_in_plan(plan, steps or self._swept_steps(name), value)  # scales apply to changed profiles
        return replace(self, robot=robot, plan=plan)

    def _swept_steps(self, name: str) -> tuple[str, ...]:
        """Return the steps to a parameter of the plan that only sweeps have."""
        root, _, rest = name.partition(".")
        given, place = self.plan.get(root) or {}, rest.removesuffix(f".{SCALE}")
        if root in STATES and isinstance(given, Mapping):
            return root, rest
        if place != rest and isinstance(given, Mapping) and place in given:
            return root, place, SCALE
        raise ValueError(
            f"{name}: this simulation has no parameter of that name, so this member cannot be computed here"
            f"{suggestion(name, [each.name for each in self._plan_parameters()])}"
        )

    def arguments(self, system: System) -> dict[str, Any]:
        """Return the arguments of `fa.simulate` except the robot."""
        return self.control.apply(system, self.arguments_without_control(system))

    def arguments_without_control(self, system: System) -> dict[str, Any]:
        """Return the arguments of `fa.simulate` without shapers and controllers."""
        if (section := self.section) is not None:
            return simulation_options(section, self.file, robot=system.robot)
        found: dict[str, Any] = _build_profiles(self.plan)
        if isinstance(found.get("points"), Mapping):
            points = found["points"].items()
            found["points"] = {name: (at["link"], at["x"]) if _is_place(at) else at for name, at in points}
        return found

    @property
    def section(self) -> dict[str, Any] | None:
        """The plan as a `simulation` section, or None if a file cannot contain it."""
        return dict(self.plan) if self.plan.keys() <= FIELDS.keys() and _is_plain(self.plan) else None

    def _plan_parameters(self) -> Iterator[Parameter]:
        for steps, value, is_integer in _iterate_plan(self.plan, ()):
            yield Parameter(_plan_name(steps), value, self._unit(steps), is_integer, steps)
        start = self.plan.get("q0")
        if start is None or isinstance(start, Mapping):
            motion = self.plan.get("motion") or {}
            for link in self.robot.links:
                steps = ("q0", f"{link.name}.q")
                if link.joint.coordinates and link.name not in motion and steps[1] not in (start or {}):
                    yield Parameter(".".join(steps), 0.0, _coordinate_unit(link), steps=steps)

    def _unit(self, steps: tuple[str, ...]) -> str:
        """Return the unit of a parameter of the plan, empty if unknown."""
        root, *inner = steps
        if root in ("torque", "motion") and inner and inner[0] != "gains":
            link = next((each for each in self.robot.links if each.name == inner[0]), None)
            position = "rad" if link is None else _coordinate_unit(link)
            of_value = position if root == "motion" else {"rad": "N m", "m": "N"}[position]
            return _profile_unit(self.plan[root][inner[0]], inner[1:], of_value)
        if root in STATES and inner:
            units = self._coordinate_units
            name = list(units)[int(inner[0])] if inner[0].isdecimal() and int(inner[0]) < len(units) else inner[0]
            return units.get(name, "") + ("/s" if root == "v0" and name in units else "")
        if root == "loads" and len(inner) > 2:
            given = self.plan[root][int(inner[0])][inner[1]][int(inner[2])]
            return _profile_unit(given, inner[3:], {"force": "N", "torque": "N m"}.get(inner[1], ""))
        if root in ("loads", "points"):
            return "m" if steps[-1] == "x" else ""
        return OPTION_UNITS.get(steps[-1], "")

    @cached_property
    def _coordinate_units(self) -> dict[str, str]:
        """Units of all coordinates by name, in order."""
        system = System(self.robot, native=False)
        return dict(zip(system.names, system.units, strict=True))


def _plan_name(steps: tuple[str, ...]) -> str:
    """Return the name of a parameter of the plan; entries of lists of gains count from one.

    >>> _plan_name(("q0", "fore.q")), _plan_name(("torque", "gains", "kp", "0"))
    ('q0.fore.q', 'gains.kp[1]')
    """
    if steps[:2] == ("torque", "gains"):
        return f"gains.{steps[2]}" + "".join(f"[{int(each) + 1}]" for each in steps[3:])
    return ".".join(steps)


def _coordinate_unit(link: Link) -> str:
    return "rad" if link.joint.type == "revolute" else "m"


def _profile_unit(given: Any, steps: list[str], of_value: str) -> str:
    """Return the unit of a parameter of a profile whose values have the unit `of_value`."""
    if not steps:
        return of_value
    if steps[0] == SCALE or not isinstance(given, Mapping) or given.get("profile") == "table":
        return ""
    found = profile_number_unit(steps[0], of_value)
    return "" if found == "1" else found


def _default_plan(robot: Robot) -> dict[str, Any]:
    """Return a simulation that suits any robot.

    All joints revolute: minimum-jerk motions. Otherwise bang-bang torques and forces scaled by the inertia of each
    joint, because no start position suits all prismatic joints.
    """
    system = System(robot, native=False)
    plan: dict[str, Any] = {"duration": DEFAULT_DURATION_S}
    half = DEFAULT_DURATION_S / 2
    if not system.actuators or system.constraints:
        return plan
    if all(unit == "N m" for unit in system.input_units):
        move = {
            "profile": "minimum-jerk",
            "y0": 0.0,
            "y1": DEFAULT_ROTATION_RAD,
            "t0": 0.0,
            "t1": half,
        }
        return {**plan, "motion": {each.link: dict(move) for each in system.actuators}}
    try:
        inertia = np.diag(system.mass_matrix())
    except ValueError:  # singular at zero, e.g. a sliding link of no length in front of its guide
        return plan
    push = {"profile": "bang-bang", "switch": [half / 2, half]}
    sizes = {each.link: DEFAULT_ACCELERATION * inertia[each.coordinate.index] for each in system.actuators}
    return {**plan, "torque": {link: {**push, "amplitude": float(f"{size:.1g}")} for link, size in sizes.items()}}


def _iterate_description(node: Description, path: str) -> Iterator[Parameter]:
    for name in type(node).model_fields:
        yield from _iterate_field(node, getattr(node, name), name, f"{path}{name}")


def _iterate_field(owner: Description, value: Any, name: str, path: str) -> Iterator[Parameter]:
    if isinstance(value, Description):
        yield from _iterate_description(value, f"{path}.")
    elif isinstance(value, (tuple, list)):
        for index, item in enumerate(value):
            item_name = getattr(item, "name", None) if isinstance(item, Description) else None
            yield from _iterate_field(owner, item, name, f"{path}.{item_name or index}")
    elif real(value) is not None:
        yield Parameter(path, float(value), value_at(owner, name)[1], isinstance(value, int))


def _iterate_plan(node: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], float, bool]]:
    if isinstance(node, Mapping):
        for name, value in node.items():
            yield from _iterate_plan(value, (*path, str(name)))
    elif isinstance(node, (list, tuple)) and len(node) <= MAX_LIST_LENGTH:
        for index, value in enumerate(node):
            yield from _iterate_plan(value, (*path, str(index)))
    elif isinstance(node, ScaledProfile):
        yield (*path, SCALE), node.factor, False
    elif isinstance(node, Feedback):
        yield from _iterate_plan(dict(node.gains or {}), (*path, "gains"))
    elif real(node) is not None:
        yield path, float(node), isinstance(node, int) and path[-1] == "smooth"


def _set_in_plan(node: Any, steps: Sequence[str], value: Any) -> Any:
    """Return a copy of a plan with a value set at the end of `steps`."""
    if not steps:
        return value
    step, rest = steps[0], steps[1:]
    if isinstance(node, ScaledProfile):
        return replace(node, factor=value)
    if step == SCALE:
        return ScaledProfile(profile(node, "profile"), value)
    if isinstance(node, Feedback):
        return replace(node, gains=_set_in_plan(dict(node.gains or {}), rest, value))
    if isinstance(node, (list, tuple)):
        return [_set_in_plan(item, rest, value) if str(index) == step else item for index, item in enumerate(node)]
    items = dict(node or {})
    return {**items, step: _set_in_plan(items.get(step), rest, value)}


def _describe_profiles(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options with profiles replaced by descriptions whose parameters can be changed."""
    out = {name: _copy_containers(value) for name, value in options.items()}
    if isinstance(out.get("points"), Mapping):  # as in a file
        points = out["points"].items()
        out["points"] = {name: {"link": at[0], "x": at[1]} if np.size(at) == 2 else at for name, at in points}
    for name in ("torque", "motion"):
        given = out.get(name)
        if isinstance(given, Mapping):
            out[name] = {
                link: describe_profile(profile(each, f"{name}.{link}")) if callable(each) else each
                for link, each in given.items()
            }
    return out


def describe_profile(given: Profile) -> dict[str, Any] | ScaledProfile:
    """Return a profile as in a file, or as a scaled profile if a file cannot contain it."""
    names = {function: name for name, function in PROFILES.items() if name != "table"}
    origin = given.made
    if origin is None or origin.function not in names:
        return ScaledProfile(given)
    description = {name: _copy_containers(each) for name, each in origin.given.items() if each is not None}
    return {"profile": names[origin.function], **description} if _is_plain(description) else ScaledProfile(given)


def _copy_containers(value: Any) -> Any:
    """Copy nested containers, so that later changes by the caller have no effect; short arrays become lists."""
    if isinstance(value, Mapping):
        return {name: _copy_containers(each) for name, each in value.items()}
    if isinstance(value, np.ndarray):
        return value.tolist() if value.size <= MAX_LIST_LENGTH else value.copy()
    return [_copy_containers(each) for each in value] if isinstance(value, (list, tuple)) else value


def _build_profiles(node: Any) -> Any:
    """Replace scaled profiles by profiles."""
    if isinstance(node, Mapping):
        return {name: _build_profiles(value) for name, value in node.items()}
    return node.build() if isinstance(node, ScaledProfile) else node


def _is_place(node: Any) -> bool:
    return isinstance(node, Mapping) and node.keys() == {"link", "x"}


def _is_plain(node: Any) -> bool:
    """Return True if a file can contain a value."""
    if isinstance(node, (Mapping, list, tuple)):
        return all(_is_plain(each) for each in (node.values() if isinstance(node, Mapping) else node))
    return isinstance(node, FILE_TYPES)


MAX_HISTORY_LENGTH = 100
SETTLE_TIME_S = 1.5  # later changes of the same parameters are separate undo steps


class History:
    """Cases before the current one, for undo; `first` is the initial case, None for a recorded run."""

    def __init__(self, first: StudioCase | None = None) -> None:
        self.first = first
        self._before: list[StudioCase] = []
        self._last_changes: frozenset[str] = frozenset()
        self._last_time = -SETTLE_TIME_S

    def __len__(self) -> int:
        return len(self._before)

    @property
    def last(self) -> StudioCase | None:
        return self._before[-1] if self._before else None

    def pop(self) -> None:
        """Remove the last case after an undo."""
        self._before.pop()
        self._last_changes = frozenset()

    def push(self, case: StudioCase, changes: Iterable[str] = (), now: float | None = None) -> None:
        """Store a case that is replaced by one with changed parameters.

        Changes of the same parameters within `SETTLE_TIME_S` count as one.
        """
        paths, now = frozenset(changes), time.monotonic() if now is None else now
        same = bool(paths) and paths == self._last_changes and now - self._last_time < SETTLE_TIME_S
        self._last_changes, self._last_time = paths, now
        if not same:
            self._before = [*self._before, case][-MAX_HISTORY_LENGTH:]
