"""Checks of a sweep before it runs: members grouped by structure, and errors that all members would have."""

from __future__ import annotations

import inspect
import math
from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import Any

from flexarm.codegen.library import building
from flexarm.dynamics.model_structure import parameters_of
from flexarm.dynamics.system import System
from flexarm.feedback.feedback import Feedback
from flexarm.foundation.messages import collect_warnings, error_text, shown, suggestion
from flexarm.foundation.validation import real_number
from flexarm.integrators.inputs import Schedule
from flexarm.robot import DescriptionError, Robot
from flexarm.robot.path_updates import value_at
from flexarm.simulation.events import EventDetector
from flexarm.simulation.initial_state import initial_state
from flexarm.simulation.run_checks import require_finite_work
from flexarm.simulation.simulate import MIN_DURATION_S, _require_switches, recorded_points, simulate
from flexarm.sweeps.apply_changes import apply_changes, is_of_case
from flexarm.sweeps.case import Member, SweepCase, columns_of
from flexarm.sweeps.ensemble.cohort import MemberOptions
from flexarm.sweeps.ensemble.member_groups import MemberGroup
from flexarm.sweeps.ensemble.tasks import SweepTasks
from flexarm.sweeps.ensemble.tasks import prepare as prepare_tasks
from flexarm.sweeps.measures import Measures
from flexarm.sweeps.plan import SweepPlan, Value, unravel

MOST = 64  # structures that are distinguished


def group_by_structure(case: SweepCase, plan: SweepPlan) -> list[list[int]]:
    """Return the numbers of the members, by structure.

    Numbers of a robot are entries of its structure unless they are zero, which may be another structure. Whole numbers
    and words select it. In a robot that leaves numbers of shapes open any number may: they are selected for each
    member.
    """
    kinds = [_kinds(case, plan, k) for k in range(len(plan.fields))]
    if any(link.flexible is not None and link.flexible.open for link in case.robot.links):
        every = [_kinds(case, plan, k, every=True) for k in range(len(plan.fields))]
        kinds = every if math.prod(len(set(each)) for each in every) <= MOST else kinds
    if math.prod(len(set(each)) for each in kinds) == 1:
        return [list(range(len(plan)))]
    found: dict[tuple[int, ...], list[int]] = {}
    for number in range(len(plan)):
        places = _places(plan, number)
        found.setdefault(tuple(kind[place] for kind, place in zip(kinds, places, strict=True)), []).append(number)
    if len(found) > MOST:
        return list(found.values())
    structures: dict[Any, list[int]] = {}
    for numbers in found.values():
        structures.setdefault(_structure(case, plan, numbers[0]), []).extend(numbers)
    return list(structures.values())


def structure_note(parts: Sequence[Sequence[int]]) -> str:
    """Return a sentence about more than one structure."""
    counts = ", ".join(str(len(each)) for each in parts[:6]) + (", ..." if len(parts) > 6 else "")
    each = "they run group by group, each compiled by itself"
    return f"the members are of {len(parts)} structures ({counts} members): {each}"


def _structure(case: SweepCase, plan: SweepPlan, number: int) -> Any:
    try:
        system = System(apply_changes(case, plan[number].changes).robot, native=False)
        return parameters_of(system._chain).structure
    except ValueError as error:  # it will fail, by itself
        return str(error)


def _kinds(case: SweepCase, plan: SweepPlan, k: int, every: bool = False) -> list[int]:
    """Return the kind of each value of a field: values of one kind give one structure.

    `every`: each value is of its own kind.
    """
    name, column = plan.fields[k].name, plan.columns[k]
    if is_of_case(name):
        return [0] * len(column)
    if not every and _is_number(case, name, column[0]):
        return [int(value == 0) for value in column]
    known: dict[Value, int] = {}
    return [known.setdefault(value, len(known)) for value in column]


def _is_number(case: SweepCase, name: str, sample: Value) -> bool:
    try:
        return isinstance(value_at(apply_changes(case, {name: sample}).robot, name)[0], float)
    except DescriptionError:
        return False


def _places(plan: SweepPlan, number: int) -> tuple[int, ...]:
    return (number,) * len(plan.fields) if plan.elementwise else unravel(number, plan.shape)


def prepare_members(
    case: SweepCase, members: Sequence[Member], measures: Measures | None, keep_runs: bool, threads: int | None
) -> SweepTasks:
    """Prepare the tasks of members; if that is impossible, all are run one by one, and outcomes have the errors."""
    if (why := _why_alone(case, members[0])) is None:
        try:
            return prepare_tasks(case, members, measures, keep_runs, threads)
        except (ValueError, TypeError, KeyError, ArithmeticError) as error:
            why = error_text(error)
    sweep = SweepTasks(case, MemberOptions(), measures, keep_runs)
    sweep.add_single(MemberGroup(columns_of(members), {}, {}), why)
    return sweep


def _why_alone(case: SweepCase, member: Member) -> str | None:
    """Return why members must be run one by one: they differ in what lanes share."""
    roots = {name.partition(".")[0] for name in member.changes}
    if "references" in roots or (isinstance(case.torque, Feedback) and roots & {"loads", "motion"}):
        return "references of a law, and loads and motions beside one, cannot differ between members that run together"
    return None


OWN = ("progress",)  # the sweep's
STARTS = ("q0.", "v0.", "motion.")


def case_of(robot: Any, duration: Any, options: dict[str, Any], **inputs: Any) -> SweepCase:
    """Return the case of a sweep; raise TypeError if the robot or an option is none."""
    if isinstance(robot, System):
        robot = robot.robot
    if not isinstance(robot, Robot):
        raise TypeError(f"robot = {shown(robot)}: must be a Robot")
    known = inspect.signature(simulate).parameters
    for name in options:
        if name not in known or name in OWN:
            allowed = [each for each, one in known.items() if one.kind is one.KEYWORD_ONLY and each not in OWN]
            raise TypeError(f"there is no option {name!r}{suggestion(name, allowed)}")
    duration = real_number("duration", real_number("duration", duration, "s", above=0), "s", least=MIN_DURATION_S)
    return SweepCase(robot, duration, **inputs, options=options)


def require_valid_case(case: SweepCase, varied: Collection[str] = ()) -> None:
    """Refuse what `simulate` would refuse in every member.

    `varied`: names of fields whose values members have.
    """
    settings = MemberOptions.of(case.options)
    plan = settings.integration_options(case.robot, case.duration)
    _require_switches(native=settings.native, verify=settings.verify)
    system = System(case.robot, native=False)
    recorded_points(system, settings.points)
    with building, collect_warnings():  # each member gives them again
        schedule = Schedule(system, case.torque, case.motion, case.loads)
        require_finite_work(case.duration, plan.dt, None if schedule.controller is None else schedule.controller.rate)
        if not any(name == "duration" or name.startswith("torque") for name in varied):
            schedule.require_data(case.duration)
        settings.sample_times(case.duration, system.nq)
        EventDetector(system, settings.events)
        system.vector(None if isinstance(case.q0, str) else case.q0, "q0")
        system.vector(case.v0, "v0")
        if not any(name.startswith(STARTS) or ".joint" in name for name in varied):
            with suppress(ArithmeticError):  # this member finds no rest; others may
                initial_state(system, schedule, case.q0, case.v0)
