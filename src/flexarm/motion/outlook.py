"""How fast inputs are: the longest steps that see them, and where they jump, known before a run starts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.numbers import Array

EIGHTH = 0.125  # of a period: steps of this length see a wave at all its phases, and its power, which is twice as fast
MARGIN = 2.0  # steps by which a fast stretch is widened on both sides: stretches that are near each other become one
FEWEST_EDGES, MOST_EDGES = 8, 4096
SAME = 1e-9  # of the run: times that are nearer than this are the same


@dataclass(frozen=True)
class Outlook:
    """What is known of an input before it acts.

    stretches: rows of (begin, end, longest step that sees what happens there); elsewhere any step will do.
    jumps: times at which it jumps, beside the breaks of its profile.
    probes: how often a function was called to learn this, at times no more than `resolution` (s) apart.
    unresolved: whether it was still faster than that where the last calls were made.
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

    def delayed(self, scale: float, shift: float) -> Outlook:
        """That of the same input at scale t + shift."""
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


def calm() -> Outlook:
    """That of an input which any step sees."""
    return Outlook(np.zeros((0, 3)))


def steady(begin: float, end: float, longest: float) -> Outlook:
    """That of an input which is equally fast all the time."""
    return Outlook(np.array([[begin, end, longest]]))


def together(outlooks: Iterable[Outlook]) -> Outlook:
    """That of inputs one after the other, or at the same time."""
    each = list(outlooks) or [calm()]
    if len(each) == 1 and not each[0].jumps:
        return each[0]
    return Outlook(
        np.vstack([one.stretches for one in each]),
        tuple(sorted({time for one in each for time in one.jumps})),
        sum(one.probes for one in each),
        max(one.resolution for one in each),
        any(one.unresolved for one in each),
    )


def share(nodes: Sequence[float]) -> float:
    """Of the longest steps, for a method that looks at inputs at these nodes: one that sees a step's ends only must
    meet a wave twice as often, since its ends may lie on both sides of a peak."""
    return min(1.0, 0.5 / float(np.diff([0.0, *nodes, 1.0]).max()))


@dataclass(frozen=True)
class Pace:
    """The longest step at any time of a run: `longest[k]` from edges[k] to edges[k + 1]."""

    edges: Array
    longest: Array

    @classmethod
    def of(cls, stretches: Array, duration: float) -> Pace:
        """In a few lengths, each half of the one above it: steps change seldom."""
        fast = stretches[stretches[:, 2] < duration]
        if not len(fast):
            return cls(np.array([0.0, duration]), np.array([np.inf]))
        finest = fast[:, 2].min(initial=np.inf)
        levels = np.floor(np.log2(fast[:, 2] / finest) + SAME).astype(int)
        lengths = finest * 2.0**levels
        begins = np.clip(fast[:, 0] - MARGIN * lengths, 0.0, duration)
        ends = np.clip(fast[:, 1] + MARGIN * lengths, 0.0, duration)
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
        near = SAME * self.edges[-1]
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
        """How many the inputs ask for."""
        return float((np.diff(self.edges) / self.longest).sum())
