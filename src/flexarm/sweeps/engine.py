"""Many members run: grouped by structure and speed, in lanes and threads where they can, one by one where they must.

`prepare` makes a `Sweep`: it checks all members before any runs, and says in `notes` how they are run. Its batches can
be computed anywhere and in any order; `run` computes them in threads and yields what came of members as it comes.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.foundation.sentences import shown
from flexarm.mechanics.lane_library import Width, widest
from flexarm.motion.run import Run
from flexarm.robot import DescriptionError
from flexarm.robot.changes import value_at
from flexarm.sweeps.batch import Cancelled
from flexarm.sweeps.changes import changed_inputs, changed_robot, parted
from flexarm.sweeps.cohort import Alone, Cohort
from flexarm.sweeps.measures import MEANINGS, measures_of
from flexarm.sweeps.member import Case, Member, Outcome
from flexarm.sweeps.runs import gathered, simulated
from flexarm.sweeps.sample import OtherStructure
from flexarm.sweeps.settings import Settings
from flexarm.sweeps.surrogate import Surrogate, surrogate

LARGEST = 256  # members of a batch: more of them share the time that Python takes
OF_RUNS = 64  # where steps are kept: they take memory
ALONE = 8  # members of a task that are run one by one
WORTH = 24  # members for which polynomials are not worth their nodes
CORNERS = 4  # fields whose corners are all looked at

Measures = Mapping[str, Callable[[Run], Any]]


@dataclass(frozen=True)
class Task:
    """Members that are computed together: the place of their cohort (None: one by one), and theirs in it."""

    cohort: int | None
    places: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.places)


@dataclass(frozen=True)
class Rows:
    """Of the members of a cohort: by polynomials, or as computed."""

    fields: tuple[str, ...]
    found: Surrogate | Array

    def of(self, members: Sequence[Member], places: Sequence[int]) -> Array:
        if isinstance(self.found, Surrogate):
            return self.found(_points(members, self.fields))
        return self.found[list(places)]


class Sweep:
    """Members that are checked and ready to run. `tasks` are computed by `compute`, in any order and any thread."""

    def __init__(self, case: Case, settings: Settings, measures: Measures | None, keep_runs: bool) -> None:
        self.case, self.settings, self.measures, self.keep_runs = case, settings, measures, keep_runs
        self.notes: list[str] = []
        self.tasks: list[Task] = []
        self._cohorts: list[tuple[Cohort, list[Member], Rows]] = []
        self._alone: list[Member] = []

    @property
    def count(self) -> int:
        return sum(map(len, self.tasks))

    def compute(self, task: Task, cancelled: Callable[[], bool] = lambda: False) -> list[Outcome]:
        """What comes of the members of a task."""
        if task.cohort is None:
            return [self._one(self._alone[place], cancelled) for place in task.places]
        cohort, everyone, rows = self._cohorts[task.cohort]
        members = [everyone[place] for place in task.places]
        own = self.measures is not None or self.keep_runs
        batch = cohort.batch(members, rows.of(members, task.places), own, cancelled)
        batch.run()
        usual = batch.measures() if self.measures is None else [{}] * len(members)
        out = []
        for place, member in enumerate(members):
            end, values, run = batch.ends[place], usual[place], None
            if not end.time and end.status == "failed":
                out.append(self._failed(member, end.reason))
                continue
            if own:
                run = gathered(cohort, batch, place, member)
                if self.measures is not None:
                    values, failure = _measured(self.measures, run)
                    if failure:
                        out.append(Outcome(member.number, values, "failed", failure, run if self.keep_runs else None))
                        continue
            kept = run if self.keep_runs else None
            out.append(Outcome(member.number, values, end.status, end.reason, kept))
        return out

    def _one(self, member: Member, cancelled: Callable[[], bool]) -> Outcome:
        if cancelled():
            raise Cancelled
        try:
            run = simulated(self.case, self.settings, member)
        except (ValueError, TypeError, KeyError, RuntimeError) as error:
            return self._failed(member, str(error.args[0] if error.args else error))
        if self.measures is None:
            values, failure = measures_of(run, _calm_after(run)), ""
        else:
            values, failure = _measured(self.measures, run)
        status, reason = ("failed", failure) if failure else (run.status, run.reason)
        return Outcome(member.number, values, status, reason, run if self.keep_runs else None)

    def _failed(self, member: Member, reason: str) -> Outcome:
        return Outcome(member.number, {}, "failed", reason)

    def _add_alone(self, members: Sequence[Member], why: str) -> None:
        self.notes.append(f"{len(members)} member{'s' * (len(members) > 1)} run one by one: {why}")
        first = len(self._alone)
        self._alone += members
        places = range(first, len(self._alone))
        self.tasks += [Task(None, tuple(places[k : k + ALONE])) for k in range(0, len(places), ALONE)]

    def _add(self, cohort: Cohort, members: list[Member], rows: Rows, threads: int) -> None:
        number = len(self._cohorts)
        self._cohorts.append((cohort, members, rows))
        own, lanes = self.measures is not None or self.keep_runs, (self.settings.width or widest()).lanes
        each = -(-len(members) // (2 * threads * lanes)) * lanes  # some for every thread
        size = min(each, OF_RUNS if own else LARGEST)
        order = _in_order(cohort, members, rows)
        self.tasks += [Task(number, tuple(order[k : k + size])) for k in range(0, len(order), size)]


def prepare(
    case: Case,
    members: Sequence[Member],
    measures: Measures | None = None,
    keep_runs: bool = False,
    threads: int | None = None,
    width: Width | None = None,
) -> Sweep:
    """Members grouped and checked; a ValueError tells which of them can be no robot, and why.

    measures: by name functions of a Run; None: what `measures.MEANINGS` tells.
    keep_runs: whether outcomes have their Run.
    threads: for how many batches are made; None: for all processors.
    width: of the lanes; None: what the processor has.
    """
    settings = Settings.of(case.options, width)
    sweep = Sweep(case, settings, measures, keep_runs)
    threads = threads or processors()
    groups: dict[tuple[Any, ...], list[Member]] = {}
    for member in members:
        groups.setdefault(_kind(case, member), []).append(member)
    for kind, each in groups.items():
        fixed = dict(kind)
        inner = [Member(one.number, {k: v for k, v in one.changes.items() if k not in fixed}) for one in each]
        _prepare_group(sweep, fixed, inner, each, threads)
    structures = len(sweep._cohorts)
    if structures > 1:
        sweep.notes.append(f"{structures} structures run one after the other: members differ by more than numbers")
    return sweep


def run(
    case: Case,
    members: Sequence[Member],
    measures: Measures | None = None,
    keep_runs: bool = False,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    sweep: Sweep | None = None,
) -> Iterator[Outcome]:
    """What comes of the members, as batches are done, in no certain order. As for `prepare`; in so many `threads`.

    progress: called with how many members are done, and how many there are.
    sweep: what `prepare` made of the same, if that is done already.

    Whoever ends the iteration, by Ctrl-C or otherwise, loses only batches that are not done.
    """
    sweep = sweep or prepare(case, members, measures, keep_runs, threads)
    stopped, done, waiting = threading.Event(), 0, iter(sweep.tasks)
    workers = threads or processors()
    with ThreadPoolExecutor(workers) as pool:
        try:
            running: set[Future[list[Outcome]]] = set()
            for task in waiting:
                running.add(pool.submit(sweep.compute, task, stopped.is_set))
                if len(running) > workers:
                    finished, running = _next(running)
                    for outcome in finished:
                        done += 1
                        yield outcome
                    if progress is not None:
                        progress(done, sweep.count)
            while running:
                finished, running = _next(running)
                for outcome in finished:
                    done += 1
                    yield outcome
                if progress is not None:
                    progress(done, sweep.count)
        finally:
            stopped.set()
            pool.shutdown(wait=True, cancel_futures=True)


def processors() -> int:
    """On which this process may run."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _next(running: set[Future[list[Outcome]]]) -> tuple[list[Outcome], set[Future[list[Outcome]]]]:
    """What the next batches tell that are done, and those that are not."""
    finished, running = wait(running, return_when=FIRST_COMPLETED)
    return [outcome for each in finished for outcome in each.result()], running


# --- preparation ---


def _kind(case: Case, member: Member) -> tuple[Any, ...]:
    """The changes of a member that decide what robot it is, rather than a number of it."""
    fixed = []
    for path, value in parted(member.changes).robot.items():
        number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
        if not (number and _is_number(case, path)):
            fixed.append((path, value))
    return tuple(fixed)


def _is_number(case: Case, path: str) -> bool:
    """Whether a field is a number that may change by little; one that is not there is made of what it is given."""
    try:
        return isinstance(value_at(case.robot, path)[0], float)
    except DescriptionError:
        return True


def _prepare_group(
    sweep: Sweep, fixed: Mapping[str, Any], members: list[Member], given: list[Member], threads: int
) -> None:
    """One more cohort, or several where numbers decide the structure (a zero may be none)."""
    case = sweep.case
    fields = tuple(sorted({path for each in members for path in (*parted(each.changes).robot, *parted(each.changes).state)}))
    while members:
        robot = _robot(case, given[0], fixed)
        # fields that the robot has not, or has elsewhere, are there once a member has put them there
        base = _robot(case, given[0], {**fixed, **parted(members[0].changes).robot})
        cohort = Cohort(case, base, sweep.settings)
        first = members[0].changes
        try:
            cohort.look(first)
            _require_inputs(case, given)
            cohort.require_lanes(first)
        except Alone as why:
            _require_robots(cohort, members, given, fields)
            sweep._add_alone(given, str(why))
            return
        found, mine, others = _rows(cohort, members, given, fields)
        sweep._add(cohort, [given_one for given_one, own in zip(members, mine, strict=True) if own], found, threads)
        members = [each for each, own in zip(members, mine, strict=True) if not own]
        given = [each for each, own in zip(given, mine, strict=True) if not own]
        assert others == len(members) and robot is not None


def _robot(case: Case, member: Member, changes: Mapping[str, Any]) -> Any:
    try:
        return changed_robot(case.robot, changes)
    except (ValueError, TypeError, KeyError) as error:
        raise ValueError(_about(member, error)) from None


def _about(member: Member, error: Exception) -> str:
    said = ", ".join(f"{path} = {shown(value)}" for path, value in member.changes.items())
    return f"member {member.number} ({said}): {error.args[0] if error.args else error}"


def _require_inputs(case: Case, members: Sequence[Member]) -> None:
    """All that drives them can be made."""
    seen: set[tuple[Any, ...]] = set()
    for member in members:
        inputs = parted(member.changes).inputs
        key = tuple(inputs.items())
        if inputs and key not in seen:
            seen.add(key)
            try:
                changed_inputs(case, inputs)
            except (ValueError, TypeError, KeyError) as error:
                raise ValueError(_about(member, error)) from None


def _require_robots(cohort: Cohort, members: Sequence[Member], given: Sequence[Member], fields: tuple[str, ...]) -> None:
    """Values that make no robot: which member has them, and why."""
    for member, said in zip(members, given, strict=True):
        parts = parted(member.changes)
        try:
            changed_robot(cohort.robot, parts.robot)
        except (ValueError, TypeError, KeyError) as error:
            raise ValueError(_about(said, error)) from None


def _points(members: Sequence[Member], fields: Sequence[str]) -> Array:
    return np.array([[each.changes[name] for name in fields] for each in members], dtype=float).reshape(-1, len(fields))


def _rows(
    cohort: Cohort, members: list[Member], given: list[Member], fields: tuple[str, ...]
) -> tuple[Rows, list[bool], int]:
    """The rows of those members that are of the cohort, which those are, and how many are not."""
    same = all({*parted(each.changes).robot, *parted(each.changes).state} == {*fields} for each in members)
    if same and fields and len(members) > WORTH:
        points = _points(members, fields)

        def row(point: Array) -> Array:
            return cohort.sampler.row(dict(zip(fields, point.tolist(), strict=True)))

        try:
            _look_at_corners(cohort, points, fields)
            made = surrogate(points, row, cohort.sampler.scales, np.random.default_rng(0))
        except (ValueError, TypeError, KeyError):  # members are looked at one by one
            made = None
        if made is not None:
            return Rows(fields, made), [True] * len(members), 0
    if not fields:
        only = cohort.sampler.row({})
        return Rows(fields, np.repeat(only[None], len(members), axis=0)), [True] * len(members), 0
    _require_robots(cohort, members, given, fields)
    rows, mine = [], []
    known: dict[tuple[Any, ...], Array | None] = {}
    for member, said in zip(members, given, strict=True):
        parts = parted(member.changes)
        changes = {**parts.robot, **parts.state}
        key = tuple(sorted(changes.items()))
        if key not in known:
            try:
                known[key] = cohort.sampler.row(changes)
            except OtherStructure:
                known[key] = None
            except (ValueError, TypeError, KeyError) as error:
                raise ValueError(_about(said, error)) from None
        found = known[key]
        mine.append(found is not None)
        if found is not None:
            rows.append(found)
    return Rows(fields, np.stack(rows)), mine, mine.count(False)


def _look_at_corners(cohort: Cohort, points: Array, fields: tuple[str, ...]) -> None:
    """A ValueError where there is no robot at a corner of what is swept."""
    ends = np.stack([points.min(axis=0), points.max(axis=0)])
    count = min(len(fields), CORNERS)
    for corner in np.ndindex(*(2,) * count):
        which = [*corner, *(0,) * (len(fields) - count)]
        values = {name: float(ends[end, k]) for k, (name, end) in enumerate(zip(fields, which, strict=True))}
        changed_robot(cohort.robot, parted(values).robot)


def _in_order(cohort: Cohort, members: Sequence[Member], rows: Rows) -> list[int]:
    """Places of members so that those that are alike run together: by when inputs jump, then by how fast they are."""
    jumps = [_jumps(cohort, member) for member in members]
    if isinstance(rows.found, Surrogate):
        made = rows.found
        spread = np.ptp(made.points, axis=0)
        scaled = (made.points - made.points.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        known = np.column_stack([np.ones(len(scaled)), scaled])
        slopes = np.linalg.lstsq(known, cohort.speeds(made.rows), rcond=None)[0][1:]
        speeds = _points(members, rows.fields) @ (slopes / np.where(spread > 0, spread, 1.0))
    else:
        speeds = cohort.speeds(rows.found)
    return sorted(range(len(members)), key=lambda place: (jumps[place], speeds[place]))


def _jumps(cohort: Cohort, member: Member) -> tuple[float, ...]:
    inputs = parted(member.changes).inputs
    if not any(path.partition(".")[0] != "gains" for path in inputs):
        return ()
    torque, motion = changed_inputs(cohort.case, inputs)
    every = [*torque.values()] if isinstance(torque, Mapping) else []
    every += [*motion.values()] if isinstance(motion, Mapping) else []
    return tuple(sorted({time for each in every for time in getattr(each, "breaks", ())}))


def _measured(measures: Measures, run: Run) -> tuple[dict[str, Any], str]:
    """Values of the user's functions; and which of them failed."""
    values = {}
    for name, function in measures.items():
        try:
            values[name] = function(run)
        except Exception as error:
            return values, f"measure '{name}' failed ({type(error).__name__}: {error})"
    return values, ""


def _calm_after(run: Run) -> float:
    """The time of the last jump of a run's inputs."""
    dense = run._dense
    return 0.0 if isinstance(dense, str) else float(dense.nodes.jumps[-1])


__all__ = ["MEANINGS", "Sweep", "Task", "prepare", "processors", "run"]
