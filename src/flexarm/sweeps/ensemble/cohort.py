"""Members whose robots are of one structure: all that is prepared once, and the batches in which they run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from flexarm.codegen.library import building
from flexarm.dynamics.system import System
from flexarm.feedback.feedback import Feedback
from flexarm.feedback.outputs import Gains
from flexarm.foundation.messages import collect_warnings
from flexarm.foundation.validation import Array
from flexarm.integrators.inputs import Schedule
from flexarm.integrators.loads import warn_of_idle_loads
from flexarm.integrators.method import Method
from flexarm.integrators.registry import Compiled
from flexarm.integrators.step_size import LocalSpectrum
from flexarm.results.checks import smoothed_steps
from flexarm.robot import MovingJoint, Robot
from flexarm.simulation.events import EventDetector
from flexarm.simulation.initial_state import initial_state
from flexarm.simulation.options import cheaper_method, default_method
from flexarm.simulation.run_checks import require_seen_inputs
from flexarm.sweeps.apply_changes import applied
from flexarm.sweeps.case import SweepCase
from flexarm.sweeps.ensemble.classify import Candidate, Candidates
from flexarm.sweeps.ensemble.compiled import LaneCode, LaneInputs, LaneStepper, lane_code_of
from flexarm.sweeps.ensemble.integration import MemberBatch
from flexarm.sweeps.ensemble.member_setup import MemberSampler, Settings

SLOW = 1e-6  # of the fastest: frequencies below are those of rigid motions


class NotBatchable(Exception):
    """Members cannot share their steps, and why."""


@dataclass(frozen=True)
class MemberDynamics:
    """One member, as the choice of a method wants to see it."""

    stepper: LaneStepper

    @property
    def plant(self) -> Any:
        return self.stepper.plant

    def _packed(self, q: Array, v: Array) -> Array:
        at = self.stepper.layout
        row = np.zeros(at.size)
        row[at.every_q], row[at.every_v] = q, v
        return self.stepper.arrays.packed(row[None])

    def spectrum(self, q: Array, v: Array, u: Array) -> LocalSpectrum:
        return self.stepper.spectra(self._packed(q, v), self.stepper.arrays.packed(u[None]))[0]

    def start(self, q: Array, v: Array, u: Array, dt: float) -> list[Array]:
        found = self.stepper.start(self._packed(q, v), self.stepper.arrays.packed(u[None]), np.array([dt]))
        return [self.stepper.arrays.rows(each)[0] for each in found]


class Cohort:
    """Of a case with this `robot`, of which members change numbers; `typical` is that of one of them, whose structure
    is theirs."""

    def __init__(self, case: SweepCase, robot: Robot, typical: Robot, settings: Settings) -> None:
        self.case, self.robot, self.typical, self.settings = case, robot, typical, settings
        self.system = System(typical, native=False)
        self.plan = settings.plan(self.system.robot, case.duration)
        with building:
            self.schedule = Schedule(self.system, case.torque, case.motion, case.loads)
        self.sampler = MemberSampler(case, robot, self.system, self.schedule)

    def look(self, one: Candidate) -> None:
        """Learn how fast inputs are, in the state in which the typical member begins."""
        try:
            self._begun = applied(replace(self.case, robot=self.system.robot), one.state)
            with collect_warnings():  # `doubts` tells
                q, v = initial_state(self.system, self.schedule, self._begun.q0, self._begun.v0)
        except (ValueError, TypeError, KeyError) as error:
            raise one.about(error) from None
        self.schedule.look(self.case.duration, q, v)
        require_seen_inputs(self.schedule.outlooks, self.schedule.pace, self.case.duration, self.plan.dt)

    @cached_property
    def doubts(self) -> tuple[str, ...]:
        """What should be known of all members, as the typical one tells it."""
        with collect_warnings() as said:
            q, _ = initial_state(self.system, self.schedule, self._begun.q0, self._begun.v0)
            warn_of_idle_loads(self.system, self.schedule.loads, q)
        return (*said, *smoothed_steps(self.system))

    def why_stray(self, inputs: Mapping[str, float]) -> str:
        """Why members with these inputs do not run in lanes; empty where they do."""
        if not any(path.startswith("motion.") for path in inputs):
            return ""
        with suppress(ValueError, TypeError, KeyError), building:
            driven = applied(self.case, inputs)
            own = Schedule(self.system, driven.torque, driven.motion, driven.loads).motions
            pairs = [(own[joint], each) for joint, each in self.schedule.motions.items()]
            if any(one(0.0, order) != other(0.0, order) for one, other in pairs for order in (0, 1)):
                return "the motion of a driven joint begins elsewhere"
            return "the speed of a driven joint jumps" if any(_speed_jumps(each) for each in own.values()) else ""
        return "its own run tells what is wrong with its motion"

    # --- whether lanes can run it ---

    def require_lanes(self, one: Candidate, method: Method | None = None) -> None:
        """`Alone` says why they cannot; else the code is ready, for this method, or for one that suits the member."""
        if why := self._why_alone():
            raise NotBatchable(why)
        self._one = one
        self.method = self._method(one) if method is None else method
        self.code = self._code(self.method)

    def _why_alone(self) -> str:
        if self.settings.verify:
            return "verify=True runs each of them twice"
        if self.settings.native is False:
            return "native=False asks for CasADi's virtual machine"
        if not isinstance(self.plan.solver, Compiled):
            return f"{self.settings.method} chooses its own steps"
        if self.schedule.controller is not None:
            return "a law with a sample rate is called as it is"
        if any(isinstance(link.joint, MovingJoint) and link.joint.stop for link in self.system.robot.links):
            return "contacts with stops are looked for in each of them"
        if any(_speed_jumps(each) for each in self.schedule.motions.values()):
            return "the speed of a driven joint jumps"
        return ""

    def _code(self, method: Method) -> LaneCode:
        with building:
            code = lane_code_of(self.schedule.plant(self.plan.stabilization), method, self.settings.width)
        if code.library is None:
            raise NotBatchable("there is no machine code for lanes")
        return code

    def _method(self, one: Candidate) -> Method:
        solver, chooses = self.plan.solver, self.settings.chooses
        assert isinstance(solver, Compiled)
        if not chooses:
            return solver.method
        method, row = default_method(self.system.robot), self.sampler.row(one.smooth)[None]
        crew = self.sampler.crew(row, self.plan.tolerance)
        looker = MemberDynamics(LaneStepper(self._code(method), crew.numbers))
        return cheaper_method(looker, self.schedule, crew.q[0], crew.v[0], self.plan.tolerance) or method

    def speeds(self, rows: Array) -> Array:
        """By row, the logarithm of the frequency of the slowest vibration (of which there may be none): members that
        are alike in it want steps of the same size."""
        crew = self.sampler.crew(rows, self.plan.tolerance)
        stepper = LaneStepper(self.code, crew.numbers)
        at = stepper.layout
        states = np.zeros((len(rows), at.size))
        states[:, at.q], states[:, at.v], states[:, at.law_states] = crew.q, crew.v, crew.law_states
        inputs, _ = self.schedule.inputs_until_failure(np.zeros(1))
        if not len(inputs):
            return np.zeros(len(rows))
        packed = stepper.arrays.packed(np.repeat(inputs, len(rows), axis=0))
        spectra = stepper.spectra(stepper.arrays.packed(states), packed)
        slowest = [each.frequencies[each.frequencies > SLOW * each.frequencies.max(initial=0.0)] for each in spectra]
        return np.asarray(np.log([float(each.min(initial=1e300)) for each in slowest]))

    def __reduce__(self) -> tuple[Any, ...]:
        """Sent elsewhere, it is made anew there, with the method that was chosen here."""
        return _again, (self.case, self.robot, self.typical, self.settings, self._one, self.method)

    # --- batches ---

    @cached_property
    def _law_is_steady(self) -> bool:
        """Whether a law has no formula of the time in it, whose speed gains might change."""
        law, start = self.schedule.law, np.zeros(self.system.nq)
        return law is None or law.look(self.case.duration, start, start).probes == 0

    def schedule_of(self, inputs: Mapping[str, float], q: Array, v: Array) -> Schedule:
        """Of a member with other profiles, or other gains of a law."""
        if self.schedule.law is not None:
            assert self.schedule.feedback is not None
            schedule = copy(self.schedule)
            schedule.law = copy(self.schedule.law)
            schedule.law.parameters = law_parameters(self.schedule.feedback, self.system, inputs)
            schedule.look(self.case.duration, q, v)
            return schedule
        driven = applied(self.case, inputs)
        with building:
            schedule = Schedule(self.system, driven.torque, driven.motion, driven.loads)
        schedule.look(self.case.duration, q, v)
        return schedule

    def batch(
        self,
        these: Candidates,
        rows: Array,
        keep: bool,
        cancelled: Callable[[], bool] = lambda: False,
        slowest: Array | None = None,
    ) -> MemberBatch:
        """Return members with their rows, ready to run; `slowest` are their `speeds`, if they are known."""
        slowest = self.speeds(rows) if slowest is None else slowest
        crew = self.sampler.crew(rows, self.plan.tolerance, slowest)
        firsts, which = these.alike("inputs")
        changes = [dict(sorted(these[place].inputs.items())) for place in firsts]
        schedules, parameters = [self.schedule], None
        if self.schedule.law is None or not self._law_is_steady:
            own = zip(firsts, changes, strict=True)
            schedules = [self.schedule_of(each, crew.q[k], crew.v[k]) if each else self.schedule for k, each in own]
        elif any(changes):
            feedback = self.schedule.feedback
            assert feedback is not None
            parameters = np.stack([law_parameters(feedback, self.system, each) for each in changes])[which]
        followed = which if len(schedules) > 1 else np.zeros_like(which)

        def inputs(stepper: LaneStepper) -> LaneInputs:
            return LaneInputs(schedules, followed, parameters, stepper.plant, stepper.arrays)

        people = MemberSystems(self, these)
        return MemberBatch(
            self.code,
            crew,
            inputs,
            self.plan.tolerance,
            self.plan.dt,
            self.settings.samples(self.case.duration, self.system.nq),
            self.settings.sample is None,
            people.system,
            people.watch,
            self.settings.events is not None or self.sampler.watched,
            keep,
            cancelled,
        )


def _again(case: SweepCase, robot: Robot, typical: Robot, settings: Settings, one: Candidate, method: Method) -> Cohort:
    cohort = Cohort(case, robot, typical, settings)
    cohort.look(one)
    cohort.require_lanes(one, method)
    return cohort


class MemberSystems:
    """Systems and watches of members, made when they are first asked for."""

    def __init__(self, cohort: Cohort, these: Candidates) -> None:
        self._cohort, self._these = cohort, these
        self._systems: dict[int, System] = {}
        self._watches: dict[int, EventDetector] = {}

    def system(self, place: int) -> System:
        if place not in self._systems:
            self._systems[place] = System(self._these[place].robot_of(self._cohort.robot), native=False)
        return self._systems[place]

    def watch(self, place: int) -> EventDetector:
        if place not in self._watches:
            self._watches[place] = EventDetector(self.system(place), self._cohort.settings.events)
        return self._watches[place]


def law_parameters(feedback: Feedback, system: System, changes: Mapping[str, float]) -> Array:
    """The numbers of a law as its plant takes them: gains, then limits."""
    gains = {path: value for path, value in changes.items() if path.startswith("gains.")}
    said = applied(SweepCase(system.robot, 1.0, torque=feedback), gains).torque
    numbers = np.zeros(0) if said.gains is None else Gains(said.gains).numbers()
    limits = said.limits(system)
    return np.concatenate([numbers, limits[np.isfinite(limits)]])


def _speed_jumps(motion: Any) -> bool:
    """Whether the rate of a motion jumps within a run."""
    for time in motion.breaks:
        if time > 0:
            before, after = (float(motion(t, 1)) for t in (np.nextafter(time, -np.inf), time))
            if abs(after - before) > 1e-9 * max(1.0, abs(before), abs(after)):
                return True
    return False
