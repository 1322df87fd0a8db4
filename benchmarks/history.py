"""Costs of an early version, measured once with the functions of this script, and of the present one."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable

import flexarm as fa
import instructions
from robots import planar_chain

TORQUE = {"upper": fa.bang_bang(0.02, (1, 2)), "fore": fa.bang_bang(0.005, (1, 2))}

# of the version in which chunks always ran to their end, every process traced its robots anew and long functions were
# compiled in one piece; on a machine of two cores, whose times now are in the other column
BEFORE = {
    "instructions of a step, two-link arm": 4244,
    "instructions of a step, RRR arm": 28595,
    "instructions of a step, 20 planar links": 49837,
    "instructions of a step, 5 spatial links": 66584,
    "computed steps per accepted step, W1 at rtol 1e-4": 1.80,
    "whole call of W1 at rtol 1e-3, with a new System (ms)": 121,
    "whole call of W2 with 4 modes at rtol 1e-3, with a new System (ms)": 69.8,
    "set-up of 50 planar links with an empty cache (s)": 19.0,
}

REMARK = """"Before" is an early version, measured once. Since then common subexpressions are shared between the two
error measures, and one solve per link replaces two. Steps stop where one is not accurate enough. A robot that was
simulated before is loaded from the cache, not traced. Long generated functions are compiled in pieces. Shapes are
computed when they are needed. About a sixth of a step was added to keep the mass matrix of bent links definite
([theory](theory.md)). Compiler flags (-O2, -march=native) had no effect beyond noise. Parameters are now inputs of a
step, which costs some loads; normalized modes, ones at nodes and symmetric inertias compensate for them. Remaining
options: the residual is differentiated, not written by hand (a trial saved 4 %); the iteration matrix is factorized
again in each step."""


def now() -> dict[str, float]:
    """The same quantities of the package as it is."""
    names = {"two-link arm", "RRR arm", "20 planar links", "5 spatial links"}
    robots = {name: each for name, each in instructions.robots().items() if name in names}
    found: dict[str, float] = {
        f"instructions of a step, {name}": instructions.counts(*each)["step"] for name, each in robots.items()
    }
    arm, beam = fa.library.two_link_arm(damping=1e-3), fa.library.rotating_beam(4)
    told = fa.simulate(arm, 10.0, torque=TORQUE, rtol=1e-4, native=True).statistics
    found["computed steps per accepted step, W1 at rtol 1e-4"] = told["computed"] / told["steps"]
    found["whole call of W1 at rtol 1e-3, with a new System (ms)"] = 1e3 * _median(
        lambda: fa.simulate(fa.System(arm), 10.0, torque=TORQUE, rtol=1e-3)
    )
    found["whole call of W2 with 4 modes at rtol 1e-3, with a new System (ms)"] = 1e3 * _median(
        lambda: fa.simulate(fa.System(beam), 20.0, motion={"beam": fa.spin_up(6.0, 15.0)}, rtol=1e-3, native=True)
    )
    found["set-up of 50 planar links with an empty cache (s)"] = _cold(planar_chain(50))
    return {name: found[name] for name in BEFORE}


def _median(work: Callable[[], object], repeats: int = 15) -> float:
    times = []
    for _ in range(repeats + 2):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times[2:])


def _cold(robot: fa.Robot) -> float:
    usual = os.environ.get("FLEXARM_CACHE")
    with tempfile.TemporaryDirectory() as empty:
        os.environ["FLEXARM_CACHE"] = empty
        start = time.perf_counter()
        fa.simulate(fa.System(robot), 0.01, dt=1e-3, native=True)
        taken = time.perf_counter() - start
    if usual is None:
        del os.environ["FLEXARM_CACHE"]
    else:
        os.environ["FLEXARM_CACHE"] = usual
    return taken
