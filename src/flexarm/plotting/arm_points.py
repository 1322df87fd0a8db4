"""What an arm looks like: links, joints and masses as points in the world."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from flexarm.dynamics.system import System
from flexarm.foundation.validation import Array
from flexarm.robot import (
    FixedPrismatic,
    Link,
    Loop,
    OnLine,
    OnPlane,
    PointMass,
    PointSupport,
    Revolute,
    RidingJoint,
    Sleeve,
    SlidingPrismatic,
    Weld,
)
from flexarm.robot.constraints import Constraint, Mouth
from flexarm.robot.joints import Joint
from flexarm.robot.links import GROUND
from flexarm.robot.pose import rotation_matrix
from flexarm.robot.supported_types import SupportedTypes

DRAWN = SupportedTypes(
    "the drawing",
    {
        Joint: (Revolute, SlidingPrismatic, FixedPrismatic, Sleeve, Weld),
        Constraint: (Loop, OnLine, OnPlane, PointSupport),
    },
)
GUIDE = 0.035  # half the length of a guide, as a fraction of the robot's


class Arm:
    """A robot in the postures q (n, nq).

    `magnify` multiplies the elastic coordinates, so that each link deflects that much more and carries what hangs on it
    along. In a closed loop that would tear it open: there joints stay where they are, and each link bows that much more
    between them. Points are (n, ..., 3): so many along links that bend, and along those that are `straight`.
    """

    def __init__(self, system: System, q: Array, magnify: float = 1.0, points: int = 41, straight: int = 2) -> None:
        DRAWN.require(system.robot)
        self.system = system
        self.q, self._bow = magnified(system, q, magnify), magnify if closed(system) else 1.0
        self.links = {link.name: self._axis(link, points, straight) for link in system.robot.links}
        self.sleeves = {each.on for each in system.robot.every_constraint if isinstance(each, Mouth)}
        n = len(self.q)
        hinges = [self._root(link) for link in self._jointed(Revolute)]
        self.hinges = _stacked([*hinges, *self._closures()], (n, 0, 3))
        on_ground = [each for each in self._constraints(PointSupport) if each.on == GROUND]
        self.supports = [np.array([each.position]) for each in on_ground]
        self.mouths = _stacked(list(self._mouths()), (n, 0, 3))
        self.guides = _stacked(list(self._guides()), (n, 0, 2, 3))
        self.brackets = _stacked(list(self._brackets()), (n, 0, 2, 3))
        self.masses = _stacked(list(self._masses()), (n, 0, 3))
        self.rails = list(self._rails())

    @property
    def cloud(self) -> Array:
        """All points of all postures."""
        lumps = [self.masses, self.guides, self.brackets, self.mouths]
        parts = [*self.links.values(), *lumps, *self.rails, *self.supports]
        return np.concatenate([part.reshape(-1, 3) for part in parts])

    # --- parts ---

    def _axis(self, link: Link, points: int, straight: int) -> Array:
        if link.flexible is None:
            return self.system.axis(link.name, self.q, straight)
        true = self.system.axis(link.name, self.q, points)
        if self._bow == 1:
            return true
        x, held = np.linspace(0, link.length, points), self._held(link)
        anchors = np.stack([self.system.frame(link.name, place, self.q)[:, :3, 3] for place in held], axis=1)
        chords = _between(x, held, anchors)
        return chords + self._bow * (true - chords)

    def _held(self, link: Link) -> list[float]:
        """Where something hangs on a link (m), its ends among it."""
        robot = self.system.robot
        found = {0.0, link.length, *(mass.at for mass in link.masses if mass.at is not None)}
        for child, parent in zip(robot.links, robot.parents, strict=True):
            if parent is not None and robot.links[parent].name == link.name and child.at is not None:
                found.add(child.at)
        for loop in self._constraints(Loop):
            ends = ((loop.first, loop.first_at), (loop.second, loop.second_at))
            found |= {at for name, at in ends if name == link.name and at is not None}
        return sorted(found)

    def _jointed(self, *kinds: type) -> list[Link]:
        return [link for link in self.system.robot.links if isinstance(link.joint, kinds)]

    def _constraints(self, kind: type) -> list[Any]:
        return [each for each in self.system.robot.constraints if isinstance(each, kind)]

    def _closures(self) -> Iterator[Array]:
        """Hinges that close a loop."""
        for loop in self._constraints(Loop):
            if loop.joint == "revolute":
                yield self.system.frame(loop.first, loop.first_at, self.q)[:, :3, 3]

    def _mouths(self) -> Iterator[Array]:
        """Supports on links, and mouths of sleeves."""
        robot, n = self.system.robot, len(self.q)
        for each in robot.every_constraint:
            if isinstance(each, PointSupport) and each.on != GROUND:
                pose = self.system.frame(each.on, each.at, self.q)
                yield pose[:, :3, 3] + pose[:, :3, :3] @ np.array(each.position or (0.0, 0.0, 0.0))
            elif isinstance(each, Mouth) and each.position is not None:
                yield np.tile(np.array(robot.base.position) + np.array(robot.base.matrix) @ each.position, (n, 1))

    def _root(self, link: Link) -> Array:
        return self.links[link.name][:, 0]

    def _guides(self) -> Iterator[Array]:
        """A short piece of a straight line where a link slides, along the way it slides."""
        whole = GUIDE * sum(link.length for link in self.system.robot.links)
        for link in self._jointed(RidingJoint, FixedPrismatic):
            half = whole / 4 if isinstance(link.joint, Sleeve) else whole  # an end, not a carriage
            rotation, place = self._ride(link) if isinstance(link.joint, RidingJoint) else self._hold(link)
            turned = rotation if isinstance(link.joint, RidingJoint) else rotation @ link.joint.mount_matrix
            step = half * turned[..., :, 0]
            yield np.stack([place - step, place + step], axis=1)

    def _brackets(self) -> Iterator[Array]:
        """From the point of the parent that carries a link to where the link's joint is, if they are apart."""
        for link, parent in zip(self.system.robot.links, self.system.robot.parents, strict=True):
            if any(link.offset) and (parent is not None or isinstance(link.joint, RidingJoint)):
                sliding = isinstance(link.joint, RidingJoint)
                rotation, place = self._ride(link) if sliding else self._carrier(link)
                yield np.stack([place, place + rotation @ np.array(link.offset)], axis=1)

    @property
    def lumps(self) -> list[tuple[Link, PointMass, float]]:
        """What `masses` are: their link, the mass, and where on the link it is (m)."""
        found: list[tuple[Link, PointMass, float]] = []
        for link in self.system.robot.links:
            lumps = [(link.hub, 0.0), (link.payload, link.length), *((mass, mass.at) for mass in link.masses)]
            found += [(link, lump, x or 0.0) for lump, x in lumps if lump is not None and not lump.empty]
        return found

    def _masses(self) -> Iterator[Array]:
        for link, lump, x in self.lumps:
            pose = self.system.frame(link.name, x, self.q)
            yield pose[:, :3, 3] + pose[:, :3, :3] @ np.array(lump.offset)

    def _rails(self) -> Iterator[Array]:
        """Lines of the ground (2, 3): along which a slide rides in these postures, from the base to a link off it."""
        base = self.system.robot.base
        for link, parent in zip(self.system.robot.links, self.system.robot.parents, strict=True):
            if parent is None and any(link.offset) and not isinstance(link.joint, RidingJoint):
                yield np.array([base.position, np.array(base.position) + np.array(base.matrix) @ np.array(link.offset)])
        for link in self._jointed(RidingJoint):
            if self.system.robot.parents[self._number(link)] is None:
                _, place = self._ride(link)
                far = place[[np.argmin(self._d(link)), np.argmax(self._d(link))]]
                along = np.array(base.matrix)[:, 0]
                yield far + np.outer([-1, 1], 0.25 * link.length * along)

    # --- places ---

    def _hold(self, link: Link) -> tuple[Array, Array]:
        """Section that holds a link's joint: rotation, and position of the joint."""
        rotation, place = self._carrier(link)
        return rotation, place + rotation @ np.array(link.offset)

    def _carrier(self, link: Link) -> tuple[Array, Array]:
        parent = self.system.robot.parents[self._number(link)]
        if parent is None:
            base = self.system.robot.base
            n = len(self.q)
            return np.tile(rotation_matrix(base.rotation), (n, 1, 1)), np.tile(base.position, (n, 1))
        pose = self.system.frame(self.system.robot.links[parent].name, link.at, self.q)
        return pose[:, :3, :3], pose[:, :3, 3]

    def _ride(self, link: Link) -> tuple[Array, Array]:
        """The same of a joint that rides along its parent: found from the link that it carries."""
        root = self.system.frame(link.name, 0.0, self.q)
        rotation = root[:, :3, :3] @ np.array(link.joint.mount_matrix).T
        return rotation, root[:, :3, 3] - rotation @ np.array(link.offset)

    def _number(self, link: Link) -> int:
        return [each.name for each in self.system.robot.links].index(link.name)

    def _d(self, link: Link) -> Array:
        return np.asarray(self.q[:, self.system.joint(link.name).index])


def magnified(system: System, q: Array, magnify: float) -> Array:
    """Coordinates with the elastic ones (`upper.bend_y[1]`, ...) multiplied, unless that would tear a loop open."""
    out = np.array(q, dtype=float)
    if not closed(system):
        out[:, system.elastic] *= magnify
    return out


def closed(system: System) -> bool:
    """Whether links form a closed loop."""
    return any(isinstance(each, Loop) for each in system.robot.constraints)


def _between(x: Array, places: list[float], anchors: Array) -> Array:
    """Points (n, len(x), 3) of the straight lines that join the anchors (n, len(places), 3)."""
    piece = np.clip(np.searchsorted(places, x, side="right") - 1, 0, len(places) - 2)
    start, end = np.array(places)[piece], np.array(places)[piece + 1]
    share = ((x - start) / (end - start))[:, None]
    return np.asarray((1 - share) * anchors[:, piece] + share * anchors[:, piece + 1])


def _stacked(parts: list[Array], empty: tuple[int, ...]) -> Array:
    return np.stack(parts, axis=1) if parts else np.zeros(empty)
