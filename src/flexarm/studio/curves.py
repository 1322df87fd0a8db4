"""Quantities of runs as curves: groups by name, thinned to what a plot can show, with a line at the time shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.motion.records import ENERGIES
from flexarm.motion.run import Run
from flexarm.motion.series import available, coordinates_of

Samples = np.ndarray[Any, np.dtype[np.int64]]

POINTS = 400  # of a curve: the lowest and the highest of half as many pieces


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
        every = every[np.isfinite(every)]
        low, high = (float(every.min()), float(every.max())) if len(every) else (0.0, 1.0)
        place = int(np.searchsorted(self.times, time))
        times = np.insert(self.times, [place] * 3, time)
        line = np.full(len(times), low)
        line[place + 1] = high
        at = [np.interp(time, self.times, each) for each in self.values.values()]
        values = [np.insert(each, [place] * 3, now) for each, now in zip(self.values.values(), at, strict=True)]
        return [times, *values, line]


def telling(values: Iterable[Array], samples: int) -> Samples:
    """Which of many samples to draw, so that no peak is lost: the lowest and the highest of each piece of time."""
    if samples <= POINTS:
        return np.arange(samples)
    edges = np.linspace(0, samples, POINTS // 2 + 1).astype(int)
    kept = {0, samples - 1}
    for each in values:
        low, high = np.where(np.isfinite(each), each, np.inf), np.where(np.isfinite(each), each, -np.inf)
        for begin, end in pairwise(edges.tolist()):
            kept |= {begin + int(low[begin:end].argmin()), begin + int(high[begin:end].argmax())}
            gap = np.isnan(each[begin:end])
            if gap.any():  # where there is no number, there is no line
                kept.add(begin + int(gap.argmax()))
    return np.array(sorted(kept))


def _at(times: Array, own: Array, values: Array) -> Array:
    """Values at times: those of samples as they are, and straight between them."""
    found = np.interp(times, own, values)
    place = np.minimum(np.searchsorted(own, times), len(own) - 1)
    return np.where(own[place] == times, values[place], found)


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
        own, known = self._run.array("time"), self._values(name)
        times = np.asarray(own[telling(known.values(), len(own))])
        compared = {
            known_as: (other._run.array("time"), other._values(name)) for known_as, other in (others or {}).items()
        }
        for span, theirs in compared.values():
            there = span[telling((theirs[label] for label in known if label in theirs), len(span))]
            times = np.union1d(times, there[there <= own[-1]])
        values = {label: _at(times, own, each) for label, each in known.items()}
        ghosts = {}
        for known_as, (span, theirs) in compared.items():
            short = f" to {span[-1]:.3g} s" if span[-1] < own[-1] * (1 - 1e-9) else ""  # plots have no gaps
            for label in [each for each in values if each in theirs]:
                ghosts[f"{label} ({known_as}{short})"] = _at(times, span, theirs[label])
        return Curves(times, values | ghosts, self._unit(name), tuple(ghosts))

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
