"""Units with which numbers can be read off an axis that has three decimals: mm, mrad, kJ, or 1e-6 kg.

Quantities of runs as curves: groups by name, thinned to what a plot can show, with a line at the time shown.

Which output of a robot is looked at first, and which others it has.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from flexarm.analysis.linear import linearize
from flexarm.dynamics.system import System
from flexarm.foundation.validation import Array
from flexarm.results.by_name import available, coordinates_of
from flexarm.results.dataset import ENERGIES
from flexarm.results.run import Run

PREFIXES = {-9: "n", -6: "µ", -3: "m", 3: "k", 6: "M", 9: "G"}
PREFIXED = ("m", "rad", "N", "J", "W", "Pa", "Hz", "s")  # units that begin with one of these can have a prefix
SMALL, LARGE = 0.1, 1e4  # numbers between these are read as they are
SPAN = 0.01  # over less than this, all ticks of an axis would be the same number
LONGEST = 1e6  # larger numbers do not fit beside an axis


def prefixed(low: float, high: float, unit: str) -> tuple[float, str]:
    """By what numbers from low to high are to be multiplied, and their unit then.

    >>> prefixed(-2e-4, 3e-3, "m"), prefixed(0.0, 2.5e-6, "N m"), prefixed(0.0, 0.7, "rad")
    ((1000.0, 'mm'), (1000000.0, 'µN m'), (1.0, 'rad'))
    >>> prefixed(0.3, 0.302, "rad"), prefixed(0.0, 2e-6, "kg"), prefixed(0.0, 2e-4, "1")
    ((1000.0, 'mrad'), (1000000.0, '1e-6 kg'), (1000000.0, '1e-6'))
    """
    size, span = max(abs(low), abs(high)), high - low
    if size == 0 or (SMALL <= size < LARGE and not 0 < span < SPAN):
        return 1.0, unit
    power = 3 * math.floor(math.log10(span if 0 < span < SPAN else size) / 3)
    while power < 0 and size * 10.0**-power > LONGEST:
        power += 3
    if power == 0:
        return 1.0, unit
    factor = 10.0**-power
    if power in PREFIXES and unit.replace("/", " ").split(" ")[0] in PREFIXED:
        return factor, f"{PREFIXES[power]}{unit}"
    return factor, f"1e{power} {unit}".removesuffix(" 1").rstrip()


Samples = np.ndarray[Any, np.dtype[np.int64]]

POINTS = 400  # of a curve: the lowest and the highest of half as many pieces
PARTS = 8  # of a curve that has gaps; beyond, they are drawn through
CURSOR = (0.0, 1.0)  # the range of an axis of its own that the line at the time shown has


@dataclass(frozen=True)
class Curves:
    """Curves over the same times (s): values (n,) by label, with one unit.

    ghosts: those of other runs, which curve they are to be compared with, and the number of their run.
    parts: of a curve with gaps, the label of its first part by that of each other one.
    """

    times: Array
    values: dict[str, Array]
    unit: str
    ghosts: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    parts: Mapping[str, str] = field(default_factory=dict)

    @property
    def range(self) -> tuple[float, float]:
        """The lowest and the highest of all values that are numbers."""
        every = np.concatenate([np.zeros(0), *self.values.values()])
        every = every[np.isfinite(every)]
        return (float(every.min()), float(every.max())) if len(every) else (0.0, 1.0)

    @property
    def whole(self) -> bool:
        """Whether there is a number at all times."""
        return all(np.isfinite(each).all() for each in self.values.values())

    def readable(self) -> Curves:
        """The same as a plot can show it: in a unit whose numbers can be read, without gaps inside of a curve."""
        factor, unit = prefixed(*self.range, self.unit)
        values, parts = {}, {}
        for label, each in self.values.items():
            for k, part in enumerate(_unbroken(each)):
                begin = self.times[np.isfinite(part).argmax()]
                own = label if k == 0 else f"{label}, from {begin:.4g} s"
                values[own] = factor * part
                if k:
                    parts[own] = label
        return Curves(self.times, values, unit, self.ghosts, parts)

    def with_cursor(self, time: float) -> list[Array]:
        """Times, values, and last a needle at a time, from below to above `CURSOR`, the range that a plot shows of it.

        Plots have no upright lines: the needle stands on a line that is never seen.
        """
        place = int(np.searchsorted(self.times, time))
        times = np.insert(self.times, [place] * 3, time)
        needle = np.full(len(times), CURSOR[0] - 1.0)
        needle[place + 1] = CURSOR[1] + 1.0
        at = [np.interp(time, self.times, each) for each in self.values.values()]
        values = [np.insert(each, [place] * 3, now) for each, now in zip(self.values.values(), at, strict=True)]
        return [times, *values, needle]


def _unbroken(values: Array) -> list[Array]:
    """A curve as parts that have no gap inside: plots draw straight through one."""
    good = np.isfinite(values)
    values = np.where(good, values, np.nan)
    begins = np.flatnonzero(good & ~np.r_[False, good[:-1]])
    if len(begins) < 2:
        return [values]
    edges = [0, *begins[1:PARTS].tolist(), len(values)]
    places = np.arange(len(values))
    return [np.where((places >= begin) & (places < end), values, np.nan) for begin, end in pairwise(edges)]


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
            known_as: (other._run.array("time"), other._values(name, known))
            for known_as, other in (others or {}).items()
        }
        for span, theirs in compared.values():
            there = span[telling((theirs[label] for label in known if label in theirs), len(span))]
            times = np.union1d(times, there[there <= own[-1]])
        values = {label: _at(times, own, each) for label, each in known.items()}
        ghosts = {}
        for number, (known_as, (span, theirs)) in enumerate(compared.items()):
            for label in [each for each in known if each in theirs]:  # one that ends earlier has nothing behind
                ended = times > span[-1] + 1e-9 * own[-1]
                values[f"{label} ({known_as})"] = np.where(ended, np.nan, _at(times, span, theirs[label]))
                ghosts[f"{label} ({known_as})"] = label, number
        return Curves(times, values, self._unit(name), ghosts)

    def _values(self, name: str, wanted: Iterable[str] = ()) -> dict[str, Array]:
        """Of all members of a group that move at all, and of those that are wanted."""
        found = {each: np.asarray(self._known[each].of(self._data).values) for each in self._members(name)}
        if name not in GROUPS:
            return found
        moving = {each: values for each, values in found.items() if values.any() or each in wanted}
        return moving or found  # what never moves clutters

    def _members(self, name: str) -> list[str]:
        if name == "joints":
            wanted = coordinates_of(self._data, "joint")
        elif name == "tip":
            wanted = ["tip.x", "tip.y", "tip.z"]
        elif name == "tip deflection":
            bent = [link.name for link in self._run.robot.links if link.flexible is not None]
            wanted = [f"deflection.{link}.{axis}" for link in bent for axis in "yz"]
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


AXES = "xyz"


def usual_output(run: Run) -> str:
    """The tip along the axis on which it moves most in a run; of one that rests, `tip.y`."""
    way = np.ptp(run.array("tip"), axis=0)
    return f"tip.{AXES[int(way.argmax())]}" if way.max() > 0 else "tip.y"


def pushed_output(system: System, posture: Mapping[str, float], given: str) -> str | None:
    """The tip along the axis on which an input pushes it most in a posture; None where it does not push it."""
    there = linearize(system, q=dict(posture), inputs=[given], outputs=[f"tip.{axis}''" for axis in AXES])
    push = np.abs(there.D[:, 0])
    return f"tip.{AXES[int(push.argmax())]}" if push.max() > 0 else None


def output_words(system: System, usual: str) -> str:
    """Names that this robot's outputs have."""
    names = [usual, f"{usual}''", *(f"{each.link}.q" for each in system.actuators[:1])]
    bent = [link for link in system.robot.links if link.flexible is not None]
    for link in bent[:1]:
        place = f"{link.length / 2:.3g}"
        side = "z" if link.flexible is not None and link.flexible.bend_z and not link.flexible.bend_y else "y"
        names += [f"deflection.{link.name}.{side}", f"{link.name}({place}).{usual[-1]}", f"{link.name}.strain({place})"]
    return f"Outputs: {', '.join(f'`{name}`' for name in names)}, ..."
