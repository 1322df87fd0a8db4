"""A view as a picture: what the page's camera sees, with legend and time. Drawn here, not by the browser: so it does
not matter whether a tab is in front, has a graphics card, or is used meanwhile."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.studio.arrows import bodies
from flexarm.studio.camera import Camera
from flexarm.studio.ground import Ground, rotation
from flexarm.studio.palette import FAINT, GHOST, PUSHES, TRACE, shades
from flexarm.studio.raster import Raster
from flexarm.studio.still import Still

if TYPE_CHECKING:
    from PIL import Image

FINER = 2  # times more pixels than in the picture, for smooth edges
LIGHT = np.array([0.37, -0.56, 0.74])  # from where
DARKEST = 0.7  # of a colour, where light passes along a surface
CELL, SECTION = (218, 218, 218), (165, 165, 165)  # lines of the ground
AXES = ((217, 48, 48), (60, 160, 40), (40, 60, 210))
INK = (40, 40, 40)
PIECES = 40  # of a line of the ground: those behind the camera are left out


class Shots:
    """Pictures by one camera. `trace`: the way of the tip (n, 3), or None; `legend`: its words, or None."""

    def __init__(
        self,
        camera: Camera,
        ground: Ground,
        trace: Array | None,
        legend: tuple[str, str, str] | None,
        title: str,
    ) -> None:
        self.camera, self._ground, self._legend, self._title = camera, ground, legend, title
        self._fine = camera.finer(FINER)
        self._turn = rotation(*ground.turn)
        self._still = Raster(self._fine.width, self._fine.height)
        self._draw_ground()
        if trace is not None and len(trace) > 1:
            self._lines(np.stack([trace[:-1], trace[1:]], axis=1) @ self._turn.T, TRACE, 4)

    def image(self, still: Still, caption: str) -> Image.Image:
        """What is seen at one moment."""
        from PIL import Image

        raster = self._still.copy()
        self._body(raster, still.points, still.faces, still.colours)
        if len(still.arrows):
            points, faces = bodies(still.arrows, still.size)
            self._body(raster, points, faces, np.broadcast_to(PUSHES, points.shape))
        if still.ghosts is not None:
            points, faces = still.ghosts
            self._body(raster, points, faces, np.broadcast_to(GHOST, points.shape), FAINT)
        image = Image.fromarray(raster.pixels).reduce(FINER)
        self._words(image, caption)
        return image

    # --- bodies ---

    def _body(self, raster: Raster, points: Any, faces: Any, colours: Any, opacity: float = 1.0) -> None:
        places = np.asarray(points, dtype=float) @ self._turn.T
        corners = places[faces]
        normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        size = np.maximum(np.linalg.norm(normal, axis=1), 1e-300)
        bright = DARKEST + (1 - DARKEST) * np.abs(normal @ LIGHT) / size
        shaded = np.asarray(colours, dtype=float)[faces] * bright[:, None, None]
        raster.triangles(self._fine.seen(places)[faces], shaded, opacity)

    def _lines(self, ends: Array, colour: tuple[int, int, int], width: int) -> None:
        self._still.lines(self._fine.seen(ends), colour, width)

    def _draw_ground(self) -> None:
        ground = self._ground
        count = round(ground.extent / ground.cell / 2)
        numbers = np.arange(-count, count + 1)
        along = np.linspace(-ground.extent / 2, ground.extent / 2, PIECES + 1)
        for chosen, colour in ((numbers % 5 != 0, CELL), (numbers % 5 == 0, SECTION)):
            x, k = (each.ravel() for each in np.meshgrid(ground.cell * numbers[chosen], range(PIECES), indexing="ij"))
            upward = np.stack([np.column_stack([x, along[k + end], np.zeros_like(x)]) for end in (0, 1)], axis=1)
            for ends in (upward, upward[..., [1, 0, 2]]):
                self._lines(ground.middle + ends, colour, 2)
        base = np.asarray(ground.base)
        for way, colour in zip(np.eye(3), AXES, strict=True):
            self._lines(np.array([[base, base + ground.axes * way]]) @ self._turn.T, colour, 4)

    # --- words ---

    def _words(self, image: Image.Image, caption: str) -> None:
        from PIL import Image, ImageDraw

        draw, width, height = ImageDraw.Draw(image), image.width, image.height
        for text, place in self._ground.labels():
            x, y, near = self.camera.seen(place)
            if near > 0 and 0 <= x <= width and 0 <= y <= height:
                _write(draw, (x, y), text, "mm", 15)
        _write(draw, (12, 10), self._title, "la", 14)
        _write(draw, (width - 12, 10), caption, "ra", 14)
        if self._legend is not None:
            quantity, low, high = self._legend
            long, left, top = min(220, width - 24), 12, height - 46
            _write(draw, (left, top - 4), quantity, "ld", 13)
            bar = np.broadcast_to(shades(np.linspace(0, 1, long), 1.0), (14, long, 3))
            image.paste(Image.fromarray(np.ascontiguousarray(bar)), (left, top))
            draw.rectangle((left - 1, top - 1, left + long, top + 14), outline=(136, 136, 136))
            _write(draw, (left, top + 17), low, "la", 13)
            _write(draw, (left + long, top + 17), high, "ra", 13)


def _write(draw: Any, place: tuple[float, float], text: str, anchor: str, size: int) -> None:
    draw.text(place, text, fill=INK, anchor=anchor, font=_font(size), stroke_width=3, stroke_fill=(255, 255, 255))


@cache
def _font(size: int) -> Any:
    import matplotlib
    from PIL import ImageFont

    return ImageFont.truetype(str(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf"), size)
