"""What a page is about: a robot and what is computed of it, all of its numbers by path. It never changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from flexarm.foundation.numbers import real
from flexarm.foundation.sentences import unknown
from flexarm.mechanics.system import System
from flexarm.motion.given_profiles import PROFILES, profile
from flexarm.motion.laws import Feedback
from flexarm.motion.profiles import Profile
from flexarm.motion.shaped import copied
from flexarm.motion.simulation_file import FIELDS, simulation_options
from flexarm.robot import Robot
from flexarm.robot.changes import value_at
from flexarm.robot.description import Description
from flexarm.robot.files import SIMULATION, SWEEP, read_source
from flexarm.studio.control import OFF, Control

DURATION = 2.0  # s: of a simulation that nobody asked for
PUSH = 2.0  # rad/s2 or m/s2: what its torques give each joint alone
TURN = 0.3  # rad
UNITS = {"duration": "s", "switch": "s", "at": "s", "begin": "s", "finish": "s", "times": "", "frequency": "Hz"}
UNITS |= {"sample": "s", "dt": "s", "atol": "m"}  # of fields of profiles and of a simulation
SIZES = ("amplitude", "start", "end", "before", "offset", "value")  # fields of profiles that have the input's own unit
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
class Case:
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
    def of_file(path: str | Path) -> Case:
        robot, section, source = read_source(path)
        case = Case(robot, section, str(path)) if section else Case.of_robot(robot, {}, str(path))
        return replace(case, sweep=source.data.get(SWEEP) or {})

    @staticmethod
    def of_robot(robot: Robot, options: Mapping[str, Any], file: str = "") -> Case:
        """A robot with options of `fa.simulate`; without any, its joints are moved a little."""
        if not options:
            return Case(robot, _pushes(robot), file, made_up=True)
        return Case(robot, {"duration": DURATION, **_with_numbers(options)}, file)

    # --- numbers ---

    def numbers(self) -> list[Number]:
        """All numbers that can be turned: those of the robot's tree, then those of the simulation."""
        return [*_of_description(self.robot, ""), *self._of_plan()]

    def value(self, path: str) -> float:
        for each in self.numbers():
            if each.path == path:
                return each.value
        raise KeyError(unknown(f"there is no number {path!r}", path, [each.path for each in self.numbers()]))

    def with_(self, changes: Mapping[str, float]) -> Case:
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
        return simulation_options(found, self.file, robot=system.robot) if self._plain else dict(found)

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
        last = next((step for step in reversed(path) if not step.isdecimal()), "")
        if path[0] in ("torque", "motion") and len(path) > 1 and last in (*SIZES, path[1]):
            link = next((each for each in self.robot.links if each.name == path[1]), None)
            turning = link is None or link.joint.type == "revolute"
            return ("N m" if turning else "N") if path[0] == "torque" else ("rad" if turning else "m")
        return UNITS.get(last, "")


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
        yield path, float(node), isinstance(node, int) and path[-1] in ("smooth",)


def _put(node: Any, steps: list[str], value: float) -> Any:
    """A copy of a plan with a number put where the steps lead."""
    if not steps:
        return value
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


def _leaves(node: Any) -> Iterator[Any]:
    if isinstance(node, Mapping):
        for value in node.values():
            yield from _leaves(value)
    elif isinstance(node, (list, tuple)):
        for value in node:
            yield from _leaves(value)
    else:
        yield node
