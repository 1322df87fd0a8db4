"""Joints that move as those of the rigid twin: the links follow as they like, forwards in time.

Torques that take the tip of a flexible robot, or another output, along a path.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from flexarm.analysis.rigid_kinematics import Component, Twin, require_tree
from flexarm.control.inversion.bounded_motion import METHODS, SearchOptions
from flexarm.control.inversion.output_constraint import Servo
from flexarm.control.inversion.result import Inversion
from flexarm.control.inversion.rigid_reference import twin_path
from flexarm.dynamics.arguments import Vector
from flexarm.dynamics.equilibrium import equilibrium
from flexarm.dynamics.system import System
from flexarm.foundation.interrupts import Interrupts
from flexarm.foundation.messages import shown, suggestion
from flexarm.foundation.progress import Progress
from flexarm.foundation.validation import Array, real_number
from flexarm.profiles.standard import spline
from flexarm.robot import Robot
from flexarm.simulation.simulate import simulate

STEPS = 1000  # along the path
ACCURACY = 1e-7  # of the robot's length


def driven(servo: Servo, before: float, after: float | None, sample: float | None, progress: bool | None) -> Inversion:
    """Torques that this takes; unless `after` is given they end with the path."""
    path, system = servo.path, servo.system
    grid = np.linspace(path.begin, path.end, 2 * STEPS + 1)
    q = servo.twin.widened(path(grid))
    moved = {each.link: each.coordinate.index for each in system.actuators}
    times = (grid - path.begin + before).tolist()
    motion = {link: spline(times, q[:, k].tolist()) for link, k in moved.items()}
    named = {system.names[k]: float(q[0, k]) for k in moved.values()}
    start = equilibrium(system, system.posture(named | _joints(servo, q[0])))
    whole = before + path.duration + (after or 0.0)
    step = path.duration / STEPS if sample is None else sample
    run = simulate(system, whole, motion=motion, q0=start, sample=step, rtol=ACCURACY, progress=progress)
    if run.status == "interrupted":
        raise KeyboardInterrupt
    if run.status != "completed":
        raise ArithmeticError(f"tip: the motion of the links ended early: {run.reason}")
    t = run.array("time")
    return Inversion(
        system,
        t,
        run.array("q"),
        run.array("v"),
        run.array("a"),
        run.array("torque"),
        servo.goals(t - before + path.begin).positions,
        start=start,
        before=before,
        after=after or 0.0,
        inputs=system.inputs,
        place=servo.place,
        method="driven joints",
        zeros=np.zeros(0),
        left=0.0,
        error_estimate=None,
    )


def _joints(servo: Servo, q: Array) -> dict[str, float]:
    return {servo.system.names[k]: float(q[k]) for k in servo.twin.joints}


class Inverting(Progress):
    """How far it is in iterations, which nobody can foretell."""

    doing = "inverting"

    def words(self, t: float, pace: float) -> str:
        return f"{t:.0%} of the iterations that it may take"


def inverse(
    robot: Robot | System,
    tip: Mapping[str, Any] | ArrayLike | Callable[[float], ArrayLike] | Sequence[Any],
    times: ArrayLike | float,
    *,
    output: str | tuple[str, float | None] = "tip",
    method: Literal["nonlinear", "linear", "quasi-static"] = "nonlinear",
    q0: Vector = None,
    components: Sequence[Component] | None = None,
    joints: Sequence[str] | None = None,
    before: float | None = None,
    after: float | None = None,
    sample: float | None = None,
    progress: bool | None = None,
) -> Inversion:
    """Torques that take the tip of a flexible `robot` along a path, from rest to rest, and the motion they lead to.

    From a hub to a tip zeros lie in the right half plane: torques that follow a path exactly without growing beyond
    bounds begin before the tip moves, and go on after it has arrived. The `robot` must be free of constraints.

    tip: where the rigid twin's tip would be: by link its joints as profiles, {"arm": fa.minimum_jerk(0, 1.5, 1.0)}
    (those not named are held at q0), or a path as `rigid_torques` takes it, with q0, components and joints as there.
    times: the times of the path (s), or its end, where it begins at 0.
    output: what follows: "tip" of the last link, a link's tip ("fore", None), a place ("fore", 0.3) in m from its root,
    to which `tip` then belongs; or "joints": actuators move as those of the rigid twin, links as they like.
    method: "nonlinear" solves the equations of motion, "linear" those of small motions about the start (FFT, Bayo),
    "quasi-static" lets links deflect under gravity and the rigid twin's inertia at each time alone, for slow motions.
    Joints as output have none.
    before, after: seconds of pre- and post-actuation; unless given, 12 time constants of the slowest zeros, and at most
    thirty times as long as the path.
    sample: seconds between the points at which torques are found; unless given they are refined until motions change
    by less than 5e-5 of the path.
    progress: True shows a bar, False none; None shows it on a terminal, when it takes more than half a second.

    >>> import flexarm as fa
    >>> import numpy as np
    >>> strip = {"section": fa.Section.rectangle(0.004, 0.03), "material": fa.Material(2.1e11, 7850.0)}
    >>> arm = fa.Robot(links=[fa.Link("arm", 1.0, **strip, flexible=fa.Flexible(bend_y=2))])
    >>> found = inverse(arm, {"arm": fa.minimum_jerk(0, np.pi / 2, 1.0)}, 1.0)
    >>> run = found.play(native=False)
    >>> bool(found.before > 0.1), bool(found.missed(run).max() < 1e-3 * np.pi / 2)
    (True, True)
    """
    _require_choices(method, output, progress)
    given = {name: _seconds(name, each) for name, each in (("before", before), ("after", after))}
    sample = None if sample is None else real_number("sample", sample, "s", above=0)
    twin = Twin(robot)
    require_tree(twin.system, "inversion")
    place = _place(twin.system, output)
    interrupts = Interrupts()
    with interrupts.catching():
        path = twin_path(twin, tip, times, q0, place, components, joints)
        springs = any(each.coordinate.kind == "motor" for each in twin.system.actuators)
        path.require_smooth(jerk=springs and output != "joints" and method != "quasi-static")
        servo = Servo(twin, place, path)
        if output == "joints":
            return driven(servo, given["before"] or 0.0, given["after"], sample, progress)
        with Inverting(1.0, progress) as bar:

            def tell(share: float) -> None:
                bar.update(share)
                interrupts.check()

            return SearchOptions(servo, method, given["before"], given["after"], sample, tell).found()


def _require_choices(method: Any, output: Any, progress: Any) -> None:
    if not isinstance(method, str) or method not in METHODS:
        raise ValueError(f"method = {shown(method)}: must be one of {', '.join(METHODS)}{suggestion(method, METHODS)}")
    if isinstance(output, str) and output == "joints" and method != METHODS[0]:
        raise ValueError(f"method = {shown(method)}: joints as output are driven forwards in time; leave it out")
    if progress is not None and not isinstance(progress, bool):
        raise ValueError(f"progress = {shown(progress)}: must be True or False")


def _seconds(name: str, given: Any) -> float | None:
    return None if given is None else real_number(name, given, "s", least=0)


def _place(system: System, output: Any) -> tuple[str, float | None]:
    if isinstance(output, str) and output in ("tip", "joints"):
        return system.robot.links[-1].name, None
    if not isinstance(output, (tuple, list)) or len(output) != 2:
        raise ValueError(f"output = {shown(output)}: must be 'tip', 'joints' or a place, ('fore', 0.3)")
    try:
        system.place(*output)
    except (KeyError, TypeError, ValueError) as error:
        raise type(error)(f"output: {error.args[0]}") from None
    return output[0], output[1]
