"""The usual measures (`sweeps/kept.py`) of many members at once: peaks, the end, what vibrates on."""

from __future__ import annotations

from typing import Any

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.sweeps.kept import LEAST
from flexarm.sweeps.lanes.lane_arrays import LaneArrays

ENERGIES = ("kinetic", "elastic", "gravity", "drive")


class Peaks:
    """Gathers readings of samples (`lane_code.read`) of the members of a batch while they run.

    after: the time (s) from which the tip's swing is measured.
    """

    def __init__(self, arrays: LaneArrays, links: int, actuators: int, after: float) -> None:
        self._arrays, self._links, self._after = arrays, links, after
        shape = (arrays.groups, arrays.lanes)
        self._deflection = np.zeros((arrays.groups, links, arrays.lanes))
        self._torque = np.zeros((arrays.groups, actuators, arrays.lanes))
        self._low, self._high = (
            np.full((2, arrays.groups, 3, arrays.lanes), np.inf) * np.array([1, -1])[:, None, None, None]
        )
        self._late = np.zeros(shape, dtype=int)
        self._first: Array | None = None  # energy at the start

    def gather(self, times: Array, readings: Array, here: Any) -> None:
        """Take note of readings (groups, samples, entries, lanes) at these times; `here`: which of them count, (groups,
        samples, lanes), None where all do."""
        if self._first is None:
            self._first = readings[:, 0, :4].sum(axis=1)
        bends = readings[:, :, 7 : 7 + 3 * self._links].reshape(*readings.shape[:2], self._links, 3, -1)
        lengths = np.sqrt(np.square(bends).sum(axis=3))
        self._deflection = np.fmax(self._deflection, largest(lengths, here))
        self._torque = np.fmax(self._torque, largest(np.abs(readings[:, :, 7 + 3 * self._links :]), here))
        late = times >= self._after
        if late.any():
            tips, here = readings[:, late, 4:7], None if here is None else here[:, late]
            self._late += int(late.sum()) if here is None else here.sum(axis=1)
            self._high = np.fmax(self._high, largest(tips, here))
            self._low = np.fmin(self._low, -largest(-tips, here))

    def values(self, readings: Array, work: Array, lost: Array, end: Array, duration: float) -> list[dict[str, Any]]:
        """By member all measures, with the readings (groups, entries, lanes) at its end; work and energy lost until
        then, and when that was, (groups, lanes) each. What vibrates on is not known of runs that ended early."""
        now = readings[:, None]
        self.gather(np.array([np.inf]), now, None)
        assert self._first is not None
        rows = self._arrays.rows
        energies = readings[:, :4]
        swing = np.sqrt(np.square((self._high - self._low) / 2).sum(axis=1))
        residual = np.where((self._late >= LEAST) & (end >= duration), swing, np.nan)
        balance = energies.sum(axis=1) - self._first - work + lost
        single = np.stack([residual, *np.moveaxis(energies, 1, 0), work, lost, balance, end], axis=1)
        names = ("residual", *ENERGIES, "work", "dissipated", "balance", "end")
        tips = readings[:, 4:7]
        vectors = {"peak_deflection": rows(self._deflection), "tip": rows(tips), "peak_torque": rows(self._torque)}
        return [
            {**{name: each[k] for name, each in vectors.items()}, **dict(zip(names, numbers))}
            for k, numbers in enumerate(rows(single).tolist())
        ]


def largest(values: Array, here: Any) -> Array:
    """(groups, entries, lanes) of (groups, samples, entries, lanes), where the samples count."""
    counted = values if here is None else np.where(here[:, :, None], values, -np.inf)
    return np.asarray(np.fmax.reduce(counted, axis=1))
