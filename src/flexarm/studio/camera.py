"""From where a page looks at its robot, as numbers: what is drawn elsewhere is seen as in the page."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from flexarm.foundation.numbers import Array

NEAREST = 1e-6  # m: what is nearer, or behind, is not seen


@dataclass(frozen=True)
class Camera:
    """A camera at a position that looks at a point; fov: angle (rad) from the top to the bottom of the picture."""

    position: tuple[float, ...]
    look_at: tuple[float, ...]
    up: tuple[float, ...]
    fov: float
    width: int
    height: int

    @staticmethod
    def of(page: Any, most: int) -> Camera:
        """The one of a page, as viser tells it, with at most so many pixels a side; even ones, as films want them."""
        width, height = int(page.image_width), int(page.image_height)
        less = min(1.0, most / max(width, height))
        width, height = (max(2, int(less * each) // 2 * 2) for each in (width, height))
        position, look_at, up = (tuple(map(float, each)) for each in (page.position, page.look_at, page.up_direction))
        return Camera(position, look_at, up, float(page.fov), width, height)

    def finer(self, times: int) -> Camera:
        """The same with so many times more pixels."""
        return replace(self, width=times * self.width, height=times * self.height)

    def seen(self, points: Array) -> Array:
        """Points (..., 3) as pixels right and down from the upper left corner, and one by their distance; zero of what
        is behind."""
        right, down, ahead = self._directions
        offset = points - np.asarray(self.position)
        depth = offset @ ahead
        near = np.where(depth > NEAREST, 1 / np.maximum(depth, NEAREST), 0.0)
        scale = self.height / 2 / np.tan(self.fov / 2) * near
        return np.stack(
            [self.width / 2 + scale * (offset @ right), self.height / 2 + scale * (offset @ down), near], axis=-1
        )

    @property
    def _directions(self) -> tuple[Array, Array, Array]:
        ahead = np.asarray(self.look_at) - np.asarray(self.position)
        ahead = ahead / max(float(np.linalg.norm(ahead)), 1e-300)
        right = np.cross(ahead, self.up)
        if np.linalg.norm(right) < 1e-9:  # straight up or down
            right = np.array([1.0, 0.0, 0.0])
        right = right / np.linalg.norm(right)
        return right, np.cross(ahead, right), ahead
