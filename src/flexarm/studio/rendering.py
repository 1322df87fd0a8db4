"""Render views as pictures and videos without a browser or a graphics card.

The result does not depend on whether the browser's tab is visible, has a graphics card, or is used meanwhile.
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
from flexarm.studio.mesh_frames import ARROW_COLOUR, GHOST_COLOUR, GHOST_OPACITY, TRACE_COLOUR, map_colours
from flexarm.studio.scene import Ground, ViewCamera, ViewState, arrow_solids, axis_rotation

if TYPE_CHECKING:
    from PIL import Image


FPS = 25  # a GIF stores durations in hundredths of a second
GIF_COLOUR_COUNT = 128


class VideoCancelled(Exception):
    """The video was cancelled."""


def require_kind(kind: str) -> None:
    """Raise an error if a kind of video cannot be written on this machine."""
    from flexarm.plotting.films import FILM_FORMATS  # imports Matplotlib, which pages load only when needed

    FILM_FORMATS[f".{kind}"].check()


def encode_png(image: Image.Image) -> bytes:
    """Return an image as a PNG file."""
    file = io.BytesIO()
    image.save(file, format="PNG")
    return file.getvalue()


def encode_video(kind: str, count: int, image: Callable[[int], Image.Image], report: Callable[[int], None]) -> bytes:
    """Return a video of `count` images as a GIF or MP4 (by ffmpeg) file.

    `report` is called with the number of images drawn so far; it may raise to cancel the video.
    """
    return {"gif": _encode_gif, "mp4": _encode_mp4}[kind](count, image, report)


def _draw_frames(
    count: int, image: Callable[[int], Image.Image], report: Callable[[int], None]
) -> Iterator[Image.Image]:
    for k in range(count):
        report(k)
        yield image(k)


def _encode_gif(count: int, image: Callable[[int], Image.Image], report: Callable[[int], None]) -> bytes:
    palette = _common_palette([image(k) for k in sorted({0, count // 2, count - 1})])
    flat = (each.quantize(palette=palette, dither=0) for each in _draw_frames(count, image, report))  # type: ignore[arg-type]
    first, file = next(flat), io.BytesIO()
    first.save(file, format="GIF", save_all=True, append_images=flat, duration=1000 // FPS, loop=0)
    return file.getvalue()


def _common_palette(images: list[Image.Image]) -> Image.Image:
    """Return one palette for all frames, so that still parts do not change; a legend contains all link colours."""
    from PIL import Image

    from flexarm.plotting.films import whiten_background

    strip = Image.new("RGB", (sum(each.width for each in images), images[0].height))
    for k, each in enumerate(images):
        strip.paste(each, (k * each.width, 0))
    return whiten_background(strip.quantize(GIF_COLOUR_COUNT))


def _encode_mp4(count: int, image: Callable[[int], Image.Image], report: Callable[[int], None]) -> bytes:
    images = _draw_frames(count, image, report)
    first = next(images)
    with tempfile.TemporaryDirectory(prefix="flexarm-studio-") as folder:
        path = Path(folder) / "video.mp4"
        source = f"-f rawvideo -pix_fmt rgb24 -s {first.width}x{first.height} -r {FPS} -i -".split()
        target = ["-an", "-vcodec", "h264", "-pix_fmt", "yuv420p", "-movflags", "+faststart", str(path)]
        command = ["ffmpeg", "-loglevel", "error", "-y", *source, *target]
        program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        pipe: Any = program.stdin
        try:
            for each in chain([first], images):
                pipe.write(each.tobytes())
            pipe.close()
            exit_code = program.wait()
        except BrokenPipeError:
            exit_code = program.wait()
        except BaseException:
            program.kill()
            program.wait()
            raise
        if exit_code != 0:
            raise OSError(f"ffmpeg could not write the video (exit code {exit_code})")
        return path.read_bytes()


MAX_FRAGMENT_COUNT = 2_000_000  # in memory at once


class Raster:
    """A picture with a colour (3 bytes) and a nearness (reciprocal depth) for each pixel, row by row.

    Corners are (x, y, nearness) as `ViewCamera.project` returns them; zero nearness is behind the camera.
    """

    def __init__(self, width: int, height: int, background: tuple[int, int, int] = (255, 255, 255)) -> None:
        self.width, self.height = width, height
        self.colour = np.full((height * width, 3), background, dtype=np.uint8)
        self.nearness = np.zeros(height * width, dtype=np.float32)

    def copy(self) -> Raster:
        """Return a copy, so that the background is drawn once."""
        other = object.__new__(Raster)
        other.width, other.height = self.width, self.height
        other.colour, other.nearness = self.colour.copy(), self.nearness.copy()
        return other

    @property
    def pixels(self) -> Any:
        """Colours of bytes, shape (height, width, 3)."""
        return self.colour.reshape(self.height, self.width, 3)

    def draw_triangles(self, corners: Array, colours: Array, opacity: float = 1.0) -> None:
        """Draw triangles (n, 3, 3) with a colour (n, 3, 3), 0 to 255, for each corner.

        Of transparent triangles only the nearest is drawn in each pixel.
        """
        over = self.nearness if opacity == 1.0 else self.nearness.copy()
        drawn = []
        for number, pixel, weights in self._rasterize(corners):
            # perspective correction: nearness is linear on the screen, colours are not
            weights = weights * corners[number, :, 2]
            exact = weights.sum(axis=1)
            near, weights = exact.astype(np.float32), weights / exact[:, None]
            np.maximum.at(over, pixel, near)
            first = near >= over[pixel]
            drawn.append((pixel[first], near[first], (weights[first, :, None] * colours[number[first]]).sum(axis=1)))
        for pixel, near, colour in drawn:
            first = near >= over[pixel]  # later triangles may be nearer
            self._blend(pixel[first], colour[first], opacity)

    def draw_lines(self, ends: Array, colour: tuple[int, int, int], width: int) -> None:
        """Draw lines between ends (n, 2, 3), with a width in pixels."""
        ends = ends[(ends[:, :, 2] > 0).all(axis=1) & self._overlaps(ends)]
        step = ends[:, 1] - ends[:, 0]
        count = np.ceil(np.abs(step[:, :2]).max(axis=1, initial=0.0)).astype(int) + 1
        number, place = _expand_counts(count)
        along = (place + 0.5) / count[number]
        x, y, near = (ends[number, 0] + along[:, None] * step[number]).T
        steep = np.abs(step[number, 1]) > np.abs(step[number, 0])
        for offset in range(-(width // 2), (width + 1) // 2):
            column = np.floor(x + np.where(steep, offset, 0)).astype(int)
            row = np.floor(y + np.where(steep, 0, offset)).astype(int)
            visible = (column >= 0) & (column < self.width) & (row >= 0) & (row < self.height)
            pixel, nearness = (row * self.width + column)[visible], near[visible].astype(np.float32)
            np.maximum.at(self.nearness, pixel, nearness)
            self._blend(pixel[nearness >= self.nearness[pixel]], np.array(colour, dtype=float), 1.0)

    def _blend(self, pixel: Any, colour: Array, opacity: float) -> None:
        if opacity < 1.0:
            colour = opacity * colour + (1 - opacity) * self.colour[pixel]
        self.colour[pixel] = np.clip(np.rint(colour), 0, 255)

    def _overlaps(self, corners: Array) -> Any:
        """Select lines or triangles that may overlap the picture."""
        low, high = corners[..., :2].min(axis=1), corners[..., :2].max(axis=1)
        return ((high >= 0) & (low <= [self.width, self.height])).all(axis=1)

    def _rasterize(self, corners: Array) -> Iterator[tuple[Any, Any, Array]]:
        """Yield triangle numbers, pixels and barycentric weights (k, 3) of all pixel centres inside triangles."""
        (xa, ya), (xb, yb), (xc, yc) = (corners[:, k, :2].T for k in range(3))
        area = (xb - xa) * (yc - ya) - (xc - xa) * (yb - ya)
        usable = (corners[..., 2] > 0).all(axis=1) & (np.abs(area) > 1e-9) & self._overlaps(corners)
        chosen = np.flatnonzero(usable)
        size = np.array([self.width, self.height])
        flat = corners[chosen, :, :2]
        low = np.clip(np.ceil(flat.min(axis=1) - 0.5), 0, size).astype(int)
        high = np.clip(np.floor(flat.max(axis=1) - 0.5) + 1, 0, size).astype(int)
        span = np.maximum(high - low, 0)
        count = span[:, 0] * span[:, 1]
        for part in _split_fragments(count):
            local, place = _expand_counts(count[part])
            local += part.start
            column, row = low[local, 0] + place % span[local, 0], low[local, 1] + place // span[local, 0]
            k = chosen[local]
            x, y = column + 0.5, row + 0.5
            second = ((x - xa[k]) * (yc[k] - ya[k]) - (xc[k] - xa[k]) * (y - ya[k])) / area[k]
            third = ((xb[k] - xa[k]) * (y - ya[k]) - (x - xa[k]) * (yb[k] - ya[k])) / area[k]
            weights = np.stack([1 - second - third, second, third], axis=1)
            inside = (weights >= 0).all(axis=1)
            yield k[inside], (row * self.width + column)[inside], weights[inside]


def _expand_counts(count: Any) -> tuple[Any, Any]:
    """Return, for each of `count` items in turn, its owner and its index within the owner.

    >>> _expand_counts(np.array([2, 0, 1]))
    (array([0, 0, 2]), array([0, 1, 0]))
    """
    number = np.repeat(np.arange(len(count)), count)
    return number, np.arange(len(number)) - np.repeat(np.cumsum(count) - count, count)


def _split_fragments(count: Any) -> Iterator[slice]:
    """Yield ranges of triangles with at most `MAX_FRAGMENT_COUNT` fragments; a larger triangle is alone."""
    begin, fragment_count = 0, 0
    for k, each in enumerate(count.tolist()):
        if fragment_count + each > MAX_FRAGMENT_COUNT and k > begin:
            yield slice(begin, k)
            begin, fragment_count = k, 0
        fragment_count += each
    if begin < len(count):
        yield slice(begin, len(count))


SUPERSAMPLING = 2  # pixels per pixel of the picture and direction
LIGHT_DIRECTION = np.array([0.37, -0.56, 0.74])
MIN_BRIGHTNESS = 0.7  # of surfaces parallel to the light
CELL_COLOUR, SECTION_COLOUR = (218, 218, 218), (165, 165, 165)  # of grid lines
AXIS_COLOURS = ((217, 48, 48), (60, 160, 40), (40, 60, 210))
TEXT_COLOUR = (40, 40, 40)
PIECES_PER_LINE = 40  # of grid lines; pieces behind the camera are left out


class ViewRenderer:
    """Renders pictures with one camera.

    Parameters
    ----------
    trace : ndarray, shape (n, 3), or None
        Path of the tip.
    legend : tuple or None
        Labels of the legend.
    title : str
        Text in the upper left corner.
    """

    def __init__(
        self,
        camera: ViewCamera,
        ground: Ground,
        trace: Array | None,
        legend: tuple[str, str, str] | None,
        title: str,
    ) -> None:
        self.camera, self._ground, self._legend, self._title = camera, ground, legend, title
        self._fine_camera = camera.scaled(SUPERSAMPLING)
        self._rotation = axis_rotation(*ground.rotation)
        self._background = Raster(self._fine_camera.width, self._fine_camera.height)
        self._draw_ground()
        if trace is not None and len(trace) > 1:
            self._draw_lines(np.stack([trace[:-1], trace[1:]], axis=1) @ self._rotation.T, TRACE_COLOUR, 4)

    def render(self, state: ViewState, caption: str) -> Image.Image:
        """Return the picture of a view state."""
        from PIL import Image

        raster = self._background.copy()
        self._draw_body(raster, state.points, state.faces, state.colours)
        if len(state.arrows):
            points, faces = arrow_solids(state.arrows, state.size)
            self._draw_body(raster, points, faces, np.broadcast_to(ARROW_COLOUR, points.shape))
        if state.ghosts is not None:
            points, faces = state.ghosts
            self._draw_body(raster, points, faces, np.broadcast_to(GHOST_COLOUR, points.shape), GHOST_OPACITY)
        image = Image.fromarray(raster.pixels).reduce(SUPERSAMPLING)
        self._draw_text(image, caption)
        return image

    # --- bodies ---

    def _draw_body(self, raster: Raster, points: Any, faces: Any, colours: Any, opacity: float = 1.0) -> None:
        positions = np.asarray(points, dtype=float) @ self._rotation.T
        corners = positions[faces]
        normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        size = np.maximum(np.linalg.norm(normal, axis=1), 1e-300)
        bright = MIN_BRIGHTNESS + (1 - MIN_BRIGHTNESS) * np.abs(normal @ LIGHT_DIRECTION) / size
        shaded = np.asarray(colours, dtype=float)[faces] * bright[:, None, None]
        raster.draw_triangles(self._fine_camera.project(positions)[faces], shaded, opacity)

    def _draw_lines(self, ends: Array, colour: tuple[int, int, int], width: int) -> None:
        self._background.draw_lines(self._fine_camera.project(ends), colour, width)

    def _draw_ground(self) -> None:
        ground = self._ground
        count = round(ground.extent / ground.cell / 2)
        numbers = np.arange(-count, count + 1)
        along = np.linspace(-ground.extent / 2, ground.extent / 2, PIECES_PER_LINE + 1)
        for chosen, colour in ((numbers % 5 != 0, CELL_COLOUR), (numbers % 5 == 0, SECTION_COLOUR)):
            x, k = (
                each.ravel()
                for each in np.meshgrid(ground.cell * numbers[chosen], range(PIECES_PER_LINE), indexing="ij")
            )
            upward = np.stack([np.column_stack([x, along[k + end], np.zeros_like(x)]) for end in (0, 1)], axis=1)
            for ends in (upward, upward[..., [1, 0, 2]]):
                self._draw_lines(ground.middle + ends, colour, 2)
        base = np.asarray(ground.base)
        for axis, colour in zip(np.eye(3), AXIS_COLOURS, strict=True):
            self._draw_lines(np.array([[base, base + ground.axes_length * axis]]) @ self._rotation.T, colour, 4)

    # --- text ---

    def _draw_text(self, image: Image.Image, caption: str) -> None:
        from PIL import Image, ImageDraw

        draw, width, height = ImageDraw.Draw(image), image.width, image.height
        for text, place in self._ground.labels():
            x, y, near = self.camera.project(place)
            if near > 0 and 0 <= x <= width and 0 <= y <= height:
                _draw_label(draw, (x, y), text, "mm", 15)
        _draw_label(draw, (12, 10), self._title, "la", 14)
        _draw_label(draw, (width - 12, 10), caption, "ra", 14)
        if self._legend is not None:
            quantity, low, high = self._legend
            length, left, top = min(220, width - 24), 12, height - 46
            _draw_label(draw, (left, top - 4), quantity, "ld", 13)
            bar = np.broadcast_to(map_colours(np.linspace(0, 1, length), 1.0), (14, length, 3))
            image.paste(Image.fromarray(np.ascontiguousarray(bar)), (left, top))
            draw.rectangle((left - 1, top - 1, left + length, top + 14), outline=(136, 136, 136))
            _draw_label(draw, (left, top + 17), low, "la", 13)
            _draw_label(draw, (left + length, top + 17), high, "ra", 13)


def _draw_label(draw: Any, position: tuple[float, float], text: str, anchor: str, size: int) -> None:
    draw.text(
        position, text, fill=TEXT_COLOUR, anchor=anchor, font=_font(size), stroke_width=3, stroke_fill=(255, 255, 255)
    )


@cache
def _font(size: int) -> Any:
    import matplotlib
    from PIL import ImageFont

    return ImageFont.truetype(str(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf"), size)
