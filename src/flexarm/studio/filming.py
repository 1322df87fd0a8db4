"""Pictures one after the other as a film: GIF, or MP4 by ffmpeg. It tells how far it is, and can be cancelled."""

from __future__ import annotations

import io
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flexarm.show.films import KINDS, with_white

if TYPE_CHECKING:
    from PIL import Image

FPS = 25  # frames of a second of film: four hundredths each, which a GIF can tell
COLOURS = 128  # of a GIF


class Cancelled(Exception):
    """Nobody wants the film any more."""


def require_kind(kind: str) -> None:
    """Refuse a film that cannot be written here, before any work."""
    KINDS[f".{kind}"].check()


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
    return with_white(beside.quantize(COLOURS))


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
