"""Frequency of the vibrations of a run, which samples must resolve, and residual vibration after a move."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from flexarm.dynamics.accuracy.validity import ValidityWarning
from flexarm.dynamics.bodies import Coordinate
from flexarm.foundation.messages import shown, suggestion, warn
from flexarm.foundation.validation import Array, real_number
from flexarm.results.step_history import StepHistory

if TYPE_CHECKING:
    from flexarm.results.run import Run


MIN_SWING_SHARE = 0.01  # of how far a link bends, or a joint moves, in the run: smaller swings are not minded
ABOVE_ERRORS = 10.0  # times the tolerance: nor are those that may be errors
MIN_SWING_COUNT = 20  # swings: fewer are no vibration
FAST_SHARE = 0.25  # of the swings are at least so fast
A_PERIOD = 6  # samples of a vibration that can be seen
ALIASED_SAMPLES = 2  # samples a period, or fewer, show something else
REFINEMENTS = (1, 2, 5, 10, 20)  # as many samples as without vibration; times of one run are found in those of another
MOST_NUMBERS = 2_000_000  # of each of q, v and a that samples are increased to


class Vibration(NamedTuple):
    """Fastest vibration that samples must resolve: index of its coordinate, and its frequency (Hz)."""

    place: int
    frequency: float


def vibration(nodes: StepHistory, coordinates: Sequence[Coordinate], sizes: Array, rtol: float) -> Vibration | None:
    """Return the fastest vibration of any coordinate with respect to its size; a swing goes from one turning point to
    the next.
    """
    q, v, _ = nodes.motions(len(coordinates))
    places, turns = (v[:-1] * v[1:] < 0).T.nonzero()  # of one coordinate after the other
    counts = np.bincount(places, minlength=len(coordinates))
    often = (counts > MIN_SWING_COUNT).nonzero()[0]
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
        least = max(MIN_SWING_SHARE * ranges[groups[place]], ABOVE_ERRORS * rtol)
        own = slice(ends[place] - counts[place], ends[place])
        found.append(Vibration(place, _frequency(times[own], turned[own], least)))
    fastest = max(found, key=lambda each: each.frequency)
    return fastest if fastest.frequency else None


def _frequency(times: Array, q: Array, least: float) -> float:
    """Return how often a coordinate with these turning points swings by more than the least (Hz); 0 if it does not."""
    taken = (times[1:] - times[:-1])[np.abs(q[1:] - q[:-1]) > least]
    return 0.5 / _quantile(taken, FAST_SHARE) if len(taken) >= MIN_SWING_COUNT else 0.0


def _quantile(values: Array, share: float) -> float:
    """Return `np.quantile(values, share)`, which imports `numpy.ma` (10 ms) when it is first called."""
    place = share * (len(values) - 1)
    below = int(place)
    low, high = np.sort(values)[[below, min(below + 1, len(values) - 1)]].tolist()
    weight = place - below
    return float(low + (high - low) * weight if weight < 0.5 else high - (high - low) * (1 - weight))


def refinement(found: Vibration | None, sample: float, count: int, coordinates: int) -> int:
    """Return the number of samples that must replace one so that the vibration is resolved."""
    if found is None:
        return 1
    room, wanted = MOST_NUMBERS // (count * coordinates), A_PERIOD * found.frequency * sample
    allowed = [each for each in REFINEMENTS if each <= room] or [1]
    return next((each for each in allowed if each >= wanted), allowed[-1])


def refined(times: Array, by: int) -> Array:
    """Times with others between them, `by` for each stretch; those that were there stay what they are."""
    between = times[:-1, None] + np.diff(times)[:, None] * (np.arange(by) / by)
    return np.append(between.ravel(), times[-1])


MIN_MOTION = 1e-9  # of a quantity: less is no motion


def residual(run: Run, name: str, after: Any) -> float:
    """Half of how far a quantity, or a point, goes to and fro from a time on: the amplitude of what vibrates."""
    after = real_number("after", after, "s", least=0)
    time = run.array("time")
    late = time >= after
    if late.sum() < 3:
        raise ValueError(f"after = {after:g}: must leave some samples of the run, which ends at t = {time[-1]:g} s")
    if not isinstance(name, str):
        raise TypeError(f"name = {shown(name)}: must be that of a quantity of the run, or of a point")
    parts = [f"{name}.{axis}" for axis in "xyz"] if f"{name}.x" in run.names else [name]
    values = [np.asarray(run[each])[late] for each in parts]
    if values[0].ndim > 1:
        raise ValueError(f"name = {shown(name)}: is several quantities; take one of them{suggestion(name, run.names)}")
    swings = [np.ptp(each) / 2 for each in values]
    largest = values[int(np.argmax(swings))]
    if max(swings) > MIN_MOTION * np.abs(largest).max() and _turns(largest) < 2:
        warn(
            f"residual: {shown(name)} does not go to and fro between t = {after:g} s and the end of the run: what "
            "vibrates goes further; simulate for a period or more after the move",
            ValidityWarning,
        )
    return float(np.linalg.norm(swings))


def _turns(values: Array) -> int:
    """Return the number of turning points."""
    ways = np.sign(np.diff(values))
    return int(np.count_nonzero(np.diff(ways[ways != 0])))
