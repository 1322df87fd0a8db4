"""The ensemble in flexarm: one by one, in lanes, in threads, and by `fa.sweep`."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

import flexarm as fa
from ensemble_set.arms import SAMPLE, Checked, Grid
from flexarm.sweeps import prepare as preparation
from flexarm.sweeps.case import SweepCase
from flexarm.sweeps.ensemble import tasks
from flexarm.sweeps.ensemble.batch import Batch
from flexarm.sweeps.ensemble.job import member_run
from flexarm.sweeps.ensemble.tasks import SweepTasks
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
    sweep = tasks.prepare(case, these, threads=threads)
    ready = time.perf_counter()
    count = sum(len(each) for each in tasks.compute(sweep, threads))
    end = time.perf_counter()
    return sweep.step_time / count, sweep.node_time / count, (end - ready) / count, (end - begin) / count


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
    loops = (sum(each.step_time for each in sweeps), sum(each.node_time for each in sweeps))
    return tuple(each / len(grid) for each in (whole, *loops))


@contextlib.contextmanager
def catching() -> Iterator[list[SweepTasks]]:
    """Yield the tasks of sweeps that are prepared meanwhile: a Dataset does not have the times of their loops."""
    prepare, found = preparation.prepare_tasks, list[SweepTasks]()

    def noticing(*given: Any, **named: Any) -> SweepTasks:
        found.append(prepare(*given, **named))
        return found[-1]

    preparation.prepare_tasks = noticing
    try:
        yield found
    finally:
        preparation.prepare_tasks = prepare


def tried(case: SweepCase, checked: Checked) -> Result:
    """Tips of members that are checked, in the company in which `fa.sweep` runs them: in the tasks that have one."""
    begin = time.perf_counter()
    sweep = tasks.prepare(case, checked.grid.members)
    tips, count, loops, wanted = {}, 0, 0.0, set(checked.numbers)
    for task in sweep.tasks:
        portion, cohort = sweep.portion(task), sweep.jobs[task.job].cohort
        places = [k for k, number in enumerate(portion.numbers.tolist()) if number in wanted]
        if not places:
            continue
        if cohort is None or portion.rows is None:
            raise Failed("members do not run in lanes")
        batch = Batch(cohort, portion.members, portion.rows, portion.speeds, keeps_nodes=True)
        batch.run()
        count, loops = count + len(task), loops + batch.step_time
        for place in places:
            run = member_run(cohort, batch, place, portion.members[place])
            if run.status != "completed":
                raise Failed(f"a member {run.status}: {run.reason}")
            tips[int(portion.numbers[place])] = run.array("tip")
    track = np.stack([tips[number] for number in checked.numbers], axis=1)
    times = SAMPLE * np.arange(len(track))
    return Result(times, track, loops / count, (time.perf_counter() - begin) / count, 0)
