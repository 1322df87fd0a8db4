"""Where a place on a robot is as its joints turn, links straight: frames, Jacobians in the world, and their rates.

The search for postures that bring a place of the rigid twin to a pose.

Levenberg and Marquardt's method on the gaps of the pose (and of constraints), joints kept within their travel by
leaving out those that would be pushed beyond an end. Where it stalls, as in singular postures, other starts are tried,
always the same ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import casadi as ca
import numpy as np

from flexarm.codegen.library import building
from flexarm.dynamics.parameters import Parameters
from flexarm.dynamics.system import System
from flexarm.foundation.messages import shown
from flexarm.foundation.validation import Array
from flexarm.robot import Robot
from flexarm.robot.joints import Prismatic

ORTHOGONAL = 1e-6  # what the axes of a frame may be off


class Twin:
    """A robot beside its rigid twin, whose only coordinates are the joints.

    robot: as it was given. rigid: `robot.rigid()`, whose tip is that of the robot without deflections.
    """

    def __init__(self, robot: Robot | System) -> None:
        if not isinstance(robot, (Robot, System)):
            raise TypeError(f"robot = {shown(robot)}: must be a Robot or a System")
        self.system = robot if isinstance(robot, System) else System(robot, native=False)
        self.robot = self.system.robot
        self.rigid = System(self.robot.rigid(), native=False)
        if not self.rigid.nq:
            raise ValueError(f"robot '{self.robot.name}' has no joint that could move")

    @cached_property
    def joints(self) -> list[int]:
        """Place of each of the twin's coordinates among those of the robot."""
        return [self.system.index(name) for name in self.rigid.names]

    @cached_property
    def travel(self) -> tuple[Array, Array]:
        """Lowest and highest joint coordinates, infinite where nothing limits them."""
        found = [self.robot.travel(each.link) or (-np.inf, np.inf) for each in self.rigid.coordinates]
        low, high = np.array(found).T
        return low, high

    def path(self, link: str) -> list[int]:
        """The twin's coordinates that move a link: of the joints between it and the ground."""
        names, parents = [each.name for each in self.robot.links], self.robot.parents
        at: int | None = names.index(link)
        above = set()
        while at is not None:
            above.add(names[at])
            at = parents[at]
        return [k for k, each in enumerate(self.rigid.coordinates) if each.link in above]

    def widened(self, values: Array) -> Array:
        """(..., nq) of the robot from (..., joints): no deflection, motors with their joints."""
        out = np.zeros((*values.shape[:-1], self.system.nq))
        out[..., self.joints] = values
        for each in self.system.coordinates:
            if each.kind == "motor":
                out[..., each.index] = out[..., self.system.joint(each.link).index]
        return out


class Place:
    """A section of one of the rigid twin's links."""

    def __init__(self, twin: Twin, link: str | None, x: float | None) -> None:
        self.system = twin.rigid
        self.link = twin.robot.links[-1].name if link is None else link
        self.number, self.x = self.system.place(self.link, x)
        self.tip = x is None

    def __str__(self) -> str:
        return f"the tip of '{self.link}'" if self.tip else f"'{self.link}' at {self.x:g} m"

    def __call__(self, q: Array) -> tuple[Array, Array, Array]:
        """Position (3,), axes (3, 3) and Jacobian (6, joints) in the world, rows of the position first."""
        p, R, J, _ = self._function(q, np.zeros_like(q))
        return p.full().ravel(), R.full(), J.full()

    def drift(self, q: Array, v: Array) -> Array:
        """(6,): accelerations where the joints' are none, those of the position first."""
        return np.asarray(self._function(q, v)[3].full().ravel())

    @cached_property
    def _function(self) -> Any:
        """The rates of the expressions of the twin's frame, differentiated once more along v."""
        system, n = self.system, self.system.nq
        there = Parameters()
        system.add_place(there, "place", self.number, self.x)
        with building:
            q, v = ca.MX.sym("q", n), ca.MX.sym("v", n)
            R, p = system.parametric.frame(self.number, there)(q, there.vector, system.numbers)
            own = system.parametric.jacobian(self.number, there)(q, there.vector, system.numbers)
            J = ca.vertcat(R @ own[3:, :], R @ own[:3, :])
            drift = ca.jtimes(J @ v, q, v)
            return ca.Function("place", [q, v], [p, R, J, drift])


def require_frames(name: str, frames: Array, single: bool = False) -> None:
    """Refuse what is no frame among matrices (n, 4, 4) that a user gave."""
    for k, frame in enumerate(frames):
        R = frame[:3, :3]
        off = np.abs(R.T @ R - np.eye(3)).max()
        if not off <= ORTHOGONAL or np.linalg.det(R) < 0 or not np.abs(frame[3] - [0, 0, 0, 1]).max() <= ORTHOGONAL:
            raise ValueError(
                f"{name if single else f'{name}[{k}]'} = {shown(frame.tolist())}: must be a frame, a rotation matrix "
                "and a position above a row 0, 0, 0, 1"
            )


def require_tree(system: System, what: str) -> None:
    """Refuse closed loops, where what each actuator has to do is not determined."""
    if system.constraints:
        raise ValueError(
            f"robot '{system.robot.name}' has constraints: which of its actuators would share the work is not "
            f"determined; {what} is for robots without closed loops"
        )


Component = Literal["x", "y", "z", "rx", "ry", "rz"]
COMPONENTS: tuple[Component, ...] = ("x", "y", "z", "rx", "ry", "rz")

ITERATIONS = 200
LONGEST = 0.5  # rad, or of the robot's length, in one iteration
ROUNDING, SETTLED = 1e-15, 1e-12  # gaps of the robot's length, or in rad, that are none, and not worth a second step
REACHED = 1e-9  # of the robot's length, or rad
FIRST_DAMPING, LEAST_DAMPING, MOST_DAMPING = 1e-3, 1e-16, 1e8
NUDGE = 0.3  # rad, or of the length: the first starts lie this far from q0
HALVINGS = 8  # of the way from one pose of a path to the next
ASTRAY = 0.4  # of the way to the next pose, that the place may be off in the middle; a quarter at the edge of the reach


@dataclass(frozen=True)
class Target:
    """A position (3,), and axes (3, 3) where they matter."""

    position: Array
    axes: Array | None

    def halfway(self, other: Target) -> Target:
        """Between this and another, turned by half of the angle."""
        middle = (self.position + other.position) / 2
        if self.axes is None or other.axes is None:
            return Target(middle, None)
        return Target(middle, _turned(rotation_between(self.axes, other.axes) / 2) @ self.axes)

    def __str__(self) -> str:
        place = ", ".join(f"{each:.4g}" for each in self.position)
        return f"({place}) m" if self.axes is None else f"({place}) m with its axes"


@dataclass(frozen=True)
class PostureSearch:
    """For postures of a rigid twin: which gaps must close and which joints may move."""

    twin: Twin
    place: Place
    rows: tuple[int, ...]
    moving: tuple[int, ...]
    start: Array

    @property
    def _system(self) -> System:
        return self.twin.rigid

    @cached_property
    def _length(self) -> float:
        return float(sum(link.length for link in self.twin.robot.links))

    @cached_property
    def sizes(self) -> Array:
        """Per moving joint, what is large for it."""
        kinds = [self._system.robot.link(self._system.coordinates[k].link).joint for k in self.moving]
        return np.array([self._length if isinstance(joint, Prismatic) else 1.0 for joint in kinds])

    @property
    def scales(self) -> Array:
        """Per component, what is large for it."""
        return np.array([self._length if row < 3 else 1.0 for row in self.rows])

    @cached_property
    def _ends(self) -> tuple[Array, Array]:
        low, high = self.twin.travel
        return low[list(self.moving)] / self.sizes, high[list(self.moving)] / self.sizes

    # --- gaps ---

    def gaps(self, q: Array, target: Target) -> tuple[Array, Array]:
        """What is missing at a posture, of the robot's length and in rad, and how it changes with the moving joints."""
        p, R, J = self.place(q)
        turned = np.zeros(3) if target.axes is None else rotation_between(R, target.axes)
        missing = np.concatenate([(p - target.position) / self._length, -turned])
        J[:3] /= self._length
        rows = list(self.rows)
        gap, slope = missing[rows], J[rows]
        if self._system.constraints:
            scales = self._system.constraint_scales
            gap = np.concatenate([gap, self._system.constraint(q) / scales])
            slope = np.concatenate([slope, self._system.constraint_jacobian(q) / scales[:, None]])
        return gap, slope[:, list(self.moving)] * self.sizes

    def _posture(self, q: Array, z: Array) -> Array:
        out, places = q.copy(), list(self.moving)
        low, high = self.twin.travel
        out[places] = np.clip(z * self.sizes, low[places], high[places])  # against rounding
        return out

    # --- one descent ---

    def descend(self, q: Array, target: Target) -> tuple[Array, float]:
        """The posture at which gaps are smallest, downhill from q, and the root of their squares."""
        low, high = self._ends
        z = q[list(self.moving)] / self.sizes
        gap, J = self.gaps(q, target)
        damping = FIRST_DAMPING
        for _ in range(ITERATIONS):
            cost = gap @ gap
            if cost < ROUNDING**2:
                break
            slope = J.T @ gap
            free = ~(((z <= low) & (slope > 0)) | ((z >= high) & (slope < 0)))  # the others would leave their travel
            # not by J'J, which is singular where joints are more than it takes
            left, sizes, right = np.linalg.svd(J[:, free], full_matrices=False)
            while damping < MOST_DAMPING:
                step = np.zeros_like(z)
                step[free] = -right.T @ (sizes / (sizes**2 + damping) * (left.T @ gap))
                step *= min(1.0, LONGEST / max(float(np.abs(step).max(initial=0.0)), 1e-300))
                tried = np.clip(z + step, low, high)
                found, slopes = self.gaps(self._posture(q, tried), target)
                if found @ found < cost:
                    break
                damping = 4 * damping if cost > SETTLED**2 else MOST_DAMPING
            else:
                break
            settled = found @ found > (1 - 1e-9) * cost and cost > REACHED**2
            z, gap, J, damping = tried, found, slopes, max(damping / 10, LEAST_DAMPING)
            if settled:
                break
        return self._posture(q, z), float(np.linalg.norm(gap))

    # --- several ---

    def first(self, target: Target, starts: int, where: str) -> Array:
        """From the start, or from others; refused where none gets there."""
        q, gap = self.descend(self.start, target)
        if gap <= REACHED:
            return q
        nearest, smallest, reached = q, gap, []
        for other in self._others(starts):
            q, gap = self.descend(other, target)
            if gap <= REACHED:
                reached.append(self._unwound(q))
            elif gap < smallest:
                nearest, smallest = q, gap
        if not reached:
            raise ValueError(self._out_of_reach(nearest, target, where, 1 + starts))
        # to six digits, so that rounding does not choose
        away = [round(float(np.linalg.norm(self._moved(q) / self.sizes)), 6) for q in reached]
        return reached[int(np.argmin(away))]

    def _others(self, count: int) -> list[Array]:
        """Starts beside q0 first, then all over the travel."""
        low, high = self._ends
        z = self.start[list(self.moving)] / self.sizes
        within = np.where(np.isfinite(low), low, -np.pi), np.where(np.isfinite(high), high, np.pi)
        draw = np.random.default_rng(0)
        out = []
        for k in range(count):
            near = z + NUDGE * draw.choice([-1.0, 1.0], len(z))
            far = draw.uniform(*within)
            out.append(self._posture(self.start, np.clip(near if k < count // 4 else far, low, high)))
        return out

    def _moved(self, q: Array) -> Array:
        return np.asarray((q - self.start)[list(self.moving)])

    def _unwound(self, q: Array) -> Array:
        """Whole turns taken back as far as the travel allows."""
        low, high = self.twin.travel
        out = q.copy()
        for k in self.moving:
            if self._system.coordinates[k].unit == "rad":
                nearer = out[k] - 2 * np.pi * np.round((out[k] - self.start[k]) / (2 * np.pi))
                out[k] = nearer if low[k] <= nearer <= high[k] else out[k]
        return out

    # --- along a path ---

    def onward(self, q: Array, here: Target, there: Target, where: str) -> Array:
        """From a posture at one pose to the next pose."""
        found = self._between(q, here, there, HALVINGS)
        if found is not None:
            return found
        nearest, gap = self.descend(q, there)
        if gap > REACHED:
            raise ValueError(self._out_of_reach(nearest, there, where, 0))
        raise ValueError(
            f"{where} = {there}: {self.place} gets there from the pose before by a jump of its joints only, from "
            f"{self.told(q)}; straight on it cannot follow. Give poses nearer to each other, or start the other way "
            "round"
        )

    def _between(self, q: Array, here: Target, there: Target, halvings: int) -> Array | None:
        """The same, over poses between them if it is far; None where it does not go."""
        found, gap = self.descend(q, there)
        if gap <= REACHED and self._continuous(q, found, here, there):
            return found
        if not halvings:
            return None
        middle = here.halfway(there)
        half = self._between(q, here, middle, halvings - 1)
        return None if half is None else self._between(half, middle, there, halvings - 1)

    def _continuous(self, one: Array, other: Array, here: Target, there: Target) -> bool:
        """Whether joints half of the way bring the place about half of the way."""
        middle = here.halfway(there)
        off = self.gaps((one + other) / 2, middle)[0]
        way = self.gaps(one, there)[0]
        return bool(np.linalg.norm(off) <= ASTRAY * np.linalg.norm(way) + REACHED)

    # --- sentences ---

    def _out_of_reach(self, q: Array, target: Target, where: str, starts: int) -> str:
        gap = self.gaps(q, target)[0]
        names = [COMPONENTS[row] for row in self.rows]
        turns = np.array([row >= 3 for row in self.rows])
        lengths, angles = gap[: len(names)] * self._length * ~turns, gap[: len(names)] * turns
        sides = [(lengths, "m")] * (not turns.all()) + [(angles, "rad")] * bool(turns.any())
        away = " and ".join(f"{np.linalg.norm(each):.4g} {unit}" for each, unit in sides)
        if np.abs(gap[len(names) :]).max(initial=0.0) > REACHED:
            away += " and out of its constraints"
        tried = f"from {starts} starts" if starts > 1 else "from q0" if starts else "from the pose before"
        still = [names[k] for k in self.still(target) if abs(gap[k]) > REACHED]
        others = tuple(name for name in names if name not in still)
        leave = f": leave that out by components={others}" if others else ""
        hint = f"; no joint moves it in {' and '.join(still)}{leave}" if still else self._at_ends(q, starts)
        return (
            f"{where} = {target}: out of reach of {self.place}; the nearest found {tried} is {away} away, at "
            f"{self.told(q)}{hint}"
        )

    def _at_ends(self, q: Array, starts: int) -> str:
        low, high = self.twin.travel
        ended = [self._system.names[k] for k in self.moving if not low[k] < q[k] < high[k]]
        more = ", and other starts may find a way round (starts)" if starts else ""
        return f"; {', '.join(ended)} at an end of the travel{more}" if ended else ""

    def still(self, target: Target) -> list[int]:
        """Components in which no joint moves the place, in this posture or another."""
        slopes = [self.gaps(q, target)[1][: len(self.rows)] for q in (self.start, *self._others(4))]
        return np.flatnonzero(np.abs(slopes).max(axis=(0, 2)) < 1e-12).tolist()

    def told(self, q: Array) -> str:
        listed = [f"{self._system.names[k]} = {q[k]:.4g}" for k in self.moving[:4]]
        return ", ".join(listed) + (", ..." if len(self.moving) > 4 else "")


# --- rotations ---


def rotation_between(one: Array, other: Array) -> Array:
    """(3,): the rotation vector that turns one set of axes into another, in the world."""
    from scipy.spatial.transform import Rotation

    return np.asarray(Rotation.from_matrix(other @ one.T).as_rotvec())


def _turned(vector: Array) -> Array:
    from scipy.spatial.transform import Rotation

    return np.asarray(Rotation.from_rotvec(vector).as_matrix())
