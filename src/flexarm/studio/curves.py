"""Quantities of runs as curves: groups by name, thinned to what a plot can show, with a line at the time shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.motion.records import ENERGIES
from flexarm.motion.run import Run
from flexarm.motion.series import available, coordinates_of

POINTS = 400  # of a curve


@dataclass(frozen=True)
class Curves:
    """Curves over the same times (s): values (n,) by label, with one unit; which of them are of other runs."""

    times: Array
    values: dict[str, Array]
    unit: str
    ghosts: tuple[str, ...] = ()

    def with_cursor(self, time: float) -> list[Array]:
        """Times, values, and last a series that rises from the lowest to the highest of all values at a time.

        Plots have neither gaps nor upright lines, so it is a needle that stands on their lower edge.
        """
        every = np.concatenate([np.zeros(0), *self.values.values()])
        low, high = (float(every.min()), float(every.max())) if len(every) else (0.0, 1.0)
        place = int(np.searchsorted(self.times, time))
        times = np.insert(self.times, [place] * 3, time)
        line = np.full(len(times), low)
        line[place + 1] = high
        at = [np.interp(time, self.times, each) for each in self.values.values()]
        values = [np.insert(each, [place] * 3, now) for each, now in zip(self.values.values(), at, strict=True)]
        return [times, *values, line]


GROUPS = ("joints", "tip", "tip deflection", "torques", "energies", "energy balance")


class Quantities:
    """What can be plotted of a run: groups, then single quantities by name."""

    def __init__(self, run: Run) -> None:
        self._run, self._data = run, run.data
        self._known = available(run.data)

    @cached_property
    def names(self) -> list[str]:
        return [name for name in GROUPS if self._members(name)] + list(self._known)

    def curves(self, name: str, others: Mapping[str, Quantities] | None = None) -> Curves:
        """A group or a quantity; of other runs by name, too, as far as they have it."""
        times = self._run.array("time")
        kept = np.unique(np.linspace(0, len(times) - 1, min(len(times), POINTS)).astype(int))
        values = {label: np.nan_to_num(each[kept]) for label, each in self._values(name).items()}
        ghosts = {}
        for known_as, other in (others or {}).items():
            theirs, span = other._values(name), other._run.array("time")
            short = f" to {span[-1]:.3g} s" if span[-1] < times[-1] * (1 - 1e-9) else ""  # plots have no gaps
            for label in [each for each in values if each in theirs]:
                ghosts[f"{label} ({known_as}{short})"] = np.interp(times[kept], span, theirs[label])
        return Curves(np.asarray(times[kept]), values | ghosts, self._unit(name), tuple(ghosts))

    def _values(self, name: str) -> dict[str, Array]:
        found = {each: np.asarray(self._known[each].of(self._data).values) for each in self._members(name)}
        if name not in GROUPS:
            return found
        return {each: values for each, values in found.items() if values.any()} or found  # what never moves clutters

    def _members(self, name: str) -> list[str]:
        if name == "joints":
            wanted = coordinates_of(self._data, "joint")
        elif name == "tip":
            wanted = ["tip.x", "tip.y", "tip.z"]
        elif name == "tip deflection":
            wanted = [each for each in self._known if each.startswith("deflection.") and not each.endswith(".x")]
        elif name == "torques":
            wanted = [each for each in self._known if each.startswith("torque.")]
        elif name == "energies":
            wanted = [each for each in ENERGIES if each != "balance"]
        else:
            wanted = ["balance"] if name == "energy balance" else [name]
        return [each for each in wanted if each in self._known]

    def _unit(self, name: str) -> str:
        units = {self._known[each].unit for each in self._members(name)}
        return units.pop() if len(units) == 1 else ""
