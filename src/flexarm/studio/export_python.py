"""Laws from Python that a program can say: which function of flexarm made them, and of what.

A case as a Python program that computes the same run.
"""

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
from flexarm.studio.control import at_rest, beginning, gauged, held

ASIDE = ("limit", "rate", "sensors", "actuators")


def call_of(law: Feedback, system: System) -> tuple[str, dict[str, Any]] | None:
    """The name of the function, and what it is to be given besides the robot; None where nobody can tell.

    Laws that hold a model of their robot are none of these: which robot that was is not in them.
    """
    answer = getattr(law.law, "answer", None)
    if isinstance(answer, ErrorLaw):
        return _made(pd, law, answer, {}, system)
    if isinstance(answer, IntegralLaw) and answer.feedforward is None:
        return _made(pid, law, answer.errors, {"ki": _by_link("ki", answer.errors, law)}, system)
    return None


def _made(
    function: Callable[..., Feedback], law: Feedback, errors: ErrorLaw, more: Mapping[str, Any], system: System
) -> tuple[str, dict[str, Any]] | None:
    """The call, if it gives this very law."""
    side = _side(errors, system)
    if side is None:
        return None
    aims = law.references or {}
    given: dict[str, Any] = {name: _by_link(name, errors, law) for name in ("kp", "kd")}
    given |= {**more, "references": {each.link: aims[each.signal] for each in errors.joints}, "side": side}
    given |= {name: getattr(law, name) for name in ASIDE}
    given = {name: each for name, each in given.items() if each is not None and (name, each) != ("side", "motor")}
    again = [given, *({**given, "tracking_time": each} for each in _tracking_times(law))]
    return next(((function.__name__, each) for each in again if _same(function(system, **each), law)), None)


def _side(errors: ErrorLaw, system: System) -> Side | None:
    """On which the joints of this robot are measured; None where they are those of another robot."""
    sides: tuple[Side, Side] = ("motor", "joint")
    return next((side for side in sides if set(errors.joints) <= set(driven_joints(system, side))), None)


def _by_link(name: str, errors: ErrorLaw, law: Feedback) -> dict[str, Any]:
    gains = law.gains or {}
    return {each.link: gains[f"{name}.{each.link}"] for each in errors.joints}


def _tracking_times(law: Feedback) -> list[float]:
    return [1 / float(np.sum(each)) for name, each in (law.gains or {}).items() if name.startswith("reset.") and each]


def _same(one: Feedback, other: Feedback) -> bool:
    return all(_equal(getattr(one, name) or {}, getattr(other, name) or {}) for name in ("gains", "states"))


def _equal(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return one.keys() == other.keys() and all(np.allclose(one[name], other[name], rtol=1e-12) for name in one)


FROM_PYTHON = "from_python"  # stands where something is that cannot be written
RAISES = f"""

def {FROM_PYTHON}(what):
    raise NotImplementedError(f"{{what}} came from Python and cannot be written: put it where {FROM_PYTHON} stands")

"""


@dataclass(frozen=True)
class Program:
    """A text, and what it could not say: objects of Python, at whose places it raises a sentence."""

    text: str
    gaps: tuple[str, ...] = ()


def python_program(case: StudioCase) -> Program:
    """The case as a program."""
    writer = _ProgramWriter(case)
    return Program(writer.text(), tuple(writer.gaps))


@dataclass
class _ProgramWriter:
    case: StudioCase
    gaps: list[str] = field(default_factory=list)
    _system: System | None = None

    def text(self) -> str:
        system = System(self.case.robot, native=False)
        options = self.case.uncontrolled(system)
        self._system, lines = system, [_robot("robot", self.case.robot)]
        control = self.case.control
        if not control.off:
            lines += self._controlled(system, options)
        given = [f"{name}={self.written(value, name)}" for name, value in options.items() if value is not None]
        first = ["import flexarm as fa", RAISES if self.gaps else ""]
        return "\n".join([*first, *lines, f"run = fa.simulate(robot, {', '.join(given)})", ""])

    def _controlled(self, system: System, options: dict[str, Any]) -> list[str]:
        """What is switched on; the options have its names in them afterwards."""
        control, lines, plant = self.case.control, [], "robot"
        start, first = at_rest(system, options.get("q0")), beginning(system, options)
        options |= control.commanded(system, options)
        if control.plant is not None:
            plant, system = "plant", System(control.plant, native=False)
            lines.append(_robot(plant, control.plant) + "  # for which it is designed")
        if control.shaper != "none":
            for name in control.shaped(options):
                at = f"q={first!r}, " if first else ""
                lines.append(f"shape_{name} = fa.shaper({control.shaper!r}, {plant}, {at}joints={held(name)!r})")
                options[name] = {
                    link: _Code(f"shape_{name}({self.written(each, f'{name}.{link}')})")
                    for link, each in options[name].items()
                }
        if control.feeds_back:
            control.require_possible(system, options)
            lines += self._laws(system, plant, options, start)
            options["torque"] = _Code("law")
        return lines

    def _laws(self, system: System, plant: str, options: dict[str, Any], start: Mapping[str, float]) -> list[str]:
        control = self.case.control
        moved = {} if control.feedback == "none" else options.pop("motion", None) or {}
        references = control.references(system, start, moved)
        to = f"references={self.written(references, 'references')}"
        torque = options.get("torque")
        given = f"feedforward={self.written(torque, 'torque')}" if torque else ""
        if torque and control.feedback in ("pd", "pid"):
            to, given = f"{to}, {given}", ""
        laws = {
            "pd": f"fa.pd({plant}, {control.kp!r}, {control.kd!r}, {to})",
            "pid": f"fa.pid({plant}, {control.kp!r}, {control.kd!r}, {control.ki!r}, {to})",
            "computed torque": f"fa.computed_torque({plant}, {control.kp!r}, {control.kd!r}, {to})",
            "lqr": self._lqr(plant, references),
        }
        found = [laws[control.feedback]] if control.feedback in laws else []
        found += [f"fa.gravity_torque({plant})"] if control.gravity else []
        gains = f"gain={control.strain_gain!r}, rate_gain={control.strain_rate!r}"
        links = gauged(system) if control.strain else []
        found += [f"fa.strain_feedback({plant}, {link!r}, {gains})" for link in links]
        if given:  # torques as they are, by a controller that does nothing else
            found.append(f"fa.pd({plant}, 0.0, 0.0, references={dict.fromkeys(references, 0.0)!r}, {given})")
        return [f"law = {found[0]}", *(f"law = law + {each}" for each in found[1:])]

    def _lqr(self, plant: str, references: Mapping[str, Any]) -> str:
        there = {f"{link}.q": value for link, value in references.items()}
        weights = self.case.control.weights(there)
        posture = self.written(there, "q0")
        return f"fa.lqr(fa.linearize({plant}, q={posture}), Q={weights!r}, R={self.case.control.efforts!r}).feedback()"

    def written(self, value: Any, where: str) -> str:
        """A value as it stands in a program."""
        if isinstance(value, _Code):
            return value.text
        if isinstance(value, Profile) and value.made is not None and value.made.function in PROFILES.values():
            name = value.made.function.__name__
            given = {each: number for each, number in value.made.given.items() if number is not None}
            if name == "constant":
                return self.written(given["value"], where)
            return f"fa.{name}({', '.join(f'{each}={self.written(number, where)}' for each, number in given.items())})"
        if isinstance(value, Feedback) and self._system is not None and (call := call_of(value, self._system)):
            return self._call(*call, where)
        if isinstance(value, (PointLoad, Baumgarte, Sensor, Actuator)):
            given = {each.name: getattr(value, each.name) for each in fields(value)}
            inside = ", ".join(f"{each}={self.written(part, where)}" for each, part in given.items())
            return f"fa.{type(value).__name__}({inside})"
        if isinstance(value, Mapping) and isinstance(value.get("profile"), str):
            kind = PROFILES[value["profile"]].__name__
            given = {name: each for name, each in value.items() if name != "profile"}
            if kind == "constant":
                return self.written(given["value"], where)
            return f"fa.{kind}({', '.join(f'{name}={self.written(each, where)}' for name, each in given.items())})"
        if isinstance(value, Mapping):
            inside = ", ".join(f"{name!r}: {self.written(each, f'{where}.{name}')}" for name, each in value.items())
            return f"{{{inside}}}"
        if isinstance(value, (list, tuple, np.ndarray)):
            inside = ", ".join(self.written(each, where) for each in value)
            return f"({inside}{',' * (len(value) == 1)})" if isinstance(value, tuple) else f"[{inside}]"
        if isinstance(value, float) and not np.isfinite(value):
            return f"float({str(value)!r})"
        if isinstance(value, (str, bool, int, float, type(None))):
            return repr(value)
        if isinstance(value, np.generic):
            return repr(value.item())
        self.gaps.append(where)
        return f"{FROM_PYTHON}({f'{where} ({_words(value)})'!r})"

    def _call(self, name: str, given: Mapping[str, Any], where: str) -> str:
        inside = ", ".join(f"{each}={self.written(value, f'{where}: {each}')}" for each, value in given.items())
        return f"fa.{name}(robot, {inside})"


@dataclass(frozen=True)
class _Code:
    """What stands in a program as it is."""

    text: str


def _words(value: Any) -> str:
    if not isinstance(value, Feedback):
        return shown(value)
    law = getattr(value.law, "__name__", "") or type(getattr(value.law, "answer", value.law)).__name__
    return f"the feedback {law}" + (f" with gains {', '.join(value.gains)}" if value.gains else "")


def _robot(name: str, robot: Robot) -> str:
    written = pprint.pformat(plain_data(robot), sort_dicts=False, width=110)
    inside = "\n".join(f"    {line}" for line in written.splitlines())
    return f"{name} = fa.Robot.model_validate(\n{inside}\n)"
