"""A sweep beside the case that a page shows: which member that is, what a member puts back, what makes one doubt."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from flexarm.foundation.numbers import real
from flexarm.studio.case import Case
from flexarm.studio.fields import fields, varied
from flexarm.studio.knobs import label_of
from flexarm.studio.sweep import Sweep
from flexarm.studio.sweeping import Range

SOME = 4  # names that are listed


def member_of(sweep: Sweep, base: Case, case: Case | None) -> int | None:
    """The member of a sweep of `base` that a case is; None if it is none, or nobody can tell."""
    if case is None or case.control != base.control:
        return None
    now = {each.path: each.value for each in case.numbers()}
    for member in sweep.members({name: each.value for name, each in fields(case).items()})[:1]:
        there = varied(base, sweep.changes(member)).numbers()
        if now.keys() == {each.path for each in there} and all(
            np.isclose(now[each.path], each.value, rtol=1e-9, atol=0.0) for each in there
        ):
            return member
    return None


def alike(one: Case, other: Case) -> bool:
    return one.robot is other.robot and one.plan is other.plan and one.control == other.control


def put_back(before: Case, now: Case, swept: set[str]) -> list[str]:
    """What else a member changed that was turned or switched after the sweep was made."""
    found = []
    if replace(before.control, plant=None) != replace(now.control, plant=None):
        state = "off, as they were in the sweep" if now.control.off else "those of the sweep"
        found.append(f"Shapers and controllers are {state}; Undo goes back.")
    known = {each.path: name for name, each in fields(now).items()}
    values = {each.path: each.value for each in before.numbers()}
    others = [
        label_of(each, "")
        for each in now.numbers()
        if known.get(each.path) not in swept and each.value != values.get(each.path, each.value)
    ]
    if others:
        found.append(f"Back at what the sweep had: {', '.join(others[:SOME])}{' ...' if len(others) > SOME else ''}.")
    return found


def written_ranges(case: Case) -> dict[str, Range]:
    """Ranges and lists of a file's `sweep` section that the page can show."""
    found, known = {}, fields(case)
    over = case.sweep.get("over")
    for name, given in over.items() if isinstance(over, dict) else ():
        if isinstance(given, list) and len(given) > 1 and all(real(each) is not None for each in given):
            even = np.linspace(given[0], given[-1], len(given))
            given = {"from": given[0], "to": given[-1], "count": len(given)} if np.allclose(given, even) else None
        if not isinstance(given, dict) or name not in known or given.get("spacing", "linear") != "linear":
            continue
        first, last, count = (real(given.get(each)) for each in ("from", "to", "count"))
        if first is not None and last is not None and count is not None:
            found[name] = Range(name, first, last, int(count), known[name].whole)
    return found


def doubts(sweep: Sweep, base: Case) -> list[str]:
    """What makes one doubt that a sweep is of this case."""
    found = []
    if sweep.robot and sweep.robot != base.robot.name:
        found.append(f"The sweep is of {sweep.robot!r}, this robot is {base.robot.name!r}.")
    length = real(base.plan.get("duration"))
    if sweep.duration is not None and length is not None and abs(sweep.duration - length) > 1e-9 * length:
        found.append(f"The sweep's runs take {sweep.duration:g} s, those of this simulation {length:g} s.")
    summary = str(sweep.data.attrs.get("summary", ""))
    return found + ([summary] if summary else [])
