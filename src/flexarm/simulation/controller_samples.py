"""Samples of a digital controller: at breakpoints and, where possible, inside the integration loop."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from flexarm.codegen.driver import NO_LIMIT
from flexarm.codegen.sampler import SampledDriver
from flexarm.feedback.actuators import HeldTorques
from flexarm.feedback.digital_law import Commands, DigitalLaw, require_finite
from flexarm.feedback.linear_sampler import LinearSampler
from flexarm.feedback.measurements import Instant
from flexarm.feedback.outputs import state_values
from flexarm.foundation.interrupts import StopRun, failure_reason
from flexarm.foundation.validation import Array
from flexarm.integrators.group_inputs import GroupInputs
from flexarm.integrators.inputs import EQUAL_TIMES, Schedule
from flexarm.integrators.state import Layout
from flexarm.integrators.step_runner import CompiledStepper
from flexarm.integrators.step_size import AFTER_JUMP, FIRST_STEP, StepSize
from flexarm.integrators.stepper import ScalarStepper
from flexarm.simulation.events import EventDetector

KICK_SHARE = 0.1  # of the accelerations: a jump by more starts vibrations that need short steps
FAST_RATE_HZ = 100.0  # beyond this the steps between samples are short enough
LIMIT_MARGIN = 1e-3  # of what is large for a coordinate: so near is a limit,
LIMIT_PERIODS = 4.0  # and within its motion in so many periods


class ControllerSamples:
    """The samples of one run.

    Parameters
    ----------
    schedule : Schedule
        With a digital controller.
    inputs : GroupInputs
        Of the run; their torques are held.
    stepper : ScalarStepper
        That takes the steps.
    commands : list
        Times and torques of all samples; those that are taken are appended.
    duration : float
        Of the run (s).
    may_be_inside : bool
        False if every sample must be a breakpoint.
    watch : EventDetector
        What may end the run between two calls of a controller that is called: it is not called after that.

    Attributes
    ----------
    sampler : SampledDriver or None
        The loop that takes samples between breakpoints, if there is one.
    """

    def __init__(
        self,
        schedule: Schedule,
        inputs: GroupInputs,
        stepper: ScalarStepper,
        commands: Commands,
        duration: float,
        may_be_inside: bool,
        watch: EventDetector,
    ) -> None:
        assert schedule.controller is not None
        self.controller, self.commands, self._inputs = schedule.controller, commands, inputs
        self.quickest, self.are_fast = schedule.controller.quickest, schedule.controller.rate > FAST_RATE_HZ
        self._schedule, self._layout, self._linear = schedule, stepper.plant.layout, False
        self.sampler: SampledDriver | None = None
        if not may_be_inside or self.controller.has_kinks:
            return
        rate = self.controller.rate
        if not isinstance(stepper, CompiledStepper):
            return
        self.sampler = sampler = stepper.sample_inside(self.controller.lags, rate, EQUAL_TIMES * duration)
        if sampler is None:
            return
        sampler.on_sample = self._on_sample
        if isinstance(self.controller, DigitalLaw) and stepper.is_compiled:
            form = LinearSampler.of(self.controller, int(np.floor(duration * rate)) + 2)
            if form is not None:
                sampler.set_linear(form.counts, form.arrays)
                self.controller.looked |= form.looked
                self._linear = True
        self._asks = isinstance(self.controller, DigitalLaw) and not self._linear
        sampler.control.most_samples = 1 if self._asks and watch.conditions else NO_LIMIT
        bounds = {place: travel for place, (travel, _) in watch.limits.items()}
        bounds |= {place: (0.0, length) for place, (_, length) in watch.ends.items()}
        self._places = np.array(list(bounds), dtype=int)
        self._bounds = np.array(list(bounds.values())).reshape(-1, 2).T
        self._margins = LIMIT_MARGIN * stepper.sizes[0, self._places, 0]

    def is_due(self, t: float) -> bool:
        """Return True if there is a sample at time t (s) that was not taken."""
        return len(self.commands) <= int(np.floor(t * self.controller.rate + 1e-9))

    def take(self, t: float, state: Array, accelerations: Callable[[], list[Array]]) -> None:
        """Take the sample at time t (s); `accelerations` are those before the first command."""
        at = self._layout
        parts = [state[part].copy() for part in (at.q, at.v, at.a, at.forces)]
        if self._linear:
            assert self.sampler is not None
            if not self.sampler.sample(t, np.concatenate(parts[:2])):
                raise self.failure(t)
            held = self._held_now(t)
        else:
            if not self.commands:
                parts[2], *forces = accelerations()
                parts[3:] = forces or parts[3:]
            held = self._ask(self._schedule.instant(t, *parts))
        self.commands.append((t, held))
        self._inputs.held = held

    def resume(self) -> None:
        """Begin a stretch after a breakpoint, whose sample was taken if there was one."""
        if self.sampler is not None:
            self.sampler.control.next, self.sampler.control.is_fresh = len(self.commands), False

    def keep(self) -> None:
        """Keep the torques of the samples that the compiled loop took."""
        if not self._linear or self.sampler is None:
            return
        held = self.sampler.held[: self.sampler.control.samples].copy()
        lag, slew = self.controller.lags, np.full(held.shape[2], np.inf)
        times = self.sampler.held_times[: len(held)].tolist()
        torques = zip(times, held[:, 0], held[:, 1], strict=True)
        self.commands += [(t, HeldTorques(t, start, target, lag, slew)) for t, start, target in torques]
        if self.commands:
            self._inputs.held = self.commands[-1][1]

    @property
    def are_inside(self) -> bool:
        """True if samples are taken between stops."""
        return self.sampler is not None

    def instruct(self, t: float, stop: float, most_rows: int) -> None:
        """Set where the steps from t end (s), and the most nodes that they and samples may make."""
        if self.sampler is not None:
            self.sampler.control.most_rows, self.sampler.control.final = most_rows, stop
            self.sampler.driver.control.stop = self.sampler.first_stop(t, stop)

    def set_steps(self, size: StepSize, restart: Callable[[float, Array, float], Array] | None) -> None:
        """Set how steps go on after samples between stops; `restart` restarts states where the plant's start is not
        enough."""
        if self.sampler is None:
            return
        control = self.sampler.control
        control.kick = 0.0 if size.fixed is not None or self.are_fast else KICK_SHARE
        control.shortening, control.size = AFTER_JUMP, size.first
        control.first_size = FIRST_STEP * min(1.0, size.duration)
        if restart is not None:
            self.sampler.set_restart(restart)

    def drop_after(self, t: float) -> None:
        """Forget samples after the end of a run (s)."""
        while self.commands and self.commands[-1][0] > t:
            self.commands.pop()

    def failure(self, t: float) -> BaseException:
        """Return why the last sample failed, at time t."""
        assert self.sampler is not None
        if self.sampler.failure is not None:
            return self.sampler.failure
        assert isinstance(self.controller, DigitalLaw)
        try:
            require_finite(self.sampler.array("commands"), self.controller.system)
            assert self.controller.own is not None
            state_values(self.controller.own.like(self.sampler.array("next_states")), self.controller.own)
        except ValueError as error:
            return _ending(t, error)
        raise AssertionError("a sample failed for no reason")

    def _is_near_a_limit(self, state: Array) -> bool:
        """Return True if a joint may come to the end of its travel before the next sample."""
        if not len(self._places):
            return False
        q, v = state[self._layout.q][self._places], state[self._layout.v][self._places]
        margin = self._margins + LIMIT_PERIODS / self.controller.rate * np.abs(v)
        return bool((q - margin < self._bounds[0]).any() or (q + margin > self._bounds[1]).any())

    def _on_sample(self, t: float, state: Array) -> HeldTorques | None:
        """Take a sample inside the loop; None if it must first be checked that the run has not ended."""
        assert self.sampler is not None
        if self._asks and self.sampler.control.samples and self._is_near_a_limit(state):
            return None
        if self._linear:
            held = self._held_now(t)  # for inputs that are called
        else:
            at: Layout = self._layout
            held = self._ask(self._schedule.instant(t, state[at.q], state[at.v], state[at.a], state[at.forces]))
            self.commands.append((t, held))
        self._inputs.held = held
        return held

    def _ask(self, at: Instant) -> HeldTorques:
        try:
            return self.controller(at)
        except Exception as error:
            raise _ending(at.t, error) from error

    def _held_now(self, t: float) -> HeldTorques:
        assert self.sampler is not None
        start, target = self.sampler.start.copy(), self.sampler.target.copy()
        return HeldTorques(t, start, target, self.controller.lags, np.full(len(target), np.inf))


def _ending(t: float, error: Exception) -> StopRun:
    return StopRun(failure_reason("the feedback law", t, error))
