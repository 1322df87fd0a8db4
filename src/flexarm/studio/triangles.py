"""Which triangles an arm is drawn of, and what their corners are: the same in all of its postures."""

from __future__ import annotations

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.mechanics.system import System
from flexarm.show.arm import Arm
from flexarm.show.solids import Solid, Solids
from flexarm.studio.palette import KIND_COLOURS, Bytes

KINDS = ("link", "joint", "drive", "mass", "ground")
STATIONS = 17  # along a link; an odd number, moments are looked up at every second


def bodies_of(system: System, q: Array, magnify: float, thicken: float) -> list[Solid]:
    """An arm in postures (n, nq)."""
    return Solids(Arm(system, q, magnify, STATIONS, STATIONS), thicken).all()


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
