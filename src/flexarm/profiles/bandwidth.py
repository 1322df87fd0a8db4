"""Bandwidth of inputs: the largest step sizes that resolve them, and the times at which they jump, before a run starts.

Functions of t that can only be called are sampled. An interval is resolved by a step of its length if the quartic
through five evenly spaced values also gives the four values between them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.validation import Array

RESOLVED_PERIODS = (
    0.125  # of a period: steps of this length see a wave at all its phases, and its power, which is twice as fast
)
MARGIN_STEPS = (
    2.0  # steps by which a fast stretch is widened on both sides: stretches that are near each other become one
)
FEWEST_EDGES, MOST_EDGES = 8, 4096
EQUAL_TIMES = 1e-9  # of the run: times that are nearer than this are the same


@dataclass(frozen=True)
class Bandwidth:
    """Bandwidth of an input.

    stretches: rows of (begin, end, largest step size that resolves the input there); elsewhere any step size will do.
    jumps: times at which the input jumps, in addition to the breaks of its profile.
    probes: number of calls of a function that were needed, at times not closer than `resolution` (s).
    unresolved: True if the function still varied at that resolution.
    """

    stretches: Array
    jumps: tuple[float, ...] = ()
    probes: int = 0
    resolution: float = 0.0
    unresolved: bool = False

    @property
    def longest(self) -> float:
        """The longest step that sees all of it."""
        return float(self.stretches[:, 2].min(initial=np.inf))

    @property
    def fastest(self) -> float:
        """When it is that fast."""
        return float(self.stretches[self.stretches[:, 2].argmin(), 0]) if len(self.stretches) else 0.0

    def delayed(self, scale: float, shift: float) -> Bandwidth:
        """Return the bandwidth of the same input at time scale t + shift."""
        ends = np.sort((self.stretches[:, :2] - shift) / scale, axis=1)
        stretches = np.column_stack([ends, self.stretches[:, 2] / abs(scale)])
        jumps = tuple(sorted(_first_beyond(each, scale, shift) for each in self.jumps))
        return replace(self, stretches=stretches, jumps=jumps, resolution=self.resolution / abs(scale))


def _first_beyond(jump: float, scale: float, shift: float) -> float:
    """The first time t at which scale t + shift, as it is rounded, lies on the far side of a jump."""
    near = (jump - shift) / scale
    reach = 8 * float(np.spacing(max(abs(jump), abs(shift)))) / abs(scale)
    before, beyond = near - reach, near + reach
    while before < (middle := (before + beyond) / 2) < beyond:
        if (scale * middle + shift >= jump) == (scale > 0):
            beyond = middle
        else:
            before = middle
    return beyond


def unlimited_bandwidth() -> Bandwidth:
    """Return the bandwidth of an input that any step resolves."""
    return Bandwidth(np.zeros((0, 3)))


def constant_bandwidth(begin: float, end: float, longest: float) -> Bandwidth:
    """Return the bandwidth of an input that varies equally fast all the time."""
    return Bandwidth(np.array([[begin, end, longest]]))


def combined_bandwidth(outlooks: Iterable[Bandwidth]) -> Bandwidth:
    """Combine the bandwidths of inputs that act at the same time or one after the other."""
    each = list(outlooks) or [unlimited_bandwidth()]
    if len(each) == 1 and not each[0].jumps:
        return each[0]
    return Bandwidth(
        np.vstack([one.stretches for one in each]),
        tuple(sorted({time for one in each for time in one.jumps})),
        sum(one.probes for one in each),
        max(one.resolution for one in each),
        any(one.unresolved for one in each),
    )


def node_factor(nodes: Sequence[float]) -> float:
    """Return the factor on the largest step size for a method that evaluates inputs at these nodes.

    A method that evaluates only the ends of steps must sample a wave twice as often, since both ends may be beside a
    peak.
    """
    return min(1.0, 0.5 / float(np.diff([0.0, *nodes, 1.0]).max()))


@dataclass(frozen=True)
class StepBounds:
    """The longest step at any time of a run: `longest[k]` from edges[k] to edges[k + 1]."""

    edges: Array
    longest: Array

    @classmethod
    def of(cls, stretches: Array, duration: float) -> StepBounds:
        """Combine stretches into few step sizes, each half of the next larger one, so that steps rarely change."""
        fast = stretches[stretches[:, 2] < duration]
        if not len(fast):
            return cls(np.array([0.0, duration]), np.array([np.inf]))
        finest = fast[:, 2].min(initial=np.inf)
        levels = np.floor(np.log2(fast[:, 2] / finest) + EQUAL_TIMES).astype(int)
        lengths = finest * 2.0**levels
        begins = np.clip(fast[:, 0] - MARGIN_STEPS * lengths, 0.0, duration)
        ends = np.clip(fast[:, 1] + MARGIN_STEPS * lengths, 0.0, duration)
        edges = np.array(sorted({0.0, float(duration), *begins.tolist(), *ends.tolist()}))  # np.unique imports numpy.ma
        longest = np.full(len(edges) - 1, np.inf)
        for level in sorted(set(levels.tolist()), reverse=True):
            here = levels == level
            change = np.zeros(len(edges))
            np.add.at(change, np.searchsorted(edges, begins[here]), 1)
            np.add.at(change, np.searchsorted(edges, ends[here]), -1)
            longest[np.cumsum(change)[:-1] > 0] = finest * 2.0**level
        kept = np.append(True, longest[1:] != longest[:-1])
        return cls(np.append(edges[:-1][kept], duration), longest[kept])

    def ahead(self, t: float, stop: float) -> tuple[float, float]:
        """The longest step at time t, and until when it is, a `stop` at most."""
        near = EQUAL_TIMES * self.edges[-1]
        k = int(np.searchsorted(self.edges[1:-1], t + near, side="right"))
        until = float(self.edges[k + 1])
        return float(self.longest[k]), until if until < stop - near else stop

    def edges_between(self, begin: float, end: float) -> Array | None:
        """Return both and times between them, so near to each other that inputs hardly turn; None where that are too
        many."""
        within = (self.edges[:-1] < end) & (self.edges[1:] > begin)
        starts, ends = np.maximum(self.edges[:-1][within], begin), np.minimum(self.edges[1:][within], end)
        most = np.minimum(self.longest[within], (end - begin) / FEWEST_EDGES)
        if ((ends - starts) / most).sum() > MOST_EDGES:
            return None
        counts = np.ceil((ends - starts) / most).astype(int).tolist()
        parts = [np.linspace(a, b, n, endpoint=False) for a, b, n in zip(starts.tolist(), ends.tolist(), counts)]
        return np.append(np.concatenate(parts), end)

    @property
    def steps(self) -> float:
        """Number of steps that the inputs require."""
        return float((np.diff(self.edges) / self.longest).sum())


MIN_INTERVAL_COUNT = 64  # of the run at least: eight probes each
MAX_INTERVAL_S = 0.016  # s: of an interval, so that probes are some 2 ms apart,
MOST_INTERVALS = 32768  # unless the run is longer than some nine minutes
MOST_PROBES = 1_000_000  # a run with an input that takes so many takes as many itself
MIN_INTERVAL = 1e-8  # of the run: intervals are not halved further
MAX_PROBE_ERROR = (
    5e-4  # of what the function does in a sixteenth of the run: values between the five may be off by this
)
BLOCK_COUNT, MIN_BLOCK_SCALE = 16, 1e-6  # where it does much less than elsewhere, at least so much of the latter counts
ROUNDING_ERROR = 1e-8  # of values: what is less is no change
MIN_JUMP_SHARE = 0.5  # of the largest change in an interval must be left of it in the end

EVEN_NODES = np.linspace(0, 1, 5)
ODD_NODES = np.array([1, 3, 5, 7]) / 8
CHECK_NODES = np.array([0.109, 0.361, 0.643, 0.884])  # evenly spaced probes alone would take a fast wave for a slow one
LARGEST_GAP = float(np.diff(np.sort([*EVEN_NODES, *CHECK_NODES])).max())

Mask = Any  # an array of truths
Values = Callable[[Array], Array]  # at times: a row for each, a column for each component


def sampled_bandwidth(
    function: Values, begin: float, end: float, noise: Array, longest: float = MAX_INTERVAL_S
) -> Bandwidth:
    """Determine the bandwidth of a function over a run.

    `noise` is that of each component, relative to the largest value of the first one. If the function fails, the run
    will end there, and later times do not matter.
    """
    trial = Probe(function, begin, end, noise, longest)
    if (until := trial.failure()) is None:
        return trial.outlook()
    return Probe(function, begin, until, noise, longest).outlook() if until > begin else unlimited_bandwidth()


def block_scales(values: Array, noise: Array) -> Array:
    """Return the size of each component (column) in each block of the run."""
    most = np.array([_span(block) for block in np.array_split(values, BLOCK_COUNT)])
    size = np.max(np.abs(values), axis=0, initial=0.0)
    least = np.max([MIN_BLOCK_SCALE * _span(values), ROUNDING_ERROR * size, noise * size[0]], axis=0)
    return np.asarray(np.maximum(most, np.maximum(least, np.finfo(float).tiny)))


class Probe:
    """Samples of one function over a run."""

    def __init__(self, function: Values, begin: float, end: float, noise: Array, longest: float) -> None:
        self.function, self.begin, self.end, self.calls, self._noise = function, begin, end, 0, noise
        span = end - begin
        interval = max(min(longest, span / MIN_INTERVAL_COUNT), span / MOST_INTERVALS)
        count = 2 ** int(np.ceil(np.log2(span / interval)))
        self.length = span / count
        self._edges = begin + self.length * np.arange(count)
        last = np.nextafter(end, -np.inf)  # it belongs to what comes after
        self._nodes = np.minimum(begin + self.length / 4 * np.arange(4 * count + 1), last)
        self._at_nodes = self(self._nodes)
        self._at_between = self(self._edges[:, None] + self.length * CHECK_NODES)
        self._jumps, self._steps = np.zeros(0), np.zeros((0, len(noise)))  # when, and by how much

    def __call__(self, times: Array) -> Array:
        self.calls += times.size
        out = np.zeros((times.size, len(self._noise)))
        if times.size:
            with np.errstate(all="ignore"):
                out[:] = self.function(times.ravel())
        return out.reshape(*times.shape, len(self._noise))

    def failure(self) -> float | None:
        """The last time before which there are numbers, if not all are."""
        bad = ~np.isfinite(self._at_nodes).all(axis=1)
        if not (bad.any() or not np.isfinite(self._at_between).all()):
            return None
        wrong = ~np.isfinite(self._at_between).all(axis=2)
        between = (self._edges[:, None] + self.length * CHECK_NODES)[wrong]
        high = min(self._nodes[bad].min(initial=np.inf), between.min(initial=np.inf))
        low = self._nodes[max(0, int(np.searchsorted(self._nodes, high)) - 1)]
        while low < (middle := low + (high - low) / 2) < high:
            low, high = (middle, high) if np.isfinite(self(np.array([middle]))).all() else (low, middle)
        return float(low)

    def outlook(self) -> Bandwidth:
        """Return the bandwidth of a function that has values everywhere."""
        self._scales = block_scales(self._at_nodes, self._noise / MAX_PROBE_ERROR)
        fives = self._at_nodes[np.arange(0, len(self._nodes) - 1, 4)[:, None] + np.arange(5)]
        all_of_them = _Intervals(self._edges, np.full(len(self._edges), self.length), fives, self._at_between)
        stretches, unresolved, left = [], False, all_of_them
        while len(left.begin) and not unresolved:
            left = self._without_jumps(left)
            unresolved = self.calls + 12 * len(left.begin) > MOST_PROBES
            halves = left if unresolved else left.halved(self._continuous)
            seen = self._seen(halves) | (halves.length < MIN_INTERVAL * (self.end - self.begin)) | unresolved
            stretches.append(halves.where(seen).stretches)
            left = halves.where(~seen)
        longest = self._joined(self._seen(all_of_them.changed(self._less_jumps)))
        whole = np.column_stack([self._edges, self._edges + self.length, longest])[np.isfinite(longest)]
        return Bandwidth(
            np.vstack([whole, *stretches]),
            tuple(self._jumps.tolist()),
            self.calls,
            LARGEST_GAP * self.length,
            unresolved,
        )

    def _without_jumps(self, intervals: _Intervals) -> _Intervals:
        """Return the unresolved intervals that contain no jump."""
        while True:
            intervals = intervals.where(~self._seen(intervals))
            times, steps = self._located(intervals)
            if not len(times):
                return intervals
            new = _Jumps(times, steps)
            intervals = intervals.changed(new.taken)
            self._jumps, order = np.unique(np.append(self._jumps, times), return_index=True)
            self._steps = np.vstack([self._steps, steps])[order]

    def _continuous(self, times: Array) -> Array:
        """Return values without the known jumps."""
        return self._less_jumps(times, self(times))

    def _less_jumps(self, times: Array, values: Array) -> Array:
        return _Jumps(self._jumps, self._steps).taken(times, values)

    def _scale(self, intervals: _Intervals) -> Array:
        return self._scale_at(intervals.begin + intervals.length / 2)

    def _scale_at(self, times: Array) -> Array:
        block = (times - self.begin) / (self.end - self.begin) * len(self._scales)
        return np.asarray(self._scales[np.clip(block.astype(int), 0, len(self._scales) - 1)])

    def _seen(self, intervals: _Intervals) -> Mask:
        missed = np.abs(intervals.between - _between(intervals.nodes, TO_BETWEEN)).max(axis=1)
        return np.asarray((missed <= MAX_PROBE_ERROR * self._scale(intervals)).all(axis=1))

    def _joined(self, seen: Mask) -> Array:
        """Return the length of the longest resolved interval around each interval; infinite if it is the whole run."""
        nodes, longest = self._less_jumps(self._nodes, self._at_nodes), np.full(len(seen), self.length)
        longest[~seen] = np.inf  # its parts have been looked at
        while len(seen) > 1:
            seen, nodes, odd = seen.reshape(-1, 2).all(axis=1), nodes[::2], nodes[1::2]
            fives = nodes[np.arange(0, len(nodes) - 1, 4)[:, None] + np.arange(5)]
            missed = np.abs(odd.reshape(len(seen), 4, -1) - _between(fives, TO_ODD)).max(axis=1)
            middle = self.begin + (np.arange(len(seen)) + 0.5) * (self.end - self.begin) / len(seen)
            seen = seen & (missed <= MAX_PROBE_ERROR * self._scale_at(middle)).all(axis=1)
            longest.reshape(len(seen), -1)[seen] = (self.end - self.begin) / len(seen)
        return np.where(seen[0], np.inf, longest)

    def _located(self, intervals: _Intervals) -> tuple[Array, Array]:
        """A jump of each interval, if the largest change in it is one: found by bisection, to the last digit."""
        times, values = intervals.sorted()
        changes = np.abs(np.diff(values, axis=1)) / self._scale(intervals)[:, None, :]
        rows = np.arange(len(times))
        place, column = np.unravel_index(
            changes.reshape(len(times), np.prod(changes.shape[1:])).argmax(axis=1), changes.shape[1:]
        )
        low, high, below, above = (
            times[rows, place],
            times[rows, place + 1],
            values[rows, place],
            values[rows, place + 1],
        )
        enough = MIN_JUMP_SHARE * np.abs(above - below)[rows, column]
        alive = changes[rows, place, column] > MAX_PROBE_ERROR
        while self.calls + alive.sum() < MOST_PROBES:
            middle = low + (high - low) / 2
            going = np.flatnonzero(alive & (low < middle) & (middle < high))
            if not len(going):
                return high[alive], (above - below)[alive]
            value = self._continuous(middle[going])
            which = np.arange(len(going)), column[going]
            later = np.abs((above[going] - value)[which]) > np.abs((value - below[going])[which])
            low[going[later]], below[going[later]] = middle[going[later]], value[later]
            high[going[~later]], above[going[~later]] = middle[going[~later]], value[~later]
            alive &= np.abs(above - below)[rows, column] >= enough
        return np.zeros(0), np.zeros((0, values.shape[2]))


@dataclass(frozen=True)
class _Jumps:
    """Times, ascending, and what is added then."""

    times: Array
    steps: Array

    def taken(self, times: Array, values: Array) -> Array:
        """Out of the values at these times."""
        added = np.vstack([np.zeros((1, values.shape[-1])), np.cumsum(self.steps, axis=0)])
        return np.asarray(values - added[np.searchsorted(self.times, times, side="right")])


@dataclass(frozen=True)
class _Intervals:
    """Intervals with five evenly spaced values each, and the four values between them."""

    begin: Array
    length: Array
    nodes: Array  # interval x place x component
    between: Array

    def where(self, mask: Mask) -> _Intervals:
        return _Intervals(self.begin[mask], self.length[mask], self.nodes[mask], self.between[mask])

    @property
    def stretches(self) -> Array:
        return np.column_stack([self.begin, self.begin + self.length, self.length])

    def changed(self, by: Callable[[Array, Array], Array]) -> _Intervals:
        """Return the intervals with other values at the same times."""
        nodes, between = by(self._at(EVEN_NODES), self.nodes), by(self._at(CHECK_NODES), self.between)
        return _Intervals(self.begin, self.length, nodes, between)

    def halved(self, function: Values) -> _Intervals:
        odd = function(self._at(ODD_NODES))
        nine = np.empty((len(self.begin), 9, odd.shape[2]))
        nine[:, ::2], nine[:, 1::2] = self.nodes, odd
        begin = np.stack([self.begin, self.begin + self.length / 2], axis=1).ravel()
        nodes = np.stack([nine[:, :5], nine[:, 4:]], axis=1).reshape(len(begin), 5, odd.shape[2])
        halves = _Intervals(begin, np.repeat(self.length / 2, 2), nodes, nodes)
        return _Intervals(begin, halves.length, nodes, function(halves._at(CHECK_NODES)))

    def sorted(self) -> tuple[Array, Array]:
        """Times and values of all nine."""
        places = np.concatenate([EVEN_NODES, CHECK_NODES])
        order = places.argsort()
        return self._at(places[order]), np.concatenate([self.nodes, self.between], axis=1)[:, order]

    def _at(self, places: Array) -> Array:
        return np.asarray(self.begin[:, None] + self.length[:, None] * places)


def _weights(at: Array) -> Array:
    """Return the weights of five values in their quartic at given places."""
    return np.asarray(np.linalg.solve(np.vander(EVEN_NODES, 5).T, np.vander(at, 5).T).T)


TO_ODD, TO_BETWEEN = _weights(ODD_NODES), _weights(CHECK_NODES)


def _between(fives: Array, weights: Array) -> Array:
    return np.asarray(np.einsum("jk,ikm->ijm", weights, fives))


def _span(values: Array) -> Array:
    return np.asarray(np.ptp(values, axis=0)) if len(values) else np.zeros(values.shape[1])
