"""Frames of a run as one triangle mesh with vertex colours, and the colour map of the page."""

from __future__ import annotations

import html
from functools import cached_property
from typing import Any

import numpy as np

from flexarm.dynamics.system import System
from flexarm.foundation.validation import Array
from flexarm.plotting.arm_points import Arm, magnify_deflections
from flexarm.plotting.meshes import ArmSolids, Faces, Solid, extent, outline
from flexarm.results.run import Run
from flexarm.robot import Link
from flexarm.robot.sections import Circle, Section, Tube

Colour = tuple[int, int, int]
Bytes = np.ndarray[Any, np.dtype[np.uint8]]

KIND_COLOURS: dict[str, Colour] = {
    "link": (45, 110, 160),
    "joint": (60, 60, 60),
    "drive": (120, 95, 60),
    "mass": (209, 73, 91),
    "ground": (130, 130, 130),
}
GHOST_COLOUR: Colour = (150, 150, 150)
GHOST_OPACITY = 0.35
TRACE_COLOUR: Colour = (209, 73, 91)
ARROW_COLOUR: Colour = (217, 96, 15)
COLOUR_MAP: tuple[Colour, ...] = ((68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37))


def map_colours(values: Array, largest: float) -> Bytes:
    """Return the colour (..., 3) of each value between 0 and `largest`, from dark to light.

    >>> map_colours(np.array([0.0, 0.5, 1.0]), 1.0)[:, 0]
    array([ 68,  33, 253], dtype=uint8)
    """
    fraction = np.clip(values / largest, 0.0, 1.0) if largest > 0 else np.zeros(np.shape(values))
    place = fraction * (len(COLOUR_MAP) - 1)
    mixed = [np.interp(place, range(len(COLOUR_MAP)), [stop[k] for stop in COLOUR_MAP]) for k in range(3)]
    return np.stack(mixed, axis=-1).round().astype(np.uint8)


def linear_rgb(colours: Bytes) -> Any:
    """Convert sRGB bytes to linear intensities between 0 and 1, which graphics cards interpolate.

    >>> linear_rgb(np.array([0, 128, 255], dtype=np.uint8)).round(3)
    array([0.   , 0.216, 1.   ], dtype=float32)
    """
    fraction = np.arange(256) / 255
    table = np.where(fraction <= 0.04045, fraction / 12.92, ((fraction + 0.055) / 1.055) ** 2.4).astype(np.float32)
    return table[colours]


def legend_labels(quantity: str, unit: str, largest: float) -> tuple[str, str, str]:
    """Return the labels of a legend: the quantity, the lower end and the upper end."""
    return quantity, "0", f"{largest:.3g}" + ("" if unit == "1" else f" {unit}")


def legend_html(labels: tuple[str, str, str]) -> str:
    """Return the colour map with labels as HTML."""
    quantity, low, high = (html.escape(each) for each in labels)
    stops = ",".join(f"rgb{colour}" for colour in COLOUR_MAP)
    bar = f'<div class="studio-bar" style="background:linear-gradient(90deg,{stops})"></div>'
    return f'<div class="studio-legend">{quantity}{bar}<div><span>{low}</span><span>{high}</span></div></div>'


COLOURING_UNITS = {"deflection": "m", "strain": "1", "moment": "N m"}
COLOURINGS = ("none", *COLOURING_UNITS)

STATION_COUNT = 17  # along a link; odd, because moments are evaluated at every second station
MAX_FRAME_COUNT = 600  # per run, evenly spaced among its samples
CHUNK_FRAME_COUNT = 48  # frames computed in one call
MIN_VISIBLE_THICKNESS = 0.008  # relative to the robot; thinner links are drawn thicker by default


class ArmMesh:
    """The triangles (f, 3) of an arm: the same in all postures, in which only their corners (v, 3) differ.

    Each corner has the kind of its part, a colour that it has without colour map, and a station, counted along all
    links (-1 for parts that are not links). `magnify` and `thicken` are factors on deflections and on cross sections.
    """

    def __init__(self, system: System, q: Array, magnify: float, thicken: float) -> None:
        self.system, self.magnify, self.thicken = system, magnify, thicken
        self.size = system.robot.size  # (m)
        solids = self._solids(q[None])
        counts = [solid.points.shape[1] for solid in solids]
        offsets = np.cumsum([0, *counts])
        self.faces: Faces = np.concatenate([solid.faces + offset for solid, offset in zip(solids, offsets)])
        self.kinds = np.repeat([solid.kind for solid in solids], counts)
        self.base_colours = np.repeat(np.array([KIND_COLOURS[each.kind] for each in solids], dtype=np.uint8), counts, 0)
        self.stations = np.full(offsets[-1], -1)
        for number, k in enumerate(k for k, solid in enumerate(solids) if solid.kind == "link"):
            ring = np.arange(counts[k]) * STATION_COUNT // counts[k]  # all stations have equally many corners
            self.stations[offsets[k] : offsets[k + 1]] = number * STATION_COUNT + ring

    def corners(self, q: Array) -> Array:
        """Return the corners of all triangles in postures (n, nq), shape (n, v, 3)."""
        return np.concatenate([solid.points for solid in self._solids(q)], axis=1).astype(np.float32)

    def _solids(self, q: Array) -> list[Solid]:
        return ArmSolids(Arm(self.system, q, self.magnify, STATION_COUNT, STATION_COUNT), self.thicken).all()


class MeshFrames:
    """The frames of a run, each at one of its samples, for factors on deflections and on cross sections."""

    def __init__(self, system: System, run: Run, magnify: float, thicken: float) -> None:
        self.system, self.run, self.magnify = system, run, magnify
        samples = len(run.array("time"))
        self.samples = np.unique(np.linspace(0, samples - 1, min(samples, MAX_FRAME_COUNT + 1)).astype(int))
        self.times = np.asarray(run.array("time")[self.samples])
        self.mesh = ArmMesh(system, self.q(0), magnify, thicken)
        self._chunks: dict[int, Array] = {}
        self._values: dict[str, Array] = {}

    def index(self, time: float) -> int:
        """Return the index of the frame nearest to a time (s)."""
        return int(np.abs(self.times - time).argmin())

    def points(self, k: int, playing: bool = False) -> Any:
        """Return the corners (v, 3) of all triangles in frame k; if `playing`, the next frames are computed, too."""
        first = k - k % CHUNK_FRAME_COUNT
        if playing and first not in self._chunks:
            self._chunks[first] = self.mesh.corners(self.q(slice(first, first + CHUNK_FRAME_COUNT)))
        return self._chunks[first][k - first] if first in self._chunks else self.mesh.corners(self.q([k]))[0]

    def q(self, frames: Any = slice(None)) -> Array:
        """Return the generalized coordinates of frames."""
        return np.asarray(self.run.array("q")[self.samples[frames]])

    @cached_property
    def tip_path(self) -> Array:
        """Positions of the tip, shape (frames, 3)."""
        return self.system.tip(magnify_deflections(self.system, self.q(), self.magnify))

    @property
    def cloud(self) -> Array:
        """Points of a few frames, which give the extent of the scene."""
        indices = np.unique(np.linspace(0, len(self.samples) - 1, 12).astype(int))
        return np.asarray(Arm(self.system, self.q(indices), self.magnify, 5).cloud)

    def colours(self, k: int, colouring: str = "none") -> Bytes:
        """Return the colour (v, 3) of each corner in frame k."""
        if colouring == "none":
            return self.mesh.base_colours
        values, stations = self.values(colouring), self.mesh.stations
        found = map_colours(values[k], float(values.max(initial=0.0)))
        return np.where(stations[:, None] >= 0, found[np.maximum(stations, 0)], self.mesh.base_colours)

    def values(self, colouring: str) -> Array:
        """Return the non-negative values (frames, stations along all links) that are mapped to colours."""
        if colouring not in self._values:
            evaluate = {"deflection": self._deflection, "strain": self._strain, "moment": self._moment}[colouring]
            links = [evaluate(link, np.linspace(0, link.length, STATION_COUNT)) for link in self.system.robot.links]
            self._values[colouring] = np.concatenate(links, axis=1)
        return self._values[colouring]

    def _deflection(self, link: Link, x: Array) -> Array:
        if link.flexible is None:
            return np.zeros((len(self.samples), len(x)))
        return np.asarray(np.linalg.norm(self.system.deflection(link.name, self.q(), len(x))[1], axis=-1))

    def _strain(self, link: Link, x: Array) -> Array:
        """Return the largest absolute strain on the surface."""
        found = np.zeros((len(self.samples), len(x)))
        if link.flexible is None or link.section is None:
            return found
        groups = [np.arange(len(x))] if link.section.uniform else [np.array([k]) for k in range(len(x))]
        for group in groups:
            found[:, group] = self._largest_strain(link, link.section, x[group])
        return found

    def _largest_strain(self, link: Link, section: Section, x: Array) -> Array:
        """Return the largest strain at stations of equal section: exact if round, else at the corners."""

        def strain(y: float, z: float) -> Array:
            return self.system.strain(link.name, x, self.q(), ((1 - 1e-12) * y, (1 - 1e-12) * z))

        xi = float(x[0]) / link.length
        shape = section.plain_at(xi)
        if isinstance(shape, (Circle, Tube)):
            radius = (shape.diameter if isinstance(shape, Circle) else shape.outer) / 2
            right, left, top = strain(radius, 0.0), strain(-radius, 0.0), strain(0.0, radius)
            middle = (right + left) / 2
            bending = np.hypot((right - left) / 2, top - middle)
            return np.asarray(np.abs(middle) + bending)
        at_corners = [np.abs(strain(y, z)) for y, z in outline(section, xi, link.length)]
        return np.asarray(np.max(at_corners, axis=0))

    def _moment(self, link: Link, x: Array) -> Array:
        """Return the bending moment, evaluated at every second station and interpolated linearly; 0 in bodies."""
        if link.body is not None:
            return np.zeros((len(self.samples), len(x)))
        samples = Run(self.run.data.isel(time=self.samples))
        coarse = x[::2]
        size = np.linalg.norm(samples.moment(link.name, coarse).values[..., 1:], axis=-1)
        return np.array([np.interp(x, coarse, row) for row in size])


def thickness_factor(system: System) -> float:
    """Return the factor on cross sections that makes all links visible; 1 if they are."""
    links = system.robot.links
    known = [extent(outline(link.section, 0.0, link.length)) for link in links if link.section is not None]
    return max(1.0, float(np.ceil(MIN_VISIBLE_THICKNESS * system.robot.size / min(known) - 1e-9))) if known else 1.0
