"""Torques that move a point of a robot with rigid links along a path, by inverse kinematics and inverse dynamics.

The rigid twin of a robot is the same robot with rigid links and drives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from flexarm.analysis.inverse_kinematics import DEFAULT_START_COUNT, posture_search
from flexarm.analysis.rigid_kinematics import (
    GAP_TOLERANCE,
    Component,
    PostureSearch,
    Target,
    require_actuated,
    require_tree,
)
from flexarm.analysis.tip_paths import TipPath, tip_path
from flexarm.dynamics.accuracy.validity import ValidityWarning
from flexarm.dynamics.arguments import Vector
from flexarm.dynamics.system import System
from flexarm.foundation.messages import warn
from flexarm.foundation.validation import Array
from flexarm.profiles.derived import joined
from flexarm.profiles.profile import Profile
from flexarm.profiles.standard import spline
from flexarm.robot import Robot

SPLINE_TOLERANCE = 1e-7  # error of the splines between their points, relative to the largest torque
MAX_POINT_COUNT = 20_000
NEGLIGIBLE_TORQUE = 1e-6  # relative to the largest torque of all joints; smaller ones need no relative accuracy
SINGULAR_VALUE_TOLERANCE = 1e-7  # of the scaled Jacobian, relative to its largest singular value


@dataclass(frozen=True)
class RigidTorques:
    """Motion of a rigid twin along a path, and the torques that it requires.

    The rigid twin of a robot is the same robot with rigid links and drives.

    Parameters
    ----------
    times : ndarray, shape (n,)
        Times (s), refined where needed for accurate splines.
    q : ndarray, shape (n, nq)
        Coordinates of the robot: deflections are zero, motors follow their joints.
    v : ndarray, shape (n, nq)
        Rates of the coordinates.
    a : ndarray, shape (n, nq)
        Accelerations of the coordinates.
    torques : ndarray, shape (n, nu)
        Torques (N m) or forces (N) of the actuators.
    inputs : tuple of str
        Links of the actuators, in the order of the columns of `torques`.
    joints : dict of str to int
        Index of each joint's coordinate in `q`, by link.
    motors : dict of str to int
        Index of each motor behind a spring in `q`, by name.
    breaks : tuple of float, optional
        Times (s) at which the acceleration along the path jumps, and with it the torques.

    See Also
    --------
    flexarm.rigid_torques : Compute the torques.
    """

    times: Array
    q: Array
    v: Array
    a: Array
    torques: Array
    inputs: tuple[str, ...]
    joints: dict[str, int]
    motors: dict[str, int]
    breaks: tuple[float, ...] = ()

    @property
    def torque(self) -> dict[str, Profile]:
        """Splines of the torques by link, for `simulate(torque=...)`.

        They jump where the acceleration does and hold their last values after the path, as a robot at rest under
        gravity needs.
        """
        return {name: self._spline(values) for name, values in zip(self.inputs, self.torques.T, strict=True)}

    @property
    def motion(self) -> dict[str, Profile]:
        """Splines of the joint coordinates by link, for `simulate(motion=...)`."""
        return {name: self._spline(self.q[:, place]) for name, place in self.joints.items()}

    def _spline(self, values: Array) -> Profile:
        """Return a spline through values at `times`, one between every two breaks, held outside."""
        cuts = np.searchsorted(self.times, self.breaks)
        parts = [
            spline(times.tolist(), each.tolist())
            for times, each in zip(np.split(self.times, cuts), np.split(values, cuts), strict=True)
        ]
        edges = (float(self.times[0]), *self.breaks, float(self.times[-1]))
        return joined(parts, edges, f"spline({len(values)} points)")

    @property
    def q0(self) -> dict[str, float]:
        """Joint coordinates at the start by name, for `simulate(q0=...)` of the robot or its rigid twin."""
        return {f"{link}.q": float(self.q[0, place]) for link, place in self.joints.items()}

    @property
    def v0(self) -> dict[str, float]:
        """Rates of joints and motors at the start by name, for `simulate(v0=...)`."""
        moving = {**{f"{link}.q": k for link, k in self.joints.items()}, **self.motors}
        return {name: float(self.v[0, place]) for name, place in moving.items()}


def rigid_torques(
    robot: Robot | System,
    path: ArrayLike | Callable[[float], ArrayLike] | Sequence[Profile],
    times: ArrayLike,
    *,
    q0: Vector = None,
    link: str | None = None,
    x: float | None = None,
    components: Sequence[Component] | None = None,
    joints: Sequence[str] | None = None,
) -> RigidTorques:
    """Compute the torques that move a point of a robot's rigid twin along a path.

    The rigid twin is the same robot with rigid links and drives. Applied to `robot.rigid()` the torques make its tip
    follow the path; applied to the robot they show the effect of its flexibility.

    Parameters
    ----------
    robot : Robot or System
        Robot without closed loops, or its equations of motion.
    path : array_like, callable or sequence of Profile
        Positions (m) of shape (n, 3) or frames of shape (n, 4, 4) at the n `times`, interpolated by splines of degree
        5; a function of t that returns one of them; or three profiles x, y, z.
    times : array_like, shape (n,)
        Ascending times (s), at least six. Torques are constant before and after them.
    q0 : dict of str to float or array_like, shape (nq,), optional
        Posture at which the search begins, as in `inverse_kinematics`.
    link : str, optional
        Link that carries the point; the last one by default.
    x : float, optional
        Distance of the point from the root of the link (m); by default its tip.
    components : sequence of {"x", "y", "z", "rx", "ry", "rz"}, optional
        Components of the pose that matter; all that `path` gives by default.
    joints : sequence of str, optional
        Links whose joints may move, exactly as many as the components that they move; the others stay at `q0`. All by
        default.

    Returns
    -------
    RigidTorques
        Motion and torques, also as splines for `simulate`.

    Raises
    ------
    ValueError
        If the path leaves the reach, passes a singular posture, or does not determine the joints.

    Warns
    -----
    ValidityWarning
        If the path is not smooth enough for accurate torques.

    See Also
    --------
    inverse_kinematics : Joint coordinates for poses.
    inverse : Torques with which the tip of the flexible robot follows a path.
    feedforward : Torques along given motions of the joints.

    Notes
    -----
    Joint rates follow from those of the path: J v = x', J a = x'' - J' v.

    Examples
    --------
    >>> from flexarm.robot import library
    >>> arm = library.two_link_arm()
    >>> plan = rigid_torques(arm, lambda t: (1.2 - 0.1 * t**2, 0.3, 0), np.linspace(0, 1, 21), q0={"fore.q": 1.0})
    >>> sorted(plan.torque)
    ['fore', 'upper']
    """
    way = tip_path(path, times)
    search = posture_search(robot, way.axes is not None, q0, link, x, components, joints)
    rigid = search.twin.rigid
    require_tree(search.twin.system, "inverse dynamics along a path")
    require_actuated(search.twin.system, "inverse dynamics along a path")
    times, states = PathFollower(search, way).follow_path()
    twin, gears = search.twin, np.array([each.gear for each in rigid.actuators])
    torques = states[:, 3, [each.coordinate.index for each in rigid.actuators]] / gears
    q, v, a = (twin.expand(states[:, k]) for k in range(3))
    named = {each.link: twin.system.index(each.name) for each in rigid.coordinates}
    motors = {each.name: each.index for each in twin.system.coordinates if each.kind == "motor"}
    return RigidTorques(times, q, v, a, torques, tuple(rigid.inputs), named, motors, way.breaks)


def refine_grid(
    what: str,
    times: Array,
    values: Array,
    evaluate: Callable[[Array, Array, Array], Array],
    missed: Callable[[Array, Array, Array, Array], float],
) -> tuple[Array, Array]:
    """Halve the steps of a time grid until splines through the values of torques are accurate between them.

    `evaluate(times, values, middles)` returns the values at the middles of the steps, `missed(times, values, middles,
    between)` the error of the splines there, relative to the largest torque. A warning is given if it remains large.
    """
    while True:
        middles = (times[1:] + times[:-1]) / 2
        between = evaluate(times, values, middles)
        error = missed(times, values, middles, between)
        if error <= SPLINE_TOLERANCE:
            return times, values
        if 2 * len(times) > MAX_POINT_COUNT:
            sentence = f"the torques are off by up to {error:.1g} of the largest between their {len(times)} points"
            warn(f"{sentence}; the {what} is not smooth there", ValidityWarning)
            return times, values
        every = np.concatenate([times, middles])
        order = np.argsort(every, kind="stable")
        times, values = every[order], np.concatenate([values, between])[order]


@dataclass(frozen=True)
class PathFollower:
    """Moves a rigid twin along a path."""

    search: PostureSearch
    way: TipPath

    def follow_path(self) -> tuple[Array, Array]:
        """Return times and states (n, 4, joints): q, v, a and forces, on a sufficiently fine grid."""
        begin = float(self.way.times[0])
        q = self.search.solve(self._target(begin), DEFAULT_START_COUNT, f"path at t = {begin:g} s")
        self._require_determined()
        found = []
        for grid in self.way.grids:
            states = [self._state(float(grid[0]), q)]
            for before, t in pairwise(grid.tolist()):  # each found from the one before, so that postures are continuous
                where = f"path at t = {t:g} s"
                q = self.search.follow(states[-1][0], self._target(before), self._target(t), where)
                states.append(self._state(t, q))
            found.append(refine_grid("path", grid, np.array(states), self._states_between, self._spline_error))
            q = found[-1][1][-1, 0]
        times, every = zip(*found, strict=True)
        return np.concatenate(times), np.concatenate(every)

    def _states_between(self, times: Array, states: Array, middles: Array) -> Array:
        """Return the states at middles of a grid, each found from the state before it."""
        out = []
        for t, earlier, (q, v, a, _) in zip(middles.tolist(), times.tolist(), states, strict=False):
            step = t - earlier
            found, gap = self.search.descend(q + step * v + step**2 / 2 * a, self._target(t))
            if gap > GAP_TOLERANCE:
                found = self.search.follow(q, self._target(earlier), self._target(t), f"path at t = {t:g} s")
            out.append(self._state(t, found))
        return np.array(out)

    def _spline_error(self, times: Array, states: Array, middles: Array, between: Array) -> float:
        """Return the largest error of cubic splines at the middles, relative to the largest force of a joint."""
        from scipy.interpolate import CubicSpline

        robot = self.search.twin.robot
        # force (N or N m) due to an acceleration of 1e-6 m/s2 of the whole mass
        negligible = 1e-6 * robot.total_mass * max(1.0, robot.size)
        missed = np.abs(CubicSpline(times, states[:, 3])(middles) - between[:, 3]).max(axis=0)
        largest = np.abs(states[:, 3]).max(axis=0)
        return float((missed / np.maximum(largest, NEGLIGIBLE_TORQUE * largest.max() + negligible)).max())

    def _target(self, t: float) -> Target:
        pose = self.way.poses(np.array([t]))[0]
        return Target(pose, None) if pose.ndim == 1 else Target(pose[:3, 3], pose[:3, :3])

    def _state(self, t: float, q: Array) -> Array:
        """Return the state at time t: J v = x', J a = x'' - J' v."""
        system, moving, rows = self.search.twin.rigid, self.search.moving, self.search.rows
        J = self.search.place(q)[2][np.ix_(rows, moving)]
        first, second = (self.way.rates(np.array([t]), order)[0][rows] for order in (1, 2))
        inverse = self._inverse(J, t, q)
        v, a = np.zeros_like(q), np.zeros_like(q)
        v[moving] = inverse @ first
        a[moving] = inverse @ (second - self.search.place.drift(q, v)[rows])
        return np.array([q, v, a, system.inverse_dynamics(q, v, a)])

    def _inverse(self, J: Array, t: float, q: Array) -> Array:
        """Return the inverse of the Jacobian; raise ValueError if it is singular."""
        scales = self.search.scales[:, None] / self.search.sizes
        left, sizes, right = np.linalg.svd(J / scales, full_matrices=False)
        if len(sizes) < J.shape[1] or sizes[-1] < SINGULAR_VALUE_TOLERANCE * sizes[0]:
            raise ValueError(
                f"path: at t = {t:g} s the posture {self.search.describe(q)} is singular, so that no rates of the "
                f"joints take {self.search.place} along the path; lead it past, or start the other way round"
            )
        return np.asarray(((right.T / sizes) @ left.T) / scales.T)

    def _require_determined(self) -> None:
        """Raise ValueError if more joints may move than the components of the path determine."""
        moved = len(self.search.rows) - len(self.search.fixed_components(self._target(self.way.times[0])))
        count = len(self.search.moving)
        if count > moved:
            names = ", ".join(self.search.twin.rigid.coordinates[k].link for k in self.search.moving)
            raise ValueError(
                f"joints: {count} may move ({names}), but the path has {moved} components that they follow, so their "
                f"rates are not determined; name {moved} of them, joints=[...], or give more components of the pose"
            )
