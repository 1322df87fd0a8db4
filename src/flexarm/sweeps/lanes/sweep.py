"""Members that are checked, grouped and ready to run: the tasks of a sweep, and what comes of each."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from flexarm.mechanics.lane_library import widest
from flexarm.mechanics.reach import bends_far, reach
from flexarm.motion.run import Run
from flexarm.robot import Link
from flexarm.sweeps.kept import usual_measures
from flexarm.sweeps.lanes.batch import Batch, Cancelled
from flexarm.sweeps.lanes.candidates import Candidate
from flexarm.sweeps.lanes.changes import changed_inputs
from flexarm.sweeps.lanes.cohort import Cohort
from flexarm.sweeps.lanes.rows import Rows
from flexarm.sweeps.lanes.runs import gathered
from flexarm.sweeps.lanes.settings import Settings
from flexarm.sweeps.member import Case, Member, Outcome
from flexarm.sweeps.one_by_one import outcome

LARGEST = 256  # members of a batch: more of them share the time that Python takes
OF_RUNS = 64  # where steps are kept: they take memory
ALONE = 8  # members of a task that are run one by one

Measures = Mapping[str, Callable[[Run], Any]]


@dataclass(frozen=True)
class Task:
    """Members that are computed together: the place of their cohort (None: one by one), and theirs in it."""

    cohort: int | None
    places: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.places)


class Sweep:
    """`tasks` are computed by `compute`, in any order and any thread; `notes` say how members are run, `loop_time` how
    long all threads together were in the steps of lanes (s).

    measures: by name functions of a Run; None: those of `sweeps/lanes/measures.py`.
    keep_runs: whether outcomes have their Run.
    """

    def __init__(
        self, case: Case, settings: Settings, measures: Measures | None = None, keep_runs: bool = False
    ) -> None:
        self.case, self.settings, self.measures, self.keep_runs = case, settings, measures, keep_runs
        self.notes: list[str] = []
        self.tasks: list[Task] = []
        self._cohorts: list[tuple[Cohort, Sequence[Candidate], Rows]] = []
        self._alone: list[Candidate] = []
        self._seeds: dict[int, bytes] = {}
        self.loop_time = 0.0
        self._bent: dict[str, tuple[int, float]] = {}  # by link: members, and the worst share of its length
        self._links: dict[str, Link] = {}

    @property
    def count(self) -> int:
        """Of the members."""
        return sum(map(len, self.tasks))

    @property
    def structures(self) -> int:
        return len(self._cohorts)

    def members(self, task: Task) -> list[Member]:
        """Of a task."""
        everyone = self._alone if task.cohort is None else self._cohorts[task.cohort][1]
        return [everyone[place].member for place in task.places]

    def part(self, task: Task) -> Part:
        """A task by itself, to be sent to another process and computed there."""
        if task.cohort is None:
            return Part(self._own((), [self._alone[place] for place in task.places]), b"")
        cohort, everyone, rows = self._cohorts[task.cohort]
        these = [everyone[place] for place in task.places]
        if task.cohort not in self._seeds:
            self._seeds[task.cohort] = dumps(cohort)
        found = Rows(rows.fields, rows.of(these, task.places))
        return Part(self._own(((these, found),), []), self._seeds[task.cohort])

    def _own(self, cohorts: tuple[Any, ...], alone: list[Candidate]) -> dict[str, Any]:
        known = {"case": self.case, "settings": self.settings, "measures": self.measures, "keep_runs": self.keep_runs}
        return {**known, "cohorts": cohorts, "alone": alone}

    # --- members ---

    def add_alone(self, these: Sequence[Candidate], why: str) -> None:
        """Members that are run one by one."""
        self.notes.append(f"{len(these)} member{'s' * (len(these) > 1)} run one by one: {why}")
        first = len(self._alone)
        self._alone += these
        places = range(first, len(self._alone))
        self.tasks += [Task(None, tuple(places[k : k + ALONE])) for k in range(0, len(places), ALONE)]

    def add(self, cohort: Cohort, these: Sequence[Candidate], rows: Rows, threads: int) -> None:
        """Members that are run in lanes: those that are alike together, some for every thread."""
        number, lanes = len(self._cohorts), (self.settings.width or widest()).lanes
        self._cohorts.append((cohort, these, rows))
        each = -(-len(these) // (2 * threads * lanes)) * lanes
        size = min(each, OF_RUNS if self._wants_runs else LARGEST)
        speeds = rows.speeds(cohort, these)
        jumps = [_jumps(self.case, one) for one in these]
        order = sorted(range(len(these)), key=lambda place: (jumps[place], speeds[place]))
        self.tasks += [Task(number, tuple(order[k : k + size])) for k in range(0, len(order), size)]

    @property
    def _wants_runs(self) -> bool:
        return self.measures is not None or self.keep_runs

    # --- what comes of them ---

    def compute(self, task: Task, cancelled: Callable[[], bool] = lambda: False) -> list[Outcome]:
        """What comes of the members of a task; `Cancelled` once that says so."""
        if task.cohort is None:
            return [self._one(self._alone[place], cancelled) for place in task.places]
        cohort, everyone, rows = self._cohorts[task.cohort]
        these = [everyone[place] for place in task.places]
        batch = cohort.batch(these, rows.of(these, task.places), self._wants_runs, cancelled)
        batch.run()
        usual = batch.measures() if self.measures is None else [{}] * len(these)
        with _lock:
            self.loop_time += batch.loop_time
            self._doubt(cohort, usual)
        return [
            self._one(one, cancelled)
            if place in batch.stragglers
            else self._outcome(cohort, batch, place, one, usual[place])
            for place, one in enumerate(these)
        ]

    def _doubt(self, cohort: Cohort, usual: Sequence[Mapping[str, Any]]) -> None:
        """Count members whose links bend further than their model is meant for."""
        for k, link in enumerate(cohort.system.robot.links):
            far = [each["peak_deflection"][k] / link.length for each in usual if each]
            if beyond := [each for each in far if each > reach(link)]:
                count, most = self._bent.get(link.name, (0, 0.0))
                self._bent[link.name] = count + len(beyond), max(most, *beyond)
                self._links[link.name] = link

    @property
    def doubts(self) -> list[str]:
        """What should be known of the members that were computed so far in lanes, in sentences."""
        with _lock:
            found = dict(self._bent)
        return [
            f"in {count} member{'s' * (count > 1)}: {sentence}"
            for name, (count, most) in found.items()
            for sentence in bends_far(self._links[name], float(most), " in one of them" if count > 1 else "")
        ]

    def _outcome(self, cohort: Cohort, batch: Batch, place: int, one: Candidate, usual: Mapping[str, Any]) -> Outcome:
        end, number = batch.ends[place], one.member.number
        if not end.time and end.status == "failed":
            return Outcome(number, {}, "failed", end.reason)
        if not self._wants_runs:
            return Outcome(number, usual, end.status, end.reason)
        return self._told(number, gathered(cohort, batch, place, one), lambda run: usual)

    def _one(self, one: Candidate, cancelled: Callable[[], bool]) -> Outcome:
        if cancelled():
            raise Cancelled
        return outcome(self.case, one.member, self.measures or usual_measures(), self.keep_runs)

    def _told(self, number: int, run: Run, usual: Callable[[Run], Mapping[str, Any]]) -> Outcome:
        """The outcome of a run, by the user's measures if there are any."""
        kept, values = run if self.keep_runs else None, dict[str, Any]()
        if self.measures is None:
            return Outcome(number, usual(run), run.status, run.reason, kept)
        for name, function in self.measures.items():
            try:
                values[name] = function(run)
            except Exception as error:
                reason = f"measure '{name}' failed ({type(error).__name__}: {error})"
                return Outcome(number, values, "failed", reason, kept)
        return Outcome(number, values, run.status, run.reason, kept)


@dataclass(frozen=True)
class Part:
    """A task with all that it takes elsewhere: what its sweep knows, and the seed of its cohort, which is made anew in
    each process once."""

    known: Mapping[str, Any]
    seed: bytes

    def compute(self, cancelled: Callable[[], bool] = lambda: False) -> list[Outcome]:
        """What comes of its members."""
        known = self.known
        sweep = Sweep(known["case"], known["settings"], known["measures"], known["keep_runs"])
        if not self.seed:
            sweep._alone = known["alone"]
            return sweep.compute(Task(None, tuple(range(len(sweep._alone)))), cancelled)
        ((these, rows),) = known["cohorts"]
        sweep._cohorts = [(_grown(self.seed), these, rows)]
        return sweep.compute(Task(0, tuple(range(len(these)))), cancelled)


_lock = threading.Lock()


def _grown(seed: bytes) -> Cohort:
    with _lock:
        return _cohort(seed)


@lru_cache(maxsize=8)
def _cohort(seed: bytes) -> Cohort:
    found: Cohort = pickle.loads(seed)
    return found


def dumps(cohort: Cohort) -> bytes:
    """With functions of the user's in it: cloudpickle's, where that is installed, takes any of them."""
    try:
        from cloudpickle import dumps as any_of_them
    except ImportError:
        return pickle.dumps(cohort)
    return bytes(any_of_them(cohort))


def _jumps(case: Case, one: Candidate) -> tuple[float, ...]:
    """When the inputs of a member jump, where these are its own."""
    if not any(path.partition(".")[0] != "gains" for path in one.inputs):
        return ()
    every = [
        profile
        for given in changed_inputs(case, one.inputs)
        if isinstance(given, Mapping)
        for profile in given.values()
    ]
    return tuple(sorted({time for each in every for time in getattr(each, "breaks", ())}))
