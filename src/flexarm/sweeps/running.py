"""Which engine runs the members: lanes and threads, or one by one where what varies is unknown to lanes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.foundation.sentences import shown
from flexarm.mechanics.reach import bends_far, reach
from flexarm.motion.run import Run
from flexarm.robot import Robot
from flexarm.sweeps import one_by_one
from flexarm.sweeps.kept import Measure
from flexarm.sweeps.lanes import engine
from flexarm.sweeps.member import Case, Member, Outcome

ALONE = ("loads.", "references.")  # what begins so is the same in all lanes


def run(
    case: Case,
    members: Sequence[Member],
    measures: Mapping[str, Measure] | None = None,
    keep_runs: bool = False,
    threads: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Iterator[Outcome]:
    """What comes of the members, in no certain order; as `engine.run` has it."""
    if not len(members):
        return
    asked = None if measures is None else {name: Numeric(function) for name, function in measures.items()}
    try:
        if any(name.startswith(ALONE) for name in members[0].changes):
            raise ValueError
        sweep = engine.prepare(case, members, asked, keep_runs, threads)
    except (ValueError, TypeError, KeyError):  # a member that cannot begin: it is told by its own outcome
        yield from one_by_one.run(case, members, measures, keep_runs, threads)
        return
    changes = {member.number: member.changes for member in members} if measures is None else {}
    for outcome in engine.run(case, members, asked, keep_runs, threads, sweep=sweep):
        yield _told(outcome, case.robot, changes.get(outcome.number, {}))


@dataclass(frozen=True)
class Numeric:
    """A measure that must give numbers."""

    function: Measure

    def __call__(self, run: Run) -> Array:
        given = self.function(run)
        found = np.array(given)
        if found.dtype.kind not in "iufb":
            raise TypeError(f"{shown(given)} must be a number, or an array of numbers")
        return np.asarray(found, dtype=float)


def _told(outcome: Outcome, robot: Robot, changes: Mapping[str, Any]) -> Outcome:
    """The outcome as a sweep tells it: without numbers of a run that failed, and with doubts where links bend further
    than their models bear."""
    if outcome.status == "failed":
        return replace(outcome, values={})
    reason = "" if outcome.status == "completed" else outcome.reason
    if outcome.doubts or "peak_deflection" not in outcome.values:
        return replace(outcome, reason=reason)
    doubts: list[str] = []
    for link, peak in zip(robot.links, outcome.values["peak_deflection"], strict=True):
        length = float(changes.get(f"links.{link.name}.length", link.length))
        if peak / length > reach(link):
            doubts += bends_far(link, float(peak) / length, "")
    return replace(outcome, reason=reason, doubts=tuple(doubts))
