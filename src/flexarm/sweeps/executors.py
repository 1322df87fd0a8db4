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
from typing import Any

from flexarm.foundation.sentences import shown
from flexarm.sweeps.member import Member, Outcome
from flexarm.sweeps.parcel import Job, packed, work

TASKS = 4  # for each worker: so that all end at about the same time
LARGEST = 256  # members of a batch
LANES = 8  # large batches are whole multiples
AWAKE = 0.2  # s between looks at whether Ctrl-C was pressed

Batch = Sequence[Member]


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

    def submit(self, parcel: bytes | Job, batch: Batch) -> Future[list[Outcome]]:
        return self._executor.submit(work, parcel, list(batch))

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


def spread(workers: Workers, job: Job, groups: Sequence[Sequence[Member]]) -> Iterator[Outcome]:
    """What comes of the members of all groups, in the order in which they are done."""
    parcel: bytes | Job = job if workers.same_process else packed(job, workers.is_dask)
    count = sum(map(len, groups))
    waiting = deque(batch for group in groups for batch in batches(group, count, workers.count))
    suspects: deque[Batch] = deque()
    running: dict[Future[list[Outcome]], Batch] = {}
    try:
        while waiting or suspects or running:
            alone = bool(suspects) and not running
            lost: list[Batch] = []
            try:
                if alone:
                    batch = suspects.popleft()
                    running[workers.submit(parcel, batch)] = batch
                while waiting and not suspects and not alone and len(running) < 2 * workers.count:
                    batch = waiting.popleft()
                    running[workers.submit(parcel, batch)] = batch
            except BrokenExecutor:
                lost.append(batch)
            for future in wait(running, AWAKE, FIRST_COMPLETED).done:
                batch = running.pop(future)
                try:
                    found = future.result()
                except workers.deaths:
                    lost.append(batch)
                    continue
                yield from found
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


def _halved(batch: Batch, suspects: deque[Batch]) -> Iterator[Outcome]:
    """A batch that killed its worker, alone."""
    if len(batch) == 1:
        yield Outcome(batch[0].number, {}, "failed", "the worker that ran it died, each time")
        return
    middle = len(batch) // 2
    suspects.extend((batch[:middle], batch[middle:]))


def batches(members: Sequence[Member], count: int, workers: int) -> Iterator[Batch]:
    """Of members of one structure, so many for all that each worker gets some batches."""
    size = min(max(1, -(-count // (TASKS * workers))), LARGEST)
    if size >= 4 * LANES:  # smaller ones would be shared out unevenly
        size = -(-size // LANES) * LANES
    for start in range(0, len(members), size):
        yield members[start : start + size]


def _is_dask(given: Any) -> bool:
    return type(given).__module__.startswith("distributed.") and hasattr(given, "get_executor")
