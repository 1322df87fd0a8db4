"""Quantities of runs as curves: groups by name, thinned to what a plot can show, with a line at the time shown."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.motion.records import ENERGIES
from flexarm.motion.run import Run
from flexarm.motion.series import available, coordinates_of

POINTS = 400  # of a curve


@dataclass(frozen=True)
class Curves:
    """Curves over the same times (s): values (n,) by label, with one unit."""

    times: Array
    values: dict[str, Array]
    unit: str

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


def quantities(run: Run) -> list[str]:
    """What can be plotted: groups, then single quantities by name."""
    return [name for name in GROUPS if _members(run, name)] + run.names


GROUPS = ("joints", "tip", "tip deflection", "torques", "energies", "energy balance")


def curves(run: Run, name: str, other: Run | None = None) -> Curves:
    """A group or a quantity of a run; of the other one, too, as far as it has it."""
    times = run.array("time")
    kept = np.unique(np.linspace(0, len(times) - 1, min(len(times), POINTS)).astype(int))
    values = {label: np.nan_to_num(each[kept]) for label, each in _values(run, name).items()}
    if other is not None:
        theirs, span = _values(other, name), other.array("time")
        short = f" to {span[-1]:.3g} s" if span[-1] < times[-1] * (1 - 1e-9) else ""  # plots have no gaps
        for label in [each for each in values if each in theirs]:
            values[f"{label} (ghost{short})"] = np.interp(times[kept], span, theirs[label])
    return Curves(np.asarray(times[kept]), values, _unit(run, name))


def _values(run: Run, name: str) -> dict[str, Array]:
    known = available(run.data)
    found = {each: np.asarray(known[each].of(run.data).values) for each in _members(run, name) if each in known}
    if name not in GROUPS:
        return found
    return {each: values for each, values in found.items() if values.any()} or found  # what never moves only clutters


def _members(run: Run, name: str) -> list[str]:
    data = run.data
    if name == "joints":
        return coordinates_of(data, "joint")
    if name == "tip":
        return ["tip.x", "tip.y", "tip.z"]
    if name == "tip deflection":
        return [each for each in run.names if each.startswith("deflection.") and not each.endswith(".x")]
    if name == "torques":
        return [each for each in run.names if each.startswith("torque.")]
    if name == "energies":
        return [each for each in ENERGIES if each != "balance"]
    return ["balance"] if name == "energy balance" else [name]


def _unit(run: Run, name: str) -> str:
    known = available(run.data)
    units = {known[each].unit for each in _members(run, name) if each in known}
    return units.pop() if len(units) == 1 else ""
