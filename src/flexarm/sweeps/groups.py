"""Members of one structure side by side: each structure is traced and compiled once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from flexarm.mechanics.structure import numbers_of
from flexarm.mechanics.system import System
from flexarm.robot import DescriptionError
from flexarm.robot.changes import value_at
from flexarm.sweeps.applied import applied, is_of_case
from flexarm.sweeps.member import Case
from flexarm.sweeps.plan import Plan, Value, unravelled

MOST = 64  # structures that are told apart


def groups(case: Case, plan: Plan) -> list[list[int]]:
    """Return the numbers of the members, by structure.

    Numbers of a robot are entries of its structure, unless they are zero: that may be another one. Whole numbers and
    words choose it. In a robot that leaves numbers of shapes open any number may: they are picked for each member.
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


def said(parts: Sequence[Sequence[int]]) -> str:
    """A sentence about more than one structure."""
    counts = ", ".join(str(len(each)) for each in parts[:6]) + (", ..." if len(parts) > 6 else "")
    each = "they run group by group, each compiled by itself"
    return f"the members are of {len(parts)} structures ({counts} members): {each}"


def _structure(case: Case, plan: Plan, number: int) -> Any:
    try:
        system = System(applied(case, plan[number].changes).robot, native=False)
        return numbers_of(system._chain).structure
    except ValueError as error:  # it will fail, by itself
        return str(error)


def _kinds(case: Case, plan: Plan, k: int, every: bool = False) -> list[int]:
    """Return the kind of each value of a field: values of one kind give one structure. `every`: each is of its own."""
    name, column = plan.fields[k].name, plan.columns[k]
    if is_of_case(name):
        return [0] * len(column)
    if not every and _is_number(case, name, column[0]):
        return [int(value == 0) for value in column]
    known: dict[Value, int] = {}
    return [known.setdefault(value, len(known)) for value in column]


def _is_number(case: Case, name: str, sample: Value) -> bool:
    try:
        return isinstance(value_at(applied(case, {name: sample}).robot, name)[0], float)
    except DescriptionError:
        return False


def _places(plan: Plan, number: int) -> tuple[int, ...]:
    return (number,) * len(plan.fields) if plan.together else unravelled(number, plan.shape)
