"""Export a case as a Python program that computes the same run, with known feedback laws as calls of flexarm."""

from __future__ import annotations

import pprint
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
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
from flexarm.studio.control import joint_condition, links_with_gauges, q0_posture, start_posture

OPTIONAL_ARGUMENTS = ("limit", "rate", "sensors", "actuators")


def find_call(law: Feedback, system: System) -> tuple[str, dict[str, Any]] | None:
    """Return the name and the arguments (without the robot) of the function call that makes a feedback law, or None.

    Only `pd` and `pid` laws can be recreated: laws with a model of the robot do not contain the robot itself.
    """
    answer = getattr(law.law, "answer", None)
    if isinstance(answer, ErrorLaw):
        return _match_call(pd, law, answer, {}, system)
    if isinstance(answer, IntegralLaw) and answer.feedforward is None:
        return _match_call(pid, law, answer.errors, {"ki": _gains_by_link("ki", answer.errors, law)}, system)
    return None


def _match_call(
    function: Callable[..., Feedback], law: Feedback, errors: ErrorLaw, more: Mapping[str, Any], system: System
) -> tuple[str, dict[str, Any]] | None:
    """Return the call if it recreates exactly this law, else None."""
    side = _find_side(errors, system)
    if side is None:
        return None
    references = law.references or {}
    given: dict[str, Any] = {name: _gains_by_link(name, errors, law) for name in ("kp", "kd")}
    given |= {**more, "references": {each.link: references[each.signal] for each in errors.joints}, "side": side}
    given |= {name: getattr(law, name) for name in OPTIONAL_ARGUMENTS}
    given = {name: each for name, each in given.items() if each is not None and (name, each) != ("side", "motor")}
    candidates = [given, *({**given, "tracking_time": each} for each in _tracking_times(law))]
    return next(
        ((function.__name__, each) for each in candidates if _have_equal_parameters(function(system, **each), law)),
        None,
    )


def _find_side(errors: ErrorLaw, system: System) -> Side | None:
    """Return the side on which joints are measured, or None if they are joints of another robot."""
    sides: tuple[Side, Side] = ("motor", "joint")
    return next((side for side in sides if set(errors.joints) <= set(driven_joints(system, side))), None)


def _gains_by_link(name: str, errors: ErrorLaw, law: Feedback) -> dict[str, Any]:
    gains = law.gains or {}
    return {each.link: gains[f"{name}.{each.link}"] for each in errors.joints}


def _tracking_times(law: Feedback) -> list[float]:
    return [1 / float(np.sum(each)) for name, each in (law.gains or {}).items() if name.startswith("reset.") and each]


def _have_equal_parameters(first: Feedback, second: Feedback) -> bool:
    return all(_are_close(getattr(first, name) or {}, getattr(second, name) or {}) for name in ("gains", "states"))


def _are_close(first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    return first.keys() == second.keys() and all(np.allclose(first[name], second[name], rtol=1e-12) for name in first)


PLACEHOLDER = "from_python"  # function called where an object cannot be exported
PLACEHOLDER_CODE = f"""

def {PLACEHOLDER}(what):
    raise NotImplementedError(f"{{what}} is a Python object, not exported: insert it in place of {PLACEHOLDER}")

"""


@dataclass(frozen=True)
class Program:
    """A program text and its gaps: options that cannot be exported, where the program raises an error."""

    text: str
    gaps: tuple[str, ...] = ()


def export_program(case: StudioCase) -> Program:
    """Return a case as a Python program."""
    writer = _ProgramWriter(case)
    return Program(writer.text(), tuple(writer.gaps))


@dataclass
class _ProgramWriter:
    case: StudioCase
    gaps: list[str] = field(default_factory=list)
    _system: System | None = None

    def text(self) -> str:
        system = System(self.case.robot, native=False)
        options = self.case.arguments_without_control(system)
        self._system, lines = system, [_robot_code("robot", self.case.robot)]
        control = self.case.control
        if not control.is_off:
            lines += self._control_lines(system, options)
        given = [f"{name}={self.to_code(value, name)}" for name, value in options.items() if value is not None]
        header = ["import flexarm as fa", PLACEHOLDER_CODE if self.gaps else ""]
        return "\n".join([*header, *lines, f"run = fa.simulate(robot, {', '.join(given)})", ""])

    def _control_lines(self, system: System, options: dict[str, Any]) -> list[str]:
        """Return the lines for shapers and controllers; `options` refer to them afterwards."""
        control, lines, plant = self.case.control, [], "robot"
        start, posture = q0_posture(system, options.get("q0")), start_posture(system, options)
        options |= control.with_set_point_motions(system, options)
        if control.plant is not None:
            plant, system = "plant", System(control.plant, native=False)
            lines.append(_robot_code(plant, control.plant) + "  # controllers are designed for this robot")
        if control.shaper != "none":
            for name in control.shapeable_options(options):
                posture_code = f"q={posture!r}, " if posture else ""
                arguments = f"{control.shaper!r}, {plant}, {posture_code}joints={joint_condition(name)!r}"
                lines.append(f"shape_{name} = fa.shaper({arguments})")
                options[name] = {
                    link: _Verbatim(f"shape_{name}({self.to_code(each, f'{name}.{link}')})")
                    for link, each in options[name].items()
                }
        if control.has_feedback:
            control.require_compatible(system, options)
            lines += self._law_lines(system, plant, options, start)
            options["torque"] = _Verbatim("law")
        return lines

    def _law_lines(self, system: System, plant: str, options: dict[str, Any], start: Mapping[str, float]) -> list[str]:
        control = self.case.control
        motions = {} if control.feedback == "none" else options.pop("motion", None) or {}
        references = control.references(system, start, motions)
        references_code = f"references={self.to_code(references, 'references')}"
        torque = options.get("torque")
        given = f"feedforward={self.to_code(torque, 'torque')}" if torque else ""
        if torque and control.feedback in ("pd", "pid"):
            references_code, given = f"{references_code}, {given}", ""
        laws = {
            "pd": f"fa.pd({plant}, {control.kp!r}, {control.kd!r}, {references_code})",
            "pid": f"fa.pid({plant}, {control.kp!r}, {control.ki!r}, {control.kd!r}, {references_code})",
            "computed torque": f"fa.computed_torque({plant}, {control.kp!r}, {control.kd!r}, {references_code})",
            "lqr": self._lqr_code(plant, references),
        }
        found = [laws[control.feedback]] if control.feedback in laws else []
        found += [f"fa.gravity_torque({plant})"] if control.gravity else []
        gains = f"gain={control.strain_gain!r}, rate_gain={control.strain_rate!r}"
        links = links_with_gauges(system) if control.strain else []
        found += [f"fa.strain_feedback({plant}, {link!r}, {gains})" for link in links]
        if given:  # plain torques, as feedforward of a controller without gains
            found.append(f"fa.pd({plant}, 0.0, 0.0, references={dict.fromkeys(references, 0.0)!r}, {given})")
        return [f"law = {found[0]}", *(f"law = law + {each}" for each in found[1:])]

    def _lqr_code(self, plant: str, references: Mapping[str, Any]) -> str:
        coordinates = {f"{link}.q": value for link, value in references.items()}
        weights = self.case.control.state_weights(coordinates)
        posture = self.to_code(coordinates, "q0")
        efforts = self.case.control.input_weights
        return f"fa.lqr(fa.linearize({plant}, q={posture}), Q={weights!r}, R={efforts!r}).feedback()"

    def to_code(self, value: Any, where: str) -> str:
        """Return a value as Python code."""
        if isinstance(value, _Verbatim):
            return value.text
        if isinstance(value, Profile) and value.made is not None and value.made.function in PROFILES.values():
            return self._profile_code(value.made.function.__name__, value.made.given, where)
        if isinstance(value, Feedback) and self._system is not None and (call := find_call(value, self._system)):
            return self._call_code(*call, where)
        if isinstance(value, (PointLoad, Baumgarte, Sensor, Actuator)):
            given = {each.name: getattr(value, each.name) for each in fields(value)}
            return f"fa.{type(value).__name__}({self._arguments_code(given, where)})"
        if isinstance(value, Mapping) and isinstance(value.get("profile"), str):
            given = {name: each for name, each in value.items() if name != "profile"}
            return self._profile_code(PROFILES[value["profile"]].__name__, given, where)
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

    def _profile_code(self, name: str, given: Mapping[str, Any], where: str) -> str:
        if name == "constant":
            return self.to_code(given["value"], where)
        return f"fa.{name}({self._arguments_code({k: each for k, each in given.items() if each is not None}, where)})"

    def _arguments_code(self, given: Mapping[str, Any], where: str) -> str:
        return ", ".join(f"{name}={self.to_code(each, where)}" for name, each in given.items())

    def _call_code(self, name: str, given: Mapping[str, Any], where: str) -> str:
        content = ", ".join(f"{each}={self.to_code(value, f'{where}: {each}')}" for each, value in given.items())
        return f"fa.{name}(robot, {content})"


def _plain_code(value: Any) -> str | None:
    """Return the code of a number or text; None for other values."""
    if isinstance(value, float) and not np.isfinite(value):
        return f"float({str(value)!r})"
    if isinstance(value, np.generic):
        return repr(value.item())
    return repr(value) if isinstance(value, (str, bool, int, float, type(None))) else None


@dataclass(frozen=True)
class _Verbatim:
    """Code that is inserted unchanged."""

    text: str


def _describe(value: Any) -> str:
    if not isinstance(value, Feedback):
        return shown(value)
    law = getattr(value.law, "__name__", "") or type(getattr(value.law, "answer", value.law)).__name__
    return f"the feedback {law}" + (f" with gains {', '.join(value.gains)}" if value.gains else "")


def _robot_code(name: str, robot: Robot) -> str:
    description = pprint.pformat(plain_data(robot), sort_dicts=False, width=110)
    content = "\n".join(f"    {line}" for line in description.splitlines())
    return f"{name} = fa.Robot.model_validate(\n{content}\n)"
