"""Compare sweeps of two-link arms with MuJoCo and Exudyn: `python benchmarks/ensemble.py`.

W1 for 10 s with other payloads and moduli: the cheapest accurate setting of each tool, then all of them timed in turn,
so that other work on the machine meets all of them; what Dask adds; the memory of many members. Writes
docs/ensemble.md; `--dry` writes nothing. `--large N` only sweeps N members here and prints their memory.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
import warnings
from dataclasses import replace
from pathlib import Path

from ensemble_set import cluster, memory, own, report, settings
from ensemble_set.arms import Grid
from ensemble_set.rounds import Sizes, timed
from flexarm.sweeps.ensemble.tasks import processor_count

PAGE = Path(__file__).resolve().parents[1] / "docs" / "ensemble.md"
SHARED, SHARED_DURATION = Grid(64, 64), 20.0  # s: batches that are worth sending


def measured(sizes: Sizes, rounds: int, members: int) -> report.Findings:
    begin, threads = time.perf_counter(), processor_count()
    chosen = settings.chosen(sizes.own, say=lambda line: print(line, flush=True))
    for trial, _ in (chosen.own, chosen.mujoco, chosen.mujoco_alike, chosen.exudyn):
        print(f"{trial.tool}: {trial.setting}, {1e3 * trial.error:.3f} mm, {1e3 * trial.loop:.3f} ms", flush=True)
    rates = timed(chosen, sizes, threads, rounds)
    longer = replace(chosen.own[1], duration=SHARED_DURATION)
    shared = cluster.shared(longer, SHARED, threads, rounds)
    here = statistics.median(own.swept(longer, SHARED)[0] * len(SHARED) for _ in range(rounds))
    few, many = (memory.peak(chosen.own[0].setting, count) for count in (members // 100, members))
    return report.Findings(chosen, rates, shared, here, few, many, time.perf_counter() - begin)


def main() -> None:
    parser = argparse.ArgumentParser(description="Time many arms in flexarm, MuJoCo and Exudyn.")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--payloads", type=int, default=40)
    parser.add_argument("--moduli", type=int, default=25)
    parser.add_argument("--members", type=int, default=100_000, help="whose memory is measured")
    parser.add_argument("--dry", action="store_true", help="write no page")
    parser.add_argument("--large", type=int, metavar="N", help="only sweep N members, and print their memory")
    parser.add_argument("--setting", metavar="NAME", help="of flexarm, for --large; the first where it is left out")
    wanted = parser.parse_args()
    warnings.simplefilter("ignore")
    if wanted.large:
        every = settings.flexarm_settings()
        print(json.dumps(memory.swept(every[wanted.setting or next(iter(every))], wanted.large)))
        return
    sizes = Sizes(Grid(wanted.payloads, wanted.moduli), alone=Grid(5, 4), mujoco=Grid(10, 10), exudyn=Grid(10, 6))
    found = measured(sizes, wanted.rounds, wanted.members)
    print(report.inside(found.timed), report.beside(found), report.dask(found), report.summary(found), sep="\n")
    if not wanted.dry:
        PAGE.write_text(report.written(found))


if __name__ == "__main__":
    main()
