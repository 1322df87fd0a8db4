"""Start a studio: resolve and check what to open, show the robot before its run, and compute the first run."""

from __future__ import annotations

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
from flexarm.studio.compute import Result, compute_run
from flexarm.studio.files import read_results
from flexarm.studio.mesh_frames import ArmMesh, MeshFrames, thickness_factor
from flexarm.studio.scene import Ground, ViewState
from flexarm.studio.sweeps import SweepResults


@dataclass(frozen=True)
class InitialView:
    """The robot before its run: what is visible, and its ground."""

    view_state: ViewState
    ground: Ground


def initial_view(case: StudioCase | Run) -> InitialView | None:
    """Return the robot at its start posture with straight links, or None if only the run determines it."""
    if isinstance(case, Run):
        return None
    start = case.plan.get("q0") or {}
    system = System(case.robot)
    if system.constraints or not isinstance(start, Mapping) or not set(start) <= set(system.names):
        return None
    q = np.zeros((1, system.nq))
    for name, value in start.items():
        q[0, system.index(name)] = value
    mesh = ArmMesh(system, q[0], 1.0, thickness_factor(system))
    return InitialView(
        ViewState(mesh.corners(q)[0], mesh.faces, mesh.base_colours),
        Ground.from_points(case.robot, Arm(system, q, 1.0, 5).cloud),
    )


def resolve_start(robot: Any, options: Mapping[str, Any]) -> StudioCase | Run:
    """Return the case or the run that the arguments of `fa.studio` describe."""
    known = [name for name in inspect.signature(simulate).parameters if name not in ("robot", "progress")]
    for name in options:
        if name not in known:
            raise TypeError(describe_unknown(f"unknown option {name!r}", name, known))
    if robot is None:
        return StudioCase.from_robot(two_link_arm(damping=1e-3), options)
    if isinstance(robot, Robot):
        return StudioCase.from_robot(robot, options)
    if not isinstance(robot, (Run, str, os.PathLike)) or robot == "":
        raise TypeError(f"robot = {shown(robot)}: must be a Robot, a Run, or the name of a file (.yaml or .nc)")
    if isinstance(robot, Run) or Path(os.fsdecode(robot)).suffix.lower() == ".nc":
        if options:
            name = next(iter(options))
            raise TypeError(f"{name} = {shown(options[name])}: a run is already computed; give its robot instead")
        found = robot if isinstance(robot, Run) else read_results(robot)
        if isinstance(found, SweepResults):
            raise ValueError(
                f"{robot}: is a sweep, which does not contain its robot; give the robot, and this file as sweep"
            )
        return found
    case = StudioCase.from_file(os.fsdecode(robot))
    return StudioCase.from_robot(case.robot, options, case.file) if options else case


def resolve_sweep(sweep: Any, start: StudioCase | Run) -> SweepResults | None:
    """Return a sweep that matches the case, so that a page can show it."""
    if sweep is None:
        return None
    if isinstance(start, Run):
        raise TypeError("sweep: needs a robot to compute its members; give the robot instead of a run")
    if isinstance(sweep, (str, os.PathLike)):
        found = read_results(sweep)
        if not isinstance(found, SweepResults):
            raise ValueError(f"sweep = {os.fsdecode(sweep)!r}: is one run, not a sweep")
    else:
        found = SweepResults(sweep)
    start.with_(found.changes(0))  # raises for a sweep of another robot
    return found


def compute_first_result(
    start: StudioCase | Run, should_stop: Callable[[], bool], on_valid: Callable[[], None]
) -> Result | None:
    """Compute the run with which all pages start; None if `should_stop` returns True before its end.

    `on_valid` is called once all arguments were found valid; errors in them are raised before.
    """
    if isinstance(start, Run):
        return None

    def stop_requested() -> bool:
        if sys.exception() is None:  # also called while an error propagates
            on_valid()
        return should_stop()

    found = compute_run(start, should_stop=stop_requested)
    MeshFrames(found.system, found.run, 1.0, 1.0).points(0)
    return found if found.run.status != "interrupted" else None
