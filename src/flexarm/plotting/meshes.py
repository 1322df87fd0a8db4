"""Triangle meshes of an arm: links with their cross-sections, joints, drives and masses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from flexarm.foundation.validation import Array
from flexarm.plotting.arm_points import Arm, turning_axes
from flexarm.robot import Link, PointMass
from flexarm.robot.sections import Box, Circle, ConstantSection, IBeam, Rectangle, Section, Tube

CIRCLE_CORNER_COUNT = 20
DEFAULT_THICKNESS_RATIO = 1 / 80  # thickness over length of links without a section


def outline(section: Section | None, xi: float, length: float) -> Array:
    """Return the corners (k, 2) of a section at the fraction xi of a link's length, as y and z in m.

    A section that is defined by its properties only is drawn as the rectangle with the same I_y/A and I_z/A, a link
    without a section as a slender square bar.

    >>> outline(Rectangle(0.02, 0.03), 0.5, 1.0).tolist()
    [[0.01, 0.015], [-0.01, 0.015], [-0.01, -0.015], [0.01, -0.015]]
    """
    if section is None:
        return _rectangle(DEFAULT_THICKNESS_RATIO * length, DEFAULT_THICKNESS_RATIO * length)
    shape = section.plain_at(xi)
    found = None if shape is None else _of_shape(shape)
    if found is not None:
        return found
    values = section.at(xi)  # a rectangle of width b has I_z / A = b^2 / 12
    return _rectangle(np.sqrt(12 * values.I_z / values.A), np.sqrt(12 * values.I_y / values.A))


def has_open_ends(section: Section | None) -> bool:
    """Return True if the ends of a link are drawn without caps."""
    shapes = () if section is None else section.plain_sections.values()
    return any(isinstance(each, (Tube, Box, IBeam)) for each in shapes)


def extent(corners: Array) -> float:
    """Return the larger of width and height of an outline (m)."""
    return float(np.ptp(corners, axis=0).max())


def match_corner_counts(outlines: list[Array]) -> Array:
    """Return outlines with equal numbers of corners, shape (n, k, 2), by splitting their longest edges."""
    count = max(len(each) for each in outlines)
    return np.array([_with_corners(each, count) for each in outlines])


def _of_shape(shape: ConstantSection) -> Array | None:
    if isinstance(shape, (Rectangle, Box)):
        return _rectangle(shape.width, shape.height)
    if isinstance(shape, (Circle, Tube)):
        turn = 2 * np.pi * np.arange(CIRCLE_CORNER_COUNT) / CIRCLE_CORNER_COUNT
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

STEEL_DENSITY = 7850.0  # kg/m3; masses are drawn as balls of steel
ROD_CORNER_COUNT = 12
BALL_RING_COUNT, BALL_CORNER_COUNT = 9, 14
FRAME_STATION_COUNT = 9  # along a link, between which directions of sections are interpolated


@dataclass(frozen=True)
class Solid:
    """Triangle mesh of a part: points (n, v, 3) in n postures, and triangles (f, 3) of point indices.

    The points of a link are those of its sections, one after the other.
    """

    kind: Kind
    points: Array
    faces: Faces


class ArmSolids:
    """Triangle meshes of an arm in its postures; `thicken` is a factor of the cross-sections."""

    def __init__(self, arm: Arm, thicken: float = 1.0) -> None:
        self.arm, self.thicken = arm, thicken
        self.robot = arm.system.robot

    def all(self) -> list[Solid]:
        return [*self._links(), *self._hinges(), *self._masses(), *self._rods()]

    @cached_property
    def _outlines(self) -> dict[str, Array]:
        """Corners of the sections of each link, shape (stations, k, 2)."""
        found = {}
        for link in self.robot.links:
            stations = np.linspace(0, 1, self.arm.links[link.name].shape[1])
            found[link.name] = self.thicken * match_corner_counts(
                [outline(link.section, xi, link.extent or self.robot.size) for xi in stations]
            )
        return found

    def _size(self, link: Link) -> float:
        """Return the thickness of a link at its root (m)."""
        return extent(self._outlines[link.name][0])

    @cached_property
    def _default_radius(self) -> float:
        """Radius (m) of parts without a size of their own."""
        return 0.5 * min(self._size(link) for link in self.robot.links)

    def _links(self) -> Iterator[Solid]:
        for link in self.robot.links:
            axis, corners = self.arm.links[link.name], self._outlines[link.name]
            y, z = self._section_axes(link, axis)
            points = (
                axis[:, :, None] + corners[None, :, :, :1] * y[:, :, None] + corners[None, :, :, 1:] * z[:, :, None]
            )
            stations, k = corners.shape[:2]
            faces = triangulate_rings(stations, k, caps=not has_open_ends(link.section))
            yield Solid("link", points.reshape(len(axis), -1, 3), faces)

    def _hinges(self) -> Iterator[Solid]:
        for link in self.robot.links:
            size, pose = self._size(link), self._root_poses[link.name]
            rotation, place = pose[:, :3, :3], pose[:, :3, 3]
            drive = getattr(link.joint, "drive", None)
            axes = turning_axes(link.joint)
            for axis in axes:
                half = 0.8 * size * (rotation @ axis)
                yield _rod("joint", place - half, place + half, 0.8 * size)
                if drive is not None:
                    yield _rod("drive", place - 2.2 * half, place - half, 1.1 * size)
            if drive is not None and not axes:
                yield _rod("drive", place - 0.8 * size * rotation[..., :, 0], place, 1.1 * size)
        ends = self.arm.hinges[:, len(self.arm.turning_links) :]
        yield from self._balls("joint", ends, 1.6)  # hinges of closed loops

    def _masses(self) -> Iterator[Solid]:
        for k, (link, lump, _) in enumerate(self.arm.lumps):
            yield _ball("mass", self.arm.masses[:, k], max(steel_ball_radius(lump), 0.6 * self._size(link)))

    def _rods(self) -> Iterator[Solid]:
        n, arm, radius = len(self.arm.q), self.arm, self._default_radius
        for ends, factor in ((arm.guides, 1.8), (arm.brackets, 0.6)):
            for k in range(ends.shape[1]):
                yield _rod("joint", ends[:, k, 0], ends[:, k, 1], factor * radius)
        for rail in arm.rails:
            yield _rod("ground", np.tile(rail[0], (n, 1)), np.tile(rail[1], (n, 1)), 0.4 * radius)
        yield from self._balls("joint", arm.mouths, 1.4)
        for support in arm.supports:
            yield from self._balls("ground", np.tile(support, (n, 1, 1)), 1.6)

    def _balls(self, kind: Kind, centres: Array, factor: float) -> Iterator[Solid]:
        for k in range(centres.shape[1]):
            yield _ball(kind, centres[:, k], factor * self._default_radius)

    @cached_property
    def _root_poses(self) -> dict[str, Array]:
        return {link.name: self.arm.system.frame(link.name, 0.0, self.arm.q) for link in self.robot.links}

    def _section_axes(self, link: Link, axis: Array) -> tuple[Array, Array]:
        """Return the directions y and z of the sections along an axis, each of shape (n, stations, 3).

        They are evaluated at a few stations, interpolated, and made normal to the axis.
        """
        from scipy.interpolate import make_interp_spline

        if not link.length:
            axes = np.repeat(self._root_poses[link.name][:, None, :3, :3], axis.shape[1], axis=1)
            return axes[..., 1], axes[..., 2]
        places = np.linspace(0, link.length, 2 if link.flexible is None else FRAME_STATION_COUNT)
        frames = [self.arm.system.frame(link.name, x, self.arm.q)[:, :3, 1] for x in places]
        interpolate = make_interp_spline(places, np.stack(frames, axis=1), k=1, axis=1)
        y, tangents = interpolate(np.linspace(0, link.length, axis.shape[1])), _unit(np.gradient(axis, axis=1))
        y = _unit(y - (y * tangents).sum(-1, keepdims=True) * tangents)
        return y, np.cross(tangents, y)


def steel_ball_radius(lump: PointMass) -> float:
    """Return the radius (m) of the ball of steel with the mass of a point mass.

    >>> round(steel_ball_radius(PointMass(1.0)), 4)
    0.0312
    """
    return float((3 * lump.mass / (4 * np.pi * STEEL_DENSITY)) ** (1 / 3))


def triangulate_rings(rings: int, k: int, caps: bool) -> Faces:
    """Return the triangles between rings of k points, and of the ends if `caps`."""
    ring, corner = (each.ravel() for each in np.meshgrid(np.arange(rings - 1), np.arange(k), indexing="ij"))
    a, b = ring * k + corner, ring * k + (corner + 1) % k
    faces = [np.column_stack([a, a + k, b]), np.column_stack([b, a + k, b + k])]
    if caps:
        fan = np.column_stack([np.zeros(k - 2, dtype=int), np.arange(1, k - 1), np.arange(2, k)])
        faces += [fan, fan[:, ::-1] + (rings - 1) * k]
    return np.concatenate(faces)


def _rod(kind: Kind, begin: Array, end: Array, radius: float) -> Solid:
    """Return the mesh of a round bar between two points (n, 3)."""
    along = _unit(end - begin)
    normal = _unit(np.cross(along, np.where(np.abs(along[:, :1]) < 0.8, [[1.0, 0, 0]], [[0, 1.0, 0]])))[:, None]
    turn = 2 * np.pi * np.arange(ROD_CORNER_COUNT)[:, None] / ROD_CORNER_COUNT
    ring = radius * (np.cos(turn) * normal + np.sin(turn) * np.cross(along[:, None], normal))
    points = np.concatenate([begin[:, None] + ring, end[:, None] + ring], axis=1)
    return Solid(kind, points, triangulate_rings(2, ROD_CORNER_COUNT, caps=True))


def _ball(kind: Kind, centre: Array, radius: float) -> Solid:
    """Return the mesh of a ball about points (n, 3), whose first and last rings are its poles."""
    down, turn = np.meshgrid(
        np.linspace(0, np.pi, BALL_RING_COUNT),
        2 * np.pi * np.arange(BALL_CORNER_COUNT) / BALL_CORNER_COUNT,
        indexing="ij",
    )
    unit = np.stack([np.sin(down) * np.cos(turn), np.sin(down) * np.sin(turn), np.cos(down)], axis=-1).reshape(-1, 3)
    faces = triangulate_rings(BALL_RING_COUNT, BALL_CORNER_COUNT, caps=False)
    return Solid(kind, centre[:, None] + radius * unit, faces)


def _unit(vectors: Array) -> Array:
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-300))
