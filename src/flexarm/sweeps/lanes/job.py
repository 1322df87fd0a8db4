"""What members have in common, and how some of them are computed: here, in a thread, or on another machine."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexarm.codegen.lock import building
from flexarm.foundation.numbers import Array
from flexarm.foundation.sentences import told as told_of
from flexarm.mechanics.reach import bends_far, reach
from flexarm.mechanics.stiffening import replaceable_links
from flexarm.mechanics.truncation import MAX_ERROR, Truncation
from flexarm.motion import truncation
from flexarm.motion.schedule import Schedule
from flexarm.motion.stiffening import estimated_errors, exact_instead
from flexarm.motion.validity import doubts
from flexarm.sweeps.applied import applied
from flexarm.sweeps.kept import Measures, are_usual, usual_measures
from flexarm.sweeps.lanes.batch import Batch, Cancelled
from flexarm.sweeps.lanes.candidates import Candidates
from flexarm.sweeps.lanes.cohort import Cohort
from flexarm.sweeps.lanes.crew import ROUGH
from flexarm.sweeps.lanes.runs import gathered
from flexarm.sweeps.lanes.suspicion import phase_errors, second_looks, suspicion
from flexarm.sweeps.member import Case, Outcome
from flexarm.sweeps.one_by_one import outcome, told
from flexarm.sweeps.outcomes import Outcomes

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

    case: Case
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
                raise Cancelled
            return outcome(self.case, portion.members.members[place], self._measures, self.keep_runs)

        if self.cohort is None or portion.rows is None:
            return Outcomes.of([alone(place) for place in range(len(portion))])
        try:
            batch = self._together(self.cohort, portion, cancelled)
            timed(batch.loop_time, batch.node_time)
            if self.wants_runs:
                return self._of_runs(self.cohort, batch, portion, alone)
            return self._of_lanes(self.cohort, batch, portion, alone, cancelled)
        except Cancelled:
            raise
        except Exception as error:  # whoever it is whose run cannot be, the others go on
            noted(f"{len(portion)} members run one by one: {type(error).__name__}: {told_of(error)}")
            return Outcomes.of([alone(place) for place in range(len(portion))])

    def _together(self, cohort: Cohort, portion: Portion, cancelled: Callable[[], bool]) -> Batch:
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
        batch: Batch,
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

    def _repeated(self, cohort: Cohort, batch: Batch) -> set[int]:
        """Return members that `simulate` may repeat with exact links: their values change."""
        if not replaceable_links(cohort.system.robot):
            return set()
        diverged = {place for place, end in batch.ends.items() if end.reason.startswith("diverged")}
        return diverged | set(np.flatnonzero(phase_errors(batch, cohort.system) > 1 - ROUGH).tolist())

    def _of_runs(self, cohort: Cohort, batch: Batch, portion: Portion, alone: Callable[[int], Outcome]) -> Outcomes:
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
                said = [*cohort.doubts, *unsolved.get(place, ()), *doubts(run, system)]
                one = told(number, run, self._measures, self.keep_runs)
                out.append(replace(one, doubts=tuple(dict.fromkeys(said))))
        return Outcomes.of(out)


def _too_few_shapes(
    cohort: Cohort, batch: Batch, portion: Portion, checked: Collection[int], cancelled: Callable[[], bool]
) -> dict[int, list[str]]:
    """Return warnings of too few shapes by place.

    Members whose numbers are in `checked` are compared, and more members if one of these has too few shapes. Where the
    estimate needs the motion of joints or the torques of the run (`_needs_steps`), only the former are compared: they
    run once more, with their steps stored.
    """
    ends = {place: batch.end_of(place) for place in range(len(portion))}
    moved = [place for place, end in ends.items() if end.time and end.status != "failed"]
    found: dict[int, Truncation] = {}
    shapes, first = None, [place for place in moved if int(portion.numbers[place]) in checked]
    evenly = np.unique(np.linspace(0, len(moved) - 1, CHECKED_CLOSELY).astype(int)) if moved else ()
    closely = [moved[k] for k in evenly]
    stored, again = None, {place: k for k, place in enumerate(first)}
    if first and _needs_steps(cohort.schedule):
        closely, these = [], portion.some(first)
        assert these.rows is not None
        stored = cohort.batch(these.members, these.rows, True, cancelled, these.speeds)
        stored.run()
    for places in (first, closely):
        for place in (each for each in places if each not in found):
            steps = None if stored is None else stored.steps_of(again[place])
            found[place] = _truncation(cohort, batch, portion, place, shapes, steps)
            shapes = found[place].shapes or shapes
        if all((each.error or 0.0) <= MAX_ERROR for each in found.values()):
            break
    told = {place: truncation.warnings_of(each, ends[place].time) for place, each in found.items()}
    return {place: sentences for place, sentences in told.items() if sentences}


def _needs_steps(schedule: Schedule) -> bool:
    """Return True if the estimate of too few shapes takes accelerations or torques from the steps of a run."""
    profiles = (*schedule.torques, *schedule.motions.values())
    return schedule.feedback is not None or any(truncation.is_function(each) for each in profiles)


def _truncation(
    cohort: Cohort,
    batch: Batch,
    portion: Portion,
    place: int,
    shapes: dict[str, dict[str, int]] | None,
    steps: tuple[Array, Array] | None,
) -> Truncation:
    """Estimate the error of a member; `steps`: times and states of its steps, if they are needed."""
    driven = applied(cohort.case, portion.members[place].inputs)
    system, q, v = batch.system_of(place), batch.crew.q[place], batch.crew.v[place]
    with building:
        schedule = Schedule(system, driven.torque, driven.motion, driven.loads)
        schedule.look(cohort.case.duration, q, v)
        rates = torques = None
        if steps is not None:
            rates = steps[0], steps[1][:, batch.layout.v]
            if schedule.feedback is None:
                times = cohort.settings.samples(cohort.case.duration, system.nq)  # as a run has torques
                torques = times, np.column_stack([each.values(times) for each in schedule.torques])
        inputs = truncation.RunInputs(system, schedule, batch.end_of(place).time, np.array([q, v]), rates, torques)
        return truncation.estimate_of(inputs, shapes)


def _at_once(batch: Batch) -> set[int]:
    """Members that ended where they began, but did not fail."""
    return {place for place, end in batch.ends.items() if not end.time and end.status != "failed"}


def _doubts(cohort: Cohort, batch: Batch, these: Candidates, values: Mapping[str, Array]) -> dict[int, tuple[str, ...]]:
    """Return warnings of members by place."""
    moved = np.array([place not in batch.ends or batch.ends[place].time > 0 for place in range(len(these))], dtype=bool)
    found = dict.fromkeys(np.flatnonzero(moved).tolist(), cohort.doubts) if cohort.doubts else {}
    for place, said in batch.warnings.items():
        found[place] = (*found.get(place, ()), *said)
    for k, link in enumerate(cohort.system.robot.links) if values else ():
        if (most := reach(link)) < 1:
            bent = values["peak_deflection"][:, k] / these.lengths(k, link)
            for place in np.flatnonzero(moved & (bent > most)).tolist():
                found[place] = (*found.get(place, ()), *bends_far(cohort.system.robot, link, float(bent[place])))
    return found
