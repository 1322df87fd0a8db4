"""What is wrong with a case whatever its members are: told once, before any of them runs."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Collection
from contextlib import suppress
from typing import Any

from flexarm.codegen.lock import building
from flexarm.foundation.numbers import real_number
from flexarm.foundation.sentences import shown, suggestion
from flexarm.mechanics.system import System
from flexarm.motion.budget import require_finite_work
from flexarm.motion.events import Watch
from flexarm.motion.schedule import Schedule
from flexarm.motion.simulate import SHORTEST, _require_switches, recorded_points, simulate
from flexarm.motion.start import initial_state
from flexarm.robot import Robot
from flexarm.sweeps.lanes.settings import Settings
from flexarm.sweeps.member import Case

OWN = ("progress",)  # the sweep's
STARTS = ("q0.", "v0.", "motion.")


def case_of(robot: Any, duration: Any, options: dict[str, Any], **inputs: Any) -> Case:
    """The case, if robot and names of options can be."""
    if isinstance(robot, System):
        robot = robot.robot
    if not isinstance(robot, Robot):
        raise TypeError(f"robot = {shown(robot)}: must be a Robot")
    known = inspect.signature(simulate).parameters
    for name in options:
        if name not in known or name in OWN:
            allowed = [each for each, one in known.items() if one.kind is one.KEYWORD_ONLY and each not in OWN]
            raise TypeError(f"there is no option {name!r}{suggestion(name, allowed)}")
    duration = real_number("duration", real_number("duration", duration, "s", above=0), "s", least=SHORTEST)
    return Case(robot, duration, **inputs, options=options)


def rehearse(case: Case, varied: Collection[str] = ()) -> None:
    """Refuse what `simulate` would refuse in every member. `varied`: names of fields whose values are the members'."""
    settings = Settings.of(case.options)
    plan = settings.plan(case.robot, case.duration)
    _require_switches(native=settings.native, verify=settings.verify)
    system = System(case.robot, native=False)
    recorded_points(system, settings.points)
    with building, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # each member says it again
        schedule = Schedule(system, case.torque, case.motion, case.loads)
        require_finite_work(case.duration, plan.dt, None if schedule.controller is None else schedule.controller.rate)
        settings.samples(case.duration, system.nq)
        Watch(system, settings.stop)
        system.vector(None if isinstance(case.q0, str) else case.q0, "q0")
        system.vector(case.v0, "v0")
        if not any(name.startswith(STARTS) or ".joint" in name for name in varied):
            with suppress(ArithmeticError):  # this member finds no rest; others may
                initial_state(system, schedule, case.q0, case.v0)
