"""Shapers and controllers, switched on and off."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flexarm.studio.control import FEEDBACKS, SHAPERS, Control

if TYPE_CHECKING:
    from flexarm.robot import Robot
    from flexarm.studio.page import Page

WORDS = (
    "Joints follow their motions, or stay where they start; torques are added, and all that is on adds up. "
    "The ghost *without control* compares, and so do runs that are kept (Files)."
)
NUMBERS = {  # label, and what an arrow key adds
    "kp": ("kp (N m/rad, N/m; 1/s2 of computed torque)", 1.0),
    "kd": ("kd (N m s/rad, N s/m; 1/s of computed torque)", 0.1),
    "ki": ("ki of pid (N m/(rad s))", 0.5),
    "weight": ("weight of joints in lqr", 10.0),
    "strain_gain": ("gain of strain", 0.1),
    "strain_rate": ("gain of its rate (s)", 0.01),
}


class ControlPanel:
    """The handles of a page's control."""

    def __init__(self, page: Page) -> None:
        gui, usual = page.client.gui, Control()
        self._page, self._plant = page, usual.plant
        self._shaper = gui.add_dropdown("shaper", SHAPERS, initial_value=usual.shaper)
        self._feedback = gui.add_dropdown("feedback", FEEDBACKS, initial_value=usual.feedback)
        self._gravity = gui.add_checkbox("+ gravity", usual.gravity)
        self._strain = gui.add_checkbox("+ strain feedback", usual.strain)
        self._numbers = {
            name: gui.add_number(label, getattr(usual, name), step=step) for name, (label, step) in NUMBERS.items()
        }
        self._held = gui.add_checkbox("design stays while knobs turn", False)
        for gain in self._numbers.values():
            gain.precision = 9
        gui.add_markdown(WORDS)

        async def switched(event: Any) -> None:
            if event.client is not None:
                page.do(lambda: page.control(self.value))

        for handle in (self._shaper, self._feedback, self._gravity, self._strain, self._held, *self._numbers.values()):
            handle.on_update(switched)

    @property
    def value(self) -> Control:
        return Control(
            shaper=str(self._shaper.value),
            feedback=str(self._feedback.value),
            gravity=bool(self._gravity.value),
            strain=bool(self._strain.value),
            plant=self._design(),
            **{name: float(handle.value) for name, handle in self._numbers.items()},
        )

    def _design(self) -> Robot | None:
        """The robot for which all is designed from now on; None: the one that is simulated."""
        if not self._held.value:
            self._plant = None
        elif self._plant is None and self._page.case is not None:
            self._plant = self._page.case.robot
        return self._plant

    def show(self, control: Control) -> None:
        self._shaper.value, self._feedback.value = control.shaper, control.feedback
        self._gravity.value, self._strain.value = control.gravity, control.strain
        for name, handle in self._numbers.items():
            handle.value = getattr(control, name)
        self._plant = control.plant
        self._held.value = control.plant is not None
