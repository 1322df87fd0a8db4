"""Many members run: grouped by structure and speed, in lanes and threads where they can, one by one where they must.

`prepare` checks all members before any runs and makes a `Sweep`, whose tasks can be computed anywhere and in any order;
`run` computes them in threads, and yields what came of members as it comes.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from flexarm.mechanics.lane_library import Width
from flexarm.sweeps.applied import applied, changed_robot
from flexarm.sweeps.kept import Measures
from flexarm.sweeps.lanes.candidates import Candidate, candidates
from flexarm.sweeps.lanes.cohort import Alone, Cohort
from flexarm.sweeps.lanes.rows import WRONG, require_robots, rows_of
from flexarm.sweeps.lanes.settings import Settings
from flexarm.sweeps.lanes.sweep import Sweep
from flexarm.sweeps.member import Case, Member, Outcome


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


def run(
    sweep: Sweep, threads: int | None = None, progress: Callable[[int, int], None] | None = None
) -> Iterator[Outcome]:
    """What comes of the members, as tasks are done in so many threads, in no certain order.

    progress: called with how many members are done, and how many there are.

    Whoever ends the iteration, by Ctrl-C or otherwise, loses only tasks that are not done.
    """
    workers, stopped, done = threads or processors(), threading.Event(), 0
    waiting = iter(sweep.tasks)
    running: set[Future[list[Outcome]]] = set()
    with ThreadPoolExecutor(workers, "flexarm sweep") as pool:
        try:
            while True:
                for task in waiting:  # no more than are soon begun: what is done need not wait in memory
                    running.add(pool.submit(sweep.compute, task, stopped.is_set))
                    if len(running) > workers:
                        break
                if not running:
                    return
                finished, running = wait(running, return_when=FIRST_COMPLETED)
                for outcome in (each for one in finished for each in one.result()):
                    done += 1
                    yield outcome
                if progress is not None:
                    progress(done, sweep.count)
        finally:
            stopped.set()
            pool.shutdown(cancel_futures=True)


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
        except Alone as why:
            require_robots(cohort, these)
            sweep.add_alone(these, str(why))
            return
        rows, mine = rows_of(cohort, these)
        sweep.add(cohort, [each for each, own in zip(these, mine, strict=True) if own], rows, threads)
        these = [each for each, own in zip(these, mine, strict=True) if not own]


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
