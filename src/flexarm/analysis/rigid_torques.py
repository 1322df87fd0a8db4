"""Torques with which the rigid twin of a robot takes a place along a path, to be applied to the flexible one."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from flexarm.analysis.inverse_kinematics import STARTS, search_of
from flexarm.analysis.rigid_kinematics import REACHED, Component, PostureSearch, Target, require_tree
from flexarm.analysis.tip_paths import TipPath, tip_path
from flexarm.dynamics.arguments import Vector
from flexarm.dynamics.system import System
from flexarm.dynamics.validity import ValidityWarning
from flexarm.foundation.validation import Array
from flexarm.profiles.profile import Profile
from flexarm.profiles.standard import spline
from flexarm.robot import Robot

ACCURATE = 1e-7  # of the largest torque, that splines may miss between their points
MOST_POINTS = 20_000
NOTHING = 1e-6  # of the largest torque of all joints: what is below need not be accurate in itself
SINGULAR = 1e-7  # singular values of the scaled Jacobian below this, against the largest


@dataclass(frozen=True)
class RigidTorques:
    """The motion of a rigid twin along a path and what it takes, at `times` (n,) that may be denser than those given.

    q, v, a: (n, nq) in the coordinates of the robot, deflections zero, motors with their joints.
    torques: (n, nu) of its actuators (N m or N), in the order of `inputs`, links by name.
    joints, motors: places of the joints' coordinates among q by link, and of motors behind springs by name.
    breaks: times (s) at which the path's acceleration jumps, and torques with it.
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
        """By link a spline of the torque, for `simulate(torque=...)`; it jumps where the path's acceleration does and
        holds its last value after the path, as a robot at rest under gravity needs."""
        return {name: self._spline(values) for name, values in zip(self.inputs, self.torques.T, strict=True)}

    @property
    def motion(self) -> dict[str, Profile]:
        """By link a spline of the joint's coordinate, for `simulate(motion=...)`, which drives it exactly so."""
        return {name: self._spline(self.q[:, place]) for name, place in self.joints.items()}

    def _spline(self, values: Array) -> Profile:
        """One between every two breaks, held outside."""
        edges = np.searchsorted(self.times, self.breaks)
        parts = [
            spline(times.tolist(), each.tolist())
            for times, each in zip(np.split(self.times, edges), np.split(values, edges), strict=True)
        ]
        starts = (*parts[0].starts[:2], *self.breaks, parts[-1].starts[2])
        pieces = (parts[0].pieces[0], *(part.pieces[1] for part in parts), parts[-1].pieces[2])
        return Profile(starts, pieces, f"spline({len(values)} points)")

    @property
    def q0(self) -> dict[str, float]:
        """Where the joints begin, for `simulate(q0=...)` of the robot or of its twin."""
        return {f"{link}.q": float(self.q[0, place]) for link, place in self.joints.items()}

    @property
    def v0(self) -> dict[str, float]:
        """How fast joints and motors begin, for `simulate(v0=...)` of the robot."""
        moving = {**{f"{link}.q": k for link, k in self.joints.items()}, **self.motors}
        return {name: float(self.v[0, place]) for name, place in moving.items()}


def rigid_torques(
    robot: Robot | System,
    path: ArrayLike | Callable[[float], ArrayLike] | Sequence[Profile],
    times: ArrayLike,
    q0: Vector = None,
    link: str | None = None,
    x: float | None = None,
    components: Sequence[Component] | None = None,
    joints: Sequence[str] | None = None,
) -> RigidTorques:
    """Torques that take a place of the robot's rigid twin along a path in time, by inverse kinematics and dynamics.

    Rates of the joints follow from those of the path, through the Jacobian and its rate. Applied to `robot.rigid()` the
    torques make its tip follow the path; applied to the robot they show what its flexibility does to it.

    path: positions (n, 3) in m or frames (n, 4, 4) at the n `times`, a function of t that gives one of them, or three
    profiles x, y, z. Between samples positions are splines of degree 5.
    times: at least six, ascending (s). Torques begin at the first and are held outside of them.
    q0, link, x, components, joints: as in `inverse_kinematics`. Just as many joints may move as it takes to follow the
    path; name them where there are more. The others are held at q0.

    >>> from flexarm.robot import library
    >>> arm = library.two_link_arm()
    >>> plan = rigid_torques(arm, lambda t: (1.2 - 0.1 * t**2, 0.3, 0), np.linspace(0, 1, 21), q0={"fore.q": 1.0})
    >>> sorted(plan.torque)
    ['fore', 'upper']
    """
    way = tip_path(path, times)
    poses = way.poses(way.times)
    search = search_of(robot, poses, q0, link, x, components, joints)
    rigid = search.twin.rigid
    require_tree(search.twin.system, "inverse dynamics along a path")
    times, states = PathFollower(search, way).followed()
    q, v, a, forces = (np.array(each) for each in zip(*states, strict=True))
    gears = np.array([each.gear for each in rigid.actuators])
    torques = forces[:, [each.coordinate.index for each in rigid.actuators]] / gears
    twin = search.twin
    q, v, a = (twin.widened(each) for each in (q, v, a))
    named = {each.link: twin.system.index(each.name) for each in rigid.coordinates}
    motors = {each.name: each.index for each in twin.system.coordinates if each.kind == "motor"}
    return RigidTorques(times, q, v, a, torques, tuple(rigid.inputs), named, motors, tuple(way.breaks))


State = tuple[Array, Array, Array, Array]
"""q, v, a and generalised forces of a rigid twin."""


@dataclass(frozen=True)
class PathFollower:
    """A rigid twin that follows a path."""

    search: PostureSearch
    way: TipPath

    def followed(self) -> tuple[Array, list[State]]:
        """At all times of the path, and between them until splines through the torques are accurate."""
        begin = float(self.way.times[0])
        q = self.search.first(self._target(begin), STARTS, f"path at t = {begin:g} s")
        self._require_determined()
        times, states = [], []
        for grid in self.way.grids:
            found, more = self._refined(grid, self._along(grid, q))
            times.append(found)
            states += more
            q = states[-1][0]
        return np.concatenate(times), states

    def _refined(self, grid: Array, states: list[State]) -> tuple[Array, list[State]]:
        """With times halved until splines tell the forces between them."""
        while True:
            middles = (grid[1:] + grid[:-1]) / 2
            between = [self._near(t, u, state) for t, u, state in zip(middles, grid, states, strict=False)]
            missed = _missed(grid, states, middles, between, self._next_to_nothing)
            if missed <= ACCURATE:
                return grid, states
            if 2 * len(grid) > MOST_POINTS:
                sentence = f"the torques are off by up to {missed:.1g} of the largest between their {len(grid)} points"
                warnings.warn(f"{sentence}; the path is not smooth there", ValidityWarning, stacklevel=4)
                return grid, states
            every = np.concatenate([grid, middles])
            order = np.argsort(every, kind="stable")
            grid, both = every[order], states + between
            states = [both[k] for k in order]

    @property
    def _next_to_nothing(self) -> float:
        """N or N m: what 1e-6 m/s2 of all its mass takes, and less, is rounding."""
        robot = self.search.twin.robot
        return 1e-6 * robot.total_mass * max(1.0, sum(link.length for link in robot.links))

    def _along(self, grid: Array, start: Array) -> list[State]:
        """One after the other, so that none jumps to another way of reaching the path."""
        out = [self._state(float(grid[0]), start)]
        for k, t in enumerate(grid[1:].tolist(), 1):
            where = f"path at t = {t:g} s"
            q = self.search.onward(out[-1][0], self._target(grid[k - 1]), self._target(t), where)
            out.append(self._state(t, q))
        return out

    def _near(self, t: float, known: float, state: State) -> State:
        """From a state shortly before."""
        q, v, a, _ = state
        step = t - known
        found, gap = self.search.descend(q + step * v + step**2 / 2 * a, self._target(t))
        if gap > REACHED:
            found = self.search.onward(q, self._target(known), self._target(t), f"path at t = {t:g} s")
        return self._state(t, found)

    def _target(self, t: float) -> Target:
        pose = self.way.poses(np.array([t]))[0]
        return Target(pose, None) if pose.ndim == 1 else Target(pose[:3, 3], pose[:3, :3])

    def _state(self, t: float, q: Array) -> State:
        """Rates of the joints from those of the path: J v = x', J a = x'' - J' v."""
        system, moving, rows = self.search.twin.rigid, list(self.search.moving), list(self.search.rows)
        J = self.search.place(q)[2][np.ix_(rows, moving)]
        first, second = (self.way.rates(np.array([t]), order)[0][rows] for order in (1, 2))
        inverse = self._inverse(J, t, q)
        v, a = np.zeros_like(q), np.zeros_like(q)
        v[moving] = inverse @ first
        a[moving] = inverse @ (second - self.search.place.drift(q, v)[rows])
        return q, v, a, system.inverse_dynamics(q, v, a)

    def _inverse(self, J: Array, t: float, q: Array) -> Array:
        scales = self.search.scales[:, None] / self.search.sizes
        left, sizes, right = np.linalg.svd(J / scales, full_matrices=False)
        if len(sizes) < J.shape[1] or sizes[-1] < SINGULAR * sizes[0]:
            raise ValueError(
                f"path: at t = {t:g} s the posture {self.search.told(q)} is singular, so that no rates of the joints "
                f"take {self.search.place} along the path; lead it past, or start the other way round"
            )
        return np.asarray(((right.T / sizes) @ left.T) / scales.T)

    def _require_determined(self) -> None:
        """As many joints as components that they can move."""
        moved = len(self.search.rows) - len(self.search.still(self._target(self.way.times[0])))
        count = len(self.search.moving)
        if count > moved:
            names = ", ".join(self.search.twin.rigid.coordinates[k].link for k in self.search.moving)
            raise ValueError(
                f"joints: {count} may move ({names}), but the path has {moved} components that they follow, so their "
                f"rates are not determined; name {moved} of them, joints=[...], or tell more components of the pose"
            )


def _missed(grid: Array, states: list[State], middles: Array, between: list[State], nothing: float) -> float:
    """What splines through forces miss between them, the worst share of the largest force of a joint."""
    from scipy.interpolate import CubicSpline

    forces, exact = (np.array([state[3] for state in each]) for each in (states, between))
    missed = np.abs(CubicSpline(grid, forces)(middles) - exact).max(axis=0)
    largest = np.abs(forces).max(axis=0)
    return float((missed / np.maximum(largest, NOTHING * largest.max() + nothing)).max())
