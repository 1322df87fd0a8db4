"""Sweeps of the case that a page shows: ranges, computation, and comparison with the case."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from flexarm.dynamics.system import System
from flexarm.foundation.interrupts import end_runs_when
from flexarm.foundation.messages import collect_warnings, shown
from flexarm.foundation.progress import report_progress
from flexarm.foundation.validation import real
from flexarm.studio.case import SCALE, Parameter, StudioCase
from flexarm.studio.panels.parameters import field_label
from flexarm.studio.sweep_members import SweepResults

CONTROL_ROOTS = ("torque", "motion", "q0", "gains", "references")  # shapers and controllers depend on these


def sweepable_parameters(case: StudioCase) -> dict[str, Parameter]:
    """Return all parameters that can be swept, by name."""
    return {each.name: each for each in case.parameters() if each.is_sweepable}


def can_sweep(case: StudioCase, name: str) -> bool:
    """Return True if a parameter can vary while all members have the same shapers and controllers."""
    return case.control.is_off or name.partition(".")[0] not in CONTROL_ROOTS


def is_valid(case: StudioCase, name: str, value: float) -> bool:
    """Return True if a case accepts a value."""
    try:
        case.with_({name: value})
    except Exception:
        return False
    return True


MAX_MEMBER_COUNT = 10_000
DEFAULT_COUNT = 11  # of values in a range
SWEEP_PROGRESS = "sweeping"


@dataclass(frozen=True)
class Range:
    """Equidistant values of a field, both ends included."""

    field: str
    first: float
    last: float
    count: int
    is_integer: bool = False

    @staticmethod
    def around(number: Parameter, possible: Callable[[float], bool]) -> Range:
        """Return the range from half to one and a half times the current value, as far as values are `possible`."""
        field, now = number.name, number.value
        if number.is_integer:
            first = now - 1 if now > 1 and possible(now - 1) else now
            return Range(field, first, first + 3, 4, True)
        width = 0.5 * abs(now) if now else 0.5
        first, last = (_range_end(now, sign * width, possible) for sign in (-1, 1))
        return Range(field, first, last, DEFAULT_COUNT)

    def values(self) -> list[float] | list[int]:
        """Return the values; raise an error if the range is invalid."""
        if self.count < 1:
            raise ValueError(f"{self.field}: count = {self.count}: must be a whole number, at least 1")
        if not (np.isfinite(self.first) and np.isfinite(self.last)):
            raise ValueError(f"{self.field}: from and to must be numbers")
        if self.count > MAX_MEMBER_COUNT:
            raise ValueError(f"{self.field}: count = {self.count}: at most {MAX_MEMBER_COUNT} members can be run here")
        if self.count > 1 and self.first == self.last:
            raise ValueError(f"{self.field}: from {self.first:g} to {self.last:g} do not give {self.count} values")
        found = np.linspace(self.first, self.last, self.count)
        return np.unique(np.round(found).astype(int)).tolist() if self.is_integer else [float(each) for each in found]

    @property
    def section(self) -> dict[str, Any]:
        """The range as in a file's `sweep` section."""
        ends = (round(self.first), round(self.last)) if self.is_integer else (self.first, self.last)
        return {"from": ends[0], "to": ends[1], "count": self.count}


def _range_end(now: float, width: float, possible: Callable[[float], bool]) -> float:
    """Return the farthest possible end of a range."""
    for part in (1.0, 0.5, 0.2, 0.05):
        end = float(f"{now + part * width:.6g}")
        if possible(end):
            return end
    return now


def run_sweep(
    case: StudioCase, ranges: list[Range], should_stop: Callable[[], bool], report: Callable[[int, int], None]
) -> tuple[SweepResults, list[str]]:
    """Run all combinations of the ranges, until `should_stop` returns True.

    Returns the results and the warnings. `report` is called with the number of completed members and of all members.
    """
    from flexarm.sweeps.sweep import sweep

    over = _sweep_values(ranges)
    for name in over:
        if not can_sweep(case, name):
            raise ValueError(
                f"sweep: {name} cannot be varied while shapers or controllers are on: they depend on it; "
                "switch them off"
            )
    case = case.with_({name: 1.0 for name in over if name.endswith(f".{SCALE}")})  # sweeps scale unscaled profiles
    options = case.arguments(System(case.robot, native=False))

    def watch(activity: str, done: float, total: float) -> None:
        if activity == SWEEP_PROGRESS:
            report(int(done), int(total))

    with collect_warnings() as messages:
        try:
            with end_runs_when(should_stop), report_progress(watch):
                data = sweep(case.robot, over, **(options | {"progress": False}))
        except KeyboardInterrupt:
            raise ValueError("the sweep was cancelled before a member was done") from None
    if (data["status"].values == "missing").all():
        raise ValueError("the sweep was cancelled before a member was done")
    return SweepResults(data), messages


def _sweep_values(ranges: list[Range]) -> Mapping[str, Any]:
    names = [each.field for each in ranges]
    if not names:
        raise ValueError("sweep: choose what to vary")
    if len(set(names)) < len(names):
        raise ValueError(f"sweep: {shown(names[0])} is varied twice; choose two fields")
    over = {each.field: each.values() for each in ranges}
    count = int(np.prod([len(values) for values in over.values()]))
    if count > MAX_MEMBER_COUNT:
        raise ValueError(f"sweep: {count} members; at most {MAX_MEMBER_COUNT} can be run here, more with fa.sweep")
    return over


MAX_LISTED_NAMES = 4


def find_member(sweep: SweepResults, base: StudioCase, case: StudioCase | None) -> int | None:
    """Return the member of a sweep of `base` that equals a case, or None."""
    if case is None or case.control != base.control:
        return None
    now = {each.name: each.value for each in case.parameters()}
    for member in sweep.find_members(now)[:1]:
        found = {each.name: each.value for each in base.with_(sweep.changes(member)).parameters()}
        if now.keys() == found.keys() and np.allclose([*now.values()], [*found.values()], rtol=1e-9, atol=0.0):
            return member
    return None


def is_same_case(first: StudioCase, second: StudioCase) -> bool:
    return first.robot is second.robot and first.plan is second.plan and first.control == second.control


def describe_resets(before: StudioCase, now: StudioCase, swept: set[str]) -> list[str]:
    """Return sentences about settings, other than the swept fields, that opening a member changed back."""
    found = []
    if replace(before.control, plant=None) != replace(now.control, plant=None):
        state = "off, as in the sweep" if now.control.is_off else "those of the sweep"
        found.append(f"Shapers and controllers are {state}; Undo restores yours.")
    values = {each.name: each.value for each in before.parameters()}
    others = [
        field_label(each, "")
        for each in now.parameters()
        if each.name not in swept and each.value != values.get(each.name, each.value)
    ]
    if others:
        more = " ..." if len(others) > MAX_LISTED_NAMES else ""
        found.append(f"Reset to the values of the sweep: {', '.join(others[:MAX_LISTED_NAMES])}{more}.")
    return found


def read_ranges(case: StudioCase) -> dict[str, Range]:
    """Return the ranges of a file's `sweep` section that the page can show."""
    found, known = {}, sweepable_parameters(case)
    over = case.sweep.get("over")
    for name, given in over.items() if isinstance(over, dict) else ():
        if isinstance(given, list) and len(given) > 1 and all(real(each) is not None for each in given):
            equidistant = np.linspace(given[0], given[-1], len(given))
            given = (
                {"from": given[0], "to": given[-1], "count": len(given)} if np.allclose(given, equidistant) else None
            )
        if not isinstance(given, dict) or name not in known or given.get("spacing", "linear") != "linear":
            continue
        first, last, count = (real(given.get(each)) for each in ("from", "to", "count"))
        if first is not None and last is not None and count is not None:
            found[name] = Range(name, first, last, int(count), known[name].is_integer)
    return found


def find_mismatches(sweep: SweepResults, base: StudioCase) -> list[str]:
    """Return sentences about differences between a sweep and the current case."""
    found = []
    robot = sweep.data.attrs.get("robot", base.robot.name)
    if robot != base.robot.name:
        found.append(f"The sweep is of {robot!r}, this robot is {base.robot.name!r}.")
    length = real(base.plan.get("duration"))
    if sweep.duration is not None and length is not None and abs(sweep.duration - length) > 1e-9 * length:
        found.append(f"The sweep's runs take {sweep.duration:g} s, those of this simulation {length:g} s.")
    summary = str(sweep.data.attrs.get("summary", ""))
    return found + ([summary] if summary else [])
