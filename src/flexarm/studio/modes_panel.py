"""Vibration modes at the posture of the time shown, as animated shapes with frequencies and damping."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm.analysis.locked import locked_joints
from flexarm.analysis.modes import Hold, ModeSet, modes
from flexarm.foundation.numbers import Array
from flexarm.mechanics.system import System
from flexarm.studio.film import Film

if TYPE_CHECKING:
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


def posture(system: System, film: Film, time: float) -> dict[str, float]:
    """The joints at a time, links straight."""
    q = film.q(film.index(time))
    return {each.name: float(q[each.index]) for each in system.coordinates if each.kind == "joint"}


def shape_of(film: Film, found: ModeSet, mode: int) -> Shape:
    """A mode, so large that it is seen."""
    shape = found.shapes[:, mode].real
    small = SMALL * shape / np.abs(shape / found.system.sizes).max()
    moved = np.linalg.norm(film.posture(found.q + small) - film.posture(found.q), axis=-1).max()
    return Shape(found.q, small * LARGE * sum(film.lengths) / max(float(moved), 1e-12))
