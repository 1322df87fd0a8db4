"""Play, pause, scrub, speed and loop, as they stand in the page."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from flexarm.studio.time_line import SPEEDS

if TYPE_CHECKING:
    from flexarm.studio.page import Page

SELDOM = 0.1  # s: how often the slider follows while it plays


class TimePanel:
    """The handles of a page's time line."""

    def __init__(self, page: Page) -> None:
        self._page, gui = page, page.client.gui
        self._told = 0.0
        self._play = gui.add_button("Play")
        self._slider = gui.add_slider("time (s)", 0.0, 1.0, 1e-4, 0.0)
        self._speed = gui.add_dropdown("speed", tuple(SPEEDS), initial_value="1")
        self._loop = gui.add_checkbox("loop", True)

        async def toggled(event: Any) -> None:
            if event.client is not None:
                page.do(self._toggle)

        async def scrubbed(event: Any) -> None:
            if event.client is not None:
                value = float(event.target.value)
                page.do(lambda: self._scrub(value))

        async def paced(event: Any) -> None:
            page.line.speed, page.line.loop = SPEEDS[self._speed.value], bool(self._loop.value)

        self._play.on_click(toggled)
        self._slider.on_update(scrubbed)
        self._speed.on_update(paced)
        self._loop.on_update(paced)

    def stretch(self) -> None:
        """Another run has another end."""
        end = self._page.line.end
        if self._slider.max != end and end > 0:
            self._slider.step = end / 2000
            self._slider.max = end
        self.show()

    def show(self) -> None:
        line, now = self._page.line, time.monotonic()
        self._play.label = "Pause" if line.playing else "Play"
        if not line.playing or now - self._told > SELDOM:
            self._told = now
            self._slider.value = min(line.time, self._slider.max)

    def _toggle(self) -> None:
        self._page.modes.rest()
        self._page.line.toggle()
        self._page.show()

    def _scrub(self, value: float) -> None:
        self._page.modes.rest()
        self._page.line.seek(value)
        self._page.show()
