"""What is kept of a run: samples, the torques of a digital controller, what the solver did."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.motion.sampling import between
from flexarm.motion.state import Layout
from flexarm.motion.step_size import Verdict

HOPELESS = 100  # times what is allowed: steps of fixed size whose iteration leaves this much are reported


@dataclass
class Statistics:
    """What the solver did."""

    method: str = ""
    steps: int = 0
    rejected: int = 0
    unsolved: int = 0  # steps of fixed size whose iteration did not converge
    computed: int = 0  # steps, those that were not accurate enough included
    chunks: int = 0
    smallest_step: float = float("inf")
    largest_step: float = 0.0
    loop_time: float = 0.0

    def count(self, verdict: Verdict, size: float) -> None:
        self.chunks += 1
        self.computed += verdict.used
        self.rejected += verdict.good < verdict.used
        if verdict.good:
            self.steps += verdict.good
            self.smallest_step = min(self.smallest_step, size)
            self.largest_step = max(self.largest_step, size)
            self.unsolved += int((verdict.unsolved[: verdict.good] > HOPELESS).sum())


@dataclass
class Recorder:
    """States at the wanted times, as far as the run came. Each entry is appended whole: an interruption at any moment
    leaves a record that is consistent."""

    wanted: Array
    layout: Layout
    statistics: Statistics = field(default_factory=Statistics)
    blocks: list[tuple[Array, Array]] = field(default_factory=list)  # times, and states then in rows
    commands: list[tuple[float, Array]] = field(default_factory=list)  # of a digital controller

    @property
    def last(self) -> float:
        """Time of the last sample; before the first, none."""
        return float(self.blocks[-1][0][-1]) if self.blocks else -np.inf

    def start(self, state: Array) -> None:
        self.blocks.append((np.zeros(1), state[None, :].copy()))

    def record(self, times: Array, states: Array, end: float, ended: bool = False) -> None:
        """Keep the samples between these nodes up to time `end`; where the run has `ended` there, that one is left to
        `finish`."""
        first = np.searchsorted(self.wanted, self.last, side="right")
        beyond = np.searchsorted(self.wanted, end, side="left" if ended else "right")
        if beyond > first:
            here = self.wanted[first:beyond]
            self.blocks.append((here, between(times, states, here, self.layout)))

    def finish(self, t: float, state: Array) -> None:
        """Keep the state in which the run ended, if that was between two samples."""
        if t > self.last:
            self.blocks.append((np.array([t]), state[None, :].copy()))

    @property
    def times(self) -> Array:
        return np.concatenate([times for times, _ in self.blocks])

    @property
    def states(self) -> Array:
        return np.concatenate([states for _, states in self.blocks])

    def held(self, times: Array) -> Array | None:
        """What the digital controller said then; it may have a memory, so it is not asked again."""
        if not self.commands:
            return None
        spoken, torques = zip(*self.commands, strict=True)
        return np.array(torques)[np.searchsorted(np.array(spoken), times + 1e-12, side="right") - 1].T
