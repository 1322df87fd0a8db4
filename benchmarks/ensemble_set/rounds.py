"""Time all ways of running the ensemble in turn, so that disturbances of the machine affect all of them."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import flexarm as fa
from ensemble_set import own
from ensemble_set.arms import DURATION, SAMPLE, Grid
from ensemble_set.settings import Chosen
from flexarm.sweeps.case import SweepCase

Seconds = tuple[float, ...]


@dataclass(frozen=True)
class Sizes:
    """What runs: those who take long have fewer members, as their cost is proportional to them."""

    own: Grid
    alone: Grid
    mujoco: Grid
    exudyn: Grid


@dataclass(frozen=True)
class Timed:
    """Medians of the rounds, seconds a member.

    alone: of the loop, and whole. inside, inside_all: of the engine on one core and on all, in loops of all threads
    (steps; over their nodes), in the run, and prepared too. swept, swept_all: of `fa.sweep`, whole and in these loops.
    Others: in the solver, and with models built.
    """

    threads: int
    sizes: Sizes
    rounds: int
    alone: Seconds
    inside: Seconds
    inside_all: Seconds
    swept: Seconds
    swept_all: Seconds
    mujoco: Seconds
    mujoco_alike: Seconds
    mujoco_named: Seconds
    exudyn: Seconds

    @property
    def lanes(self) -> float:
        """How many times faster lanes are than loops one by one, on one core."""
        return self.alone[0] / self.inside[0]

    @property
    def cores(self) -> float:
        """How many times faster threads on all cores are than one: the larger share of a sweep, its run."""
        return self.inside[2] / self.inside_all[2]

    @property
    def beyond(self) -> float:
        """A whole sweep on one core against its loops: steps, and what is read and watched on their nodes."""
        return self.swept[0] / sum(self.swept[1:])

    @property
    def beyond_all(self) -> float:
        """On all cores: the time of all of them against loops."""
        return self.threads * self.swept_all[0] / sum(self.swept_all[1:])

    def times(self, peer: Seconds) -> tuple[float, float]:
        """How many members `fa.sweep` computes on all cores, whole, while a peer computes one: by the peer's solver
        alone, and with its models built."""
        return peer[0] / self.swept_all[0], peer[1] / self.swept_all[0]


def rolled_out(setting: Mapping[str, Any], grid: Grid, threads: int) -> Seconds:
    from peers import mujoco_ensemble

    begin = time.perf_counter()
    models = mujoco_ensemble.two_link_arms(grid.pairs, **setting)
    ready = time.perf_counter()
    mujoco_ensemble.tips(models, DURATION, SAMPLE, threads)
    end = time.perf_counter()
    return (end - ready) / len(grid), (end - begin) / len(grid)


def varied(setting: Mapping[str, Any], grid: Grid, processes: int) -> Seconds:
    """Members build their models in the processes: the solver's share of their time tells what is left without."""
    from peers import exudyn_ensemble

    begin = time.perf_counter()
    found = exudyn_ensemble.varied(*grid.values, setting, processes)
    whole = (time.perf_counter() - begin) / len(grid)
    return sum(each[2] for each in found) / processes / len(grid), whole


def ways(chosen: Chosen, sizes: Sizes, threads: int) -> dict[str, Callable[[], Seconds]]:
    case = chosen.own[1]
    return {
        "alone": lambda: own.one_by_one(case, sizes.alone),
        "inside": lambda: own.together(case, sizes.own, 1),
        "inside_all": lambda: own.together(case, sizes.own, threads),
        "swept": lambda: own.swept(case, sizes.own, 1),
        "swept_all": lambda: own.swept(case, sizes.own),
        "mujoco": lambda: rolled_out(chosen.mujoco[1], sizes.mujoco, threads),
        "mujoco_alike": lambda: rolled_out(chosen.mujoco_alike[1], sizes.mujoco, threads),
        "mujoco_named": lambda: rolled_out(chosen.mujoco_named[1], sizes.mujoco, threads),
        "exudyn": lambda: varied(chosen.exudyn[1], sizes.exudyn, threads),
    }


def timed(chosen: Chosen, sizes: Sizes, threads: int, rounds: int) -> Timed:
    compiled(chosen.own[1], sizes)
    found: dict[str, list[Seconds]] = {}
    for _ in range(rounds):
        for name, way in ways(chosen, sizes, threads).items():
            found.setdefault(name, []).append(way())
    medians = {name: tuple(map(statistics.median, zip(*rows, strict=True))) for name, rows in found.items()}
    return Timed(threads, sizes, rounds, **medians)


def compiled(case: SweepCase, sizes: Sizes) -> None:
    """What the rounds run is compiled before."""
    fa.simulate(case.robot, case.duration, torque=case.torque, native=True, **case.options)
    own.one_by_one(case, sizes.alone)
    own.swept(case, sizes.own)
