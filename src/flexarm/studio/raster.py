"""Triangles and lines as pixels, without a graphics card: nearest first, all fragments of a body at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from flexarm.foundation.numbers import Array

TOGETHER = 2_000_000  # fragments that are held at once


class Raster:
    """A picture: a colour (3) of bytes and a nearness (one by the distance) for each of its pixels, row after row.

    Corners are (x, y, nearness), as `Camera.seen` gives them; those with no nearness are behind.
    """

    def __init__(self, width: int, height: int, paper: tuple[int, int, int] = (255, 255, 255)) -> None:
        self.width, self.height = width, height
        self.colour = np.full((height * width, 3), paper, dtype=np.uint8)
        self.near = np.zeros(height * width, dtype=np.float32)

    def copy(self) -> Raster:
        """The same to draw on: what stands still is drawn once."""
        other = object.__new__(Raster)
        other.width, other.height = self.width, self.height
        other.colour, other.near = self.colour.copy(), self.near.copy()
        return other

    @property
    def pixels(self) -> Any:
        """(height, width, 3) of bytes."""
        return self.colour.reshape(self.height, self.width, 3)

    def triangles(self, corners: Array, colours: Array, opacity: float = 1.0) -> None:
        """Triangles (n, 3, 3) with a colour (n, 3, 3), 0 to 255, for each corner. Of those that can be seen through
        only the nearest are drawn, once."""
        over = self.near if opacity == 1.0 else self.near.copy()
        drawn = []
        for number, pixel, weights in self._covered(corners):
            weights = weights * corners[number, :, 2]  # in space: nearness is straight on the screen, colours are not
            exact = weights.sum(axis=1)
            near, weights = exact.astype(np.float32), weights / exact[:, None]
            np.maximum.at(over, pixel, near)
            first = near >= over[pixel]
            drawn.append((pixel[first], near[first], (weights[first, :, None] * colours[number[first]]).sum(axis=1)))
        for pixel, near, colour in drawn:
            first = near >= over[pixel]  # a later part may be nearer
            self._put(pixel[first], colour[first], opacity)

    def lines(self, ends: Array, colour: tuple[int, int, int], width: int) -> None:
        """Lines between ends (n, 2, 3), so many pixels wide."""
        ends = ends[(ends[:, :, 2] > 0).all(axis=1) & self._inside(ends)]
        step = ends[:, 1] - ends[:, 0]
        count = np.ceil(np.abs(step[:, :2]).max(axis=1, initial=0.0)).astype(int) + 1
        number, place = _counted(count)
        along = (place + 0.5) / count[number]
        x, y, near = (ends[number, 0] + along[:, None] * step[number]).T
        steep = np.abs(step[number, 1]) > np.abs(step[number, 0])
        for aside in range(-(width // 2), (width + 1) // 2):
            column = np.floor(x + np.where(steep, aside, 0)).astype(int)
            row = np.floor(y + np.where(steep, 0, aside)).astype(int)
            there = (column >= 0) & (column < self.width) & (row >= 0) & (row < self.height)
            pixel, nearness = (row * self.width + column)[there], near[there].astype(np.float32)
            np.maximum.at(self.near, pixel, nearness)
            self._put(pixel[nearness >= self.near[pixel]], np.array(colour, dtype=float), 1.0)

    def _put(self, pixel: Any, colour: Array, opacity: float) -> None:
        if opacity < 1.0:
            colour = opacity * colour + (1 - opacity) * self.colour[pixel]
        self.colour[pixel] = np.clip(np.rint(colour), 0, 255)

    def _inside(self, corners: Array) -> Any:
        """Which of lines or triangles may be in the picture."""
        low, high = corners[..., :2].min(axis=1), corners[..., :2].max(axis=1)
        return ((high >= 0) & (low <= [self.width, self.height])).all(axis=1)

    def _covered(self, corners: Array) -> Iterator[tuple[Any, Any, Array]]:
        """The pixels whose middles are in triangles: number of the triangle, pixel, weights (k, 3) of its corners."""
        (xa, ya), (xb, yb), (xc, yc) = (corners[:, k, :2].T for k in range(3))
        area = (xb - xa) * (yc - ya) - (xc - xa) * (yb - ya)
        usable = (corners[..., 2] > 0).all(axis=1) & (np.abs(area) > 1e-9) & self._inside(corners)
        chosen = np.flatnonzero(usable)
        size = np.array([self.width, self.height])
        flat = corners[chosen, :, :2]
        low = np.clip(np.ceil(flat.min(axis=1) - 0.5), 0, size).astype(int)
        high = np.clip(np.floor(flat.max(axis=1) - 0.5) + 1, 0, size).astype(int)
        span = np.maximum(high - low, 0)
        count = span[:, 0] * span[:, 1]
        for part in _parts(count):
            local, place = _counted(count[part])
            local += part.start
            column, row = low[local, 0] + place % span[local, 0], low[local, 1] + place // span[local, 0]
            k = chosen[local]
            x, y = column + 0.5, row + 0.5
            second = ((x - xa[k]) * (yc[k] - ya[k]) - (xc[k] - xa[k]) * (y - ya[k])) / area[k]
            third = ((xb[k] - xa[k]) * (y - ya[k]) - (x - xa[k]) * (yb[k] - ya[k])) / area[k]
            weights = np.stack([1 - second - third, second, third], axis=1)
            inside = (weights >= 0).all(axis=1)
            yield k[inside], (row * self.width + column)[inside], weights[inside]


def _counted(count: Any) -> tuple[Any, Any]:
    """So many of each: whose each one is, and which of them.

    >>> _counted(np.array([2, 0, 1]))
    (array([0, 0, 2]), array([0, 1, 0]))
    """
    number = np.repeat(np.arange(len(count)), count)
    return number, np.arange(len(number)) - np.repeat(np.cumsum(count) - count, count)


def _parts(count: Any) -> Iterator[slice]:
    """Ranges with no more than TOGETHER fragments, or one that has more alone."""
    begin, held = 0, 0
    for k, each in enumerate(count.tolist()):
        if held + each > TOGETHER and k > begin:
            yield slice(begin, k)
            begin, held = k, 0
        held += each
    if begin < len(count):
        yield slice(begin, len(count))
