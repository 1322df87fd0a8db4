"""Overhead of Dask: the same sweep on a LocalCluster with one process per core."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass

import flexarm as fa
from ensemble_set.arms import Grid
from flexarm.sweeps.case import SweepCase


@dataclass(frozen=True)
class Shared:
    """Seconds of a sweep on workers: of all of it, and of each batch, by the workers' own clocks."""

    workers: int
    wall: float
    batches: tuple[float, ...]

    @property
    def batch(self) -> float:
        return sum(self.batches) / len(self.batches)

    @property
    def overhead(self) -> float:
        """What the call takes beyond the work inside, shared evenly by the workers; a share of that."""
        return self.wall * self.workers / sum(self.batches) - 1


def shared(case: SweepCase, grid: Grid, workers: int, rounds: int) -> list[Shared]:
    """Of some rounds; one before them lets workers load what is compiled."""
    from distributed import Client, LocalCluster, get_task_stream

    options = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": None}
    found = []
    with LocalCluster(**options, silence_logs=logging.ERROR) as cluster, Client(cluster) as client:
        for _ in range(rounds + 1):
            begin = time.perf_counter()
            with get_task_stream(client) as stream:
                fa.sweep(case.robot, grid.over, case.duration, torque=case.torque, executor=client, **case.options)
                wall = time.perf_counter() - begin
            spans = [span for task in stream.data for span in task["startstops"] if span["action"] == "compute"]
            found.append(Shared(workers, wall, tuple(span["stop"] - span["start"] for span in spans)))
    return found[1:]
