"""A robot that is integrated by itself: its integration, and what is recorded of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from flexarm.foundation.interrupts import Interrupts, Status
from flexarm.foundation.validation import Array
from flexarm.integrators.group_inputs import GroupInputs
from flexarm.integrators.inputs import Schedule
from flexarm.integrators.lanes import Lanes
from flexarm.integrators.step_size import StepSize
from flexarm.integrators.stepper import ScalarStepper
from flexarm.results.step_history import Recorder
from flexarm.simulation.controller_samples import ControllerSamples
from flexarm.simulation.events import Event, EventDetector
from flexarm.simulation.integration import Integration
from flexarm.simulation.members import Ending, SingleMember
from flexarm.simulation.run_checks import Contacts


class Listener(Protocol):
    """Receives the progress of a run."""

    def update(self, t: float) -> None: ...


class RunObserver:
    """Records the nodes of members. (`Observer`.)"""

    def __init__(self, recorders: Sequence[Recorder], lanes: Lanes, listeners: Sequence[Listener] = ()) -> None:
        self._recorders, self._lanes, self._listeners = recorders, lanes, listeners
        self._running = np.ones(lanes.members, dtype=bool)

    def begin(self, states: Array) -> None:
        for member in np.flatnonzero(self._running).tolist():
            self._recorders[member].start(self._lanes.of(states, member))

    def begin_stretch(self, t: float) -> None:
        """Do nothing: accelerations that were restarted are those of the first node."""

    def count(self, group: int, control: Any, excess: int) -> None:
        for member in self._lanes.members_of(group):
            self._recorders[member].statistics.count(control, int(control["steps"]) + excess)

    def accept(self, group: int, times: Array, path: Array, events: Mapping[int, Event], jumped: bool) -> None:
        for member in self._lanes.members_of(group):
            if self._running[member]:
                end = events[member].time if member in events else float(times[-1])
                self._recorders[member].record(times, path[..., self._lanes.place(member)[1]], end, jumped)
                for each in self._listeners:
                    each.update(end)

    def end(self, member: int) -> None:
        self._running[member] = False


class SingleRun:
    """Integration of one robot. `recorder` has its nodes and samples; `reason` and `status` describe how it ended."""

    def __init__(
        self,
        schedule: Schedule,
        stepper: ScalarStepper,
        size: StepSize,
        events: EventDetector,
        recorder: Recorder,
        interrupts: Interrupts,
        longest: float = np.inf,
    ) -> None:
        self.schedule, self.stepper, self.size, self.events = schedule, stepper, size, events
        self.recorder, self.interrupts, self.longest = recorder, interrupts, longest
        self.system, self.layout = schedule.system, stepper.plant.layout
        self.t = 0.0
        self.reason: str = "completed"
        self.status: Status = "completed"

    def run(self, q: Array, v: Array, duration: float, *listeners: Listener) -> None:
        """Integrate from t = 0 to the duration; raise ValueError if the run cannot start."""
        stepper, contacts = self.stepper, Contacts(self.system, self.stepper.report)
        stepper.states[0, :, 0] = self.layout.at_rest(q, v, self.schedule.law_start)
        inputs = GroupInputs([self.schedule], stepper.plant, stepper.lanes)
        samples = self._controller_samples(inputs, contacts, duration)
        loop = Integration(
            SingleMember(self.system, self.events),
            stepper,
            inputs,
            self.size,
            RunObserver([self.recorder], stepper.lanes, listeners),
            self.interrupts.check,
            contacts if contacts.any else None,
            samples,
            self.longest,
        )
        if samples is not None:
            samples.set_steps(self.size, self._restart_of(loop))
        try:
            loop.run(duration)
            ending = loop.states.ending_of(0)
        except BaseException as error:
            is_interrupt = isinstance(error, KeyboardInterrupt) or self.interrupts.pressed
            if not (is_interrupt and self.recorder.blocks):
                raise
            self.interrupted()
            ending = Ending(*self.recorder.latest, self.reason, self.status)
        if not ending.has_begun:
            raise ValueError(ending.reason) from loop.cause
        if samples is not None:
            samples.drop_after(ending.time)
        self.t, self.reason, self.status = ending.time, ending.reason, ending.status
        self.recorder.finish(ending.time, ending.state)
        self.recorder.statistics.loop_time = stepper.loop_time

    def interrupted(self) -> None:
        """Set the reason and the status of a run that was interrupted."""
        self.reason, self.status = f"interrupted at t = {self.recorder.latest[0]:.6g} s", "interrupted"

    def _controller_samples(self, inputs: GroupInputs, contacts: Contacts, duration: float) -> ControllerSamples | None:
        """Return the samples of the digital controller, if there is one."""
        if self.schedule.controller is None:
            return None
        may_be_inside = self.size.fixed is not None or not contacts.any
        parts = self.schedule, inputs, self.stepper, self.recorder.commands, duration
        return ControllerSamples(*parts, may_be_inside, self.events)

    def _restart_of(self, loop: Integration) -> Any:
        """Return the function that restarts a state after a sample between stops; None if the plant has one."""
        plant = self.stepper.plant
        solver = plant.constraint_solver
        if not (plant.driven or (solver is not None and solver.projects)):
            return None

        def restart(t: float, state: Array, size: float) -> Array:
            u, failures = loop.inputs.at(t)
            if u is None:
                raise failures[0]
            return loop.restart(state[None, :, None], u, np.array([size]))[0, :, 0]

        return restart
