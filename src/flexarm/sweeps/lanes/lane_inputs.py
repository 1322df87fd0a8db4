"""What drives the members of a batch: the inputs of their plant at any times, the same for all or each their own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from flexarm.foundation.numbers import Array
from flexarm.motion.ending import Ending
from flexarm.motion.plant import Plant
from flexarm.motion.schedule import Schedule
from flexarm.sweeps.lanes.lane_arrays import LaneArrays


class LaneInputs:
    """Of schedules, of which each member follows one.

    which: by member, the place of its schedule.
    parameters: by member, the gains and limits of the law; None where all have those of their schedule.
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

    @property
    def own(self) -> bool:
        """Whether members may have inputs of their own."""
        return len(self.schedules) > 1 or self._parameters is not None

    def replace(self, target: int, source: int) -> None:
        """One member's inputs for another."""
        self.which[target] = self.which[source]
        if self._parameters is not None:
            self._parameters[target] = self._parameters[source]

    def restore(self) -> None:
        """Let every member have its own again."""
        self.which, self._parameters = self._before

    def at(self, times: Array) -> tuple[Array, dict[int, Ending]]:
        """(groups or 1, times, entries, lanes) up to the first time at which a function of the user's fails, and what
        to say of that by the place of its schedule."""
        found, failures = self._found(times)
        first = min(map(len, found.values()))
        failures = {place: each for place, each in failures.items() if len(found[place]) == first}
        return self._packed({place: rows[:first] for place, rows in found.items()}), failures

    def padded(self, times: Array) -> Array:
        """The same at all times, not numbers where a function fails."""
        found, failures = self._found(times)
        for place in failures:
            rows = np.full((len(times), self.count), np.nan)
            rows[: len(found[place])] = found[place]
            found[place] = rows
        return self._packed(found)

    def _found(self, times: Array) -> tuple[dict[int, Array], dict[int, Ending]]:
        found, failures = {}, {}
        for place in np.unique(self.which).tolist() if len(self.schedules) > 1 else [0]:
            found[place], failure = self.schedules[place].inputs_until_failure(times)
            if failure is not None:
                failures[place] = failure
        return found, failures

    def _packed(self, found: dict[int, Array]) -> Array:
        """(groups or 1, times, entries, lanes)."""
        if not self.own:
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

    def at_own_times(self, times: Array) -> Array:
        """(groups, entries, lanes): of each member at a time of its own. Not numbers where a function fails."""
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

    def stops(self, duration: float) -> list[float]:
        """Times that must be step boundaries: where inputs of any member jump, and the end."""
        every = sorted({time for each in self.schedules for time in each.stops(duration)})
        out: list[float] = []
        for time in every:
            if not out or time > out[-1] + 1e-12 * duration:
                out.append(time)
        out[-1] = duration
        return out

    def ahead(self, t: float, stop: float) -> tuple[float, float]:
        """The longest step that sees the inputs of all members at time t, and until when."""
        found = [each.pace.ahead(t, stop) for each in self.schedules]
        return min(longest for longest, _ in found), min(until for _, until in found)

    @property
    def last_jumps(self) -> Array:
        """By member, the time of the last jump of its inputs (s)."""
        return np.array([each.last_jump for each in self.schedules])[self.which]
