"""Inputs of members in groups of lanes: schedules, of which each member follows one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexarm.codegen.driver import SEGMENT_TYPE
from flexarm.feedback.actuators import HeldTorques
from flexarm.foundation.interrupts import StopRun
from flexarm.foundation.validation import Array
from flexarm.integrators.inputs import EQUAL_TIMES, Schedule
from flexarm.integrators.lanes import Lanes
from flexarm.integrators.plant import Plant

Failures = dict[int, StopRun]
"""Failures of functions of the user, by the index of their schedule."""


class GroupInputs:
    """Inputs of groups of members.

    Parameters
    ----------
    schedules : sequence of Schedule
        With equal driven joints, loads and law.
    which : ndarray of int, shape (members,), optional
        Index of the schedule of each member; by default all follow the first.
    parameters : ndarray, shape (members, parameters), optional
        Gains and limits of the law of each member; by default those of its schedule.

    Attributes
    ----------
    held : HeldTorques or None
        Last output of the digital controller of a single member.
    """

    def __init__(
        self,
        schedules: Sequence[Schedule],
        plant: Plant,
        lanes: Lanes,
        which: NDArray[np.intp] | None = None,
        parameters: Array | None = None,
    ) -> None:
        self.schedules, self.lanes = list(schedules), lanes
        self.which = np.zeros(lanes.members, dtype=np.intp) if which is None else which.copy()
        self._parameters = None if parameters is None else parameters.copy()
        self._original = self.which.copy(), parameters
        self._of_law, self.count = plant.input_places[7], plant.input_count
        self._table: Any = None
        self._same = 0.0
        self.held: HeldTorques | None = None

    @property
    def differ(self) -> bool:
        """True if members may have different inputs."""
        return len(self.schedules) > 1 or self._parameters is not None

    def copy_lane(self, group: int, source: int, target: int) -> None:
        """Give a lane the inputs of another one of its group."""
        if self._table is not None and self.differ:
            self._table[group, :, target] = self._table[group, :, source]
        one, other = (group * self.lanes.lanes + lane for lane in (source, target))
        if other < self.lanes.members:
            self.which[other] = self.which[one]
            if self._parameters is not None:
                self._parameters[other] = self._parameters[one]

    def restore(self) -> None:
        """Give every member its own inputs again."""
        self.which, self._parameters = self._original

    # --- values ---

    def at(self, t: float) -> tuple[Array | None, Failures]:
        """Return the inputs at a stop, (groups or 1, entries, lanes), those after the jumps there.

        If a function of the user fails, return None and the failures.
        """
        now, rows, failures = np.array([self._after(t)]), np.empty((len(self.schedules), self.count)), Failures()
        for place in {*self.which.tolist()}:  # np.unique imports numpy.ma
            found, failure = self.schedules[place].inputs_until_failure(now, self.held)
            if failure is None:
                rows[place] = found[0]
            else:
                failures[place] = failure
        if failures:
            return None, failures
        if not self.differ:
            return np.repeat(rows[:1, :, None], self.lanes.lanes, axis=2), {}
        return self._packed(rows[self.which]), {}

    def at_own_times(self, times: Array) -> Array:
        """Return inputs of each member at its own time (s), (groups, entries, lanes); nan where a function fails."""
        found: dict[tuple[int, float], Array] = {}
        for place, t in zip(self.which.tolist(), times.tolist(), strict=True):
            if (place, t) not in found:
                rows, failure = self.schedules[place].inputs_until_failure(np.array([t]), self.held)
                found[place, t] = rows[0] if failure is None else np.full(self.count, np.nan)
        return self._packed(np.array([found[key] for key in zip(self.which.tolist(), times.tolist(), strict=True)]))

    def fill(self, group: int, times: Array, out: Array) -> Failures:
        """Fill the inputs of a group at times (s), (times, entries, lanes); rows from a failure on are nan."""
        failures: Failures = {}
        rows: dict[int, Array] = {}
        for lane in range(self.lanes.lanes):
            member = min(group * self.lanes.lanes + lane, self.lanes.members - 1)
            place = int(self.which[member])
            if place not in rows:
                found, failure = self.schedules[place].inputs_until_failure(times, self.held)
                rows[place] = np.full((len(times), self.count), np.nan)
                rows[place][: len(found)] = found
                if failure is not None:
                    failures[place] = failure
            out[:, :, lane] = rows[place]
            if self._parameters is not None:
                out[:, self._of_law, lane] = self._parameters[member]
        return failures

    def _packed(self, rows: Array) -> Array:
        if self._parameters is not None:
            rows[:, self._of_law] = self._parameters
        return self.lanes.pack(rows)

    # --- stretches between stops ---

    def segments(self, t: float) -> tuple[Any, NDArray[np.bool_]]:
        """Return the coefficients of the inputs from a stop t until the next one.

        Returns
        -------
        segments : ndarray of SEGMENT_TYPE, shape (groups or 1, columns, lanes or 1), or None
        has_segments : ndarray of bool, shape (groups,)
            False where an input of a member can only be called.
        """
        groups, lanes = self.lanes.groups, self.lanes.lanes
        self._kept = [each.table(self._after(t), self.held) for each in self.schedules]  # owners of the arrays
        found = [None if each is None else each.array for each in self._kept]
        if not self.differ:
            self._table = None if found[0] is None else found[0][None, :, None]
            return self._table, np.full(groups, self._table is not None)
        has = np.array([each is not None for each in found])[self.which]
        every = np.stack([np.zeros(self.count, SEGMENT_TYPE) if each is None else each for each in found])[self.which]
        if self._parameters is not None:
            every["offset"][:, self._of_law] = self._parameters
        missing = groups * lanes - len(every)
        every, has = (np.concatenate([each, each[-1:].repeat(missing, 0)]) for each in (every, has))
        self._table = np.ascontiguousarray(every.reshape(groups, lanes, -1).swapaxes(1, 2))
        return self._table, np.asarray(has.reshape(groups, lanes).all(axis=1))

    def stops(self, duration: float, with_samples: bool = True) -> Iterator[float]:
        """Yield the times at which steps must end: jumps of the inputs of a member, samples of a digital controller if
        steps do not take them themselves, and the end of the run."""
        self._same = EQUAL_TIMES * duration
        if len(self.schedules) == 1:
            (schedule,) = self.schedules
            yield from schedule.stops(duration) if with_samples else schedule.breakpoints(duration)
            return
        last = 0.0
        for time in sorted({time for each in self.schedules for time in each.stops(duration)} | {duration}):
            if time > last + self._same and (time == duration or time < duration - self._same):
                last = time
                yield time

    def _after(self, t: float) -> float:
        """Return a time just after the jumps of all members that are at a stop but for rounding."""
        return t + 2 * self._same if t > 0 and len(self.schedules) > 1 else t

    def ahead(self, t: float, stop: float) -> tuple[float, float]:
        """Return the longest step that resolves the inputs of all members at time t, and until when (s)."""
        found = [each.pace.ahead(t, stop) for each in self.schedules]
        return min(longest for longest, _ in found), min(until for _, until in found)

    @property
    def last_jumps(self) -> Array:
        """Time of the last jump of the inputs of each member (s)."""
        return np.array([each.last_jump for each in self.schedules])[self.which]
