"""The steps of a run, kept so that it can be read at any time between them."""

from __future__ import annotations

from dataclasses import field

import numpy as np

from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.numbers import Array
from flexarm.motion.sampling import rows_between
from flexarm.motion.state import Layout

MOST = 200e6  # bytes: the steps of longer runs are not kept
ROUNDING = 1e-12  # of a run's length: a time that is so near to another is the same


@dataclass(frozen=True)
class Nodes:
    """Times of the steps' ends, and rows of (q, v, a, work, lost, given, drained) then. Where inputs jump a time is
    there twice: with the accelerations before it, and after."""

    times: Array
    rows: Array
    order: int  # of the method

    @property
    def end(self) -> float:
        return float(self.times[-1])

    def motions(self, coordinates: int) -> list[Array]:
        """q, v and a of the robot, which may have the states of a law behind them."""
        every = (self.rows.shape[1] - 4) // 3
        return [self.rows[:, start : start + coordinates] for start in (0, every, 2 * every)]

    @property
    def jumps(self) -> Array:
        """Times at which inputs may have jumped, the start among them."""
        return np.concatenate([self.times[:1], self.times[1:][np.diff(self.times) == 0]])

    def at(self, wanted: Array) -> Array:
        """Rows of (q, v, a, work, lost) at the wanted times; at a jump, after it."""
        if len(self.times) == 1:
            return np.repeat(self.rows[:, :-2], len(wanted), axis=0)
        return rows_between(self.times, self.rows[:, :-4], self.rows[:, -4:], wanted, self.order)


@dataclass
class Keeper:
    """Gathers nodes while a run goes on, until they are too many. Each entry is appended whole."""

    layout: Layout
    order: int
    blocks: list[tuple[Array, Array]] = field(default_factory=list)
    size: int = 0  # bytes

    @property
    def last(self) -> float:
        return float(self.blocks[-1][0][-1]) if self.blocks else -np.inf

    @property
    def full(self) -> bool:
        return self.size > MOST

    def keep(self, times: Array, states: Array) -> None:
        """Nodes that follow those before; once there are too many, none are kept."""
        if self.full or not len(times):
            return
        rows = np.concatenate([states[:, self.layout.motion], states[:, self.layout.energies]], axis=1)
        self.size += rows.nbytes + times.nbytes
        if self.full:
            self.blocks.clear()
        else:
            self.blocks.append((times.copy(), rows))

    @property
    def nodes(self) -> Nodes | None:
        """All of them; None where they were too many."""
        if self.full or not self.blocks:
            return None
        times, rows = (np.concatenate(part) for part in zip(*self.blocks, strict=True))
        return Nodes(times, rows, self.order)


def snapped(times: Array, marks: Array, within: float) -> Array:
    """Times that are a mark's but for rounding are the mark's (sorted)."""
    place = np.searchsorted(marks, times)
    out = times.copy()
    for near in (marks[np.clip(place - 1, 0, None)], marks[np.clip(place, None, len(marks) - 1)]):
        out = np.where(np.abs(times - near) <= within, near, out)
    return out
