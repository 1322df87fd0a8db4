"""How commands end: exit codes, and a polite end on SIGTERM."""

from __future__ import annotations

import signal
from types import FrameType

FAILED = 1
INTERRUPTED = 128 + signal.SIGINT  # what a shell expects after Ctrl-C
TERMINATED = 128 + signal.SIGTERM

CODES = {"completed": 0, "stopped": 0, "interrupted": INTERRUPTED, "failed": FAILED}  # by a run's status


class Termination:
    """SIGTERM as Ctrl-C: a run keeps what it has, a command writes it. `asked` tells the two apart afterwards."""

    def __init__(self) -> None:
        self.asked = False

    def listen(self) -> None:
        signal.signal(signal.SIGTERM, self._end)

    def _end(self, number: int, frame: FrameType | None) -> None:
        self.asked = True
        raise KeyboardInterrupt
