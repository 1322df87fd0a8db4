"""The time that a page shows: play, pause, scrub, speed, loop. It knows no clock; it is told how much time passed."""

from __future__ import annotations

from dataclasses import dataclass

SPEEDS = {"1/20": 0.05, "1/10": 0.1, "1/4": 0.25, "1/2": 0.5, "1": 1.0, "2": 2.0, "5": 5.0}


@dataclass
class TimeLine:
    """A time (s) between 0 and an end.

    >>> line = TimeLine(end=2.0, time=1.5, playing=True)
    >>> line.advance(1.0)
    >>> line.time
    0.5
    """

    end: float = 1.0
    time: float = 0.0
    playing: bool = False
    speed: float = 1.0
    loop: bool = True

    def advance(self, seconds: float) -> None:
        """So much time passed in front of the page."""
        if not self.playing or self.end <= 0:
            return
        self.time += self.speed * seconds
        if self.time >= self.end:
            if self.loop:
                self.time %= self.end
            else:
                self.time, self.playing = self.end, False

    def toggle(self) -> None:
        """Play or pause; from the beginning if it is at the end."""
        self.playing = not self.playing
        if self.playing and not self.loop and self.time >= self.end:
            self.time = 0.0

    def seek(self, time: float) -> None:
        self.time = min(max(time, 0.0), self.end)

    def stretch(self, end: float) -> None:
        """Another run: the same time where it has one."""
        self.end = end
        self.seek(self.time)
