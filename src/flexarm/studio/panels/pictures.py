"""Panel to save the view as a picture or a film, which the browser draws with the page's camera."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm.plotting.films import FILM_WRITERS, encode_png, frame_times, require_available
from flexarm.studio.mesh_frames import map_colours
from flexarm.studio.panels.linear import MODE_PERIOD_S
from flexarm.studio.panels.widgets import BackgroundTask, TaskCancelled
from flexarm.studio.scene import ViewState

if TYPE_CHECKING:
    from PIL import Image

    from flexarm.studio.page import Page

FPS = 25  # a GIF stores durations in hundredths of a second
MAX_SIDE_PX = {"png": 2000, "gif": 720, "mp4": 1600}  # all frames of a GIF are in memory
RENDER_TIMEOUT_S = 30.0
TEXT_COLOUR = (40, 40, 40)

Frame = tuple[ViewState, str]  # view and caption


class PicturesPanel:
    """Pictures of the view, and the fields of a film.

    A film shows the view at the time of the request. The page remains usable meanwhile, but its view shows the film.
    """

    def __init__(self, page: Page) -> None:
        self._page = page
        self.task = BackgroundTask(page, "film", "frames")

    def save(self, kind: str, stem: str) -> None:
        """Send the view as "png", "gif" or "mp4" to the browser."""
        page = self._page
        self.task.require_idle()
        picture = _Picture(page, kind)
        if kind == "png":
            image = picture.render(page.view_state(), self._caption(page.shown.index(page.timeline.time)))
            page.download(f"{stem}.png", encode_png(image))
            return
        require_available(f".{kind}")
        frames, order = self._frames_in_order()

        def record() -> bytes:
            try:
                return self._encode(kind, frames, order, picture)
            finally:
                page.submit(page.scene.release)

        self.task.start(record, lambda content: page.download(f"{stem}.{kind}", content))
        page.scene.hold()

    def _encode(self, kind: str, frames: list[Frame], order: list[int], picture: _Picture) -> bytes:
        image = lru_cache(maxsize=1)(lambda k: picture.render(*frames[k]))  # repeated frames are rendered once

        def images() -> Iterator[Image.Image]:
            for done, k in enumerate(order):
                if self.task.is_cancelled:
                    raise TaskCancelled
                self.task.report(done, len(order))
                yield image(k)

        samples = [image(order[k]) for k in (0, len(order) // 2, -1)]
        with tempfile.TemporaryDirectory(prefix="flexarm-studio-") as folder:
            path = Path(folder) / f"film.{kind}"
            FILM_WRITERS[path.suffix](str(path), images(), FPS, samples)
            return path.read_bytes()

    def _caption(self, k: int) -> str:
        page = self._page
        return f"t = {page.shown.times[k]:.3f} s" if page.shape is None else page.modes.chosen_name

    def _frames_in_order(self) -> tuple[list[Frame], list[int]]:
        """Return all distinct frames and their order: the run at the page's speed, or a period of a mode."""
        page, frames = self._page, self._page.shown
        if page.shape is not None:
            times = np.arange(int(MODE_PERIOD_S * FPS)) / FPS
            states = [page.view.posture_state(frames, page.shape.posture(each)) for each in times]
            return [(each, self._caption(0)) for each in states], list(range(len(times)))
        times = frame_times(frames.times[0], frames.times[-1], FPS, page.timeline.speed)
        indices, order = np.unique([frames.index(each) for each in times], return_inverse=True)
        return [(page.view.view_state(frames, k, True), self._caption(k)) for k in indices.tolist()], order.tolist()


class _Picture:
    """A picture by the browser with the page's camera, name, factors and legend at the time of the request."""

    def __init__(self, page: Page, kind: str) -> None:
        self._page, camera = page, page.client.camera
        scale = min(1.0, MAX_SIDE_PX[kind] / max(camera.image_width, camera.image_height))
        width, height = (max(2, int(scale * each)) for each in (camera.image_width, camera.image_height))
        self._camera = {"wxyz": camera.wxyz, "position": camera.position, "fov": camera.fov}
        self._camera |= {"width": width, "height": height}
        factors = {"deflections": page.view.magnify, "sections": page.view.thicken}
        names = [page.shown.system.robot.name, *(f"{name} x {each:g}" for name, each in factors.items() if each != 1)]
        self._title = ", ".join(names)
        self._legend = page.view.legend_labels if page.shape is None else None

    def render(self, state: ViewState, caption: str) -> Image.Image:
        """Return the picture of a view state; raise an error if the browser draws nothing."""
        from PIL import Image

        page = self._page
        page.scene.draw(state)
        try:
            found = page.client.get_render(**self._camera, transport_format="png", timeout=RENDER_TIMEOUT_S)
        except (RuntimeError, TimeoutError) as error:
            raise ValueError(
                f"save: the browser drew no picture; its tab must stay open and visible until the end ({error})"
            ) from None
        drawn = Image.fromarray(found)
        image = Image.new("RGB", drawn.size, "white")
        image.paste(drawn, mask=drawn.getchannel("A"))
        self._draw_texts(image, caption)
        return image

    def _draw_texts(self, image: Image.Image, caption: str) -> None:
        from PIL import Image, ImageDraw

        draw, width, height = ImageDraw.Draw(image), image.width, image.height

        def write(x: float, y: float, text: str, anchor: str, size: int = 14) -> None:
            draw.text((x, y), text, TEXT_COLOUR, _font(size), anchor, stroke_width=3, stroke_fill="white")

        write(12, 10, self._title, "la")
        write(width - 12, 10, caption, "ra")
        if self._legend is not None:
            quantity, low, high = self._legend
            length, left, top = min(220, width - 24), 12, height - 46
            write(left, top - 4, quantity, "ld", 13)
            bar = np.broadcast_to(map_colours(np.linspace(0, 1, length), 1.0), (14, length, 3))
            image.paste(Image.fromarray(np.ascontiguousarray(bar)), (left, top))
            draw.rectangle((left - 1, top - 1, left + length, top + 14), outline=(136, 136, 136))
            write(left, top + 17, low, "la", 13)
            write(left + length, top + 17, high, "ra", 13)


@cache
def _font(size: int) -> Any:
    import matplotlib
    from PIL import ImageFont

    return ImageFont.truetype(str(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf"), size)
