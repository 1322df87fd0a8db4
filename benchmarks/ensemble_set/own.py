"""The ensemble in flexarm: one by one, in lanes, in threads, and as users call it."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

import flexarm as fa
from ensemble_set.arms import SAMPLE, Checked, Grid
from flexarm.sweeps.case import SweepCase
from flexarm.sweeps.ensemble import engine
from flexarm.sweeps.ensemble.task import gathered
from flexarm.sweeps.ensemble.task_queue import TaskQueue
from peers.result import Failed, Result


def one_by_one(case: SweepCase, grid: Grid) -> tuple[float, float]:
    """Seconds a member: of the loop, and whole."""
    begin, loops = time.perf_counter(), 0.0
    for each in grid.members:
        run = fa.simulate(case.robot.with_(each.changes), case.duration, torque=case.torque, **case.options)
        loops += run.statistics["loop_time"]
    return loops / len(grid), (time.perf_counter() - begin) / len(grid)


def together(case: SweepCase, grid: Grid, threads: int) -> tuple[float, ...]:
    """Seconds a member inside the engine: of the loops of all threads (steps, and over their nodes), of the run, and
    with its preparation."""
    these = grid.members
    begin = time.perf_counter()
    sweep = engine.prepare(case, these, threads=threads)
    ready = time.perf_counter()
    count = sum(len(each) for each in engine.computed(sweep, threads))
    end = time.perf_counter()
    return sweep.loop_time / count, sweep.node_time / count, (end - ready) / count, (end - begin) / count


def swept(case: SweepCase, grid: Grid, threads: int | None = None, **options: Any) -> tuple[float, ...]:
    """Seconds a member of `fa.sweep`, from its call to its Dataset: whole, and in the loops of all threads (steps, and
    over their nodes)."""
    with catching() as sweeps:
        begin = time.perf_counter()
        found = fa.sweep(
            case.robot, grid.over, case.duration, torque=case.torque, threads=threads, **case.options, **options
        )
        whole = time.perf_counter() - begin
    if found.attrs["status"] != "completed" or (found["status"] != "completed").any():
        raise Failed(f"{found.attrs['status']}: {found.attrs['summary']}")
    loops = (sum(each.loop_time for each in sweeps), sum(each.node_time for each in sweeps))
    return tuple(each / len(grid) for each in (whole, *loops))


@contextlib.contextmanager
def catching() -> Iterator[list[TaskQueue]]:
    """What the engine prepares meanwhile: a Dataset does not tell how long loops took."""
    prepare, found = engine.prepare, list[TaskQueue]()

    def noticing(*given: Any, **named: Any) -> TaskQueue:
        found.append(prepare(*given, **named))
        return found[-1]

    engine.prepare = noticing
    try:
        yield found
    finally:
        engine.prepare = prepare


def tried(case: SweepCase, checked: Checked) -> Result:
    """Tips of members that are checked, in the company in which `fa.sweep` runs them: in the tasks that have one."""
    begin = time.perf_counter()
    sweep = engine.prepare(case, checked.grid.members, threads=engine.processors())
    tips, count, loops, wanted = {}, 0, 0.0, set(checked.numbers)
    for task in sweep.tasks:
        portion, cohort = sweep.portion(task), sweep.jobs[task.job].cohort
        places = [k for k, number in enumerate(portion.numbers.tolist()) if number in wanted]
        if not places:
            continue
        if cohort is None or portion.rows is None:
            raise Failed("members do not run in lanes")
        batch = cohort.batch(portion.members, portion.rows, keep=True)
        batch.run()
        count, loops = count + len(task), loops + batch.loop_time
        for place in places:
            run = gathered(cohort, batch, place, portion.members[place])
            if run.status != "completed":
                raise Failed(f"a member {run.status}: {run.reason}")
            tips[int(portion.numbers[place])] = run.array("tip")
    track = np.stack([tips[number] for number in checked.numbers], axis=1)
    times = SAMPLE * np.arange(len(track))
    return Result(times, track, loops / count, (time.perf_counter() - begin) / count, 0)
