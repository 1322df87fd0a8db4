"""Members as columns: single ones are made when they are asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from flexarm.sweeps.member import Member


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
