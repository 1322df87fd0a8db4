"""Measure the cost of a simulation: `python benchmarks/simulate.py` (or `make bench`).

Times depend on the machine: read them as ratios within one run. The accuracy stands beside each time.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import flexarm as fa
from robots import spatial_chain

TORQUE = {"upper": fa.bang_bang(0.02, (1, 2)), "fore": fa.bang_bang(0.005, (1, 2))}
EXAMPLE = Path(__file__).parent.parent / "examples" / "two_link.yaml"


def two_link_arm() -> float:
    """10 s of the damped two-link arm: the loop, the whole call, and the error against a converged solution."""
    system = fa.System(fa.library.two_link_arm(damping=1e-3))
    exact = fa.simulate(system, 10.0, torque=TORQUE, method="rk45", rtol=1e-9, sample=0.01).tip.values
    print("two-link arm, Kelvin-Voigt damping 1e-3 s, 10 s, 1001 samples of everything")
    print(f"{'rtol':>8}{'tip error mm':>14}{'steps':>8}{'us/step':>9}{'loop ms':>9}{'whole call ms':>15}")
    cost = 0.0
    for rtol in (1e-2, 1e-3, 1e-4, 1e-5):
        fa.simulate(system, 10.0, torque=TORQUE, rtol=rtol, native=True)
        loops, calls = [], []
        for _ in range(7):
            start = time.perf_counter()
            run = fa.simulate(system, 10.0, torque=TORQUE, rtol=rtol, sample=0.01)
            calls.append(time.perf_counter() - start)
            loops.append(run.statistics["loop_time"])
        error = np.abs(run.tip.values - exact).max()
        cost = statistics.median(loops) / run.statistics["computed"]
        loop, call = 1e3 * statistics.median(loops), 1e3 * statistics.median(calls)
        print(
            f"{rtol:>8.0e}{1e3 * error:>14.4f}{run.statistics['steps']:>8}{1e6 * cost:>9.2f}{loop:>9.2f}{call:>15.1f}"
        )
    return cost


def spatial_links(two_link: float) -> None:
    system = fa.System(spatial_chain(5, damping=1e-4))
    torque = dict.fromkeys(system.inputs, 0.01)
    start = time.perf_counter()
    fa.simulate(system, 0.01, torque=torque, dt=1e-4, native=True)
    first = time.perf_counter() - start
    run = fa.simulate(system, 0.5, torque=torque, dt=1e-4)
    cost = run.statistics["loop_time"] / run.statistics["computed"]
    ratio = cost / two_link
    print(f"\nfive spatial links with 12 modes each: {1e6 * cost:.1f} us a step, {ratio:.1f} times the two-link arm")
    print(f"its first call (trace, compile, run): {first:.1f} s")


def cold_start() -> None:
    def seconds(command: list[str], **environment: str) -> float:
        start = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True, env={**os.environ, **environment})
        return time.perf_counter() - start

    bare = statistics.median(seconds([sys.executable, "-c", "import casadi, xarray, matplotlib"]) for _ in range(3))
    with tempfile.TemporaryDirectory() as place:
        out = ["-o", f"{place}/a.nc", "--plot", f"{place}/a.png", "--set", "links.upper.material.damping=1e-3"]
        out += ["--set", "links.fore.material.damping=1e-3"]
        command = [sys.executable, "-c", "from flexarm.cli import main; main()", "run", str(EXAMPLE), *out]
        cold = seconds(command, FLEXARM_CACHE=f"{place}/cache")
        warm = seconds(command, FLEXARM_CACHE=f"{place}/cache")
    print(f"\nflexarm run, two-link arm: cold {cold:.2f} s, warm {warm:.2f} s; bare imports {bare:.2f} s")
    print(f"cold start is {cold / bare:.1f} times `import casadi, xarray, matplotlib`")


if __name__ == "__main__":
    spatial_links(two_link_arm())
    cold_start()
