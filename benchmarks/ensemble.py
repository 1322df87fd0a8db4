"""Many two-link arms: one by one, in lanes, in lanes and threads, `python benchmarks/ensemble.py`.

W1 for 10 s with other payloads and moduli, in one process. The three are timed in turn, so that other work on the
machine meets all of them, and told as ratios of their medians. Loops are the compiled steps alone; a whole sweep is all
from its members to their measures. How far tips are off is told by runs of the exact model of some members.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import time
import warnings
from typing import Any

import numpy as np

import flexarm as fa
from flexarm.mechanics.lane_library import widest
from flexarm.sweeps.lanes import engine
from flexarm.sweeps.member import Case, Member

RTOL, SAMPLE = 3e-3, 0.05
PAYLOADS, MODULI = (0.05, 0.3), (1.5e10, 4e10)
SHAPES = fa.Flexible(bend_y=1, basis=fa.reduced(12, 1, "fixed"))
EXACT = fa.Flexible(bend_y=6, basis="elements", stiffening="exact")
TORQUE = {"upper": fa.bang_bang(0.02, (1, 2)), "fore": fa.bang_bang(0.005, (1, 2))}


def arm(shapes: fa.Flexible) -> fa.Robot:
    both = {"links.upper.flexible": shapes, "links.fore.flexible": shapes}
    return fa.library.two_link_arm(damping=1e-3).with_(both)


CASE = Case(arm(SHAPES), 10.0, torque=TORQUE, options={"rtol": RTOL, "sample": SAMPLE})


def members(payloads: int, moduli: int) -> list[Member]:
    """Of a grid: payload x E of the upper link."""
    grid = itertools.product(np.linspace(*PAYLOADS, payloads), np.linspace(*MODULI, moduli))
    names = ("links.fore.payload.mass", "links.upper.material.E")
    return [Member(k, dict(zip(names, map(float, each), strict=True))) for k, each in enumerate(grid)]


def one_by_one(these: list[Member]) -> tuple[float, float]:
    """Seconds a member: of the loop, and whole."""
    begin, loops = time.perf_counter(), 0.0
    for each in these:
        run = fa.simulate(CASE.robot.with_(each.changes), CASE.duration, torque=TORQUE, **CASE.options)
        loops += run.statistics["loop_time"]
    return loops / len(these), (time.perf_counter() - begin) / len(these)


def together(these: list[Member], threads: int) -> tuple[float, float, float]:
    """Seconds a member: of the loops of all threads, of the run, and whole with its preparation."""
    begin = time.perf_counter()
    sweep = engine.prepare(CASE, these, threads=threads)
    ready = time.perf_counter()
    count = sum(1 for _ in engine.run(sweep, threads))
    end = time.perf_counter()
    return sweep.loop_time / count, (end - ready) / count, (end - begin) / count


def deviation(these: list[Member]) -> float:
    """The largest distance of a tip from that of the exact model (m)."""
    worst = 0.0
    for outcome in engine.run(engine.prepare(CASE, these, keep_runs=True)):
        changes = next(each.changes for each in these if each.number == outcome.number)
        exact = fa.simulate(arm(EXACT).with_(changes), CASE.duration, torque=TORQUE, sample=SAMPLE, rtol=1e-5)
        assert outcome.run is not None
        worst = max(worst, float(np.linalg.norm(outcome.run.array("tip") - exact.array("tip"), axis=1).max()))
    return worst


def main() -> None:
    parser = argparse.ArgumentParser(description="Time many arms one by one, in lanes and in threads.")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--payloads", type=int, default=40)
    parser.add_argument("--moduli", type=int, default=25)
    wanted = parser.parse_args()
    warnings.simplefilter("ignore")
    these, few = members(wanted.payloads, wanted.moduli), members(5, 4)
    fa.simulate(CASE.robot, CASE.duration, torque=TORQUE, native=True, **CASE.options)
    together(these, 1)  # compiled
    threads = engine.processors()
    times: dict[str, list[Any]] = {"one": [], "lanes": [], "threads": []}
    for _ in range(wanted.rounds):
        times["one"].append(one_by_one(few))
        times["lanes"].append(together(these, 1))
        times["threads"].append(together(these, threads))
    one, lanes, many = ([statistics.median(each) for each in zip(*rows, strict=True)] for rows in times.values())
    print(f"{len(these)} members, {widest().lanes} lanes, {threads} threads; medians of {wanted.rounds} rounds")
    print(f"one by one: {1e3 * one[0]:.3f} ms a loop, {1e3 * one[1]:.2f} ms a run")
    print(f"lanes: {1e3 * lanes[0]:.3f} ms a member in loops, {one[0] / lanes[0]:.2f} times faster")
    print(f"whole run of lanes against its loops: {lanes[1] / lanes[0]:.2f}, prepared too {lanes[2] / lanes[0]:.2f}")
    print(f"{threads} threads against one: {lanes[1] / many[1]:.2f} times")
    print(f"{1 / many[1]:.0f} members a second, {1 / many[2]:.0f} with preparation; one by one {1 / one[1]:.0f}")
    print(f"tips within {1e3 * deviation(members(2, 2)):.3f} mm")


if __name__ == "__main__":
    main()
