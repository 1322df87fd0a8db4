"""Inputs of the members of a batch at any times, shared by all or of each member."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from flexarm.codegen.driver import SEGMENT
from flexarm.foundation.numbers import Array
from flexarm.motion.ending import Ending
from flexarm.motion.plant import Plant
from flexarm.motion.schedule import SAME, Schedule
from flexarm.sweeps.lanes.lane_arrays import LaneArrays


class LaneInputs:
    """Schedules, of which each member follows one.

    Parameters
    ----------
    which : ndarray of int, shape (members,)
        The place of the schedule of each member.
    parameters : ndarray, shape (members, parameters), or None
        Gains and limits of the law of each member; None where all have those of their schedule.
    """

    def __init__(
        self,
        schedules: Sequence[Schedule],
        which: NDArray[np.intp],
        parameters: Array | None,
        plant: Plant,
        arrays: LaneArrays,
    ) -> None:
        self.schedules, self.which, self._arrays = list(schedules), which.copy(), arrays
        self._parameters = None if parameters is None else parameters.copy()
        self._before = self.which.copy(), None if parameters is None else parameters.copy()
        self._of_law, self.count = plant.input_places[7], plant.input_count
        self._table: np.ndarray | None = None
        self._same = 0.0

    @property
    def differ(self) -> bool:
        """Whether members may have different inputs."""
        return len(self.schedules) > 1 or self._parameters is not None

    def copy_lane(self, group: int, source: int, target: int) -> None:
        """Let a lane have the inputs of another one of its group."""
        if self._table is not None and self.differ:
            self._table[group, :, target] = self._table[group, :, source]
        one, other = (group * self._arrays.lanes + lane for lane in (source, target))
        if other < self._arrays.members:
            self.which[other] = self.which[one]
            if self._parameters is not None:
                self._parameters[other] = self._parameters[one]

    def restore(self) -> None:
        """Let every member have its own inputs again."""
        self.which, self._parameters = self._before

    # --- values ---

    def at(self, times: Array) -> tuple[Array, dict[int, Ending]]:
        """Return inputs at times (s) up to the first at which a function of the user fails, (groups or 1, times,
        entries, lanes), and the failures there by the place of their schedule."""
        found, failures = {}, {}
        for place in np.unique(self.which).tolist() if len(self.schedules) > 1 else [0]:
            found[place], failure = self.schedules[place].inputs_until_failure(times)
            if failure is not None:
                failures[place] = failure
        first = min(map(len, found.values()))
        failures = {place: each for place, each in failures.items() if len(found[place]) == first}
        return self._packed({place: rows[:first] for place, rows in found.items()}), failures

    def _packed(self, found: dict[int, Array]) -> Array:
        """Return rows of schedules as (groups or 1, times, entries, lanes)."""
        if not self.differ:
            (rows,) = found.values()
            packed = np.empty((1, *rows.shape, self._arrays.lanes))
            packed[...] = rows[:, :, None]
            return packed
        count = len(next(iter(found.values())))
        members = np.empty((self._arrays.members, count, self.count))
        for place, rows in found.items():
            members[self.which == place] = rows
        if self._parameters is not None:
            members[:, :, self._of_law] = self._parameters[:, None]
        packed = self._arrays.packed(members.reshape(len(members), -1))
        return packed.reshape(self._arrays.groups, count, self.count, self._arrays.lanes)

    def fill_group(self, group: int, times: Array, out: Array) -> dict[int, Ending]:
        """Fill the inputs of a group at times (s), (times, entries, lanes); rows from the time of a failure on are not
        numbers. Return the failures by the place of their schedule."""
        failures: dict[int, Ending] = {}
        rows: dict[int, Array] = {}
        for lane in range(self._arrays.lanes):
            member = min(group * self._arrays.lanes + lane, self._arrays.members - 1)
            place = int(self.which[member])
            if place not in rows:
                found, failure = self.schedules[place].inputs_until_failure(times)
                rows[place] = np.full((len(times), self.count), np.nan)
                rows[place][: len(found)] = found
                if failure is not None:
                    failures[place] = failure
            out[:, :, lane] = rows[place]
            if self._parameters is not None:
                out[:, self._of_law, lane] = self._parameters[member]
        return failures

    def at_own_times(self, times: Array) -> Array:
        """Return inputs of each member at a time of its own (s), (groups, entries, lanes); not numbers where a function
        fails."""
        members = np.full((self._arrays.members, self.count), np.nan)
        for place in np.unique(self.which).tolist():
            here = np.flatnonzero(self.which == place)
            distinct, back = np.unique(times[here], return_inverse=True)
            rows = np.full((len(distinct), self.count), np.nan)
            for k, t in enumerate(distinct):
                one, failure = self.schedules[place].inputs_until_failure(np.array([t]))
                if failure is None:
                    rows[k] = one[0]
            members[here] = rows[back]
        if self._parameters is not None:
            members[:, self._of_law] = self._parameters
        return self._arrays.packed(members)

    # --- tables ---

    def tables(self, t: float) -> tuple[np.ndarray | None, np.ndarray]:
        """Return coefficients of the inputs from a stop t until the next one, and the groups that have them.

        Returns
        -------
        segments : ndarray of SEGMENT, shape (groups or 1, columns, lanes or 1), or None
        has_segments : ndarray of bool, shape (groups,)
            False where an input of a member can only be called.
        """
        groups, lanes = self._arrays.groups, self._arrays.lanes
        self._kept = [each.over(self.after(t)) for each in self.schedules]  # they own arrays that segments refer to
        found = [each.segments for each in self._kept]
        if not self.differ:
            self._table = None if found[0] is None else found[0][None, :, None]
            return self._table, np.full(groups, self._table is not None)
        has = np.array([each is not None for each in found])[self.which]
        every = np.stack([np.zeros(self.count, SEGMENT) if each is None else each for each in found])[self.which]
        if self._parameters is not None:
            every["offset"][:, self._of_law] = self._parameters
        more = groups * lanes - len(every)
        every, has = np.concatenate([every, every[-1:].repeat(more, 0)]), np.concatenate([has, has[-1:].repeat(more)])
        self._table = np.ascontiguousarray(every.reshape(groups, lanes, -1).swapaxes(1, 2))
        return self._table, np.asarray(has.reshape(groups, lanes).all(axis=1))

    # --- times ---

    def stops(self, duration: float) -> list[float]:
        """Return times that must be step boundaries: where inputs of any member jump, and the end."""
        every = sorted({time for each in self.schedules for time in each.stops(duration)})
        out: list[float] = []
        self._same = SAME * duration
        for time in every:
            if not out or time > out[-1] + self._same:
                out.append(time)
        out[-1] = duration
        return out

    def after(self, t: float) -> float:
        """Return a time just after the jumps of all members that are at the stop t but for rounding."""
        return t + 2 * self._same if t > 0 and len(self.schedules) > 1 else t

    def ahead(self, t: float, stop: float) -> tuple[float, float]:
        """Return the longest step that resolves the inputs of all members at time t, and until when."""
        found = [each.pace.ahead(t, stop) for each in self.schedules]
        return min(longest for longest, _ in found), min(until for _, until in found)

    @property
    def last_jumps(self) -> Array:
        """By member, the time of the last jump of its inputs (s)."""
        return np.array([each.last_jump for each in self.schedules])[self.which]
