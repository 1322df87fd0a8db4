"""Panels of linear models at the posture of the current time.

Vibration modes with animation, frequencies and damping; frequency response, poles and zeros of an input and an output.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm.analysis.linear import linearize
from flexarm.analysis.modes import Hold, ModeSet, locked_joints, modes
from flexarm.dynamics.system import System
from flexarm.foundation.validation import Array
from flexarm.studio.curves import default_output, describe_outputs, output_driven_by
from flexarm.studio.mesh_frames import MeshFrames
from flexarm.studio.panels.widgets import on_click, on_input, render_figure

if TYPE_CHECKING:
    from flexarm.studio.compute import Result
    from flexarm.studio.page import Page


NO_MODE = "none: show the run"
FREE, LOCKED = "free", "locked"
MAX_MODE_COUNT = 12
MODE_AMPLITUDE = 0.12  # relative to the robot
MODE_PERIOD_S = 2.0  # on the screen, for all frequencies
TRIAL_AMPLITUDE = 1e-4
REST_TOLERANCE = 1e-7  # relative to the highest frequency; lower ones of free loops are rounding errors


@dataclass(frozen=True)
class ModeAnimation:
    """An animated mode: postures q + sin(phase) step."""

    q: Array
    step: Array

    def posture(self, seconds: float) -> Array:
        return np.asarray(self.q + np.sin(2 * np.pi * seconds / MODE_PERIOD_S) * self.step)


class ModesPanel:
    """The fields of vibration modes."""

    def __init__(self, page: Page) -> None:
        self._page, gui = page, page.client.gui
        self._modes: ModeSet | None = None
        self._listed: list[int] = []
        self._joints = gui.add_dropdown("joints", (FREE, LOCKED), initial_value=LOCKED)
        self._compute = gui.add_button("Modes at the posture shown")
        self._choice = gui.add_dropdown("animate", (NO_MODE,), initial_value=NO_MODE)
        self._table = gui.add_markdown("")

        on_click(lambda: page.act(self.compute), self._compute)
        on_input(lambda: page.act(self.compute), self._joints)
        on_input(lambda: page.act(self.choose), self._choice)

    @property
    def chosen_name(self) -> str:
        """The label of the animated mode."""
        return str(self._choice.value)

    def clear(self) -> None:
        """Remove the modes of the previous run."""
        if self._modes is not None:
            self._modes, self._page.shape = None, None
            self._choice.options = (NO_MODE,)
            self._choice.value = NO_MODE
            self._table.content = ""

    def show_run(self) -> None:
        """Stop the animation and show the run."""
        self._page.shape = None
        self._choice.value = NO_MODE

    def compute(self) -> None:
        """Compute and list the modes at the current time, and animate the first."""
        page = self._page
        system, posture = posture_shown(page)
        holds = locked_joints(system, posture) if self._joints.value == LOCKED else dict[str, Hold]()
        self._modes = found = modes(system, q=posture, joints=holds)
        lowest = REST_TOLERANCE * float(found.frequencies.max(initial=0.0))
        vibrating = (k for k in range(len(found)) if not found.rigid[k] and found.frequencies[k] > lowest)
        self._listed = list(islice(vibrating, MAX_MODE_COUNT))
        rows = [(n, found.frequencies[k], 100 * found.damping_ratios[k]) for n, k in enumerate(self._listed, 1)]
        self._choice.options = (NO_MODE, *(f"mode {n}: {hertz:.4g} Hz" for n, hertz, _ in rows))
        self._choice.value = self._choice.options[1] if rows else NO_MODE
        unstable = sum(kind == "unstable" for kind in found.kinds)
        lines = [f"At the posture of {page.timeline.time:.4g} s, {_describe_joints(holds)}:", ""]
        if rows:
            lines += ["| mode | Hz | damping % |", "|---|---|---|"]
            lines += [f"| {n} | {hertz:.4g} | {ratio:.3g} |" for n, hertz, ratio in rows]
        if unstable:
            lines += ["", f"{unstable} of the modes do not vibrate but grow: the robot is unstable in this posture."]
        elif not rows:
            lines.append("There are no vibration modes: links and drives are rigid.")
        self._table.content = "\n".join(lines)
        self.choose()

    def choose(self) -> None:
        """Animate the chosen mode."""
        page, chosen = self._page, str(self._choice.value)
        if self._modes is None or chosen == NO_MODE:
            page.shape = None
            page.show()
            return
        number = list(self._choice.options).index(chosen) - 1
        page.shape = animate_mode(page.shown, self._modes, self._listed[number])


def _describe_joints(holds: Mapping[str, Hold]) -> str:
    """Return a sentence about locked joints; closed loops leave only some joints to be locked."""
    free = [link for link, hold in holds.items() if hold == FREE]
    if not holds or not free:
        return f"joints {LOCKED if holds else FREE}"
    locked = [f"`{link}`" for link in holds if link not in free]
    names = [f"`{link}`" for link in free]
    return f"{', '.join(locked) or 'no joint'} locked, and {', '.join(names)} free because of the loops"


def posture_shown(page: Page) -> tuple[System, dict[str, float]]:
    """Return the robot and its joint coordinates at the time shown by name, with straight links."""
    system, q = page.shown.system, page.shown.q(page.shown.index(page.timeline.time))
    return system, {each.name: float(q[each.index]) for each in system.coordinates if each.kind == "joint"}


def animate_mode(frames: MeshFrames, found: ModeSet, mode: int) -> ModeAnimation:
    """Return the animation of a mode with a visible amplitude."""
    shape = found.shapes[:, mode].real
    small = TRIAL_AMPLITUDE * shape / np.abs(shape / found.system.sizes).max()
    moved = np.linalg.norm(np.diff(frames.mesh.corners(np.stack([found.q, found.q + small])), axis=0), axis=-1).max()
    return ModeAnimation(found.q, small * MODE_AMPLITUDE * frames.mesh.size / max(float(moved), 1e-12))


FIGURE_SIZE_INCH = (4.4, 4.2)
TEST_FREQUENCIES_HZ = (0.1, 1.0, 10.0)  # an output without response at these is rejected


class ResponsePanel:
    """The fields of frequency responses."""

    def __init__(self, page: Page) -> None:
        self._page, self._gui = page, page.client.gui
        self._input = self._gui.add_dropdown("input", ("-",), initial_value="-")
        self._output = self._gui.add_text("output", "tip.y")
        self._is_typed, self._default_output = False, ""
        self._compute = self._gui.add_button("Response at the posture shown")
        self._text = self._gui.add_markdown("")
        self._folder = self._gui.add_folder(None)
        self._drawn: list[Any] = []

        on_click(lambda: page.act(self.compute), self._compute)
        on_input(self._on_output, self._output)

    def _on_output(self) -> None:
        self._is_typed = bool(str(self._output.value).strip())

    def offer(self, result: Result) -> None:
        """Show the inputs and the default output of another run."""
        names = result.system.inputs or ("-",)
        if tuple(self._input.options) != names:
            self._input.options = names
            self._input.value = names[0]
            self._is_typed = False
        self._default_output = default_output(result.run)
        if not self._is_typed:
            self._output.value = self._default_output
        self._text.content = describe_outputs(result.system, self._default_output)

    def clear(self) -> None:
        """Remove the responses of the previous run."""
        for each in self._drawn:
            each.remove()
        self._drawn = []

    def compute(self) -> None:
        """Compute and show the response at the current time."""
        page = self._page
        system, posture = posture_shown(page)
        if not system.inputs:
            raise ValueError("response: no joint of this robot has an actuator")
        given = str(self._input.value)
        if not self._is_typed:
            self._output.value = output_driven_by(system, posture, given) or self._default_output
        output = str(self._output.value).strip()
        model = linearize(system, q=posture, inputs=[given], outputs=[output])
        if not np.abs(model.frf(TEST_FREQUENCIES_HZ)).max(initial=0.0) > 0:
            raise ValueError(
                f"response: {given!r} does not move {output!r} in this posture; choose another input or output"
            )
        figures = [render_figure(figure, FIGURE_SIZE_INCH) for figure in (model.bode(), model.pole_zero_map())]
        self.clear()
        with self._folder:
            self._drawn = [self._gui.add_markdown(f"At the posture of {page.timeline.time:.4g} s:")]
            self._drawn += [self._gui.add_image(image) for image in figures]
