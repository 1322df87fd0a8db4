"""Members on other processes and machines.

What members have in common is sent as bytes that each worker opens once. A worker that dies takes its batch along, and
in a pool of processes all batches that wait. Lost batches are run again one at a time, to find the one that kills its
worker; that one is halved, down to the member, which is recorded as failed. So a worker lost by accident costs only
time, and a member that kills workers costs a bounded number of them.
"""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures import ThreadPoolExecutor as Threads
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from flexarm.codegen.library import building
from flexarm.foundation.messages import shown
from flexarm.sweeps.case import Outcome, Outcomes
from flexarm.sweeps.ensemble.job import Job, Portion
from flexarm.sweeps.ensemble.tasks import SweepTasks


def pack_job(job: Job, by_value: bool) -> bytes:
    """Return a job as bytes.

    `by_value`: functions of the program itself are sent with their code, for workers that do not have it.
    """
    problem: Exception | None = None
    for name in ("cloudpickle", "pickle") if by_value else ("pickle", "cloudpickle"):
        try:
            return bytes(_module(name).dumps(job))
        except ImportError:
            continue
        except Exception as error:
            problem = problem or error
    raise TypeError(f"executor: {_culprit(job)} cannot be sent to other processes ({problem}); {_advice()}")


def compute_portion(parcel: bytes | Job, portion: Portion) -> tuple[Outcomes, list[str]]:
    """Compute some members in one thread, on a worker; return their outcomes and notes on how they were run."""
    notes: list[str] = []
    job = parcel if isinstance(parcel, Job) else _opened(parcel)
    return job.compute(portion, on_note=notes.append), notes


def _opened(parcel: bytes) -> Job:
    with building:  # by one thread, the others find it
        return _job(parcel)


@lru_cache(maxsize=4)
def _job(parcel: bytes) -> Job:
    job = pickle.loads(parcel)
    assert isinstance(job, Job)
    return job


def _module(name: str) -> Any:
    from importlib import import_module

    return import_module(name)


def _culprit(job: Job) -> str:
    """Return the part of a job that cannot be pickled."""
    parts = {name: getattr(job.case, name) for name in ("torque", "motion", "loads", "options")}
    parts |= {f"measure {name!r}": each for name, each in (job.measures or {}).items()}
    for name, part in parts.items():
        try:
            pickle.dumps(part)
        except Exception:
            return f"{name} = {shown(part)}"
    return "the case"


def _advice() -> str:
    return "write functions at the top of a module, or install cloudpickle (it comes with the extra 'cluster')"


Found = tuple[Outcomes, list[str]]  # what comes of members, and notes of how they were run
PORTIONS_PER_WORKER = 4  # batches sent for each worker: none should wait for the next
POLL_INTERVAL_S = 0.2  # s between looks at whether Ctrl-C was pressed


class Workers:
    """Workers of an executor of any kind, or of a Dask client."""

    def __init__(self, given: Any) -> None:
        self._replaced: Executor | None = None
        self.is_dask = _is_dask(given)
        if self.is_dask:
            self._executor: Executor = given.get_executor(pure=False)
            self.count = max(1, sum(given.nthreads().values()))
            from distributed import KilledWorker

            self.deaths: tuple[type[Exception], ...] = (KilledWorker, BrokenExecutor)
        elif isinstance(given, Executor):
            self._executor = given
            self.count = int(getattr(given, "_max_workers", 1))
            self.deaths = (BrokenExecutor,)
        else:
            raise TypeError(
                f"executor = {shown(given)}: must be a concurrent.futures.Executor or a Dask Client, which has workers"
            )

    @property
    def same_process(self) -> bool:
        return isinstance(self._executor, Threads)

    def submit(self, batch: SentPortion) -> Future[Found]:
        return self._executor.submit(compute_portion, batch.parcel, batch.portion)

    def renew(self) -> None:
        """Replace a pool of processes that broke by one of the same kind."""
        if self.is_dask:
            return
        broken: Any = self._executor
        if not isinstance(broken, ProcessPoolExecutor):
            raise RuntimeError(f"the executor {shown(broken)} broke; what was computed until then is kept in the store")
        self.close()
        options: Any = {name: getattr(broken, f"_{name}") for name in ("mp_context", "initializer", "initargs")}
        self._executor = self._replaced = ProcessPoolExecutor(self.count, **options)

    def close(self) -> None:
        """End the pool that was started here; the user's own executor continues."""
        if self._replaced is not None:
            self._replaced.shutdown(wait=False, cancel_futures=True)


@dataclass(frozen=True)
class SentPortion:
    """Members that are sent together; `notes` of their sweep receive those of the worker."""

    parcel: bytes | Job
    portion: Portion
    notes: list[str]

    def halved(self) -> Iterator[SentPortion]:
        return (SentPortion(self.parcel, half, self.notes) for half in self.portion.halves)


class PreparedPortions:
    """Batches that are made one before they are sent, so that workers do not wait. True while there is one."""

    def __init__(self, batches: Iterator[SentPortion]) -> None:
        self._batches = batches
        self._next = next(batches, None)

    def __bool__(self) -> bool:
        return self._next is not None

    def next(self) -> SentPortion:
        batch, self._next = self._next, next(self._batches, None)
        assert batch is not None
        return batch


def run_on_workers(workers: Workers, sweeps: Sequence[SweepTasks]) -> Iterator[Outcomes]:
    """Yield the outcomes of the members of all sweeps, in the order in which they are done."""
    waiting, suspects = PreparedPortions(_portions(workers, sweeps)), deque[SentPortion]()
    running: dict[Future[Found], SentPortion] = {}
    alone = False  # a batch that was lost runs with no other beside it, until it ends: then it is known which it was
    try:
        while waiting or suspects or running:
            lost: list[SentPortion] = []
            if not running:
                alone = bool(suspects)
            try:
                if alone and not running:
                    batch = suspects.popleft()
                    running[workers.submit(batch)] = batch
                while waiting and not suspects and not alone and len(running) < PORTIONS_PER_WORKER * workers.count:
                    batch = waiting.next()
                    running[workers.submit(batch)] = batch
            except BrokenExecutor:
                lost.append(batch)
            for future in wait(running, POLL_INTERVAL_S, FIRST_COMPLETED).done:
                batch = running.pop(future)
                try:
                    found, notes = future.result()
                except workers.deaths:
                    lost.append(batch)
                    continue
                batch.notes.extend(notes)
                yield found
            if not lost:
                continue
            if alone and len(lost) == 1:
                yield from _halve(lost[0], suspects)
            else:
                suspects.extend(lost)
            if not running:
                workers.renew()
    finally:
        for future in running:
            future.cancel()
        workers.close()


def _halve(batch: SentPortion, suspects: deque[SentPortion]) -> Iterator[Outcomes]:
    """Halve a batch that killed its worker; yield the outcome of a single member."""
    if len(batch.portion) > 1:
        suspects.extend(batch.halved())
        return
    number = int(batch.portion.numbers[0])
    yield Outcomes.of([Outcome(number, {}, "failed", "the worker that ran it died, each time")])


def _portions(workers: Workers, sweeps: Sequence[SweepTasks]) -> Iterator[SentPortion]:
    """Yield the batches of all tasks; what their members have in common is packed once."""
    for sweep in sweeps:
        parcels = [job if workers.same_process else pack_job(job, workers.is_dask) for job in sweep.jobs]
        yield from (SentPortion(parcels[task.job], sweep.portion(task), sweep.notes) for task in sweep.tasks)


def _is_dask(given: Any) -> bool:
    return type(given).__module__.startswith("distributed.") and hasattr(given, "get_executor")
