"""Export a case as a Python program that computes the same run, with known feedback laws as calls of flexarm."""

from __future__ import annotations

import operator
import pprint
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from flexarm.control.per_joint import Side, driven_joints
from flexarm.control.pid import ErrorLaw, IntegralLaw, pd, pid
from flexarm.dynamics.system import System
from flexarm.feedback.actuators import Actuator
from flexarm.feedback.feedback import Feedback
from flexarm.feedback.sensors import Sensor
from flexarm.foundation.messages import shown
from flexarm.integrators.constraint_solver import Baumgarte
from flexarm.integrators.loads import PointLoad
from flexarm.profiles.parse import PROFILES
from flexarm.profiles.profile import Profile
from flexarm.robot import Robot
from flexarm.robot.io.files import plain_data
from flexarm.studio.case import StudioCase
from flexarm.studio.control import Call

OPTIONAL_ARGUMENTS = ("limit", "rate", "sensors", "actuators")


def find_call(law: Feedback, system: System) -> tuple[str, dict[str, Any]] | None:
    """Return the name and the arguments (without the robot) of the function call that makes a feedback law, or None.

    Only `pd` and `pid` laws can be recreated: laws with a model of the robot do not contain the robot itself.
    """
    answer = getattr(law.law, "answer", None)
    function: Callable[..., Feedback]
    if isinstance(answer, ErrorLaw):
        function, errors, names = pd, answer, ["kp", "kd"]
    elif isinstance(answer, IntegralLaw) and answer.feedforward is None:
        function, errors, names = pid, answer.errors, ["kp", "kd", "ki"]
    else:
        return None
    gains, references = law.gains or {}, law.references or {}
    given: dict[str, Any] = {
        name: {each.link: gains[f"{name}.{each.link}"] for each in errors.joints} for name in names
    }
    given["references"] = {each.link: references[each.signal] for each in errors.joints}
    given |= {name: getattr(law, name) for name in OPTIONAL_ARGUMENTS if getattr(law, name) is not None}
    tracking_times = [1 / float(np.sum(each)) for name, each in gains.items() if name.startswith("reset.") and each]
    sides: tuple[Side, Side] = ("motor", "joint")
    for side in (each for each in sides if set(errors.joints) <= set(driven_joints(system, each))):
        at_side = given if side == "motor" else {**given, "side": side}
        for found in (at_side, *({**at_side, "tracking_time": each} for each in tracking_times)):
            if _have_equal_parameters(function(system, **found), law):
                return function.__name__, found
    return None  # joints of another robot, or a law that was changed


def _have_equal_parameters(first: Feedback, second: Feedback) -> bool:
    one, other = ({**(each.gains or {}), **(each.states or {})} for each in (first, second))
    return one.keys() == other.keys() and all(np.allclose(one[name], other[name], rtol=1e-12) for name in one)


PLACEHOLDER = "from_python"  # function called where an object cannot be exported
PLACEHOLDER_CODE = f"""

def {PLACEHOLDER}(what):
    raise NotImplementedError(f"{{what}} is a Python object, not exported: insert it in place of {PLACEHOLDER}")

"""


class Program:
    """A case as a Python program; `gaps` are options that cannot be exported, where the program raises an error."""

    def __init__(self, case: StudioCase) -> None:
        self.gaps: list[str] = []
        self._system, plant = System(case.robot, native=False), case.control.plant
        self._design = "robot" if plant is None else "plant"  # for which controllers are designed
        robots = [_robot_code("robot", case.robot)]
        robots += [] if plant is None else [_robot_code("plant", plant) + "  # controllers are designed for this robot"]
        options = case.control.calls(self._system, case.arguments_without_control(self._system))
        given = [f"    {name}={self.to_code(value, name)}," for name, value in options.items() if value is not None]
        header = ["import flexarm as fa", PLACEHOLDER_CODE if self.gaps else ""]
        self.text = "\n".join([*header, *robots, "run = fa.simulate(", "    robot,", *given, ")", ""])

    def to_code(self, value: Any, where: str) -> str:
        """Return a value as Python code."""
        if isinstance(value, System):
            return self._design
        if isinstance(value, Call):
            return self._call_code(value, where)
        if isinstance(value, Profile) and value.made is not None and value.made.function in PROFILES.values():
            return self._profile_code(value.made.function, value.made.given, where)
        if isinstance(value, Feedback) and (call := find_call(value, self._system)):
            return f"fa.{call[0]}(robot, {self._arguments(call[1], where)})"
        if isinstance(value, (PointLoad, Baumgarte, Sensor, Actuator)):
            given = {each.name: getattr(value, each.name) for each in fields(value)}
            return f"fa.{type(value).__name__}({self._arguments(given, where)})"
        if isinstance(value, Mapping) and isinstance(value.get("profile"), str):
            given = {name: each for name, each in value.items() if name != "profile"}
            return self._profile_code(PROFILES[value["profile"]], given, where)
        if isinstance(value, Mapping):
            content = ", ".join(f"{name!r}: {self.to_code(each, f'{where}.{name}')}" for name, each in value.items())
            return f"{{{content}}}"
        if isinstance(value, (list, tuple, np.ndarray)):
            content = ", ".join(self.to_code(each, where) for each in value)
            return f"({content}{',' * (len(value) == 1)})" if isinstance(value, tuple) else f"[{content}]"
        if (plain := _plain_code(value)) is not None:
            return plain
        self.gaps.append(where)
        return f"{PLACEHOLDER}({f'{where} ({_describe(value)})'!r})"

    def _profile_code(self, function: Any, given: Mapping[str, Any], where: str) -> str:
        if function.__name__ == "constant":
            return self.to_code(given["value"], where)
        given = {name: each for name, each in given.items() if each is not None}
        return f"fa.{function.__name__}({self._arguments(given, where)})"

    def _call_code(self, call: Call, where: str) -> str:
        if call.function is operator.add:
            return "\n        + ".join(self.to_code(each, where) for each in call.arguments)
        nested = isinstance(call.function, Call)
        function = self.to_code(call.function, where) if nested else f"fa.{call.function.__name__}"
        given = [self.to_code(each, where) for each in call.arguments]
        given += [self._arguments(call.named, where)] if call.named else []
        return f"{function}({', '.join(given)}){call.method}"

    def _arguments(self, given: Mapping[str, Any], where: str) -> str:
        return ", ".join(f"{name}={self.to_code(value, f'{where}: {name}')}" for name, value in given.items())


def _plain_code(value: Any) -> str | None:
    """Return the code of a number or text; None for other values."""
    if isinstance(value, float) and not np.isfinite(value):
        return f"float({str(value)!r})"
    if isinstance(value, np.generic):
        return repr(value.item())
    return repr(value) if isinstance(value, (str, bool, int, float, type(None))) else None


def _describe(value: Any) -> str:
    if not isinstance(value, Feedback):
        return shown(value)
    law = getattr(value.law, "__name__", "") or type(getattr(value.law, "answer", value.law)).__name__
    return f"the feedback {law}" + (f" with gains {', '.join(value.gains)}" if value.gains else "")


def _robot_code(name: str, robot: Robot) -> str:
    description = pprint.pformat(plain_data(robot), sort_dicts=False, width=110)
    content = "\n".join(f"    {line}" for line in description.splitlines())
    return f"{name} = fa.Robot.model_validate(\n{content}\n)"
