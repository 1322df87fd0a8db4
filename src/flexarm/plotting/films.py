"""Films as GIF (Pillow), MP4 (ffmpeg) and self-contained HTML; rendering of figures to pixels."""

from __future__ import annotations

import base64
import io
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np

from flexarm.foundation.messages import shown
from flexarm.foundation.validation import Array

if TYPE_CHECKING:
    from PIL import Image

MAX_FRAME_COUNT = 20_000  # 13 minutes at 25 frames per second
COLOUR_COUNT = 128  # of GIF and HTML films
PAGE_TEMPLATE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>flexarm</title></head><body>
{player}
</body></html>
"""

# Path, images, frames per second, and images that contain all colours.
FilmWriter = Callable[[str, "Iterable[Image.Image]", float, "Sequence[Image.Image]"], None]


def write_gif(path: str, images: Iterable[Image.Image], fps: float, samples: Sequence[Image.Image]) -> None:
    """Write a GIF film; its frame rate is a `playable_rate`."""
    flat = _reduce_colours(images, samples)
    first = next(flat)
    first.save(path, format="GIF", save_all=True, append_images=flat, duration=round(1000 / fps), loop=0)


def write_mp4(path: str, images: Iterable[Image.Image], fps: float, samples: Sequence[Image.Image]) -> None:
    """Write an MP4 film by ffmpeg, which needs even numbers of pixels."""
    width, height = samples[0].size
    source = f"-f rawvideo -pix_fmt rgb24 -s {width}x{height} -r {fps} -i -"
    target = "-an -vcodec h264 -pix_fmt yuv420p -vf pad=ceil(iw/2)*2:ceil(ih/2)*2 -movflags +faststart"
    command = [*f"ffmpeg -loglevel quiet -y {source} {target}".split(), path]
    with suppress(BrokenPipeError), subprocess.Popen(command, stdin=subprocess.PIPE) as program:
        pipe: Any = program.stdin
        try:
            for image in images:
                pipe.write(image.tobytes())
        except BaseException:
            program.kill()
            raise
    if program.returncode:
        raise OSError(f"ffmpeg could not write the film (exit code {program.returncode})")


def write_html(path: str, images: Iterable[Image.Image], fps: float, samples: Sequence[Image.Image]) -> None:
    """Write an HTML page that plays a film."""
    Path(path).write_text(PAGE_TEMPLATE.replace("{player}", html_player(images, fps, samples)), encoding="utf-8")


FILM_WRITERS: dict[str, FilmWriter] = {".gif": write_gif, ".mp4": write_mp4, ".html": write_html}


def require_film_file(path: object) -> str:
    """Return the suffix of a film file, or raise an error if the film cannot be written."""
    if not isinstance(path, (str, os.PathLike)) or not os.fspath(path):
        raise TypeError(f"path = {shown(path)}: must be the name of a file")
    target = Path(os.fsdecode(path))
    suffix = target.suffix.lower()
    if suffix not in FILM_WRITERS:
        raise ValueError(f"{target}: an animation must end in .gif, .mp4 or .html")
    if target.is_dir():
        raise ValueError(f"{target}: is a directory, not a file")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{target}: there is no folder {target.parent}")
    require_available(suffix)
    return suffix


def require_available(suffix: str) -> None:
    """Raise an error if ffmpeg is needed and not installed."""
    if suffix == ".mp4" and shutil.which("ffmpeg") is None:
        raise ValueError("an .mp4 film needs ffmpeg, which is not installed here; .gif and .html need nothing")


def require_frame_count(duration: float, fps: float = 25.0, speed: float = 1.0) -> None:
    """Raise ValueError if a film would have more than the largest number of frames."""
    if (count := duration * fps / speed) > MAX_FRAME_COUNT:
        given = f"fps = {fps:g} and speed = {speed:g}"
        raise ValueError(f"{given} make {count:.3g} frames of this run: at most {MAX_FRAME_COUNT}")


def frame_times(begin: float, end: float, fps: float, speed: float) -> Array:
    """Return evenly spaced times of frames (s), followed by the end; raise ValueError if there are too many."""
    require_frame_count(end - begin, fps, speed)
    step = speed / fps
    return np.append(np.arange(begin, end - 1e-6 * step, step), end)


def playable_rate(suffix: str, fps: float) -> float:
    """Return the nearest frame rate of a film format.

    A frame of a GIF takes a multiple of 0.01 s, at least two of them.
    """
    return 100 / max(2, round(100 / fps)) if suffix == ".gif" else fps


def html_player(images: Iterable[Image.Image], fps: float, samples: Sequence[Image.Image]) -> str:
    """Return an HTML fragment that plays a film; a page may contain several of them."""
    frames = [base64.b64encode(encode_png(each)).decode() for each in _reduce_colours(images, samples)]
    html = (resources.files("flexarm.plotting") / "player.html").read_text(encoding="utf-8")
    content = json.dumps([f"data:image/png;base64,{each}" for each in frames])
    for name, value in {"id": f"film-{uuid4().hex}", "pause": f"{1000 / fps:.6g}", "frames": content}.items():
        html = html.replace(f"{{{name}}}", value)
    return html


def encode_png(image: Image.Image) -> bytes:
    """Return an image as a PNG file."""
    file = io.BytesIO()
    image.save(file, format="PNG")
    return file.getvalue()


def _reduce_colours(images: Iterable[Image.Image], samples: Sequence[Image.Image]) -> Iterator[Image.Image]:
    """Yield images with one palette, that of the samples, so that still parts do not change."""
    from PIL import Image

    strip = Image.fromarray(np.concatenate([np.asarray(each) for each in samples]))
    palette = strip.quantize(COLOUR_COUNT, Image.Quantize.MAXCOVERAGE, kmeans=3)  # with rare colours
    colours = np.array(palette.getpalette()).reshape(-1, 3)
    colours[colours.min(axis=1) >= 249] = 255  # the background
    palette.putpalette(colours.reshape(-1).tolist())
    return (each.quantize(palette=palette, dither=0) for each in images)  # type: ignore[arg-type]


def render_pixels(figure: Any) -> Any:
    """Render a figure to an array (height, width, 3) of bytes."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3].copy()
