"""What members have in common, and how some of them are computed: here, in a thread, or on another machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from flexarm.foundation.numbers import Array
from flexarm.foundation.sentences import told as told_of
from flexarm.mechanics.reach import bends_far, reach
from flexarm.motion.validity import doubts
from flexarm.sweeps.kept import Measures, are_usual, usual_measures
from flexarm.sweeps.lanes.batch import Batch, Cancelled
from flexarm.sweeps.lanes.candidates import Candidate
from flexarm.sweeps.lanes.cohort import Cohort
from flexarm.sweeps.lanes.runs import gathered
from flexarm.sweeps.lanes.suspicion import second_looks, suspicion
from flexarm.sweeps.member import Case, Outcome
from flexarm.sweeps.one_by_one import outcome, told


@dataclass(frozen=True)
class Portion:
    """Some members, with their rows; without, they are run one by one."""

    members: Sequence[Candidate]
    rows: Array | None = None

    def __len__(self) -> int:
        return len(self.members)

    @property
    def halves(self) -> tuple[Portion, Portion]:
        half = len(self) // 2
        rows = (None, None) if self.rows is None else (self.rows[:half], self.rows[half:])
        return Portion(self.members[:half], rows[0]), Portion(self.members[half:], rows[1])


@dataclass(frozen=True)
class Job:
    """Of members of one cohort, or of those that run one by one (no cohort).

    measures: by name functions of a Run; None: the usual ones.
    keep_runs: whether outcomes have their Run.
    """

    case: Case
    measures: Measures | None
    keep_runs: bool
    cohort: Cohort | None = None

    @property
    def wants_runs(self) -> bool:
        return self.keep_runs or not are_usual(self.measures)

    def compute(
        self,
        portion: Portion,
        cancelled: Callable[[], bool] = lambda: False,
        timed: Callable[[float], Any] = lambda seconds: None,
        noted: Callable[[str], Any] = lambda sentence: None,
    ) -> list[Outcome]:
        """What comes of them; `Cancelled` once that says so. `timed` is told how long steps in lanes took (s), `noted`
        why they were not run there after all."""

        def alone(place: int) -> Outcome:
            if cancelled():
                raise Cancelled
            return outcome(self.case, portion.members[place].member, self._measures, self.keep_runs)

        if self.cohort is None or portion.rows is None:
            return [alone(place) for place in range(len(portion))]
        try:
            return self._together(portion, cancelled, timed, alone)
        except Cancelled:
            raise
        except Exception as error:  # whoever it is whose run cannot be, the others go on
            noted(f"{len(portion)} members run one by one: {type(error).__name__}: {told_of(error)}")
            return [alone(place) for place in range(len(portion))]

    def _together(
        self,
        portion: Portion,
        cancelled: Callable[[], bool],
        timed: Callable[[float], Any],
        alone: Callable[[int], Outcome],
    ) -> list[Outcome]:
        assert self.cohort is not None
        assert portion.rows is not None
        batch = self.cohort.batch(portion.members, portion.rows, self.wants_runs, cancelled)
        batch.run()
        timed(batch.loop_time)
        found = self._of_runs(batch, portion) if self.wants_runs else self._of_lanes(batch, portion)
        at_once = {place for place, end in batch.ends.items() if not end.time and end.status != "failed"}
        again = {place: alone(place) for place in batch.stragglers | (at_once if self.wants_runs else set())}
        if not self.wants_runs:
            again |= second_looks(found, suspicion(batch, self.cohort.system), alone)
        return [again.get(place, each) for place, each in enumerate(found)]

    @property
    def _measures(self) -> Measures:
        return usual_measures() if self.measures is None else self.measures

    def _of_lanes(self, batch: Batch, portion: Portion) -> list[Outcome]:
        """Without their runs."""
        assert self.cohort is not None
        links = [(k, link, reach(link)) for k, link in enumerate(self.cohort.system.robot.links) if reach(link) < 1]
        out = []
        for place, values in enumerate(batch.measures()):
            number, end = portion.members[place].member.number, batch.ends[place]
            if end.status == "failed":
                out.append(Outcome(number, {}, "failed", end.reason))
                continue
            said = [*self.cohort.doubts, *end.doubts]
            for k, link, most in links:
                bent = float(values["peak_deflection"][k]) / portion.members[place].length(k, link)
                if bent > most:
                    said += bends_far(link, bent)
            reason = "" if end.status == "completed" else end.reason
            asked = {name: values[name] for name in self._measures}
            out.append(Outcome(number, asked, end.status, reason, doubts=tuple(said)))
        return out

    def _of_runs(self, batch: Batch, portion: Portion) -> list[Outcome]:
        assert self.cohort is not None
        out = []
        for place, one in enumerate(portion.members):
            number, end = one.member.number, batch.ends[place]
            if place in batch.stragglers or not end.time:
                out.append(Outcome(number, {}, "failed", end.reason))
                continue
            run = gathered(self.cohort, batch, place, one)
            said = [*self.cohort.doubts, *end.doubts, *doubts(run, batch.system_of(place))]
            out.append(replace(told(number, run, self._measures, self.keep_runs), doubts=tuple(dict.fromkeys(said))))
        return out
