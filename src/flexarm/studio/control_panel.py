"""Shapers and controllers, switched on and off."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flexarm.studio.control import FEEDBACKS, SHAPERS, Control

if TYPE_CHECKING:
    from flexarm.studio.page import Page

WORDS = (
    "Joints follow their motions, or stay where they start; torques are added. The ghost *without control* compares."
)


class ControlPanel:
    """The handles of a page's control."""

    def __init__(self, page: Page) -> None:
        gui, usual = page.client.gui, Control()
        self._shaper = gui.add_dropdown("shaper", SHAPERS, initial_value=usual.shaper)
        self._feedback = gui.add_dropdown("feedback", FEEDBACKS, initial_value=usual.feedback)
        self._kp = gui.add_number("kp (N m/rad, N/m)", usual.kp, step=1.0)
        self._kd = gui.add_number("kd (N m s/rad, N s/m)", usual.kd, step=0.1)
        for gain in (self._kp, self._kd):
            gain.precision = 9
        gui.add_markdown(WORDS)

        async def switched(event: Any) -> None:
            if event.client is not None:
                page.do(lambda: page.control(self.value))

        for handle in (self._shaper, self._feedback, self._kp, self._kd):
            handle.on_update(switched)

    @property
    def value(self) -> Control:
        gains = float(self._kp.value), float(self._kd.value)
        return Control(str(self._shaper.value), str(self._feedback.value), *gains)

    def show(self, control: Control) -> None:
        self._shaper.value, self._feedback.value = control.shaper, control.feedback
        self._kp.value, self._kd.value = control.kp, control.kd
