"""The time that a page shows: play, pause, scrub, speed, loop. It knows no clock; it is told how much time passed.

Play, pause, scrub, speed and loop, as they stand in the page.

How a page shows its run: deflections magnified, colours with a legend, another run as a ghost, trace and arrows.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm.foundation.validation import Array
from flexarm.results.run import Run
from flexarm.studio.compute import Result
from flexarm.studio.control import OFF
from flexarm.studio.mesh_frames import COLOURINGS, UNITS, MeshFrames, legend, legend_words
from flexarm.studio.scene import Arrows, Still

if TYPE_CHECKING:
    from flexarm.studio.page import Page


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


NONE, TWIN, PLAIN, ALL = RESERVED = "none", "rigid twin", "without control", "all that are kept"


class ViewPanel:
    """The handles of a page's view, and the drawing that follows from them."""

    def __init__(self, page: Page) -> None:
        self._page, gui = page, page.client.gui
        self._ghosts: dict[str, MeshFrames] = {}
        self._pushes: Arrows | None = None
        self._colours = NONE
        self.way: Array | None = None  # of the tip, if it is shown
        self.words: tuple[str, str, str] | None = None  # of the legend, if there is one
        self._magnify = gui.add_slider("deflection x", 0.0, 50.0, 0.5, 1.0)
        self._thicken = gui.add_slider("sections x", 0.5, 50.0, 0.5, 1.0)
        self._colouring = gui.add_dropdown("colour links by", COLOURINGS, initial_value=NONE)
        self._legend = gui.add_html("", visible=False)
        self._beside = gui.add_dropdown("ghost", (NONE, TWIN, PLAIN), initial_value=NONE)
        self._trace = gui.add_checkbox("trace of the tip", True)
        self._arrows = gui.add_checkbox("torques and loads", False)

        async def again(event: Any) -> None:
            if event.client is not None:
                page.do(page.redraw)

        for handle in (self._magnify, self._thicken, self._colouring, self._beside, self._trace, self._arrows):
            handle.on_update(again)

    @property
    def magnify(self) -> float:
        return float(self._magnify.value)

    @property
    def thicken(self) -> float:
        return float(self._thicken.value)

    def thicken_to(self, factor: float) -> None:
        """So that thin links are seen; the slider says how much."""
        self._thicken.max = max(50.0, 2 * factor)
        self._thicken.value = factor

    def offer(self, kept: list[str]) -> None:
        """Runs that can be shown as a ghost."""
        chosen, options = str(self._beside.value), (NONE, TWIN, PLAIN, *kept, *([ALL] if len(kept) > 1 else []))
        self._beside.options = options
        self._beside.value = chosen if chosen in options else NONE

    def renamed(self, before: str, name: str, kept: list[str]) -> None:
        """A run that is kept has another name."""
        chosen = self._beside.value == before
        self.offer(kept)
        if chosen:
            self._beside.value = name

    def beside_control(self) -> None:
        """The run without control is the ghost from now on, or no longer."""
        self._beside.value = NONE if self._beside.value == PLAIN else PLAIN

    def changed(self, film: MeshFrames) -> list[Exception]:
        """Another film. Returns what could not be; the rest is there."""
        problems: list[Exception] = []
        self._pushes = Arrows(film.system, film.run, self.magnify) if self._arrows.value else None
        self._colours, self.words, self._ghosts = NONE, None, {}
        try:
            self._colour(film, str(self._colouring.value))
        except Exception as error:
            problems.append(error)
        self._legend.visible = self._colours != NONE
        try:
            for name, other in self.others().items():
                self._ghosts[name] = MeshFrames(other.system, other.run, self.magnify, self.thicken)
        except Exception as error:
            problems.append(error)
        return problems

    def trace(self, film: MeshFrames) -> None:
        """The way of the tip, if it is wanted."""
        self.way = film.way if self._trace.value else None
        self._page.scene.trace(self.way)

    def _colour(self, film: MeshFrames, colouring: str) -> None:
        if colouring != NONE:
            largest = float(film.values(colouring).max(initial=0.0))
            self.words = legend_words(colouring, UNITS[colouring], largest)
            self._legend.content = legend(self.words)
        self._colours = colouring

    @property
    def ghost_runs(self) -> dict[str, Run]:
        """The runs that are shown as ghosts, by what plots call them."""
        return {name: film.run for name, film in self._ghosts.items()}

    def others(self) -> dict[str, Result]:
        """The runs to compare with."""
        name, page = str(self._beside.value), self._page
        if name in (TWIN, PLAIN):
            if page.case is None:
                raise ValueError("ghost: a recorded run has no simulation that could be computed again")
            plain = page.case if name == TWIN else replace(page.case, control=OFF)
            return {name: page.compute(plain, rigid=name == TWIN)}
        if name == ALL:
            return dict(page.kept)
        return {name: page.kept[name]} if name in page.kept else {}

    def draw(self, film: MeshFrames, k: int, playing: bool) -> None:
        """Frame k of a film, all in one piece."""
        still = self.still(film, k, playing)
        with self._page.client.atomic():
            self._page.scene.show(still)

    def posture(self, film: MeshFrames, q: Array) -> None:
        """A posture that is none of the run's."""
        with self._page.client.atomic():
            self._page.scene.show(self.still_of(film, q))

    def still(self, film: MeshFrames, k: int, playing: bool) -> Still:
        """What is seen of frame k."""
        points = film.points(k) if playing else film.alone(k)
        pushes = {} if self._pushes is None else {"arrows": self._pushes.at(int(film.samples[k]))}
        ghosts = self._still_ghosts(float(film.times[k]), playing)
        return Still(points, film.faces, film.colours(k, self._colours), ghosts, size=sum(film.lengths), **pushes)

    def still_of(self, film: MeshFrames, q: Array) -> Still:
        """What is seen of a posture that is none of the run's: plain colours, no arrows; ghosts stay where they are."""
        return Still(film.posture(q), film.faces, film.colours(0), self._still_ghosts(self._page.line.time, False))

    def _still_ghosts(self, time: float, playing: bool) -> tuple[Any, Any] | None:
        """All ghosts in one piece; each stands at its end once it is there."""
        points, faces, count = [], [], 0
        for ghost in self._ghosts.values():
            k = ghost.index(time)
            points.append(ghost.points(k) if playing else ghost.alone(k))
            faces.append(ghost.faces + count)
            count += len(points[-1])
        return (np.concatenate(points), np.concatenate(faces)) if points else None
