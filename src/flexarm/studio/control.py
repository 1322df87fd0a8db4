"""Shapers and controllers that a page adds to a simulation."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, cast

from flexarm.analysis.linear import linearize
from flexarm.control.feedforward import gravity_torque
from flexarm.control.lqg import lqr
from flexarm.control.model_based import computed_torque
from flexarm.control.per_joint import driven_joints
from flexarm.control.pid import pd, pid
from flexarm.control.shapers import KINDS, shaper
from flexarm.control.strain import strain_feedback
from flexarm.dynamics.equilibrium import find_equilibrium
from flexarm.dynamics.quantity_names import joint_coordinate
from flexarm.dynamics.system import System
from flexarm.foundation.validation import real_number
from flexarm.profiles.parse import profile
from flexarm.profiles.point_to_point import minimum_jerk
from flexarm.profiles.standard import step
from flexarm.robot import Robot

Gain = float | Mapping[str, float]

SHAPERS = ("none", *KINDS)
FEEDBACKS = ("none", "pd", "pid", "computed torque", "lqr")
NO_FEEDBACK = "set point: needs feedback; choose pd, pid, computed torque or lqr"
GRAVITY_COMPENSATING = ("computed torque", "lqr")  # these compensate the weight themselves


@dataclass(frozen=True)
class Control:
    """The shaper and the controllers that are switched on; torques of all controllers add up.

    "pd", "pid" and "computed torque" let joints follow their motions or hold their start positions; "lqr" holds the
    start posture. Gains are one for all joints, or by link.
    """

    shaper: str = "none"  # of torques and motions, designed for the lowest vibration mode
    feedback: str = "none"
    kp: Gain = 10.0  # for computed torque, gains are per unit of inertia
    ki: Gain = 0.0
    kd: Gain = 1.0
    weight: Gain = 100.0  # LQR weight of squared joint errors
    effort: Gain = 1.0  # LQR weight of squared torques
    goals: Mapping[str, float] = field(default_factory=dict)  # set points of joints by link (rad or m)
    travel_time: float = 0.0  # to the set points (s); 0 means a step
    gravity: bool = False  # compensate the weight of the rigid twin
    strain: bool = False  # feed back strain at the roots of links that bend in one plane
    strain_gain: float = 1.0
    strain_rate: float = 0.0  # with several modes per link the loop becomes fast and needs short steps
    plant: Robot | None = None  # for which controllers are designed; the simulated one if None

    @property
    def is_off(self) -> bool:
        return self.shaper == "none" and not self.has_feedback

    @property
    def has_feedback(self) -> bool:
        return self.feedback != "none" or self.gravity or self.strain

    def for_rigid_twin(self) -> Control:
        """Return the control of the rigid twin, which neither vibrates nor bends."""
        plant = None if self.plant is None else self.plant.rigid()
        return replace(self, shaper="none", strain=False, plant=plant)

    def apply(self, system: System, options: dict[str, Any]) -> dict[str, Any]:
        """Return the options of a simulation with the shaper and the controllers added."""
        return cast(dict[str, Any], evaluate(self.calls(system, options), {}))

    def calls(self, system: System, options: dict[str, Any]) -> dict[str, Any]:
        """Return the options with the calls that make the shaper and the controllers."""
        if self.goals and self.feedback == "none":
            raise ValueError(NO_FEEDBACK)
        links = [each.link for each in driven_joints(system)] if self.goals else []
        for link in self.goals:
            if link not in links:
                raise ValueError(f"set point: no actuator drives {link!r}; driven links: {', '.join(links)}")
        if self.is_off:
            return options
        out = self._with_set_point_motions(system, options)
        design = system if self.plant is None else System(self.plant, native=False)
        if self.shaper != "none":
            posture = start_posture(system, options)
            at = {"q": posture} if posture else {}
            for name in _shapeable_options(out):
                joints = "locked" if name == "motion" else "free"
                shaping = Call(shaper, (self.shaper, design), {**at, "joints": joints})
                out[name] = {
                    link: Call(shaping, (profile(each, f"{name}.{link}"),)) for link, each in out[name].items()
                }
        if not self.has_feedback:
            return out
        self._require_compatible(design, out)
        motions = {} if self.feedback == "none" else dict(out.pop("motion", None) or {})
        laws = self._laws(design, q0_posture(system, out.get("q0")), motions, out.get("torque"))
        return {**out, "torque": reduce(lambda first, second: Call(operator.add, (first, second)), laws)}

    def _with_set_point_motions(self, system: System, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return options with motions to the set points.

        Joints that follow a motion by feedback start where the motion starts.
        """
        if self.feedback == "none":
            return dict(options)
        start, motions, given = start_posture(system, options), options.get("motion") or {}, options.get("q0")
        initial = given if isinstance(given, Mapping) else {}
        names = list(map(joint_coordinate, motions))
        starts = {name: start[name] for name in names if start[name] or name in initial}
        out = dict(options)
        if starts and isinstance(given, str) and given == "equilibrium":
            out["q0"] = dict(zip(system.names, find_equilibrium(system, starts).tolist(), strict=True))
        elif starts and (given is None or isinstance(given, Mapping)):
            out["q0"] = {**(given or {}), **starts}
        if self.goals and self.feedback != "lqr":  # lqr holds a posture and steps to it
            time = real_number("within", self.travel_time, "s", least=0)
            goal_motions = {}
            for link, goal in self.goals.items():
                at = start.get(joint_coordinate(link), 0.0)
                goal_motions[link] = minimum_jerk(at, goal, time) if time else step(at, goal)
            out["motion"] = {**motions, **goal_motions}
        return out

    def _require_compatible(self, system: System, options: Mapping[str, Any]) -> None:
        """Raise an error if the controllers cannot be combined."""
        if not driven_joints(system):
            raise ValueError("feedback: no joint of this robot has an actuator")
        if self.gravity and self.feedback in GRAVITY_COMPENSATING:
            raise ValueError(f"gravity: {self.feedback} already compensates the weight; switch one off")
        if self.feedback == "lqr" and options.get("motion"):
            raise ValueError("feedback: lqr holds a posture and follows no motion; pd, pid and computed torque do")
        if self.feedback == "none" and options.get("motion"):
            raise ValueError(
                "feedback: joints with prescribed motions have no torques; "
                "choose pd, pid or computed torque to follow them"
            )

    def _laws(self, system: System, start: Mapping[str, float], motions: Mapping[str, Any], torque: Any) -> list[Call]:
        """Return calls that make the controllers; a given torque is feedforward of one of them."""
        references = {each.link: start.get(each.joint, 0.0) for each in driven_joints(system)}
        references = {**references, **self.goals}
        references = {link: motions.get(link, target) for link, target in references.items()}
        feedforward = {"feedforward": torque} if torque else {}
        laws = []
        if self.feedback == "pd":
            laws.append(Call(pd, (system, self.kp, self.kd, references), feedforward))
        elif self.feedback == "pid":
            laws.append(Call(pid, (system, self.kp, self.ki, self.kd, references), feedforward))
        elif self.feedback == "computed torque":
            laws.append(Call(computed_torque, (system, self.kp, self.kd, references)))
        elif self.feedback == "lqr":
            posture = {joint_coordinate(link): value for link, value in references.items()}
            weights = {"Q": dict.fromkeys(posture, self.weight), "R": self.effort}
            if isinstance(self.weight, Mapping):
                weights["Q"] = {joint_coordinate(link): self.weight.get(link, 0.0) for link in references}
            laws.append(Call(lqr, (Call(linearize, (system,), {"q": posture}),), weights, ".feedback()"))
        if self.gravity:
            laws.append(Call(gravity_torque, (system,)))
        if self.strain:
            gains = {"gain": self.strain_gain, "rate_gain": self.strain_rate}
            laws += [Call(strain_feedback, (system, link), gains) for link in _links_with_gauges(system)]
        if torque and self.feedback not in ("pd", "pid"):
            laws.append(Call(pd, (system, 0.0, 0.0, references), feedforward))
        return laws


@dataclass(frozen=True)
class Call:
    """A call of a function of flexarm, or of what another call returns; evaluated for a run, or written as code."""

    function: Any
    arguments: tuple[Any, ...]
    named: Mapping[str, Any] = field(default_factory=dict)
    method: str = ""  # called on the result


def evaluate(node: Any, done: dict[int, Any]) -> Any:
    """Return options with their calls made; `done` are the results of calls, which are made once."""
    if isinstance(node, dict):
        return {name: evaluate(each, done) for name, each in node.items()}
    if not isinstance(node, Call):
        return node
    if id(node) not in done:
        arguments = [evaluate(each, done) for each in node.arguments]
        found = evaluate(node.function, done)(*arguments, **evaluate(node.named, done))
        done[id(node)] = found.feedback() if node.method else found
    return done[id(node)]


def _shapeable_options(options: Mapping[str, Any]) -> list[str]:
    """Return the names of the options that a shaper can modify; raise an error if there are none."""
    found = [name for name in ("torque", "motion") if isinstance(options.get(name), Mapping) and options[name]]
    if not found:
        reason = (
            "torques come from a feedback law" if options.get("torque") else "there are neither torques nor motions"
        )
        raise ValueError(
            f"shaper: this simulation has nothing to shape: {reason}; shapers are for profiles of torques and "
            "motions, and for set points of pd, pid and computed torque"
        )
    return found


def q0_posture(system: System, start: Any) -> dict[str, float]:
    """Return the joint coordinates in `q0` by name; missing ones are zero."""
    joints = {each.name: each.index for each in system.coordinates if each.kind == "joint"}
    if start is None or isinstance(start, str):  # "equilibrium" holds joints at zero
        return {}
    if isinstance(start, Mapping):
        return {name: float(start[name]) for name in joints if name in start}
    found = system.vector(start)
    return {name: float(found[index]) for name, index in joints.items()}


def start_posture(system: System, options: Mapping[str, Any]) -> dict[str, float]:
    """Return the joint coordinates at the start of a run by name, from `q0` and the start of motions."""
    motions = options.get("motion") or {}
    first = {joint_coordinate(link): float(profile(each, f"motion.{link}")(0.0)) for link, each in motions.items()}
    return q0_posture(system, options.get("q0")) | first


def _links_with_gauges(system: System) -> list[str]:
    """Return the links whose strain can be fed back; raise an error if there are none."""
    found, problem = [], ValueError("strain: no joint of this robot has an actuator")
    for joint in driven_joints(system):
        try:
            strain_feedback(system, joint.link)
            found.append(joint.link)
        except (ValueError, TypeError) as error:
            problem = ValueError(f"strain: {error}")
    if not found:
        raise problem
    return found


NO_CONTROL = Control()
