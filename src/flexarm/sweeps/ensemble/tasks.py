"""A sweep made ready to run: members grouped by structure, and tasks that can be computed anywhere, in any order."""

from __future__ import annotations

import os
import threading
import time as clock
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass

import numpy as np

from flexarm.codegen.simd_library import SimdWidth, widest
from flexarm.foundation.messages import error_text
from flexarm.foundation.validation import Array
from flexarm.sweeps.apply_changes import apply_changes, robot_with
from flexarm.sweeps.case import Member, Outcome, Outcomes, SweepCase
from flexarm.sweeps.ensemble.cohort import Cohort, MemberOptions, NotBatchable
from flexarm.sweeps.ensemble.job import Job, Portion
from flexarm.sweeps.ensemble.member_groups import MemberGroup, member_groups
from flexarm.sweeps.ensemble.parameter_interpolation import Surrogate
from flexarm.sweeps.ensemble.parameter_rows import DESCRIPTION_ERRORS, Rows, require_robots, rows_of
from flexarm.sweeps.measures import Measures, are_standard

MIN_LANE_MEMBERS = 4  # of a cohort: fewer are run before their code for lanes would be compiled
BLOCK_SIZE = 128  # members that are sorted by speed: a study that is interrupted has whole blocks, which are unbiased
MAX_BATCH_SIZE = 512  # members of a task: they share the time in Python
MAX_RECORDED_SIZE = 64  # where nodes are recorded, which take memory
CHECKED_COUNT = 6  # members of a cohort, beside the slowest and the fastest, whose number of shapes is checked
TASK_DURATION_S = 2.0  # of a task, if outcomes are stored as they come
FIRST_TASK_SIZE, TASK_MULTIPLE = 64, 8  # members of a task of unknown duration; the most lanes of a group


@dataclass(frozen=True)
class MemberTask:
    """Members that are computed together: the index of their job, and theirs among its members."""

    job: int
    places: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.places)


class SweepTasks:
    """Tasks of a sweep.

    Parameters
    ----------
    measures : mapping or None
        Functions of a run by name; None: the usual ones.
    keep_runs : bool
        True if outcomes have their run.

    Attributes
    ----------
    notes : list of str
        How members are run.
    interpolated : list of str
        Whose rows are interpolated, and from how many.
    step_time, node_time : float
        Time of all threads in compiled steps and in the evaluation of their nodes (s).
    """

    def __init__(
        self, case: SweepCase, options: MemberOptions, measures: Measures | None = None, keep_runs: bool = False
    ) -> None:
        self.case, self.options, self.measures, self.keep_runs = case, options, measures, keep_runs
        self.notes: list[str] = []
        self.interpolated: list[str] = []
        self.tasks: list[MemberTask] = []
        self.jobs: list[Job] = []
        self._members: list[tuple[MemberGroup, Rows | None, Array | None]] = []  # of each job, with rows and speeds
        self._lock = threading.Lock()
        self.step_time = self.node_time = 0.0

    @property
    def structures(self) -> int:
        """Number of cohorts."""
        return sum(each.cohort is not None for each in self.jobs)

    @property
    def block_size(self) -> int:
        """Number of members, in their order, that are done together: parts of a block are no random sample."""
        return BLOCK_SIZE if self.structures else 1

    # --- members ---

    def add_single(self, these: MemberGroup, reason: str) -> None:
        """Add members that are run one by one, each as a task: an interruption loses no more than the last."""
        self.notes.append(f"{len(these)} member{'s' * (len(these) > 1)} run one by one: {reason}")
        self._add(Job(self.case, self.measures, self.keep_runs), these, None, None, range(len(these)), 1)

    def add_cohort(self, cohort: Cohort, these: MemberGroup, rows: Rows, threads: int) -> None:
        """Add members that are run in lanes, in tasks for so many threads.

        Tasks run in the order of the members, block by block. In a block members are sorted by speed: lanes of a group
        need similar steps. Neither blocks nor groups depend on the number of threads, so the results do not, either.
        """
        if isinstance(rows.source, Surrogate):
            self.interpolated.append(f"numbers of {len(these)} robots from those of {len(rows.source.rows)}")
        speeds = _speeds(cohort, these, rows)
        firsts, which = these.equal("inputs")
        jumps = [_jump_times(self.case, these[place].inputs) for place in firsts]
        ranks = {each: rank for rank, each in enumerate(sorted({*jumps}))}
        by_jumps = np.array([ranks[each] for each in jumps])[which]
        order = np.lexsort((-speeds, by_jumps, np.arange(len(these)) // BLOCK_SIZE)).tolist()
        lanes = (self.options.width or widest()).lanes
        evenly = -(-len(these) // (threads * lanes)) * lanes
        records = self.keep_runs or not are_standard(self.measures)
        size = min(evenly, MAX_RECORDED_SIZE if records else MAX_BATCH_SIZE)
        spread = np.linspace(0, len(these) - 1, CHECKED_COUNT).astype(int).tolist()
        places = [*{int(speeds.argmin()), int(speeds.argmax()), *spread}]
        checked = frozenset(these.members.numbers[places].tolist())
        self._add(Job(self.case, self.measures, self.keep_runs, cohort, checked), these, rows, speeds, order, size)

    def _add(
        self,
        job: Job,
        these: MemberGroup,
        rows: Rows | None,
        speeds: Array | None,
        order: Sequence[int],
        size: int,
    ) -> None:
        number = len(self.jobs)
        self.jobs.append(job)
        self._members.append((these, rows, speeds))
        self.tasks += [MemberTask(number, tuple(order[k : k + size])) for k in range(0, len(order), size)]

    # --- outcomes ---

    def portion(self, task: MemberTask) -> Portion:
        """Return the members of a task."""
        everyone, rows, speeds = self._members[task.job]
        these = everyone.select(task.places)
        if rows is None or speeds is None:
            return Portion(these)
        return Portion(these, rows.select(these, task.places), speeds[list(task.places)])

    def compute(self, task: MemberTask, is_cancelled: Callable[[], bool] = lambda: False) -> Outcomes:
        """Compute the outcomes of a task; raise `BatchCancelled` if it is cancelled."""
        return self.jobs[task.job].compute(self.portion(task), is_cancelled, self._count, self.notes.append)

    def _count(self, steps: float, nodes: float) -> None:
        with self._lock:
            self.step_time += steps
            self.node_time += nodes


def _speeds(cohort: Cohort, these: MemberGroup, rows: Rows) -> Array:
    """Return `Cohort.speeds` of members; of many, by a plane through those of rows that were computed."""
    if not isinstance(rows.source, Surrogate):
        return cohort.speeds(rows.source)
    points = rows.source.points
    spread = np.ptp(points, axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    known = np.column_stack([np.ones(len(points)), points / spread])
    constant, *slopes = np.linalg.lstsq(known, cohort.speeds(rows.source.rows), rcond=None)[0]
    return np.asarray(constant + these.points(rows.fields) @ (slopes / spread))


def _jump_times(case: SweepCase, inputs: Mapping[str, float]) -> tuple[float, ...]:
    """Return when the inputs of members jump, if these are their own (s)."""
    if not any(path.partition(".")[0] != "gains" for path in inputs):
        return ()
    driven = apply_changes(case, inputs)
    given = [each for each in (driven.torque, driven.motion) if isinstance(each, Mapping)]
    profiles = [profile for each in given for profile in each.values()]
    return tuple(sorted({time for each in profiles for time in getattr(each, "breaks", ())}))


# --- preparation ---


def prepare(
    case: SweepCase,
    members: Sequence[Member],
    measures: Measures | None = None,
    keep_runs: bool = False,
    threads: int | None = None,
    width: SimdWidth | None = None,
) -> SweepTasks:
    """Check all members and group them into tasks.

    Parameters
    ----------
    measures, keep_runs
        As for `SweepTasks`.
    threads : int, optional
        For how many threads tasks are made; by default one for each processor.
    width : SimdWidth, optional
        Of the lanes; by default that of the processor.

    Raises
    ------
    ValueError
        If a member is no robot.
    """
    sweep = SweepTasks(case, MemberOptions.of(case.options, width), measures, keep_runs)
    for group in member_groups(case.robot, members):
        _add_group(sweep, group, threads or processor_count())
    if sweep.structures > 1:
        sweep.notes.append(f"robots of {sweep.structures} structures run apart: they differ by more than numbers")
    return sweep


def processor_count() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _add_group(sweep: SweepTasks, these: MemberGroup, threads: int) -> None:
    """Add members of a group: one cohort, or several where numbers decide the structure (zeros, for example)."""
    case = sweep.case
    _require_inputs(case, these)
    while len(these):
        first = these[0]
        try:
            robot, typical = (robot_with(case.robot, changes) for changes in (first.fixed, first.robot))
        except DESCRIPTION_ERRORS as error:
            raise first.error(error) from None
        cohort = Cohort(case, robot, typical, sweep.options)
        try:
            cohort.look(first)
            if len(these) < MIN_LANE_MEMBERS and sweep.options.width is None:
                raise NotBatchable(f"fewer than {MIN_LANE_MEMBERS} do not pay for lanes")
            cohort.require_lanes(first)
        except ArithmeticError as error:
            sweep.add_single(these[:1], error_text(error))
            these = these[1:]
            continue
        except NotBatchable as reason:
            require_robots(cohort.robot, these)
            sweep.add_single(these, str(reason))
            return
        these = _without_single(sweep, cohort, these)
        if not len(these):
            return
        rows, mine = rows_of(cohort.rows, these)
        if mine.any():
            sweep.add_cohort(cohort, these.select(np.flatnonzero(mine).tolist()), rows, threads)
        else:  # not even the first, of which the cohort was made
            sweep.add_single(these[:1], "its row of numbers cannot be computed")
            mine[0] = True
        these = these.select(np.flatnonzero(~mine).tolist())


def _without_single(sweep: SweepTasks, cohort: Cohort, these: MemberGroup) -> MemberGroup:
    """Return the members whose inputs allow lanes; the others are run one by one."""
    firsts, which = these.equal("inputs")
    reasons = [cohort.why_single(inputs) if inputs else "" for inputs in (these[place].inputs for place in firsts)]
    if not any(reasons):
        return these
    of_member = np.array(reasons)[which]
    for reason in dict.fromkeys(filter(None, reasons)):
        sweep.add_single(these.select(np.flatnonzero(of_member == reason).tolist()), reason)
    return these.select(np.flatnonzero(of_member == "").tolist())


def _require_inputs(case: SweepCase, these: MemberGroup) -> None:
    """Require that the inputs of all members can be made."""
    for each in (these[place] for place in these.equal("inputs").firsts):
        if each.inputs:
            try:
                apply_changes(case, each.inputs)
            except DESCRIPTION_ERRORS as error:
                raise each.error(error) from None


# --- threads ---


def run(sweep: SweepTasks, threads: int | None = None, prompt: bool = False) -> Iterator[Outcome]:
    """Yield the outcomes of members, as `compute` does."""
    with closing(compute(sweep, threads, prompt)) as found:
        for each in found:
            yield from each


def compute(sweep: SweepTasks, threads: int | None = None, prompt: bool = False) -> Generator[Outcomes]:
    """Compute tasks in threads and yield their outcomes as they are done.

    `prompt`: cut tasks so that outcomes come every few seconds. If the iteration is ended early, only unfinished tasks
    are lost.
    """
    workers, stopped = threads or processor_count(), threading.Event()
    tasks = TaskCutter(sweep.tasks, prompt)
    running: dict[Future[tuple[Outcomes, float]], MemberTask] = {}

    def timed(task: MemberTask) -> tuple[Outcomes, float]:
        begin = clock.perf_counter()
        return sweep.compute(task, stopped.is_set), clock.perf_counter() - begin

    with ThreadPoolExecutor(workers, "flexarm sweep") as pool:
        try:
            while True:
                while len(running) <= workers and (task := tasks.next()) is not None:  # no more than begin soon
                    running[pool.submit(timed, task)] = task
                if not running:
                    return
                for one in wait(running, return_when=FIRST_COMPLETED).done:
                    outcomes, seconds = one.result()
                    tasks.record_time(running.pop(one), seconds)
                    yield outcomes
        finally:
            stopped.set()
            pool.shutdown(cancel_futures=True)


class TaskCutter:
    """Tasks in order; cut to what takes a few seconds, if outcomes should come promptly."""

    def __init__(self, tasks: Sequence[MemberTask], prompt: bool) -> None:
        self._tasks, self._prompt = deque(tasks), prompt
        self._times: dict[int, float] = {}  # by job, of a member (s)

    def next(self) -> MemberTask | None:
        """Return the next task; None if there is none."""
        if not self._tasks:
            return None
        task, most = self._tasks.popleft(), FIRST_TASK_SIZE
        if task.job in self._times:
            most = max(TASK_MULTIPLE, int(TASK_DURATION_S / self._times[task.job]) // TASK_MULTIPLE * TASK_MULTIPLE)
        if not self._prompt or len(task) <= most:
            return task
        self._tasks.appendleft(MemberTask(task.job, task.places[most:]))
        return MemberTask(task.job, task.places[:most])

    def record_time(self, task: MemberTask, seconds: float) -> None:
        """Record how long a task took (s)."""
        self._times[task.job] = seconds / len(task)
