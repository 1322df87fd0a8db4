"""MemberRobots that are integrated together: which of them are running, and how the others ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from flexarm.dynamics.system import System
from flexarm.foundation.interrupts import Status
from flexarm.foundation.validation import Array
from flexarm.integrators.group_inputs import Failures, GroupInputs
from flexarm.integrators.stepper import Stepper
from flexarm.simulation.events import Event, EventDetector


@dataclass(frozen=True)
class Ending:
    """When, in which state and why a member ended; `has_begun` is False if it could not start."""

    time: float
    state: Array
    reason: str = "completed"
    status: Status = "completed"
    has_begun: bool = True


class MemberRobots(Protocol):
    """Robots of one structure that are integrated together.

    Attributes
    ----------
    sizes : ndarray, shape (members, coordinates)
        What is large for each coordinate.
    push : ndarray, shape (members,)
        Torque that turns the robot as a whole by about 1 rad/s2 (N m).
    have_conditions : bool
        True if members have events that depend on more than limits of coordinates.
    """

    sizes: Array
    push: Array
    have_conditions: bool

    def system(self, member: int) -> System: ...

    def events(self, member: int) -> EventDetector: ...


class SingleMember:
    """A robot that is integrated by itself. (`MemberRobots`.)"""

    def __init__(self, system: System, events: EventDetector) -> None:
        links = system.robot.links
        length, mass = system.robot.size, sum(each.total_mass for each in links) or 1.0
        self._system, self._events = system, events
        self.sizes, self.push = system.sizes[None], np.array([mass * length**2])
        self.have_conditions = bool(events.conditions)

    def system(self, member: int) -> System:
        return self._system

    def events(self, member: int) -> EventDetector:
        return self._events


class Observer(Protocol):
    """Receives the nodes of members while they are integrated."""

    def begin(self, states: Array) -> None:
        """Receive the states in which members begin, (groups, entries, lanes)."""

    def begin_stretch(self, t: float) -> None:
        """Receive the time of a stop (s), before accelerations are restarted there."""

    def count(self, group: int, control: Any, excess: int) -> None:
        """Receive what a call of the driver did, of which `excess` (negative) steps are not kept."""

    def accept(self, group: int, times: Array, path: Array, events: Mapping[int, Event], jumped: bool) -> None:
        """Receive the nodes of a group, and the events of members that end between them.

        `jumped`: accelerations were restarted at the first node.
        """

    def end(self, member: int) -> None:
        """Receive that a member has ended: its lane repeats another one."""


class MemberStates:
    """States of members in groups of lanes; `ends` has those that have ended.

    A lane whose member has ended repeats another one of its group.
    """

    def __init__(self, members: MemberRobots, stepper: Stepper, inputs: GroupInputs, observer: Observer) -> None:
        self.members, self.stepper, self.inputs, self.observer = members, stepper, inputs, observer
        self.lanes, self.layout = stepper.lanes, stepper.plant.layout
        self.ends: dict[int, Ending] = {}
        self.is_running = np.ones(self.lanes.members, dtype=bool)
        self.group_is_running = np.ones(self.lanes.groups, dtype=bool)

    @property
    def running(self) -> list[int]:
        """MemberRobots that have not ended."""
        found: list[int] = np.flatnonzero(self.is_running).tolist()
        return found

    def running_in(self, group: int) -> list[int]:
        """Return the members of a group that have not ended."""
        return [each for each in self.lanes.members_of(group) if self.is_running[each]]

    def are_behind(self, stop: float) -> bool:
        """Return True if a running group has not reached a stop."""
        return bool((self.group_is_running & (self.stepper.controls["t"] < stop)).any())

    def time_of(self, member: int) -> float:
        """Return the time that the group of a member has reached (s)."""
        return float(self.stepper.controls["t"][self.lanes.place(member)[0]])

    def state_of(self, member: int) -> Array:
        """Return the present state of a member."""
        return self.lanes.of(self.stepper.states, member)

    def ending_of(self, member: int) -> Ending:
        """Return how a member ended, once all members have."""
        return self.ends.get(member) or Ending(self.time_of(member), self.state_of(member).copy())

    def singularity(self, member: int, state: Array) -> str | None:
        """Return why accelerations of a member cannot be computed in a state, if that is so."""
        return self.members.system(member).singularity(state[self.layout.q], self.stepper.plant.driven)

    def end_here(self, member: int, reason: str, status: Status = "failed", has_begun: bool = True) -> None:
        """End a member in its present state."""
        self.end(member, Ending(self.time_of(member), self.state_of(member).copy(), reason, status, has_begun))

    def end(self, member: int, ending: Ending) -> None:
        """End a member; its lane repeats another one of its group."""
        group, _ = self.lanes.place(member)
        self.observer.end(member)
        self.ends[member], self.is_running[member] = ending, False
        running = self.running_in(group)
        self.group_is_running[group] = bool(running)
        if not running:
            self.stepper.stop_group(group)
            return
        source = self.lanes.place(running[0])[1]
        alive = {self.lanes.place(each)[1] for each in running}
        for target in sorted({*range(self.lanes.lanes)} - alive):  # a lane may have repeated the one that ended
            self.stepper.copy_lane(group, source, target)
            self.inputs.copy_lane(group, source, target)

    def end_failed_inputs(self, failures: Failures, members: list[int], has_begun: bool = True) -> None:
        """End those members whose inputs failed."""
        for member in members:
            if (failure := failures.get(int(self.inputs.which[member]))) is not None:
                self.end_here(member, str(failure), failure.status, has_begun)
