"""What is kept of a run: samples, its steps, the torques of a digital controller, what the solver did."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from flexarm.codegen.driver import DriverControl
from flexarm.foundation.numbers import Array
from flexarm.motion.actuators import HeldTorques
from flexarm.motion.nodes import ROUNDING, Keeper
from flexarm.motion.sampling import rows_between
from flexarm.motion.state import Layout

AT_ONCE = 4096  # nodes between which samples are computed together


@dataclass
class Statistics:
    """What the solver did."""

    method: str = ""
    steps: int = 0
    rejected: int = 0
    unsolved: int = 0  # steps of fixed size whose iteration did not converge
    computed: int = 0  # steps, those that were not accurate enough included
    chunks: int = 0  # calls of the compiled loop
    smallest_step: float = float("inf")
    largest_step: float = 0.0
    loop_time: float = 0.0

    def count(self, control: DriverControl, good: int) -> None:
        """Count what a driver did; only the first `good` of its steps are kept."""
        self.chunks += 1
        self.computed += control.attempts
        self.rejected += control.rejected + (good < control.steps)
        self.steps += good
        self.unsolved += control.unsolved
        self.smallest_step = min(self.smallest_step, control.shortest_taken)
        self.largest_step = max(self.largest_step, control.longest_taken)


@dataclass
class Recorder:
    """Samples at the wanted times, rows of (q, v, a, work, lost), as far as the run came. Each entry is appended whole:
    an interruption at any moment leaves a record that is consistent."""

    wanted: Array
    layout: Layout
    order: int  # of the method
    statistics: Statistics = field(default_factory=Statistics)
    blocks: list[tuple[Array, Array]] = field(default_factory=list)  # times, and rows
    commands: list[tuple[float, HeldTorques]] = field(default_factory=list)  # of a digital controller
    jumps: list[float] = field(default_factory=list)  # times at which accelerations were computed anew

    def __post_init__(self) -> None:
        self.keeper = Keeper(self.layout, self.order)
        self._waiting: list[tuple[Array, Array, float]] = []  # times and states of nodes, and until when they count
        self._nodes = 0  # that wait

    @property
    def last(self) -> float:
        """Time of the last sample; before the first, none."""
        return float(self.blocks[-1][0][-1]) if self.blocks else -np.inf

    def start(self, state: Array) -> None:
        self.jumps.append(0.0)
        self.blocks.append((np.zeros(1), self._row(state)))

    def record(self, times: Array, states: Array, end: float, jumped: bool = True) -> None:
        """Keep these nodes and the samples between them before time `end`: there inputs may jump, so that a sample at
        that time is of the stretch that follows, or left to `finish`. Where accelerations were computed anew between
        them, a time is there twice."""
        if jumped and times[0] > self.jumps[-1]:
            self.jumps.append(float(times[0]))
        inside = times[1:][times[1:] == times[:-1]]
        if inside.size:
            self.jumps.extend(inside[(inside < end) & (inside > self.jumps[-1])].tolist())
        begin = 0 if jumped or not self._waiting else 1  # the first node is the last of those before
        beyond = len(times) if end == times[-1] else int(np.searchsorted(times, end))
        keep = 0 if jumped else 1
        self.keeper.keep(times[keep:beyond], states[keep:beyond])
        self._waiting.append((times[begin:].copy(), states[begin:].copy(), end))
        self._nodes += len(times)
        if self._nodes > AT_ONCE:
            self.flush()

    def flush(self) -> None:
        """Compute the samples between the nodes that wait for it."""
        if not self._waiting:
            return
        end = self._waiting[-1][2]
        first = np.searchsorted(self.wanted, self.last, side="right")
        until = np.searchsorted(self.wanted, end - ROUNDING * self.wanted[-1])
        if until > first:
            here, at = self.wanted[first:until], self.layout
            times, states = (np.concatenate(each) for each in list(zip(*self._waiting, strict=True))[:2])
            self.blocks.append(
                (here, rows_between(times, states[:, at.motion], states[:, at.energies], here, self.order))
            )
        self._waiting, self._nodes = [], 0

    def finish(self, t: float, state: Array) -> None:
        """Keep the state in which the run ended, if that was later than the last sample."""
        self.flush()
        if t > self.keeper.last:
            self.keeper.keep(np.array([t]), state[None, :])
        if t > self.last:
            self.blocks.append((np.array([t]), self._row(state)))

    @property
    def times(self) -> Array:
        return np.concatenate([times for times, _ in self.blocks])

    @property
    def rows(self) -> Array:
        return np.concatenate([rows for _, rows in self.blocks])

    def _row(self, state: Array) -> Array:
        at = self.layout
        return np.concatenate([state[at.motion], state[at.work : at.lost + 1]])[None, :]
