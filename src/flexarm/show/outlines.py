"""Outlines of cross-sections: what a link looks like when it is cut."""

from __future__ import annotations

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.robot.sections import Box, Circle, IBeam, Plain, Rectangle, Section, Tube

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


def _of_shape(shape: Plain) -> Array | None:
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
