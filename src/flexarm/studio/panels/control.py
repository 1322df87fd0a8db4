"""Panel of shapers and controllers, their gains, and the set points of joints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from flexarm.control.per_joint import usual_gains
from flexarm.dynamics.system import System
from flexarm.foundation.messages import format_number
from flexarm.studio.compute import compare_deflections
from flexarm.studio.control import FEEDBACKS, NO_CONTROL, NO_FEEDBACK, SHAPERS, Control, start_posture
from flexarm.studio.panels.view import UNCONTROLLED_GHOST
from flexarm.studio.panels.widgets import (
    add_number_box,
    format_gain,
    on_click,
    on_input,
    parse_gain,
    parse_number,
)

if TYPE_CHECKING:
    from flexarm.robot import Robot
    from flexarm.studio.page import Page

EXPLANATION = (
    "Joints move to their set points, follow their motions, or hold their start positions; torques of all controllers "
    "add up. Switching feedback on sets gains for this robot; other gains or another bandwidth can be typed."
)
DESIGN_HINT = "keep shapers and controllers as designed for the present robot while parameters change"
COMPARE_HINT = "show or hide the run without control as a ghost, in plots as well (View, ghost)"
BANDWIDTH_HINT = "of each joint alone; default: half of the lowest frequency with joints locked. Gains follow from it"
TRAVEL_HINT = "time to reach a set point, along a minimum-jerk motion; 0: a step (always for lqr)"
GOAL_HINT = "set point of this joint; empty: it follows its motion, or holds its start position"
GAIN_FIELDS = {  # label, hint
    "kp": ("kp", "N m/rad or N/m, for computed torque 1/s2; one for all, or by link: upper: 20, fore: 5"),
    "ki": ("ki", "for pid: N m/(rad s) or N/(m s)"),
    "kd": ("kd", "N m s/rad or N s/m; for computed torque 1/s"),
    "weight": ("lqr weight", "weight of the squares of joint errors (rad or m)"),
    "effort": ("lqr effort", "weight of the squares of torques and forces (N m or N)"),
    "strain_gain": ("strain gain", "gain of the moment of the bent link at its joint, no unit"),
    "strain_rate": ("strain rate (s)", "gain of the rate of that moment"),
}
STRAIN_GAINS = ("strain_gain", "strain_rate")
GAINS_OF_FEEDBACK = {
    "none": (),
    "pd": ("kp", "kd"),
    "pid": ("kp", "ki", "kd"),
    "computed torque": ("kp", "kd"),
    "lqr": ("weight", "effort"),
}


class ControlPanel:
    """The fields of a page's control."""

    def __init__(self, page: Page) -> None:
        gui, default = page.client.gui, NO_CONTROL
        self._page, self._plant = page, default.plant
        self._shaper = gui.add_dropdown("shaper", SHAPERS, initial_value=default.shaper)
        self._feedback = gui.add_dropdown("feedback", FEEDBACKS, initial_value=default.feedback)
        self._gravity = gui.add_checkbox("+ gravity", default.gravity)
        self._strain = gui.add_checkbox("+ strain", default.strain)
        self._compare_button = gui.add_button("Compare with the run without", hint=COMPARE_HINT)
        self._comparison = gui.add_markdown("", visible=False)
        self._folder = gui.add_folder("set point")
        self._goals: dict[str, Any] = {}
        with self._folder:
            self._travel_time = add_number_box(gui, "within (s)", default.travel_time, TRAVEL_HINT)
        self._bandwidth = gui.add_text("bandwidth (Hz)", "", hint=BANDWIDTH_HINT)
        self._bandwidth_typed = False  # False if it is the default
        self._gains = {
            name: gui.add_text(label, format_gain(getattr(default, name)), hint=hint)
            for name, (label, hint) in GAIN_FIELDS.items()
        }
        self._design_fixed = gui.add_checkbox("design stays", False, hint=DESIGN_HINT)
        gui.add_markdown(EXPLANATION)
        self._show_fields(default)

        def switch(back: bool, suit: bool = False) -> Callable[[], None]:
            return lambda: page.submit_run(lambda: self._switch(back, suit))

        on_input(switch(back=True, suit=True), self._feedback, self._strain)
        on_input(switch(back=True), self._shaper, self._gravity, self._design_fixed)
        on_input(switch(back=False), *self._gains.values(), self._travel_time)
        on_input(self._on_bandwidth, self._bandwidth)
        on_click(lambda: page.act(self._compare), self._compare_button)

    def _on_bandwidth(self) -> None:
        self._bandwidth_typed = bool(str(self._bandwidth.value).strip())
        self._page.submit_run(lambda: self._switch(back=False, suit=True))

    def _apply_goals(self) -> None:
        self._switch(back=False)
        if self._feedback.value == "none" and any(str(each.value).strip() for each in self._goals.values()):
            raise ValueError(NO_FEEDBACK)

    def _switch(self, back: bool, suit: bool = False) -> None:
        """Apply the control of the panel, with gains computed for the robot if `suit`.

        An invalid control is taken `back`, or reported until it is corrected: a typed text may be incomplete.
        """
        page = self._page
        try:
            control = self._with_suitable_gains(self.value) if suit and page.case is not None else self.value
            page.set_control(control)
            self._show_fields(control)
            if suit:
                self._show_numbers(control)
        except Exception as error:
            if back:
                self.show(NO_CONTROL if page.case is None else page.case.control)
            else:
                page.control_error = error
            raise

    def _with_suitable_gains(self, control: Control) -> Control:
        """Return a control with default gains for the posture at the start of the run."""
        page = self._page
        if not control.has_feedback or page.case is None:
            return control
        system = System(control.plant or page.case.robot, native=False)
        bandwidth = parse_number(self._bandwidth.value, "bandwidth") if self._bandwidth_typed else None
        usual = usual_gains(system, start_posture(system, page.case.arguments_without_control(system)), bandwidth)
        if not self._bandwidth_typed:
            self._bandwidth.value = format_number(usual.bandwidth)
        kp, kd = (usual.kp_law, usual.kd_law) if control.feedback == "computed torque" else (usual.kp, usual.kd)
        return replace(control, kp=kp, kd=kd, ki=usual.ki, weight=1.0, effort=usual.effort)

    def _compare(self) -> None:
        self._page.view.toggle_ghost(UNCONTROLLED_GHOST)

    def update(self) -> None:
        """Show the deflections with and without control, if the run without control is a ghost."""
        page = self._page
        without = page.view.ghost_runs.get(UNCONTROLLED_GHOST)
        text = "" if without is None else compare_deflections(page.shown.run, without)
        if text or self._comparison.visible:
            self._comparison.content, self._comparison.visible = text, bool(text)

    @property
    def value(self) -> Control:
        """The control that the fields describe."""
        goals = {link: str(handle.value).strip() for link, handle in self._goals.items()}
        goals = {} if self._feedback.value == "none" else goals  # set points need feedback
        gains: dict[str, Any] = {
            name: parse_gain(handle.value, GAIN_FIELDS[name][0]) for name, handle in self._gains.items()
        }
        return Control(
            shaper=str(self._shaper.value),
            feedback=str(self._feedback.value),
            gravity=bool(self._gravity.value),
            strain=bool(self._strain.value),
            plant=self._design_robot(),
            goals={link: parse_number(text, f"set point of {link}") for link, text in goals.items() if text},
            travel_time=parse_number(self._travel_time.value, "within"),
            **gains,
        )

    def _design_robot(self) -> Robot | None:
        """Return the robot for which controllers are designed; None for the simulated one."""
        if not self._design_fixed.value:
            self._plant = None
        elif self._plant is None and self._page.case is not None:
            self._plant = self._page.case.robot
        return self._plant

    def show(self, control: Control) -> None:
        self._shaper.value, self._feedback.value = control.shaper, control.feedback
        self._gravity.value, self._strain.value = control.gravity, control.strain
        self._show_numbers(control)
        self._show_fields(control)
        self._plant = control.plant
        self._design_fixed.value = control.plant is not None
        for link, handle in self._goals.items() if control.feedback != "none" else ():
            handle.value = format_number(control.goals[link]) if link in control.goals else ""

    def clear_goals(self) -> None:
        """Clear set points that have no feedback."""
        if self._feedback.value == "none":
            for handle in self._goals.values():
                handle.value = ""

    def offer(self, system: System | None) -> None:
        """Show the set points of another robot."""
        inputs = [] if system is None else zip(system.actuators, system.input_units, strict=True)
        units = {each.link: "rad" if unit == "N m" else "m" for each, unit in inputs}
        for handle in self._goals.values():
            handle.remove()
        self._bandwidth.value, self._bandwidth_typed = "", False
        self._folder.visible = bool(units)
        with self._folder:
            add_text = self._page.client.gui.add_text
            self._goals = {link: add_text(f"{link} ({unit})", "", hint=GOAL_HINT) for link, unit in units.items()}
        on_input(lambda: self._page.submit_run(self._apply_goals), *self._goals.values())

    def _show_fields(self, control: Control) -> None:
        """Show the gains that a control uses."""
        used = (*GAINS_OF_FEEDBACK[control.feedback], *(STRAIN_GAINS if control.strain else ()))
        for name, handle in self._gains.items():
            handle.visible = name in used
        self._bandwidth.visible = control.feedback != "none" or control.strain

    def _show_numbers(self, control: Control) -> None:
        for name, handle in self._gains.items():
            handle.value = format_gain(getattr(control, name))
        self._travel_time.value = format_number(control.travel_time)
