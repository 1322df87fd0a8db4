"""Film formats: GIF (Pillow), MP4 (ffmpeg) and a self-contained HTML player; rendering of figures to pixels."""

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
from flexarm.plotting.arguments import require_file_name

if TYPE_CHECKING:
    from PIL import Image

    from flexarm.plotting.animate import Animation, AnimationStage


PAGE_TEMPLATE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>flexarm</title></head><body>
{player}
</body></html>
"""

# {id}, {pause} and {frames} are filled in; a page, for example a notebook, may contain several players
PLAYER_TEMPLATE = """<div id="{id}" style="display: inline-block; max-width: 100%">
<img alt="a frame of the film" style="max-width: 100%">
<div style="display: flex; gap: 0.5em; align-items: center">
<button type="button" title="play or pause" style="width: 3em">&#9654;</button>
<input type="range" min="0" value="0" step="1" title="frame" style="flex: 1">
<label><input type="checkbox" checked> repeat</label>
</div>
<script>
(function () {
  const frames = {frames};
  const root = document.getElementById("{id}");
  const image = root.querySelector("img"), button = root.querySelector("button");
  const [slider, repeat] = root.querySelectorAll("input");
  let timer = null;
  slider.max = frames.length - 1;
  function show() { image.src = frames[slider.value]; }
  function stop() { clearInterval(timer); timer = null; button.textContent = "\\u25b6"; }
  function next() {
    const last = Number(slider.value) >= frames.length - 1;
    if (last && !repeat.checked) { stop(); return; }
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
    """Return an HTML fragment that plays PNG images."""
    images = ["data:image/png;base64," + base64.b64encode(frame).decode("ascii") for frame in frames]
    parts = {"{id}": f"film-{uuid4().hex}", "{pause}": f"{1000 / fps:.6g}", "{frames}": json.dumps(images)}
    html = PLAYER_TEMPLATE
    for name, value in parts.items():
        html = html.replace(name, value)
    return html


def html_page(content: str) -> str:
    """Return a complete HTML page."""
    return PAGE_TEMPLATE.replace("{player}", content)


PALETTE_SIZE = 64  # colours of a frame; enough for lines with smooth edges


class FilmFormat(ABC):
    """Format of a film."""

    def check(self) -> None:  # noqa: B027
        """Raise ValueError if this format is not available."""

    @abstractmethod
    def write(self, animation: Animation, path: str) -> None: ...


class GifFormat(FilmFormat):
    def write(self, animation: Animation, path: str) -> None:
        # The duration of a GIF frame is a multiple of 0.01 s, and viewers slow down below 0.02 s. The frame rate is
        # adapted to that, so that the film has the right speed.
        hundredths = max(2, round(100 / animation.fps))
        stage = _create_stage(animation, 100 / hundredths)
        source = FrameSource(stage)
        images = (source.image() for _ in _show_frames(stage, animation))
        first = next(images)
        first.save(path, format="GIF", save_all=True, append_images=images, duration=10 * hundredths, loop=0)


class Mp4Format(FilmFormat):
    def check(self) -> None:
        from matplotlib.animation import writers

        if not writers.is_available("ffmpeg"):
            raise ValueError("an .mp4 film needs ffmpeg, which is not installed here; .gif and .html need nothing")

    def write(self, animation: Animation, path: str) -> None:
        from matplotlib.animation import FFMpegWriter

        stage = _create_stage(animation, animation.fps)
        writer: Any = FFMpegWriter(fps=animation.fps, codec="h264")  # type: ignore[arg-type]
        try:
            with writer.saving(stage.figure, path, animation.dpi):
                for _ in _show_frames(stage, animation):
                    writer.grab_frame()
        except subprocess.CalledProcessError as error:
            raise OSError(f"ffmpeg could not write the film (it ended with {error.returncode})") from None


class HtmlFormat(FilmFormat):
    def write(self, animation: Animation, path: str) -> None:
        Path(path).write_text(html_page(render_html_player(animation)), encoding="utf-8")


FILM_FORMATS: dict[str, FilmFormat] = {".gif": GifFormat(), ".mp4": Mp4Format(), ".html": HtmlFormat()}


def select_film_format(path: str | os.PathLike[str]) -> FilmFormat:
    """Return the film format of a file name, after a check that the film can be written."""
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
    """Return an HTML fragment with the frames of an animation and its controls."""
    stage = _create_stage(animation, animation.fps)
    source = FrameSource(stage)
    return html_player((source.png() for _ in _show_frames(stage, animation)), animation.fps)


class FrameSource:
    """Renderer of the frames of an animation; the background is drawn once."""

    def __init__(self, stage: AnimationStage) -> None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        self.stage = stage
        agg: Any = FigureCanvasAgg
        self.canvas = agg(stage.figure)
        for artist in stage.moving:
            artist.set_animated(True)
        self.canvas.draw()
        self._background = self.canvas.copy_from_bbox(stage.figure.bbox)
        stage.show(len(stage.times) - 1)  # the last frame contains all colours
        self._palette = whiten_background(self._render_frame().quantize(PALETTE_SIZE))

    def image(self) -> Image.Image:
        """Return the current frame, quantized to the palette of the film."""
        return self._render_frame().quantize(palette=self._palette, dither=0)  # type: ignore[arg-type]

    def png(self) -> bytes:
        file = io.BytesIO()
        self.image().save(file, format="PNG")
        return file.getvalue()

    def _render_frame(self) -> Image.Image:
        from PIL import Image

        self.canvas.restore_region(self._background)
        for artist in self.stage.moving:
            self.stage.figure.draw_artist(artist)
        return Image.fromarray(np.asarray(self.canvas.buffer_rgba())[..., :3].copy())


def whiten_background(image: Image.Image) -> Image.Image:
    """Set the brightest colours of the palette of an image to exactly white."""
    colours = np.array(image.getpalette()).reshape(-1, 3)
    colours[colours.min(axis=1) >= 249] = 255
    image.putpalette(colours.reshape(-1).tolist())
    return image


class _DrawingProgress(Progress):
    """Progress bar of the drawn frames."""

    doing = "drawing"

    def words(self, t: float, pace: float) -> str:
        return f"{t:g} of {self.duration:g} frames"


def _create_stage(animation: Animation, fps: float) -> AnimationStage:
    from flexarm.plotting.animate import AnimationStage

    return AnimationStage(animation, animation.times(fps))


def _show_frames(stage: AnimationStage, animation: Animation) -> Iterator[int]:
    with _DrawingProgress(len(stage.times), animation.progress) as bar:
        for k in stage.frames():
            bar.update(k)
            yield k


def render_pixels(figure: Any) -> Any:
    """Render a figure to an array (height, width, 3) of bytes."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3].copy()
