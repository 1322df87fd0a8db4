"""Shapers and controllers that a page switches on: what becomes of the options of a simulation."""

from __future__ import annotations

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
NO_FEEDBACK = "set point: joints go there by feedback; choose pd, pid, computed torque or lqr"
COMPLETE = ("computed torque", "lqr")  # those that hold the robot's weight themselves


@dataclass(frozen=True)
class Control:
    """What is switched on; all of it adds up.

    shaper: of torques and motions, for the lowest vibration.
    feedback: joints follow their motions, or stay where they start, by kp, kd and ki (per inertia, of computed
        torque), one for all or by link; "lqr" holds the posture of the start, where squares of
        errors of joints have this weight against this effort of those of torques. Torques are added to theirs.
    goals: by link where joints are to go instead (rad or m), within a time of `travel` (s), or at once.
    gravity: the weight of the rigid twin is held. strain: gauges at the roots of links that bend in one plane.
    plant: for which it is designed, the robot that is simulated unless given.
    """

    shaper: str = "none"
    feedback: str = "none"
    kp: Gain = 10.0
    kd: Gain = 1.0
    ki: Gain = 0.0
    weight: Gain = 100.0
    effort: Gain = 1.0
    goals: Mapping[str, float] = field(default_factory=dict)
    travel: float = 0.0
    gravity: bool = False
    strain: bool = False
    strain_gain: float = 1.0
    strain_rate: float = 0.0  # with links of several shapes it makes fast loops, which take short steps
    plant: Robot | None = None

    @property
    def off(self) -> bool:
        return self.shaper == "none" and not self.feeds_back

    @property
    def feeds_back(self) -> bool:
        return self.feedback != "none" or self.gravity or self.strain

    def of_twin(self) -> Control:
        """The same for the rigid twin, which neither vibrates nor bends."""
        plant = None if self.plant is None else self.plant.rigid()
        return replace(self, shaper="none", strain=False, plant=plant)

    def applied(self, system: System, options: dict[str, Any]) -> dict[str, Any]:
        """The options with what is switched on."""
        self._require_goals(system)
        if self.off:
            return options
        out = self.commanded(system, options)
        design = system if self.plant is None else System(self.plant, native=False)
        if self.shaper != "none":
            for name in self.shaped(out):
                out[name] = self._shaped(design, name, out[name], beginning(system, options))
        return self._fed_back(system, design, out) if self.feeds_back else out

    def commanded(self, system: System, options: Mapping[str, Any]) -> dict[str, Any]:
        """The options with motions of joints that are to go somewhere else; joints that feedback lets follow their
        motions begin where these do."""
        if self.feedback == "none":
            return dict(options)
        start, moved, given = beginning(system, options), options.get("motion") or {}, options.get("q0")
        known = given if isinstance(given, Mapping) else {}
        firsts = {f"{link}.q": start[f"{link}.q"] for link in moved if start[f"{link}.q"] or f"{link}.q" in known}
        out = dict(options)
        if firsts and isinstance(given, str) and given == "equilibrium":
            out["q0"] = dict(zip(system.names, equilibrium(system, firsts).tolist(), strict=True))
        elif firsts and (given is None or isinstance(given, Mapping)):
            out["q0"] = {**(given or {}), **firsts}
        if self.goals and self.feedback != "lqr":  # which holds a posture, and goes there at once
            ways = {link: self._way(start.get(f"{link}.q", 0.0), goal) for link, goal in self.goals.items()}
            out["motion"] = {**moved, **ways}
        return out

    def _require_goals(self, system: System) -> None:
        if self.goals and self.feedback == "none":
            raise ValueError(NO_FEEDBACK)
        links = [each.link for each in driven_joints(system)] if self.goals else []
        for link in self.goals:
            if link not in links:
                raise ValueError(f"set point: no actuator drives {link!r}; there are those of {', '.join(links)}")

    def _way(self, start: float, goal: float) -> Profile:
        if real_number("within", self.travel, "s", least=0):
            return minimum_jerk(start, goal, self.travel)
        return step(goal, before=start)

    def shaped(self, options: Mapping[str, Any]) -> list[str]:
        """Which options a shaper works on; a sentence where that is none."""
        found = [name for name in ("torque", "motion") if isinstance(options.get(name), Mapping) and options[name]]
        if not found:
            law = "its torques come from a feedback" if options.get("torque") else "it has neither torques nor motions"
            raise ValueError(
                f"shaper: nothing of this simulation can be shaped: {law}; shapers are for profiles of torques and "
                "motions, and for set points of pd, pid and computed torque"
            )
        return found

    def _shaped(
        self, system: System, name: str, given: Mapping[str, Any], posture: Mapping[str, float]
    ) -> dict[str, Any]:
        made = shaper(cast(Any, self.shaper), system, q=dict(posture) or None, joints=held(name))
        return {link: made(profile(each, f"{name}.{link}")) for link, each in given.items()}

    def _fed_back(self, simulated: System, system: System, options: dict[str, Any]) -> dict[str, Any]:
        self.require_possible(system, options)
        moved = {} if self.feedback == "none" else dict(options.pop("motion", None) or {})
        laws = [*self._following(system, at_rest(simulated, options.get("q0")), moved), *self._added(system)]
        torque = given_feedback(system, options.get("torque") or None, None)
        laws += [] if torque is None else [torque]
        return {**options, "torque": reduce(lambda one, other: one + other, laws)} if laws else options

    def require_possible(self, system: System, options: Mapping[str, Any]) -> None:
        """A sentence of what cannot be together."""
        if not driven_joints(system):
            raise ValueError("feedback: no joint of this robot has an actuator")
        if self.gravity and self.feedback in COMPLETE:
            raise ValueError(f"gravity: {self.feedback} holds the robot's weight already; switch one of them off")
        if self.feedback == "lqr" and options.get("motion"):
            raise ValueError("feedback: lqr holds a posture and follows no motion; pd, pid and computed torque do")
        if self.feedback == "none" and options.get("motion"):
            raise ValueError(
                "feedback: joints that move as given have no torques; let them follow by pd, pid or computed torque"
            )

    def references(self, system: System, start: Mapping[str, float], moved: Mapping[str, Any]) -> dict[str, Any]:
        """By link where joints are to be that start somewhere."""
        held = {each.link: start.get(f"{each.link}.q", 0.0) for each in driven_joints(system)} | dict(self.goals)
        return {link: moved.get(link, there) for link, there in held.items()}

    def weights(self, names: Iterable[str]) -> dict[str, float]:
        """Of joints, by the names of their coordinates, `upper.q`."""
        if not isinstance(self.weight, Mapping):
            return dict.fromkeys(names, self.weight)
        return {name: self.weight.get(name.removesuffix(".q"), 0.0) for name in names}

    @property
    def efforts(self) -> float | dict[str, float]:
        return dict(self.effort) if isinstance(self.effort, Mapping) else self.effort

    def _following(self, system: System, start: Mapping[str, float], moved: Mapping[str, Any]) -> list[Feedback]:
        references = self.references(system, start, moved)
        if self.feedback == "pd":
            return [pd(system, self.kp, self.kd, references)]
        if self.feedback == "pid":
            return [pid(system, self.kp, self.kd, self.ki, references)]
        if self.feedback == "computed torque":
            return [computed_torque(system, self.kp, self.kd, references)]
        if self.feedback == "lqr":
            there = {f"{link}.q": value for link, value in references.items()}
            return [lqr(linearize(system, q=there), Q=self.weights(there), R=self.efforts).feedback()]
        return []

    def _added(self, system: System) -> list[Feedback]:
        found = [gravity_torque(system)] if self.gravity else []
        if self.strain:
            found += [
                strain_feedback(system, link, gain=self.strain_gain, rate_gain=self.strain_rate)
                for link in gauged(system)
            ]
        return found


def at_rest(system: System, start: Any) -> dict[str, float]:
    """By name where joints start, however that is given; those that are not in it start at zero."""
    joints = {each.name: each.index for each in system.coordinates if each.kind == "joint"}
    if start is None or isinstance(start, str):  # "equilibrium" holds joints at zero
        return {}
    if isinstance(start, Mapping):
        return {name: float(start[name]) for name in joints if name in start}
    found = system.vector(start)
    return {name: float(found[index]) for name, index in joints.items()}


def beginning(system: System, options: Mapping[str, Any]) -> dict[str, float]:
    """The joints when a run begins: where they start, or where their motions do."""
    moved = options.get("motion") or {}
    first = {f"{link}.q": float(profile(each, f"motion.{link}")(0.0)) for link, each in moved.items()}
    return at_rest(system, options.get("q0")) | first


def held(name: str) -> Literal["locked", "free"]:
    """What joints do while a robot vibrates whose torques, or whose motions, are shaped."""
    return "locked" if name == "motion" else "free"


def gauged(system: System) -> list[str]:
    """Links whose strain can be fed back; a sentence where there is none."""
    found, refused = [], ValueError("strain: no joint of this robot has an actuator")
    for joint in driven_joints(system):
        try:
            strain_feedback(system, joint.link)
            found.append(joint.link)
        except (ValueError, TypeError) as error:
            refused = ValueError(f"strain: {error}")
    if not found:
        raise refused
    return found


OFF = Control()
