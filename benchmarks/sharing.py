"""Compare loops over links that share code with straight-line code: `python benchmarks/sharing.py`.

For chains of equal links, each with an empty cache: set-up (trace and compile) and a step. Where the loops begin to be
faster is what `flexarm.integrators.link_loops.MIN_INSTRUCTIONS` says.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
import warnings

import flexarm as fa
from flexarm.dynamics.accuracy.validity import size_estimate
from flexarm.integrators import compiled_step, plant
from robots import planar_chain, spatial_chain

DT = 1e-3  # s
CHAINS = {
    "planar, 3 modes": (lambda n: planar_chain(n), (4, 8, 12, 20, 30, 50)),
    "rigid": (lambda n: planar_chain(n).rigid(), (8, 16, 32, 64, 100)),
    "spatial, 12 modes": (lambda n: spatial_chain(n, damping=1e-4), (2, 4, 8)),
}


def measured(robot: fa.Robot, shared: bool, repeats: int) -> tuple[float, float]:
    """Seconds of set-up, microseconds a step."""
    plant.shares = lambda structure: shared
    compiled_step._codes.clear()
    with tempfile.TemporaryDirectory() as cache:
        os.environ["FLEXARM_CACHE"] = cache
        system = fa.System(robot)
        torque = {system.inputs[0]: fa.bang_bang(0.02, (0.2, 0.4))}
        start = time.perf_counter()
        fa.simulate(system, 2 * DT, torque=torque, dt=DT, sample=DT, native=True)
        setup = time.perf_counter() - start
        runs = [fa.simulate(system, 0.5, torque=torque, dt=DT, sample=0.1, native=True) for _ in range(repeats)]
    return setup, 1e6 * min(run.statistics["loop_time"] / run.statistics["steps"] for run in runs)


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare loops over links with code written out.")
    parser.add_argument("--repeats", type=int, default=10, help="runs of which the fastest counts")
    parser.add_argument("--chain", choices=CHAINS, help="only this one")
    wanted = parser.parse_args()
    warnings.simplefilter("ignore", fa.ValidityWarning)
    print(
        f"{'chain':<20}{'links':>6}{'estimate':>10}{'set-up s, written out':>24}{'loops':>8}{'us/step':>10}{'loops':>8}"
    )
    for name, (chain, counts) in CHAINS.items():
        for count in counts if wanted.chain in (None, name) else ():
            robot = chain(count)
            (setup, step), (setup_loops, loops) = (measured(robot, shared, wanted.repeats) for shared in (False, True))
            print(
                f"{name:<20}{count:>6}{size_estimate(robot):>10}{setup:>24.2f}{setup_loops:>8.2f}{step:>10.2f}{loops:>8.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
