"""State and termination status of the members of a batch.

Conditions that end members of a batch: impossible starts, events, singular mass matrices.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from flexarm.dynamics.system import TOO_LARGE, System
from flexarm.foundation.interrupts import Status, StopRun
from flexarm.foundation.validation import Array
from flexarm.simulation.events import Event, Watch
from flexarm.simulation.integration import LOOK
from flexarm.simulation.run_checks import UNUSUAL
from flexarm.sweeps.ensemble.compiled import LaneInputs, LaneStepper
from flexarm.sweeps.ensemble.group_arrays import GroupArrays
from flexarm.sweeps.ensemble.lanes import MemberArrays


@dataclass
class End:
    """When, in which state and why a member ended."""

    time: float
    state: Array
    reason: str = "completed"
    status: Status = "completed"


def initial_states(stepper: LaneStepper, crew: MemberArrays) -> Array:
    """Return the states in which members begin, (groups, entries, lanes), without accelerations."""
    at = stepper.layout
    rows = np.zeros((len(crew), at.size))
    rows[:, at.q], rows[:, at.v], rows[:, at.law_states] = crew.q, crew.v, crew.law_states
    return stepper.arrays.packed(rows)


class BatchState:
    """Members of a batch: those that are running, and how the others ended.

    A lane whose member has ended repeats another one of its group; a group without running members is inactive.

    Parameters
    ----------
    system_of : callable
        Returns the system of a member, by its place; called where it is needed.
    """

    def __init__(
        self,
        crew: MemberArrays,
        stepper: LaneStepper,
        inputs: LaneInputs,
        groups: GroupArrays,
        system_of: Callable[[int], System],
    ) -> None:
        self.crew, self.stepper, self.inputs, self.groups, self.system_of = crew, stepper, inputs, groups, system_of
        self.arrays, self.layout, self.plant = stepper.arrays, stepper.layout, stepper.plant
        self.ends: dict[int, End] = {}
        self.is_running = np.ones(len(crew), dtype=bool)

    @property
    def states(self) -> Array:
        """Of all lanes, (groups, entries, lanes)."""
        return self.groups.states

    def time_of(self, member: int) -> float:
        """Return the time (s) that the group of a member has reached."""
        return float(self.groups.controls["t"][self.arrays.place(member)[0]])

    @property
    def running(self) -> list[int]:
        """Members that have not ended."""
        found: list[int] = np.flatnonzero(self.is_running).tolist()
        return found

    def running_in(self, group: int) -> list[int]:
        """Return the members of a group that have not ended."""
        lanes = self.arrays.lanes
        return [each for each in range(group * lanes, (group + 1) * lanes) if self._is_running(each)]

    def _is_running(self, member: int) -> bool:
        return member < len(self.crew) and bool(self.is_running[member])

    def singularity(self, member: int, states: Array) -> str | None:
        """Return why accelerations of a member cannot be computed in its state, if that is so."""
        return self.system_of(member).singularity(self.arrays.of(states, member)[self.layout.q], self.plant.driven)

    def end_here(self, member: int, reason: str, status: Status = "failed") -> None:
        """End a member in its present state."""
        self.end(member, self.time_of(member), self.arrays.of(self.states, member), reason, status)

    def end(self, member: int, time: float, state: Array, reason: str, status: Status) -> None:
        """End a member; its lane repeats another one of its group."""
        group, lane = self.arrays.place(member)
        self.groups.extremes.freeze(member)
        self.groups.living[group, lane] = 0
        self.ends[member], self.is_running[member] = End(time, state.copy(), reason, status), False
        running = self.running_in(group)
        if not running:
            self.groups.is_active[group] = 0
            return
        source = self.arrays.place(running[0])[1]
        for target in range(self.arrays.lanes):
            if not self._is_running(group * self.arrays.lanes + target):  # it may have repeated this one
                self.groups.copy_lane(group, source, target)
                for packed in (self.states, self.stepper.numbers):
                    packed[group, ..., target] = packed[group, ..., source]
                self.inputs.copy_lane(group, source, target)

    def end_failed_inputs(self, failures: dict[int, StopRun], group: int | None = None) -> None:
        """End members whose inputs failed, given by the place of their schedule."""
        for member in self.running if group is None else self.running_in(group):
            if (failure := failures.get(int(self.inputs.which[member]))) is not None:
                self.end_here(member, str(failure), failure.status)

    def inputs_at(self, t: float) -> Array | None:
        """Return the inputs at a time, (groups or 1, entries, lanes); None if a function failed: its members have
        ended."""
        found, failures = self.inputs.at(np.array([self.inputs.after(t)]))
        if found.shape[1]:
            return found[:, 0]
        self.end_failed_inputs(failures)
        return None

    def restarted(self, t: float, sizes: Array) -> Array | None:
        """Return states with recomputed accelerations and powers for first steps of these sizes (s, by group); None
        if inputs fail at this time."""
        u = self.inputs_at(t)
        if u is None:
            return None
        out, at, places = self.states.copy(), self.layout, self.plant.input_places
        for k, place in enumerate(self.plant.driven):
            out[:, at.q][:, place], out[:, at.v][:, place] = u[:, places[3]][:, k], u[:, places[4]][:, k]
        a, put_in, drained, *forces = self.stepper.start(out, u, sizes)
        out[:, at.every_a] = out[:, at.every_aux] = a
        out[:, at.given], out[:, at.drained] = put_in[:, 0], drained[:, 0]
        if forces:
            out[:, at.forces] = forces[0]
        return out


TORQUE_SPREAD = 0.1  # relative difference between the torques of actuators with which a robot is tested


class Terminations:
    """Conditions of the members of a batch.

    Parameters
    ----------
    watch_of : callable
        Returns the events of a member, by its place; called where one may have happened.
    checks_all : bool
        Whether members have conditions that must be evaluated on all steps.
    duration : float
        Of the run (s).
    """

    def __init__(self, state: BatchState, watch_of: Callable[[int], Watch], checks_all: bool, duration: float) -> None:
        self._state, self._watch_of, self._checks_all, self._duration = state, watch_of, checks_all, duration

    def require_start(self) -> Array | None:
        """End members that cannot begin: with infinite accelerations, or with a condition that is met.

        Returns
        -------
        ndarray or None
            States in which the others begin, (groups, entries, lanes); None if members have ended.
        """
        state, at = self._state, self._state.layout
        first, at_once = None, np.zeros(state.arrays.groups)
        while state.is_running.any():
            before = len(state.ends)
            first = state.restarted(0.0, at_once)
            if first is not None:
                wrong = ~np.isfinite(state.arrays.rows(first[:, at.a])).all(axis=1)
                for member in np.flatnonzero(state.is_running & wrong).tolist():
                    state.end_here(member, state.singularity(member, first) or TOO_LARGE)
            if first is not None and len(state.ends) == before:
                break
        if not state.is_running.any() or first is None:
            return None
        before = len(state.ends)
        answers = state.arrays.rows(self._answers(first)[:, None])[:, 0]
        for member in np.flatnonzero(state.is_running & ~(answers <= UNUSUAL)).tolist():
            if (reason := state.singularity(member, first)) is not None:
                state.end_here(member, reason)
        if self._checks_all:
            for member in state.running:
                try:
                    self._watch_of(member).require_at_start(state.arrays.of(first, member), at)
                except ValueError as error:
                    state.end_here(member, str(error))
        return first if len(state.ends) == before else None

    def _answers(self, first: Array) -> Array:
        """Return the largest acceleration that a torque at all actuators adds, relative to that of the robot as a
        whole, (groups, lanes)."""
        state, plant, arrays = self._state, self._state.plant, self._state.arrays
        places, u = plant.input_places, np.zeros((arrays.groups, plant.input_count, arrays.lanes))
        if plant.law is not None:
            given, _ = state.inputs.at(np.zeros(1))
            u[:, places[7]] = given[:, 0, places[7]]
        pushed, push = u.copy(), arrays.packed(state.crew.push[:, None])
        pushed[:, places[1]] = push * (1 + TORQUE_SPREAD * np.arange(plant.nu))[:, None]
        still = first.copy()
        still[:, state.layout.every_v] = 0.0
        sizes = np.zeros(arrays.groups)
        without, under = (state.stepper.start(still, each, sizes)[0][:, : state.layout.n] for each in (u, pushed))
        gained = np.abs((under - without) / state.groups.sizes).max(axis=1, initial=0.0)
        return np.where(np.isfinite(gained), gained, np.inf)

    def events(self, group: int, times: Array, path: Array) -> dict[int, Event]:
        """Return the first event of each member of a group to which one happened on these nodes, (nodes, entries,
        lanes)."""
        state, found = self._state, {}
        for member in state.running_in(group):
            lane = state.arrays.place(member)[1]
            if not (self._checks_all or state.groups.beyond[group, lane]):
                continue
            own, sizes, order = path[..., lane], state.crew.sizes[member], state.stepper.method.order
            event = self._watch_of(member).first(times, own, state.layout, sizes, order, self._duration * LOOK)
            if event is not None:
                found[member] = event
        return found

    def require_inertia(self, group: int) -> None:
        """End members of a group whose accelerations have become absurd because their mass matrix is singular."""
        state, fastest, unusual = self._state, self._state.groups.fastest, self._state.groups.unusual
        for member in state.running_in(group):
            place = state.arrays.place(member)
            if fastest[place] > unusual[place]:
                if (reason := state.singularity(member, state.states)) is not None:
                    state.end_here(member, f"diverged at t = {state.time_of(member):.6g} s: {reason}")
                unusual[place] = 10 * fastest[place]
