"""What a studio begins with: the case or the run that it was asked to open, checked, and its first run."""

from __future__ import annotations

import contextlib
import inspect
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from flexarm.foundation.sentences import shown, unknown
from flexarm.motion.run import Run
from flexarm.motion.simulate import simulate
from flexarm.robot import Robot
from flexarm.robot.library import two_link_arm
from flexarm.studio.case import Case
from flexarm.studio.computing import Result, computed
from flexarm.studio.fields import varied
from flexarm.studio.files import results
from flexarm.studio.film import Film
from flexarm.studio.standing import Standing, standing
from flexarm.studio.sweep import Sweep


def beginning(robot: Any, options: Mapping[str, Any]) -> Case | Run:
    """The case or the run that is meant."""
    known = [name for name in inspect.signature(simulate).parameters if name not in ("robot", "progress")]
    for name in options:
        if name not in known:
            raise TypeError(unknown(f"unknown option {name!r}", name, known))
    if robot is None:
        return Case.of_robot(two_link_arm(damping=1e-3), options)
    if isinstance(robot, Robot):
        return Case.of_robot(robot, options)
    if not isinstance(robot, (Run, str, os.PathLike)) or robot == "":
        raise TypeError(f"robot = {shown(robot)}: must be a Robot, a Run, or the name of a file (.yaml or .nc)")
    if isinstance(robot, Run) or Path(os.fsdecode(robot)).suffix.lower() == ".nc":
        if options:
            name = next(iter(options))
            raise TypeError(f"{name} = {shown(options[name])}: a run is computed already; give its robot to compute it")
        found = robot if isinstance(robot, Run) else results(robot)
        if isinstance(found, Sweep):
            raise ValueError(f"{robot}: is a sweep, which does not hold its robot; give the robot, and this as sweep")
        return found
    case = Case.of_file(os.fsdecode(robot))
    return Case.of_robot(case.robot, options, case.file) if options else case


def beginning_sweep(sweep: Any, start: Case | Run) -> Sweep | None:
    """A sweep that fits the case that is opened, so that a page can show it."""
    if sweep is None:
        return None
    if isinstance(start, Run):
        raise TypeError("sweep: is of a robot that can be computed; give the robot instead of a run")
    if isinstance(sweep, (str, os.PathLike)):
        found = results(sweep)
        if not isinstance(found, Sweep):
            raise ValueError(f"sweep = {os.fsdecode(sweep)!r}: is one run, not a sweep")
    else:
        found = Sweep(sweep)
    varied(start, found.changes(0))
    return found


def first_view(start: Case | Run) -> Standing | None:
    """How the robot stands before its first run is computed; None where that is not known. Pages are imported on the
    way, for which a browser would wait otherwise."""
    import flexarm.studio.page  # noqa: F401

    if isinstance(start, Run):
        return None
    with contextlib.suppress(Exception):  # whatever it is, the run will tell
        return standing(start)
    return None


def first_result(start: Case | Run, enough: Callable[[], bool], begun: Callable[[], None]) -> Result | None:
    """The run that all pages begin with, computed while a browser loads; None where somebody has `enough` before.
    `begun` is called once all that it is to be computed of was found right: what is wrong is raised before."""
    if isinstance(start, Run):
        return None

    def asked() -> bool:
        if sys.exception() is None:  # it is asked as well when an error is on its way
            begun()
        return enough()

    found = computed(start, enough=asked)
    Film(found.system, found.run, 1.0, 1.0).alone(0)
    return found if found.run.status != "interrupted" else None
