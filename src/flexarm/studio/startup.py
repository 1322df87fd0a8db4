"""A robot as it stands before its run is computed: a page shows it at once, and its run when that is ready.

What a studio begins with: the case or the run that it was asked to open, checked, and its first run.
"""

from __future__ import annotations

import contextlib
import inspect
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from flexarm.dynamics.system import System
from flexarm.foundation.messages import describe_unknown, shown
from flexarm.plotting.arm_points import Arm
from flexarm.results.run import Run
from flexarm.robot import Robot
from flexarm.robot.library import two_link_arm
from flexarm.simulation.simulate import simulate
from flexarm.studio.case import StudioCase
from flexarm.studio.compute import Result, computed
from flexarm.studio.files import results
from flexarm.studio.mesh_frames import MeshFrames, Triangles, bodies_of, corners, thickening
from flexarm.studio.scene import Ground, Still
from flexarm.studio.sweep_members import SweepResults
from flexarm.studio.sweep_run import varied


@dataclass(frozen=True)
class Standing:
    """What is seen of it, and where it stands."""

    still: Still
    ground: Ground


def standing(case: StudioCase) -> Standing | None:
    """The robot of a case where that says that joints start, links straight; None where only the run knows it."""
    start = case.plan.get("q0") or {}
    system = System(case.robot)
    if system.constraints or not isinstance(start, Mapping) or not set(start) <= set(system.names):
        return None
    q = np.zeros((1, system.nq))
    for name, value in start.items():
        q[0, system.index(name)] = value
    bodies = bodies_of(system, q, 1.0, thickening(system))
    seen = Triangles(bodies)
    return Standing(
        Still(corners(bodies)[0], seen.faces, seen.plain), Ground.of(case.robot, Arm(system, q, 1.0, 5).cloud)
    )


def beginning(robot: Any, options: Mapping[str, Any]) -> StudioCase | Run:
    """The case or the run that is meant."""
    known = [name for name in inspect.signature(simulate).parameters if name not in ("robot", "progress")]
    for name in options:
        if name not in known:
            raise TypeError(describe_unknown(f"unknown option {name!r}", name, known))
    if robot is None:
        return StudioCase.of_robot(two_link_arm(damping=1e-3), options)
    if isinstance(robot, Robot):
        return StudioCase.of_robot(robot, options)
    if not isinstance(robot, (Run, str, os.PathLike)) or robot == "":
        raise TypeError(f"robot = {shown(robot)}: must be a Robot, a Run, or the name of a file (.yaml or .nc)")
    if isinstance(robot, Run) or Path(os.fsdecode(robot)).suffix.lower() == ".nc":
        if options:
            name = next(iter(options))
            raise TypeError(f"{name} = {shown(options[name])}: a run is computed already; give its robot to compute it")
        found = robot if isinstance(robot, Run) else results(robot)
        if isinstance(found, SweepResults):
            raise ValueError(f"{robot}: is a sweep, which does not hold its robot; give the robot, and this as sweep")
        return found
    case = StudioCase.of_file(os.fsdecode(robot))
    return StudioCase.of_robot(case.robot, options, case.file) if options else case


def beginning_sweep(sweep: Any, start: StudioCase | Run) -> SweepResults | None:
    """A sweep that fits the case that is opened, so that a page can show it."""
    if sweep is None:
        return None
    if isinstance(start, Run):
        raise TypeError("sweep: is of a robot that can be computed; give the robot instead of a run")
    if isinstance(sweep, (str, os.PathLike)):
        found = results(sweep)
        if not isinstance(found, SweepResults):
            raise ValueError(f"sweep = {os.fsdecode(sweep)!r}: is one run, not a sweep")
    else:
        found = SweepResults(sweep)
    varied(start, found.changes(0))
    return found


def first_view(start: StudioCase | Run) -> Standing | None:
    """How the robot stands before its first run is computed; None where that is not known. Pages are imported on the
    way, for which a browser would wait otherwise."""
    import flexarm.studio.page  # noqa: F401

    if isinstance(start, Run):
        return None
    with contextlib.suppress(Exception):  # whatever it is, the run will tell
        return standing(start)
    return None


def first_result(start: StudioCase | Run, enough: Callable[[], bool], begun: Callable[[], None]) -> Result | None:
    """The run that all pages begin with, computed while a browser loads; None where somebody has `enough` before.
    `begun` is called once all that it is to be computed of was found right: what is wrong is raised before."""
    if isinstance(start, Run):
        return None

    def asked() -> bool:
        if sys.exception() is None:  # it is asked as well when an error is on its way
            begun()
        return enough()

    found = computed(start, enough=asked)
    MeshFrames(found.system, found.run, 1.0, 1.0).alone(0)
    return found if found.run.status != "interrupted" else None
