"""Shapers and controllers, switched on and off."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flexarm.studio.control import FEEDBACKS, SHAPERS, Control
from flexarm.studio.number_box import add_number_box, number_in, written

if TYPE_CHECKING:
    from flexarm.robot import Robot
    from flexarm.studio.page import Page

WORDS = (
    "Joints follow their motions, or stay where they start; torques are added, and all that is on adds up. "
    "The ghost *without control* compares, and so do runs that are kept (Files)."
)
STAYS = "shapers and controllers stay those of this robot while knobs turn"
NUMBERS = {  # label, and what it is
    "kp": ("kp", "N m/rad or N/m; of computed torque 1/s2"),
    "kd": ("kd", "N m s/rad or N s/m; of computed torque 1/s"),
    "ki": ("ki", "of pid: N m/(rad s) or N/(m s)"),
    "weight": ("lqr weight", "of the squares of joint angles, against 1 for those of torques"),
    "strain_gain": ("strain gain", "of the moment that the bent link puts on its joint, no unit"),
    "strain_rate": ("strain rate (s)", "gain of that moment's rate"),
}


class ControlPanel:
    """The handles of a page's control."""

    def __init__(self, page: Page) -> None:
        gui, usual = page.client.gui, Control()
        self._page, self._plant = page, usual.plant
        self._shaper = gui.add_dropdown("shaper", SHAPERS, initial_value=usual.shaper)
        self._feedback = gui.add_dropdown("feedback", FEEDBACKS, initial_value=usual.feedback)
        self._gravity = gui.add_checkbox("+ gravity", usual.gravity)
        self._strain = gui.add_checkbox("+ strain", usual.strain)
        self._numbers = {
            name: add_number_box(gui, label, getattr(usual, name), hint) for name, (label, hint) in NUMBERS.items()
        }
        self._held = gui.add_checkbox("design stays", False, hint=STAYS)
        gui.add_markdown(WORDS)

        async def switched(event: Any) -> None:
            if event.client is not None:
                page.want(lambda: self._switch(back=True))

        async def typed(event: Any) -> None:  # what cannot be yet may be half of what is being typed, and stays
            if event.client is not None:
                page.want(lambda: self._switch(back=False))

        for handle in (self._shaper, self._feedback, self._gravity, self._strain, self._held):
            handle.on_update(switched)
        for handle in self._numbers.values():
            handle.on_update(typed)

    def _switch(self, back: bool) -> None:
        """The control that the panel shows; one that is refused is taken `back`, or said until it is another."""
        page = self._page
        try:
            page.control(self.value)
        except Exception as error:
            if back and page.case is not None:
                self.show(page.case.control)
            elif back:
                self.show(Control())
            else:
                page.doubt = error
            raise

    @property
    def value(self) -> Control:
        return Control(
            shaper=str(self._shaper.value),
            feedback=str(self._feedback.value),
            gravity=bool(self._gravity.value),
            strain=bool(self._strain.value),
            plant=self._design(),
            **{name: number_in(handle.value, NUMBERS[name][0]) for name, handle in self._numbers.items()},
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
            handle.value = written(getattr(control, name))
        self._plant = control.plant
        self._held.value = control.plant is not None
