"""Many members run: grouped by structure and speed, in lanes and threads where they can, one by one where they must.

`prepare` checks all members before any runs and makes a `Sweep`, whose tasks can be computed anywhere and in any order;
`run` computes them in threads, and yields what came of members as it comes.
"""

from __future__ import annotations

import os
import threading
import time as clock
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from flexarm.foundation.sentences import told
from flexarm.mechanics.lane_library import Width
from flexarm.sweeps.applied import applied, changed_robot
from flexarm.sweeps.kept import Measures
from flexarm.sweeps.lanes.candidates import Candidate, candidates
from flexarm.sweeps.lanes.cohort import Alone, Cohort
from flexarm.sweeps.lanes.rows import WRONG, require_robots, rows_of
from flexarm.sweeps.lanes.settings import Settings
from flexarm.sweeps.lanes.sweep import Sweep, Task
from flexarm.sweeps.member import Case, Member, Outcome

PROMPT = 2.0  # s that a task should take, where outcomes are kept as they come
FIRST, FEWEST = 64, 8  # members of a task of which nothing is known yet, and of any


def prepare(
    case: Case,
    members: Sequence[Member],
    measures: Measures | None = None,
    keep_runs: bool = False,
    threads: int | None = None,
    width: Width | None = None,
) -> Sweep:
    """Members checked and grouped; a ValueError tells which of them can be no robot, and why.

    measures: by name functions of a Run; None: the usual ones.
    keep_runs: whether outcomes have their Run.
    threads: for how many tasks are made; None: for all processors.
    width: of the lanes; None: what the processor has.
    """
    sweep = Sweep(case, Settings.of(case.options, width), measures, keep_runs)
    for group in candidates(case.robot, members):
        _add_group(sweep, group, threads or processors())
    if sweep.structures > 1:
        sweep.notes.append(f"robots of {sweep.structures} structures run apart: they differ by more than numbers")
    return sweep


def run(sweep: Sweep, threads: int | None = None, prompt: bool = False) -> Iterator[Outcome]:
    """What comes of the members, as tasks are done in so many threads, in no certain order.

    prompt: whether tasks are cut so that outcomes come every few seconds, for those who keep them.

    Whoever ends the iteration, by Ctrl-C or otherwise, loses only tasks that are not done.
    """
    workers, stopped = threads or processors(), threading.Event()
    tasks = Waiting(sweep.tasks, prompt)
    running: dict[Future[tuple[list[Outcome], float]], Task] = {}

    def timed(task: Task) -> tuple[list[Outcome], float]:
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
                    yield from outcomes
        finally:
            stopped.set()
            pool.shutdown(cancel_futures=True)


class Waiting:
    """Tasks that wait for a thread; cut to what takes a few seconds, where outcomes should come promptly."""

    def __init__(self, tasks: Sequence[Task], prompt: bool) -> None:
        self._tasks, self._prompt = deque(tasks), prompt
        self._paces: dict[int, float] = {}  # by job, seconds a member

    def next(self) -> Task | None:
        if not self._tasks:
            return None
        task = self._tasks.popleft()
        most = FIRST if task.job not in self._paces else max(FEWEST, int(PROMPT / self._paces[task.job]))
        if not self._prompt or len(task) <= most:
            return task
        self._tasks.appendleft(Task(task.job, task.places[most:]))
        return Task(task.job, task.places[:most])

    def took(self, task: Task, seconds: float) -> None:
        self._paces[task.job] = seconds / len(task)


def processors() -> int:
    """On which this process may run."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _add_group(sweep: Sweep, these: Sequence[Candidate], threads: int) -> None:
    """One more cohort, or several where numbers decide the structure (a zero may be none)."""
    case = sweep.case
    _require_inputs(case, these)
    while these:
        first = these[0]
        try:
            robot, typical = (changed_robot(case.robot, changes) for changes in (first.fixed, first.robot))
        except WRONG as error:
            raise first.about(error) from None
        cohort = Cohort(case, robot, typical, sweep.settings)
        try:
            cohort.look(first)
            cohort.require_lanes(first)
        except ArithmeticError as why:
            sweep.add_alone([first], told(why))
            these = these[1:]
            continue
        except Alone as why:
            require_robots(cohort, these)
            sweep.add_alone(these, str(why))
            return
        these = _without_strays(sweep, cohort, these)
        if not these:
            return
        rows, mine = rows_of(cohort, these)
        sweep.add(cohort, [each for each, own in zip(these, mine, strict=True) if own], rows, threads)
        others = [each for each, own in zip(these, mine, strict=True) if not own]
        if len(others) == len(these):  # not even the first, which the cohort was made of
            sweep.add_alone(others[:1], "its row of numbers cannot be computed")
            others = others[1:]
        these = others


def _without_strays(sweep: Sweep, cohort: Cohort, these: Sequence[Candidate]) -> list[Candidate]:
    """Members that share what drives them with the cohort, but for numbers; the others are run one by one."""
    found: dict[tuple[object, ...], str] = {}
    strays: dict[str, list[Candidate]] = {}
    mine = []
    for each in these:
        key = tuple(sorted(each.inputs.items()))
        if key not in found:
            found[key] = cohort.why_stray(each.inputs) if key else ""
        if found[key]:
            strays.setdefault(found[key], []).append(each)
        else:
            mine.append(each)
    for why, some in strays.items():
        sweep.add_alone(some, why)
    return mine


def _require_inputs(case: Case, these: Sequence[Candidate]) -> None:
    """All that drives them can be made."""
    seen = set()
    for each in these:
        key = tuple(each.inputs.items())
        if key and key not in seen:
            seen.add(key)
            try:
                applied(case, each.inputs)
            except WRONG as error:
                raise each.about(error) from None
