"""The workloads in flexarm."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import flexarm as fa
from flexarm_papers.spatial import canadarm
from peers.result import Failed, Result

native: Any = "auto"  # True where speeds are compared: then it is compiled before it is measured


def two_link_arm(upper: fa.Flexible, fore: fa.Flexible, **options: Any) -> fa.Run:
    steel = fa.Material(E=2e10, rho=7850.0, damping=1e-3)
    bar = fa.Section.rectangle(0.005, 0.005)
    arm = fa.Robot(
        links=[
            fa.Link("upper", 1.0, section=bar, material=steel, flexible=upper),
            fa.Link("fore", 0.5, section=bar, material=steel, flexible=fore, payload=fa.PointMass(0.15)),
        ]
    )
    torque = {"upper": fa.bang_bang(0.02, (1, 2)), "fore": fa.bang_bang(0.005, (1, 2))}
    return fa.simulate(arm, 10.0, torque=torque, sample=0.01, native=native, **options)


def spin_up_beam(modes: int, stiffening: Any, **options: Any) -> fa.Run:
    beam = fa.library.rotating_beam(modes, stiffening)
    return fa.simulate(beam, 20.0, motion={"beam": fa.spin_up(6.0, 15.0)}, sample=0.02, native=native, **options)


def deflection(run: fa.Run) -> Any:
    return run.array("deflection")[:, 0, 1:2]


def rrr_arm(shapes: Sequence[fa.Flexible], elastic: bool, **options: Any) -> fa.Run:
    """`shapes` of each link."""
    arm = fa.library.rrr_arm(elastic).with_({f"links.{k}.flexible": each for k, each in enumerate(shapes)})
    torque = dict.fromkeys(("column", "upper", "fore"), 400.0)
    return fa.simulate(arm, 1.0, torque=torque, sample=0.005, native=native, **options)


def canadarm2(**options: Any) -> fa.Run:
    arm = canadarm.canadarm2()
    return fa.simulate(arm, canadarm.DROP, q0=canadarm.start(arm), sample=0.01, native=native, **options)


def measured(work: Callable[[], fa.Run], observe: Callable[[fa.Run], Any]) -> Result:
    """Refuses runs that ended early or whose iteration failed."""
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fa.ValidityWarning)
        run = work()
    track = observe(run)
    whole = time.perf_counter() - start
    if run.reason != "completed":
        raise Failed(run.reason)
    if run.statistics["unsolved"]:
        raise Failed(f"Newton's iteration failed in {run.statistics['unsolved']} steps")
    return Result(run.array("time"), track, run.statistics["loop_time"], whole, run.statistics["steps"])
