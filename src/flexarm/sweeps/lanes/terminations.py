"""Conditions that end members of a batch: impossible starts, events, singular mass matrices."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.mechanics.system import TOO_LARGE
from flexarm.motion.events import Event, Watch
from flexarm.motion.inertia import UNUSUAL
from flexarm.motion.integration import LOOK
from flexarm.sweeps.lanes.batch_state import BatchState

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
