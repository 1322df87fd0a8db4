"""Points in space of the links, joints, masses and constraints of an arm."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from flexarm.dynamics.joints import supported_joints
from flexarm.dynamics.system import System
from flexarm.foundation.validation import Array
from flexarm.robot import (
    Link,
    Loop,
    OnLine,
    OnPlane,
    PointMass,
    PointSupport,
    Sleeve,
)
from flexarm.robot.constraints import Constraint, Mouth
from flexarm.robot.joints import Joint, SlideAlong, TurnAbout
from flexarm.robot.links import GROUND
from flexarm.robot.pose import rotation_matrix
from flexarm.robot.supported_types import SupportedTypes

DRAWABLE_KINDS = SupportedTypes(
    "the drawing",
    {
        Joint: supported_joints,
        Constraint: (Loop, OnLine, OnPlane, PointSupport),
    },
)
GUIDE_HALF_LENGTH = 0.035  # as a fraction of the length of the robot


class Arm:
    """Points of a robot in n postures; arrays of points have the shape (n, ..., 3).

    Parameters
    ----------
    system : System
        The robot.
    q : ndarray, shape (n, nq)
        Postures.
    magnify : float, optional
        Factor of the elastic coordinates. In a closed loop, which would then open, the joints keep their positions, and
        the deflection of each link between them is multiplied instead.
    points, straight : int, optional
        Numbers of points along flexible and rigid links.
    """

    def __init__(self, system: System, q: Array, magnify: float = 1.0, points: int = 41, straight: int = 2) -> None:
        DRAWABLE_KINDS.require(system.robot)
        self.system = system
        self.q, self._bow = magnify_deflections(system, q, magnify), magnify if _has_closed_loop(system) else 1.0
        self.links = {link.name: self._axis(link, points, straight) for link in system.robot.links}
        self.sleeves = {each.on for each in system.robot.every_constraint if isinstance(each, Mouth)}
        hinges = [self.links[link.name][:, 0] for link in self.turning_links]
        closures = [each for each in self._constraints(Loop) if each.joint == "revolute"]
        self.hinges = self._stack([*hinges, *(self._point(each.first, each.first_at) for each in closures)])
        on_ground = [each for each in self._constraints(PointSupport) if each.on == GROUND]
        self.supports = [np.array([each.position]) for each in on_ground]
        self.mouths = self._stack(self._mouths())
        self.guides = self._stack(self._guides(), 2)
        self.brackets = self._stack(self._brackets(), 2)
        self.masses = self._stack(self._point(link.name, x, lump.offset) for link, lump, x in self.lumps)
        self.rails = list(self._rails())

    def _stack(self, parts: Iterable[Array], *shape: int) -> Array:
        """Return points (n, parts, ..., 3)."""
        found = list(parts)
        return np.stack(found, axis=1) if found else np.zeros((len(self.q), 0, *shape, 3))

    def _point(self, link: str, x: float | None, offset: Sequence[float] = (0.0, 0.0, 0.0)) -> Array:
        """Return a point fixed to the section at x of a link, in all postures."""
        pose = self.system.frame(link, x, self.q)
        return np.asarray(pose[:, :3, 3] + pose[:, :3, :3] @ np.array(offset))

    @property
    def cloud(self) -> Array:
        """All points of all postures, shape (m, 3)."""
        lumps = [self.masses, self.guides, self.brackets, self.mouths]
        parts = [*self.links.values(), *lumps, *self.rails, *self.supports]
        return np.concatenate([part.reshape(-1, 3) for part in parts])

    def _axis(self, link: Link, points: int, straight: int) -> Array:
        if link.flexible is None:
            return self.system.axis(link.name, self.q, straight)
        actual = self.system.axis(link.name, self.q, points)
        if self._bow == 1:
            return actual
        from scipy.interpolate import make_interp_spline

        attached = self._attachments(link)
        anchors = np.stack([self._point(link.name, x) for x in attached], axis=1)
        chords = make_interp_spline(attached, anchors, k=1, axis=1)(np.linspace(0, link.length, points))
        return np.asarray(chords + self._bow * (actual - chords))

    def _attachments(self, link: Link) -> list[float]:
        """Return the positions (m) along a link where others are attached, including its ends."""
        robot = self.system.robot
        found = {0.0, link.length, *(mass.at for mass in link.masses if mass.at is not None)}
        for child, parent in zip(robot.links, robot.parents, strict=True):
            if parent is not None and robot.links[parent].name == link.name and child.at is not None:
                found.add(child.at)
        for loop in self._constraints(Loop):
            ends = ((loop.first, loop.first_at), (loop.second, loop.second_at))
            found |= {at for name, at in ends if name == link.name and at is not None}
        return sorted(found)

    @property
    def turning_links(self) -> list[Link]:
        """Links whose joints rotate about an axis."""
        return [link for link in self.system.robot.links if turning_axes(link.joint)]

    def _riding(self) -> list[Link]:
        return [link for link in self.system.robot.links if link.joint.rides]

    def _constraints(self, kind: type) -> list[Any]:
        return [each for each in self.system.robot.constraints if isinstance(each, kind)]

    def _mouths(self) -> Iterator[Array]:
        """Yield the positions of supports on links and of the mouths of sleeves."""
        base = self.system.robot.base
        for each in self.system.robot.every_constraint:
            if isinstance(each, PointSupport) and each.on != GROUND:
                yield self._point(each.on, each.at, each.position or (0.0, 0.0, 0.0))
            elif isinstance(each, Mouth) and each.position is not None:
                place = np.array(base.position) + np.array(base.matrix) @ each.position
                yield np.tile(place, (len(self.q), 1))

    def _guides(self) -> Iterator[Array]:
        """Yield short line segments at each sliding joint, along its axes."""
        whole = GUIDE_HALF_LENGTH * self.system.robot.size
        for link in self.system.robot.links:
            joint = link.joint
            half = whole / 4 if isinstance(joint, Sleeve) else whole  # a sleeve shows only its end
            for axis in [np.array([1.0, 0.0, 0.0])] if joint.rides or joint.grips else sliding_axes(joint):
                rotation, place = self._riding_pose(link) if joint.rides else self._joint_pose(link)
                step = half * (rotation if joint.rides else rotation @ joint.mount_matrix) @ axis
                yield np.stack([place - step, place + step], axis=1)

    def _brackets(self) -> Iterator[Array]:
        """Yield the segments from links to joints with an offset and to frames beside them."""
        for link, parent in zip(self.system.robot.links, self.system.robot.parents, strict=True):
            if any(link.offset) and (parent is not None or link.joint.rides):
                rotation, place = self._riding_pose(link) if link.joint.rides else self._carrier_pose(link)
                yield np.stack([place, place + rotation @ np.array(link.offset)], axis=1)
        for frame in self.system.robot.frames:
            if any(frame.position):
                ends = [self.system.frame(frame.on, frame.x, self.q), self.system.pose(frame.name, self.q)]
                yield np.stack([end[:, :3, 3] for end in ends], axis=1)

    @property
    def lumps(self) -> list[tuple[Link, PointMass, float]]:
        """Point masses in the order of `masses`, with their link and position along it (m)."""
        found: list[tuple[Link, PointMass, float]] = []
        for link in self.system.robot.links:
            found += [(link, lump, x) for _, lump, x in link.lumps if not lump.empty]
        return found

    def _rails(self) -> Iterator[Array]:
        """Yield line segments (2, 3) fixed to the ground: rails of slides, and brackets from the base to links."""
        base = self.system.robot.base
        for link, parent in zip(self.system.robot.links, self.system.robot.parents, strict=True):
            if parent is None and any(link.offset) and not link.joint.rides:
                yield np.array([base.position, np.array(base.position) + np.array(base.matrix) @ np.array(link.offset)])
        for link in self._riding():
            if self.system.robot.parents[self._index(link)] is None:
                _, place = self._riding_pose(link)
                travel = self.q[:, self.system.joint(link.name).index]
                far = place[[travel.argmin(), travel.argmax()]]
                yield far + np.outer([-1, 1], 0.25 * link.length * np.array(base.matrix)[:, 0])

    def _joint_pose(self, link: Link) -> tuple[Array, Array]:
        """Return the rotation of the section that carries a joint, and the position of the joint."""
        rotation, place = self._carrier_pose(link)
        return rotation, place + rotation @ np.array(link.offset)

    def _carrier_pose(self, link: Link) -> tuple[Array, Array]:
        parent = self.system.robot.parents[self._index(link)]
        if parent is None:
            base, n = self.system.robot.base, len(self.q)
            return np.tile(rotation_matrix(base.rotation), (n, 1, 1)), np.tile(base.position, (n, 1))
        pose = self.system.frame(self.system.robot.links[parent].name, link.at, self.q)
        return pose[:, :3, :3], pose[:, :3, 3]

    def _riding_pose(self, link: Link) -> tuple[Array, Array]:
        """Return rotation and position of a joint that slides along its parent, from the link on it."""
        root = self.system.frame(link.name, 0.0, self.q)
        rotation = root[:, :3, :3] @ np.array(link.joint.mount_matrix).T
        return rotation, root[:, :3, 3] - rotation @ np.array(link.offset)

    def _index(self, link: Link) -> int:
        return [each.name for each in self.system.robot.links].index(link.name)


def turning_axes(joint: Joint) -> list[Array]:
    """Return the axes about which a joint rotates, in its mounted frame at zero coordinates."""
    return [np.array(each.axis) for each in joint.elementary_motions if isinstance(each, TurnAbout)]


def sliding_axes(joint: Joint) -> list[Array]:
    """Return the axes along which a joint made of elementary motions slides, in its mounted frame."""
    return [np.array(each.axis) for each in joint.elementary_motions if isinstance(each, SlideAlong)]


def magnify_deflections(system: System, q: Array, magnify: float) -> Array:
    """Return coordinates with the elastic ones multiplied, unless that would open a closed loop."""
    out = np.array(q, dtype=float)
    if not _has_closed_loop(system):
        out[:, system.elastic] *= magnify
    return out


def _has_closed_loop(system: System) -> bool:
    """Return True if links form a closed loop."""
    return any(isinstance(each, Loop) for each in system.robot.constraints)
