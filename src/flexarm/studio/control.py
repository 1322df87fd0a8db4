"""Shapers and controllers that a page adds to a simulation."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, Literal, cast

from flexarm.analysis.linear import linearize
from flexarm.control.feedforward import given_feedback, gravity_torque
from flexarm.control.lqg import lqr
from flexarm.control.model_based import computed_torque
from flexarm.control.per_joint import driven_joints
from flexarm.control.pid import pd, pid
from flexarm.control.shapers import KINDS, shaper
from flexarm.control.strain import strain_feedback
from flexarm.dynamics.equilibrium import equilibrium
from flexarm.dynamics.system import System
from flexarm.feedback.feedback import Feedback
from flexarm.foundation.validation import real_number
from flexarm.profiles.parse import profile
from flexarm.profiles.point_to_point import minimum_jerk
from flexarm.profiles.profile import Profile
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

    Attributes
    ----------
    shaper : str
        Shaper of torques and motions, designed for the lowest vibration mode.
    feedback : str
        "pd", "pid" and "computed torque" let joints follow their motions or hold their start positions; "lqr" holds the
        start posture; "none".
    kp, ki, kd : float or mapping
        Gains, one for all joints or by link (for computed torque per unit of inertia).
    weight, effort : float or mapping
        LQR weights of the squared joint errors and of the squared torques.
    goals : mapping
        Set points of joints by link (rad or m).
    travel_time : float
        Time in which joints move to their set points (s); 0 means a step.
    gravity : bool
        Compensate the weight of the rigid twin.
    strain : bool
        Feed back strain at the roots of links that bend in one plane.
    strain_gain, strain_rate : float
        Gains of the strain feedback and of its rate.
    plant : Robot or None
        Robot for which controllers are designed; the simulated one if None.
    """

    shaper: str = "none"
    feedback: str = "none"
    kp: Gain = 10.0
    ki: Gain = 0.0
    kd: Gain = 1.0
    weight: Gain = 100.0
    effort: Gain = 1.0
    goals: Mapping[str, float] = field(default_factory=dict)
    travel_time: float = 0.0
    gravity: bool = False
    strain: bool = False
    strain_gain: float = 1.0
    strain_rate: float = 0.0  # with several modes per link the loop becomes fast and needs short steps
    plant: Robot | None = None

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
        self._require_goals(system)
        if self.is_off:
            return options
        out = self.with_set_point_motions(system, options)
        design = system if self.plant is None else System(self.plant, native=False)
        if self.shaper != "none":
            for name in self.shapeable_options(out):
                out[name] = self._shape_profiles(design, name, out[name], start_posture(system, options))
        return self._with_feedback(system, design, out) if self.has_feedback else out

    def with_set_point_motions(self, system: System, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return options with motions to the set points.

        Joints that follow a motion by feedback start where the motion starts.
        """
        if self.feedback == "none":
            return dict(options)
        start, motions, given = start_posture(system, options), options.get("motion") or {}, options.get("q0")
        initial = given if isinstance(given, Mapping) else {}
        starts = {f"{link}.q": start[f"{link}.q"] for link in motions if start[f"{link}.q"] or f"{link}.q" in initial}
        out = dict(options)
        if starts and isinstance(given, str) and given == "equilibrium":
            out["q0"] = dict(zip(system.names, equilibrium(system, starts).tolist(), strict=True))
        elif starts and (given is None or isinstance(given, Mapping)):
            out["q0"] = {**(given or {}), **starts}
        if self.goals and self.feedback != "lqr":  # lqr holds a posture and steps to it
            goal_motions = {
                link: self._set_point_profile(start.get(f"{link}.q", 0.0), goal) for link, goal in self.goals.items()
            }
            out["motion"] = {**motions, **goal_motions}
        return out

    def _require_goals(self, system: System) -> None:
        if self.goals and self.feedback == "none":
            raise ValueError(NO_FEEDBACK)
        links = [each.link for each in driven_joints(system)] if self.goals else []
        for link in self.goals:
            if link not in links:
                raise ValueError(f"set point: no actuator drives {link!r}; driven links: {', '.join(links)}")

    def _set_point_profile(self, start: float, goal: float) -> Profile:
        if real_number("within", self.travel_time, "s", least=0):
            return minimum_jerk(start, goal, self.travel_time)
        return step(start, goal)

    def shapeable_options(self, options: Mapping[str, Any]) -> list[str]:
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

    def _shape_profiles(
        self, system: System, name: str, given: Mapping[str, Any], posture: Mapping[str, float]
    ) -> dict[str, Any]:
        apply_shaper = shaper(cast(Any, self.shaper), system, q=dict(posture) or None, joints=joint_condition(name))
        return {link: apply_shaper(profile(each, f"{name}.{link}")) for link, each in given.items()}

    def _with_feedback(self, simulated: System, system: System, options: dict[str, Any]) -> dict[str, Any]:
        self.require_compatible(system, options)
        motions = {} if self.feedback == "none" else dict(options.pop("motion", None) or {})
        laws = [
            *self._tracking_laws(system, q0_posture(simulated, options.get("q0")), motions),
            *self._extra_laws(system),
        ]
        torque = given_feedback(system, options.get("torque") or None, None)
        laws += [] if torque is None else [torque]
        return {**options, "torque": reduce(operator.add, laws)} if laws else options

    def require_compatible(self, system: System, options: Mapping[str, Any]) -> None:
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

    def references(self, system: System, start: Mapping[str, float], motions: Mapping[str, Any]) -> dict[str, Any]:
        """Return the references of all driven joints by link: set points, motions or start positions."""
        targets = {each.link: start.get(f"{each.link}.q", 0.0) for each in driven_joints(system)} | dict(self.goals)
        return {link: motions.get(link, target) for link, target in targets.items()}

    def state_weights(self, names: Iterable[str]) -> dict[str, float]:
        """Return the LQR weights of joint coordinates by name (`upper.q`)."""
        if not isinstance(self.weight, Mapping):
            return dict.fromkeys(names, self.weight)
        return {name: self.weight.get(name.removesuffix(".q"), 0.0) for name in names}

    @property
    def input_weights(self) -> float | dict[str, float]:
        """LQR weights of torques, one for all or by link."""
        return dict(self.effort) if isinstance(self.effort, Mapping) else self.effort

    def _tracking_laws(self, system: System, start: Mapping[str, float], motions: Mapping[str, Any]) -> list[Feedback]:
        references = self.references(system, start, motions)
        if self.feedback == "pd":
            return [pd(system, self.kp, self.kd, references)]
        if self.feedback == "pid":
            return [pid(system, self.kp, self.ki, self.kd, references)]
        if self.feedback == "computed torque":
            return [computed_torque(system, self.kp, self.kd, references)]
        if self.feedback == "lqr":
            posture = {f"{link}.q": value for link, value in references.items()}
            return [lqr(linearize(system, q=posture), Q=self.state_weights(posture), R=self.input_weights).feedback()]
        return []

    def _extra_laws(self, system: System) -> list[Feedback]:
        found = [gravity_torque(system)] if self.gravity else []
        if self.strain:
            found += [
                strain_feedback(system, link, gain=self.strain_gain, rate_gain=self.strain_rate)
                for link in links_with_gauges(system)
            ]
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
    first = {f"{link}.q": float(profile(each, f"motion.{link}")(0.0)) for link, each in motions.items()}
    return q0_posture(system, options.get("q0")) | first


def joint_condition(name: str) -> Literal["locked", "free"]:
    """Return the joint condition for which a shaper is designed: locked for motions, free for torques."""
    return "locked" if name == "motion" else "free"


def links_with_gauges(system: System) -> list[str]:
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
