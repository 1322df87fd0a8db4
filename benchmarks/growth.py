"""W5: growth of cost with the size of the robot, `python benchmarks/growth.py` (or as part of compare.py).

Each size is measured in a process of its own with an empty cache: set-up and compile time, cost of a step and of a
simulated second, memory.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

import flexarm as fa
from robots import planar_chain

SIZES = {"links": (2, 5, 10, 20, 50), "elements": (2, 5, 10, 20, 50, 100)}
TITLES = {"links": "planar chain, 3 modes a link", "elements": "one link of finite elements"}
DT = 1e-3  # s
LIMIT = 300.0  # s for a size
FAILED = float("nan")


@dataclass(frozen=True)
class Cost:
    """Of a robot of `size` links or elements."""

    kind: str
    size: int
    coordinates: int = 0
    setup: float = FAILED  # s: trace and compile, empty cache
    step: float = FAILED  # s
    second: float = FAILED  # s of computing for a simulated second at rtol 1e-3
    memory: float = FAILED  # MB
    failure: str = ""


def robot(kind: str, size: int) -> fa.Robot:
    if kind == "links":
        chain = planar_chain(size)
        damped = chain.links[0].material.model_copy(update={"damping": 1e-3})
        return chain.with_(links=[link.model_copy(update={"material": damped}) for link in chain.links])
    arm = fa.library.two_link_arm(damping=1e-3)
    return arm.with_(links=[arm.links[0]]).with_({"links.0.flexible": fa.Flexible(bend_y=size, basis="elements")})


def measure(kind: str, size: int) -> Cost:
    system = fa.System(robot(kind, size))
    torque = {system.inputs[0]: fa.bang_bang(0.02, (0.2, 0.4))}
    warnings.simplefilter("ignore", fa.ValidityWarning)
    start = time.perf_counter()
    fa.simulate(system, 2 * DT, torque=torque, dt=DT, sample=DT, native=True)
    setup = time.perf_counter() - start
    fixed = [fa.simulate(system, 0.5, torque=torque, dt=DT, sample=0.1) for _ in range(5)]
    free = [fa.simulate(system, 1.0, torque=torque, rtol=1e-3, sample=0.1) for _ in range(3)]
    ended = {run.reason for run in (*fixed, *free)} - {"completed"}
    return Cost(
        kind,
        size,
        system.nq,
        setup,
        statistics.median(run.statistics["loop_time"] / run.statistics["steps"] for run in fixed),
        statistics.median(run.statistics["loop_time"] for run in free),
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "; ".join(sorted(ended)),
    )


def measure_apart(kind: str, size: int) -> Cost:
    """In a process of its own with an empty cache."""
    with tempfile.TemporaryDirectory() as cache:
        command = [sys.executable, str(Path(__file__).resolve()), "--one", kind, str(size)]
        try:
            done = subprocess.run(
                command, env={**os.environ, "FLEXARM_CACHE": cache}, capture_output=True, text=True, timeout=LIMIT
            )
        except subprocess.TimeoutExpired:
            return Cost(kind, size, failure=f"not finished after {LIMIT:.0f} s")
    if done.returncode:
        return Cost(kind, size, failure=(done.stderr.strip().splitlines() or ["the process died"])[-1])
    return Cost(**json.loads(done.stdout.splitlines()[-1]))


def exponent(costs: list[Cost], of: str) -> float:
    """p of cost ~ coordinates^p, by least squares of the logarithms."""
    known = [(cost.coordinates, getattr(cost, of)) for cost in costs if not cost.failure]
    if len(known) < 2:
        return float("nan")
    n, values = np.log(np.array(known, float)).T
    return float(np.polyfit(n, values, 1)[0])


def all_costs(kind: str) -> list[Cost]:
    return [measure_apart(kind, size) for size in SIZES[kind]]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--one", nargs=2, metavar=("KIND", "SIZE"), help="measure one size here and print JSON")
    options = parser.parse_args()
    if options.one:
        print(json.dumps(asdict(measure(options.one[0], int(options.one[1])))))
        return
    for kind, title in TITLES.items():
        print(f"{title}\n{'size':>6}{'nq':>6}{'set-up s':>10}{'us/step':>10}{'s/s':>10}{'MB':>8}")
        costs = all_costs(kind)
        for c in costs:
            print(
                f"{c.size:>6}{c.coordinates:>6}{c.setup:>10.2f}{1e6 * c.step:>10.2f}{c.second:>10.4f}{c.memory:>8.0f}",
                c.failure,
            )
        print(
            "grows with the coordinates to the power", {of: round(exponent(costs, of), 2) for of in ("setup", "step")}
        )


if __name__ == "__main__":
    main()
