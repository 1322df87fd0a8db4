"""Numbers of a case as sweeps call them: `simulation.torque:upper:amplitude` is `torque.upper.amplitude` there.

Which of several numbers a case can take.

Many runs of a case, by `fa.sweep`: ranges of its fields, how far it is, and an early end.

A sweep beside the case that a page shows: which member that is, what a member puts back, what makes one doubt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from flexarm.dynamics.system import System
from flexarm.foundation.interrupts import end_runs_when
from flexarm.foundation.messages import collect_warnings, shown, suggestion
from flexarm.foundation.progress import report_progress
from flexarm.foundation.validation import real
from flexarm.profiles.parse import profile
from flexarm.robot.io.files import SIMULATION
from flexarm.studio.case import Number, Scaled, StudioCase
from flexarm.studio.compute import Result
from flexarm.studio.panels.parameters import label_of
from flexarm.studio.panels.widgets import number_in
from flexarm.studio.sweep_members import SweepResults

ROOTS = ("torque", "motion", "loads", "q0", "v0", "gains", "references")  # what is not of the robot
CONTROLLED = ("torque", "motion", "q0", "gains", "references")  # what shapers and controllers are made of
SCALE = "scale"


def fields(case: StudioCase) -> dict[str, Number]:
    """By name all numbers that can be swept."""
    named = ((field_of(each.path), each) for each in case.numbers())
    return {name: each for name, each in named if name}


def sweepable(case: StudioCase, name: str) -> bool:
    """Whether members of a sweep differ by this field alone: all have the same shapers and controllers."""
    return case.control.off or name.partition(".")[0] not in CONTROLLED


def require_swept(case: StudioCase, name: str) -> None:
    """A sentence where all members would have the shapers and controllers of a case that this field is a part of."""
    if not sweepable(case, name):
        raise ValueError(
            f"sweep: {name} cannot be varied while shapers or controllers are on, which are made of it; switch them off"
        )


def plainly(case: StudioCase, names: Iterable[str]) -> StudioCase:
    """The case to sweep: factors that are varied are those of the profiles themselves, whatever they are now."""
    known = fields(case)
    factors = {known[name].path: 1.0 for name in names if name in known and name.endswith(f".{SCALE}")}
    return case.with_(factors) if factors else case


def field_of(path: str) -> str:
    """What a sweep calls a number; empty for those that none can vary.

    >>> field_of("links.fore.payload.mass"), field_of("simulation.q0:fore.q"), field_of("simulation.duration")
    ('links.fore.payload.mass', 'q0.fore.q', '')
    >>> field_of("simulation.torque:upper:times"), field_of("simulation.torque:gains:kp:0")
    ('torque.upper.scale', 'gains.kp[1]')
    """
    inside = path.removeprefix(f"{SIMULATION}.")
    if inside == path:
        return path
    root, *steps = inside.split(":")
    if root == "torque" and steps[0] == "gains":
        return f"gains.{steps[1]}" + "".join(f"[{int(each) + 1}]" for each in steps[2:])
    if root in ("q0", "v0"):
        return "" if steps[0].isdecimal() else f"{root}.{steps[0]}"
    if root == "loads":
        return f"loads.{'.'.join(steps)}" if len(steps) > 2 else ""
    if root not in ("torque", "motion"):
        return ""
    return ".".join([root, *steps[:-1], SCALE if steps[-1] == "times" else steps[-1]])


def varied(case: StudioCase, changes: Mapping[str, Any]) -> StudioCase:
    """The case of a member of a sweep that changes these; a sentence where there is no such number in it."""
    of_robot = {name: value for name, value in changes.items() if name.partition(".")[0] not in ROOTS}
    if of_robot:
        case = replace(case, robot=case.robot.with_(of_robot))
    known = {name: each.path for name, each in fields(case).items()}
    for name in sorted((name for name in changes if name not in of_robot), key=lambda name: name.endswith(SCALE)):
        root, _, rest = name.partition(".")
        path = known.get(name) or known.get(f"{name}.value")
        if path is None and root in ("q0", "v0") and isinstance(case.plan.get(root, {}), Mapping):
            path = f"{SIMULATION}.{root}:{rest}"
        if path is not None:
            case = case.with_({path: float(changes[name])})
        elif root in ("torque", "motion") and rest.endswith(f".{SCALE}"):
            case = _scaled(case, root, rest.removesuffix(f".{SCALE}"), float(changes[name]))
        else:
            raise ValueError(
                f"{name}: nothing in this simulation has that name, so that this member cannot be computed here"
                f"{suggestion(name, list(known))}"
            )
    return case


def _scaled(case: StudioCase, root: str, link: str, factor: float) -> StudioCase:
    given = case.plan.get(root)
    if not isinstance(given, Mapping) or link not in given:
        raise ValueError(f"{root}.{link}.{SCALE}: this simulation has no {root} of {link!r}")
    made = Scaled(profile(given[link], f"{root}.{link}"), factor)
    return replace(case, plan={**case.plan, root: {**given, link: made}})


@dataclass(frozen=True)
class Possible:
    """A case with the numbers that can be, its run if it was computed, those that cannot be, and why."""

    case: StudioCase
    result: Result | None = None
    refused: dict[str, float | str] = field(default_factory=dict)
    problem: Exception | None = None

    def tried(self, path: str, value: float | str, compute: Callable[[StudioCase], Result | None]) -> Possible:
        """With one number more, taken or refused."""
        try:
            case = changed(self.case, {path: value})
            return Possible(case, compute(case), self.refused, self.problem)
        except Exception as error:
            return Possible(self.case, self.result, {**self.refused, path: value}, self.problem or error)


def changed(case: StudioCase, wanted: Mapping[str, float | str]) -> StudioCase:
    """With other numbers; units that look wrong are told of by whoever shows the case, as long as they are there."""
    with collect_warnings():
        return case.with_({path: number_in(value, path) for path, value in wanted.items()})


def can_be(case: StudioCase, path: str, value: float) -> bool:
    """Whether a robot, or a simulation, takes a number; what comes of it is another question."""
    try:
        changed(case, {path: value})
    except Exception:
        return False
    return True


MOST = 10_000  # members of a sweep in a page
COUNT = 11  # of a field that nobody asked for otherwise
DOING = "sweeping"


@dataclass(frozen=True)
class Range:
    """Values of a field, equally far apart from the first to the last."""

    field: str
    first: float
    last: float
    count: int
    whole: bool = False

    @staticmethod
    def around(field: str, number: Number, possible: Callable[[float], bool] = lambda _: True) -> Range:
        """What one would like to see of a number: half of it to half as much again, as far as that is `possible`."""
        now = number.value
        if number.whole:
            first = now - 1 if now > 1 and possible(now - 1) else now
            return Range(field, first, first + 3, 4, True)
        wide = 0.5 * abs(now) if now else 0.5
        first, last = (_end(now, way * wide, possible) for way in (-1, 1))
        return Range(field, first, last, COUNT)

    def values(self) -> list[float] | list[int]:
        if self.count < 1:
            raise ValueError(f"{self.field}: count = {self.count}: must be a whole number, at least 1")
        if not (np.isfinite(self.first) and np.isfinite(self.last)):
            raise ValueError(f"{self.field}: from and to must be numbers")
        if self.count > MOST:
            raise ValueError(f"{self.field}: count = {self.count}: at most {MOST} members are run here")
        if self.count > 1 and self.first == self.last:
            raise ValueError(f"{self.field}: from {self.first:g} to {self.last:g} are no {self.count} values")
        found = np.linspace(self.first, self.last, self.count)
        return np.unique(np.round(found).astype(int)).tolist() if self.whole else [float(each) for each in found]

    @property
    def section(self) -> dict[str, Any]:
        """As a file would have it."""
        ends = (round(self.first), round(self.last)) if self.whole else (self.first, self.last)
        return {"from": ends[0], "to": ends[1], "count": self.count}


def _end(now: float, wide: float, possible: Callable[[float], bool]) -> float:
    """Of a range: as far away as can be."""
    for part in (1.0, 0.5, 0.2, 0.05):
        end = float(f"{now + part * wide:.6g}")
        if possible(end):
            return end
    return now


def swept(
    case: StudioCase, ranges: list[Range], enough: Callable[[], bool], tell: Callable[[int, int], None]
) -> tuple[SweepResults, list[str]]:
    """The runs of all combinations, as many as there are when somebody has `enough`, and what was warned of.

    tell: hears how many are done, of how many.
    """
    from flexarm.sweeps.sweep import sweep

    over = _over(ranges)
    for name in over:
        require_swept(case, name)
    case = plainly(case, over)
    options = case.arguments(System(case.robot, native=False))

    def watch(doing: str, done: float, whole: float) -> None:
        if doing == DOING:
            tell(int(done), int(whole))

    with collect_warnings() as said:
        try:
            with end_runs_when(enough), report_progress(watch):
                data = sweep(case.robot, over, **(options | {"progress": False}))
        except KeyboardInterrupt:
            raise ValueError("the sweep was cancelled before a member was done") from None
    if (data["status"].values == "missing").all():
        raise ValueError("the sweep was cancelled before a member was done")
    return SweepResults(data), said


def _over(ranges: list[Range]) -> Mapping[str, Any]:
    names = [each.field for each in ranges]
    if not names:
        raise ValueError("sweep: choose what to vary")
    if len(set(names)) < len(names):
        raise ValueError(f"sweep: {shown(names[0])} is varied twice; choose two fields")
    over = {each.field: each.values() for each in ranges}
    count = int(np.prod([len(values) for values in over.values()]))
    if count > MOST:
        raise ValueError(f"sweep: these are {count} members; at most {MOST} are run here, more by fa.sweep")
    return over


SOME = 4  # names that are listed


def member_of(sweep: SweepResults, base: StudioCase, case: StudioCase | None) -> int | None:
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


def alike(one: StudioCase, other: StudioCase) -> bool:
    return one.robot is other.robot and one.plan is other.plan and one.control == other.control


def put_back(before: StudioCase, now: StudioCase, swept: set[str]) -> list[str]:
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


def written_ranges(case: StudioCase) -> dict[str, Range]:
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


def doubts(sweep: SweepResults, base: StudioCase) -> list[str]:
    """What makes one doubt that a sweep is of this case."""
    found = []
    if sweep.robot and sweep.robot != base.robot.name:
        found.append(f"The sweep is of {sweep.robot!r}, this robot is {base.robot.name!r}.")
    length = real(base.plan.get("duration"))
    if sweep.duration is not None and length is not None and abs(sweep.duration - length) > 1e-9 * length:
        found.append(f"The sweep's runs take {sweep.duration:g} s, those of this simulation {length:g} s.")
    summary = str(sweep.data.attrs.get("summary", ""))
    return found + ([summary] if summary else [])
