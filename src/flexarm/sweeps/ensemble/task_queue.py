"""Rows of the members of a cohort (`Sampler.row`): interpolated where they are many, else computed one by one.

Members that were looked at before any runs, in tasks that can be computed anywhere and in any order.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexarm.codegen.simd_library import widest
from flexarm.foundation.validation import Array
from flexarm.robot import Robot
from flexarm.sweeps.apply_changes import applied, changed_robot
from flexarm.sweeps.case import Outcomes, SweepCase
from flexarm.sweeps.ensemble.classify import Candidate, Candidates, parted
from flexarm.sweeps.ensemble.cohort import Cohort
from flexarm.sweeps.ensemble.member_setup import OtherStructure, Settings
from flexarm.sweeps.ensemble.parameter_interpolation import Surrogate, surrogate
from flexarm.sweeps.ensemble.task import Job, Portion
from flexarm.sweeps.measures import Measures, are_usual

WORTH = 24  # members for which interpolation is not worth its nodes
CORNERS = 4  # fields whose corners are all looked at
WRONG = (ValueError, TypeError, KeyError, ArithmeticError)


@dataclass(frozen=True)
class Rows:
    """Of members in order: interpolated in these fields, or a row for each."""

    fields: tuple[str, ...]
    found: Surrogate | Array

    def of(self, these: Candidates, places: Sequence[int]) -> Array:
        """Those of the members at these places."""
        if isinstance(self.found, Surrogate):
            return self.found(these.points(self.fields))
        return self.found[list(places)]

    def speeds(self, cohort: Cohort, these: Candidates) -> Array:
        """By member, how fast it vibrates (`Cohort.speeds`); of many, by a plane through those that were computed."""
        if not isinstance(self.found, Surrogate):
            return cohort.speeds(self.found)
        spread = np.ptp(self.found.points, axis=0)
        spread = np.where(spread > 0, spread, 1.0)
        known = np.column_stack([np.ones(len(self.found.points)), self.found.points / spread])
        constant, *slopes = np.linalg.lstsq(known, cohort.speeds(self.found.rows), rcond=None)[0]
        return np.asarray(constant + these.points(self.fields) @ (slopes / spread))


def rows_of(cohort: Cohort, these: Candidates) -> tuple[Rows, NDArray[np.bool_]]:
    """The rows of those members that are of the cohort, and which those are; a ValueError where one is no robot."""
    fields, everyone = tuple(sorted(these.fields("robot", "state"))), np.ones(len(these), dtype=bool)
    if not fields:
        return Rows(fields, np.repeat(cohort.sampler.row({})[None], len(these), axis=0)), everyone
    if len(these) > WORTH and not np.isnan(these.points(fields)).any() and not _has_jumping_parameters(cohort.robot):
        made = _interpolated(cohort, these, fields)
        if made is not None:
            return Rows(fields, made), everyone
    require_robots(cohort, these)
    firsts, which = these.alike("robot", "state")
    known = [_computed(cohort, these[place]) for place in firsts]
    found = [known[kind] for kind in which.tolist()]
    mine = [row for row in found if row is not None]
    return Rows(fields, np.stack(mine) if mine else np.zeros((0, 0))), np.array([row is not None for row in found])


def _has_jumping_parameters(robot: Robot) -> bool:
    """Whether numbers may jump between members: where numbers of shapes are picked for each of them, and where damping
    goes by the order of frequencies, of which two may change places."""
    flexible = [link.flexible for link in robot.links if link.flexible is not None]
    return any(each.up_to is not None or isinstance(getattr(each.damping, "ratio", None), tuple) for each in flexible)


def require_robots(cohort: Cohort, these: Candidates) -> None:
    """Values that make no robot: which member has them, and why."""
    for each in (these[place] for place in these.alike("robot").firsts):
        try:
            each.robot_of(cohort.robot)
        except WRONG as error:
            raise each.about(error) from None


def _computed(cohort: Cohort, one: Candidate) -> Array | None:
    """None of a robot of another structure, or of one that finds no rest: it will tell."""
    try:
        return cohort.sampler.row(one.smooth)
    except (OtherStructure, ArithmeticError):
        return None
    except WRONG as error:
        raise one.about(error) from None


def _interpolated(cohort: Cohort, these: Candidates, fields: tuple[str, ...]) -> Surrogate | None:
    at = these.points(fields)

    def named(point: Array) -> Mapping[str, float]:
        return dict(zip(fields, point.tolist(), strict=True))

    def row(point: Array) -> Array:
        return cohort.sampler.row(named(point))

    ends = np.stack([at.min(axis=0), at.max(axis=0)])
    count = min(len(fields), CORNERS)
    try:
        for corner in np.ndindex(*(2,) * count):
            which = [*corner, *(0,) * (len(fields) - count)]
            changed_robot(cohort.robot, parted(named(ends[which, range(len(fields))])).robot)
        return surrogate(at, row, cohort.sampler.scale, np.random.default_rng(0))
    except WRONG:  # members are looked at one by one
        return None


MAX_BATCH_SIZE = 512  # members of a batch: they share the time in Python
SORTED_BLOCK_SIZE = 1024  # members that are sorted by speed
CHECKED_SHAPES = 6  # members of a cohort, and the slowest and the fastest: their number of shapes is checked
OF_RUNS = 64  # where steps are kept: they take memory


@dataclass(frozen=True)
class MemberTask:
    """Members that are computed together: the place of their job, and theirs among its members."""

    job: int
    places: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.places)


class TaskQueue:
    """`tasks` are computed by `compute`, in any order and any thread, or elsewhere: `jobs` do what `portion` gives.
    `notes` say how members are run; `loop_time`, `node_time`: how long all threads together were in the steps of lanes,
    and in loops over their nodes (s).

    measures: by name functions of a Run; None: the usual ones.
    keep_runs: whether outcomes have their Run.
    """

    def __init__(
        self, case: SweepCase, settings: Settings, measures: Measures | None = None, keep_runs: bool = False
    ) -> None:
        self.case, self.settings, self.measures, self.keep_runs = case, settings, measures, keep_runs
        self.notes: list[str] = []
        self.tasks: list[MemberTask] = []
        self.jobs: list[Job] = []
        self._members: list[tuple[Candidates, Rows | None, Array | None]] = []  # of each job, with speeds
        self._lock = threading.Lock()
        self.loop_time = self.node_time = 0.0
        self.interpolated: list[str] = []  # whose numbers, and from how many

    @property
    def structures(self) -> int:
        return sum(each.cohort is not None for each in self.jobs)

    # --- members ---

    def add_alone(self, these: Candidates, why: str) -> None:
        """Members that are run one by one, each a task: whoever stops loses no more than the last."""
        self.notes.append(f"{len(these)} member{'s' * (len(these) > 1)} run one by one: {why}")
        self._add(None, these, None, range(len(these)), 1)

    def add(self, cohort: Cohort, these: Candidates, rows: Rows, threads: int) -> None:
        """Members that are run in lanes: those that are alike together, some for every thread."""
        if isinstance(rows.found, Surrogate):
            self.interpolated.append(f"numbers of {len(these)} robots from those of {len(rows.found.rows)}")
        lanes = (self.settings.width or widest()).lanes
        each = -(-len(these) // (threads * lanes)) * lanes
        firsts, which = these.alike("inputs")
        jumps = [_jump_times(self.case, these[place].inputs) for place in firsts]
        ranks = {each: rank for rank, each in enumerate(sorted({*jumps}))}
        together = np.array([ranks[each] for each in jumps])[which]
        runs = self.keep_runs or not are_usual(self.measures)
        size = min(each, OF_RUNS if runs else MAX_BATCH_SIZE)
        # Blocks run in the order of their members, so that a study that is interrupted has the first of its draws, not
        # those of one speed. Inside a block the fastest run first, with others as fast: their steps are alike. Blocks,
        # and so the groups of lanes and the digits of their members, do not depend on the number of threads.
        block = np.arange(len(these)) // SORTED_BLOCK_SIZE
        speeds = rows.speeds(cohort, these)
        order = np.lexsort((-speeds, together, block)).tolist()
        evenly = np.linspace(0, len(these) - 1, CHECKED_SHAPES).astype(int).tolist()
        places = {int(speeds.argmin()), int(speeds.argmax()), *evenly}
        self._add(cohort, these, rows, order, size, frozenset(these.members.numbers[[*places]].tolist()), speeds)

    def _add(
        self,
        cohort: Cohort | None,
        these: Candidates,
        rows: Rows | None,
        order: Sequence[int],
        size: int,
        checked: frozenset[int] = frozenset(),
        speeds: Array | None = None,
    ) -> None:
        number = len(self.jobs)
        self.jobs.append(Job(self.case, self.measures, self.keep_runs, cohort, checked))
        self._members.append((these, rows, speeds))
        self.tasks += [MemberTask(number, tuple(order[k : k + size])) for k in range(0, len(order), size)]

    # --- what comes of them ---

    def portion(self, task: MemberTask) -> Portion:
        """The members of a task."""
        everyone, rows, speeds = self._members[task.job]
        these = everyone.some(task.places)
        if rows is None or speeds is None:
            return Portion(these)
        return Portion(these, rows.of(these, task.places), speeds[list(task.places)])

    def compute(self, task: MemberTask, cancelled: Callable[[], bool] = lambda: False) -> Outcomes:
        """What comes of the members of a task; `Cancelled` once that says so."""
        return self.jobs[task.job].compute(self.portion(task), cancelled, self._count, self.notes.append)

    def _count(self, steps: float, nodes: float) -> None:
        with self._lock:
            self.loop_time += steps
            self.node_time += nodes


def _jump_times(case: SweepCase, inputs: Mapping[str, float]) -> tuple[float, ...]:
    """When the inputs of members jump, where these are their own."""
    if not any(path.partition(".")[0] != "gains" for path in inputs):
        return ()
    driven = applied(case, inputs)
    every = [
        profile for given in (driven.torque, driven.motion) if isinstance(given, Mapping) for profile in given.values()
    ]
    return tuple(sorted({time for each in every for time in getattr(each, "breaks", ())}))
