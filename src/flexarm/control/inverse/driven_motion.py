"""Joints that move as those of the rigid twin: the links follow as they like, forwards in time."""

from __future__ import annotations

import numpy as np

from flexarm.control.inverse.inverted import Inversion
from flexarm.control.inverse.servo import Servo
from flexarm.foundation.numbers import Array
from flexarm.mechanics.equilibrium import equilibrium
from flexarm.motion.inputs import spline
from flexarm.motion.simulate import simulate

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
