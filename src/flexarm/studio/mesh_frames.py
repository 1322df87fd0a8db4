"""Colours of the page: kinds of parts, and those from nothing to the largest value, readable in grey.

Which triangles an arm is drawn of, and what their corners are: the same in all of its postures.

A run as surfaces over time: which triangles there are, where their corners are, and values to colour them by.
"""

from __future__ import annotations

import html
from functools import cached_property
from typing import Any, Literal, get_args

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
GHOST: Colour = (150, 150, 150)
FAINT = 0.35  # opacity of ghosts
TRACE: Colour = (209, 73, 91)
PUSHES: Colour = (217, 96, 15)
STOPS: tuple[Colour, ...] = ((68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37))


def shades(values: Array, largest: float) -> Bytes:
    """The colour (..., 3) of each value between 0 and the largest, from dark to light.

    >>> shades(np.array([0.0, 0.5, 1.0]), 1.0)[:, 0]
    array([ 68,  33, 253], dtype=uint8)
    """
    share = np.clip(values / largest, 0.0, 1.0) if largest > 0 else np.zeros(np.shape(values))
    place = share * (len(STOPS) - 1)
    mixed = [np.interp(place, range(len(STOPS)), [stop[k] for stop in STOPS]) for k in range(3)]
    return np.stack(mixed, axis=-1).round().astype(np.uint8)


def light(colours: Bytes) -> Any:
    """Bytes of colours as amounts of light, 0 to 1: what graphics cards mix.

    >>> light(np.array([0, 128, 255], dtype=np.uint8)).round(3)
    array([0.   , 0.216, 1.   ], dtype=float32)
    """
    share = np.arange(256) / 255
    table = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4).astype(np.float32)
    return table[colours]


def legend_words(quantity: str, unit: str, largest: float) -> tuple[str, str, str]:
    """What it is of, and both ends."""
    return quantity, "0", f"{largest:.3g}" + ("" if unit == "1" else f" {unit}")


def legend(words: tuple[str, str, str]) -> str:
    """The colours with these words, as HTML."""
    quantity, low, high = (html.escape(each) for each in words)
    bar = f"height:14px;border:1px solid #888;background:linear-gradient(90deg,{','.join(f'rgb{c}' for c in STOPS)})"
    ends = f'<div style="display:flex;justify-content:space-between"><span>{low}</span><span>{high}</span></div>'
    return f'<div style="font-size:12px;padding:4px 10px">{quantity}<div style="{bar}"></div>{ends}</div>'


KINDS = ("link", "joint", "drive", "mass", "ground")
STATIONS = 17  # along a link; an odd number, moments are looked up at every second


def bodies_of(system: System, q: Array, magnify: float, thicken: float) -> list[Solid]:
    """An arm in postures (n, nq)."""
    return ArmSolids(Arm(system, q, magnify, STATIONS, STATIONS), thicken).all()


class Triangles:
    """Those of bodies, one after the other.

    faces (f, 3): the corners of each. Of each corner: kinds (v,), which of KINDS it is of; stations (v,), at which of
    the stations along all links it is, -1 of what is no link; plain (v, 3), the colour of its kind.
    """

    def __init__(self, bodies: list[Solid]) -> None:
        counts = [body.points.shape[1] for body in bodies]
        offsets = np.cumsum([0, *counts])
        self.faces = np.concatenate([body.faces + offset for body, offset in zip(bodies, offsets, strict=False)])
        self.kinds = np.repeat([KINDS.index(body.kind) for body in bodies], counts)
        self.stations = np.full(offsets[-1], -1)
        links = [k for k, body in enumerate(bodies) if body.along is not None]
        for number, k in enumerate(links):  # as many corners at each station
            self.stations[offsets[k] : offsets[k + 1]] = (
                number * STATIONS + np.arange(counts[k]) * STATIONS // counts[k]
            )
        self.plain: Bytes = np.array([KIND_COLOURS[kind] for kind in KINDS], dtype=np.uint8)[self.kinds]


def corners(bodies: list[Solid]) -> Array:
    """(n, v, 3): of all triangles in each posture."""
    return np.concatenate([body.points for body in bodies], axis=1).astype(np.float32)


Colouring = Literal["none", "deflection", "strain", "moment"]
COLOURINGS: tuple[str, ...] = get_args(Colouring)
UNITS = {"deflection": "m", "strain": "1", "moment": "N m"}

FRAMES = 600  # of a run, at most: samples evenly chosen among all
TOGETHER = 48  # frames that are computed in a call
VISIBLE = 0.008  # of the robot: links that are thinner are drawn thicker, unless told otherwise


class MeshFrames:
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
        return self.system.tip(magnify_deflections(self.system, self.q(), self.magnify))

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
