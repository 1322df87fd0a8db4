"""The integration loop: the compiled driver from breakpoint to breakpoint, and restarts, samples and events between."""

from __future__ import annotations

import time as clock
from collections.abc import Iterator
from typing import Protocol

import numpy as np

from flexarm.codegen.driver import NO_LIMIT, SMALLEST_CHANGE, DriverStatus
from flexarm.feedback.actuators import HeldTorques
from flexarm.feedback.measurements import Instant
from flexarm.foundation.interrupts import Interrupts, Status, StopRun
from flexarm.foundation.validation import Array
from flexarm.integrators.inputs import EQUAL_TIMES, Schedule
from flexarm.integrators.step_runner import Stepper
from flexarm.integrators.step_size import AFTER_JUMP, FIRST_STEP, STABILITY_FACTOR, StepSize
from flexarm.profiles.bandwidth import node_factor
from flexarm.results.step_history import Recorder, between
from flexarm.simulation.controller_samples import ControllerSamples
from flexarm.simulation.events import EventDetector
from flexarm.simulation.run_checks import MOST_STEPS, Contacts, InertiaMonitor, divergence

KICK_SHARE = 0.1  # of the accelerations: a jump by more starts vibrations that want short steps
FAST_RATE_HZ = 100.0  # Hz
CONDITION_INTERVAL = 1e-3  # of the duration: conditions are looked at so often
MIN_SPEED_JUMP = 1e-9  # of a driven joint's speed, and rad/s: what is less is rounding
FIRST_STEP_COUNT, STEP_COUNT = 16, 128  # steps of the first call of the driver; later ones take more
NEAR_POSTURE = 0.1  # rad, or lengths of a link: within this the fastest rates of a robot are much the same


class Listener(Protocol):
    """Receives the progress of a run."""

    def update(self, t: float) -> None: ...


class Integration:
    """Integration of one run. Samples go to the `recorder`; `reason` and `status` say why it ended."""

    def __init__(
        self,
        schedule: Schedule,
        stepper: Stepper,
        step_size: StepSize,
        watch: EventDetector,
        recorder: Recorder,
        interrupts: Interrupts,
        longest: float = np.inf,
    ) -> None:
        self.schedule, self.stepper, self.step_size = schedule, stepper, step_size
        self.watch, self.recorder, self.interrupts, self.longest = watch, recorder, interrupts, longest
        self.system, self.plant, self.layout = schedule.system, stepper.plant, stepper.plant.layout
        self.contacts = Contacts(schedule.system)
        self._quickest = np.inf if schedule.controller is None else schedule.controller.quickest
        self.inertia = InertiaMonitor(schedule.system, stepper)
        self.reason: str = "completed"
        self.status: Status = "completed"

    @property
    def t(self) -> float:
        return self._now[0]

    @property
    def state(self) -> Array:
        """State at time t; both change together, so that they match after an interruption."""
        return self._now[1]

    def run(self, q: Array, v: Array, duration: float, *listeners: Listener) -> None:
        """Integrate from t = 0 to the duration; raise ValueError if the run cannot start."""
        self._listeners, self.duration = listeners, duration
        self._restrained, self._stable = q, np.inf
        self._ahead = FIRST_STEP_COUNT if self.contacts.any or self.stepper.explicit else STEP_COUNT
        self._size = 0.0  # of the last step
        self._careful = np.inf  # the longest of the next steps, after some that have jumped over a contact
        self._now = 0.0, self.layout.at_rest(q, v, self.schedule.law_start)
        self._samples = self._controller_samples()
        sampler = self._sampler = None if self._samples is None else self._samples.sampler
        stops = self.schedule.stops if sampler is None else self.schedule.breakpoints
        try:
            self._listen()
            first = self._restarted(0.0)
        except StopRun as ending:  # nothing is lost yet
            raise ValueError(str(ending)) from ending.__cause__
        self.inertia.require_at_start(first)
        self.watch.require_at_start(first, self.layout)
        self.recorder.start(first)
        try:
            for stop in stops(duration):
                self._listen()
                self._jumped = True
                # Inputs at the start are known, but for a command that the controller gave since.
                self._brace(first if self.t == 0 and self._samples is None else self._restarted(0.0))
                for end in self._stretches(stop):
                    self._inputs = self.schedule.over(self.t, self._held)
                    if self._samples is not None:
                        self._samples.inputs = self._inputs
                    while self.t < end:
                        self._advance(end)
        except StopRun as ending:
            self.reason, self.status = str(ending), ending.status
        except BaseException as error:
            if not (isinstance(error, KeyboardInterrupt) or self.interrupts.pressed):
                raise
            self.interrupted()
        if self._samples is not None:
            self._samples.drop_after(self.t)
        self.recorder.finish(self.t, self.state)

    def interrupted(self) -> None:
        self.reason, self.status = f"interrupted at t = {self.t:.6g} s", "interrupted"

    def _stretches(self, stop: float) -> Iterator[float]:
        """Yield the ends of smooth parts up to a stop: the kinks of torques of actuators with limited slew."""
        kinks = () if self._held is None else self._held.kinks
        for time in kinks:
            if self.t + EQUAL_TIMES * self.duration < time < stop - EQUAL_TIMES * self.duration:
                yield time
        yield stop

    def _advance(self, stop: float) -> None:
        """Advance, at most to `stop`, by calls of the driver."""
        if not self._jumped:
            self._restrain(self.state)
        longest, self._careful = min(self.longest, self._stable, self._quickest, self._careful), np.inf
        if self.step_size.follows_inputs:
            seen, stop = self.schedule.pace.ahead(self.t, stop)
            longest = min(longest, seen * node_factor(self.stepper.nodes))
        driver, sampler = self.stepper.driver, self._sampler
        first = stop if sampler is None else sampler.first_stop(self.t, stop)
        control = self.step_size.instruct(driver, self.t, first, longest)
        most = min(self._ahead, driver.capacity)
        control.most_attempts = 1 if self._jumped and self.stepper.softens else NO_LIMIT
        control.previous = 0.0 if self._jumped else self._size
        control.was_rejected &= not self._jumped
        driver.path[0] = self._anew(control.next_size()[0]) if self._jumped else self.state
        status, taken = DriverStatus.TIME_IS_UP, 0
        while status == DriverStatus.TIME_IS_UP:  # when a driver returns to be interrupted changes no digit
            control.most_steps = most - taken
            if sampler is not None:
                sampler.control.most_rows, sampler.control.final = most - taken, stop
            status = self._drive()
            rows = self._rows
            taken += rows
            if rows:
                driver.path[0] = self.state
        self._ahead = min(2 * most, driver.capacity) if taken >= most - (sampler is not None) else most
        if np.isfinite(self._careful):
            self._ahead = FIRST_STEP_COUNT
        self.step_size.learn(control)
        if status == DriverStatus.STEP_TOO_SMALL:
            raise StopRun(self._failure())
        if not self.step_size.fixed and self.recorder.statistics.steps > MOST_STEPS:
            raise StopRun(f"gave up at t = {self.t:.6g} s after {MOST_STEPS} steps; allow a larger rtol")

    def _drive(self) -> DriverStatus:
        """Call the driver once and record its steps, except those that missed a contact."""
        driver, control, start = self.stepper.driver, self.stepper.driver.control, clock.perf_counter()
        try:
            status = self.stepper.advance(self._inputs)
        except StopRun:
            if not control.steps:
                raise
            status = DriverStatus.ENOUGH_STEPS  # it raises again at the first of the steps that follow
        self.recorder.statistics.loop_time += clock.perf_counter() - start
        if self._sampler is None:
            self.interrupts.check()  # before nodes are kept: an error of CVODES may be an interrupt
        good, rows = self._passed(), self._rows
        self.recorder.statistics.count(control, good - rows + control.steps)
        if self._samples is not None:
            self._samples.keep()
        if good:
            times, nodes = driver.times[: good + 1], driver.path[: good + 1]
            self._size = float(times[-1] - times[-2]) if good < rows else control.previous
            self._accept(times, nodes)
            self.inertia.require(self.t, nodes)
            self._jumped = False
        self._tried = driver.path[good + 1] if good < driver.capacity else driver.path[good]
        self.interrupts.check()
        if self._sampler is not None and status == DriverStatus.INPUTS_FAILED:
            assert self._samples is not None
            raise self._samples.failure(self.t)
        if good == rows:
            return status
        control.dt = self._careful = SMALLEST_CHANGE * float(driver.times[good + 1] - driver.times[good])
        return DriverStatus.STEP_TOO_SMALL if control.dt < control.smallest else DriverStatus.ENOUGH_STEPS

    @property
    def _rows(self) -> int:
        """Nodes beyond the first of the last call of the driver: its steps, and restarts at samples."""
        return int(self.stepper.driver.control.steps if self._sampler is None else self._sampler.control.rows)

    def _controller_samples(self) -> ControllerSamples | None:
        """Return the samples of the digital controller, if there is one."""
        if self.schedule.controller is None:
            return None
        may_be_inside = self.step_size.fixed or not self.contacts.any
        parts = self.schedule, self.stepper, self.recorder.commands, self.duration
        found = ControllerSamples(*parts, may_be_inside, self.watch)
        if found.sampler is not None:
            control, first = found.sampler.control, FIRST_STEP * min(1.0, self.duration)
            control.kick = 0.0 if self.step_size.fixed or found.controller.rate > FAST_RATE_HZ else KICK_SHARE
            control.shortening, control.first_size, control.size = AFTER_JUMP, first, self.step_size.dt
            solver = self.plant.constraint_solver
            if self.plant.driven or (solver is not None and solver.projects):
                found.sampler.set_restart(lambda t, state, dt: self._restart(t, state, dt, self._inputs.held))
        return found

    def _passed(self) -> int:
        """Return the number of steps of the driver before the first one that missed a contact with a stop."""
        driver, steps = self.stepper.driver, self._rows
        if not steps or self.step_size.fixed or not self.contacts.any:
            return steps
        nodes = driver.times[: steps + 1], driver.path[: steps + 1]
        missed = self.contacts.first_missed(*nodes, self.layout, self.stepper.report)
        return steps if missed is None else missed

    def _accept(self, times: Array, states: Array) -> None:
        """Record steps; end the run at the first event in them."""
        event = self.watch.first(
            times, states, self.layout, self.system.sizes, self.stepper.order, self.duration * CONDITION_INTERVAL
        )
        end = float(times[-1]) if event is None else event.time
        self.recorder.record(times, states, end, self._jumped)
        for each in self._listeners:
            each.update(end)
        if event is None:
            self._now = end, states[-1].copy()  # the driver's path is overwritten
            return
        found = between(times, states, np.array([end]), self.layout, self.recorder.order)
        self._now = end, event.settled(found[0])
        raise StopRun(event.sentence, event.status)

    def _listen(self) -> None:
        """Sample the digital controller if a sample is due."""
        if self._samples is None:
            return
        if self._samples.is_due(self.t):
            self._samples.take(self._instant())
        self._samples.resume()

    def _instant(self) -> Instant:
        at, held = self.layout, self._held
        parts = [self.state[part].copy() for part in (at.q, at.v, at.a, at.forces)]
        if held is None:  # accelerations are not known before the first command: those without torque
            parts[2], *forces = self._accelerations()
            parts[3:] = forces or parts[3:]
        return self.schedule.instant(self.t, *parts)

    def _accelerations(self) -> list[Array]:
        """Return accelerations and, with constraints, their multipliers."""
        at = self.layout
        inputs, failure = self.schedule.inputs_until_failure(np.array([self.t]))
        if failure is not None:
            raise failure
        a, _, _, *forces = self.stepper.start(self.state[at.every_q], self.state[at.every_v], inputs[0], 0.0)
        return [a[: at.n], *forces]

    @property
    def _held(self) -> HeldTorques | None:
        return self.recorder.commands[-1][1] if self.recorder.commands else None

    def _restarted(self, dt: float) -> Array:
        """Return the state with recomputed accelerations and powers, since inputs may have jumped."""
        return self._restart(self.t, self.state, dt, self._held)

    def _restart(self, t: float, state: Array, dt: float, held: HeldTorques | None) -> Array:
        """Return a state at time t with recomputed accelerations and powers, for a first step of size dt."""
        out, at, now = state.copy(), self.layout, np.array([t])
        for k, each in self.schedule.motions.items():
            out[at.q][k], out[at.v][k] = each.values(now)[0], each.values(now, 1)[0]
        inputs, failure = self.schedule.inputs_until_failure(now, held)
        if failure is not None:
            raise failure
        self._kick_by_driven(t, state, out, inputs[0])
        solver = self.plant.constraint_solver
        if solver is not None and solver.projects:  # a driven joint's speed may have jumped
            q, v, *_ = solver.settled(*(out[part] for part in at.motions), inputs[0], self.schedule.given.numbers)
            out[at.every_q], out[at.every_v] = q.full()[:, 0], v.full()[:, 0]
        a, given, drained, *forces = self.stepper.start(out[at.every_q], out[at.every_v], inputs[0], dt)
        out[at.every_a] = out[at.every_aux] = a
        out[at.given], out[at.drained] = given, drained
        if forces:
            out[at.forces] = forces[0]
        return out

    def _brace(self, here: Array) -> None:
        """Reduce the step size if a jump of the inputs changes the accelerations of the restarted state `here`.

        The steps between samples of a fast controller are short enough.
        """
        self._jump = here
        controller = self.schedule.controller
        quick = controller is not None and controller.rate > FAST_RATE_HZ and not self.schedule.jumps_at(self.t)
        if not quick and self._kicked(here):
            self.step_size.restart()
        self._restrain(here)

    def _anew(self, size: float) -> Array:
        """Return the state after a jump for a first step of this size."""
        return self._restarted(size) if self.stepper.softens else self._jump

    def _restrain(self, state: Array) -> None:
        """Bound the steps of an explicit method by stability in this posture and those near it."""
        q = state[self.layout.q]
        near = np.abs((q - self._restrained) / self.system.sizes).max(initial=0.0) < NEAR_POSTURE
        if self.step_size.fixed or not self.stepper.explicit or (near and not self._jumped):
            return
        self._restrained = q.copy()
        inputs, failure = self.schedule.inputs_until_failure(np.array([self.t]), self._held)
        if failure is None:
            self._stable = STABILITY_FACTOR * self.stepper.longest_step(state, inputs[0], self.duration)

    def _kick_by_driven(self, t: float, before: Array, state: Array, inputs: Array) -> None:
        """Change the rates of free coordinates where those of driven joints jump: M_ff dv_f + M_fd dv_d = 0."""
        at, driven, free = self.layout, self.plant.driven, self.plant.free
        jump = state[at.v][driven] - before[at.v][driven]
        if (
            not t
            or not free
            or np.abs(jump).max(initial=0.0) <= MIN_SPEED_JUMP * np.abs(state[at.v][driven]).max(initial=1.0)
        ):
            return
        old = before[at.every_v]
        pushed, still = inputs.copy(), inputs.copy()
        pushed[self.plant.input_places[5]], still[self.plant.input_places[5]] = jump, 0.0
        answers = (self.stepper.start(state[at.every_q], old, each, 0.0)[0] for each in (pushed, still))
        state[at.every_v][free] += np.subtract(*answers)[free]
        energies = [self._kinetic(state[at.every_q], v, inputs) for v in (old, state[at.every_v])]
        state[at.work] += energies[1] - energies[0]

    def _kinetic(self, q: Array, v: Array, inputs: Array) -> float:
        return float(self.stepper.report(q[None, :], v[None, :], 0 * v[None, :], inputs[None, :])[0][0, 0])

    def _kicked(self, restarted: Array) -> bool:
        """Return True if a jump of the inputs has changed the accelerations."""
        before, after = (state[self.layout.a] / self.system.sizes for state in (self.state, restarted))
        return bool(np.abs(after - before).max(initial=0.0) > KICK_SHARE * np.abs(after).max(initial=0.0))

    def _failure(self) -> str:
        """Return the reason why the integration cannot continue."""
        fell = None if self.step_size.fixed else self.step_size.dt
        tried, name = self._tried, self._failing_state()
        return divergence(self.system, self.plant, self.t, self.state, tried, fell, name)

    def _failing_state(self) -> str:
        """Return the name of the law's state with the largest error, if it exceeds those of the coordinates."""
        count, law, driver = self.layout.states, self.schedule.law, self.stepper.driver
        if law is None or not count or len(driver.errors) <= count:
            return ""
        errors = np.maximum(driver.errors, driver.left)
        errors = np.where(np.isfinite(errors), errors, np.inf)
        own = errors[-count:]
        return f"the law's state '{law.states[int(own.argmax())]}'" if own.max() > errors[:-count].max() else ""
