"""Which method serves a robot, its inputs, a tolerance and a duration best: what `method="auto"` takes.

How many steps each would take is estimated from the modes at the start, and from how far the inputs shake each of them:
an implicit method follows only those that matter, an explicit one must follow all that move.
"""

from __future__ import annotations

import threading
from typing import Protocol

import numpy as np

from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.numbers import Array
from flexarm.motion.dop853 import Dop853
from flexarm.motion.esdirk import Esdirk
from flexarm.motion.generalized_alpha import GeneralizedAlpha
from flexarm.motion.methods import Method
from flexarm.motion.plant import Plant
from flexarm.motion.schedule import Schedule
from flexarm.motion.spectrum import Spectrum
from flexarm.motion.step_size import SAFELY, Tolerance
from flexarm.robot import Robot
from flexarm.robot.joints import MovingJoint, Prismatic

MOST_JUMPS = 20  # of the inputs that are looked at
LASTING = 5.0  # times that a mode takes to decay to a third: what it still has to be followed
REMEMBERED = 64  # choices
DEARER = 1.4  # a step of order 8 costs this much more than an implicit one of order 5: 1.0 to 1.6 were measured


_chosen: dict[tuple[object, ...], bool] = {}
_lock = threading.Lock()


@dataclass(frozen=True)
class Follower:
    """Steps with which a method follows a vibration of frequency w (rad/s) and amplitude A (m) over a time T: those
    with constant A w T (w dt)^order = the error allowed. Constants are measured on an undamped beam."""

    order: int
    constant: float

    def steps(self, amplitudes: Array, frequencies: Array, times: Array, allowed: float) -> float:
        turned = frequencies * times
        finer = (self.constant * amplitudes * turned / allowed) ** (1 / self.order)
        return float((turned * finer)[amplitudes > allowed].max(initial=0.0))


IMPLICIT, EXPLICIT = Follower(5, 7.5e-5), Follower(8, 5e-7)


def usual(robot: Robot) -> Method:
    """The method with which a run begins. Where a load jumps from node to node, one that looks at the end of a step
    only: stages on both sides of a jump do not fit together."""
    return GeneralizedAlpha() if _on_mesh(robot) else Esdirk()


class Looker(Protocol):
    """What the choice is made by: a robot's small motions, and how forces accelerate it."""

    @property
    def plant(self) -> Plant: ...

    def spectrum(self, q: Array, v: Array, u: Array) -> Spectrum: ...

    def start(self, q: Array, v: Array, u: Array, dt: float) -> list[Array]: ...


def better(stepper: Looker, schedule: Schedule, q: Array, v: Array, tolerance: Tolerance) -> Method | None:
    """A method that takes less work than that of the `stepper`, which is implicit and of order 5, if there is one."""
    robot = schedule.system.robot
    if schedule.controller is not None or not _smooth(robot) or _on_mesh(robot):
        return None
    inputs, _ = schedule.inputs_until_failure(_shaking_times(schedule, tolerance.horizon))
    if not len(inputs):
        return None
    layout = stepper.plant.layout
    start = layout.at_rest(q, v, schedule.law_start)
    masses = sorted(link.total_mass for link in robot.links if link.total_mass) or [1.0]
    mass = (masses[(len(masses) - 1) // 2] + masses[len(masses) // 2]) / 2  # np.median imports numpy.ma
    vectors = (schedule.given.numbers.tobytes(), start.tobytes(), inputs.tobytes())
    key = (*stepper.plant.identity, *vectors, mass, tolerance.horizon, tolerance.allowed)
    is_better = _chosen.get(key)
    if is_better is None:
        is_better = _compared(stepper, start, inputs, mass, tolerance)
        with _lock:
            _chosen[key] = is_better
            while len(_chosen) > REMEMBERED:
                _chosen.pop(next(iter(_chosen)))
    return Dop853() if is_better else None


def _compared(stepper: Looker, start: Array, inputs: Array, mass: float, tolerance: Tolerance) -> bool:
    """Return True if the explicit method takes less work than the implicit one."""
    layout = stepper.plant.layout
    q, v = start[layout.every_q], start[layout.every_v]
    spectrum = stepper.spectrum(q, v, inputs[0])
    if not len(spectrum.frequencies):
        return False
    explicit, free = Dop853(), stepper.plant.free
    kicks = np.stack([stepper.start(q, v, each, 0.0)[0][free] for each in inputs])
    implicit_steps, explicit_steps = _steps(spectrum, v[free], kicks, mass, tolerance)
    moving = spectrum.moving(v[free], _kicked(kicks, layout.states))
    stable = tolerance.horizon / (SAFELY * explicit.longest_step(moving.rates, tolerance.horizon))
    return bool(DEARER * max(explicit_steps, stable) < implicit_steps)


def _kicked(kicks: Array, states: int) -> Array:
    """The largest of each coordinate; the states of a law, which come last, move once the robot does."""
    found = np.abs(kicks).max(axis=0)
    if states:
        found[-states:] = max(found.max(), 1.0)
    return np.asarray(found)


def _smooth(robot: Robot) -> bool:
    """Whether nothing in it is stiff only at times: dry friction, stops."""
    return not any(joint.coulomb or joint.stop is not None for joint in _moving_joints(robot))


def _on_mesh(robot: Robot) -> bool:
    """Whether a slide counts by the nodes of a mesh."""
    return any(isinstance(joint, Prismatic) and joint.on_mesh for joint in _moving_joints(robot))


def _moving_joints(robot: Robot) -> list[MovingJoint]:
    return [link.joint for link in robot.links if isinstance(link.joint, MovingJoint)]


def _shaking_times(schedule: Schedule, duration: float) -> Array:
    stops = sorted({0.0, *(time for time in schedule.jumps if 0 < time < duration)})
    return np.array(stops[:MOST_JUMPS])


def _steps(spectrum: Spectrum, v: Array, kicks: Array, mass: float, tolerance: Tolerance) -> tuple[float, float]:
    """With each of the two methods. Modes are of unit mass, so one of size 1 moves the `mass` by its root."""
    w = spectrum.frequencies
    swings = w > 1e-6 * w.max(initial=0.0)
    pushed, thrown = np.abs(kicks @ spectrum.to_modes.T).max(axis=0)[swings], np.abs(spectrum.to_modes @ v)[swings]
    w = w[swings]
    amplitudes = (pushed / w**2 + thrown / w) / np.sqrt(mass)
    decays = np.maximum(spectrum.decays[swings], 1e-9 / tolerance.horizon)
    times = np.minimum(tolerance.horizon, LASTING * len(kicks) / decays)
    implicit, explicit = (each.steps(amplitudes, w, times, tolerance.allowed) for each in (IMPLICIT, EXPLICIT))
    return implicit, explicit
