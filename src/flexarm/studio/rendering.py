"""Pictures one after the other as a film: GIF, or MP4 by ffmpeg. It tells how far it is, and can be cancelled.

Triangles and lines as pixels, without a graphics card: nearest first, all fragments of a body at once.

A view as a picture: what the page's camera sees, with legend and time. Drawn here, not by the browser: so it does
not matter whether a tab is in front, has a graphics card, or is used meanwhile.
"""

from __future__ import annotations

import io
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm.foundation.validation import Array
from flexarm.plotting.films import FILM_FORMATS, whiten_background
from flexarm.studio.mesh_frames import FAINT, GHOST, PUSHES, TRACE, shades
from flexarm.studio.scene import Ground, Still, ViewCamera, bodies, rotation

if TYPE_CHECKING:
    from PIL import Image


FPS = 25  # frames of a second of film: four hundredths each, which a GIF can tell
COLOURS = 128  # of a GIF


class VideoCancelled(Exception):
    """Nobody wants the film any more."""


def require_kind(kind: str) -> None:
    """Refuse a film that cannot be written here, before any work."""
    FILM_FORMATS[f".{kind}"].check()


def png(image: Image.Image) -> bytes:
    file = io.BytesIO()
    image.save(file, format="PNG")
    return file.getvalue()


def filmed(kind: str, count: int, image: Callable[[int], Image.Image], told: Callable[[int], None]) -> bytes:
    """The film of so many images as "gif" or "mp4". `told` hears how many are drawn; what it raises ends the work."""
    return {"gif": _gif, "mp4": _mp4}[kind](count, image, told)


def _drawn(count: int, image: Callable[[int], Image.Image], told: Callable[[int], None]) -> Iterator[Image.Image]:
    for k in range(count):
        told(k)
        yield image(k)


def _gif(count: int, image: Callable[[int], Image.Image], told: Callable[[int], None]) -> bytes:
    palette = _palette([image(k) for k in sorted({0, count // 2, count - 1})])
    flat = (each.quantize(palette=palette, dither=0) for each in _drawn(count, image, told))  # type: ignore[arg-type]
    first, file = next(flat), io.BytesIO()
    first.save(file, format="GIF", save_all=True, append_images=flat, duration=1000 // FPS, loop=0)
    return file.getvalue()


def _palette(few: list[Image.Image]) -> Image.Image:
    """The same colours in all frames: still parts stay still, and cost nothing. A legend has all colours of links."""
    from PIL import Image

    beside = Image.new("RGB", (sum(each.width for each in few), few[0].height))
    for k, each in enumerate(few):
        beside.paste(each, (k * each.width, 0))
    return whiten_background(beside.quantize(COLOURS))


def _mp4(count: int, image: Callable[[int], Image.Image], told: Callable[[int], None]) -> bytes:
    images = _drawn(count, image, told)
    first = next(images)
    with tempfile.TemporaryDirectory(prefix="flexarm-studio-") as folder:
        path = Path(folder) / "film.mp4"
        given = [
            "-f",
            "rawvideo",
            "-pix_fmt",
            "rgb24",
            "-s",
            f"{first.width}x{first.height}",
            "-r",
            str(FPS),
            "-i",
            "-",
        ]
        wanted = ["-an", "-vcodec", "h264", "-pix_fmt", "yuv420p", "-movflags", "+faststart", str(path)]
        command = ["ffmpeg", "-loglevel", "error", "-y", *given, *wanted]
        program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        pipe: Any = program.stdin
        try:
            for each in chain([first], images):
                pipe.write(each.tobytes())
            pipe.close()
            ended = program.wait()
        except BrokenPipeError:
            ended = program.wait()
        except BaseException:
            program.kill()
            program.wait()
            raise
        if ended != 0:
            raise OSError(f"ffmpeg could not write the film (it ended with {ended})")
        return path.read_bytes()


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
        camera: ViewCamera,
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
