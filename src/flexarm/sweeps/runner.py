"""Run the members of a plan: finished ones come from the store, the others from threads or workers."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flexarm.foundation.interrupts import Interrupts
from flexarm.foundation.messages import shown, warn
from flexarm.foundation.progress import Progress
from flexarm.foundation.validation import whole_number
from flexarm.sweeps import prepare as structures
from flexarm.sweeps.apply_changes import apply_changes
from flexarm.sweeps.case import Members, Outcomes, SweepCase
from flexarm.sweeps.ensemble import tasks
from flexarm.sweeps.ensemble.tasks import SweepTasks
from flexarm.sweeps.executors import Workers, run_on_workers
from flexarm.sweeps.measures import Measure, checked_measures
from flexarm.sweeps.plan import SweepPlan
from flexarm.sweeps.prepare import prepare_members, require_valid_case
from flexarm.sweeps.store import Store, fingerprint, store_of
from flexarm.sweeps.table import Table

if TYPE_CHECKING:
    import xarray as xr

HINTS = {"monte_carlo": "; draw from a distribution without such values (scipy.stats.truncnorm, lognorm, uniform)"}
KINDS = {"sweep": "sweep", "monte_carlo": "Monte Carlo study", "sensitivity": "sensitivity study"}


class MemberProgress(Progress):
    """Progress in members, with their rate and the time left."""

    doing = "sweeping"

    def words(self, t: float, pace: float) -> str:
        return f"{t:.0f} of {self.duration:.0f} members, {pace:.3g} a second"


@dataclass(frozen=True)
class RunSettings:
    """Arguments that decide how members are run, but not their results."""

    executor: Any = None
    store: Any = None
    progress: bool | None = None
    threads: int | None = None

    def __post_init__(self) -> None:
        if self.progress is not None and not isinstance(self.progress, bool):
            raise ValueError(f"progress = {shown(self.progress)}: must be True or False")
        if self.threads is not None:
            whole_number("threads", self.threads, least=1)


def run_plan(
    case: SweepCase,
    plan: SweepPlan,
    measure: Any,
    keep: Any,
    how: RunSettings,
    kind: str = "sweep",
    completed: Callable[[xr.Dataset], xr.Dataset] = lambda data: data,
) -> xr.Dataset:
    """Return the labelled results of all members.

    `completed`: function that adds what follows from them.
    """
    measures = checked_measures(measure)
    _require_request(plan, measures, keep)
    workers = None if how.executor is None else Workers(how.executor)
    plan.require_possible(case, HINTS.get(kind, ""))
    for sentence in plan.unit_warnings(case):
        warn(sentence)
    require_valid_case(apply_changes(case, plan[0].changes), [each.name for each in plan.fields])
    store = None
    if how.store is not None:
        store = store_of(how.store, fingerprint(case, plan, measures, keep), keep is not None)
    if store is not None and (finished := store.finished()) is not None:
        return completed(_with_runs(finished, store, plan, keep))
    table = Table(plan, measures)
    begin = clock.perf_counter()
    try:
        for outcome in store.begin() if store is not None else ():
            table.add(outcome)
        sweeps: list[SweepTasks] = []
        ended = _run_missing(case, table, measures, keep, how, workers, store, sweeps)
        attributes = _attributes(ended, table, sweeps, clock.perf_counter() - begin)
        data = completed(table.dataset(case, kind, attributes))
        if store is not None and ended == "completed":
            store.finish(data.drop_vars("run", errors="ignore"))
    finally:
        if store is not None:
            store.close()
    if ended != "completed":
        _warn_of_interruption(KINDS[kind], table, store, data.attrs.get("statistics"))
    if attributes["summary"]:
        warn(str(attributes["summary"]))
    return data if store is None or keep is None else _with_runs(data, store, plan, keep)


def _attributes(ended: str, table: Table, sweeps: Sequence[SweepTasks], seconds: float) -> dict[str, Any]:
    """Return the attributes of a sweep."""
    return {
        "status": ended,
        "summary": table.summary(),
        "notes": "; ".join(dict.fromkeys(note for each in sweeps for note in each.notes)),
        "interpolated": "; ".join(note for each in sweeps for note in each.interpolated),
        "wall_time": seconds,
        "block_size": max((each.block_size for each in sweeps), default=1),
    }


def _require_request(plan: SweepPlan, measures: Mapping[str, Measure] | None, keep: Any) -> None:
    """Raise ValueError if `keep` is unknown, or a measure has the name of a field."""
    if keep is not None and not (isinstance(keep, str) and keep == "runs"):
        raise ValueError(f"keep = {shown(keep)}: must be 'runs', which keeps histories, or None")
    for each in plan.fields:
        if each.name in (measures or ()):
            raise ValueError(f"measure: {each.name!r} is what varies; take another name")


def _warn_of_interruption(what: str, table: Table, store: Store | None, statistics: str | None) -> None:
    members = len(table.plan)
    where = f"{store.named} keeps it, and the same call goes on" if store is not None else "the rest is missing"
    note = f"; its statistics are {statistics}" if statistics is not None else ""
    warn(f"the {what} was interrupted after {members - len(table.missing)} of {members} members; {where}{note}")


def _run_missing(
    case: SweepCase,
    table: Table,
    measures: Mapping[str, Measure] | None,
    keep: str | None,
    how: RunSettings,
    workers: Workers | None,
    store: Store | None,
    sweeps: list[SweepTasks],
) -> str:
    """Run the missing members and return how that ended; `sweeps` receives the prepared tasks."""
    missing = set(table.missing)
    if not missing:
        return "completed"
    grouped = structures.group_by_structure(case, table.plan)
    if len(grouped) > 1:
        warn(structures.structure_note(grouped))
    wanted = [[each for each in part if each in missing] for part in grouped]
    chosen = [table.plan.members(part) for part in wanted if part]
    interrupts = Interrupts()
    try:
        with interrupts.catching(), MemberProgress(len(missing), how.progress) as bar:
            threads = how.threads if workers is None else 2 * workers.count  # so that all end at about the same time
            made = _prepared(case, chosen, measures, keep is not None, threads, sweeps)
            done = 0
            for found in _outcomes(made, workers, how.threads, store is not None):
                with interrupts.deferring():
                    _kept(table.take(found), table, store)
                interrupts.check()
                done += len(found)
                bar.update(done)
    except KeyboardInterrupt:
        return "interrupted"
    return "completed"


def _prepared(
    case: SweepCase,
    parts: Sequence[Members],
    measures: Mapping[str, Measure] | None,
    keep_runs: bool,
    threads: int | None,
    sweeps: list[SweepTasks],
) -> Iterator[SweepTasks]:
    for part in parts:
        sweep = prepare_members(case, part, measures, keep_runs, threads)
        sweeps.append(sweep)
        if sweep.structures > 1 and len(parts) == 1:  # of more parts a note was given
            warn(f"the members are of {sweep.structures} structures: they run group by group, each compiled by itself")
        yield sweep


def _outcomes(
    sweeps: Iterable[SweepTasks], workers: Workers | None, threads: int | None, prompt: bool
) -> Iterator[Outcomes]:
    if workers is not None:
        yield from run_on_workers(workers, list(sweeps))
        return
    for sweep in sweeps:
        yield from tasks.compute(sweep, threads, prompt=prompt)


def _kept(outcomes: Outcomes, table: Table, store: Store | None) -> None:
    if store is None:
        return
    for outcome in outcomes:
        store.keep(outcome)
        table.runs.pop(outcome.number, None)  # it is in its file


def _with_runs(data: xr.Dataset, store: Store, plan: SweepPlan, keep: str | None) -> xr.Dataset:
    """Return the results of a store with the histories that are in it."""
    if data.attrs.get("summary") and "fingerprint" in data.attrs:
        warn(str(data.attrs["summary"]))
    data.attrs.pop("fingerprint", None)
    if keep is None:
        return data
    table = Table(plan)
    for number in range(len(plan)):
        if (found := store.run(number)) is not None:
            table.runs[number] = found
    return data.assign(run=table.histories())
