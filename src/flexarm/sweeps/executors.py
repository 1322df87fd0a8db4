"""Members on other processes and machines: batches of them as tasks, gathered as they come.

A worker that dies takes its batch along, and in a pool of processes all that waits. Batches that were lost are run
again one at a time, so that it is seen which of them it was; one that kills its worker alone is halved, down to the
member, which is recorded as failed. So a worker lost by accident costs nothing but time, and a member that kills
workers costs a bounded number of them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures import ThreadPoolExecutor as Threads
from dataclasses import dataclass
from typing import Any

from flexarm.foundation.sentences import shown
from flexarm.sweeps.lanes.job import Job, Portion
from flexarm.sweeps.lanes.sweep import Sweep
from flexarm.sweeps.member import Outcome
from flexarm.sweeps.outcomes import Outcomes
from flexarm.sweeps.parcel import packed, work

Found = tuple[Outcomes, list[str]]  # what comes of members, and notes of how they were run
AHEAD = 4  # batches sent for each worker: none should wait for the next
AWAKE = 0.2  # s between looks at whether Ctrl-C was pressed


class Workers:
    """An executor of any kind, or the workers of a Dask client."""

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

    def submit(self, batch: Batch) -> Future[Found]:
        return self._executor.submit(work, batch.parcel, batch.portion)

    def renew(self) -> None:
        """A pool of processes that broke is of no use any more: one of the same kind takes its place."""
        if self.is_dask:
            return
        broken: Any = self._executor
        if not isinstance(broken, ProcessPoolExecutor):
            raise RuntimeError(f"the executor {shown(broken)} broke; what was computed until then is kept in the store")
        self.close()
        options: Any = {name: getattr(broken, f"_{name}") for name in ("mp_context", "initializer", "initargs")}
        self._executor = self._replaced = ProcessPoolExecutor(self.count, **options)

    def close(self) -> None:
        """End what was started here; the user's own executor goes on."""
        if self._replaced is not None:
            self._replaced.shutdown(wait=False, cancel_futures=True)


@dataclass(frozen=True)
class Batch:
    """Members that are sent together; `notes` of their sweep take those of the worker."""

    parcel: bytes | Job
    portion: Portion
    notes: list[str]

    def halved(self) -> Iterator[Batch]:
        return (Batch(self.parcel, half, self.notes) for half in self.portion.halves)


class Ahead:
    """Batches that are made one before they are sent: workers should not wait for all of them. True while there is
    one."""

    def __init__(self, batches: Iterator[Batch]) -> None:
        self._batches = batches
        self._next = next(batches, None)

    def __bool__(self) -> bool:
        return self._next is not None

    def next(self) -> Batch:
        batch, self._next = self._next, next(self._batches, None)
        assert batch is not None
        return batch


def spread(workers: Workers, sweeps: Sequence[Sweep]) -> Iterator[Outcomes]:
    """What comes of the members of all sweeps, in the order in which they are done."""
    waiting, suspects = Ahead(_batches(workers, sweeps)), deque[Batch]()
    running: dict[Future[Found], Batch] = {}
    alone = False  # a batch that was lost runs with no other beside it, until it ends: then it is known which it was
    try:
        while waiting or suspects or running:
            lost: list[Batch] = []
            if not running:
                alone = bool(suspects)
            try:
                if alone and not running:
                    batch = suspects.popleft()
                    running[workers.submit(batch)] = batch
                while waiting and not suspects and not alone and len(running) < AHEAD * workers.count:
                    batch = waiting.next()
                    running[workers.submit(batch)] = batch
            except BrokenExecutor:
                lost.append(batch)
            for future in wait(running, AWAKE, FIRST_COMPLETED).done:
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
                yield from _halved(lost[0], suspects)
            else:
                suspects.extend(lost)
            if not running:
                workers.renew()
    finally:
        for future in running:
            future.cancel()
        workers.close()


def _halved(batch: Batch, suspects: deque[Batch]) -> Iterator[Outcomes]:
    """A batch that killed its worker, alone."""
    if len(batch.portion) > 1:
        suspects.extend(batch.halved())
        return
    number = int(batch.portion.numbers[0])
    yield Outcomes.of([Outcome(number, {}, "failed", "the worker that ran it died, each time")])


def _batches(workers: Workers, sweeps: Sequence[Sweep]) -> Iterator[Batch]:
    """Of all tasks, with what their members have in common packed once."""
    for sweep in sweeps:
        parcels = [job if workers.same_process else packed(job, workers.is_dask) for job in sweep.jobs]
        yield from (Batch(parcels[task.job], sweep.portion(task), sweep.notes) for task in sweep.tasks)


def _is_dask(given: Any) -> bool:
    return type(given).__module__.startswith("distributed.") and hasattr(given, "get_executor")
