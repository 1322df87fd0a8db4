"""Many runs of a case, by `fa.sweep`: ranges of its fields, how far it is, and an early end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from flexarm.foundation.heard import heard
from flexarm.foundation.sentences import shown
from flexarm.mechanics.system import System
from flexarm.motion.interrupts import ending_when
from flexarm.motion.progress import watched
from flexarm.studio.case import Case, Number
from flexarm.studio.fields import plainly, require_swept
from flexarm.studio.sweep import Sweep

MOST = 10_000  # members of a sweep in a page
COUNT = 11  # of a field that nobody asked for otherwise
DOING = "sweeping"


@dataclass(frozen=True)
class Range:
    """Values of a field, equally far apart from the first to the last."""

    field: str
    first: float
    last: float
    count: int
    whole: bool = False

    @staticmethod
    def around(field: str, number: Number, possible: Callable[[float], bool] = lambda _: True) -> Range:
        """What one would like to see of a number: half of it to half as much again, as far as that is `possible`."""
        now = number.value
        if number.whole:
            first = now - 1 if now > 1 and possible(now - 1) else now
            return Range(field, first, first + 3, 4, True)
        wide = 0.5 * abs(now) if now else 0.5
        first, last = (_end(now, way * wide, possible) for way in (-1, 1))
        return Range(field, first, last, COUNT)

    def values(self) -> list[float] | list[int]:
        if self.count < 1:
            raise ValueError(f"{self.field}: count = {self.count}: must be a whole number, at least 1")
        if not (np.isfinite(self.first) and np.isfinite(self.last)):
            raise ValueError(f"{self.field}: from and to must be numbers")
        if self.count > MOST:
            raise ValueError(f"{self.field}: count = {self.count}: at most {MOST} members are run here")
        if self.count > 1 and self.first == self.last:
            raise ValueError(f"{self.field}: from {self.first:g} to {self.last:g} are no {self.count} values")
        found = np.linspace(self.first, self.last, self.count)
        return np.unique(np.round(found).astype(int)).tolist() if self.whole else [float(each) for each in found]

    @property
    def section(self) -> dict[str, Any]:
        """As a file would have it."""
        ends = (round(self.first), round(self.last)) if self.whole else (self.first, self.last)
        return {"from": ends[0], "to": ends[1], "count": self.count}


def _end(now: float, wide: float, possible: Callable[[float], bool]) -> float:
    """Of a range: as far away as can be."""
    for part in (1.0, 0.5, 0.2, 0.05):
        end = float(f"{now + part * wide:.6g}")
        if possible(end):
            return end
    return now


def swept(
    case: Case, ranges: list[Range], enough: Callable[[], bool], tell: Callable[[int, int], None]
) -> tuple[Sweep, list[str]]:
    """The runs of all combinations, as many as there are when somebody has `enough`, and what was warned of.

    tell: hears how many are done, of how many.
    """
    from flexarm.sweeps.sweeping import sweep

    over = _over(ranges)
    for name in over:
        require_swept(case, name)
    case = plainly(case, over)
    options = case.arguments(System(case.robot, native=False))

    def watch(doing: str, done: float, whole: float) -> None:
        if doing == DOING:
            tell(int(done), int(whole))

    with heard() as said:
        try:
            with ending_when(enough), watched(watch):
                data = sweep(case.robot, over, **(options | {"progress": False}))
        except KeyboardInterrupt:
            raise ValueError("the sweep was cancelled before a member was done") from None
    if (data["status"].values == "missing").all():
        raise ValueError("the sweep was cancelled before a member was done")
    return Sweep(data), said


def _over(ranges: list[Range]) -> Mapping[str, Any]:
    names = [each.field for each in ranges]
    if not names:
        raise ValueError("sweep: choose what to vary")
    if len(set(names)) < len(names):
        raise ValueError(f"sweep: {shown(names[0])} is varied twice; choose two fields")
    over = {each.field: each.values() for each in ranges}
    count = int(np.prod([len(values) for values in over.values()]))
    if count > MOST:
        raise ValueError(f"sweep: these are {count} members; at most {MOST} are run here, more by fa.sweep")
    return over
