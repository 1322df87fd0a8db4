"""What a page is about: a robot and what is computed of it, all of its numbers by path. It never changes.

Cases that a page can go back to: one for each change that settled, not for each key.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from flexarm.dynamics.system import System
from flexarm.feedback.feedback import Feedback
from flexarm.foundation.messages import describe_unknown
from flexarm.foundation.validation import real
from flexarm.profiles.derived import copied
from flexarm.profiles.parse import PROFILES, profile
from flexarm.profiles.profile import Profile
from flexarm.robot import Robot
from flexarm.robot.description import Description
from flexarm.robot.io.files import SIMULATION, SWEEP, read_source
from flexarm.robot.path_updates import value_at
from flexarm.simulation.simulation_file import FIELDS, simulation_options
from flexarm.studio.control import OFF, Control
from flexarm.sweeps.apply_changes import unit

DURATION = 2.0  # s: of a simulation that nobody asked for
PUSH = 2.0  # rad/s2 or m/s2: what its torques give each joint alone
TURN = 0.3  # rad
UNITS = {"duration": "s", "sample": "s", "dt": "s", "atol": "m", "gamma": "1/s", "beta": "1/s"}  # of a simulation
PLAIN = (str, bool, int, float, np.number, type(None))  # what can stand in a file
LONGEST = 24  # numbers of a list that become knobs


@dataclass(frozen=True)
class Number:
    """A number of a case: where it is, what it is, and its unit."""

    path: str
    value: float
    unit: str = ""
    whole: bool = False


@dataclass(frozen=True)
class Scaled:
    """A profile times a factor: what can be turned of a profile of which nobody knows how it was made."""

    profile: Profile
    times: float = 1.0

    def made(self) -> Profile:
        if self.times == 1:
            return self.profile
        return copied(self.profile, [self.times], [0.0], f"{self.times:g} x {self.profile.name}")


@dataclass(frozen=True)
class StudioCase:
    """A robot, and what `fa.simulate` is to be given: plain data as in a file's `simulation` section, or objects.

    file: the robot file that it is from, beside which tables are looked for.
    made_up: whether nobody said what to compute.
    control: what is switched on besides.
    sweep: what to vary in many runs, as in a file's `sweep` section.
    """

    robot: Robot
    plan: Mapping[str, Any]
    file: str = ""
    made_up: bool = False
    control: Control = OFF
    sweep: Mapping[str, Any] = field(default_factory=dict)

    @staticmethod
    def of_file(path: str | Path) -> StudioCase:
        robot, section, source = read_source(path)
        case = StudioCase(robot, section, str(path)) if section else StudioCase.of_robot(robot, {}, str(path))
        return replace(case, sweep=source.data.get(SWEEP) or {})

    @staticmethod
    def of_robot(robot: Robot, options: Mapping[str, Any], file: str = "") -> StudioCase:
        """A robot with options of `fa.simulate`; without any, its joints are moved a little."""
        if not options:
            return StudioCase(robot, _pushes(robot), file, made_up=True)
        return StudioCase(robot, {"duration": DURATION, **_with_numbers(options)}, file)

    # --- numbers ---

    def numbers(self) -> list[Number]:
        """All numbers that can be turned: those of the robot's tree, then those of the simulation."""
        return [*_of_description(self.robot, ""), *self._of_plan()]

    def value(self, path: str) -> float:
        for each in self.numbers():
            if each.path == path:
                return each.value
        raise KeyError(describe_unknown(f"there is no number {path!r}", path, [each.path for each in self.numbers()]))

    def with_(self, changes: Mapping[str, float]) -> StudioCase:
        """The same with other numbers by path; what cannot be is refused in a sentence."""
        plan: Any = self.plan
        robot_changes = {}
        for path, value in changes.items():
            inside = path.removeprefix(f"{SIMULATION}.")
            if inside != path:
                plan = _put(plan, inside.split(":"), value)
            else:
                robot_changes[path] = _like(value_at(self.robot, path)[0], value)
        robot = self.robot.with_(robot_changes) if robot_changes else self.robot
        return replace(self, robot=robot, plan=plan)

    def arguments(self, system: System) -> dict[str, Any]:
        """What `fa.simulate` takes besides the robot."""
        return self.control.applied(system, self.uncontrolled(system))

    def uncontrolled(self, system: System) -> dict[str, Any]:
        """The same without what is switched on besides."""
        found = _made(self.plan)
        if self._plain:
            return simulation_options(found, self.file, robot=system.robot)
        if isinstance(found.get("points"), Mapping):
            found["points"] = {name: _point(each) for name, each in found["points"].items()}
        return dict(found)

    @property
    def _plain(self) -> bool:
        """Whether it could stand in a file."""
        return all(name in FIELDS for name in self.plan) and all(isinstance(each, PLAIN) for each in _leaves(self.plan))

    @property
    def section(self) -> dict[str, Any] | None:
        """The plan as a file would have it; None where it has objects in it."""
        return dict(self.plan) if self._plain else None

    def _of_plan(self) -> Iterator[Number]:
        for path, value, whole in _in_plan(self.plan, ()):
            yield Number(f"{SIMULATION}.{':'.join(path)}", value, self._unit(path), whole)
        start = self.plan.get("q0")
        if start is None or isinstance(start, Mapping):
            moved = self.plan.get("motion") or {}
            for link in self.robot.links:
                name = f"{link.name}.q"
                if link.joint.coordinates and link.name not in moved and name not in (start or {}):
                    unit = "rad" if link.joint.type == "revolute" else "m"
                    yield Number(f"{SIMULATION}.q0:{name}", 0.0, unit)

    def _unit(self, path: tuple[str, ...]) -> str:
        """Of a number of the plan, where it is known."""
        root, *inside = path
        if root in ("torque", "motion") and len(inside) > 0 and inside[0] != "gains":
            link = next((each for each in self.robot.links if each.name == inside[0]), None)
            turning = link is None or link.joint.type == "revolute"
            own = ("N m" if turning else "N") if root == "torque" else ("rad" if turning else "m")
            return own if len(inside) == 1 else _unit_in(self.plan[root][inside[0]], inside[1:], own)
        if root in ("q0", "v0") and inside:
            units = self._coordinates
            name = list(units)[int(inside[0])] if inside[0].isdecimal() and int(inside[0]) < len(units) else inside[0]
            return units.get(name, "") + ("/s" if root == "v0" and name in units else "")
        if root == "loads" and len(inside) > 2:
            own = {"force": "N", "torque": "N m"}.get(inside[1], "")
            given = self.plan[root][int(inside[0])][inside[1]][int(inside[2])]
            return own if len(inside) == 3 else _unit_in(given, inside[3:], own)
        if root in ("loads", "points"):
            return "m" if path[-1] == "x" else ""
        return UNITS.get(path[-1], "")

    @cached_property
    def _coordinates(self) -> dict[str, str]:
        """Units of all coordinates, in order."""
        system = System(self.robot, native=False)
        return dict(zip(system.names, system.units, strict=True))


def _unit_in(given: Any, steps: list[str], own: str) -> str:
    """Of a number of a profile whose values have a unit of their own."""
    if steps[0] == "times" or not isinstance(given, Mapping) or given.get("profile") == "table":
        return ""
    try:
        found = unit(given, ".".join(steps), own, "profile")
    except (ValueError, TypeError, KeyError):  # one that cannot be is refused where it is computed
        return ""
    return "" if found == "1" else found


def _pushes(robot: Robot) -> dict[str, Any]:
    """Motions of hinges, which suit every robot of hinges, heavy or light; where there are slides, which have no place
    to begin that suits all, torques and forces that push each joint alone one way and back."""
    system = System(robot, native=False)
    if not system.actuators or system.constraints:
        return {"duration": DURATION}
    if all(unit == "N m" for unit in system.input_units):
        move = {"profile": "minimum-jerk", "start": 0.0, "end": TURN, "duration": DURATION / 2}
        return {"duration": DURATION, "motion": {each.link: dict(move) for each in system.actuators}}
    try:
        inertia = np.diag(system.mass_matrix())
    except ValueError:  # of a posture that cannot be: a link with nothing in front of its guide
        return {"duration": DURATION}
    torques = {each.link: float(f"{PUSH * inertia[each.coordinate.index]:.1g}") for each in system.actuators}
    switch = [DURATION / 4, DURATION / 2]
    return {
        "duration": DURATION,
        "torque": {
            link: {"profile": "bang-bang", "amplitude": size, "switch": switch} for link, size in torques.items()
        },
    }


def _of_description(node: Description, path: str) -> Iterator[Number]:
    for name in type(node).model_fields:
        yield from _of_field(node, getattr(node, name), name, f"{path}{name}")


def _of_field(owner: Description, value: Any, name: str, path: str) -> Iterator[Number]:
    if isinstance(value, Description):
        yield from _of_description(value, f"{path}.")
    elif isinstance(value, (tuple, list)):
        for index, item in enumerate(value):
            own = getattr(item, "name", None) if isinstance(item, Description) else None
            yield from _of_field(owner, item, name, f"{path}.{own or index}")
    elif real(value) is not None:
        yield Number(path, float(value), value_at(owner, name)[1], isinstance(value, int))


def _like(before: Any, value: float) -> float | int:
    """A count stays a whole number; one that is none is refused by its owner."""
    return int(value) if isinstance(before, int) and float(value).is_integer() else value


def _in_plan(node: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], float, bool]]:
    if isinstance(node, Mapping):
        for name, value in node.items():
            yield from _in_plan(value, (*path, str(name)))
    elif isinstance(node, (list, tuple)) and len(node) <= LONGEST:
        for index, value in enumerate(node):
            yield from _in_plan(value, (*path, str(index)))
    elif isinstance(node, Scaled):
        yield (*path, "times"), node.times, False
    elif isinstance(node, Feedback):
        yield from _in_plan(dict(node.gains or {}), (*path, "gains"))
    elif isinstance(node, np.ndarray) and node.size <= LONGEST:
        yield from _in_plan(node.tolist(), path)
    elif real(node) is not None:
        yield path, float(node), isinstance(node, int) and path[-1] == "smooth"


def _put(node: Any, steps: list[str], value: float) -> Any:
    """A copy of a plan with a number put where the steps lead."""
    if not steps:
        return _like(node, value)
    step, rest = steps[0], steps[1:]
    if isinstance(node, Scaled):
        return replace(node, times=value)
    if isinstance(node, Feedback):
        return replace(node, gains=_put(dict(node.gains or {}), rest, value))
    if isinstance(node, np.ndarray):
        return np.array(_put(node.tolist(), steps, value))
    if isinstance(node, (list, tuple)):
        return [_put(item, rest, value) if str(index) == step else item for index, item in enumerate(node)]
    held = dict(node or {})
    return {**held, step: _put(held.get(step), rest, value)}


def _with_numbers(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options whose profiles have numbers that can be turned."""
    out = {name: _own(value) for name, value in options.items()}
    if isinstance(out.get("points"), Mapping):  # as a file has them
        out["points"] = {
            name: {"link": each[0], "x": each[1]} if isinstance(each, list) and len(each) == 2 else each
            for name, each in out["points"].items()
        }
    for name in ("torque", "motion"):
        given = out.get(name)
        if isinstance(given, Mapping):
            out[name] = {
                link: in_words(profile(each, f"{name}.{link}")) if callable(each) else each
                for link, each in given.items()
            }
    return out


def in_words(given: Profile) -> dict[str, Any] | Scaled:
    """A profile as a file would have it, with all of its numbers; one that nobody can write has a factor alone."""
    names = {function: name for name, function in PROFILES.items() if name != "table"}
    made = given.made
    if made is None or made.function not in names:
        return Scaled(given)
    words = {name: list(each) if isinstance(each, tuple) else each for name, each in made.given.items()}
    if not all(isinstance(each, PLAIN) for each in _leaves(words)):
        return Scaled(given)
    return {"profile": names[made.function], **{name: each for name, each in words.items() if each is not None}}


def _own(value: Any) -> Any:
    """Containers of a plan's own: what becomes of the user's later does not matter."""
    if isinstance(value, Mapping):
        return {name: _own(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_own(each) for each in value]
    return value.copy() if isinstance(value, np.ndarray) else value


def _made(node: Any) -> Any:
    if isinstance(node, Mapping):
        return {name: _made(value) for name, value in node.items()}
    return node.made() if isinstance(node, Scaled) else node


def _point(given: Any) -> Any:
    """A point as `fa.simulate` takes it."""
    return (given["link"], given["x"]) if isinstance(given, Mapping) and set(given) == {"link", "x"} else given


def _leaves(node: Any) -> Iterator[Any]:
    if isinstance(node, Mapping):
        for value in node.values():
            yield from _leaves(value)
    elif isinstance(node, (list, tuple)):
        for value in node:
            yield from _leaves(value)
    else:
        yield node


MOST = 100  # cases
SETTLED = 1.5  # s after which the same numbers are turned anew


class History:
    """The cases before the one that is shown; `first` is where it began, None of a run that was recorded."""

    def __init__(self, first: StudioCase | None = None) -> None:
        self.first = first
        self._before: list[StudioCase] = []
        self._turned: frozenset[str] = frozenset()
        self._last = -SETTLED

    def __len__(self) -> int:
        return len(self._before)

    @property
    def last(self) -> StudioCase | None:
        return self._before[-1] if self._before else None

    def pop(self) -> None:
        """Somebody went back to the last one."""
        self._before.pop()
        self._turned = frozenset()

    def keep(self, case: StudioCase, turned: Iterable[str] = (), now: float | None = None) -> None:
        """A case that gives way to another, of which these numbers are turned. What is typed or turned by keys is one
        change: the case before it is there already."""
        numbers, now = frozenset(turned), time.monotonic() if now is None else now
        same = bool(numbers) and numbers == self._turned and now - self._last < SETTLED
        self._turned, self._last = numbers, now
        if not same:
            self._before = [*self._before, case][-MOST:]
