"""Work of one thread, job after job, and frames between them while something moves.

What the studio's own script tells a page: files that were dropped on it, points of maps that were clicked.
"""

from __future__ import annotations

import json
import queue
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from flexarm.foundation.messages import shown
from flexarm.studio.files import too_large
from flexarm.studio.server import LARGEST

if TYPE_CHECKING:
    from flexarm.studio.page import Page


FRAME = 0.04  # s between frames while something moves


class Jobs(ABC):
    """Jobs are left from any thread; `start` begins with them, `close` ends them."""

    def __init__(self, name: str) -> None:
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._closed = False
        self._thread = threading.Thread(target=self._work, daemon=True, name=name)

    @property
    @abstractmethod
    def moving(self) -> bool:
        """Whether frames are wanted."""

    @abstractmethod
    def move(self, seconds: float) -> None:
        """The next frame, so much later than the last."""

    @abstractmethod
    def trouble(self, error: Exception) -> None:
        """What a job raised."""

    def start(self) -> None:
        self._thread.start()

    @property
    def closed(self) -> bool:
        return self._closed

    def do(self, job: Callable[[], None]) -> None:
        """Leave a job; what it raises is shown."""
        self._jobs.put(job)

    def fail(self, error: Exception) -> None:
        """Show what went wrong in another thread."""

        def failed() -> None:
            raise error

        self.do(failed)

    def close(self) -> None:
        self._closed = True
        self._jobs.put(None)

    def join(self, timeout: float) -> None:
        """Until the job is done that there was when it was closed."""
        self._thread.join(timeout)

    def wait(self, timeout: float = 60.0) -> None:
        """Until all jobs that are there now are done."""
        done = threading.Event()
        self.do(done.set)
        if not done.wait(timeout):
            raise TimeoutError(f"the page is still at work after {timeout:g} s")

    def _work(self) -> None:
        last = time.monotonic()
        while not self._closed:
            moving = self.moving
            try:
                job = self._jobs.get(timeout=FRAME if moving else None)
            except queue.Empty:
                job = None
            if job is not None:
                self._guarded(job)
            now = time.monotonic()
            if moving and not self._closed and now - last >= FRAME / 2:
                self._guarded(partial(self.move, now - last))
            if not moving or now - last >= FRAME / 2:
                last = now

    def _guarded(self, job: Callable[[], None]) -> None:
        try:
            job()
        except Exception as error:
            if not self._closed:
                self.trouble(error)


MARK = '<i data-studio="{}"></i>'  # stands before what `page.js` looks for and hides
LONGEST = 2000  # characters of what is told


class BrowserEvents:
    """Elements of a page that nobody sees: the script puts into them what happened."""

    def __init__(self, page: Page) -> None:
        self._page, gui = page, page.client.gui
        gui.add_html(MARK.format("told"))
        words = gui.add_text("told by the page", "")
        gui.add_html(MARK.format("dropped"))
        dropped = gui.add_upload_button("dropped on the page", mime_type=".yaml,.yml,.nc")

        async def heard(event: Any) -> None:
            if event.client is not None:
                text = str(event.target.value)
                page.want(lambda: self.hear(text))

        async def uploaded(event: Any) -> None:
            file = event.target.value
            page.want(lambda: page.files.take(file.name, file.content))

        words.on_update(heard)
        dropped.on_upload(uploaded)

    def hear(self, text: str) -> None:
        """One thing that happened; what is no such thing is nobody's."""
        try:
            said = json.loads(text[:LONGEST])
            kind = said["kind"]
            if kind == "map":
                x, y = float(said["x"]), float(said["y"])
            elif kind == "large":
                name, size = str(said["name"]), int(said["size"])
            elif kind == "several":
                count = int(said["count"])
            else:
                return
        except (ValueError, TypeError, KeyError):
            return
        self._page.forget()
        if kind == "map":
            self._page.sweeps.clicked(x, y)
        elif kind == "large" and size > LARGEST:
            raise ValueError(too_large(name, size))
        elif kind == "several":
            raise ValueError(f"{shown(count)} files were dropped: drop one at a time")
