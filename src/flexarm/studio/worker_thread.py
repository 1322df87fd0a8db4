"""The thread of a page, which runs jobs and draws frames in between, and events of the page's own script."""

from __future__ import annotations

import contextlib
import json
import queue
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from flexarm.studio.files import oversize_message

if TYPE_CHECKING:
    from flexarm.studio.page import Page


FRAME_INTERVAL_S = 0.04  # while something moves


class JobThread(ABC):
    """A thread that runs jobs submitted by any thread; `start` begins with them, `close` ends them."""

    def __init__(self, name: str) -> None:
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self.closed = False
        self._thread = threading.Thread(target=self._work, daemon=True, name=name)

    @property
    @abstractmethod
    def is_moving(self) -> bool:
        """True if frames are to be drawn."""

    @abstractmethod
    def draw_next_frame(self, seconds: float) -> None:
        """Draw the frame that follows the last one after that time (s)."""

    @abstractmethod
    def report_failure(self, error: Exception) -> None:
        """Report an error that a job raised."""

    def start(self) -> None:
        self._thread.start()

    def submit(self, job: Callable[[], None]) -> None:
        """Submit a job; its errors are reported."""
        self._jobs.put(job)

    def close(self) -> None:
        self.closed = True
        self._jobs.put(None)

    def join(self, timeout: float) -> None:
        """Wait for the job that was running when the thread was closed."""
        self._thread.join(timeout)

    def wait(self, timeout: float = 60.0) -> None:
        """Wait until all jobs submitted so far are done."""
        done = threading.Event()
        self.submit(done.set)
        if not done.wait(timeout):
            raise TimeoutError(f"the page is still at work after {timeout:g} s")

    def _work(self) -> None:
        last = time.monotonic()
        while not self.closed:
            moving = self.is_moving
            with contextlib.suppress(queue.Empty):
                job = self._jobs.get(timeout=FRAME_INTERVAL_S if moving else None)
                if job is not None:
                    self._run_job(job)
            elapsed = time.monotonic() - last
            if not moving or elapsed >= FRAME_INTERVAL_S / 2:
                last += elapsed
                if moving and not self.closed:
                    self._run_job(partial(self.draw_next_frame, elapsed))

    def _run_job(self, job: Callable[[], None]) -> None:
        try:
            job()
        except Exception as error:
            if not self.closed:
                self.report_failure(error)


MARKER = '<i data-studio="{}"></i>'  # precedes elements that `page.js` finds and hides
MAX_EVENT_LENGTH = 2000  # characters


class BrowserEvents:
    """Hidden elements of a page into which the script `page.js` writes events: dropped files, clicks in maps."""

    def __init__(self, page: Page) -> None:
        self._page, gui = page, page.client.gui
        gui.add_html(MARKER.format("event"))
        events = gui.add_text("page event", "")
        gui.add_html(MARKER.format("dropped"))
        dropped = gui.add_upload_button("dropped file", mime_type=".yaml,.yml,.nc")

        async def received(event: Any) -> None:
            if event.client is not None:
                text = str(event.target.value)
                page.submit_run(lambda: self.handle(text))

        async def uploaded(event: Any) -> None:
            file = event.target.value
            page.submit_run(lambda: page.files.receive(file.name, file.content))

        events.on_update(received)
        dropped.on_upload(uploaded)

    def handle(self, text: str) -> None:
        """Handle one event; malformed ones are ignored."""
        try:
            event = json.loads(text[:MAX_EVENT_LENGTH])
            if event["kind"] == "map":
                x, y = float(event["x"]), float(event["y"])
            elif event["kind"] == "large":
                message = oversize_message(str(event["name"]), int(event["size"]))
            else:
                message = f"{int(event['count'])} files were dropped: drop one at a time"
        except (ValueError, TypeError, KeyError):
            return
        if event["kind"] != "map":
            raise ValueError(message)
        self._page.sweeps.click(x, y)
