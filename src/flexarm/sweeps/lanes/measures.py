"""What is usually wanted of a run: peaks, the end, what vibrates on; computed for many members at once, or of a Run."""

from __future__ import annotations

from typing import Any

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.motion.run import Run
from flexarm.sweeps.lanes.lane_arrays import LaneArrays

ENERGIES = ("kinetic", "elastic", "gravity", "drive")
UNITS = {
    "peak_deflection": "m",
    "tip": "m",
    "residual": "m",
    "peak_torque": "",
    **dict.fromkeys(ENERGIES, "J"),
    "work": "J",
    "dissipated": "J",
    "balance": "J",
    "end": "s",
}
MEANINGS = {
    "peak_deflection": "largest deflection of each link's tip",
    "tip": "position of the last link's tip at the end",
    "residual": "amplitude of the tip's vibration after the last jump of the inputs",
    "peak_torque": "largest torque or force of each actuator",
    **{name: f"{name} energy at the end" for name in ENERGIES},
    "work": "work of all inputs",
    "dissipated": "energy dissipated",
    "balance": "energy that the integration gained, at the end",
    "end": "time at which the run ended",
}
DIMENSIONS = {"peak_deflection": "link", "tip": "axis", "peak_torque": "input"}
"""Of the measures that are no single numbers."""
LEAST = 3  # samples of which an amplitude is told


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

    def gather(self, times: Array, readings: Array, until: Array) -> None:
        """Take note of readings (groups, samples, entries, lanes) at these times; of each member only up to the time
        `until` (groups, lanes)."""
        if self._first is None:
            self._first = readings[:, 0, :4].sum(axis=1)
        here = None
        if not (until >= times[-1]).all():
            here = times[:, None] <= until[:, None, :]  # (groups, samples, lanes)
            if not here.any():
                return
        bends = readings[:, :, 7 : 7 + 3 * self._links].reshape(*readings.shape[:2], self._links, 3, -1)
        lengths = np.sqrt(np.square(bends).sum(axis=3))
        self._deflection = np.fmax(self._deflection, _largest(lengths, here))
        self._torque = np.fmax(self._torque, _largest(np.abs(readings[:, :, 7 + 3 * self._links :]), here))
        late = times >= self._after
        if late.any():
            tips, here = readings[:, late, 4:7], None if here is None else here[:, late]
            self._late += int(late.sum()) if here is None else here.sum(axis=1)
            self._high = np.fmax(self._high, _largest(tips, here))
            self._low = np.fmin(self._low, -_largest(-tips, here))

    def values(self, readings: Array, work: Array, lost: Array, end: Array, duration: float) -> list[dict[str, Any]]:
        """By member all measures, with the readings (groups, entries, lanes) at its end; work and energy lost until
        then, and when that was, (groups, lanes) each. What vibrates on is not known of runs that ended early."""
        now = readings[:, None]
        self.gather(np.array([np.inf]), now, np.full(end.shape, np.inf))
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


def _largest(values: Array, here: Any) -> Array:
    """(groups, entries, lanes) of (groups, samples, entries, lanes), where the samples count."""
    counted = values if here is None else np.where(here[:, :, None], values, -np.inf)
    return np.asarray(np.fmax.reduce(counted, axis=1))


def measures_of(run: Run) -> dict[str, Any]:
    """The same of a run; the tip's swing from the last time on at which its inputs jumped."""
    after = 0.0 if isinstance(run._dense, str) else float(run._dense.nodes.jumps[-1])
    time, tip = run.array("time"), run.array("tip")
    late = tip[time >= after]
    swing = (
        float(np.linalg.norm(np.ptp(late, axis=0) / 2)) if len(late) >= LEAST and run.status == "completed" else np.nan
    )
    energies = {name: float(run.array(name)[-1]) for name in (*ENERGIES, "work", "dissipated", "balance")}
    return {
        "peak_deflection": np.linalg.norm(run.array("deflection"), axis=2).max(axis=0),
        "tip": tip[-1].copy(),
        "residual": swing,
        "peak_torque": np.abs(run.array("torque")).max(axis=0, initial=0.0),
        **energies,
        "end": float(time[-1]),
    }
