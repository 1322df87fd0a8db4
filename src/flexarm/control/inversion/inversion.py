"""Public function `invert`: torques with which the tip of a flexible robot, or its joints, follow a path."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from flexarm.analysis.rigid_kinematics import Component, RigidTwin, require_actuated, require_tree
from flexarm.control.inversion.bounded_motion import METHODS, BoundedMotionSearch
from flexarm.control.inversion.output_constraint import OutputConstraint, twin_path
from flexarm.control.inversion.result import Inversion
from flexarm.dynamics.arguments import Vector
from flexarm.dynamics.equilibrium import find_equilibrium
from flexarm.dynamics.system import System
from flexarm.foundation.interrupts import Interrupts
from flexarm.foundation.messages import shown, suggestion
from flexarm.foundation.progress import Progress
from flexarm.foundation.validation import real_number
from flexarm.profiles.standard import spline
from flexarm.robot import Robot
from flexarm.simulation.simulate import simulate

STEP_COUNT = 1000  # along the path
RELATIVE_TOLERANCE = 1e-7  # rtol of the simulation


def invert_with_driven_joints(
    constraint: OutputConstraint, before: float, after: float | None, sample: float | None, progress: bool | None
) -> Inversion:
    """Simulate the robot with joints that move as those of its rigid twin, and return the torques that this takes."""
    path, system = constraint.path, constraint.system
    grid = np.linspace(path.begin, path.end, 2 * STEP_COUNT + 1)
    q = constraint.twin.expand(path(grid))
    moved = {each.name: each.coordinate.index for each in system.actuators}
    times = (grid - path.begin + before).tolist()
    motion = {link: spline(times, q[:, k].tolist()) for link, k in moved.items()}
    named = {system.names[k]: float(q[0, k]) for k in moved.values()}
    named |= {system.names[k]: float(q[0, k]) for k in constraint.twin.joints}
    start = find_equilibrium(system, system.posture(named))
    whole = before + path.duration + (after or 0.0)
    step = path.duration / STEP_COUNT if sample is None else sample
    run = simulate(system, whole, motion=motion, q0=start, sample=step, rtol=RELATIVE_TOLERANCE, progress=progress)
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
        constraint.goals(t - before + path.begin).positions,
        start=start,
        before=before,
        after=after or 0.0,
        inputs=system.inputs,
        place=constraint.place,
        method="driven joints",
        zeros=np.zeros(0),
        left=0.0,
        error_estimate=None,
    )


class InversionProgress(Progress):
    """Progress in terms of iterations, whose total is not known in advance."""

    doing = "inverting"

    def words(self, t: float, pace: float) -> str:
        return f"{t:.0%} of the iterations that it may take"


def invert(
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
    """Compute torques with which the tip of a flexible robot follows a path, from rest to rest.

    Parameters
    ----------
    robot : Robot or System
        Robot without constraints, or its equations of motion.
    tip : dict of str to Profile, array_like, callable or sequence of Profile
        Path, in terms of the rigid twin (the same robot with rigid links and drives): profiles of its joints by link,
        {"arm": fa.minimum_jerk(0, 1.5, 1.0)}, the others held at `q0`; or a path of its tip as in `rigid_torques`.
    times : float or array_like
        Times of the path (s), or its end if it begins at 0.
    output : {"tip", "joints"}, str or tuple, optional
        Output that follows the path: the robot's tip, a frame, a link's tip ("fore", None), or a point ("fore", 0.3) in
        m from its root, to which `tip` then refers. With "joints", actuators move as those of the rigid twin and the
        links deflect freely.
    method : {"nonlinear", "linear", "quasi-static"}, optional
        "nonlinear" solves the equations of motion; "linear" those of small motions about the start, in the frequency
        domain (Bayo); "quasi-static" uses the deflections under gravity and the rigid twin's inertia, for slow motions.
        Not used with joints as output.
    q0 : dict of str to float or array_like, shape (nq,), optional
        Posture at which the robot begins, as in `rigid_torques`.
    components : sequence of {"x", "y", "z", "rx", "ry", "rz"}, optional
        Components of the pose that matter, as in `rigid_torques`.
    joints : sequence of str, optional
        Links whose joints may move, as in `rigid_torques`.
    before : float, optional
        Pre-actuation (s). By default 12 time constants of the slowest zero, at most 30 times the duration of the path.
    after : float, optional
        Post-actuation (s), with the same default.
    sample : float, optional
        Distance (s) of the points at which torques are computed. By default they are refined until coordinates change
        by less than 5e-5 of the path.
    progress : bool, optional
        True shows a progress bar, False none. By default it is shown on a terminal after half a second.

    Returns
    -------
    Inversion
        Torques, also as splines, and the motion that belongs to them.

    Raises
    ------
    ValueError
        If the path is not smooth or does not begin and end at rest, or the zeros have too little damping.
    ArithmeticError
        If no bounded motion is found.

    Warns
    -----
    ValidityWarning
        If the accuracy is not as intended.

    See Also
    --------
    rigid_torques : Torques for the rigid twin.
    feedforward : Torques along given motions of the joints.
    shaper : Commands that leave no vibration.

    Notes
    -----
    From a hub to a tip, zeros lie in the right half plane: bounded torques that follow a path exactly begin before the
    tip moves and continue after it has arrived.

    Examples
    --------
    >>> import flexarm as fa
    >>> import numpy as np
    >>> strip = {"section": fa.Section.rectangle(0.004, 0.03), "material": fa.Material(2.1e11, 7850.0)}
    >>> arm = fa.Robot(links=[fa.Link("arm", 1.0, **strip, flexible=fa.Flexible(bend_y=2))])
    >>> found = invert(arm, {"arm": fa.minimum_jerk(0, np.pi / 2, 1.0)}, 1.0)
    >>> run = found.play(native=False)
    >>> bool(found.before > 0.1), bool(found.missed(run).max() < 1e-3 * np.pi / 2)
    (True, True)
    """
    if not isinstance(method, str) or method not in METHODS:
        raise ValueError(f"method = {shown(method)}: must be one of {', '.join(METHODS)}{suggestion(method, METHODS)}")
    if isinstance(output, str) and output == "joints" and method != METHODS[0]:
        raise ValueError(f"method = {shown(method)}: joints as output are driven forwards in time; leave it out")
    if progress is not None and not isinstance(progress, bool):
        raise ValueError(f"progress = {shown(progress)}: must be True or False")
    before, after = (
        None if each is None else real_number(name, each, "s", least=0)
        for name, each in (("before", before), ("after", after))
    )
    sample = None if sample is None else real_number("sample", sample, "s", above=0)
    twin = RigidTwin(robot)
    require_tree(twin.system, "inversion")
    require_actuated(twin.system, "inversion")
    place = _output_point(twin.system, output)
    interrupts = Interrupts()
    with interrupts.catching():
        path = twin_path(twin, tip, times, q0, place, components, joints)
        springs = any(each.coordinate.kind == "motor" for each in twin.system.actuators)
        path.require_smooth(jerk=springs and output != "joints" and method != "quasi-static")
        constraint = OutputConstraint(twin, place, path)
        if output == "joints":
            return invert_with_driven_joints(constraint, before or 0.0, after, sample, progress)
        with InversionProgress(1.0, progress) as bar:

            def report(share: float) -> None:
                bar.update(share)
                interrupts.check()

            return BoundedMotionSearch(constraint, method, before, after, sample, report).solve()


def _output_point(system: System, output: Any) -> tuple[str, float | None]:
    if isinstance(output, str) and output in ("tip", "joints"):
        return system.robot.tip_name, None
    if isinstance(output, str) and output in [each.name for each in system.robot.frames]:
        return output, None
    if not isinstance(output, (tuple, list)) or len(output) != 2:
        raise ValueError(f"output = {shown(output)}: must be 'tip', 'joints', a frame or a place, ('fore', 0.3)")
    try:
        system.place(*output)
    except (KeyError, TypeError, ValueError) as error:
        raise type(error)(f"output: {error.args[0]}") from None
    return output[0], output[1]
