"""The usual measures (`sweeps/kept.py`) of many members at once, from the extremes of what was read of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexarm.foundation.numbers import Array
from flexarm.motion.audit import NOTHING, ROUNDING
from flexarm.sweeps.kept import LEAST
from flexarm.sweeps.lanes.lane_arrays import LaneArrays
from flexarm.sweeps.lanes.readings import Readings

NAMES = ("residual", "kinetic", "elastic", "gravity", "drive", "work", "dissipated", "balance", "end")


class Extremes:
    """The least and the largest of each reading of each member, (groups, 2, readings, lanes): before the last jump of
    its inputs, and `since` then, from which the tip's swing is told; and at `nodes`, where energies are those of the
    integration, not of what lies between its steps. `first`: the first readings. `samples` are counted by group."""

    def __init__(self, arrays: LaneArrays, readings: Readings, samples: NDArray[np.int64]) -> None:
        self._arrays, self._at, self._samples = arrays, readings, samples
        shape = (3, arrays.groups, 2, readings.count, arrays.lanes)
        self._before, self.since, self.nodes = np.full(shape, np.inf) * np.array([1, -1])[:, None, None]
        self._samples_before = np.zeros((arrays.groups, arrays.lanes), dtype=int)
        self.first = np.full((arrays.groups, readings.count, arrays.lanes), np.nan)
        self._frozen: dict[int, list[Array]] = {}

    def separate(self, lanes: Any) -> None:
        """Separate readings before the last jump of inputs from those since, in lanes (groups, lanes) where it is
        now."""
        if not lanes.any():
            return
        self._samples_before[lanes] = np.broadcast_to(self._samples[:, None], lanes.shape)[lanes]
        where = np.broadcast_to(lanes[:, None, None], self.since.shape)
        low, high = self._all
        for side, known, nothing in ((0, low, np.inf), (1, high, -np.inf)):
            self._before[:, side][where[:, side]] = known[where[:, side]]
            self.since[:, side][where[:, side]] = nothing

    def freeze(self, member: int) -> None:
        """Nothing more is read of a member: its lane will do what another does."""
        if member not in self._frozen:
            self._frozen[member] = [self._arrays.of(each, member).copy() for each in self._every]

    def thaw(self) -> None:
        """Let lanes of members that ended be theirs again."""
        for member, kept in self._frozen.items():
            group, lane = self._arrays.place(member)
            for each, own in zip(self._every, kept, strict=True):
                each[group, ..., lane] = own

    @property
    def _every(self) -> tuple[Array, Array, Array]:
        return self._before, self.since, self.nodes

    @property
    def _all(self) -> tuple[Array, Array]:
        """(groups, readings, lanes) each: the least and the largest."""
        return np.minimum(self._before[:, 0], self.since[:, 0]), np.maximum(self._before[:, 1], self.since[:, 1])

    def leak(self, moderate: Array) -> Array:
        """By member, what the integration gained or lost, of the energy that moved; none where nothing moved (as
        `motion/audit.py` has it). moderate: the energies of robots that move about once in their run (J)."""
        (low, high), (least, most) = self._all, self.nodes.swapaxes(0, 1)
        at, first = self._at, self.first[:, self._at.gained]
        balance = np.maximum(0.0, np.maximum(most[:, at.gained] - first, first - least[:, at.gained]))
        moved = np.maximum(high[:, 0], (high - low)[:, at.stores].max(axis=1))
        every = np.maximum(np.abs(high), np.abs(low))[:, at.stores].max(axis=1)
        balance, moved, every = self._arrays.rows(np.stack([balance, moved, every], axis=1)).T
        moving = np.isfinite(balance) & (moved > np.maximum(NOTHING * moderate, ROUNDING * every))
        return np.where(moving, balance / np.where(moving, moved, 1.0), 0.0)

    def values(self, last: Array, end: Array, duration: float) -> dict[str, Array]:
        """By name all measures, a row for each member. `last`: what was read at its end (groups, readings, lanes),
        `end`: when that was (groups, lanes). What vibrates on is not known of runs that ended early."""
        self.since[:, 0], self.since[:, 1] = np.fmin(self.since[:, 0], last), np.fmax(self.since[:, 1], last)
        (low, high), at, rows = self._all, self._at, self._arrays.rows
        swing = np.sqrt(np.square((self.since[:, 1] - self.since[:, 0])[:, at.tip] / 2).sum(axis=1))
        samples = self._samples[:, None] - self._samples_before + 1
        residual = np.where((end >= duration) & (samples >= LEAST), swing, np.nan)
        balance = last[:, at.gained] - self.first[:, at.gained]
        single = np.stack([residual, *np.moveaxis(last[:, at.stores], 1, 0), balance, end], axis=1)
        bends = rows(np.sqrt(high[:, at.deflections]))
        torques = rows(np.maximum(np.abs(high), np.abs(low))[:, at.torques])
        tips = rows(last[:, at.tip])
        singles = dict(zip(NAMES, rows(single).T.copy(), strict=True))
        return {"peak_deflection": bends, "tip": tips, "peak_torque": torques, **singles}
