"""Kinematics of the rigid twin (the same robot with rigid links and drives), and the search for postures.

The search is the Levenberg-Marquardt method on the errors of the pose and of constraints. Joints stay within their
travel: those that would be pushed beyond an end are left out of a step. Where it stalls, as in singular postures, it is
repeated from other start postures, always the same ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import casadi as ca
import numpy as np

from flexarm.codegen.library import building
from flexarm.dynamics.parameters import Parameters
from flexarm.dynamics.system import System, as_system
from flexarm.foundation.messages import shown
from flexarm.foundation.validation import Array
from flexarm.robot import Robot

FRAME_TOLERANCE = 1e-6  # deviation of the axes of a frame from orthonormality
Component = Literal["x", "y", "z", "rx", "ry", "rz"]
COMPONENTS: tuple[Component, ...] = ("x", "y", "z", "rx", "ry", "rz")
MAX_ITERATIONS = 200
# Lengths are relative to the robot's length, angles in rad.
MAX_RELATIVE_STEP = 0.5
GAP_ROUNDING = 1e-15  # gaps below are rounding errors
GAP_SETTLED = 1e-12  # gaps below do not justify a second trial step
GAP_TOLERANCE = 1e-9  # gaps below count as closed
FIRST_DAMPING, MIN_DAMPING, MAX_DAMPING = 1e-3, 1e-16, 1e8
START_OFFSET = 0.3  # distance of the first further starts from q0
MAX_HALVINGS = 8  # subdivisions of the way from one pose of a path to the next
MAX_MIDPOINT_DEVIATION = 0.4  # of the way to the next pose; it is a quarter at the edge of the reach


class RigidTwin:
    """Robot, and the system `rigid` of its twin with rigid links and drives, which has joints only."""

    def __init__(self, robot: Robot | System) -> None:
        self.system = as_system(robot)
        self.robot = self.system.robot
        self.rigid = System(self.robot.rigid(), native=False)
        if not self.rigid.nq:
            raise ValueError(f"robot '{self.robot.name}' has no joint that could move")
        self.joints = [self.system.index(name) for name in self.rigid.names]  # among the robot's coordinates
        travels = [each for link in self.robot.links for each in self.robot.travels(link)]
        found = [travel or (-np.inf, np.inf) for travel in travels]
        self.travel = tuple(np.array(found).T)  # lowest and highest coordinates

    def moving_joints(self, name: str) -> list[int]:
        """Return the indices of the twin's coordinates that move a link or frame: joints between it and the ground."""
        names, parents = [each.name for each in self.robot.links], self.robot.parents
        at: int | None = self.robot.place(name)[0]
        above = set()
        while at is not None:
            above.add(names[at])
            at = parents[at]
        return [k for k, each in enumerate(self.rigid.coordinates) if each.link in above]

    def expand(self, values: Array) -> Array:
        """Return coordinates (..., nq) of the robot from joints (..., joints), without deflections."""
        out = np.zeros((*values.shape[:-1], self.system.nq))
        out[..., self.joints] = values
        for each in self.system.coordinates:
            if each.kind == "motor":
                out[..., each.index] = out[..., self.system.joint(each.link).index]
        return out


class LinkFrame:
    """Frame of the rigid twin, or one on a link at a distance x from the root (None: at the tip)."""

    def __init__(self, twin: RigidTwin, link: str | None, x: float | None) -> None:
        self.system = twin.rigid
        name = twin.robot.tip_name if link is None else link
        self.place = self.system.place(name, x)
        self.link = twin.robot.links[self.place.link].name
        frame = self.place.frame
        at = f"the tip of '{self.link}'" if x is None else f"'{self.link}' at {self.place.x:g} m"
        self._text = at if frame is None else f"frame '{frame.name}'"

    def __str__(self) -> str:
        return self._text

    def __call__(self, q: Array) -> tuple[Array, Array, Array]:
        """Return position (3,), axes (3, 3) and Jacobian (6, joints) in the world, rows of the position first."""
        p, R, J, _ = self._function(q, np.zeros_like(q))
        return p.full().ravel(), R.full(), J.full()

    def drift(self, q: Array, v: Array) -> Array:
        """Return the acceleration J' v (6,) without joint accelerations, that of the position first."""
        return np.asarray(self._function(q, v)[3].full().ravel())

    @cached_property
    def _function(self) -> Any:
        """Return the function (q, v) -> position, axes, Jacobian, and J' v by differentiation along v."""
        system, n = self.system, self.system.nq
        there = Parameters()
        system.add_place(there, "place", self.place)
        with building:
            q, v = ca.MX.sym("q", n), ca.MX.sym("v", n)
            R, p = system.parametric.frame(self.place.link, there)(q, there.vector, system.numbers)
            own = system.parametric.jacobian(self.place.link, there)(q, there.vector, system.numbers)
            J = ca.vertcat(R @ own[3:, :], R @ own[:3, :])
            drift = ca.jtimes(J @ v, q, v)
            return ca.Function("place", [q, v], [p, R, J, drift])


def require_frames(name: str, frames: Array, single: bool = False) -> None:
    """Raise ValueError if one of the matrices (n, 4, 4) is not a frame."""
    for k, frame in enumerate(frames):
        R = frame[:3, :3]
        off = np.abs(R.T @ R - np.eye(3)).max()
        if (
            not off <= FRAME_TOLERANCE
            or np.linalg.det(R) < 0
            or not np.abs(frame[3] - [0, 0, 0, 1]).max() <= FRAME_TOLERANCE
        ):
            raise ValueError(
                f"{name if single else f'{name}[{k}]'} = {shown(frame.tolist())}: must be a frame, a rotation matrix "
                "and a position above a row 0, 0, 0, 1"
            )


def require_tree(system: System, what: str) -> None:
    """Raise ValueError for robots with closed loops, where the torques of actuators are not determined."""
    if system.constraints:
        raise ValueError(
            f"robot '{system.robot.name}' has constraints: which of its actuators would share the work is not "
            f"determined; {what} is for robots without closed loops"
        )


def require_actuated(system: System, what: str) -> None:
    """Raise ValueError for robots with passive joints, whose motion actuators do not determine alone."""
    passive = [link.name for link in system.robot.links if link.joint.is_passive]
    if passive:
        raise ValueError(
            f"robot '{system.robot.name}' has passive joints ({', '.join(passive)}); {what} is for robots with an "
            "actuator at every joint"
        )


@dataclass(frozen=True)
class Target:
    """Target position (3,) and, if they matter, axes (3, 3)."""

    position: Array
    axes: Array | None

    def halfway(self, other: Target) -> Target:
        """Return the pose midway to another, turned by half of the angle."""
        from scipy.spatial.transform import Rotation

        middle = (self.position + other.position) / 2
        if self.axes is None or other.axes is None:
            return Target(middle, None)
        turn = Rotation.from_rotvec(rotation_between(self.axes, other.axes) / 2)
        return Target(middle, turn.as_matrix() @ self.axes)

    def __str__(self) -> str:
        place = ", ".join(f"{each:.4g}" for each in self.position)
        return f"({place}) m" if self.axes is None else f"({place}) m with its axes"


class PostureSearch:
    """Search for postures of a rigid twin: components of the pose that must match, and joints that may move.

    `sizes` and `scales` are the characteristic sizes of the joints and of the components.
    """

    def __init__(
        self, twin: RigidTwin, place: LinkFrame, rows: Sequence[int], moving: Sequence[int], start: Array
    ) -> None:
        self.twin, self.place, self.rows, self.moving, self.start = twin, place, list(rows), list(moving), start
        self._system, self._length = twin.rigid, twin.robot.size
        units = [twin.rigid.coordinates[k].unit for k in moving]
        self.sizes = np.array([self._length if unit == "m" else 1.0 for unit in units])
        self.scales = np.array([self._length if row < 3 else 1.0 for row in rows])
        self._low, self._high = (end[self.moving] / self.sizes for end in twin.travel)

    # --- gaps ---

    def gaps(self, q: Array, target: Target) -> tuple[Array, Array]:
        """Return the error at a posture, relative to the robot's length or in rad, and its slope by the joints."""
        p, R, J = self.place(q)
        turned = np.zeros(3) if target.axes is None else rotation_between(R, target.axes)
        missing = np.concatenate([(p - target.position) / self._length, -turned])
        J[:3] /= self._length
        gap, slope = missing[self.rows], J[self.rows]
        if self._system.constraints:
            scales = self._system.constraint_scales
            gap = np.concatenate([gap, self._system.constraint(q) / scales])
            slope = np.concatenate([slope, self._system.constraint_jacobian(q) / scales[:, None]])
        return gap, slope[:, self.moving] * self.sizes

    def _posture(self, q: Array, z: Array) -> Array:
        out, (low, high) = q.copy(), self.twin.travel
        out[self.moving] = np.clip(z * self.sizes, low[self.moving], high[self.moving])  # against rounding
        return out

    # --- one descent ---

    def descend(self, q: Array, target: Target) -> tuple[Array, float]:
        """Return the posture nearest to the target that is reached from q, and the norm of its error."""
        low, high, z = self._low, self._high, q[self.moving] / self.sizes
        gap, J = self.gaps(q, target)
        damping = FIRST_DAMPING
        for _ in range(MAX_ITERATIONS):
            cost = gap @ gap
            if cost < GAP_ROUNDING**2:
                break
            slope = J.T @ gap
            free = ~(((z <= low) & (slope > 0)) | ((z >= high) & (slope < 0)))  # others would leave their travel
            # by SVD, since J'J is singular if the joints are redundant
            left, sizes, right = np.linalg.svd(J[:, free], full_matrices=False)
            while damping < MAX_DAMPING:
                step = np.zeros_like(z)
                step[free] = -right.T @ (sizes / (sizes**2 + damping) * (left.T @ gap))
                step *= min(1.0, MAX_RELATIVE_STEP / max(float(np.abs(step).max(initial=0.0)), 1e-300))
                tried = np.clip(z + step, low, high)
                found, slopes = self.gaps(self._posture(q, tried), target)
                if found @ found < cost:
                    break
                damping = 4 * damping if cost > GAP_SETTLED**2 else MAX_DAMPING
            else:
                break
            settled = found @ found > (1 - 1e-9) * cost and cost > GAP_TOLERANCE**2
            z, gap, J, damping = tried, found, slopes, max(damping / 10, MIN_DAMPING)
            if settled:
                break
        return self._posture(q, z), float(np.linalg.norm(gap))

    # --- several starts ---

    def solve(self, target: Target, starts: int, where: str) -> Array:
        """Return a posture that reaches the target, from the start or from others; raise ValueError otherwise."""
        q, gap = self.descend(self.start, target)
        if gap <= GAP_TOLERANCE:
            return q
        nearest, smallest, reached = q, gap, []
        for other in self._further_starts(starts):
            q, gap = self.descend(other, target)
            if gap <= GAP_TOLERANCE:
                reached.append(self._unwind(q))
            elif gap < smallest:
                nearest, smallest = q, gap
        if not reached:
            raise ValueError(self._out_of_reach(nearest, target, where, 1 + starts))
        # six digits, so that rounding does not decide between equal distances
        moves = np.array([q - self.start for q in reached])[:, self.moving] / self.sizes
        away = np.round(np.linalg.norm(moves, axis=1), 6)
        return reached[int(np.argmin(away))]

    def _further_starts(self, count: int) -> list[Array]:
        """Return further start postures: the first ones near q0, then over the whole travel."""
        low, high, z = self._low, self._high, self.start[self.moving] / self.sizes
        within = np.where(np.isfinite(low), low, -np.pi), np.where(np.isfinite(high), high, np.pi)
        draw = np.random.default_rng(0)
        out = []
        for k in range(count):
            near = z + START_OFFSET * draw.choice([-1.0, 1.0], len(z))
            far = draw.uniform(*within)
            out.append(self._posture(self.start, np.clip(near if k < count // 4 else far, low, high)))
        return out

    def _unwind(self, q: Array) -> Array:
        """Remove whole turns relative to the start as far as the travel allows."""
        low, high = self.twin.travel
        out = q.copy()
        for k in self.moving:
            if self._system.coordinates[k].unit == "rad":
                nearer = out[k] - 2 * np.pi * np.round((out[k] - self.start[k]) / (2 * np.pi))
                out[k] = nearer if low[k] <= nearer <= high[k] else out[k]
        return out

    # --- along a path ---

    def follow(self, q: Array, here: Target, there: Target, where: str) -> Array:
        """Follow the path from a posture at one pose to the next; raise ValueError if joints would have to jump."""
        found = self._subdivide(q, here, there, MAX_HALVINGS)
        if found is not None:
            return found
        nearest, gap = self.descend(q, there)
        if gap > GAP_TOLERANCE:
            raise ValueError(self._out_of_reach(nearest, there, where, 0))
        raise ValueError(
            f"{where} = {there}: {self.place} gets there from the pose before by a jump of its joints only, from "
            f"{self.describe(q)}; straight on it cannot follow. Give poses nearer to each other, or start the "
            "other way round"
        )

    def _subdivide(self, q: Array, here: Target, there: Target, halvings: int) -> Array | None:
        """Return the posture at the next pose, by way of intermediate poses if needed; None if it is not reached."""
        found, gap = self.descend(q, there)
        middle, distance = here.halfway(there), float(np.linalg.norm(self.gaps(q, there)[0]))
        deviation = float(np.linalg.norm(self.gaps((q + found) / 2, middle)[0]))
        # joint coordinates midway must bring the frame about midway
        if gap <= GAP_TOLERANCE and deviation <= MAX_MIDPOINT_DEVIATION * distance + GAP_TOLERANCE:
            return found
        if not halvings:
            return None
        half = self._subdivide(q, here, middle, halvings - 1)
        return None if half is None else self._subdivide(half, middle, there, halvings - 1)

    # --- messages ---

    def _out_of_reach(self, q: Array, target: Target, where: str, starts: int) -> str:
        gap = self.gaps(q, target)[0]
        names = [COMPONENTS[row] for row in self.rows]
        turns = np.array([row >= 3 for row in self.rows])
        lengths, angles = gap[: len(names)] * self._length * ~turns, gap[: len(names)] * turns
        sides = [(lengths, "m")] * (not turns.all()) + [(angles, "rad")] * bool(turns.any())
        away = " and ".join(f"{np.linalg.norm(each):.4g} {unit}" for each, unit in sides)
        if np.abs(gap[len(names) :]).max(initial=0.0) > GAP_TOLERANCE:
            away += " and out of its constraints"
        tried = f"from {starts} starts" if starts > 1 else "from q0" if starts else "from the pose before"
        still = [names[k] for k in self.fixed_components(target) if abs(gap[k]) > GAP_TOLERANCE]
        others = tuple(name for name in names if name not in still)
        leave = f": leave that out by components={others}" if others else ""
        hint = f"; no joint moves it in {' and '.join(still)}{leave}" if still else self._at_ends(q, starts)
        return (
            f"{where} = {target}: out of reach of {self.place}; the nearest found {tried} is {away} away, at "
            f"{self.describe(q)}{hint}"
        )

    def _at_ends(self, q: Array, starts: int) -> str:
        low, high = self.twin.travel
        ended = [self._system.names[k] for k in self.moving if not low[k] < q[k] < high[k]]
        more = ", and other starts may find a way round (starts)" if starts else ""
        return f"; {', '.join(ended)} at an end of the travel{more}" if ended else ""

    def fixed_components(self, target: Target) -> list[int]:
        """Return the components in which no joint moves the frame, in this posture or in others."""
        slopes = [self.gaps(q, target)[1][: len(self.rows)] for q in (self.start, *self._further_starts(4))]
        return np.flatnonzero(np.abs(slopes).max(axis=(0, 2)) < 1e-12).tolist()

    def describe(self, q: Array) -> str:
        """Return the first joint coordinates of a posture as text."""
        listed = [f"{self._system.names[k]} = {q[k]:.4g}" for k in self.moving[:4]]
        return ", ".join(listed) + (", ..." if len(self.moving) > 4 else "")


# --- rotations ---


def rotation_between(one: Array, other: Array) -> Array:
    """Return the rotation vector (3,), in the world, that turns one set of axes into another."""
    from scipy.spatial.transform import Rotation

    return np.asarray(Rotation.from_matrix(other @ one.T).as_rotvec())
