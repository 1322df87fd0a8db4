"""What is computed of some members of a cohort: here, in a thread, or on another machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexarm.codegen.library import building
from flexarm.foundation.interrupts import Interrupts
from flexarm.foundation.messages import error_text
from flexarm.foundation.validation import Array
from flexarm.integrators.inputs import Schedule
from flexarm.results import truncation_check
from flexarm.results.checks import validity_warnings
from flexarm.results.run import Run
from flexarm.results.stiffening_check import estimated_errors, exact_instead
from flexarm.simulation.build_run import results
from flexarm.simulation.events import EventDetector
from flexarm.simulation.simulate import recorded_points, run_arguments
from flexarm.sweeps.apply_changes import apply_changes
from flexarm.sweeps.case import Outcome, Outcomes, SweepCase
from flexarm.sweeps.ensemble import second_looks
from flexarm.sweeps.ensemble.batch import Batch, BatchCancelled
from flexarm.sweeps.ensemble.cohort import Cohort
from flexarm.sweeps.ensemble.member_groups import MemberGroup, MemberOfGroup
from flexarm.sweeps.measures import Measures, are_standard, member_outcome, outcome_of_run, standard_measures


@dataclass(frozen=True)
class Portion:
    """Some members, with their rows and speeds (`Cohort.speeds`); without, they are run one by one."""

    members: MemberGroup
    rows: Array | None = None
    speeds: Array | None = None

    def __len__(self) -> int:
        return len(self.members)

    @property
    def numbers(self) -> NDArray[np.intp]:
        """Numbers of the members."""
        return self.members.members.numbers

    def select(self, places: list[int]) -> Portion:
        """Return the members with these indices."""
        rows, speeds = (None if each is None else each[places] for each in (self.rows, self.speeds))
        return Portion(self.members.select(places), rows, speeds)

    @property
    def halves(self) -> tuple[Portion, Portion]:
        """The first and the second half of the members."""
        places = list(range(len(self)))
        return self.select(places[: len(self) // 2]), self.select(places[len(self) // 2 :])


@dataclass(frozen=True)
class Job:
    """Computation of members of one cohort, or of members that are run one by one (no cohort).

    Parameters
    ----------
    measures : mapping or None
        Functions of a run by name; None: the usual ones.
    keep_runs : bool
        True if outcomes have their run.
    checked : frozenset of int
        Numbers of members for which the error by too few shapes is estimated.
    """

    case: SweepCase
    measures: Measures | None
    keep_runs: bool
    cohort: Cohort | None = None
    checked: frozenset[int] = frozenset()

    @property
    def wants_runs(self) -> bool:
        """True if the measures need histories."""
        return self.keep_runs or not are_standard(self.measures)

    def compute(
        self,
        portion: Portion,
        is_cancelled: Callable[[], bool] = lambda: False,
        on_times: Callable[[float, float], Any] = lambda steps, nodes: None,
        on_note: Callable[[str], Any] = lambda sentence: None,
    ) -> Outcomes:
        """Compute the outcomes of members.

        Parameters
        ----------
        is_cancelled : callable
            Returns True once the result is no longer wanted; then `BatchCancelled` is raised.
        on_times : callable
            Called with the times of compiled steps and of the evaluation of their nodes (s).
        on_note : callable
            Called with the reason if members are run one by one after all.
        """

        def run_single(place: int) -> Outcome:
            if is_cancelled():
                raise BatchCancelled
            return member_outcome(self.case, portion.members.members[place], self._measures, self.keep_runs)

        if self.cohort is None or portion.rows is None:
            return Outcomes.of([run_single(place) for place in range(len(portion))])
        try:
            batch = self._batch(self.cohort, portion, self.wants_runs, is_cancelled)
            on_times(batch.step_time, batch.node_time)
            if self.wants_runs:
                return self._from_runs(self.cohort, batch, portion, run_single)
            return self._from_statistics(self.cohort, batch, portion, run_single, is_cancelled)
        except BatchCancelled:
            raise
        except Exception as error:  # whatever fails here, single runs may succeed
            on_note(f"{len(portion)} members run one by one: {type(error).__name__}: {error_text(error)}")
            return Outcomes.of([run_single(place) for place in range(len(portion))])

    def _batch(self, cohort: Cohort, portion: Portion, keeps_nodes: bool, is_cancelled: Callable[[], bool]) -> Batch:
        assert portion.rows is not None
        batch = Batch(cohort, portion.members, portion.rows, portion.speeds, keeps_nodes, is_cancelled)
        batch.run()
        return batch

    @property
    def _measures(self) -> Measures:
        return standard_measures() if self.measures is None else self.measures

    def _from_statistics(
        self,
        cohort: Cohort,
        batch: Batch,
        portion: Portion,
        run_single: Callable[[int], Outcome],
        is_cancelled: Callable[[], bool],
    ) -> Outcomes:
        """Return the outcomes of members whose nodes were evaluated while they ran."""
        found = batch.measures()
        endings = {place: (end.status, end.reason) for place, end in batch.endings.items()}
        values = {name: found[name] for name in self._measures} if found else {}
        warnings = second_looks.batch_warnings(cohort, batch, portion.members, found)
        for place, sentences in self._shape_warnings(cohort, batch, portion, is_cancelled).items():
            warnings[place] = (*warnings.get(place, ()), *sentences)
        # If no member could begin, those that ended at once but did not fail have values all the same.
        single = batch.unstable | (set() if found else _ended_at_start(batch))
        again = {place: run_single(place) for place in sorted(single)}
        repeated = second_looks.repeated_members(batch, cohort.system) - again.keys()
        suspicious = second_looks.suspicion(batch, cohort.system)
        again |= second_looks.second_looks(suspicious, run_single, repeated)
        return Outcomes(portion.numbers, values, endings, warnings).with_single(again)

    def _shape_warnings(
        self, cohort: Cohort, batch: Batch, portion: Portion, is_cancelled: Callable[[], bool]
    ) -> dict[int, list[str]]:
        """Return warnings of too few shapes by index."""
        checked = [place for place in batch.moved if int(portion.numbers[place]) in self.checked]
        stored = None
        if checked and second_looks.needs_nodes(cohort.schedule):
            stored = self._batch(cohort, portion.select(checked), True, is_cancelled)
        return second_looks.shape_warnings(cohort, batch, portion.members, checked, stored)

    def _from_runs(
        self, cohort: Cohort, batch: Batch, portion: Portion, run_single: Callable[[int], Outcome]
    ) -> Outcomes:
        """Return the outcomes of members from their runs."""
        single, unsolved, out = batch.unstable | _ended_at_start(batch), batch.warnings, []
        for place, number in enumerate(portion.numbers.tolist()):
            ending = batch.ending_of(place)
            if place in single:
                out.append(run_single(place))
            elif not ending.time:
                out.append(Outcome(number, {}, "failed", ending.reason))
            else:
                run = member_run(cohort, batch, place, portion.members[place])
                system = batch.members.system(place)
                errors = estimated_errors(run, system)
                if exact_instead(run, system, errors):
                    out.append(run_single(place))  # `simulate` repeats it with exact links
                    continue
                warnings = [*cohort.warnings, *unsolved.get(place, ()), *validity_warnings(run, system)]
                one = outcome_of_run(number, run, self._measures, self.keep_runs)
                out.append(replace(one, warnings=tuple(dict.fromkeys(warnings))))
        return Outcomes.of(out)


def _ended_at_start(batch: Batch) -> set[int]:
    """Return the members that ended where they began, but did not fail."""
    return {place for place, end in batch.endings.items() if not end.time and end.status != "failed"}


def member_run(cohort: Cohort, batch: Batch, place: int, one: MemberOfGroup) -> Run:
    """Return the run of a member of a batch that recorded its nodes."""
    case, options = cohort.case, cohort.options
    with building:  # by one thread at a time: this is Python's work
        system, recorder = batch.members.system(place), batch.recorders[place]
        if not recorder.blocks:
            raise ValueError(batch.ending_of(place).reason)
        driven = apply_changes(case, one.inputs)
        schedule = Schedule(system, driven.torque, driven.motion, driven.loads)
        schedule.look(case.duration, batch.data.q[place], batch.data.v[place])
        plan = replace(options.integration_options(system.robot, case.duration), native=True)  # compiled once for all
        stepper = plan.stepper(cohort.method, schedule)
        single = plan.single_run(stepper, schedule, batch.sampling.times, EventDetector(system, None), Interrupts())
        ending = batch.ending_of(place)
        recorder.statistics.method, single.recorder = single.recorder.statistics.method, recorder
        single.t, single.reason, single.status = ending.time, ending.reason, ending.status
        arguments = run_arguments(schedule, case.loads, plan, options.method, options.sample)
        points = recorded_points(system, options.points)
        more = {"wall_time": 0.0, **vars(batch.stepper.code.build)}
        run = results(single, points, {**arguments, "verify": False}, more)
        truncation_check.record(run, truncation_check.estimate(system, schedule, run))
        return run
