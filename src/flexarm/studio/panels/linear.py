"""Vibration modes at the posture of the time shown, as animated shapes with frequencies and damping.

Frequency response and map of poles and zeros of a chosen input and output, at the posture of the time shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm.analysis.linear import linearize
from flexarm.analysis.modes import Hold, ModeSet, locked_joints, modes
from flexarm.dynamics.system import System
from flexarm.foundation.validation import Array
from flexarm.studio.curves import output_words, pushed_output, usual_output
from flexarm.studio.mesh_frames import MeshFrames
from flexarm.studio.panels.widgets import image_of

if TYPE_CHECKING:
    from flexarm.studio.compute import Result
    from flexarm.studio.page import Page


NOTHING = "none: show the run"
FREE, LOCKED = "free", "locked"
MOST = 12  # modes that are listed
LARGE = 0.12  # of the robot: how far a shape goes
PERIOD = 2.0  # s on the screen, whatever the frequency is
SMALL = 1e-4
STILL = 1e-7  # of the highest frequency: below, a loop that turns freely is told from rest by rounding alone


@dataclass(frozen=True)
class Shape:
    """A mode that is animated: postures q + sin(phase) step."""

    q: Array
    step: Array

    def posture(self, seconds: float) -> Array:
        return np.asarray(self.q + np.sin(2 * np.pi * seconds / PERIOD) * self.step)


class ModesPanel:
    """The handles of a page's modes."""

    def __init__(self, page: Page) -> None:
        self._page, gui = page, page.client.gui
        self._found: ModeSet | None = None
        self._listed: list[int] = []
        self._joints = gui.add_dropdown("joints", (FREE, LOCKED), initial_value=LOCKED)
        self._compute = gui.add_button("Modes at the posture shown")
        self._choice = gui.add_dropdown("animate", (NOTHING,), initial_value=NOTHING)
        self._table = gui.add_markdown("")

        async def asked(event: Any) -> None:
            page.do(self.compute)

        async def chosen(event: Any) -> None:
            if event.client is not None:
                page.do(self.choose)

        self._compute.on_click(asked)
        self._choice.on_update(chosen)
        self._joints.on_update(asked)

    @property
    def chosen(self) -> str:
        """What is animated, in words."""
        return str(self._choice.value)

    def clear(self) -> None:
        """Another run: its modes are others."""
        if self._found is not None:
            self._found, self._page.shape = None, None
            self._choice.options = (NOTHING,)
            self._choice.value = NOTHING
            self._table.content = ""

    def rest(self) -> None:
        """Show the run again."""
        self._page.shape = None
        self._choice.value = NOTHING

    def compute(self) -> None:
        page = self._page
        if page.result is None or page.film is None:
            return
        page.forget()
        system = page.result.system
        there = posture(system, page.film, page.line.time)
        holds = locked_joints(system, there) if self._joints.value == LOCKED else dict[str, Hold]()
        self._found = found = modes(system, q=there, joints=holds)
        still = STILL * float(found.frequencies.max(initial=0.0))
        self._listed = [k for k in range(len(found)) if not found.rigid[k] and found.frequencies[k] > still][:MOST]
        rows = [(n + 1, found.frequencies[k], 100 * found.damping_ratios[k]) for n, k in enumerate(self._listed)]
        joints = f"At the posture of {page.line.time:.4g} s, {_joints(holds)}:\n\n"
        self._table.content = f"{joints}| mode | Hz | damping % |\n|---|---|---|\n" + "\n".join(
            f"| {n} | {hertz:.4g} | {ratio:.3g} |" for n, hertz, ratio in rows
        )
        self._choice.options = (NOTHING, *(f"mode {n}: {hertz:.4g} Hz" for n, hertz, _ in rows))
        self._choice.value = self._choice.options[1] if rows else NOTHING
        fallen = sum(kind == "unstable" for kind in found.kinds)
        if not rows and not fallen:
            self._table.content = f"{joints}Nothing vibrates: links and drives are rigid."
        if fallen:
            self._table.content += f"\n\n{fallen} of its motions do not vibrate: they grow (it is not stable here)."
        self.choose()

    def choose(self) -> None:
        page, chosen = self._page, str(self._choice.value)
        if self._found is None or page.film is None or chosen == NOTHING:
            page.shape = None
            page.show()
            return
        number = list(self._choice.options).index(chosen) - 1
        page.shape = shape_of(page.film, self._found, self._listed[number])


def _joints(holds: Mapping[str, Hold]) -> str:
    """Which joints are locked, in words: loops leave only some."""
    loose = [link for link, hold in holds.items() if hold == FREE]
    if not holds or not loose:
        return f"joints {LOCKED if holds else FREE}"
    locked = [f"`{link}`" for link in holds if link not in loose]
    names = [f"`{link}`" for link in loose]
    return f"{', '.join(locked) or 'no joint'} locked, and {', '.join(names)} as the loops leave them"


def posture(system: System, film: MeshFrames, time: float) -> dict[str, float]:
    """The joints at a time, links straight."""
    q = film.q(film.index(time))
    return {each.name: float(q[each.index]) for each in system.coordinates if each.kind == "joint"}


def shape_of(film: MeshFrames, found: ModeSet, mode: int) -> Shape:
    """A mode, so large that it is seen."""
    shape = found.shapes[:, mode].real
    small = SMALL * shape / np.abs(shape / found.system.sizes).max()
    moved = np.linalg.norm(film.posture(found.q + small) - film.posture(found.q), axis=-1).max()
    return Shape(found.q, small * LARGE * sum(film.lengths) / max(float(moved), 1e-12))


SIZE = (4.4, 4.2)  # inches
FREQUENCIES = (0.1, 1.0, 10.0)  # Hz, at which an output must move at all


class ResponsePanel:
    """The handles of a page's linear model."""

    def __init__(self, page: Page) -> None:
        self._page, self._gui = page, page.client.gui
        self._input = self._gui.add_dropdown("input", ("-",), initial_value="-")
        self._output = self._gui.add_text("output", "tip.y")
        self._typed = False
        self._compute = self._gui.add_button("Response at the posture shown")
        self._said = self._gui.add_markdown("")
        self._place = self._gui.add_folder(None)
        self._drawn: list[Any] = []

        async def asked(event: Any) -> None:
            page.do(self.compute)

        async def typed(event: Any) -> None:
            if event.client is not None:
                self._typed = bool(str(event.target.value).strip())

        self._compute.on_click(asked)
        self._output.on_update(typed)

    def offer(self, result: Result) -> None:
        """Inputs and outputs of another run, perhaps of another robot."""
        names = result.system.inputs or ("-",)
        if tuple(self._input.options) != names:
            self._input.options = names
            self._input.value = names[0]
            self._typed = False
        usual = usual_output(result.run)
        if not self._typed and self._output.value != usual:
            self._output.value = usual
        words = output_words(result.system, usual)
        if self._said.content != words:
            self._said.content = words

    def clear(self) -> None:
        """Another run: its response is another."""
        for each in self._drawn:
            each.remove()
        self._drawn = []

    def compute(self) -> None:
        page = self._page
        if page.result is None or page.film is None:
            return
        page.forget()
        system = page.result.system
        if not system.inputs:
            raise ValueError("response: no joint of this robot has an actuator")
        there = posture(system, page.film, page.line.time)
        given = str(self._input.value)
        if not self._typed:
            self._output.value = pushed_output(system, there, given) or usual_output(page.result.run)
        output = str(self._output.value).strip()
        model = linearize(system, q=there, inputs=[given], outputs=[output])
        if not np.abs(model.frf(FREQUENCIES)).max(initial=0.0) > 0:
            raise ValueError(f"response: {given!r} does not move {output!r} in this posture; choose another of both")
        figures = [image_of(figure, SIZE) for figure in (model.bode(), model.pole_zero_map())]
        self.clear()
        with self._place:
            self._drawn = [self._gui.add_markdown(f"At the posture of {page.line.time:.4g} s:")]
            self._drawn += [self._gui.add_image(image) for image in figures]
