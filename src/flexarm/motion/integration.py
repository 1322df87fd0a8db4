"""The loop over time: the compiled driver from breakpoint to breakpoint, and what happens there."""

from __future__ import annotations

import time as clock
from collections.abc import Iterator
from typing import Protocol

import numpy as np

from flexarm.codegen.driver import NO_LIMIT, SMALLEST_CHANGE, DriverStatus
from flexarm.foundation.numbers import Array
from flexarm.motion.actuators import HeldTorques
from flexarm.motion.budget import MOST_STEPS
from flexarm.motion.contacts import Contacts
from flexarm.motion.controller_samples import ControllerSamples
from flexarm.motion.divergence import divergence
from flexarm.motion.ending import Ending, Status
from flexarm.motion.events import Watch
from flexarm.motion.inertia import InertiaWatch
from flexarm.motion.interrupts import Interrupts
from flexarm.motion.law_view import Instant
from flexarm.motion.outlook import share
from flexarm.motion.recorder import Recorder
from flexarm.motion.sampling import between
from flexarm.motion.schedule import SAME, Schedule
from flexarm.motion.step_size import AFTER_JUMP, FIRST_STEP, SAFELY, StepSize
from flexarm.motion.stepper import Stepper

KICK = 0.1  # of the accelerations: a jump by more starts vibrations that want short steps
QUICK = 100.0  # Hz
LOOK = 1e-3  # of the duration: conditions are looked at so often
JUMP = 1e-9  # of a driven joint's speed, and rad/s: what is less is rounding
FEW, MANY = 16, 128  # steps of the first call of the driver; later ones take more
NEAR = 0.1  # rad, or lengths of a link: within this the fastest rates of a robot are much the same


class Listener(Protocol):
    """Whoever wants to know how far a run is."""

    def update(self, t: float) -> None: ...


class Integration:
    """One run. Samples go to the `recorder`; `reason` and `status` tell why it ended."""

    def __init__(
        self,
        schedule: Schedule,
        stepper: Stepper,
        step_size: StepSize,
        watch: Watch,
        recorder: Recorder,
        interrupts: Interrupts,
        longest: float = np.inf,
    ) -> None:
        self.schedule, self.stepper, self.step_size = schedule, stepper, step_size
        self.watch, self.recorder, self.interrupts, self.longest = watch, recorder, interrupts, longest
        self.system, self.plant, self.layout = schedule.system, stepper.plant, stepper.plant.layout
        self.contacts = Contacts(schedule.system)
        self._quickest = np.inf if schedule.controller is None else schedule.controller.quickest
        self.inertia = InertiaWatch(schedule.system, stepper)
        self.reason: str = "completed"
        self.status: Status = "completed"

    @property
    def t(self) -> float:
        return self._now[0]

    @property
    def state(self) -> Array:
        """At time t; the two change together, so that an interruption finds them matching."""
        return self._now[1]

    def run(self, q: Array, v: Array, duration: float, *listeners: Listener) -> None:
        """From t = 0 to the duration, telling the listeners how far it is; a ValueError if it cannot even start."""
        self._listeners, self.duration = listeners, duration
        self._restrained, self._stable = q, np.inf
        self._ahead = FEW if self.contacts.any or self.stepper.explicit else MANY
        self._size = 0.0  # of the last step
        self._careful = np.inf  # the longest of the next steps, after some that have jumped over a contact
        self._now = 0.0, self.layout.at_rest(q, v, self.schedule.law_start)
        self._samples = self._controller_samples()
        sampler = self._sampler = None if self._samples is None else self._samples.sampler
        stops = self.schedule.stops if sampler is None else self.schedule.breakpoints
        try:
            self._listen()
            first = self._restarted(0.0)
        except Ending as ending:  # nothing is lost yet
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
        except Ending as ending:
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
        """Ends of what is smooth up to a stop: actuators whose torque has changed as fast as it may go on otherwise."""
        kinks = () if self._held is None else self._held.kinks
        for time in kinks:
            if self.t + SAME * self.duration < time < stop - SAME * self.duration:
                yield time
        yield stop

    def _advance(self, stop: float) -> None:
        """Take steps, at the latest until `stop`, in one call of the driver."""
        if not self._jumped:
            self._restrain(self.state)
        longest, self._careful = min(self.longest, self._stable, self._quickest, self._careful), np.inf
        if self.step_size.follows_inputs:
            seen, stop = self.schedule.pace.ahead(self.t, stop)
            longest = min(longest, seen * share(self.stepper.nodes))
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
            self._ahead = FEW
        self.step_size.learn(control)
        if status == DriverStatus.STEP_TOO_SMALL:
            raise Ending(self._failure())
        if not self.step_size.fixed and self.recorder.statistics.steps > MOST_STEPS:
            raise Ending(f"gave up at t = {self.t:.6g} s after {MOST_STEPS} steps; allow a larger rtol")

    def _drive(self) -> DriverStatus:
        """Call the driver once and keep its steps, but for those that jump over a contact."""
        driver, control, start = self.stepper.driver, self.stepper.driver.control, clock.perf_counter()
        try:
            status = self.stepper.advance(self._inputs)
        except Ending:
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
            control.kick = 0.0 if self.step_size.fixed or found.controller.rate > QUICK else KICK
            control.shortening, control.first_size, control.size = AFTER_JUMP, first, self.step_size.dt
            solver = self.plant.constraint_solver
            if self.plant.driven or (solver is not None and solver.projects):
                found.sampler.set_restart(lambda t, state, dt: self._restart(t, state, dt, self._inputs.held))
        return found

    def _passed(self) -> int:
        """How many of the driver's steps did not jump over a contact with a stop."""
        driver, steps = self.stepper.driver, self._rows
        if not steps or self.step_size.fixed or not self.contacts.any:
            return steps
        nodes = driver.times[: steps + 1], driver.path[: steps + 1]
        missed = self.contacts.first_missed(*nodes, self.layout, self.stepper.report)
        return steps if missed is None else missed

    def _accept(self, times: Array, states: Array) -> None:
        """Keep the samples of these steps; the run ends where something that is watched happens."""
        event = self.watch.first(
            times, states, self.layout, self.system.sizes, self.stepper.order, self.duration * LOOK
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
        raise Ending(event.sentence, event.status)

    def _listen(self) -> None:
        """Ask a digital controller, once a period, for the torques that it holds until the next one."""
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
        """And the multipliers of the constraints, if there are any."""
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
        """The state with accelerations and powers computed anew, since inputs may have jumped."""
        return self._restart(self.t, self.state, dt, self._held)

    def _restart(self, t: float, state: Array, dt: float, held: HeldTorques | None) -> Array:
        """Return a state at time t with accelerations and powers computed anew, for a first step of size dt."""
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
        """Take shorter steps where inputs have jumped so that accelerations did, in the restarted state `here`. Those
        between the words of a quick controller are short enough."""
        self._jump = here
        controller = self.schedule.controller
        quick = controller is not None and controller.rate > QUICK and not self.schedule.jumps_at(self.t)
        if not quick and self._kicked(here):
            self.step_size.restart()
        self._restrain(here)

    def _anew(self, size: float) -> Array:
        """The state after a jump, for a step of this size."""
        return self._restarted(size) if self.stepper.softens else self._jump

    def _restrain(self, state: Array) -> None:
        """Keep steps that an explicit method may choose stable, in this posture and those that are near."""
        q = state[self.layout.q]
        near = np.abs((q - self._restrained) / self.system.sizes).max(initial=0.0) < NEAR
        if self.step_size.fixed or not self.stepper.explicit or (near and not self._jumped):
            return
        self._restrained = q.copy()
        inputs, failure = self.schedule.inputs_until_failure(np.array([self.t]), self._held)
        if failure is None:
            self._stable = SAFELY * self.stepper.longest_step(state, inputs[0], self.duration)

    def _kick_by_driven(self, t: float, before: Array, state: Array, inputs: Array) -> None:
        """Where the speeds of driven joints jump, those of the others do too: M_ff dv_f + M_fd dv_d = 0."""
        at, driven, free = self.layout, self.plant.driven, self.plant.free
        jump = state[at.v][driven] - before[at.v][driven]
        if not t or not free or np.abs(jump).max(initial=0.0) <= JUMP * np.abs(state[at.v][driven]).max(initial=1.0):
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
        """Whether inputs have jumped so that accelerations did."""
        before, after = (state[self.layout.a] / self.system.sizes for state in (self.state, restarted))
        return bool(np.abs(after - before).max(initial=0.0) > KICK * np.abs(after).max(initial=0.0))

    def _failure(self) -> str:
        """Why there is no way on."""
        fell = None if self.step_size.fixed else self.step_size.dt
        tried, name = self._tried, self._failing_state()
        return divergence(self.system, self.plant, self.t, self.state, tried, fell, name)

    def _failing_state(self) -> str:
        """The state of the law whose error is the largest, if it is one of these."""
        count, law, driver = self.layout.states, self.schedule.law, self.stepper.driver
        if law is None or not count or len(driver.errors) <= count:
            return ""
        errors = np.maximum(driver.errors, driver.left)
        errors = np.where(np.isfinite(errors), errors, np.inf)
        own = errors[-count:]
        return f"the law's state '{law.states[int(own.argmax())]}'" if own.max() > errors[:-count].max() else ""
