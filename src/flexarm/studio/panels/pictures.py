"""Panel to save the view as a picture or a video, with progress."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm.foundation.progress import format_time_left
from flexarm.studio.panels.linear import MODE_PERIOD_S
from flexarm.studio.panels.widgets import on_click, text_box
from flexarm.studio.rendering import FPS, VideoCancelled, ViewRenderer, encode_png, encode_video, require_kind
from flexarm.studio.scene import ViewCamera, ViewState

if TYPE_CHECKING:
    from flexarm.studio.page import Page

MAX_SIDE_PX = {"png": 2000, "gif": 720, "mp4": 1600}  # all frames of a GIF are in memory
PROGRESS_INTERVAL_S = 0.2

Frame = tuple[ViewState, str]  # view and caption


class PicturesPanel:
    """The fields of a page's video.

    A video shows the view at the time of the request and is drawn in a thread of its own; the page remains usable.
    """

    def __init__(self, page: Page) -> None:
        self._page, gui = page, page.client.gui
        self._thread: threading.Thread | None = None
        self._cancelled = False
        self._progress_bar = gui.add_progress_bar(0.0, visible=False)
        self._text = gui.add_html("", visible=False)
        self._cancel = gui.add_button("Cancel the film", visible=False)

        on_click(self._on_cancel, self._cancel)

    def _on_cancel(self) -> None:
        self._cancelled = True

    @property
    def is_busy(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def save(self, kind: str, stem: str) -> None:
        """Send the view as "png", "gif" or "mp4" to the browser."""
        page = self._page
        assert page.frames is not None
        name = f"{stem}.{kind}"
        if kind == "png":
            renderer, frame = self._create_renderer(kind), self._current_frame()
            page.client.send_file_download(name, encode_png(renderer.render(*frame)), save_immediately=True)
            return
        if self.is_busy:
            raise ValueError("save: a video is being drawn already; cancel it, or wait until it is ready")
        require_kind(kind)
        renderer, frames, order = self._create_renderer(kind), *self._frames_in_order()
        self._cancelled = False
        self._set_visible(True)
        self._show_progress(0, len(order), 0.0)

        def work() -> None:
            problem: Exception | None = None
            try:
                content = encode_video(
                    kind, len(order), _cached_images(renderer, frames, order), self._watch(len(order))
                )
                page.client.send_file_download(name, content, save_immediately=True)
            except VideoCancelled:
                pass
            except Exception as error:
                problem = error
            if not page.closed:
                self._set_visible(False)
                if problem is not None:
                    page.submit_error(problem)

        self._thread = threading.Thread(target=work, daemon=True, name=f"video of page {page.client.client_id}")
        self._thread.start()

    # --- frames ---

    def _create_renderer(self, kind: str) -> ViewRenderer:
        page = self._page
        assert page.frames is not None
        assert page.ground is not None
        factors = {"deflections": page.view.magnify, "sections": page.view.thicken}
        title = [page.frames.system.robot.name, *(f"{name} x {each:g}" for name, each in factors.items() if each != 1)]
        labels = page.view.legend_labels if page.shape is None else None
        return ViewRenderer(
            ViewCamera.from_page(page.client.camera, MAX_SIDE_PX[kind]),
            page.ground,
            page.view.tip_path,
            labels,
            ", ".join(title),
        )

    def _current_frame(self) -> Frame:
        page = self._page
        assert page.frames is not None
        if page.shape is not None:
            return page.view.posture_state(page.frames, page.shape.posture(time.monotonic())), page.modes.chosen_name
        return self._frame(page.frames.index(page.timeline.time))

    def _frame(self, k: int) -> Frame:
        frames = self._page.frames
        assert frames is not None
        return self._page.view.view_state(frames, k, playing=True), f"t = {frames.times[k]:.3f} s"

    def _frames_in_order(self) -> tuple[list[Frame], list[int]]:
        """Return all distinct frames and their order: the run at the page's speed, or a period of a mode."""
        page = self._page
        assert page.frames is not None
        if page.shape is not None:
            times = np.arange(int(MODE_PERIOD_S * FPS)) / FPS
            shown = [page.view.posture_state(page.frames, page.shape.posture(each)) for each in times]
            return [(each, page.modes.chosen_name) for each in shown], list(range(len(times)))
        from flexarm.plotting.animate import require_frames  # imports Matplotlib, which pages load only when needed

        begin, end = float(page.frames.times[0]), float(page.frames.times[-1])
        require_frames(end - begin, FPS, page.timeline.speed)
        step = page.timeline.speed / FPS
        times = np.append(np.arange(begin, end - 1e-6 * step, step), end)
        indices, order = np.unique([page.frames.index(each) for each in times], return_inverse=True)
        return [self._frame(int(k)) for k in indices], order.tolist()

    # --- progress ---

    def _watch(self, count: int) -> Callable[[int], None]:
        begin = last = time.monotonic()

        def report(done: int) -> None:
            nonlocal last
            now = time.monotonic()
            if self._cancelled or self._page.closed:
                raise VideoCancelled
            if now - last > PROGRESS_INTERVAL_S:
                last = now
                self._show_progress(done, count, done / (now - begin))

        return report

    def _show_progress(self, done: int, count: int, pace: float) -> None:
        self._progress_bar.value = 100.0 * done / count
        self._text.content = text_box(f"video: {done} of {count} frames, {format_time_left(count - done, pace)}")

    def _set_visible(self, visible: bool) -> None:
        for handle in (self._progress_bar, self._text, self._cancel):
            handle.visible = visible


def _cached_images(renderer: ViewRenderer, frames: list[Frame], order: list[int]) -> Any:
    """Return a function that renders a frame by its number; repeated frames are rendered once."""
    last: tuple[int, Any] = (-1, None)

    def image(k: int) -> Any:
        nonlocal last
        if order[k] != last[0]:
            last = order[k], renderer.render(*frames[order[k]])
        return last[1]

    return image
