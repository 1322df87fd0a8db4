"""How commands end: exit codes, and a polite end on SIGTERM."""

from __future__ import annotations

import signal
from types import FrameType

FAILED = 1
INTERRUPTED = 128 + signal.SIGINT  # what a shell expects after Ctrl-C
TERMINATED = 128 + signal.SIGTERM

# Words of the reasons for which a run ends as its model says; whatever else ends one early is a failure.
PLANNED = ("completed", " reached ", " met the joint ")


def exit_code(reason: str) -> int:
    """0 for a run that ended as its model says: at its end, at a joint's limit, by a condition."""
    if reason.startswith("interrupted"):
        return INTERRUPTED
    return 0 if any(words in reason for words in PLANNED) else FAILED


class Termination:
    """SIGTERM as Ctrl-C: a run keeps what it has, a command writes it. `asked` tells the two apart afterwards."""

    def __init__(self) -> None:
        self.asked = False

    def listen(self) -> None:
        signal.signal(signal.SIGTERM, self._end)

    def _end(self, number: int, frame: FrameType | None) -> None:
        self.asked = True
        raise KeyboardInterrupt
