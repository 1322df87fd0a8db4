"""The view as a picture or as a film: how far it is, when it will be ready, and a way to cancel it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm.foundation.progress import format_time_left
from flexarm.studio.panels.linear import PERIOD
from flexarm.studio.panels.widgets import box
from flexarm.studio.rendering import FPS, Shots, VideoCancelled, filmed, png, require_kind
from flexarm.studio.scene import Still, ViewCamera

if TYPE_CHECKING:
    from flexarm.studio.page import Page

LARGEST = {"png": 2000, "gif": 720, "mp4": 1600}  # pixels of a side; all frames of a GIF are held until it is written
SELDOM = 0.2  # s between two words of how far it is

Moment = tuple[Still, str]  # what is seen, and when


class PicturesPanel:
    """The handles of a page's film. It is drawn in a thread of its own, of what the page showed when it was asked for:
    the page can be used meanwhile."""

    def __init__(self, page: Page) -> None:
        self._page, gui = page, page.client.gui
        self._thread: threading.Thread | None = None
        self._cancelled = False
        self._done = gui.add_progress_bar(0.0, visible=False)
        self._said = gui.add_html("", visible=False)
        self._cancel = gui.add_button("Cancel the film", visible=False)

        async def cancelled(event: Any) -> None:
            self._cancelled = True

        self._cancel.on_click(cancelled)

    @property
    def busy(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def give(self, kind: str, stem: str) -> None:
        """Send a "png", "gif" or "mp4" of the view to the browser."""
        page = self._page
        assert page.film is not None
        name = f"{stem}.{kind}"
        if kind == "png":
            shots, moment = self._shots(kind), self._now()
            page.client.send_file_download(name, png(shots.image(*moment)), save_immediately=True)
            return
        if self.busy:
            raise ValueError("save: a film is being drawn already; cancel it, or wait until it is ready")
        require_kind(kind)
        shots, moments, order = self._shots(kind), *self._moments()
        self._cancelled = False
        self._see(True)
        self._tell(0, len(order), 0.0)

        def work() -> None:
            problem: Exception | None = None
            try:
                content = filmed(kind, len(order), _drawer(shots, moments, order), self._watch(len(order)))
                page.client.send_file_download(name, content, save_immediately=True)
            except VideoCancelled:
                pass
            except Exception as error:
                problem = error
            if not page.closed:
                self._see(False)
                if problem is not None:
                    page.fail(problem)

        self._thread = threading.Thread(target=work, daemon=True, name=f"film of page {page.client.client_id}")
        self._thread.start()

    # --- what is seen ---

    def _shots(self, kind: str) -> Shots:
        page = self._page
        assert page.film is not None
        assert page.ground is not None
        factors = {"deflections": page.view.magnify, "sections": page.view.thicken}
        title = [page.film.system.robot.name, *(f"{name} x {each:g}" for name, each in factors.items() if each != 1)]
        words = page.view.words if page.shape is None else None
        return Shots(
            ViewCamera.of(page.client.camera, LARGEST[kind]), page.ground, page.view.way, words, ", ".join(title)
        )

    def _now(self) -> Moment:
        page = self._page
        assert page.film is not None
        if page.shape is not None:
            return page.view.still_of(page.film, page.shape.posture(time.monotonic())), page.modes.chosen
        return self._moment(page.film.index(page.line.time))

    def _moment(self, k: int) -> Moment:
        film = self._page.film
        assert film is not None
        return self._page.view.still(film, k, playing=True), f"t = {film.times[k]:.3f} s"

    def _moments(self) -> tuple[list[Moment], list[int]]:
        """All that will be seen, and in which order: the run at the page's speed, or a period of a shape."""
        page = self._page
        assert page.film is not None
        if page.shape is not None:
            times = np.arange(int(PERIOD * FPS)) / FPS
            shown = [page.view.still_of(page.film, page.shape.posture(each)) for each in times]
            return [(each, page.modes.chosen) for each in shown], list(range(len(times)))
        from flexarm.plotting.animate import require_frames  # with matplotlib, for which no page should wait

        begin, end = float(page.film.times[0]), float(page.film.times[-1])
        require_frames(end - begin, FPS, page.line.speed)
        step = page.line.speed / FPS
        times = np.append(np.arange(begin, end - 1e-6 * step, step), end)
        frames, order = np.unique([page.film.index(each) for each in times], return_inverse=True)
        return [self._moment(int(k)) for k in frames], order.tolist()

    # --- how far it is ---

    def _watch(self, count: int) -> Callable[[int], None]:
        begin = last = time.monotonic()

        def told(done: int) -> None:
            nonlocal last
            now = time.monotonic()
            if self._cancelled or self._page.closed:
                raise VideoCancelled
            if now - last > SELDOM:
                last = now
                self._tell(done, count, done / (now - begin))

        return told

    def _tell(self, done: int, count: int, pace: float) -> None:
        self._done.value = 100.0 * done / count
        self._said.content = box(f"film: {done} of {count} frames, {format_time_left(count - done, pace)}")

    def _see(self, visible: bool) -> None:
        for handle in (self._done, self._said, self._cancel):
            handle.visible = visible


def _drawer(shots: Shots, moments: list[Moment], order: list[int]) -> Any:
    """Images by their number in the film; one that stays is drawn once."""
    last: tuple[int, Any] = (-1, None)

    def image(k: int) -> Any:
        nonlocal last
        if order[k] != last[0]:
            last = order[k], shots.image(*moments[order[k]])
        return last[1]

    return image
