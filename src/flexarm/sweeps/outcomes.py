"""What came of members that ran together, as columns: single outcomes are made when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from flexarm.foundation.numbers import Array
from flexarm.sweeps.member import Outcome


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
