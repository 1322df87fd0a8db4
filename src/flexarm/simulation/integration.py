"""The integration loop: a driver takes steps from stop to stop; Python restarts accelerations and locates events.

`simulate` integrates one member, a sweep many of them, in groups of SIMD lanes that share their steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from flexarm.codegen.driver import LARGEST_STATE, NO_LIMIT, SMALLEST_CHANGE, TIME_SLACK, DriverStatus, next_sizes
from flexarm.foundation.interrupts import StopRun
from flexarm.foundation.validation import Array
from flexarm.integrators.group_inputs import GroupInputs
from flexarm.integrators.inputs import EQUAL_TIMES
from flexarm.integrators.step_size import AFTER_JUMP, SMALLEST_STEP, STABILITY_FACTOR, StepSize
from flexarm.integrators.stepper import Stepper
from flexarm.profiles.bandwidth import node_factor
from flexarm.results.step_history import between
from flexarm.simulation.controller_samples import KICK_SHARE, ControllerSamples
from flexarm.simulation.events import Event
from flexarm.simulation.members import Ending, MemberRobots, MemberStates, Observer
from flexarm.simulation.run_checks import MOST_STEPS, Contacts, InertiaMonitor, divergence

CONDITION_INTERVAL = 1e-3  # of the duration: largest time between evaluations of conditions
MIN_SPEED_JUMP = 1e-9  # of a driven joint's speed, and rad/s: smaller jumps are rounding
FIRST_STEP_COUNT, STEP_COUNT = 16, 128  # steps of the first call of the driver; later ones take more
NEAR_POSTURE = 0.1  # rad, or lengths of a link: within this the fastest rates of a robot are much the same
UNSTABLE_SHARE = 1e-4  # of the longest stable step of all members: one that needs shorter steps is run by itself


class Integration:
    """Integration of members from t = 0 to the end of the run, or to their own.

    Parameters
    ----------
    stepper : Stepper
        With the states in which members begin.
    size : StepSize
        Tolerance and, for fixed steps, their size.
    observer : Observer
        Receives the nodes.
    check : callable
        Raises if the run should end; called after each call of the driver.
    contacts : Contacts, optional
        Stops of the joints of a single member.
    samples : ControllerSamples, optional
        Samples of the digital controller of a single member.
    longest : float, optional
        Longest step (s).

    Attributes
    ----------
    states : MemberStates
        Members that are running, and how the others ended.
    unstable : set of int
        Members that need far shorter steps than the others: they have ended and must be run by themselves.
    cause : BaseException or None
        Why a function of the user has ended all members.
    """

    def __init__(
        self,
        members: MemberRobots,
        stepper: Stepper,
        inputs: GroupInputs,
        size: StepSize,
        observer: Observer,
        check: Callable[[], None],
        contacts: Contacts | None = None,
        samples: ControllerSamples | None = None,
        longest: float = np.inf,
    ) -> None:
        self.members, self.stepper, self.inputs, self.size, self.observer = members, stepper, inputs, size, observer
        self.check, self.contacts, self.samples, self.longest = check, contacts, samples, longest
        self.states = MemberStates(members, stepper, inputs, observer)
        self.inertia = InertiaMonitor(members, stepper)
        self.plant, self.layout, self.lanes = stepper.plant, stepper.plant.layout, stepper.lanes
        self.unstable: set[int] = set()
        self.cause: BaseException | None = None
        self._has_begun = False
        groups = self.lanes.groups
        self._at_once = np.zeros(groups)  # sizes of steps that are not known yet
        self._jumped = np.ones(groups, dtype=bool)  # inputs have jumped since the last step
        self._stable = np.full(groups, np.inf)  # longest stable step of an explicit method (s),
        self._restrained = stepper.states[:, self.layout.q].copy()  # in these postures
        self._careful = np.full(groups, np.inf)  # longest next step, where the last one has missed a contact (s)

    def run(self, duration: float) -> None:
        """Integrate all members. If `check` or a sample raises `StopRun`, those that are running end."""
        self.duration, controls = duration, self.stepper.controls
        self.stepper.set_bounds(self.size.tolerance, self.size.fixed is not None, SMALLEST_STEP * min(1.0, duration))
        controls["dt"] = self.size.first
        try:
            first = self._begin()
            inside = self.samples is not None and self.samples.are_inside
            for stop in self.inputs.stops(duration, with_samples=not inside):
                if not self.states.is_running.any():
                    break
                self._begin_stretch(first)
                first = None
                for end, longest in self._pieces(stop):
                    self._advance(end, longest)
        except StopRun as ending:
            self.cause = ending.__cause__
            for member in self.states.running:
                self.states.end_here(member, str(ending), ending.status, self._has_begun)

    @property
    def t(self) -> float:
        """Time that all running members have reached (s)."""
        return float(self.stepper.controls["t"][self.states.group_is_running].min(initial=self.duration))

    # --- stops ---

    def _begin(self) -> Array | None:
        """End members that cannot begin; return the states in which the others do, None if some have ended."""
        states, at, first = self.states, self.layout, None
        self._sample()
        while first is None and states.is_running.any():
            first = self._restarted(self._at_once)
            if first is not None:
                for member, reason in self.inertia.infinite_at_start(first, states.running).items():
                    states.end_here(member, reason, has_begun=False)
                    first = None
        if first is None:
            return None
        reasons = self.inertia.singular_at_start(first, states.running, self.inputs)
        for member in states.running if self.members.have_conditions else ():
            try:
                self.members.events(member).require_at_start(self.lanes.of(first, member), at)
            except ValueError as error:
                reasons.setdefault(member, str(error))
        for member, reason in reasons.items():
            states.end_here(member, reason, has_begun=False)
        if states.is_running.any():
            self.observer.begin(first)
        self._has_begun = True
        return None if reasons else first

    def _begin_stretch(self, known: Array | None) -> None:
        """Restart accelerations where inputs may jump, and shorten the steps of groups that are kicked.

        `known`: the states after that, if they are known.
        """
        states, controls = self.states, self.stepper.controls
        if known is None:
            self._sample()
        self.observer.begin_stretch(self.t)
        while known is None and states.is_running.any():
            known = self._restarted(self._at_once)
        if known is None:
            return
        old, new = (each[:, self.layout.a] / self.stepper.sizes for each in (self.stepper.states, known))
        kick, largest = (np.abs(each).max(axis=1, initial=0.0) for each in (new - old, new))
        self.stepper.states[:] = known
        is_between_samples = self.samples is not None and self.samples.are_fast and not self._inputs_jump
        if self.size.fixed is None and not is_between_samples:
            groups, dt = (kick > KICK_SHARE * largest).any(axis=1), controls["dt"]
            dt[groups] = AFTER_JUMP * np.minimum(dt[groups], self.size.first)
        controls["previous"], controls["was_rejected"] = 0.0, 0
        self._jumped[:] = True

    @property
    def _inputs_jump(self) -> bool:
        """True if inputs other than those of the digital controller jump here."""
        return self.inputs.schedules[0].jumps_at(self.t)

    def _sample(self) -> None:
        """Take the sample of the digital controller, if one is due."""
        if self.samples is None:
            return
        if self.samples.is_due(self.t):
            self.samples.take(self.t, self.states.state_of(0), self._accelerations)
        self.samples.resume()

    def _accelerations(self) -> list[Array]:
        """Return accelerations of a single member and, with constraints, their multipliers."""
        u, failures = self.inputs.at(self.t)
        if u is None:
            raise failures[0]
        a, _, _, *forces = self.stepper.start(self.stepper.states, u, self._at_once)
        return [each[0, :, 0] for each in (a[:, : self.layout.n], *forces)]

    def _restarted(self, sizes: Array) -> Array | None:
        """Return the present states with the accelerations and powers of the present inputs.

        `sizes`: of the first steps, by group (s). None if inputs fail: their members have ended.
        """
        u, failures = self.inputs.at(self.t)
        if u is not None:
            return self.restart(self.stepper.states, u, sizes)
        self.states.end_failed_inputs(failures, self.states.running, has_begun=bool(self.t))
        return None

    def restart(self, states: Array, u: Array, sizes: Array) -> Array:
        """Return states with the accelerations and powers of inputs, (groups or 1, entries, lanes)."""
        out, at, places = states.copy(), self.layout, self.plant.input_places
        for k, place in enumerate(self.plant.driven):
            out[:, at.q][:, place], out[:, at.v][:, place] = u[:, places[3]][:, k], u[:, places[4]][:, k]
        if self.plant.driven and self.t:
            self._kick_by_driven(states, out, u)
        if self.plant.constraint_solver is not None and self.plant.constraint_solver.projects:
            self._project(out, u)
        a, given, drained, *forces = self.stepper.start(out, u, sizes)
        out[:, at.every_a] = out[:, at.every_aux] = a
        out[:, at.given], out[:, at.drained] = given[:, 0], drained[:, 0]
        if forces:
            out[:, at.forces] = forces[0]
        return out

    def _kick_by_driven(self, before: Array, states: Array, u: Array) -> None:
        """Change the rates of free coordinates where those of driven joints jump: M_ff dv_f + M_fd dv_d = 0."""
        at, driven, free = self.layout, self.plant.driven, self.plant.free
        speeds = states[:, at.v][:, driven]
        jump = speeds - before[:, at.v][:, driven]
        if not free or np.abs(jump).max(initial=0.0) <= MIN_SPEED_JUMP * np.abs(speeds).max(initial=1.0):
            return
        still, slow, place = np.repeat(u, len(states) // len(u), axis=0), states.copy(), self.plant.input_places[5]
        pushed = still.copy()
        pushed[:, place], still[:, place] = jump, 0.0
        slow[:, at.every_v] = before[:, at.every_v]
        answers = [self.stepper.start(slow, each, self._at_once[: len(slow)])[0] for each in (pushed, still)]
        states[:, at.every_v] = slow[:, at.every_v]
        states[:, at.v][:, driven] = speeds
        states[:, at.every_v][:, free] += (answers[0] - answers[1])[:, free]
        states[:, at.work] += self.stepper.kinetic(states, u) - self.stepper.kinetic(slow, u)

    def _project(self, states: Array, u: Array) -> None:
        """Move states onto the constraints: the speed of a driven joint may have jumped."""
        solver, at = self.plant.constraint_solver, self.layout
        assert solver is not None
        for member in self.states.running if self.plant.driven else ():
            group, lane = self.lanes.place(member)
            column, inputs = states[group, :, lane], u[min(group, len(u) - 1), :, lane]
            q, v, *_ = solver.settled(*(column[part] for part in at.motions), inputs, self.stepper.numbers_of(member))
            column[at.every_q], column[at.every_v] = q.full()[:, 0], v.full()[:, 0]

    # --- between stops ---

    def _pieces(self, stop: float) -> Iterator[tuple[float, float]]:
        """Yield the ends of smooth parts before a stop, and the longest step that resolves the inputs there (s)."""
        for end in (*self._kinks(stop), stop):
            t = self.t
            self.stepper.begin_stretch(t, self.inputs)
            if not self.size.follows_inputs:
                yield end, np.inf
                continue
            while t < end:
                longest, t = self.inputs.ahead(t, end)
                yield t, longest * node_factor(self.stepper.nodes)

    def _kinks(self, stop: float) -> list[float]:
        """Return the kinks of the torques of actuators with limited slew before a stop."""
        if self.inputs.held is None:
            return []
        slack = EQUAL_TIMES * self.duration
        return [time for time in self.inputs.held.kinks if self.t + slack < time < stop - slack]

    def _advance(self, stop: float, longest: float) -> None:
        """Integrate all groups to a time until which no input jumps."""
        stepper, controls, states = self.stepper, self.stepper.controls, self.states
        longest = min(longest, self.longest, np.inf if self.samples is None else self.samples.quickest)
        ahead = FIRST_STEP_COUNT if stepper.explicit or self.contacts is not None else STEP_COUNT
        resumes = np.zeros(len(controls), dtype=bool)
        if self.size.fixed is not None:
            self._divide(stop, longest)
        while states.are_behind(stop):
            self._restrain(~resumes)
            controls["stop"], controls["most_attempts"] = stop, NO_LIMIT
            controls["longest"] = np.minimum(longest, np.minimum(self._stable, self._careful))
            most = min(ahead, stepper.capacity)
            controls["most_steps"] = np.where(resumes, controls["most_steps"] - controls["steps"], most)
            if stepper.softens:
                self._restart_softly()
            if self.samples is not None:
                self.samples.instruct(self.t, stop, int(controls["most_steps"][0]))
            self._careful[:], resumes[:], self._before = np.inf, False, controls["previous"].copy()
            for group, status in stepper.drive(self.check):
                # The time after which a driver returns must not decide where explicit steps are restrained.
                resumes[group] = status == DriverStatus.TIME_IS_UP and stepper.explicit
                self._attend(group, status)
            self._jumped &= controls["previous"] == 0
            if not resumes.any():
                ahead = FIRST_STEP_COUNT if np.isfinite(self._careful).any() else 2 * most
            self._end_endless()

    def _divide(self, stop: float, longest: float) -> None:
        """Divide the time to a stop into equal steps of about the fixed size."""
        assert self.size.fixed is not None
        left = stop - self.stepper.controls["t"]
        self.stepper.controls["dt"] = left / np.maximum(np.ceil(left / min(self.size.fixed, longest) - TIME_SLACK), 1)

    def _restart_softly(self) -> None:
        """Restart groups that have taken no step since the inputs jumped, for a first step of its size."""
        controls, first = self.stepper.controls, self._jumped & self.states.group_is_running
        if first.any():
            controls["most_attempts"][first] = 1
            restarted = self._restarted(next_sizes(controls))
            if restarted is not None:
                self.stepper.states[first] = restarted[first]

    def _attend(self, group: int, status: DriverStatus) -> None:
        """Accept the nodes of a group; end members with an event, and those that cannot go on."""
        stepper, states, control = self.stepper, self.states, self.stepper.controls[group : group + 1]
        rows = stepper.rows(group)
        good = self._passed(rows)
        if self.samples is not None:
            self.samples.keep()
        self.observer.count(group, control[0], good - rows)
        if good:
            times, path = stepper.times[: good + 1], stepper.path[: good + 1]
            events = self._events(group, times, path)
            endings = {member: self._ending(member, each, times, path) for member, each in events.items()}
            self.observer.accept(group, times, path, events, bool(self._jumped[group]))
            self._jumped[group] = False
        stepper.settle(group, good)
        if good:
            for member, ending in endings.items():
                states.end(member, ending)
            for member, reason in self.inertia.singular_along(path, group, states.running_in(group)).items():
                states.end_here(member, f"diverged at t = {states.time_of(member):.6g} s: {reason}")
        if self.samples is not None and status == DriverStatus.INPUTS_FAILED:
            raise self.samples.failure(self.t)
        if status == DriverStatus.INPUTS_FAILED and not rows:  # else they fail again in the first of the next steps
            states.end_failed_inputs(stepper.failures, states.running_in(group))
        if good < rows:
            control["dt"] = self._careful[group] = SMALLEST_CHANGE * float(np.diff(stepper.times[good : good + 2])[0])
            control["previous"] = np.diff(stepper.times[good - 1 : good + 1])[0] if good else self._before[group]
            status = DriverStatus.STEP_TOO_SMALL if control["dt"][0] < control["smallest"][0] else status
        if status == DriverStatus.STEP_TOO_SMALL:
            self._end_failed(group, good)

    def _passed(self, rows: int) -> int:
        """Return the number of steps of a single member before the first one that missed a contact with a stop."""
        if not rows or self.contacts is None or self.size.fixed is not None:
            return rows
        nodes = self.stepper.times[: rows + 1], self.stepper.path[: rows + 1, :, 0]
        missed = self.contacts.first_missed(*nodes, self.layout)
        return rows if missed is None else missed

    def _events(self, group: int, times: Array, path: Array) -> dict[int, Event]:
        """Return the first event of each member of a group that has one on these nodes, (nodes, entries, lanes)."""
        found, interval = {}, self.duration * CONDITION_INTERVAL
        for member in self.states.running_in(group):
            lane = self.lanes.place(member)[1]
            if self.members.have_conditions or self.stepper.may_have_event(group, lane):
                own, sizes = path[..., lane], self.members.sizes[member]
                detector = self.members.events(member)
                event = detector.first(times, own, self.layout, sizes, self.stepper.order, interval)
                if event is not None:
                    found[member] = event
        return found

    def _ending(self, member: int, event: Event, times: Array, path: Array) -> Ending:
        """Return how a member ends at an event between nodes of its group."""
        own = path[..., self.lanes.place(member)[1]]
        found = between(times, own, np.array([event.time]), self.layout, self.stepper.order)[0]
        return Ending(event.time, event.settled(found), event.sentence, event.status)

    # --- steps that cannot be taken ---

    def _end_failed(self, group: int, row: int) -> None:
        """End the members of a group that no step is short enough for, after this node."""
        states, stepper, control = self.states, self.stepper, self.stepper.controls[group : group + 1]
        size = None if self.size.fixed is not None else float(control["dt"][0])
        tried = stepper.path[min(row + 1, stepper.capacity)]
        for member in self._failing(group, tried):
            lane, t = self.lanes.place(member)[1], states.time_of(member)
            system, last, name = self.members.system(member), states.state_of(member), self._failing_law_state(lane)
            states.end_here(member, divergence(system, self.plant, t, last, tried[:, lane], size, name))
        if self.size.fixed is None:
            control["dt"], control["was_rejected"] = AFTER_JUMP * self.size.first, 0

    def _failing(self, group: int, tried: Array) -> list[int]:
        """Return the members of a group whose last attempt was not accurate enough."""
        stepper, running = self.stepper, self.states.running_in(group)
        if len(running) == 1:
            return running
        errors, left = (each.max(axis=0, initial=0.0) for each in (stepper.errors, stepper.left))
        errors, left = errors / stepper.error_limits[group], left / stepper.unsolved_limits[group]
        excess = np.where(np.abs(tried).max(axis=0) < LARGEST_STATE, np.maximum(errors, left), np.inf)
        excess = np.where(np.isnan(excess), np.inf, excess)
        fails = ~np.isfinite(excess) if self.size.fixed is not None else excess > 1
        if not fails.any():
            fails = excess >= excess.max()
        return [member for member in running if fails[self.lanes.place(member)[1]]]

    def _failing_law_state(self, lane: int) -> str:
        """Return the name of the law's state with the largest error, if it exceeds those of the coordinates."""
        count, law, stepper = self.layout.states, self.inputs.schedules[0].law, self.stepper
        if law is None or not count or len(stepper.errors) <= count:
            return ""
        errors = np.maximum(stepper.errors[:, lane], stepper.left[:, lane])
        errors = np.where(np.isfinite(errors), errors, np.inf)
        own = errors[-count:]
        return f"the law's state '{law.states[int(own.argmax())]}'" if own.max() > errors[:-count].max() else ""

    def _end_endless(self) -> None:
        """End members of groups that have taken too many steps."""
        if self.size.fixed is not None:
            return
        for group in np.flatnonzero(self.stepper.steps > MOST_STEPS).tolist():
            for member in self.states.running_in(group):
                t = self.states.time_of(member)
                self.states.end_here(member, f"gave up at t = {t:.6g} s after {MOST_STEPS} steps; allow a larger rtol")

    def _restrain(self, groups: Array) -> None:
        """Bound the steps of an explicit method by stability in the present postures and those near them."""
        stepper, states, at = self.stepper, self.states, self.layout
        if self.size.fixed is not None or not stepper.explicit:
            return
        q = stepper.states[:, at.q]
        is_near = (np.abs((q - self._restrained) / stepper.sizes) < NEAR_POSTURE).all(axis=(1, 2))
        moved = groups & states.group_is_running & (~is_near | self._jumped)
        if not moved.any():
            return
        self._restrained[moved] = q[moved]
        times = np.repeat(stepper.controls["t"], self.lanes.lanes)[: self.lanes.members]
        u = self.inputs.at_own_times(times)
        if not np.isfinite(u).all():
            return
        longest = stepper.longest_steps(u, self.duration)
        least = UNSTABLE_SHARE * min(self.duration, longest[states.is_running].max(initial=0.0))
        self._stable[moved] = np.inf
        for member in states.running:
            group = self.lanes.place(member)[0]
            if longest[member] < least:
                self.unstable.add(member)
                states.end_here(member, "")
            elif moved[group]:
                self._stable[group] = min(self._stable[group], STABILITY_FACTOR * longest[member])
