"""What a sweep is made of: the case that all members share, what each of them changes, and what came of it.

Members as columns: single ones are made when they are asked for.

What came of members that ran together, as columns: single outcomes are made when they are asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from flexarm.foundation.validation import Array
from flexarm.results.run import Run
from flexarm.robot import Robot


@dataclass(frozen=True)
class SweepCase:
    """The same for all members: a robot, and what `fa.simulate` takes."""

    robot: Robot
    duration: float
    torque: Any = None
    motion: Mapping[str, Any] | None = None
    loads: Any = ()
    q0: Any = None
    v0: Any = None
    options: Mapping[str, Any] = field(default_factory=dict)  # rtol, method, dt, sample, ...


@dataclass(frozen=True)
class Member:
    """One run: by name what it changes. Fields of the robot (`links.fore.payload.mass`), initial coordinates and rates
    (`q0.upper.q`, `v0.upper.q`), gains of a law (`gains.kp`), numbers of profiles (`torque.upper.amplitude`).

    changes: numbers; whole numbers, words and truth values where a field of the robot takes these."""

    number: int
    changes: Mapping[str, Any]


@dataclass(frozen=True)
class Outcome:
    """What came of a member: values of the measures by name (numbers or arrays; none of a run that failed), how its run
    ended, and what was warned of."""

    number: int
    values: Mapping[str, Any]
    status: str
    reason: str = ""
    run: Run | None = None
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Members(Sequence[Member]):
    """Members of these numbers. columns: by field a value for each of them, `...` where one leaves it as it is."""

    numbers: NDArray[np.intp]
    columns: Mapping[str, Sequence[Any]]

    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, place: int) -> Member: ...

    @overload
    def __getitem__(self, place: slice) -> Members: ...

    def __getitem__(self, place: int | slice) -> Member | Members:
        if isinstance(place, slice):
            return self.some(range(*place.indices(len(self))))
        values = {name: column[place] for name, column in self.columns.items()}
        return Member(int(self.numbers[place]), {name: value for name, value in values.items() if value is not ...})

    def some(self, places: Sequence[int]) -> Members:
        """Those at these places."""
        columns = {name: [column[k] for k in places] for name, column in self.columns.items()}
        return Members(self.numbers[list(places)], columns)


def columns_of(members: Sequence[Member]) -> Members:
    """The same members as columns."""
    if isinstance(members, Members):
        return members
    names = dict.fromkeys(name for each in members for name in each.changes)
    columns = {name: [each.changes.get(name, ...) for each in members] for name in names}
    return Members(np.array([each.number for each in members], dtype=np.intp), columns)


@dataclass(frozen=True)
class Outcomes:
    """Of members of these numbers; all else goes by their places among them.

    values: by measure, (members, ...); what is there of members without `told` values means nothing.
    endings: status and reason of those that did not complete; doubts: of those that have some.
    single: of members that ran by themselves.
    """

    numbers: NDArray[np.intp]
    values: Mapping[str, Array] = field(default_factory=dict)
    endings: Mapping[int, tuple[str, str]] = field(default_factory=dict)
    doubts: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    single: Mapping[int, Outcome] = field(default_factory=dict)

    @staticmethod
    def of(single: Sequence[Outcome]) -> Outcomes:
        """Of members that all ran by themselves."""
        return Outcomes(np.array([each.number for each in single], dtype=np.intp), single=dict(enumerate(single)))

    def with_single(self, single: Mapping[int, Outcome]) -> Outcomes:
        """The same with some that ran by themselves after all."""
        endings = {place: each for place, each in self.endings.items() if place not in single}
        doubts = {place: each for place, each in self.doubts.items() if place not in single}
        return replace(self, endings=endings, doubts=doubts, single={**self.single, **single})

    def __len__(self) -> int:
        return len(self.numbers)

    def __iter__(self) -> Iterator[Outcome]:
        return (self.single[place] if place in self.single else self._made(place) for place in range(len(self)))

    def _made(self, place: int) -> Outcome:
        status, reason = self.endings.get(place, ("completed", ""))
        values = {} if status == "failed" else {name: rows[place] for name, rows in self.values.items()}
        return Outcome(int(self.numbers[place]), values, status, reason, doubts=self.doubts.get(place, ()))

    @property
    def told(self) -> NDArray[np.intp]:
        """Places whose values are those of the columns: of members that neither failed nor ran by themselves."""
        found = np.ones(len(self), dtype=bool)
        found[[*self.failed, *self.single]] = False
        return np.flatnonzero(found)

    @property
    def failed(self) -> list[int]:
        """Places of those that failed, but for single ones."""
        return [place for place, (status, _) in self.endings.items() if status == "failed"]
