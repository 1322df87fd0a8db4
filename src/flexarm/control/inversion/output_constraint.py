"""Reference of an inversion, and the equations of a robot whose output follows it, independent of the torques.

The reference is the motion of the joints of the rigid twin (the same robot with rigid links and drives), held before
and after the path. The equations are those of motion of the coordinates without actuators, M a + h = 0, and as many
output conditions as there are actuators,

    pinv(J_r) (x(q) - x_r) = 0,

x the pose of a point on the flexible robot, x_r and J_r those of the rigid twin on the path. If the joints can place
the point freely, this means x = x_r; if they cannot, as for a single link along its own axis, it means that no small
rotation of the twin's joints would bring it nearer. Joints that do not move the point are held where the twin's are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import casadi as ca
import numpy as np

from flexarm.analysis.inverse_kinematics import posture_search
from flexarm.analysis.rigid_kinematics import Component, RigidTwin
from flexarm.analysis.rigid_torques import PathFollower
from flexarm.analysis.tip_paths import tip_path
from flexarm.codegen.library import building
from flexarm.dynamics.arguments import Vector
from flexarm.dynamics.parameters import Parameters
from flexarm.foundation.messages import shown, suggestion
from flexarm.foundation.validation import Array, real_array, real_number
from flexarm.profiles.parse import profile
from flexarm.profiles.profile import Profile

REST_TOLERANCE = 1e-3  # rates at the ends of a path, relative to the largest, that count as rest
KINK_STEP = 1e-5  # time step, relative to the duration, with which kinks are detected
KINK_TOLERANCE = 0.1  # jump of the jerk, relative to the largest acceleration per duration
SAMPLE_COUNT = 1000  # samples of a path between its breaks
RESOLUTION_TOLERANCE = 0.03  # error of linear interpolation between times, relative to the extent of the path
SINGULAR_VALUE_TOLERANCE = 1e-6  # of the scaled Jacobian, relative to its largest singular value
MAX_DURATION_S = 1e9
DEFAULT_TIME_COUNT = 513  # times of a function whose end only is given; 257 do not resolve its jerk
POSITION, ROTATION = (0, 1, 2), (3, 4, 5)
Place = tuple[str, float | None]
PATH_KINDS = "joints by link {'arm': fa.minimum_jerk(0, 1.5, 1.0)}, or what fa.rigid_torques takes as a path"


@dataclass(frozen=True)
class TwinPath:
    """Joint coordinates of a rigid twin from `begin` to `end` (s).

    `read` maps (times within, order of derivative 0 to 2) to values (n, joints); `breaks` are times of possible kinks;
    `rows` are the components of the point's pose that matter; `moving` are the joints that move it.
    """

    begin: float
    end: float
    read: Callable[[Array, int], Array]
    breaks: tuple[float, ...]
    rows: tuple[int, ...]
    moving: tuple[int, ...]

    @property
    def duration(self) -> float:
        """Return the duration of the path (s)."""
        return self.end - self.begin

    def __call__(self, t: Array, order: int = 0) -> Array:
        """Return joint coordinates, or their derivatives, at any times; the twin rests before and after the path."""
        last = np.nextafter(self.end, -np.inf)  # a profile may end there
        out = self.read(np.clip(t, self.begin, last), order)
        if order:
            out[(t < self.begin) | (t > self.end)] = 0.0
        return out

    @cached_property
    def _times(self) -> Array:
        """Return dense times between every two breaks."""
        edges = [self.begin, *self.breaks, self.end]
        return np.concatenate(
            [np.linspace(*ends, SAMPLE_COUNT, endpoint=False) for ends in pairwise(edges)] + [edges[-1:]]
        )

    @cached_property
    def extent(self) -> float:
        """Return the travel of the joint that moves most (rad or m)."""
        return float(np.ptp(self(self._times), axis=0).max(initial=0.0))

    def is_resolved_by(self, steps: int) -> bool:
        """Return True if linear interpolation over so many steps approximates the path."""
        ends = np.linspace(self.begin, self.end, steps + 1)
        there, exact = self(ends), self(self._times)
        lines = np.stack([np.interp(self._times, ends, each) for each in there.T], axis=1)
        return bool(np.abs(lines - exact).max() <= RESOLUTION_TOLERANCE * self.extent)

    def require_smooth(self, jerk: bool) -> None:
        """Raise ValueError if the path is not from rest to rest, or its acceleration (with springs, its jerk) jumps."""
        fastest = [float(np.abs(self(self._times, order)).max(initial=0.0)) for order in (1, 2)]
        ends = np.array([self.begin, np.nextafter(self.end, -np.inf)])
        if not self.extent:
            raise ValueError(f"tip: stays where it is from t = {self.begin:g} s to {self.end:g} s; must be a path")
        for order, what in ((1, "speed"), (2, "acceleration")):
            for time, value in zip((self.begin, self.end), np.abs(self.read(ends, order)).max(axis=1), strict=True):
                if value > REST_TOLERANCE * max(fastest[order - 1], 1e-300):
                    raise ValueError(
                        f"tip: has {'a' if order == 1 else 'an'} {what} at t = {time:g} s, where it "
                        f"{'begins' if time == self.begin else 'ends'}; torques are found for paths that begin and end "
                        "at rest, smoothly, as fa.minimum_jerk and fa.rest_to_rest do"
                    )
        for time in self.breaks:
            times = np.array([np.nextafter(time, -np.inf), time])
            for order, what in ((0, "itself"), (1, "its speed"), (2, "its acceleration")):
                left, right = self(times[:1], order)[0], self(times[1:], order)[0]
                if np.abs(right - left).max() > REST_TOLERANCE * max([self.extent, *fastest][order], 1e-300):
                    raise ValueError(
                        f"tip: {what} jumps at t = {time:g} s, which would take torques that grow with every mode of "
                        "the robot; take a smoother path, such as fa.minimum_jerk or fa.s_curve"
                    )
        step = KINK_STEP * self.duration
        for time in (self.begin, *self.breaks, self.end) if jerk else ():
            left, middle, right = self(np.array([time - step, time, time + step]), 2)
            # at a kink the second difference of the acceleration decreases only linearly
            if np.abs(right - 2 * middle + left).max() > KINK_TOLERANCE * KINK_STEP * fastest[1]:
                raise ValueError(
                    f"tip: the rate of its acceleration jumps at t = {time:g} s; motors behind springs would have to "
                    "jump with it, so take a path with more smooth rates, such as fa.rest_to_rest(0, 1, 2, smooth=4), "
                    "in three profiles x, y, z; a function, or samples, at more times (500) resolve it"
                )


def twin_path(
    twin: RigidTwin,
    tip: Any,
    times: Any,
    q0: Vector,
    place: Place,
    components: Sequence[Component] | None,
    joints: Sequence[str] | None,
) -> TwinPath:
    """Return the checked path of the rigid twin from the arguments of a user."""
    from scipy.interpolate import BPoly

    if isinstance(tip, Mapping):
        for name, given in (("components", components), ("joints", joints)):
            if given is not None:
                raise ValueError(f"{name} = {shown(given)}: has no meaning where tip gives joints by link")
        return _joint_path(twin, tip, _times(times), q0, place)
    if isinstance(tip, Profile):
        raise TypeError(f"tip = {shown(tip)}: one profile is no place in space; must be {PATH_KINDS}")
    try:  # messages of these functions name the argument `path`
        way = tip_path(tip, _times(times))
        search = posture_search(twin.system, way.axes is not None, q0, *place, components, joints)
        found, states = PathFollower(search, way).follow_path()
    except (TypeError, ValueError) as error:
        if str(error).startswith("path"):
            raise type(error)("tip" + str(error).removeprefix("path")) from None
        raise
    # joint coordinates with both derivatives, cut where accelerations jump
    joints_path = [BPoly.from_derivatives(found, states[:, :3, k], orders=None) for k in range(states.shape[2])]

    def read(t: Array, order: int) -> Array:
        return np.stack([each(np.clip(t, found[0], found[-1]), nu=order) for each in joints_path], axis=1)

    return TwinPath(float(found[0]), float(found[-1]), read, way.breaks, tuple(search.rows), tuple(search.moving))


def _times(times: Any) -> Array:
    """Return the checked times of a path; a number is its end, from zero on."""
    if np.ndim(times) == 0 and not isinstance(times, (list, tuple)):
        return np.linspace(0.0, real_number("times", times, "s", above=0, most=MAX_DURATION_S), DEFAULT_TIME_COUNT)
    given = real_array("times", times)
    ordered = given.ndim == 1 and len(given) > 1 and np.isfinite(given).all() and (np.diff(given) > 0).all()
    if not ordered or np.abs(given).max() > MAX_DURATION_S:
        raise ValueError(f"times = {shown(times)}: must be finite times in ascending order (s), or the last of them")
    return given


def _joint_path(twin: RigidTwin, given: Mapping[Any, Any], times: Array, q0: Vector, place: Place) -> TwinPath:
    """Return the path of joints given by link; joints that are not named stay at q0."""
    links = [each.link for each in twin.rigid.coordinates]
    if not given:
        raise ValueError(f"tip = {shown(given)}: names no joint; must be {PATH_KINDS}")
    for name in given:
        if name not in links:
            raise KeyError(f"tip: no joint moves a link {shown(name)}{suggestion(name, links)}")
    start = twin.system.posture(q0, "q0")
    if start.ndim != 1:
        raise ValueError(f"q0 has shape {start.shape}: the robot begins at one posture")
    held = start[twin.joints]
    found = {links.index(name): profile(each, f"tip[{name!r}]") for name, each in given.items()}

    def read(t: Array, order: int) -> Array:
        out = np.tile(held if order == 0 else np.zeros_like(held), (len(t), 1))
        for k, each in found.items():
            out[:, k] = each(t, order)
        return out

    begin, end = float(times[0]), float(times[-1])
    _require_travel(twin, read(times, 0), times)
    moving = tuple(k for k in sorted(found) if k in twin.moving_joints(place[0]))
    breaks = {time for each in found.values() for time in each.breaks if begin < time < end}
    # positions determine at most three joints, and fewer if axes are parallel
    rows = POSITION if _rank(twin, read(times, 0), place, POSITION, moving) == len(moving) else POSITION + ROTATION
    return TwinPath(begin, end, read, tuple(sorted(breaks)), rows, moving)


def _require_travel(twin: RigidTwin, q: Array, times: Array) -> None:
    low, high = twin.travel
    for k, name in enumerate(twin.rigid.names):
        outside = ~((q[:, k] >= low[k]) & (q[:, k] <= high[k]))
        if outside.any():
            at = int(outside.argmax())
            raise ValueError(
                f"tip: '{name}' = {q[at, k]:.4g} at t = {times[at]:.4g} s is outside of its travel, {low[k]:g} to "
                f"{high[k]:g}"
            )


def _rank(twin: RigidTwin, q: Array, place: Place, rows: Sequence[int], moving: Sequence[int]) -> int:
    if not moving:
        return 0
    link, x = place
    J = twin.rigid.jacobian(link, x, q[:: max(1, len(q) // 16)], axes="world")[:, [3, 4, 5, 0, 1, 2]]
    sizes = np.linalg.svd(J[:, rows][:, :, moving], compute_uv=False)
    return int((sizes > SINGULAR_VALUE_TOLERANCE * sizes.max()).sum(axis=1).min())


@dataclass(frozen=True)
class ReferenceSamples:
    """Samples of the reference at n times.

    q, v, a (n, nq) are those of the rigid twin in the robot's coordinates; `columns` (m, n) the parameters of the
    functions; `positions` (n, 3) where the point should be.
    """

    q: Array
    v: Array
    a: Array
    columns: Array
    positions: Array


class OutputConstraint:
    """Robot, point on it that follows, and path.

    `actuated` are the coordinates on which actuators act, in the order of the twin's joints, `passive` the others;
    `held` are the twin's joints that follow their references whatever the position of the point.
    """

    def __init__(self, twin: RigidTwin, place: Place, path: TwinPath) -> None:
        self.twin, self.place, self.path, self.system = twin, place, path, twin.system
        found = {each.joint.name: each.coordinate.index for each in self.system.actuators}
        self.actuated = [found[name] for name in twin.rigid.names]
        self.passive = [k for k in range(self.system.nq) if k not in self.actuated]
        self.held = [k for k in range(twin.rigid.nq) if k not in path.moving]
        length = twin.robot.size
        self._weights = np.array([1 / length if row < 3 else 1.0 for row in path.rows])  # of components of the pose
        self._functions: dict[str, Any] = {}

    # --- goals ---

    def goals(self, t: Array) -> ReferenceSamples:
        """Return the samples of the reference at times (n,)."""
        q, v, a = (self.path(t, order) for order in range(3))
        frames = self.twin.rigid.frame(*self.place, q)
        inverse = self._inverse(q, t)
        columns = [inverse.reshape(len(t), -1), frames[:, :3, 3], frames[:, :3, :3].reshape(len(t), 9), q[:, self.held]]
        q, v, a = (self.twin.expand(each) for each in (q, v, a))
        return ReferenceSamples(q, v, a, np.hstack(columns).T, frames[:, :3, 3])

    def _inverse(self, q: Array, t: Array) -> Array:
        """Return the pseudo-inverse (n, moving, rows): motions of the twin's joints that close a gap of the pose."""
        moving, rows = list(self.path.moving), list(self.path.rows)
        if not moving:
            return np.zeros((len(t), 0, len(rows)))
        J = self.twin.rigid.jacobian(*self.place, q, axes="world")[:, [3, 4, 5, 0, 1, 2]]
        scaled = J[:, rows][:, :, moving] * self._weights[:, None]
        sizes = np.linalg.svd(scaled, compute_uv=False)
        poor = sizes[:, -1] < SINGULAR_VALUE_TOLERANCE * sizes[:, 0].max()
        if sizes.shape[1] < len(moving):
            poor[:] = True
        if poor.any():
            names = ", ".join(self.twin.rigid.coordinates[k].link for k in moving)
            where = "" if poor.all() else f" at t = {t[int(poor.argmax())]:.4g} s"
            raise ValueError(
                f"tip: the path does not determine the joints of {names}{where}, since several of their motions leave "
                "the place where it is; let fewer of them move, or lead the path past the singular posture"
            )
        return np.asarray(np.linalg.pinv(scaled) * self._weights)

    # --- equations ---

    @cached_property
    def _expressions(self) -> tuple[list[Any], Any, Any]:
        """Return symbols (q, v, a, goal), equations, and generalised forces of the actuated coordinates."""
        system, rows = self.system, list(self.path.rows)
        place, there = system.place(*self.place), Parameters()
        system.add_place(there, "place", place)
        q, v, a = (ca.SX.sym(name, system.nq) for name in "qva")
        count = len(self.path.moving) * len(rows)
        goal = ca.SX.sym("goal", count + 12 + len(self.held))
        inverse = ca.reshape(goal[:count], len(rows), len(self.path.moving)).T
        position, axes = goal[count : count + 3], ca.reshape(goal[count + 3 : count + 12], 3, 3).T
        forces = system.casadi["inverse_dynamics"](q, v, a)
        R, p = system.parametric.frame(place.link, there)(q, there.vector, system.numbers)
        turned = sum((ca.cross(axes[:, k], R[:, k]) for k in range(3)), ca.SX.zeros(3)) / 2
        missing = inverse @ ca.vertcat(p - position, turned)[rows]
        conditions = ca.SX(self.twin.rigid.nq, 1)
        for k, joint in enumerate(self.path.moving):
            conditions[joint] = missing[k]
        for k, joint in enumerate(self.held):
            conditions[joint] = q[self.actuated[joint]] - goal[count + 12 + k]
        return [q, v, a, goal], ca.vertcat(forces[self.passive], conditions), forces[self.actuated]

    @cached_property
    def _forces(self) -> Any:
        with building:
            given, _, forces = self._expressions
            return ca.Function("forces", given[:3], [ca.densify(ca.cse(forces))])

    def residual(self, q: Array, v: Array, a: Array, goals: ReferenceSamples, by: str) -> list[Array]:
        """Return the residuals (n, nq, 1) and their derivatives (n, nq, nq) `by` "q" or by "qva"."""
        if by not in self._functions:
            with building:
                given, rows, _ = self._expressions
                slopes = [ca.densify(ca.jacobian(rows, each)) for each in given[: len(by)]]
                self._functions[by] = ca.Function("residual", given, ca.cse([ca.densify(rows), *slopes]))
        return _map_columns(self._functions[by], q.T, v.T, a.T, goals.columns)

    def torques(self, q: Array, v: Array, a: Array) -> Array:
        """Return the torques (n, nu) in the order and units of the actuators."""
        forces = _map_columns(self._forces, q.T, v.T, a.T)[0][:, :, 0]
        order = [self.actuated.index(each.coordinate.index) for each in self.system.actuators]
        return np.asarray(forces[:, order] / np.array([each.gear for each in self.system.actuators]))


def _map_columns(function: Any, *given: Array) -> list[Array]:
    """Evaluate a function for all columns of its arguments; return outputs (n, rows, columns)."""
    count = given[0].shape[1]
    found = function.map(count)(*given)
    found = found if isinstance(found, (tuple, list)) else [found]
    out = []
    for each in found:
        whole = each.full()
        out.append(np.ascontiguousarray(whole.reshape(whole.shape[0], count, -1).swapaxes(0, 1)))
    return out
