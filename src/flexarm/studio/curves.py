"""Quantities of runs as curves for plots: groups, sample selection, readable units, and default outputs."""

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
PREFIXABLE_UNITS = ("m", "rad", "N", "J", "W", "Pa", "Hz", "s")  # units that may have an SI prefix start with these
MIN_UNSCALED, MAX_UNSCALED = 0.1, 1e4  # values in between are not scaled
MIN_TICK_SPAN = 0.01  # below, all tick labels would be equal
MAX_SCALED_VALUE = 1e6  # larger numbers do not fit next to an axis


def scale_to_prefix(low: float, high: float, unit: str) -> tuple[float, str]:
    """Return the factor and the unit that make numbers in a range readable on an axis with three decimals.

    >>> scale_to_prefix(-2e-4, 3e-3, "m"), scale_to_prefix(0.0, 2.5e-6, "N m"), scale_to_prefix(0.0, 0.7, "rad")
    ((1000.0, 'mm'), (1000000.0, 'µN m'), (1.0, 'rad'))
    >>> scale_to_prefix(0.3, 0.302, "rad"), scale_to_prefix(0.0, 2e-6, "kg"), scale_to_prefix(0.0, 2e-4, "1")
    ((1000.0, 'mrad'), (1000000.0, '1e-6 kg'), (1000000.0, '1e-6'))
    """
    size, span = max(abs(low), abs(high)), high - low
    if size == 0 or (MIN_UNSCALED <= size < MAX_UNSCALED and not 0 < span < MIN_TICK_SPAN):
        return 1.0, unit
    power = 3 * math.floor(math.log10(span if 0 < span < MIN_TICK_SPAN else size) / 3)
    while power < 0 and size * 10.0**-power > MAX_SCALED_VALUE:
        power += 3
    if power == 0:
        return 1.0, unit
    factor = 10.0**-power
    if power in PREFIXES and unit.replace("/", " ").split(" ")[0] in PREFIXABLE_UNITS:
        return factor, f"{PREFIXES[power]}{unit}"
    return factor, f"1e{power} {unit}".removesuffix(" 1").rstrip()


SampleIndices = np.ndarray[Any, np.dtype[np.int64]]

POINTS_PER_CURVE = 400  # the lowest and the highest sample of half as many intervals
MAX_PART_COUNT = 8  # further gaps of a curve are connected
CURSOR_RANGE = (0.0, 1.0)  # axis range of the cursor


@dataclass(frozen=True)
class Curves:
    """Curves over the same times (s): arrays of values (n,) by label, with one unit."""

    times: Array
    values: dict[str, Array]
    unit: str
    ghosts: Mapping[str, tuple[str, int]] = field(default_factory=dict)  # curve to compare with, index of the run
    parts: Mapping[str, str] = field(default_factory=dict)  # first part by further ones, of curves split at gaps

    @property
    def range(self) -> tuple[float, float]:
        """The lowest and the highest finite value."""
        every = np.concatenate([np.zeros(0), *self.values.values()])
        every = every[np.isfinite(every)]
        return (float(every.min()), float(every.max())) if len(every) else (0.0, 1.0)

    @property
    def is_complete(self) -> bool:
        """True if all values are finite."""
        return all(np.isfinite(each).all() for each in self.values.values())

    def in_readable_units(self) -> Curves:
        """Return the curves in a readable unit, split at gaps."""
        factor, unit = scale_to_prefix(*self.range, self.unit)
        values, parts = {}, {}
        for label, each in self.values.items():
            for k, part in enumerate(_split_at_gaps(each)):
                begin = self.times[np.isfinite(part).argmax()]
                part_label = label if k == 0 else f"{label}, from {begin:.4g} s"
                values[part_label] = factor * part
                if k:
                    parts[part_label] = label
        return Curves(self.times, values, unit, self.ghosts, parts)

    def with_cursor(self, time: float) -> list[Array]:
        """Return times, values and a cursor at the given time, as plot data.

        Plots cannot draw vertical lines: the cursor is a needle through `CURSOR_RANGE` on an invisible baseline.
        """
        index = int(np.searchsorted(self.times, time))
        times = np.insert(self.times, [index] * 3, time)
        needle = np.full(len(times), CURSOR_RANGE[0] - 1.0)
        needle[index + 1] = CURSOR_RANGE[1] + 1.0
        at = [np.interp(time, self.times, each) for each in self.values.values()]
        values = [np.insert(each, [index] * 3, now) for each, now in zip(self.values.values(), at, strict=True)]
        return [times, *values, needle]


def _split_at_gaps(values: Array) -> list[Array]:
    """Split a curve into parts without inner gaps, because plots connect points across gaps."""
    is_finite = np.isfinite(values)
    values = np.where(is_finite, values, np.nan)
    begins = np.flatnonzero(is_finite & ~np.r_[False, is_finite[:-1]])
    if len(begins) < 2:
        return [values]
    edges = [0, *begins[1:MAX_PART_COUNT].tolist(), len(values)]
    indices = np.arange(len(values))
    return [np.where((indices >= begin) & (indices < end), values, np.nan) for begin, end in pairwise(edges)]


def select_samples(values: Iterable[Array], samples: int) -> SampleIndices:
    """Return the indices of samples to draw: the lowest and the highest of each interval, so that peaks remain."""
    if samples <= POINTS_PER_CURVE:
        return np.arange(samples)
    edges = np.linspace(0, samples, POINTS_PER_CURVE // 2 + 1).astype(int)
    kept = {0, samples - 1}
    for each in values:
        for begin, end in pairwise(edges.tolist()):
            part = each[begin:end]
            finite = np.flatnonzero(np.isfinite(part))
            if len(finite):
                kept |= {begin + int(finite[part[finite].argmin()]), begin + int(finite[part[finite].argmax()])}
            if len(finite) < len(part):  # keep gaps
                kept.add(begin + int(np.isfinite(part).argmin()))
    return np.array(sorted(kept))


def _interpolate(times: Array, sample_times: Array, values: Array) -> Array:
    """Interpolate samples linearly; at sample times the values are exact."""
    found = np.interp(times, sample_times, values)
    index = np.minimum(np.searchsorted(sample_times, times), len(sample_times) - 1)
    return np.where(sample_times[index] == times, values[index], found)


GROUPS = ("joints", "tip", "tip deflection", "torques", "energies", "energy balance")


class Quantities:
    """Quantities of a run that can be plotted: groups, then single quantities by name."""

    def __init__(self, run: Run) -> None:
        self._run, self._data = run, run.data
        self._available = available(run.data)

    @cached_property
    def names(self) -> list[str]:
        return [name for name in GROUPS if self._group_members(name)] + list(self._available)

    def curves(self, name: str, others: Mapping[str, Quantities] | None = None) -> Curves:
        """Return the curves of a group or quantity, with those of other runs by name."""
        own_times, own = self._run.array("time"), self._values(name)
        runs = {"": (own_times, own)}
        for run_name, other in (others or {}).items():
            found = other._values(name, own)
            runs[run_name] = other._run.array("time"), {label: found[label] for label in own if label in found}
        times = np.zeros(0)
        for sample_times, values in runs.values():
            selected = sample_times[select_samples(values.values(), len(sample_times))]
            times = np.union1d(times, selected[selected <= own_times[-1]])
        curves, ghosts = {}, {}
        for number, (run_name, (sample_times, values)) in enumerate(runs.items()):
            ended = times > sample_times[-1] + 1e-9 * own_times[-1]  # there are no values after a run's end
            for label, each in values.items():
                full_label = f"{label} ({run_name})" if run_name else label
                curves[full_label] = np.where(ended, np.nan, _interpolate(times, sample_times, each))
                if run_name:
                    ghosts[full_label] = label, number - 1
        return Curves(times, curves, self._unit(name), ghosts)

    def _values(self, name: str, names: Iterable[str] = ()) -> dict[str, Array]:
        """Return the quantities of a group that are not always zero, and those in `names`."""
        found = {each: np.asarray(self._available[each].of(self._data).values) for each in self._group_members(name)}
        if name not in GROUPS:
            return found
        moving = {each: values for each, values in found.items() if values.any() or each in names}
        return moving or found

    def _group_members(self, name: str) -> list[str]:
        flexible = [link.name for link in self._run.robot.links if link.flexible is not None]
        groups = {
            "joints": coordinates_of(self._data, "joint"),
            "tip": [f"tip.{axis}" for axis in AXES],
            "tip deflection": [f"deflection.{link}.{axis}" for link in flexible for axis in "yz"],
            "torques": [each for each in self._available if each.startswith("torque.")],
            "energies": [each for each in ENERGIES if each != "balance"],
            "energy balance": ["balance"],
        }
        return [each for each in groups.get(name, [name]) if each in self._available]

    def _unit(self, name: str) -> str:
        units = {self._available[each].unit for each in self._group_members(name)}
        return units.pop() if len(units) == 1 else ""


AXES = "xyz"


def default_output(run: Run) -> str:
    """Return the tip coordinate with the largest motion in a run; `tip.y` if the tip rests."""
    motion = np.ptp(run.array("tip"), axis=0)
    return f"tip.{AXES[int(motion.argmax())]}" if motion.max() > 0 else "tip.y"


def output_driven_by(system: System, posture: Mapping[str, float], given: str) -> str | None:
    """Return the tip coordinate that an input accelerates most in a posture, or None if it accelerates none."""
    model = linearize(system, q=dict(posture), inputs=[given], outputs=[f"tip.{axis}''" for axis in AXES])
    gain = np.abs(model.D[:, 0])
    return f"tip.{AXES[int(gain.argmax())]}" if gain.max() > 0 else None


def describe_outputs(system: System, default: str) -> str:
    """Return a sentence with examples of output names of this robot."""
    names = [default, f"{default}''", *(f"{each.link}.q" for each in system.actuators[:1])]
    flexible = [link for link in system.robot.links if link.flexible is not None]
    for link in flexible[:1]:
        x = f"{link.length / 2:.3g}"
        side = "z" if link.flexible is not None and link.flexible.bend_z and not link.flexible.bend_y else "y"
        names += [f"deflection.{link.name}.{side}", f"{link.name}({x}).{default[-1]}", f"{link.name}.strain({x})"]
    return f"Outputs: {', '.join(f'`{name}`' for name in names)}, ..."
