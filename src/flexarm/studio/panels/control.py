"""Shapers and controllers, switched on and off; gains that suit the robot, and where its joints are to go."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from flexarm.control.per_joint import usual_gains
from flexarm.dynamics.system import System
from flexarm.studio.compute import worth
from flexarm.studio.control import FEEDBACKS, NO_FEEDBACK, SHAPERS, Control, beginning
from flexarm.studio.panels.view import PLAIN
from flexarm.studio.panels.widgets import add_number_box, gain_in, gain_text, number_in, written

if TYPE_CHECKING:
    from flexarm.robot import Robot
    from flexarm.studio.page import Page

WORDS = (
    "Joints go to their set points, follow their motions, or stay where they start; torques are added, and all that is "
    "on adds up. Gains are those of the robot when feedback is switched on; type others, or another bandwidth."
)
STAYS = "shapers and controllers stay those of this robot while knobs turn"
BESIDE = "shows the run without control as a ghost, in plots as well, or no longer (View, ghost)"
BANDWIDTH = "of each joint alone; half of the lowest vibration with joints locked unless typed. Other gains follow"
WITHIN = "time to a set point, with the least jerk; 0: at once (as lqr does in any case)"
GOAL = "where this joint is to go; empty: it follows its motion, or stays where it starts"
GAINS = {  # label, and what it is
    "kp": ("kp", "N m/rad or N/m, of computed torque 1/s2; one for all, or by link: upper: 20, fore: 5"),
    "kd": ("kd", "N m s/rad or N s/m; of computed torque 1/s"),
    "ki": ("ki", "of pid: N m/(rad s) or N/(m s)"),
    "weight": ("lqr weight", "of the squares of where joints are (rad or m)"),
    "effort": ("lqr effort", "weight of the squares of torques and forces (N m or N)"),
}
NUMBERS = {
    "strain_gain": ("strain gain", "of the moment that the bent link puts on its joint, no unit"),
    "strain_rate": ("strain rate (s)", "gain of that moment's rate"),
}
USED = {  # by feedback, which gains it has
    "none": (),
    "pd": ("kp", "kd"),
    "pid": ("kp", "kd", "ki"),
    "computed torque": ("kp", "kd"),
    "lqr": ("weight", "effort"),
}


class ControlPanel:
    """The handles of a page's control."""

    def __init__(self, page: Page) -> None:
        gui, usual = page.client.gui, Control()
        self._page, self._gui, self._plant = page, gui, usual.plant
        self._shaper = gui.add_dropdown("shaper", SHAPERS, initial_value=usual.shaper)
        self._feedback = gui.add_dropdown("feedback", FEEDBACKS, initial_value=usual.feedback)
        self._gravity = gui.add_checkbox("+ gravity", usual.gravity)
        self._strain = gui.add_checkbox("+ strain", usual.strain)
        self._beside = gui.add_button("Compare with the run without", hint=BESIDE)
        self._worth = gui.add_markdown("", visible=False)
        self._place = gui.add_folder("set point")
        self._goals: dict[str, Any] = {}
        with self._place:
            self._within = add_number_box(gui, "within (s)", usual.travel, WITHIN)
        self._bandwidth = gui.add_text("bandwidth (Hz)", "", hint=BANDWIDTH)
        self._wide = False  # whether the bandwidth is somebody's
        self._gains = {
            name: gui.add_text(label, gain_text(getattr(usual, name)), hint=hint)
            for name, (label, hint) in GAINS.items()
        }
        self._numbers = {
            name: add_number_box(gui, label, getattr(usual, name), hint) for name, (label, hint) in NUMBERS.items()
        }
        self._held = gui.add_checkbox("design stays", False, hint=STAYS)
        gui.add_markdown(WORDS)
        self._see(usual)

        async def compared(event: Any) -> None:
            page.do(self._compare)

        async def suited(event: Any) -> None:  # another kind of feedback has other gains
            if event.client is not None:
                page.want(lambda: self._switch(back=True, suit=True))

        async def wider(event: Any) -> None:
            if event.client is not None:
                self._wide = bool(str(event.target.value).strip())
                page.want(lambda: self._switch(back=False, suit=True))

        for handle in (self._feedback, self._strain):
            handle.on_update(suited)
        for handle in (self._shaper, self._gravity, self._held):
            handle.on_update(self._switched)
        for handle in (*self._gains.values(), *self._numbers.values(), self._within):
            handle.on_update(self._typed)
        self._bandwidth.on_update(wider)
        self._beside.on_click(compared)

    async def _switched(self, event: Any) -> None:
        if event.client is not None:
            self._page.want(lambda: self._switch(back=True))

    async def _typed(self, event: Any) -> None:  # what cannot be yet may be half of what is being typed, and stays
        if event.client is not None:
            self._page.want(lambda: self._switch(back=False))

    async def _aimed(self, event: Any) -> None:
        if event.client is not None:
            self._page.want(self._aim)

    def _aim(self) -> None:
        self._switch(back=False)
        if self._feedback.value == "none" and any(str(each.value).strip() for each in self._goals.values()):
            raise ValueError(NO_FEEDBACK)

    def _switch(self, back: bool, suit: bool = False) -> None:
        """The control that the panel shows, with gains that `suit` the robot; one that is refused is taken `back`, or
        said until it is another."""
        page = self._page
        try:
            control = self._suited(self.value) if suit and page.case is not None else self.value
            page.control(control)
            self._see(control)
            if suit:
                self._show_numbers(control)
        except Exception as error:
            if back and page.case is not None:
                self.show(page.case.control)
            elif back:
                self.show(Control())
            else:
                page.doubt = error
            raise

    def _suited(self, control: Control) -> Control:
        """With gains to begin with, for the posture in which the run begins."""
        page = self._page
        if not control.feeds_back or page.case is None:
            return control
        system = System(control.plant or page.case.robot, native=False)
        wide = number_in(self._bandwidth.value, "bandwidth") if self._wide else None
        usual = usual_gains(system, beginning(system, page.case.uncontrolled(system)), wide)
        if not self._wide:
            self._bandwidth.value = written(usual.bandwidth)
        model = control.feedback == "computed torque"
        return replace(
            control,
            kp=usual.kp_law if model else usual.kp,
            kd=usual.kd_law if model else usual.kd,
            ki=usual.ki,
            weight=1.0,
            effort=usual.effort,
        )

    def _compare(self) -> None:
        self._page.forget()
        self._page.view.beside_control()
        self._page.redraw()

    def changed(self) -> None:
        """Another run, or another ghost: what control is worth, while the run without it is one."""
        page = self._page
        without = page.view.ghost_runs.get(PLAIN)
        words = "" if without is None or page.result is None else worth(page.result.run, without)
        if words or self._worth.visible:
            self._worth.content, self._worth.visible = words, bool(words)

    @property
    def value(self) -> Control:
        goals = {link: str(handle.value).strip() for link, handle in self._goals.items()}
        goals = {} if self._feedback.value == "none" else goals  # they wait for one
        numbers: dict[str, Any] = {
            **{name: gain_in(handle.value, GAINS[name][0]) for name, handle in self._gains.items()},
            **{name: number_in(handle.value, NUMBERS[name][0]) for name, handle in self._numbers.items()},
        }
        return Control(
            shaper=str(self._shaper.value),
            feedback=str(self._feedback.value),
            gravity=bool(self._gravity.value),
            strain=bool(self._strain.value),
            plant=self._design(),
            goals={link: number_in(text, f"set point of {link}") for link, text in goals.items() if text},
            travel=number_in(self._within.value, "within"),
            **numbers,
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
        self._show_numbers(control)
        self._see(control)
        self._plant = control.plant
        self._held.value = control.plant is not None
        for link, handle in self._goals.items() if control.feedback != "none" else ():
            handle.value = written(control.goals[link]) if link in control.goals else ""

    def forget_goals(self) -> None:
        """Those that wait for a feedback, too."""
        if self._feedback.value == "none":
            for handle in self._goals.values():
                handle.value = ""

    def offer(self, units: dict[str, str]) -> None:
        """Another robot: by link the joints that can be driven, and units of where they go."""
        for handle in self._goals.values():
            handle.remove()
        self._bandwidth.value, self._wide = "", False
        self._place.visible = bool(units)
        with self._place:
            self._goals = {link: self._gui.add_text(f"{link} ({unit})", "", hint=GOAL) for link, unit in units.items()}
        for handle in self._goals.values():
            handle.on_update(self._aimed)

    def _see(self, control: Control) -> None:
        """The gains of what is on."""
        for name, handle in self._gains.items():
            handle.visible = name in USED[control.feedback]
        for handle in self._numbers.values():
            handle.visible = control.strain
        self._bandwidth.visible = control.feedback != "none" or control.strain

    def _show_numbers(self, control: Control) -> None:
        for name, handle in self._gains.items():
            handle.value = gain_text(getattr(control, name))
        for name, handle in self._numbers.items():
            handle.value = written(getattr(control, name))
        self._within.value = written(control.travel)
