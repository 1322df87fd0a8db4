"""Work of one thread, job after job, and frames between them while something moves."""

from __future__ import annotations

import queue
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial

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
