"""Members that were looked at before any runs, in tasks that can be computed anywhere and in any order."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from flexarm.codegen.simd_library import widest
from flexarm.foundation.numbers import Array
from flexarm.sweeps.applied import applied
from flexarm.sweeps.kept import Measures, are_usual
from flexarm.sweeps.lanes.candidates import Candidates
from flexarm.sweeps.lanes.cohort import Cohort
from flexarm.sweeps.lanes.job import Job, Portion
from flexarm.sweeps.lanes.rows import Rows
from flexarm.sweeps.lanes.settings import Settings
from flexarm.sweeps.lanes.surrogate import Surrogate
from flexarm.sweeps.member import Case
from flexarm.sweeps.outcomes import Outcomes

LARGEST = 512  # members of a batch: they share the time in Python
BLOCK = 1024  # members that are sorted by speed
CHECKED_SHAPES = 6  # members of a cohort, and the slowest and the fastest: their number of shapes is checked
OF_RUNS = 64  # where steps are kept: they take memory


@dataclass(frozen=True)
class Task:
    """Members that are computed together: the place of their job, and theirs among its members."""

    job: int
    places: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.places)


class Sweep:
    """`tasks` are computed by `compute`, in any order and any thread, or elsewhere: `jobs` do what `portion` gives.
    `notes` say how members are run; `loop_time`, `node_time`: how long all threads together were in the steps of lanes,
    and in loops over their nodes (s).

    measures: by name functions of a Run; None: the usual ones.
    keep_runs: whether outcomes have their Run.
    """

    def __init__(
        self, case: Case, settings: Settings, measures: Measures | None = None, keep_runs: bool = False
    ) -> None:
        self.case, self.settings, self.measures, self.keep_runs = case, settings, measures, keep_runs
        self.notes: list[str] = []
        self.tasks: list[Task] = []
        self.jobs: list[Job] = []
        self._members: list[tuple[Candidates, Rows | None, Array | None]] = []  # of each job, with speeds
        self._lock = threading.Lock()
        self.loop_time = self.node_time = 0.0
        self.interpolated: list[str] = []  # whose numbers, and from how many

    @property
    def structures(self) -> int:
        return sum(each.cohort is not None for each in self.jobs)

    # --- members ---

    def add_alone(self, these: Candidates, why: str) -> None:
        """Members that are run one by one, each a task: whoever stops loses no more than the last."""
        self.notes.append(f"{len(these)} member{'s' * (len(these) > 1)} run one by one: {why}")
        self._add(None, these, None, range(len(these)), 1)

    def add(self, cohort: Cohort, these: Candidates, rows: Rows, threads: int) -> None:
        """Members that are run in lanes: those that are alike together, some for every thread."""
        if isinstance(rows.found, Surrogate):
            self.interpolated.append(f"numbers of {len(these)} robots from those of {len(rows.found.rows)}")
        lanes = (self.settings.width or widest()).lanes
        each = -(-len(these) // (threads * lanes)) * lanes
        firsts, which = these.alike("inputs")
        jumps = [_jumps(self.case, these[place].inputs) for place in firsts]
        ranks = {each: rank for rank, each in enumerate(sorted({*jumps}))}
        together = np.array([ranks[each] for each in jumps])[which]
        runs = self.keep_runs or not are_usual(self.measures)
        size = min(each, OF_RUNS if runs else LARGEST)
        # Blocks run in the order of their members, so that a study that is interrupted has the first of its draws, not
        # those of one speed. Inside a block the fastest run first, with others as fast: their steps are alike. Blocks,
        # and so the groups of lanes and the digits of their members, do not depend on the number of threads.
        block = np.arange(len(these)) // BLOCK
        speeds = rows.speeds(cohort, these)
        order = np.lexsort((-speeds, together, block)).tolist()
        evenly = np.linspace(0, len(these) - 1, CHECKED_SHAPES).astype(int).tolist()
        places = {int(speeds.argmin()), int(speeds.argmax()), *evenly}
        self._add(cohort, these, rows, order, size, frozenset(these.members.numbers[[*places]].tolist()), speeds)

    def _add(
        self,
        cohort: Cohort | None,
        these: Candidates,
        rows: Rows | None,
        order: Sequence[int],
        size: int,
        checked: frozenset[int] = frozenset(),
        speeds: Array | None = None,
    ) -> None:
        number = len(self.jobs)
        self.jobs.append(Job(self.case, self.measures, self.keep_runs, cohort, checked))
        self._members.append((these, rows, speeds))
        self.tasks += [Task(number, tuple(order[k : k + size])) for k in range(0, len(order), size)]

    # --- what comes of them ---

    def portion(self, task: Task) -> Portion:
        """The members of a task."""
        everyone, rows, speeds = self._members[task.job]
        these = everyone.some(task.places)
        if rows is None or speeds is None:
            return Portion(these)
        return Portion(these, rows.of(these, task.places), speeds[list(task.places)])

    def compute(self, task: Task, cancelled: Callable[[], bool] = lambda: False) -> Outcomes:
        """What comes of the members of a task; `Cancelled` once that says so."""
        return self.jobs[task.job].compute(self.portion(task), cancelled, self._count, self.notes.append)

    def _count(self, steps: float, nodes: float) -> None:
        with self._lock:
            self.loop_time += steps
            self.node_time += nodes


def _jumps(case: Case, inputs: Mapping[str, float]) -> tuple[float, ...]:
    """When the inputs of members jump, where these are their own."""
    if not any(path.partition(".")[0] != "gains" for path in inputs):
        return ()
    driven = applied(case, inputs)
    every = [
        profile for given in (driven.torque, driven.motion) if isinstance(given, Mapping) for profile in given.values()
    ]
    return tuple(sorted({time for each in every for time in getattr(each, "breaks", ())}))
