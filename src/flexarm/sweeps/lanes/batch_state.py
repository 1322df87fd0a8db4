"""State and termination status of the members of a batch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.mechanics.system import System
from flexarm.motion.ending import Ending, Status
from flexarm.sweeps.lanes.crew import Crew
from flexarm.sweeps.lanes.group_arrays import GroupArrays
from flexarm.sweeps.lanes.lane_inputs import LaneInputs
from flexarm.sweeps.lanes.lane_stepper import LaneStepper


@dataclass
class End:
    """When, in which state and why a member ended."""

    time: float
    state: Array
    reason: str = "completed"
    status: Status = "completed"


def initial_states(stepper: LaneStepper, crew: Crew) -> Array:
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
        crew: Crew,
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

    def end_failed_inputs(self, failures: dict[int, Ending], group: int | None = None) -> None:
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
