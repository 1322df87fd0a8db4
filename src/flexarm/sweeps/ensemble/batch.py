"""Members of a cohort that run at once, in groups of SIMD lanes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from flexarm.dynamics.system import System
from flexarm.foundation.validation import Array
from flexarm.integrators.group_inputs import GroupInputs
from flexarm.integrators.step_size import StepSize
from flexarm.results.checks import unsolved_steps
from flexarm.results.step_history import Recorder, Statistics
from flexarm.simulation.events import EventDetector
from flexarm.simulation.integration import Integration
from flexarm.simulation.members import Ending
from flexarm.simulation.single_run import RunObserver
from flexarm.sweeps.ensemble.cohort import Cohort, law_parameters
from flexarm.sweeps.ensemble.lane_stepper import LaneStepper
from flexarm.sweeps.ensemble.member_groups import MemberGroup
from flexarm.sweeps.ensemble.node_statistics import NodeStatistics, Sampling


class BatchCancelled(Exception):
    """The result of a batch is no longer wanted."""


class CohortMembers:
    """Systems and events of members, made when they are needed. (`MemberRobots`.)"""

    def __init__(self, cohort: Cohort, these: MemberGroup, sizes: Array, push: Array) -> None:
        self._cohort, self._these, self.sizes, self.push = cohort, these, sizes, push
        self.have_conditions = cohort.options.events is not None or cohort.rows.has_conditions
        self._systems: dict[int, System] = {}
        self._events: dict[int, EventDetector] = {}

    def system(self, member: int) -> System:
        if member not in self._systems:
            self._systems[member] = System(self._these[member].robot_of(self._cohort.robot), native=False)
        return self._systems[member]

    def events(self, member: int) -> EventDetector:
        if member not in self._events:
            self._events[member] = EventDetector(self.system(member), self._cohort.options.events)
        return self._events[member]


class Batch:
    """Members with their rows of parameters, ready to run.

    Parameters
    ----------
    slowest : ndarray, optional
        `Cohort.speeds` of the members, if they are known.
    keeps_nodes : bool, optional
        True if nodes are recorded. Otherwise they are evaluated while members run, and `measures` has the results.
    is_cancelled : callable, optional
        Returns True once the result is no longer wanted.

    Attributes
    ----------
    recorders : list of Recorder
        By member, if nodes are recorded.
    """

    def __init__(
        self,
        cohort: Cohort,
        these: MemberGroup,
        rows: Array,
        slowest: Array | None = None,
        keeps_nodes: bool = False,
        is_cancelled: Callable[[], bool] = lambda: False,
    ) -> None:
        slowest = cohort.speeds(rows) if slowest is None else slowest
        self.cohort, self.duration, self._is_cancelled = cohort, cohort.case.duration, is_cancelled
        plan, options = cohort.plan, cohort.options
        self.data = data = cohort.rows.member_data(rows, plan.tolerance, slowest)
        self.stepper = stepper = LaneStepper(cohort.code, data.numbers, data.sizes)
        self.lanes, self.layout = stepper.lanes, stepper.layout
        stepper.prepare(self._initial_states(), plan.tolerance.horizon, data.allowed, data.solved)
        self.inputs = self._inputs_of(these)
        self.members = CohortMembers(cohort, these, data.sizes, data.push)
        times = options.sample_times(self.duration, cohort.system.nq)
        self.sampling = Sampling(times, options.sample is None)
        looks = self.members.have_conditions or keeps_nodes
        self.statistics = NodeStatistics(stepper, data, self.sampling, plan.tolerance, self.inputs.last_jumps, looks)
        self.recorders: list[Recorder] = []
        observer: Any = self.statistics
        if keeps_nodes:
            parts = times, self.layout, stepper.order
            self.recorders = [Recorder(*parts, Statistics()) for _ in range(len(data))]
            observer = RunObserver(self.recorders, self.lanes)
        size = StepSize(plan.tolerance, self.duration, plan.dt, follows_inputs=plan.dt is None)
        self.integration = Integration(self.members, stepper, self.inputs, size, observer, self._check)

    def _initial_states(self) -> Array:
        """Return the states in which members begin, (groups, entries, lanes), without accelerations."""
        at, data = self.layout, self.data
        rows = np.zeros((len(data), at.size))
        rows[:, at.q], rows[:, at.v], rows[:, at.law_states] = data.q, data.v, data.law_states
        return self.lanes.pack(rows)

    def _inputs_of(self, these: MemberGroup) -> GroupInputs:
        """Return the inputs of the members: schedules of their own where they change profiles."""
        cohort, data = self.cohort, self.data
        firsts, which = these.equal("inputs")
        changes = [dict(sorted(these[place].inputs.items())) for place in firsts]
        schedules, parameters = [cohort.schedule], None
        if cohort.schedule.law is None or not cohort.law_is_steady:
            own = zip(firsts, changes, strict=True)
            schedules = [cohort.schedule_of(each, data.q[k], data.v[k]) if each else cohort.schedule for k, each in own]
        elif any(changes):
            feedback = cohort.schedule.feedback
            assert feedback is not None
            parameters = np.stack([law_parameters(feedback, cohort.system, each) for each in changes])[which]
        followed = which if len(schedules) > 1 else np.zeros_like(which)
        return GroupInputs(schedules, self.stepper.plant, self.lanes, followed, parameters)

    def _check(self) -> None:
        if self._is_cancelled():
            raise BatchCancelled

    def run(self) -> None:
        """Integrate all members to the end of the run, or to their own."""
        self.integration.run(self.duration)
        for member, recorder in enumerate(self.recorders):
            if recorder.blocks:
                ending = self.ending_of(member)
                recorder.finish(ending.time, ending.state)

    # --- results ---

    def __len__(self) -> int:
        return len(self.data)

    @property
    def endings(self) -> dict[int, Ending]:
        """How members ended early."""
        return self.integration.states.ends

    def ending_of(self, member: int) -> Ending:
        """Return how a member ended."""
        return self.integration.states.ending_of(member)

    @property
    def unstable(self) -> set[int]:
        """Members that must be run by themselves: they need far shorter steps than the others."""
        return self.integration.unstable

    @property
    def moved(self) -> Sequence[int]:
        """Members that ran for a while, and did not fail."""
        still = {place for place, end in self.endings.items() if not end.time or end.status == "failed"}
        return [place for place in range(len(self)) if place not in still]

    @property
    def step_time(self) -> float:
        """Time in compiled steps (s)."""
        return float(self.statistics.driver.batch["step_seconds"])

    @property
    def node_time(self) -> float:
        """Time in the evaluation of their nodes (s)."""
        return float(self.statistics.driver.batch["node_seconds"])

    @property
    def warnings(self) -> dict[int, tuple[str, ...]]:
        """Warnings of steps of fixed size that were not solved, by member."""
        found: dict[int, tuple[str, ...]] = {}
        unsolved = self.lanes.unpack(self.stepper.unsolved[:, None])[:, 0]
        for member in np.flatnonzero(self.integration.states.is_running & (unsolved > 0)).tolist():
            steps = int(self.stepper.steps[self.lanes.place(member)[0]])
            found[member] = (unsolved_steps(int(unsolved[member]), steps, float(self.cohort.plan.dt or 0.0)),)
        return found

    def measures(self) -> dict[str, Array]:
        """Return the usual measures by name, a row for each member; empty if no member could begin."""
        if not self.statistics.samples.any():
            return {}
        self.stepper.numbers[:] = self.lanes.pack(self.data.numbers)[:, None]
        self.inputs.restore()
        self.statistics.extremes.thaw()
        states = self.lanes.unpack(self.stepper.states).copy()
        times = np.repeat(self.stepper.controls["t"], self.lanes.lanes)[: len(self)]
        for member, ending in self.endings.items():
            states[member], times[member] = ending.state, ending.time
        asked = np.where(times > 0, np.nextafter(times, -np.inf), times)
        last = self.stepper.read(self.lanes.pack(states), self.inputs.at_own_times(asked))
        return self.statistics.extremes.measures(last, self.lanes.pack_values(times), self.duration)
