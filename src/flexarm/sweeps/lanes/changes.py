"""What a member changes, by name: the robot's fields, where a run begins, a law's gains, numbers of profiles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from flexarm.foundation.numbers import real_number
from flexarm.foundation.sentences import shown, suggestion
from flexarm.mechanics.system import System
from flexarm.motion.adjustable import with_number
from flexarm.motion.gains import Gains
from flexarm.motion.given_profiles import profile
from flexarm.motion.laws import Feedback
from flexarm.motion.profiles import Profile
from flexarm.robot import Robot
from flexarm.sweeps.member import Case

STATES, INPUTS = ("q0", "v0"), ("gains", "torque", "motion")


@dataclass(frozen=True)
class Parts:
    """The changes of a member by what they change."""

    robot: Mapping[str, Any]
    state: Mapping[str, float]
    inputs: Mapping[str, float]


def parted(changes: Mapping[str, Any]) -> Parts:
    """Changes of the robot, of where a run begins, and of what drives it."""
    kinds: dict[str, dict[str, Any]] = {"robot": {}, "state": {}, "inputs": {}}
    for path, value in changes.items():
        head = path.partition(".")[0]
        kind = "state" if head in STATES else "inputs" if head in INPUTS else "robot"
        kinds[kind][path] = value if kind == "robot" else real_number(path, value)
    return Parts(**kinds)


def changed_robot(robot: Robot, changes: Mapping[str, Any]) -> Robot:
    return robot.with_(changes) if changes else robot


def changed_start(case: Case, system: System, changes: Mapping[str, float]) -> dict[str, Any]:
    """q0 and v0 of a member."""
    out = {"q0": case.q0, "v0": case.v0}
    for path, value in changes.items():
        which, _, name = path.partition(".")
        if name not in system.names:
            raise KeyError(f"{path}: there is no coordinate '{name}'{suggestion(name, system.names)}")
        given = out[which]
        if isinstance(given, str):
            raise ValueError(f"{path}: q0 = {given!r} says where a run begins; leave one of them out")
        if given is None or isinstance(given, Mapping):
            out[which] = {**(given or {}), name: value}
        else:
            vector = system.vector(given, which).copy()
            vector[system.index(name)] = value
            out[which] = vector
    return out


def changed_inputs(case: Case, changes: Mapping[str, float]) -> tuple[Any, Any]:
    """torque and motion of a member."""
    torque, motion = case.torque, case.motion
    for path, value in changes.items():
        which, _, name = path.partition(".")
        if which == "gains":
            torque = _with_gain(torque, path, name, value)
        elif which == "torque":
            torque = _with_number(torque, path, name, value, "torque")
        else:
            motion = _with_number(motion, path, name, value, "motion")
    return torque, motion


def _with_gain(torque: Any, path: str, name: str, value: float) -> Feedback:
    if not isinstance(torque, Feedback) or torque.gains is None:
        raise ValueError(f"{path}: there are no gains; give torque=fa.Feedback(law, gains={{'{name}': ...}})")
    gains = Gains(torque.gains)
    if name not in gains.labels:
        raise KeyError(f"{path}: there is no gain '{name}'{suggestion(name, gains.labels)}")
    numbers = gains.numbers()
    numbers[gains.labels.index(name)] = value
    return replace(torque, gains=dict(gains.like(numbers)))


def _with_number(given: Any, path: str, rest: str, value: float, which: str) -> dict[str, Any]:
    """`torque.upper` is all of it, `torque.upper.amplitude` a number of its profile."""
    if not isinstance(given, Mapping):
        raise ValueError(f"{path}: {which} = {shown(given)}: give numbers and profiles by link name")
    link, _, name = rest.partition(".")
    if link not in given:
        raise KeyError(f"{path}: {which} gives nothing for '{link}'{suggestion(link, list(given))}")
    one = value if not name else _profile_with(given[link], f"{which}.{link}", name, value)
    return {**given, link: one}


def _profile_with(given: Any, where: str, name: str, value: float) -> Profile:
    return with_number(profile(given, where), where, name, value)


def law_parameters(feedback: Feedback, system: System, changes: Mapping[str, float]) -> Any:
    """The numbers of a law as its plant takes them: gains, then limits."""
    said = changed_inputs(Case(system.robot, 1.0, torque=feedback), changes)[0]
    gains = np.zeros(0) if said.gains is None else Gains(said.gains).numbers()
    limits = said.limits(system)
    return np.concatenate([gains, limits[np.isfinite(limits)]])
