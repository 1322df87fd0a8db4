"""A run as surfaces over time: which triangles there are, where their corners are, and values to colour them by."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.mechanics.system import System
from flexarm.motion.run import Run
from flexarm.robot import Link
from flexarm.robot.sections import Circle, Section, Tube
from flexarm.show.arm import Arm, magnified
from flexarm.show.outlines import extent, outline
from flexarm.show.solids import Faces, Solid, Solids
from flexarm.studio.palette import KIND_COLOURS, Bytes, shades

Colouring = Literal["none", "deflection", "strain", "moment"]
COLOURINGS: tuple[str, ...] = get_args(Colouring)
UNITS = {"deflection": "m", "strain": "1", "moment": "N m"}

KINDS = ("link", "joint", "drive", "mass", "ground")
FRAMES = 600  # of a run, at most: samples evenly chosen among all
TOGETHER = 48  # frames that are computed in a call
STATIONS = 17  # along a link; an odd number, moments are looked up at every second
VISIBLE = 0.008  # of the robot: links that are thinner are drawn thicker, unless told otherwise


class Film:
    """The frames of a run; each is one of its samples.

    magnify: multiplies deflections. thicken: multiplies sections.
    """

    def __init__(self, system: System, run: Run, magnify: float, thicken: float) -> None:
        self.system, self.run, self.magnify, self.thicken = system, run, magnify, thicken
        samples = len(run.array("time"))
        self.samples = np.unique(np.linspace(0, samples - 1, min(samples, FRAMES + 1)).astype(int))
        self.times = np.asarray(run.array("time")[self.samples])
        self._chunks: dict[int, Array] = {}
        self._shape: list[Solid] = []
        self._values: dict[str, Array] = {}

    def index(self, time: float) -> int:
        """The frame nearest to a time."""
        return int(np.abs(self.times - time).argmin())

    def points(self, k: int) -> Any:
        """Corners (v, 3) of all triangles in frame k."""
        first, last = k // TOGETHER, k % TOGETHER
        if first not in self._chunks:
            self._chunks[first] = self._computed(
                range(first * TOGETHER, min((first + 1) * TOGETHER, len(self.samples)))
            )
        return self._chunks[first][last]

    def alone(self, k: int) -> Any:
        """The same of a frame whose neighbours nobody may want to see."""
        ready = self._chunks.get(k // TOGETHER)
        return self._computed(range(k, k + 1))[0] if ready is None else ready[k % TOGETHER]

    def q(self, frames: Any = slice(None)) -> Array:
        return np.asarray(self.run.array("q")[self.samples[frames]])

    def posture(self, q: Array) -> Any:
        """Corners (v, 3) of all triangles in a posture q (nq,) that is none of the run's."""
        return _stacked(self._solids(q[None]))[0]

    @cached_property
    def way(self) -> Array:
        """The tip (frames, 3)."""
        return self.system.tip(magnified(self.system, self.q(), self.magnify))

    @property
    def lengths(self) -> list[float]:
        return [link.length for link in self.system.robot.links]

    @property
    def cloud(self) -> Array:
        """Points of a few frames, from which it is seen how large the picture must be."""
        few = np.unique(np.linspace(0, len(self.samples) - 1, 12).astype(int))
        return np.asarray(Arm(self.system, self.q(few), self.magnify, 5).cloud)

    # --- triangles ---

    @property
    def _first(self) -> list[Solid]:
        """The bodies of any posture: their triangles are the same in all."""
        return self._shape or self._solids(self.q(slice(0, 1)))

    @cached_property
    def faces(self) -> Faces:
        """(f, 3)."""
        offsets = np.cumsum([0, *(solid.points.shape[1] for solid in self._first)])
        return np.concatenate([solid.faces + offset for solid, offset in zip(self._first, offsets, strict=False)])

    @cached_property
    def kinds(self) -> Faces:
        """(v,): which of KINDS each corner is of."""
        return np.concatenate([np.full(solid.points.shape[1], KINDS.index(solid.kind)) for solid in self._first])

    @cached_property
    def stations(self) -> Faces:
        """(v,): at which of the stations along all links each corner is; -1 of what is no link."""
        found, begin = [], 0
        for solid in self._first:
            count = solid.points.shape[1]
            if solid.along is None:
                found.append(np.full(count, -1))
            else:
                found.append(begin + np.arange(count) * STATIONS // count)  # as many corners at each
                begin += STATIONS
        return np.concatenate(found)

    @cached_property
    def _plain(self) -> Bytes:
        return np.array([KIND_COLOURS[kind] for kind in KINDS], dtype=np.uint8)[self.kinds]

    def colours(self, k: int, colouring: str = "none") -> Bytes:
        """(v, 3): the colour of each corner in frame k; straight between them."""
        if colouring == "none":
            return self._plain
        values = self.values(colouring)
        found = shades(values[k], float(values.max(initial=0.0)))
        return np.where(self.stations[:, None] >= 0, found[np.maximum(self.stations, 0)], self._plain)

    def _solids(self, q: Array) -> list[Solid]:
        found = Solids(Arm(self.system, q, self.magnify, STATIONS, STATIONS), self.thicken).all()
        self._shape = self._shape or found
        return found

    def _computed(self, frames: range) -> Any:
        return _stacked(self._solids(self.q(slice(frames.start, frames.stop))))

    # --- values ---

    def values(self, colouring: str) -> Array:
        """(frames, stations along all links): what links are coloured by, never negative."""
        if colouring not in self._values:
            asked = {"deflection": self._deflection, "strain": self._strain, "moment": self._moment}[colouring]
            links = [asked(link, np.linspace(0, link.length, STATIONS)) for link in self.system.robot.links]
            self._values[colouring] = np.concatenate(links, axis=1)
        return self._values[colouring]

    def _nothing(self, x: Array) -> Array:
        return np.zeros((len(self.samples), len(x)))

    def _deflection(self, link: Link, x: Array) -> Array:
        if link.flexible is None:
            return self._nothing(x)
        return np.asarray(np.linalg.norm(self.system.deflection(link.name, self.q(), len(x))[1], axis=-1))

    def _strain(self, link: Link, x: Array) -> Array:
        """The largest at the surface."""
        found = self._nothing(x)
        if link.flexible is None or link.section is None:
            return found
        groups = [np.arange(len(x))] if link.section.uniform else [np.array([k]) for k in range(len(x))]
        for group in groups:
            found[:, group] = self._largest_strain(link, link.section, x[group])
        return found

    def _largest_strain(self, link: Link, section: Section, x: Array) -> Array:
        """At stations of the same section: exact on round ones, which bend to any side; at the corners of others."""

        def strain(y: float, z: float) -> Array:
            return self.system.strain(link.name, x, self.q(), ((1 - 1e-12) * y, (1 - 1e-12) * z))

        xi = float(x[0]) / link.length
        shape = section.plain_at(xi)
        if isinstance(shape, (Circle, Tube)):
            radius = (shape.diameter if isinstance(shape, Circle) else shape.outer) / 2
            right, left, top = strain(radius, 0.0), strain(-radius, 0.0), strain(0.0, radius)
            middle = (right + left) / 2
            bent = np.hypot((right - left) / 2, top - middle)
            return np.asarray(np.abs(middle) + bent)
        at_corners = [np.abs(strain(y, z)) for y, z in outline(section, xi, link.length)]
        return np.asarray(np.max(at_corners, axis=0))

    def _moment(self, link: Link, x: Array) -> Array:
        """Of bending, at every second station and straight between them."""
        part = Run(self.run.data.isel(time=self.samples))
        coarse = x[::2]
        size = np.linalg.norm(part.moment(link.name, coarse).values[..., 1:], axis=-1)
        return np.array([np.interp(x, coarse, row) for row in size])


def thickening(system: System) -> float:
    """How much thicker links are to be drawn so that all are seen: 1 where they are as they are."""
    links = system.robot.links
    size = sum(link.length for link in links)
    known = [extent(outline(link.section, 0.0, link.length)) for link in links if link.section is not None]
    return max(1.0, float(np.ceil(VISIBLE * size / min(known) - 1e-9))) if known else 1.0


def _stacked(solids: list[Solid]) -> Any:
    return np.concatenate([solid.points for solid in solids], axis=1).astype(np.float32)
