"""The members of a batch, as arrays.

Pack rows, one for each member, into groups of SIMD lanes, and unpack them.

What is read of a sample (`lane_code.read`), and which of its entries is what.

The usual measures (`sweeps/measures.py`) of many members at once, from the extremes of what was read of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexarm.foundation.validation import Array
from flexarm.results.energy_balance import REST_SHARE, ROUNDING_SHARE
from flexarm.sweeps.measures import LEAST

ROUGH = 0.01  # how well `sizes` and `turns` are known: largest values, which have kinks where fields vary


@dataclass(frozen=True)
class DeflectionSignals:
    """Deflections of second-order links at some stations, whose vibration is followed while members run.

    links, stations, axes: indices by signal; those of one link and station come one after the other.
    shapes: deflections as shares of the length of the link, of coordinates in sizes, (signals, coordinates).
    may_be_fast: by signal, whether the link has a second shape along this axis.
    """

    links: NDArray[np.int64]
    stations: NDArray[np.int64]
    axes: NDArray[np.int64]
    shapes: Array
    may_be_fast: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.links)


@dataclass(frozen=True)
class MemberArrays:
    """The members of a batch: arrays with a row for each.

    numbers: what the functions of the plant take; sizes: what is large for each coordinate.
    q, v, law_states: where a run begins.
    allowed, solved: of errors (m, J), see `Tolerance`.
    push: a torque that turns the robot as a whole by about 1 rad/s2.
    lower, upper: limits of the joints `limited`; turns: what each coordinate alone turns nodes of exact links by;
    slideways: lengths along which the joints `sliding` go. far: deflections beyond reason, in sizes.
    slowest: the logarithm of the frequency of the slowest vibration (rad/s).
    signals: deflections that are followed.
    """

    numbers: Array
    sizes: Array
    q: Array
    v: Array
    law_states: Array
    allowed: Array
    solved: Array
    push: Array
    lower: Array
    upper: Array
    turns: Array
    slideways: Array
    limited: list[int]
    sliding: list[int]
    far: Array
    slowest: Array
    signals: DeflectionSignals

    def __len__(self) -> int:
        return len(self.numbers)


@dataclass(frozen=True)
class LaneArrays:
    """Of so many members in groups of so many lanes. Lanes that are left over hold copies of the last member."""

    members: int
    lanes: int

    @property
    def groups(self) -> int:
        return -(-self.members // self.lanes)

    def packed(self, rows: Any) -> Array:
        """(groups, entries, lanes) from (members, entries)."""
        rows = np.asarray(rows, dtype=float)
        more = self.groups * self.lanes - self.members
        if more:
            rows = np.concatenate([rows, np.repeat(rows[-1:], more, axis=0)])
        return np.ascontiguousarray(rows.reshape(self.groups, self.lanes, -1).swapaxes(1, 2))

    def rows(self, packed: Any) -> Any:
        """(members, ..., entries) from (groups, ..., entries, lanes)."""
        moved = np.moveaxis(packed, -1, 1)
        return moved.reshape(self.groups * self.lanes, *moved.shape[2:])[: self.members]

    def place(self, member: int) -> tuple[int, int]:
        """The group and the lane of a member."""
        return member // self.lanes, member % self.lanes

    def of(self, packed: Array, member: int) -> Array:
        """(..., entries) of one member."""
        group, lane = self.place(member)
        return packed[group, ..., lane]


@dataclass(frozen=True)
class ReadingLayout:
    """Places in a column: kinetic, elastic and gravity's energy, that of drives, work, loss; what the integration put
    in, but for a constant; the tip; by link the square of its tip's deflection; torques."""

    links: int
    actuators: int

    stores = slice(0, 6)
    gained = 6
    tip = slice(7, 10)

    @property
    def deflections(self) -> slice:
        return slice(10, 10 + self.links)

    @property
    def torques(self) -> slice:
        return slice(10 + self.links, self.count)

    @property
    def count(self) -> int:
        return 10 + self.links + self.actuators


NAMES = ("residual", "kinetic", "elastic", "gravity", "drive", "work", "dissipated", "balance", "end")


class Extremes:
    """The least and the largest of each reading of each member, (groups, 2, readings, lanes): before the last jump of
    its inputs, and `since` then, from which the tip's swing is told; and at `nodes`, where energies are those of the
    integration, not of what lies between its steps. `first`: the first readings. `samples` are counted by group."""

    def __init__(self, arrays: LaneArrays, readings: ReadingLayout, samples: NDArray[np.int64]) -> None:
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
        `results/energy_balance.py` has it). moderate: the energies of robots that move about once in their run (J)."""
        (low, high), (least, most) = self._all, self.nodes.swapaxes(0, 1)
        at, first = self._at, self.first[:, self._at.gained]
        balance = np.maximum(0.0, np.maximum(most[:, at.gained] - first, first - least[:, at.gained]))
        moved = np.maximum(high[:, 0], (high - low)[:, at.stores].max(axis=1))
        every = np.maximum(np.abs(high), np.abs(low))[:, at.stores].max(axis=1)
        balance, moved, every = self._arrays.rows(np.stack([balance, moved, every], axis=1)).T
        moving = np.isfinite(balance) & (moved > np.maximum(REST_SHARE * moderate, ROUNDING_SHARE * every))
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
