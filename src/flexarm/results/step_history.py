"""Recorded steps of a run, states between them by Hermite polynomials, and the recorder of steps and samples.

`codegen/groups.c` evaluates the same polynomials for groups of lanes, by the matrices below.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any

import numpy as np

from flexarm.feedback.actuators import HeldTorques
from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.validation import Array
from flexarm.integrators.state import Layout

# Polynomials in s through values and (scaled) derivatives at s = 0 and 1: rows are powers of s, columns the data.
QUINTIC = np.array(  # of (q, h v, h^2 a) at both ends
    [
        [1, 0, 0, 0, 0, 0],
        [0, 1, 0, 0, 0, 0],
        [0, 0, 0.5, 0, 0, 0],
        [-10, -6, -1.5, 10, -4, 0.5],
        [15, 8, 1.5, -15, 7, -1],
        [-6, -3, -0.5, 6, -3, 0.5],
    ]
)
CUBIC = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [-3, -2, 3, -1], [2, 1, -2, 1]])  # of (x, h dx) at both ends
DERIVATIVE = np.diag(np.arange(1.0, 6.0), 1)  # from coefficients of powers to those of the derivative
WITH_RATES = np.hstack([QUINTIC, DERIVATIVE @ QUINTIC, DERIVATIVE @ DERIVATIVE @ QUINTIC])
POWERS = np.arange(6.0)[:, None, None]  # of the powers of s
LOW_ORDER = 2  # methods up to this order: their q, v and a do not fit each other well enough to derive a from q


def between(times: Array, states: Array, wanted: Array, layout: Layout, order: int = LOW_ORDER + 1) -> Array:
    """Return states at wanted times from those at the nodes (rows) of a method of this order.

    The powers of forces and the multipliers of constraints are linear from node to node, all else as in `rows_between`.
    """
    moved, rest = 3 * layout.every, states[:, layout.given :]
    rows = _interpolated(times, states[:, layout.motion], states[:, layout.energies], rest, wanted, order)
    out = np.empty((len(wanted), states.shape[1]))
    out[:, :moved], out[:, layout.work :] = rows[:, :moved], rows[:, moved:]
    out[:, layout.every_aux] = out[:, layout.every_a]
    return out


def rows_between(times: Array, motions: Array, energies: Array, wanted: Array, order: int) -> Array:
    """Return rows of (q, v, a, work, loss) at wanted times by Hermite polynomials between the nodes of a method.

    Degree 5 for q, from q, v, a at both ends; v and a are its derivatives (of a method of low order, a is linear from
    node to node). Degree 3 for the energies put in and lost.

    Parameters
    ----------
    times : ndarray, shape (nodes,)
        Times of the nodes (s); one that is there twice is a jump, after which the later node counts.
    motions : ndarray, shape (nodes, 3 n)
        q, v and a at the nodes.
    energies : ndarray, shape (nodes, 4)
        Work and loss (J), and their rates (W).
    wanted : ndarray, shape (m,)
        Times (s).
    order : int
        Order of the method.

    Returns
    -------
    ndarray, shape (m, 3 n + 2)
    """
    return _interpolated(times, motions, energies, energies[:, :0], wanted, order)


def _interpolated(times: Array, motions: Array, energies: Array, rest: Array, wanted: Array, order: int) -> Array:
    """Return the rows of `rows_between` with a rest behind them that is linear from node to node."""
    first = np.flatnonzero(times[1:] > times[:-1])  # stretches that are not jumps
    left = np.maximum(times[first].searchsorted(wanted, side="right") - 1, 0)
    if len(first) > len(wanted):
        used, left = np.unique(left, return_inverse=True)
        first = first[used]
    last = first + 1
    begin, h = times.take(first), times.take(last) - times.take(first)
    s = ((wanted - begin.take(left)) / h.take(left))[:, None]
    at_ends = [[each.take(nodes, axis=0) for nodes in (first, last)] for each in (motions, energies, rest)]
    table = _coefficients(*at_ends, h=h[:, None], order=order)
    # A polynomial by Horner's rule: each sample has the digits that it has alone.
    out: Array = table[-1].take(left, axis=0)
    for each in table[-2::-1]:
        out *= s
        out += each.take(left, axis=0)
    return out


def _coefficients(motions: list[Array], energies: list[Array], rest: list[Array], *, h: Array, order: int) -> Array:
    """Return (6, steps, columns): coefficients of s = 0 ... 1 from values at both ends of steps of size h (column)."""
    n = motions[0].shape[1] // 3
    (q0, v0, a0), (q1, v1, a1) = ((each[:, :n], h * each[:, n : 2 * n], h * h * each[:, 2 * n :]) for each in motions)
    x, y, z = q1 - q0 - v0 - 0.5 * a0, v1 - v0 - a0, a1 - a0  # what cubic and higher terms add at s = 1
    out = np.zeros((6, len(h), 3 * n + 2 + rest[0].shape[1]))
    q, v, a = (out[:, :, k * n : (k + 1) * n] for k in range(3))
    q[0], q[1], q[2] = q0, v0, 0.5 * a0
    q[3], q[4], q[5] = 10 * x - 4 * y + 0.5 * z, -15 * x + 7 * y - z, 6 * x - 3 * y + 0.5 * z
    np.multiply(q[1:], POWERS[1:] / h, out=v[:-1])
    if order <= LOW_ORDER:
        a[0] = motions[0][:, 2 * n :]
        np.subtract(motions[1][:, 2 * n :], a[0], out=a[1])
    else:
        np.multiply(v[1:], POWERS[1:] / h, out=a[:-1])  # v has no power beyond 4
    e0, e1, r0, r1 = *(each[:, :2] for each in energies), *(h * each[:, 2:] for each in energies)
    work = out[:, :, 3 * n : 3 * n + 2]
    work[0], work[1], work[2], work[3] = e0, r0, 3 * (e1 - e0) - 2 * r0 - r1, -2 * (e1 - e0) + r0 + r1
    out[0, :, 3 * n + 2 :] = rest[0]
    np.subtract(rest[1], rest[0], out=out[1, :, 3 * n + 2 :])
    return out


MAX_HISTORY_BYTES = 200e6  # bytes: the steps of longer runs are not kept
EQUAL_TIMES = 1e-12  # of a run's length: a time that is so near to another is the same


@dataclass(frozen=True)
class StepHistory:
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
        """Return rows of (q, v, a, work, lost) at given times; at a jump those after it."""
        if len(self.times) == 1:
            return np.repeat(self.rows[:, :-2], len(wanted), axis=0)
        return rows_between(self.times, self.rows[:, :-4], self.rows[:, -4:], wanted, self.order)


@dataclass
class StepStore:
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
        return self.size > MAX_HISTORY_BYTES

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
    def nodes(self) -> StepHistory | None:
        """All recorded steps; None if there were too many."""
        if self.full or not self.blocks:
            return None
        times, rows = (np.concatenate(part) for part in zip(*self.blocks, strict=True))
        return StepHistory(times, rows, self.order)


def snapped(times: Array, marks: Array, within: float) -> Array:
    """Times that are a mark's but for rounding are the mark's (sorted)."""
    place = np.searchsorted(marks, times)
    out = times.copy()
    for near in (marks[np.clip(place - 1, 0, None)], marks[np.clip(place, None, len(marks) - 1)]):
        out = np.where(np.abs(times - near) <= within, near, out)
    return out


AT_ONCE = 4096  # nodes between which samples are computed together


@dataclass
class Statistics:
    """Statistics of the solver."""

    method: str = ""
    steps: int = 0
    rejected: int = 0
    unsolved: int = 0  # steps of fixed size whose iteration did not converge
    computed: int = 0  # steps, those that were not accurate enough included
    chunks: int = 0  # calls of the compiled loop
    smallest_step: float = float("inf")
    largest_step: float = 0.0
    loop_time: float = 0.0

    def count(self, control: Any, good: int) -> None:
        """Count what a driver did, a record of CONTROL_TYPE; only the first `good` of its steps are kept."""
        self.chunks += 1
        self.computed += int(control["attempts"])
        self.rejected += int(control["rejected"]) + bool(good < control["steps"])
        self.steps += good
        self.unsolved += int(control["unsolved"])
        self.smallest_step = min(self.smallest_step, float(control["shortest_taken"]))
        self.largest_step = max(self.largest_step, float(control["longest_taken"]))


@dataclass
class Recorder:
    """Recorded samples, rows of (q, v, a, work, lost), as far as the run was integrated.

    Each entry is appended whole: an interruption at any moment leaves a consistent record.
    """

    wanted: Array
    layout: Layout
    order: int  # of the method
    statistics: Statistics = field(default_factory=Statistics)
    blocks: list[tuple[Array, Array]] = field(default_factory=list)  # times, and rows
    commands: list[tuple[float, HeldTorques]] = field(default_factory=list)  # of a digital controller
    jumps: list[float] = field(default_factory=list)  # times at which accelerations were computed anew

    def __post_init__(self) -> None:
        self.keeper = StepStore(self.layout, self.order)
        self._waiting: list[tuple[Array, Array, float]] = []  # times and states of nodes, and until when they count
        self._nodes = 0  # that wait
        self.latest = 0.0, np.zeros(self.layout.size)  # time and state of the last node that counts

    @property
    def last(self) -> float:
        """Time of the last sample; before the first, none."""
        return float(self.blocks[-1][0][-1]) if self.blocks else -np.inf

    def start(self, state: Array) -> None:
        self.jumps.append(0.0)
        self.latest = 0.0, state.copy()
        self.blocks.append((np.zeros(1), self._row(state)))

    def record(self, times: Array, states: Array, end: float, jumped: bool = True) -> None:
        """Record these nodes and the samples between them before time `end`.

        Inputs may jump at `end`: a sample at that time belongs to the next stretch, or to `finish`. If accelerations
        were recomputed between nodes, a time occurs twice.
        """
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
        self.latest = float(times[beyond - 1]), states[beyond - 1].copy()
        self._nodes += len(times)
        if self._nodes > AT_ONCE:
            self.flush()

    def flush(self) -> None:
        """Compute the samples between the nodes that wait for it."""
        if not self._waiting:
            return
        end = self._waiting[-1][2]
        first = np.searchsorted(self.wanted, self.last, side="right")
        until = np.searchsorted(self.wanted, end - EQUAL_TIMES * self.wanted[-1])
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
