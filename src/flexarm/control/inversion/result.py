"""Result of an inversion: torques that move a robot's output along a path, and the motion that belongs to them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm.dynamics.equilibrium import find_equilibrium
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
    """Torques with which a robot's output follows a path, and the motion that belongs to them.

    The torques begin at t = 0 with the pre-actuation; the path begins at `before` and ends `after` before the last
    torque.

    Parameters
    ----------
    system : System
        Equations of motion for which the torques were computed.
    t : ndarray, shape (n,)
        Times (s).
    q : ndarray, shape (n, nq)
        Coordinates.
    v : ndarray, shape (n, nq)
        Rates of the coordinates.
    a : ndarray, shape (n, nq)
        Accelerations of the coordinates.
    torques : ndarray, shape (n, nu)
        Torques (N m) or forces (N) of the actuators.
    tip : ndarray, shape (n, 3)
        Desired positions of the output (m).
    start : ndarray, shape (nq,)
        Posture at rest at which the robot begins.
    before : float
        Duration of the pre-actuation (s).
    after : float
        Duration of the post-actuation (s).
    inputs : tuple of str
        Links of the actuators, in the order of the columns of `torques`.
    place : tuple
        Point that follows the path: link and distance from its root (m), or None for its tip.
    method : str
        Method of solution.
    zeros : ndarray of complex
        Zeros (rad/s) of the output at both ends of the path; those right of the imaginary axis determine `before`.
    left : float
        Departure from rest at the ends of the window, relative to the largest.
    error_estimate : float or None
        Change of the coordinates by the last refinement, relative to the path; None without refinement.

    See Also
    --------
    flexarm.invert : Compute the torques.
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
        """Duration from the first to the last torque (s)."""
        return float(self.t[-1])

    @property
    def q0(self) -> dict[str, float]:
        """Posture at rest in which the robot begins, by name, for `simulate(q0=...)`."""
        return dict(zip(self.system.names, self.start.tolist()))

    @property
    def torque(self) -> dict[str, Profile]:
        """Splines of the torques by link, for `simulate(torque=...)`; held before and after."""
        times = self.t.tolist()
        return {name: spline(times, each.tolist(), after="hold") for name, each in zip(self.inputs, self.torques.T)}

    @property
    def motion(self) -> dict[str, Profile]:
        """Splines of the actuated coordinates (joints, or motors behind springs) by link.

        They serve as references of a feedback, or for `simulate(motion=...)`.
        """
        moved = {each.name: each.coordinate.index for each in self.system.actuators}
        return {name: spline(self.t.tolist(), self.q[:, moved[name]].tolist()) for name in self.inputs}

    def play(self, robot: Robot | System | None = None, **options: Any) -> Run:
        """Simulate a robot with these torques from rest.

        Parameters
        ----------
        robot : Robot or System, optional
            Another robot with the same actuators, such as one with more modes, which begins in its own equilibrium. By
            default that of the inversion.
        **options
            Options of `simulate`, such as `rtol` or `sample`.

        Returns
        -------
        Run
            The simulated run.
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
        start = find_equilibrium(other, {name: value for name, value in self.q0.items() if name in named})
        return simulate(other, self.duration, torque=self.torque, q0=start, **options)

    def missed(self, run: Run) -> Array:
        """Compute the tracking error of a run.

        Parameters
        ----------
        run : Run
            Run with the torques of the inversion.

        Returns
        -------
        ndarray
            Distance (m) of the point from its desired position, at the times of the run.
        """
        if not isinstance(run, Run):
            raise TypeError(f"run = {shown(run)}: must be a Run, such as inversion.play() gives")
        system = System(run.robot, native=False)
        there = system.frame(*self.place, run.array("q"))[:, :3, 3]
        from scipy.interpolate import CubicSpline

        desired = CubicSpline(self.t, self.tip)(np.clip(run.array("time"), 0, self.duration))
        return np.asarray(np.linalg.norm(there - desired, axis=1))

    def plot(self, run: Run | None = None) -> Figure:
        """Plot torques, the path of the point and deflections over time.

        Parameters
        ----------
        run : Run, optional
            Run with these torques, drawn for comparison.

        Returns
        -------
        matplotlib.figure.Figure
            The figure.
        """
        from flexarm.plotting.time_series import plot_inversion

        return plot_inversion(self, run)
