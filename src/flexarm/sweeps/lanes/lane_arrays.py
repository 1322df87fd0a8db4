"""Pack rows, one for each member, into groups of SIMD lanes, and unpack them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from flexarm.foundation.numbers import Array


@dataclass(frozen=True)
class LaneArrays:
    """Of so many members in groups of so many lanes. Lanes that are left over hold copies of the last member."""

    members: int
    lanes: int

    @property
    def groups(self) -> int:
        return -(-self.members // self.lanes)

    def packed(self, rows: Any) -> Array:
        """(groups, entries, lanes) from (members, entries)."""
        rows = np.asarray(rows, dtype=float)
        more = self.groups * self.lanes - self.members
        if more:
            rows = np.concatenate([rows, np.repeat(rows[-1:], more, axis=0)])
        return np.ascontiguousarray(rows.reshape(self.groups, self.lanes, -1).swapaxes(1, 2))

    def rows(self, packed: Any) -> Any:
        """(members, ..., entries) from (groups, ..., entries, lanes)."""
        moved = np.moveaxis(packed, -1, 1)
        return moved.reshape(self.groups * self.lanes, *moved.shape[2:])[: self.members]

    def place(self, member: int) -> tuple[int, int]:
        """The group and the lane of a member."""
        return member // self.lanes, member % self.lanes

    def of(self, packed: Array, member: int) -> Array:
        """(..., entries) of one member."""
        group, lane = self.place(member)
        return packed[group, ..., lane]
