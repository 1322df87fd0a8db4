"""What a sweep is made of: the case that all members share, what each of them changes, and their outcomes."""

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
    """A robot and the arguments of `fa.simulate` that all members share; `options`: rtol, method, dt, sample, ..."""

    robot: Robot
    duration: float
    torque: Any = None
    motion: Mapping[str, Any] | None = None
    loads: Any = ()
    q0: Any = None
    v0: Any = None
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Member:
    """One run: its changes by name.

    Names are fields of the robot (`links.fore.payload.mass`), initial coordinates and rates (`q0.upper.q`,
    `v0.upper.q`), gains of a law (`gains.kp`) and numbers of profiles (`torque.upper.amplitude`). Values are numbers,
    or words and truth values where a field of the robot takes these.
    """

    number: int
    changes: Mapping[str, Any]


@dataclass(frozen=True)
class Members(Sequence[Member]):
    """Members as columns: by field a value for each, `...` where one leaves the field as it is."""

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
            return self.select(range(*place.indices(len(self))))
        values = {name: column[place] for name, column in self.columns.items()}
        return Member(int(self.numbers[place]), {name: value for name, value in values.items() if value is not ...})

    def select(self, places: Sequence[int]) -> Members:
        """Return the members with these indices."""
        columns = {name: [column[k] for k in places] for name, column in self.columns.items()}
        return Members(self.numbers[list(places)], columns)


def columns_of(members: Sequence[Member]) -> Members:
    """Return members as columns."""
    if isinstance(members, Members):
        return members
    names = dict.fromkeys(name for each in members for name in each.changes)
    columns = {name: [each.changes.get(name, ...) for each in members] for name in names}
    return Members(np.array([each.number for each in members], dtype=np.intp), columns)


@dataclass(frozen=True)
class Outcome:
    """Outcome of a member: values of the measures by name (none if its run failed), status and warnings.

    `is_exact`: the run was repeated with exact links.
    """

    number: int
    values: Mapping[str, Any]
    status: str
    reason: str = ""
    run: Run | None = None
    warnings: tuple[str, ...] = ()
    is_exact: bool = False


@dataclass(frozen=True)
class Outcomes:
    """Outcomes of members of these numbers, as columns. Mappings go by the indices of members among them.

    Parameters
    ----------
    values : mapping
        By measure, (members, ...); without meaning for members that are not `in_columns`.
    endings : mapping
        Status and reason of members that did not complete.
    warnings : mapping
        Warnings of members that have some.
    single : mapping
        Outcomes of members that were run by themselves.
    """

    numbers: NDArray[np.intp]
    values: Mapping[str, Array] = field(default_factory=dict)
    endings: Mapping[int, tuple[str, str]] = field(default_factory=dict)
    warnings: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    single: Mapping[int, Outcome] = field(default_factory=dict)

    @staticmethod
    def of(single: Sequence[Outcome]) -> Outcomes:
        """Return the outcomes of members that were all run by themselves."""
        return Outcomes(np.array([each.number for each in single], dtype=np.intp), single=dict(enumerate(single)))

    def with_single(self, single: Mapping[int, Outcome]) -> Outcomes:
        """Return the outcomes with those of some members that were run by themselves after all."""
        endings = {place: each for place, each in self.endings.items() if place not in single}
        warnings = {place: each for place, each in self.warnings.items() if place not in single}
        return replace(self, endings=endings, warnings=warnings, single={**self.single, **single})

    def __len__(self) -> int:
        return len(self.numbers)

    def __iter__(self) -> Iterator[Outcome]:
        return (self.single.get(place) or self._made(place) for place in range(len(self)))

    def _made(self, place: int) -> Outcome:
        status, reason = self.endings.get(place, ("completed", ""))
        values = {} if status == "failed" else {name: rows[place] for name, rows in self.values.items()}
        return Outcome(int(self.numbers[place]), values, status, reason, warnings=self.warnings.get(place, ()))

    @property
    def in_columns(self) -> NDArray[np.intp]:
        """Indices of members whose values are those of the columns: they neither failed nor ran by themselves."""
        found = np.ones(len(self), dtype=bool)
        failed = (place for place, (status, _) in self.endings.items() if status == "failed")
        found[[*failed, *self.single]] = False
        return np.flatnonzero(found)
