"""How fast a run vibrates, as its steps tell: what samples must show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.mechanics.coordinates import Coordinate
from flexarm.motion.nodes import Nodes

MINDED = 0.01  # of how far a link bends, or a joint moves, in the run: smaller swings are not minded
ABOVE_ERRORS = 10.0  # times the tolerance: nor are those that may be errors
OFTEN = 20  # swings: fewer are no vibration
FAST = 0.25  # of the swings are at least so fast
A_PERIOD = 6  # samples of a vibration that can be seen
ALIASED = 2  # samples a period, or fewer, show something else
TIMES = (1, 2, 5, 10, 20)  # as many samples as without vibration; times of one run are found in those of another
MOST_TIMES = TIMES[-1]
MOST_NUMBERS = 2_000_000  # of each of q, v and a that samples are increased to


class Vibration(NamedTuple):
    """The fastest that is minded: which coordinate (its place), and its frequency (Hz)."""

    place: int
    frequency: float


def vibration(nodes: Nodes, coordinates: Sequence[Coordinate], sizes: Array, rtol: float) -> Vibration | None:
    """Of any coordinate, of which these sizes are large. A swing is the way from one turning point to the next."""
    q, v, _ = nodes.motions(len(coordinates))
    places, turns = (v[:-1] * v[1:] < 0).T.nonzero()  # of one coordinate after the other
    counts = np.bincount(places, minlength=len(coordinates))
    often = (counts > OFTEN).nonzero()[0]
    if not len(often):
        return None
    before, after = v[turns, places], v[turns + 1, places]
    begin, end = nodes.times[turns], nodes.times[turns + 1]
    times = begin + before / (before - after) * (end - begin)  # of the turning points
    q, ends = q / sizes, counts.cumsum()
    turned = q[turns, places]
    groups = [(each.link, each.kind == "elastic") for each in coordinates]
    ranges: dict[tuple[str, bool], float] = {}
    for group, size in zip(groups, (q.max(axis=0) - q.min(axis=0)).tolist(), strict=True):
        ranges[group] = max(size, ranges.get(group, 0.0))
    found = []
    for place in often.tolist():
        least = max(MINDED * ranges[groups[place]], ABOVE_ERRORS * rtol)
        own = slice(ends[place] - counts[place], ends[place])
        found.append(Vibration(place, _frequency(times[own], turned[own], least)))
    fastest = max(found, key=lambda each: each.frequency)
    return fastest if fastest.frequency else None


def _frequency(times: Array, q: Array, least: float) -> float:
    """Return how often a coordinate with these turning points swings by more than the least (Hz); 0 if it does not."""
    taken = (times[1:] - times[:-1])[np.abs(q[1:] - q[:-1]) > least]
    return 0.5 / _quantile(taken, FAST) if len(taken) >= OFTEN else 0.0


def _quantile(values: Array, share: float) -> float:
    """Return `np.quantile(values, share)`, which imports `numpy.ma` (10 ms) when it is first called."""
    place = share * (len(values) - 1)
    below = int(place)
    low, high = np.sort(values)[[below, min(below + 1, len(values) - 1)]].tolist()
    weight = place - below
    return float(low + (high - low) * weight if weight < 0.5 else high - (high - low) * (1 - weight))


def refinement(found: Vibration | None, sample: float, count: int, coordinates: int) -> int:
    """How many samples should take the place of one, so that the vibration can be seen."""
    if found is None:
        return 1
    room, wanted = MOST_NUMBERS // (count * coordinates), A_PERIOD * found.frequency * sample
    allowed = [each for each in TIMES if each <= room] or [1]
    return next((each for each in allowed if each >= wanted), allowed[-1])


def refined(times: Array, by: int) -> Array:
    """Times with others between them, `by` for each stretch; those that were there stay what they are."""
    between = times[:-1, None] + np.diff(times)[:, None] * (np.arange(by) / by)
    return np.append(between.ravel(), times[-1])
