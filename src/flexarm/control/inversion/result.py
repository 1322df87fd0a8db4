"""Inversion: torques that take a robot's output along a path, with the motion that belongs to them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm.dynamics.equilibrium import equilibrium
from flexarm.dynamics.system import System
from flexarm.foundation.messages import shown
from flexarm.foundation.validation import Array
from flexarm.profiles.profile import Profile
from flexarm.profiles.standard import spline
from flexarm.results.run import Run
from flexarm.robot import Robot
from flexarm.simulation.simulate import simulate

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class Inversion:
    """Torques from t = 0 on, where pre-actuation starts; the path begins `before` s later and ends `after` s before the
    last of them.

    system: what it was found for. start: (nq,), the posture at rest in which it begins.
    t: (n,). q, v, a: (n, nq), the motion that belongs to the torques, (n, nu) of the actuators (N m or N).
    inputs: links of the actuators.
    tip: (n, 3), where the place (link and x of `place`) should be. method: how they were found.
    zeros: (rad/s) of the output at both ends of the path: right of the imaginary axis they lead up to it.
    left: of the largest departure from rest, what the window cuts off at its ends.
    error_estimate: by how much finer steps changed the coordinates in the last refinement, of the path; None where
    `sample` was given, or nothing was refined.
    """

    system: System = field(repr=False)
    t: Array = field(repr=False)
    q: Array = field(repr=False)
    v: Array = field(repr=False)
    a: Array = field(repr=False)
    torques: Array = field(repr=False)
    tip: Array = field(repr=False)
    start: Array = field(repr=False)
    before: float
    after: float
    inputs: tuple[str, ...]
    place: tuple[str, float | None]
    method: str
    zeros: Array = field(repr=False)
    left: float
    error_estimate: float | None

    def __post_init__(self) -> None:
        for name in ("t", "q", "v", "a", "torques", "tip", "start", "zeros"):
            array = np.array(getattr(self, name))
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    @property
    def duration(self) -> float:
        """From the first torque to the last (s)."""
        return float(self.t[-1])

    @property
    def q0(self) -> dict[str, float]:
        """The posture at rest in which the robot begins, by name, for `simulate(q0=...)`."""
        return dict(zip(self.system.names, self.start.tolist()))

    @property
    def torque(self) -> dict[str, Profile]:
        """By link a spline of the torque, for `simulate(torque=...)`; held before and after."""
        times = self.t.tolist()
        return {name: spline(times, each.tolist(), after="hold") for name, each in zip(self.inputs, self.torques.T)}

    @property
    def motion(self) -> dict[str, Profile]:
        """By link a spline of what its actuator moves (the joint, or the motor behind a spring): a reference for
        feedback, or for `simulate(motion=...)`."""
        moved = {each.link: each.coordinate.index for each in self.system.actuators}
        return {name: spline(self.t.tolist(), self.q[:, moved[name]].tolist()) for name in self.inputs}

    def play(self, robot: Robot | System | None = None, **options: Any) -> Run:
        """`simulate` with these torques from rest.

        robot: another one, such as one with more modes, which begins in its own equilibrium with joints where these
        begin. options: those of `simulate`, such as rtol or sample.
        """
        for name in ("duration", "torque", "q0", "v0"):
            if name in options:
                raise TypeError(f"{name}: play gives what was found; call fa.simulate for anything else")
        if robot is None:
            return simulate(self.system, self.duration, torque=self.torque, q0=self.q0, **options)
        if not isinstance(robot, (Robot, System)):
            raise TypeError(f"robot = {shown(robot)}: must be a Robot or a System")
        other = robot if isinstance(robot, System) else System(robot)
        if other.inputs != self.inputs:
            raise ValueError(
                f"robot: has actuators at {', '.join(other.inputs)}, and these torques are those of "
                f"{', '.join(self.inputs)}"
            )
        named = [each.name for each in other.coordinates if each.kind != "elastic"]
        start = equilibrium(other, {name: value for name, value in self.q0.items() if name in named})
        return simulate(other, self.duration, torque=self.torque, q0=start, **options)

    def missed(self, run: Run) -> Array:
        """How far the place was from where it should have been (m), at the times of a `run` that played the torques."""
        if not isinstance(run, Run):
            raise TypeError(f"run = {shown(run)}: must be a Run, such as inversion.play() gives")
        system = System(run.robot, native=False)
        there = system.frame(*self.place, run.array("q"))[:, :3, 3]
        from scipy.interpolate import CubicSpline

        wanted = CubicSpline(self.t, self.tip)(np.clip(run.array("time"), 0, self.duration))
        return np.asarray(np.linalg.norm(there - wanted, axis=1))

    def plot(self, run: Run | None = None) -> Figure:
        """Torques, the place against its path and deflections over time; with a `run` that played them."""
        from flexarm.plotting.time_series import plot_inversion

        return plot_inversion(self, run)
