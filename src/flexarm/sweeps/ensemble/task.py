"""Runs of single members, from the steps of their batch.

Which members of a batch should be looked at closer: something should be known of them that lanes do not tell.

Lanes keep no steps, and describe no member's robot: what they know are the extremes of each coordinate and of the
energies. Where these may be beyond what the model or the integration bears, the member is run by itself, and that run
tells (`results/checks.py`).

What members have in common, and how some of them are computed: here, in a thread, or on another machine.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexarm.codegen.library import building
from flexarm.dynamics.shape_truncation import MAX_TRUNCATION_ERROR, Truncation
from flexarm.dynamics.stiffening import replaceable_links
from flexarm.dynamics.system import System
from flexarm.dynamics.validity import MAX_NODE_TURN, coordinate_limit, deflection_limit, deflection_warnings
from flexarm.foundation.interrupts import Interrupts
from flexarm.foundation.messages import error_text as told_of
from flexarm.foundation.validation import Array
from flexarm.integrators.inputs import Schedule
from flexarm.results import truncation_check
from flexarm.results.checks import MAX_ENERGY_ERROR, validity_warnings
from flexarm.results.energy_balance import appears
from flexarm.results.run import Run
from flexarm.results.stiffening_check import MAX_STIFFENING_ERROR, estimated_errors, exact_instead, lever
from flexarm.results.vibration import FAST_SHARE, MIN_SWING_COUNT
from flexarm.simulation.build_run import results
from flexarm.simulation.events import EventDetector
from flexarm.simulation.simulate import recorded_points, run_arguments
from flexarm.sweeps.apply_changes import applied
from flexarm.sweeps.case import Outcome, Outcomes, SweepCase
from flexarm.sweeps.ensemble.classify import Candidate, Candidates
from flexarm.sweeps.ensemble.cohort import Cohort
from flexarm.sweeps.ensemble.integration import BatchCancelled, MemberBatch
from flexarm.sweeps.ensemble.lanes import ROUGH
from flexarm.sweeps.measures import Measures, are_usual, outcome, told, usual_measures


def gathered(cohort: Cohort, batch: MemberBatch, place: int, one: Candidate) -> Run:
    """The run of a member of a batch that kept its steps. In one thread at a time: this is Python's work, which
    several would only take from each other's hands."""
    with building:
        return _gathered(cohort, batch, place, one)


def _gathered(cohort: Cohort, batch: MemberBatch, place: int, one: Candidate) -> Run:
    case, settings = cohort.case, cohort.settings
    system = batch.system_of(place)
    driven = applied(case, one.inputs)
    wanted = settings.samples(case.duration, system.nq)
    q, v = batch.crew.q[place], batch.crew.v[place]
    schedule = Schedule(system, driven.torque, driven.motion, driven.loads)
    schedule.look(case.duration, q, v)
    plan = replace(settings.plan(system.robot, case.duration), native=True)  # compiled for the first, found by others
    stepper = plan.stepper(cohort.method, schedule)
    loop = plan.integration_with(stepper, schedule, wanted, EventDetector(system, None), Interrupts())
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
    options: dict[str, Any] = run_arguments(schedule, case.loads, plan, settings.method, settings.sample)
    points = recorded_points(system, settings.points)
    run = results(loop, points, {**options, "verify": False}, {"wall_time": 0.0, **vars(batch.stepper.code.build)})
    truncation_check.record(run, truncation_check.estimate(system, schedule, run))
    return run


SEEN = 0.7  # of the worst of the energy's balance, and of swings: lanes look at some steps only
SEEN_PHASE = 0.8  # of the error of second-order links: lanes take the shapes of a typical member, at few places
AT_ONCE = 2  # members: where none of so many has anything to tell, less suspicious ones have not


def suspicion(batch: MemberBatch, system: System) -> Array:
    """By member of a batch that has run, how many times it is beyond what needs no second look."""
    models = {link.name: link.stiffening for link in system.robot.links}
    limits = np.array(
        [coordinate_limit(models[each.link], each.family) if each.family else np.inf for each in system.coordinates]
    )
    arrays, crew = batch.arrays, batch.crew
    furthest = arrays.rows(batch.groups.furthest)
    bent = (furthest / (limits * crew.sizes))[:, system.elastic].max(axis=1, initial=0.0)
    turned = (furthest * crew.turns).sum(axis=1) / MAX_NODE_TURN
    leaked = batch.groups.extremes.leak(crew.push / batch.duration**2) / (SEEN * MAX_ENERGY_ERROR)
    found = np.maximum(np.maximum(bent, phase_errors(batch, system)), turned) / (1 - ROUGH)
    if not batch.reads_nodes:
        found = np.maximum(found, _aliasing(arrays.rows(batch.groups.swings), arrays.rows(batch.groups.fast_swings)))
    return np.asarray(found if appears(system.robot) else np.maximum(found, leaked))


def _aliasing(swings: Array, fast: Array) -> Array:
    """Return how far the oscillations of each member, (members, coordinates), are beyond those that samples show: of
    at least `OFTEN`, a share of `FAST` is faster than a sample (`results/vibration.py`)."""
    share = fast / np.maximum(swings, 1) / (SEEN * FAST_SHARE)
    return np.asarray(np.minimum(share, swings / (SEEN * MIN_SWING_COUNT)).max(axis=1, initial=0.0))


def phase_errors(batch: MemberBatch, system: System) -> Array:
    """Return an upper estimate of the error of second-order links by member, divided by the error that is allowed.

    The estimate of a single run (`results/stiffening_check.py`) takes the deflections of links at more places, and the
    shapes and joints of the member.
    """
    signals, every, bends = batch.crew.signals, batch.groups.phase_errors, batch.groups.largest_bends
    found, peak = np.zeros(len(batch.crew)), np.zeros(len(batch.crew))
    for k, link in enumerate(system.robot.links):
        own = signals.links == k
        if own.any():
            off = np.stack([every[:, own & (signals.axes == axis)].max(axis=1, initial=0.0) for axis in range(2)])
            found = np.maximum(found, lever(system, link) * link.length * np.hypot(*off))
            peak = np.maximum(peak, link.length * bends[:, own].max(axis=1))
    share = np.divide(found, peak, out=np.zeros_like(found), where=peak > 0)
    return np.asarray(share / (SEEN_PHASE * MAX_STIFFENING_ERROR))


def second_looks(
    suspicious: Array, look: Callable[[int], Outcome], required: Collection[int] = ()
) -> dict[int, Outcome]:
    """Run members again by themselves and return their outcomes by place.

    Parameters
    ----------
    suspicious : ndarray, shape (members,)
        How far members are beyond what needs no second look. The most suspicious are run first, as long as some of
        them have warnings.
    look : callable
        Runs a member.
    required : collection of int
        Members that are run in any case.
    """
    found = {place: look(place) for place in required}
    beyond = np.count_nonzero(suspicious > 1)
    order = [place for place in np.argsort(-suspicious, kind="stable")[:beyond].tolist() if place not in found]
    for first in range(0, len(order), AT_ONCE):
        some = {place: look(place) for place in order[first : first + AT_ONCE]}
        found |= some
        if not any(each.doubts for each in some.values()):
            break
    return found


CHECKED_CLOSELY = 16  # members of a portion whose number of shapes is checked if that of one was too small


@dataclass(frozen=True)
class Portion:
    """Some members, with their rows and speeds (`Cohort.speeds`); without, they are run one by one."""

    members: Candidates
    rows: Array | None = None
    speeds: Array | None = None

    def __len__(self) -> int:
        return len(self.members)

    @property
    def numbers(self) -> NDArray[np.intp]:
        return self.members.members.numbers

    @property
    def halves(self) -> tuple[Portion, Portion]:
        half = len(self) // 2
        parts = (slice(None, half), slice(half, None))
        known = [(None if each is None else each[part] for each in (self.rows, self.speeds)) for part in parts]
        first, second = (Portion(self.members[part], *each) for part, each in zip(parts, known, strict=True))
        return first, second

    def some(self, places: list[int]) -> Portion:
        """Return the members at these places."""
        rows, speeds = (None if each is None else each[places] for each in (self.rows, self.speeds))
        return Portion(self.members.some(places), rows, speeds)


@dataclass(frozen=True)
class Job:
    """Of members of one cohort, or of those that run one by one (no cohort).

    measures: by name functions of a Run; None: the usual ones.
    keep_runs: whether outcomes have their Run.
    checked: numbers of members for which the error by too few shapes is estimated.
    """

    case: SweepCase
    measures: Measures | None
    keep_runs: bool
    cohort: Cohort | None = None
    checked: frozenset[int] = frozenset()

    @property
    def wants_runs(self) -> bool:
        return self.keep_runs or not are_usual(self.measures)

    def compute(
        self,
        portion: Portion,
        cancelled: Callable[[], bool] = lambda: False,
        timed: Callable[[float, float], Any] = lambda steps, nodes: None,
        noted: Callable[[str], Any] = lambda sentence: None,
    ) -> Outcomes:
        """What comes of them; `Cancelled` once that says so. `timed` is told how long steps in lanes took, and
        what is read of their nodes (s), `noted` why they were not run there after all."""

        def alone(place: int) -> Outcome:
            if cancelled():
                raise BatchCancelled
            return outcome(self.case, portion.members.members[place], self._measures, self.keep_runs)

        if self.cohort is None or portion.rows is None:
            return Outcomes.of([alone(place) for place in range(len(portion))])
        try:
            batch = self._together(self.cohort, portion, cancelled)
            timed(batch.loop_time, batch.node_time)
            if self.wants_runs:
                return self._of_runs(self.cohort, batch, portion, alone)
            return self._of_lanes(self.cohort, batch, portion, alone, cancelled)
        except BatchCancelled:
            raise
        except Exception as error:  # whoever it is whose run cannot be, the others go on
            noted(f"{len(portion)} members run one by one: {type(error).__name__}: {told_of(error)}")
            return Outcomes.of([alone(place) for place in range(len(portion))])

    def _together(self, cohort: Cohort, portion: Portion, cancelled: Callable[[], bool]) -> MemberBatch:
        assert portion.rows is not None
        batch = cohort.batch(portion.members, portion.rows, self.wants_runs, cancelled, portion.speeds)
        batch.run()
        return batch

    @property
    def _measures(self) -> Measures:
        return usual_measures() if self.measures is None else self.measures

    def _of_lanes(
        self,
        cohort: Cohort,
        batch: MemberBatch,
        portion: Portion,
        alone: Callable[[int], Outcome],
        cancelled: Callable[[], bool],
    ) -> Outcomes:
        """Without their runs."""
        found = batch.measures()
        endings = {place: (end.status, end.reason) for place, end in batch.ends.items()}
        values = {name: found[name] for name in self._measures} if found else {}
        said = _doubts(cohort, batch, portion.members, found)
        for place, sentences in _too_few_shapes(cohort, batch, portion, self.checked, cancelled).items():
            said[place] = (*said.get(place, ()), *sentences)
        made = Outcomes(portion.numbers, values, endings, said)
        # where nobody could begin, those that ended at once and did not fail have values all the same
        again = {place: alone(place) for place in sorted(batch.unstable | (set() if found else _at_once(batch)))}
        again |= second_looks(suspicion(batch, cohort.system), alone, self._repeated(cohort, batch) - again.keys())
        return made.with_single(again)

    def _repeated(self, cohort: Cohort, batch: MemberBatch) -> set[int]:
        """Return members that `simulate` may repeat with exact links: their values change."""
        if not replaceable_links(cohort.system.robot):
            return set()
        diverged = {place for place, end in batch.ends.items() if end.reason.startswith("diverged")}
        return diverged | set(np.flatnonzero(phase_errors(batch, cohort.system) > 1 - ROUGH).tolist())

    def _of_runs(
        self, cohort: Cohort, batch: MemberBatch, portion: Portion, alone: Callable[[int], Outcome]
    ) -> Outcomes:
        again = batch.unstable | _at_once(batch)
        unsolved, out = batch.warnings, []
        for place, number in enumerate(portion.numbers.tolist()):
            end = batch.end_of(place)
            if place in again:
                out.append(alone(place))
            elif not end.time:
                out.append(Outcome(number, {}, "failed", end.reason))
            else:
                run = gathered(cohort, batch, place, portion.members[place])
                system = batch.system_of(place)
                if exact_instead(run, system, estimated_errors(run, system)):
                    out.append(alone(place))  # `simulate` repeats it with exact links
                    continue
                said = [*cohort.doubts, *unsolved.get(place, ()), *validity_warnings(run, system)]
                one = told(number, run, self._measures, self.keep_runs)
                out.append(replace(one, doubts=tuple(dict.fromkeys(said))))
        return Outcomes.of(out)


def _too_few_shapes(
    cohort: Cohort, batch: MemberBatch, portion: Portion, checked: Collection[int], cancelled: Callable[[], bool]
) -> dict[int, list[str]]:
    """Return warnings of too few shapes by place.

    Members whose numbers are in `checked` are compared, and more members if one of these has too few shapes. Where the
    estimate needs the motion of joints or the torques of the run (`_needs_steps`), only the former are compared: they
    run once more, with their steps stored.
    """
    first, closely = _places_to_compare(batch, portion, checked)
    steps: dict[int, tuple[Array, Array]] = {}
    if first and _needs_steps(cohort.schedule):
        steps, closely = _steps_of(cohort, portion, first, cancelled), []
    found: dict[int, Truncation] = {}
    shapes = None
    for places in (first, closely):
        for place in (each for each in places if each not in found):
            found[place] = _truncation(cohort, batch, portion, place, shapes, steps.get(place))
            shapes = found[place].shapes or shapes
        if all((each.error or 0.0) <= MAX_TRUNCATION_ERROR for each in found.values()):
            break
    told = {place: truncation_check.warnings_of(each, batch.end_of(place).time) for place, each in found.items()}
    return {place: sentences for place, sentences in told.items() if sentences}


def _places_to_compare(batch: MemberBatch, portion: Portion, checked: Collection[int]) -> tuple[list[int], list[int]]:
    """Return the places of members that have moved: those in `checked`, and some evenly among all."""
    still = {place for place, end in batch.ends.items() if not end.time or end.status == "failed"}
    moved = [place for place in range(len(portion)) if place not in still]
    evenly = np.unique(np.linspace(0, len(moved) - 1, CHECKED_CLOSELY).astype(int)) if moved else ()
    return [place for place in moved if int(portion.numbers[place]) in checked], [moved[k] for k in evenly]


def _steps_of(
    cohort: Cohort, portion: Portion, places: list[int], cancelled: Callable[[], bool]
) -> dict[int, tuple[Array, Array]]:
    """Run members once more and return times and states of their steps by place."""
    these = portion.some(places)
    assert these.rows is not None
    stored = cohort.batch(these.members, these.rows, True, cancelled, these.speeds)
    stored.run()
    return {place: stored.steps_of(k) for k, place in enumerate(places)}


def _needs_steps(schedule: Schedule) -> bool:
    """Return True if the estimate of too few shapes takes accelerations or torques from the steps of a run."""
    profiles = (*schedule.torques, *schedule.motions.values())
    return schedule.feedback is not None or any(truncation_check.is_function(each) for each in profiles)


def _truncation(
    cohort: Cohort,
    batch: MemberBatch,
    portion: Portion,
    place: int,
    shapes: dict[str, dict[str, int]] | None,
    steps: tuple[Array, Array] | None,
) -> Truncation:
    """Estimate the error of a member; `steps`: times and states of its steps, if they are needed."""
    changes, schedule = portion.members[place].inputs, cohort.schedule
    system, q, v = batch.system_of(place), batch.crew.q[place], batch.crew.v[place]
    with building:
        if changes or cohort.case.loads or schedule.feedback is not None:
            driven = applied(cohort.case, changes)
            schedule = Schedule(system, driven.torque, driven.motion, driven.loads)
            schedule.look(cohort.case.duration, q, v)
        rates = torques = None
        if steps is not None:
            rates = steps[0], steps[1][:, batch.layout.v]
            if schedule.feedback is None:
                times = cohort.settings.samples(cohort.case.duration, system.nq)  # as a run has torques
                torques = times, np.column_stack([each.values(times) for each in schedule.torques])
        inputs = truncation_check.RunInputs(
            system, schedule, batch.end_of(place).time, np.array([q, v]), rates, torques
        )
        return truncation_check.estimate_of(inputs, shapes)


def _at_once(batch: MemberBatch) -> set[int]:
    """Members that ended where they began, but did not fail."""
    return {place for place, end in batch.ends.items() if not end.time and end.status != "failed"}


def _doubts(
    cohort: Cohort, batch: MemberBatch, these: Candidates, values: Mapping[str, Array]
) -> dict[int, tuple[str, ...]]:
    """Return warnings of members by place."""
    moved = np.array([place not in batch.ends or batch.ends[place].time > 0 for place in range(len(these))], dtype=bool)
    found = dict.fromkeys(np.flatnonzero(moved).tolist(), cohort.doubts) if cohort.doubts else {}
    for place, said in batch.warnings.items():
        found[place] = (*found.get(place, ()), *said)
    for k, link in enumerate(cohort.system.robot.links) if values else ():
        if (most := deflection_limit(link)) < 1:
            bent = values["peak_deflection"][:, k] / these.lengths(k, link)
            for place in np.flatnonzero(moved & (bent > most)).tolist():
                found[place] = (
                    *found.get(place, ()),
                    *deflection_warnings(cohort.system.robot, link, float(bent[place])),
                )
    return found
