"""Runs of single members, from the steps of their batch."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from flexarm.codegen.lock import building
from flexarm.motion import truncation
from flexarm.motion.events import Watch
from flexarm.motion.interrupts import Interrupts
from flexarm.motion.results import results
from flexarm.motion.run import Run
from flexarm.motion.schedule import Schedule
from flexarm.motion.simulate import asked, recorded_points
from flexarm.sweeps.applied import applied
from flexarm.sweeps.lanes.batch import Batch
from flexarm.sweeps.lanes.candidates import Candidate
from flexarm.sweeps.lanes.cohort import Cohort


def gathered(cohort: Cohort, batch: Batch, place: int, one: Candidate) -> Run:
    """The run of a member of a batch that kept its steps. In one thread at a time: this is Python's work, which
    several would only take from each other's hands."""
    with building:
        return _gathered(cohort, batch, place, one)


def _gathered(cohort: Cohort, batch: Batch, place: int, one: Candidate) -> Run:
    case, settings = cohort.case, cohort.settings
    system = batch.system_of(place)
    driven = applied(case, one.inputs)
    wanted = settings.samples(case.duration, system.nq)
    q, v = batch.crew.q[place], batch.crew.v[place]
    schedule = Schedule(system, driven.torque, driven.motion, driven.loads)
    schedule.look(case.duration, q, v)
    plan = replace(settings.plan(system.robot, case.duration), native=True)  # compiled for the first, found by others
    stepper = plan.stepper(cohort.method, schedule)
    loop = plan.integration_with(stepper, schedule, wanted, Watch(system, None), Interrupts())
    end, recorder = batch.end_of(place), loop.recorder
    assert batch.nodes is not None
    group, lane = batch.arrays.place(place)
    for times, path in batch.nodes.stretches(group):
        if times[0] >= end.time:
            break
        states = path[..., lane]
        if not recorder.blocks:
            recorder.start(states[0])
        recorder.record(times, states, min(end.time, float(times[-1])))
        sizes = np.diff(times)
        recorder.statistics.steps += len(sizes)
        recorder.statistics.smallest_step = min(recorder.statistics.smallest_step, float(sizes.min()))
        recorder.statistics.largest_step = max(recorder.statistics.largest_step, float(sizes.max()))
    if not recorder.blocks:
        raise ValueError(end.reason)
    recorder.finish(end.time, end.state)
    loop.reason, loop.status = end.reason, end.status
    options: dict[str, Any] = asked(schedule, case.loads, plan, settings.method, settings.sample)
    points = recorded_points(system, settings.points)
    run = results(loop, points, {**options, "verify": False}, {"wall_time": 0.0, **vars(batch.stepper.code.build)})
    truncation.record(run, truncation.estimate(system, schedule, run))
    return run
