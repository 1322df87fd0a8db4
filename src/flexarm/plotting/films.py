"""A film as HTML: frames inside the page, buttons of plain characters, nothing fetched from anywhere.

Writers of films: GIF (Pillow), MP4 (ffmpeg), a player in HTML.

From a figure to bytes.
"""

from __future__ import annotations

import base64
import io
import json
import os
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np

from flexarm.foundation.progress import Progress
from flexarm.plotting.style import require_file_name

if TYPE_CHECKING:
    from PIL import Image

    from flexarm.plotting.animate import Animation, AnimationStage


PAGE_TEMPLATE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>flexarm</title></head><body>
{player}
</body></html>
"""

# {id}, {pause} and {frames} are filled in; several players may stand on one page, as in a notebook
PLAYER_TEMPLATE = """<div id="{id}" style="display: inline-block; max-width: 100%">
<img alt="a frame of the film" style="max-width: 100%">
<div style="display: flex; gap: 0.5em; align-items: center">
<button type="button" title="play or pause" style="width: 3em">&#9654;</button>
<input type="range" min="0" value="0" step="1" title="frame" style="flex: 1">
<label><input type="checkbox" checked> again and again</label>
</div>
<script>
(function () {
  const frames = {frames};
  const root = document.getElementById("{id}");
  const image = root.querySelector("img"), button = root.querySelector("button");
  const [slider, again] = root.querySelectorAll("input");
  let timer = null;
  slider.max = frames.length - 1;
  function show() { image.src = frames[slider.value]; }
  function stop() { clearInterval(timer); timer = null; button.textContent = "\\u25b6"; }
  function next() {
    const last = Number(slider.value) >= frames.length - 1;
    if (last && !again.checked) { stop(); return; }
    slider.value = last ? 0 : Number(slider.value) + 1;
    show();
  }
  function play() {
    if (Number(slider.value) >= frames.length - 1) { slider.value = 0; show(); }
    timer = setInterval(next, {pause});
    button.textContent = "\\u2016";
  }
  button.addEventListener("click", () => timer === null ? play() : stop());
  slider.addEventListener("input", () => { stop(); show(); });
  show();
  play();
})();
</script>
</div>"""


def html_player(frames: Iterable[bytes], fps: float) -> str:
    """PNG pictures and what plays them, a piece of HTML."""
    images = ["data:image/png;base64," + base64.b64encode(frame).decode("ascii") for frame in frames]
    parts = {"{id}": f"film-{uuid4().hex}", "{pause}": f"{1000 / fps:.6g}", "{frames}": json.dumps(images)}
    html = PLAYER_TEMPLATE
    for name, value in parts.items():
        html = html.replace(name, value)
    return html


def html_page(content: str) -> str:
    """A whole page for a browser."""
    return PAGE_TEMPLATE.replace("{player}", content)


PALETTE_SIZE = 64  # of a frame: few lines, smooth edges


class FilmFormat(ABC):
    """A kind of film."""

    def check(self) -> None:  # noqa: B027
        """Raise a sentence if such a film cannot be written here."""

    @abstractmethod
    def write(self, animation: Animation, path: str) -> None: ...


class GifFormat(FilmFormat):
    def write(self, animation: Animation, path: str) -> None:
        # A frame of a GIF lasts whole hundredths of a second, and viewers slow down below two: the frames are chosen so
        # that the film is as fast as asked for all the same.
        hundredths = max(2, round(100 / animation.fps))
        stage = _stage(animation, 100 / hundredths)
        camera = FrameSource(stage)
        images = (camera.image() for _ in _watched(stage, animation))
        first = next(images)
        first.save(path, format="GIF", save_all=True, append_images=images, duration=10 * hundredths, loop=0)


class Mp4Format(FilmFormat):
    def check(self) -> None:
        from matplotlib.animation import writers

        if not writers.is_available("ffmpeg"):
            raise ValueError("an .mp4 film needs ffmpeg, which is not installed here; .gif and .html need nothing")

    def write(self, animation: Animation, path: str) -> None:
        from matplotlib.animation import FFMpegWriter

        stage = _stage(animation, animation.fps)
        writer: Any = FFMpegWriter(fps=animation.fps, codec="h264")  # type: ignore[arg-type]
        try:
            with writer.saving(stage.figure, path, animation.dpi):
                for _ in _watched(stage, animation):
                    writer.grab_frame()
        except subprocess.CalledProcessError as error:
            raise OSError(f"ffmpeg could not write the film (it ended with {error.returncode})") from None


class HtmlFormat(FilmFormat):
    def write(self, animation: Animation, path: str) -> None:
        Path(path).write_text(html_page(render_html_player(animation)), encoding="utf-8")


FILM_FORMATS: dict[str, FilmFormat] = {".gif": GifFormat(), ".mp4": Mp4Format(), ".html": HtmlFormat()}


def select_film_format(path: str | os.PathLike[str]) -> FilmFormat:
    """The film that a file name asks for, checked before any work."""
    target = require_file_name("path", path)
    kind = FILM_FORMATS.get(target.suffix.lower())
    if kind is None:
        raise ValueError(f"{target}: an animation must end in .gif, .mp4 or .html")
    if target.is_dir():
        raise ValueError(f"{target}: is a directory, not a file")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{target}: there is no folder {target.parent}")
    kind.check()
    return kind


def render_html_player(animation: Animation) -> str:
    """Frames and buttons as HTML."""
    stage = _stage(animation, animation.fps)
    camera = FrameSource(stage)
    return html_player((camera.png() for _ in _watched(stage, animation)), animation.fps)


class FrameSource:
    """Pictures of a stage; what stands still is drawn once."""

    def __init__(self, stage: AnimationStage) -> None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        self.stage = stage
        agg: Any = FigureCanvasAgg
        self.canvas = agg(stage.figure)
        for artist in stage.moving:
            artist.set_animated(True)
        self.canvas.draw()
        self._still = self.canvas.copy_from_bbox(stage.figure.bbox)
        stage.show(len(stage.times) - 1)  # the last frame has every colour, the whole trace among them
        self._palette = whiten_background(self._shot().quantize(PALETTE_SIZE))

    def image(self) -> Image.Image:
        """What the stage shows now, in the same few colours every time."""
        return self._shot().quantize(palette=self._palette, dither=0)  # type: ignore[arg-type]

    def png(self) -> bytes:
        file = io.BytesIO()
        self.image().save(file, format="PNG")
        return file.getvalue()

    def _shot(self) -> Image.Image:
        from PIL import Image

        self.canvas.restore_region(self._still)
        for artist in self.stage.moving:
            self.stage.figure.draw_artist(artist)
        return Image.fromarray(np.asarray(self.canvas.buffer_rgba())[..., :3].copy())


def whiten_background(image: Image.Image) -> Image.Image:
    """The same picture, its brightest colours exactly white: paper is not grey."""
    colours = np.array(image.getpalette()).reshape(-1, 3)
    colours[colours.min(axis=1) >= 249] = 255
    image.putpalette(colours.reshape(-1).tolist())
    return image


class _Drawing(Progress):
    """Frames drawn so far."""

    doing = "drawing"

    def words(self, t: float, pace: float) -> str:
        return f"{t:g} of {self.duration:g} frames"


def _stage(animation: Animation, fps: float) -> AnimationStage:
    from flexarm.plotting.animate import AnimationStage

    return AnimationStage(animation, animation.times(fps))


def _watched(stage: AnimationStage, animation: Animation) -> Iterator[int]:
    with _Drawing(len(stage.times), animation.progress) as bar:
        for k in stage.frames():
            bar.update(k)
            yield k


def render_pixels(figure: Any) -> Any:
    """What a figure looks like, as an array (height, width, 3) of bytes."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3].copy()
