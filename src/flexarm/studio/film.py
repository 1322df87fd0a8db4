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
from flexarm.show.solids import Faces, Solid
from flexarm.studio.palette import Bytes, shades
from flexarm.studio.triangles import STATIONS, Triangles, bodies_of, corners

Colouring = Literal["none", "deflection", "strain", "moment"]
COLOURINGS: tuple[str, ...] = get_args(Colouring)
UNITS = {"deflection": "m", "strain": "1", "moment": "N m"}

FRAMES = 600  # of a run, at most: samples evenly chosen among all
TOGETHER = 48  # frames that are computed in a call
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
        self._values: dict[str, Array] = {}
        self._triangles: Triangles | None = None

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
        return corners(self._bodies(q[None]))[0]

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
    def triangles(self) -> Triangles:
        if self._triangles is None:
            self._bodies(self.q(slice(0, 1)))
        assert self._triangles is not None
        return self._triangles

    @property
    def faces(self) -> Faces:
        """(f, 3)."""
        return self.triangles.faces

    def colours(self, k: int, colouring: str = "none") -> Bytes:
        """(v, 3): the colour of each corner in frame k; straight between them."""
        plain, stations = self.triangles.plain, self.triangles.stations
        if colouring == "none":
            return plain
        values = self.values(colouring)
        found = shades(values[k], float(values.max(initial=0.0)))
        return np.where(stations[:, None] >= 0, found[np.maximum(stations, 0)], plain)

    def _bodies(self, q: Array) -> list[Solid]:
        found = bodies_of(self.system, q, self.magnify, self.thicken)
        if self._triangles is None:  # those of any posture
            self._triangles = Triangles(found)
        return found

    def _computed(self, frames: range) -> Any:
        return corners(self._bodies(self.q(slice(frames.start, frames.stop))))

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
