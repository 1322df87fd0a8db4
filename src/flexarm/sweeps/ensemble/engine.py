"""Many members run: grouped by structure and speed, in lanes and threads where they can, one by one where they must.

`prepare` checks all members before any runs and makes a `Sweep`, whose tasks can be computed anywhere and in any order;
`computed` does so in threads, and yields what came of each task as it comes; `run` the same member by member.
"""

from __future__ import annotations

import os
import threading
import time as clock
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing

import numpy as np

from flexarm.codegen.simd_library import Width
from flexarm.foundation.messages import error_text
from flexarm.sweeps.apply_changes import applied, changed_robot
from flexarm.sweeps.case import Member, Outcome, Outcomes, SweepCase
from flexarm.sweeps.ensemble.classify import Candidates, candidates
from flexarm.sweeps.ensemble.cohort import Cohort, NotBatchable
from flexarm.sweeps.ensemble.member_setup import Settings
from flexarm.sweeps.ensemble.task_queue import WRONG, MemberTask, TaskQueue, require_robots, rows_of
from flexarm.sweeps.measures import Measures

PROMPT = 2.0  # s that a task should take, where outcomes are kept as they come
FEWEST_IN_LANES = 4  # members of a cohort: fewer are run before their code for lanes would be compiled
FIRST, GROUP = 64, 8  # members of a task of which nothing is known yet; the most lanes, of which tasks are multiples


def prepare(
    case: SweepCase,
    members: Sequence[Member],
    measures: Measures | None = None,
    keep_runs: bool = False,
    threads: int | None = None,
    width: Width | None = None,
) -> TaskQueue:
    """Members checked and grouped; a ValueError tells which of them can be no robot, and why.

    measures: by name functions of a Run; None: the usual ones.
    keep_runs: whether outcomes have their Run.
    threads: for how many tasks are made; None: for all processors.
    width: of the lanes; None: what the processor has.
    """
    sweep = TaskQueue(case, Settings.of(case.options, width), measures, keep_runs)
    for group in candidates(case.robot, members):
        _add_group(sweep, group, threads or processors())
    if sweep.structures > 1:
        sweep.notes.append(f"robots of {sweep.structures} structures run apart: they differ by more than numbers")
    return sweep


def run(sweep: TaskQueue, threads: int | None = None, prompt: bool = False) -> Iterator[Outcome]:
    """What comes of single members, as `computed` has it."""
    with closing(computed(sweep, threads, prompt)) as found:
        for each in found:
            yield from each


def computed(sweep: TaskQueue, threads: int | None = None, prompt: bool = False) -> Generator[Outcomes]:
    """What comes of the members, as tasks are done in so many threads, in no certain order.

    prompt: whether tasks are cut so that outcomes come every few seconds, for those who keep them.

    Whoever ends the iteration, by Ctrl-C or otherwise, loses only tasks that are not done.
    """
    workers, stopped = threads or processors(), threading.Event()
    tasks = TaskCutter(sweep.tasks, prompt)
    running: dict[Future[tuple[Outcomes, float]], MemberTask] = {}

    def timed(task: MemberTask) -> tuple[Outcomes, float]:
        begin = clock.perf_counter()
        return sweep.compute(task, stopped.is_set), clock.perf_counter() - begin

    with ThreadPoolExecutor(workers, "flexarm sweep") as pool:
        try:
            while True:
                while len(running) <= workers and (task := tasks.next()) is not None:  # no more than are soon begun
                    running[pool.submit(timed, task)] = task
                if not running:
                    return
                for one in wait(running, return_when=FIRST_COMPLETED).done:
                    outcomes, seconds = one.result()
                    tasks.took(running.pop(one), seconds)
                    yield outcomes
        finally:
            stopped.set()
            pool.shutdown(cancel_futures=True)


class TaskCutter:
    """Tasks that wait for a thread; cut to what takes a few seconds, where outcomes should come promptly."""

    def __init__(self, tasks: Sequence[MemberTask], prompt: bool) -> None:
        self._tasks, self._prompt = deque(tasks), prompt
        self._paces: dict[int, float] = {}  # by job, seconds a member

    def next(self) -> MemberTask | None:
        if not self._tasks:
            return None
        task = self._tasks.popleft()
        most = (
            FIRST if task.job not in self._paces else max(GROUP, int(PROMPT / self._paces[task.job]) // GROUP * GROUP)
        )
        if not self._prompt or len(task) <= most:
            return task
        self._tasks.appendleft(MemberTask(task.job, task.places[most:]))
        return MemberTask(task.job, task.places[:most])

    def took(self, task: MemberTask, seconds: float) -> None:
        self._paces[task.job] = seconds / len(task)


def processors() -> int:
    """On which this process may run."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _add_group(sweep: TaskQueue, these: Candidates, threads: int) -> None:
    """One more cohort, or several where numbers decide the structure (a zero may be none)."""
    case = sweep.case
    _require_inputs(case, these)
    while len(these):
        first = these[0]
        try:
            robot, typical = (changed_robot(case.robot, changes) for changes in (first.fixed, first.robot))
        except WRONG as error:
            raise first.about(error) from None
        cohort = Cohort(case, robot, typical, sweep.settings)
        try:
            cohort.look(first)
            if len(these) < FEWEST_IN_LANES and sweep.settings.width is None:
                raise NotBatchable(f"fewer than {FEWEST_IN_LANES} do not pay for lanes")
            cohort.require_lanes(first)
        except ArithmeticError as why:
            sweep.add_alone(these[:1], error_text(why))
            these = these[1:]
            continue
        except NotBatchable as why:
            require_robots(cohort, these)
            sweep.add_alone(these, str(why))
            return
        these = _without_strays(sweep, cohort, these)
        if not len(these):
            return
        rows, mine = rows_of(cohort, these)
        if mine.any():
            sweep.add(cohort, these.some(np.flatnonzero(mine).tolist()), rows, threads)
        else:  # not even the first, which the cohort was made of
            sweep.add_alone(these[:1], "its row of numbers cannot be computed")
            mine[0] = True
        these = these.some(np.flatnonzero(~mine).tolist())


def _without_strays(sweep: TaskQueue, cohort: Cohort, these: Candidates) -> Candidates:
    """Members that share what drives them with the cohort, but for numbers; the others are run one by one."""
    firsts, which = these.alike("inputs")
    reasons = [cohort.why_stray(inputs) if inputs else "" for inputs in (these[place].inputs for place in firsts)]
    if not any(reasons):
        return these
    mine, strays = list[int](), dict[str, list[int]]()
    for place, kind in enumerate(which.tolist()):
        (strays.setdefault(reasons[kind], []) if reasons[kind] else mine).append(place)
    for why, some in strays.items():
        sweep.add_alone(these.some(some), why)
    return these.some(mine)


def _require_inputs(case: SweepCase, these: Candidates) -> None:
    """All that drives them can be made."""
    for each in (these[place] for place in these.alike("inputs").firsts):
        if each.inputs:
            try:
                applied(case, each.inputs)
            except WRONG as error:
                raise each.about(error) from None
