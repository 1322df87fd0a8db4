"""Outlines of cross-sections: what a link looks like when it is cut.

An arm as surfaces: links with their sections, joints, drives and masses as bodies of triangles.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from flexarm.foundation.validation import Array
from flexarm.plotting.arm_points import Arm
from flexarm.robot import Link, PointMass, Revolute
from flexarm.robot.joints import MovingJoint
from flexarm.robot.sections import Box, Circle, ConstantSection, IBeam, Rectangle, Section, Tube

ROUND = 20  # corners of a circle
SLENDER = 1 / 80  # of the length: thickness of a link of which no section is known


def outline(section: Section | None, xi: float, length: float) -> Array:
    """Corners (k, 2) of a section at the fraction xi of a link's length (y, z in m), in order.

    A section that is known by its numbers only is drawn as the rectangle that has its A, I_y and I_z up to a factor; a
    link without one as a slender square bar.

    >>> outline(Rectangle(0.02, 0.03), 0.5, 1.0).tolist()
    [[0.01, 0.015], [-0.01, 0.015], [-0.01, -0.015], [0.01, -0.015]]
    """
    if section is None:
        return _rectangle(SLENDER * length, SLENDER * length)
    shape = section.plain_at(xi)
    found = None if shape is None else _of_shape(shape)
    if found is not None:
        return found
    numbers = section.at(xi)  # of a rectangle b h: I_z / A = b^2 / 12
    return _rectangle(np.sqrt(12 * numbers.I_z / numbers.A), np.sqrt(12 * numbers.I_y / numbers.A))


def hollow(section: Section | None) -> bool:
    """Whether the ends of a link stay open when it is drawn by its outlines."""
    shapes = () if section is None else section.plain_sections.values()
    return any(isinstance(each, (Tube, Box, IBeam)) for each in shapes)


def extent(corners: Array) -> float:
    """The larger of width and height of an outline (m)."""
    return float(np.ptp(corners, axis=0).max())


def alike(outlines: list[Array]) -> Array:
    """Outlines along a link (n, k, 2) with as many corners each: on the longest edges of the poorer ones some are
    put in."""
    most = max(len(each) for each in outlines)
    return np.array([_with_corners(each, most) for each in outlines])


def _of_shape(shape: ConstantSection) -> Array | None:
    if isinstance(shape, (Rectangle, Box)):
        return _rectangle(shape.width, shape.height)
    if isinstance(shape, (Circle, Tube)):
        turn = 2 * np.pi * np.arange(ROUND) / ROUND
        radius = (shape.diameter if isinstance(shape, Circle) else shape.outer) / 2
        return radius * np.column_stack([np.cos(turn), np.sin(turn)])
    if isinstance(shape, IBeam):
        b, h, w, inner = shape.width / 2, shape.height / 2, shape.web / 2, shape.height / 2 - shape.flange
        right = [(w, -inner), (b, -inner), (b, -h), (-b, -h), (-b, -inner), (-w, -inner)]
        return np.array([(b, h), (b, inner), (w, inner), *right, (-w, inner), (-b, inner), (-b, h)])
    return None


def _rectangle(width: float, height: float) -> Array:
    return np.array([(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)]) * [width / 2, height / 2]


def _with_corners(corners: Array, count: int) -> Array:
    while len(corners) < count:
        ends = np.roll(corners, -1, axis=0)
        longest = int(np.linalg.norm(ends - corners, axis=1).argmax())
        corners = np.insert(corners, longest + 1, (corners[longest] + ends[longest]) / 2, axis=0)
    return corners


Kind = Literal["link", "joint", "drive", "mass", "ground"]
Faces = np.ndarray[Any, np.dtype[np.int64]]

STEEL = 7850.0  # kg/m3: masses are drawn as balls of steel
AROUND = 12  # corners of rods and hinges
TWISTED = 9  # sections of a link at which its twist is looked up


@dataclass(frozen=True)
class Solid:
    """A body: points (n, v, 3) in the n postures of an arm, triangles (f, 3) between them.

    `along`: of a link, which of its stations each triangle begins at.
    """

    kind: Kind
    points: Array
    faces: Faces
    link: str = ""
    along: Faces | None = None


class Solids:
    """What an arm in its postures looks like in space; `thicken` multiplies the sections, not the lengths."""

    def __init__(self, arm: Arm, thicken: float = 1.0) -> None:
        self.arm, self.thicken = arm, thicken
        self.robot = arm.system.robot

    def all(self) -> list[Solid]:
        return [*self._links(), *self._hinges(), *self._masses(), *self._rods()]

    # --- sizes ---

    @cached_property
    def _outlines(self) -> dict[str, Array]:
        """By link, the corners (stations, k, 2) of its sections."""
        found = {}
        for link in self.robot.links:
            stations = np.linspace(0, 1, self.arm.links[link.name].shape[1])
            found[link.name] = self.thicken * alike([outline(link.section, xi, link.length) for xi in stations])
        return found

    def _size(self, link: Link) -> float:
        """Thickness of a link at its root (m)."""
        return extent(self._outlines[link.name][0])

    @cached_property
    def _bone(self) -> float:
        """Radius of what has no size of its own (m)."""
        return 0.5 * min(self._size(link) for link in self.robot.links)

    # --- parts ---

    def _links(self) -> Iterator[Solid]:
        for link in self.robot.links:
            axis, corners = self.arm.links[link.name], self._outlines[link.name]
            y, z = self._cross(link, axis)
            points = (
                axis[:, :, None] + corners[None, :, :, :1] * y[:, :, None] + corners[None, :, :, 1:] * z[:, :, None]
            )
            stations, k = corners.shape[:2]
            faces, along = skin(stations, k, caps=not hollow(link.section))
            yield Solid("link", points.reshape(len(axis), -1, 3), faces, link.name, along)

    def _hinges(self) -> Iterator[Solid]:
        for link, (rotation, place) in self._roots():
            size = self._size(link)
            if isinstance(link.joint, Revolute):
                axis = rotation @ np.array(link.joint.axis_vector)
                half = 0.8 * size * axis
                yield self._rod("joint", place - half, place + half, 0.8 * size)
                if link.joint.drive is not None:
                    yield self._rod("drive", place - 2.2 * half, place - half, 1.1 * size)
            elif isinstance(link.joint, MovingJoint) and link.joint.drive is not None:
                along = 0.8 * size * rotation[..., :, 0]
                yield self._rod("drive", place - along, place, 1.1 * size)
        ends = self.arm.hinges[:, sum(isinstance(link.joint, Revolute) for link in self.robot.links) :]
        for k in range(ends.shape[1]):  # hinges that close loops
            yield self._ball("joint", ends[:, k], 1.6 * self._bone)

    def _masses(self) -> Iterator[Solid]:
        for k, (link, lump, _) in enumerate(self.arm.lumps):
            yield self._ball("mass", self.arm.masses[:, k], max(ball(lump), 0.6 * self._size(link)))

    def _rods(self) -> Iterator[Solid]:
        n, arm = len(self.arm.q), self.arm
        for k in range(arm.guides.shape[1]):
            yield self._rod("joint", arm.guides[:, k, 0], arm.guides[:, k, 1], 1.8 * self._bone)
        for k in range(arm.brackets.shape[1]):
            yield self._rod("joint", arm.brackets[:, k, 0], arm.brackets[:, k, 1], 0.6 * self._bone)
        for rail in arm.rails:
            yield self._rod("ground", np.tile(rail[0], (n, 1)), np.tile(rail[1], (n, 1)), 0.4 * self._bone)
        for k in range(arm.mouths.shape[1]):
            yield self._ball("joint", arm.mouths[:, k], 1.4 * self._bone)
        for support in arm.supports:
            yield self._ball("ground", np.tile(support[0], (n, 1)), 1.6 * self._bone)

    # --- bodies ---

    def _roots(self) -> Iterator[tuple[Link, tuple[Array, Array]]]:
        for link in self.robot.links:
            pose = self._root_poses[link.name]
            yield link, (pose[:, :3, :3], pose[:, :3, 3])

    @cached_property
    def _root_poses(self) -> dict[str, Array]:
        return {link.name: self.arm.system.frame(link.name, 0.0, self.arm.q) for link in self.robot.links}

    def _cross(self, link: Link, axis: Array) -> tuple[Array, Array]:
        """Directions y and z of the sections along an axis (n, stations, 3), both (n, stations, 3).

        Those of the root are carried along without turning about the axis, and turned where the link twists.
        """
        tangents = _unit(np.gradient(axis, axis=1))
        y = np.empty_like(axis)
        y[:, 0] = _unit(_across(self._root_poses[link.name][:, :3, 1], tangents[:, 0]))
        for k in range(1, axis.shape[1]):
            y[:, k] = _unit(_carried(y[:, k - 1], tangents[:, k - 1], tangents[:, k]))
        if link.flexible is not None and "twist" in link.flexible.counts:
            y = self._twisted(link, y, tangents)
        return y, np.cross(tangents, y)

    def _twisted(self, link: Link, y: Array, tangents: Array) -> Array:
        stations = np.unique(np.linspace(0, y.shape[1] - 1, TWISTED).astype(int))
        angles = np.zeros((len(y), len(stations)))
        for column, k in enumerate(stations):
            x = link.length * k / (y.shape[1] - 1)
            true = self.arm.system.frame(link.name, x, self.arm.q)[:, :3, 1]
            z = np.cross(tangents[:, k], y[:, k])
            angles[:, column] = np.arctan2((true * z).sum(-1), (true * y[:, k]).sum(-1))
        every = np.arange(y.shape[1])
        turn = np.array([np.interp(every, stations, np.unwrap(row)) for row in angles])[..., None]
        return np.asarray(np.cos(turn) * y + np.sin(turn) * np.cross(tangents, y))

    def _rod(self, kind: Kind, begin: Array, end: Array, radius: float) -> Solid:
        """A round bar between two points (n, 3)."""
        along = _unit(end - begin)
        aside = _unit(np.cross(along, np.where(np.abs(along[:, :1]) < 0.8, [[1.0, 0, 0]], [[0, 1.0, 0]])))
        turn = 2 * np.pi * np.arange(AROUND) / AROUND
        ring = radius * (
            np.cos(turn)[None, :, None] * aside[:, None] + np.sin(turn)[None, :, None] * np.cross(along, aside)[:, None]
        )
        points = np.concatenate([begin[:, None] + ring, end[:, None] + ring], axis=1)
        return Solid(kind, points, skin(2, AROUND, caps=True)[0])

    def _ball(self, kind: Kind, centre: Array, radius: float) -> Solid:
        points, faces = _sphere()
        return Solid(kind, centre[:, None] + radius * points, faces)


def ball(lump: PointMass) -> float:
    """Radius (m) of the ball of steel that has a lump's mass.

    >>> round(ball(PointMass(1.0)), 4)
    0.0312
    """
    return float((3 * lump.mass / (4 * np.pi * STEEL)) ** (1 / 3))


def skin(rings: int, k: int, caps: bool) -> tuple[Faces, Faces]:
    """Triangles between rings of k points each, and the ring at which each begins."""
    ring, corner = (each.ravel() for each in np.meshgrid(np.arange(rings - 1), np.arange(k), indexing="ij"))
    a, b = ring * k + corner, ring * k + (corner + 1) % k
    faces = [np.column_stack([a, a + k, b]), np.column_stack([b, a + k, b + k])]
    along = [ring, ring]
    if caps:
        fan = np.column_stack([np.zeros(k - 2, dtype=int), np.arange(1, k - 1), np.arange(2, k)])
        faces += [fan, fan[:, ::-1] + (rings - 1) * k]
        along += [np.zeros(k - 2, dtype=int), np.full(k - 2, rings - 2)]
    return np.concatenate(faces), np.concatenate(along)


def _sphere(rows: int = 8, columns: int = 14) -> tuple[Array, Faces]:
    """Points (v, 3) of the unit sphere, and triangles."""
    up, turn = np.linspace(0, np.pi, rows + 1)[1:-1], 2 * np.pi * np.arange(columns) / columns
    belt = np.stack(
        [
            np.outer(np.sin(up), np.cos(turn)),
            np.outer(np.sin(up), np.sin(turn)),
            np.outer(np.cos(up), np.ones(columns)),
        ],
        axis=-1,
    ).reshape(-1, 3)
    points = np.concatenate([belt, [[0, 0, 1.0], [0, 0, -1.0]]])
    body = skin(rows - 1, columns, caps=False)[0]
    here, following = np.arange(columns), (np.arange(columns) + 1) % columns
    last = (rows - 2) * columns
    north = np.column_stack([np.full(columns, len(belt)), here, following])
    south = np.column_stack([np.full(columns, len(belt) + 1), last + following, last + here])
    return points, np.concatenate([body, north, south])


def _unit(vectors: Array) -> Array:
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-300))


def _across(vector: Array, normal: Array) -> Array:
    """The part of vectors (n, 3) that is normal to others."""
    return np.asarray(vector - (vector * normal).sum(-1, keepdims=True) * normal)


def _cross(a: Array, b: Array) -> Array:
    """np.cross of (n, 3), which takes four times as long for few."""
    out = a[:, [1, 2, 0]] * b[:, [2, 0, 1]]
    out -= a[:, [2, 0, 1]] * b[:, [1, 2, 0]]
    return out


def _carried(vector: Array, before: Array, after: Array) -> Array:
    """Vectors (n, 3) turned as the tangent turns, by the shortest way."""
    axis = _cross(before, after)
    cosine = (before * after).sum(-1, keepdims=True)
    along = (axis * vector).sum(-1, keepdims=True) / np.maximum(1 + cosine, 1e-9)
    return _across(cosine * vector + _cross(axis, vector) + along * axis, after)
