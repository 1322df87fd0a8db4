"""Panels of time and view: playback, magnified deflections, colours with a legend, ghosts, trace and arrows."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm.foundation.validation import Array
from flexarm.results.run import Run
from flexarm.studio.compute import Result
from flexarm.studio.control import NO_CONTROL
from flexarm.studio.mesh_frames import COLOURING_UNITS, COLOURINGS, MeshFrames, legend_html, legend_labels
from flexarm.studio.panels.widgets import on_click, on_input
from flexarm.studio.scene import Arrows, ViewState

if TYPE_CHECKING:
    from flexarm.studio.page import Page


SPEEDS = {"1/20": 0.05, "1/10": 0.1, "1/4": 0.25, "1/2": 0.5, "1": 1.0, "2": 2.0, "5": 5.0}


@dataclass
class TimeLine:
    """A time (s) between 0 and an end, advanced by its caller.

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
        """Advance by an elapsed real time (s), if playing."""
        if not self.playing or self.end <= 0:
            return
        self.time += self.speed * seconds
        if self.time >= self.end:
            if self.loop:
                self.time %= self.end
            else:
                self.time, self.playing = self.end, False

    def toggle(self) -> None:
        """Play or pause; restart if it is at the end."""
        self.playing = not self.playing
        if self.playing and not self.loop and self.time >= self.end:
            self.time = 0.0

    def seek(self, time: float) -> None:
        self.time = min(max(time, 0.0), self.end)


SLIDER_INTERVAL_S = 0.1  # while playing


class TimePanel:
    """The fields of playback."""

    def __init__(self, page: Page) -> None:
        self._page, line, gui = page, page.timeline, page.client.gui
        self._updated_at = 0.0
        self._play = gui.add_button("Play")
        self._slider = gui.add_slider("time (s)", 0.0, 1.0, 1e-4, 0.0)
        self._speed = gui.add_dropdown("speed", tuple(SPEEDS), initial_value="1")
        self._loop = gui.add_checkbox("loop", True)

        async def speed_changed(event: Any) -> None:
            line.speed, line.loop = SPEEDS[self._speed.value], bool(self._loop.value)

        on_click(lambda: page.submit(lambda: self._show_run(line.toggle)), self._play)
        on_input(lambda: page.submit(lambda: self._show_run(lambda: line.seek(self._slider.value))), self._slider)
        self._speed.on_update(speed_changed)
        self._loop.on_update(speed_changed)

    def update_range(self) -> None:
        """Adapt the slider to the end of another run."""
        end = self._page.timeline.end
        if self._slider.max != end and end > 0:
            self._slider.step = end / 2000
            self._slider.max = end
        self.show()

    def show(self) -> None:
        line, now = self._page.timeline, time.monotonic()
        self._play.label = "Pause" if line.playing else "Play"
        if not line.playing or now - self._updated_at > SLIDER_INTERVAL_S:
            self._updated_at = now
            self._slider.value = min(line.time, self._slider.max)

    def _show_run(self, change: Callable[[], None]) -> None:
        """Show the run, not a mode, after a change of the time line."""
        self._page.modes.show_run()
        change()
        self._page.show()


NO_COLOURING = "none"
NO_GHOST, TWIN_GHOST, UNCONTROLLED_GHOST, ALL_GHOSTS = "none", "rigid twin", "without control", "all kept runs"
RESERVED_NAMES = (NO_GHOST, TWIN_GHOST, UNCONTROLLED_GHOST, ALL_GHOSTS)


class ViewPanel:
    """The fields of a page's view, and the drawing that depends on them."""

    def __init__(self, page: Page) -> None:
        self._page, gui = page, page.client.gui
        self._ghosts: dict[str, MeshFrames] = {}
        self._force_arrows: Arrows | None = None
        self._active_colouring = NO_COLOURING
        self.legend_labels: tuple[str, str, str] | None = None  # None without a legend
        self._magnify = gui.add_slider("deflection x", 0.0, 50.0, 0.5, 1.0)
        self._thicken = gui.add_slider("sections x", 0.5, 50.0, 0.5, 1.0)
        self._colouring = gui.add_dropdown("colour links by", COLOURINGS, initial_value=NO_COLOURING)
        self._legend = gui.add_html("", visible=False)
        self._ghost_choice = gui.add_dropdown("ghost", RESERVED_NAMES[:3], initial_value=NO_GHOST)
        self._trace = gui.add_checkbox("trace of the tip", True)
        self._arrows = gui.add_checkbox("torques and loads", False)

        fields = (self._magnify, self._thicken, self._colouring, self._ghost_choice, self._trace, self._arrows)
        on_input(lambda: page.act(page.redraw), *fields)

    @property
    def magnify(self) -> float:
        return float(self._magnify.value)

    @property
    def thicken(self) -> float:
        return float(self._thicken.value)

    def thicken_to(self, factor: float) -> None:
        """Set the factor on cross sections, so that thin links are visible."""
        self._thicken.max = max(50.0, 2 * factor)
        self._thicken.value = factor

    def offer(self, kept: list[str], renamed: tuple[str, str] = ("", "")) -> None:
        """Offer runs as ghosts, of which one may have been renamed."""
        chosen = str(self._ghost_choice.value)
        chosen = renamed[1] if chosen == renamed[0] else chosen
        options = (*RESERVED_NAMES[:3], *kept, *([ALL_GHOSTS] if len(kept) > 1 else []))
        self._ghost_choice.options = options
        self._ghost_choice.value = chosen if chosen in options else NO_GHOST

    def toggle_ghost(self, name: str) -> None:
        """Show or hide a ghost."""
        self._ghost_choice.value = NO_GHOST if self._ghost_choice.value == name else name
        self._page.redraw()

    def update(self, frames: MeshFrames) -> Exception | None:
        """Prepare colours, arrows and ghosts for other frames; return the error of what cannot be shown."""
        problem: Exception | None = None
        self._force_arrows = Arrows(frames.system, frames.run, self.magnify) if self._arrows.value else None
        self._active_colouring, self.legend_labels, self._ghosts = NO_COLOURING, None, {}
        for prepare in (self._colour, self._compare):
            try:
                prepare(frames)
            except Exception as error:
                problem = problem or error
        self._legend.visible = self._active_colouring != NO_COLOURING
        return problem

    def update_trace(self, frames: MeshFrames) -> None:
        """Show or hide the path of the tip."""
        self._page.scene.set_trace(frames.tip_path if self._trace.value else None)

    def _colour(self, frames: MeshFrames) -> None:
        colouring = str(self._colouring.value)
        if colouring != NO_COLOURING:
            largest = float(frames.values(colouring).max(initial=0.0))
            self.legend_labels = legend_labels(colouring, COLOURING_UNITS[colouring], largest)
            self._legend.content = legend_html(self.legend_labels)
        self._active_colouring = colouring

    def _compare(self, frames: MeshFrames) -> None:
        for name, other in self._compared_runs().items():
            self._ghosts[name] = MeshFrames(other.system, other.run, self.magnify, self.thicken)

    @property
    def ghost_runs(self) -> dict[str, Run]:
        """The runs shown as ghosts, by their names in plots."""
        return {name: frames.run for name, frames in self._ghosts.items()}

    def _compared_runs(self) -> dict[str, Result]:
        """Return the runs to compare with, by name."""
        name, page = str(self._ghost_choice.value), self._page
        if name in (TWIN_GHOST, UNCONTROLLED_GHOST):
            if page.case is None:
                raise ValueError("ghost: a recorded run cannot be computed again")
            case = page.case if name == TWIN_GHOST else replace(page.case, control=NO_CONTROL)
            return {name: page.compute(case, rigid=name == TWIN_GHOST)}
        if name == ALL_GHOSTS:
            return dict(page.kept)
        return {name: page.kept[name]} if name in page.kept else {}

    def view_state(self, frames: MeshFrames, k: int, playing: bool) -> ViewState:
        """Return the content of the view at frame k."""
        arrows = None if self._force_arrows is None else self._force_arrows.at(int(frames.samples[k]))
        ghosts = self._ghost_state(float(frames.times[k]), playing)
        colours, mesh = frames.colours(k, self._active_colouring), frames.mesh
        return ViewState(frames.points(k, playing), mesh.faces, colours, ghosts, arrows, mesh.size)

    def posture_state(self, frames: MeshFrames, q: Array) -> ViewState:
        """Return the content of the view in another posture: base colours, no arrows, ghosts unchanged."""
        mesh, ghosts = frames.mesh, self._ghost_state(self._page.timeline.time, False)
        return ViewState(mesh.corners(q[None])[0], mesh.faces, mesh.base_colours, ghosts)

    def _ghost_state(self, time: float, playing: bool) -> tuple[Any, Any] | None:
        """Return all ghosts as one mesh; each stays at its end after its run."""
        points, faces, count = [], [], 0
        for ghost in self._ghosts.values():
            points.append(ghost.points(ghost.index(time), playing))
            faces.append(ghost.mesh.faces + count)
            count += len(points[-1])
        return (np.concatenate(points), np.concatenate(faces)) if points else None
