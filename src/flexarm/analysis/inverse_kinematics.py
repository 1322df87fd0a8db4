"""Joint coordinates that bring a place of the rigid twin to a pose, or along a path of poses.

Levenberg and Marquardt's method on the gaps of the pose (and of constraints), joints kept within their travel by
leaving out those that would be pushed beyond an end. Where it stalls, as in singular postures, other starts are tried,
always the same ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from flexarm.analysis.places import Place, Twin
from flexarm.foundation.numbers import Array, real_array, whole_number
from flexarm.foundation.sentences import shown, suggestion
from flexarm.mechanics.arguments import Vector
from flexarm.mechanics.system import System
from flexarm.robot import Pose, Robot
from flexarm.robot.joints import Prismatic

Component = Literal["x", "y", "z", "rx", "ry", "rz"]
COMPONENTS: tuple[Component, ...] = ("x", "y", "z", "rx", "ry", "rz")

STARTS = 24  # beside q0
ITERATIONS = 200
LONGEST = 0.5  # rad, or of the robot's length, in one iteration
ROUNDING, SETTLED = 1e-15, 1e-12  # gaps of the robot's length, or in rad, that are none, and not worth a second step
REACHED = 1e-9  # of the robot's length, or rad
FIRST_DAMPING, LEAST_DAMPING, MOST_DAMPING = 1e-3, 1e-16, 1e8
NUDGE = 0.3  # rad, or of the length: the first starts lie this far from q0
HALVINGS = 8  # of the way from one pose of a path to the next
ASTRAY = 0.4  # of the way to the next pose, that the place may be off in the middle; a quarter at the edge of the reach
ORTHOGONAL = 1e-6  # what the axes of a frame may be off


def inverse_kinematics(
    robot: Robot | System,
    pose: ArrayLike | Pose,
    q0: Vector = None,
    link: str | None = None,
    x: float | None = None,
    components: Sequence[Component] | None = None,
    joints: Sequence[str] | None = None,
    starts: int = STARTS,
) -> Array:
    """Coordinates (nq,) with which the straight links of a robot bring a place to a pose; (n, nq) along a path.

    They are those of the `robot` as it is given, deflections zero and motors where their joints are, so that they can
    be put into `simulate(q0=...)`; the tip is that of `robot.rigid()`. Joints keep to their travel. Constraints are
    kept. A pose that cannot be reached is a ValueError that tells how near it was.

    pose: position (3,) in m, frame (4, 4) or `fa.Pose`; a path of positions (n, 3) or frames (n, 4, 4), each found from
    the one before, so that joints move continuously.
    q0: where the search begins, by name or as an array (zero where not given). Its deflections do not count.
    link, x: the place: a link's tip, or x m from its root; the last link's tip unless given.
    components: which of x, y, z (m) and rx, ry, rz (rotations about the world's axes) matter; all that the pose tells
    unless given. A planar robot that need not point anywhere: ("x", "y").
    joints: links whose joints may move; the others stay at q0. All unless given.
    starts: how many other postures the search may begin from where q0 does not lead there. They are always the same;
    of those that get there the result is the one nearest to q0.

    >>> from flexarm.robot import library
    >>> arm = library.two_link_arm()
    >>> q = inverse_kinematics(arm, (1.0, 0.5, 0.0), q0={"fore.q": 1.0})
    >>> System(arm).tip(q).round(9)
    array([1. , 0.5, 0. ])
    """
    search = search_of(robot, pose, q0, link, x, components, joints)
    positions, axes, single = _poses(pose)
    count = whole_number("starts", starts)
    targets = [Target(p, None if axes is None else axes[k]) for k, p in enumerate(positions)]
    out = [search.first(targets[0], count, "pose" if single else "pose[0]")]
    for k in range(1, len(targets)):
        out.append(search.onward(out[-1], targets[k - 1], targets[k], f"pose[{k}]"))
    answer = search.twin.widened(np.array(out))
    return np.asarray(answer[0] if single else answer)


def search_of(
    robot: Robot | System,
    pose: Any,
    q0: Vector,
    link: str | None,
    x: float | None,
    components: Sequence[Component] | None,
    joints: Sequence[str] | None,
) -> Search:
    """A search for postures from what a user gives, which is checked."""
    twin = Twin(robot)
    place = Place(twin, link, x)
    rows = _rows(components, _poses(pose)[1] is not None)
    return Search(twin, place, rows, tuple(_moving(twin, place, joints)), _start(twin, q0))


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
class Search:
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
        out = q.copy()
        out[list(self.moving)] = z * self.sizes
        return out

    # --- one descent ---

    def descend(self, q: Array, target: Target) -> tuple[Array, float]:
        """The posture at which gaps are smallest, downhill from q, and the largest of them."""
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
            while damping < MOST_DAMPING:
                step = np.zeros_like(z)
                H = J[:, free].T @ J[:, free]
                step[free] = -np.linalg.solve(H + damping * np.eye(len(H)), slope[free])
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
        return self._posture(q, z), float(np.abs(gap).max(initial=0.0))

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
        away = [f"{np.linalg.norm(each):.4g} {unit}" for each, unit in ((lengths, "m"), (angles, "rad")) if each.any()]
        if np.abs(gap[len(names) :]).max(initial=0.0) > REACHED:
            away.append("constraints that are not kept")
        tried = f"from {starts} starts" if starts > 1 else "from q0" if starts else "from the pose before"
        still = [names[k] for k in self.still(target) if abs(gap[k]) > REACHED]
        others = tuple(name for name in names if name not in still)
        leave = f": leave that out by components={others}" if others else ""
        hint = f"; no joint moves it in {' and '.join(still)}{leave}" if still else ""
        return (
            f"{where} = {target}: out of reach of {self.place}; the nearest found {tried} is {' and '.join(away)} "
            f"away, at {self.told(q)}{hint}"
        )

    def still(self, target: Target) -> list[int]:
        """Components in which no joint moves the place, in this posture or another."""
        slopes = [self.gaps(q, target)[1][: len(self.rows)] for q in (self.start, *self._others(4))]
        return np.flatnonzero(np.abs(slopes).max(axis=(0, 2)) < 1e-12).tolist()

    def told(self, q: Array) -> str:
        listed = [f"{self._system.names[k]} = {q[k]:.4g}" for k in self.moving[:4]]
        return ", ".join(listed) + (", ..." if len(self.moving) > 4 else "")


# --- what users give ---


def _poses(pose: Any) -> tuple[Array, Array | None, bool]:
    """Positions (n, 3), axes (n, 3, 3) or None, and whether it is a single pose."""
    if isinstance(pose, Pose):
        frame = np.eye(4)
        frame[:3, :3], frame[:3, 3] = pose.matrix, pose.position
        pose = frame
    given = real_array("pose", pose)
    if given.shape[-2:] == (4, 4) and given.ndim in (2, 3):
        frames = given.reshape(-1, 4, 4)
        _require_frames(frames, given.ndim == 2)
        positions, axes = frames[:, :3, 3], frames[:, :3, :3]
    elif given.shape[-1:] == (3,) and given.ndim in (1, 2):
        positions, axes = given.reshape(-1, 3), None
    else:
        raise ValueError(
            f"pose has shape {given.shape}: must be a position (3,) or a frame (4, 4), or a path of them, (n, 3) or "
            "(n, 4, 4)"
        )
    if not np.isfinite(given).all():
        raise ValueError(f"pose = {shown(pose)}: must be finite")
    if not len(positions):
        raise ValueError("pose: a path must have at least one pose")
    return positions, axes, given.ndim == (1 if axes is None else 2)


def _require_frames(frames: Array, single: bool) -> None:
    for k, frame in enumerate(frames):
        R = frame[:3, :3]
        off = np.abs(R.T @ R - np.eye(3)).max()
        if not off <= ORTHOGONAL or np.linalg.det(R) < 0 or np.abs(frame[3] - [0, 0, 0, 1]).max() > ORTHOGONAL:
            where = "pose" if single else f"pose[{k}]"
            raise ValueError(
                f"{where} = {shown(frame.tolist())}: must be a frame, a rotation matrix and a position above a row "
                "0, 0, 0, 1"
            )


def _rows(components: Any, frames: bool) -> tuple[int, ...]:
    known = COMPONENTS if frames else COMPONENTS[:3]
    if components is None:
        return tuple(range(len(known)))
    if isinstance(components, str) or not isinstance(components, Sequence) or not components:
        raise ValueError(f"components = {shown(components)}: must be some of {', '.join(COMPONENTS)}, in a tuple")
    for each in components:
        if each not in COMPONENTS:
            raise ValueError(f"components: there is no {shown(each)}; there are {', '.join(COMPONENTS)}")
        if each not in known:
            raise ValueError(f"components: {each!r} needs a pose with axes, a frame (4, 4) or fa.Pose, not a position")
    return tuple(k for k, name in enumerate(COMPONENTS) if name in components)


def _start(twin: Twin, q0: Vector) -> Array:
    given = twin.system.posture(q0, "q0")
    if given.ndim != 1:
        raise ValueError(f"q0 has shape {given.shape}: the search begins at one posture")
    low, high = twin.travel
    q = given[twin.joints]
    if q0 is None:
        return np.clip(q, low, high)
    for name, value, least, most in zip(twin.rigid.names, q, low, high, strict=True):
        if not least <= value <= most:
            if isinstance(q0, Mapping) and name not in q0:
                continue  # not given
            raise ValueError(f"q0 of '{name}' = {value:g}: must be within its travel, {least:g} to {most:g}")
    return np.clip(q, low, high)


def _moving(twin: Twin, place: Place, joints: Any) -> list[int]:
    """The joints that may move: those that move the place, or any where constraints tie them."""
    every = range(twin.rigid.nq)
    able = list(every) if twin.rigid.constraints else twin.path(place.link)
    if not able:
        raise ValueError(f"link = '{place.link}': no joint moves {place}")
    if joints is None:
        return able
    names = [each.link for each in twin.rigid.coordinates]
    if isinstance(joints, str) or not isinstance(joints, Sequence) or not joints:
        raise ValueError(f"joints = {shown(joints)}: must be names of links, in a list")
    for each in joints:
        if each not in names:
            raise KeyError(f"joints: no joint moves a link {shown(each)}{suggestion(each, names)}")
    chosen = [k for k in able if names[k] in joints]
    if not chosen:
        raise ValueError(f"joints = {shown(joints)}: none of them moves {place}")
    return chosen


# --- rotations ---


def rotation_between(one: Array, other: Array) -> Array:
    """(3,): the rotation vector that turns one set of axes into another, in the world."""
    from scipy.spatial.transform import Rotation

    return np.asarray(Rotation.from_matrix(other @ one.T).as_rotvec())


def _turned(vector: Array) -> Array:
    from scipy.spatial.transform import Rotation

    return np.asarray(Rotation.from_rotvec(vector).as_matrix())
