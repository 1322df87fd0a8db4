"""Members of an ensemble in groups of SIMD lanes: how arrays of members are packed and unpacked."""

from __future__ import annotations

from typing import Any

import numpy as np

from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.validation import Array


@dataclass(frozen=True)
class Lanes:
    """Members in groups of lanes that share their steps. Lanes left over in the last group repeat the last member.

    A single robot is one group of one lane.
    """

    members: int = 1
    lanes: int = 1

    @property
    def groups(self) -> int:
        return -(-self.members // self.lanes)

    def place(self, member: int) -> tuple[int, int]:
        """Return the group and the lane of a member."""
        return divmod(member, self.lanes)

    def members_of(self, group: int) -> range:
        """Return the members of a group."""
        return range(group * self.lanes, min((group + 1) * self.lanes, self.members))

    def pack(self, rows: Any) -> Array:
        """Return rows of members, (members, entries), as (groups, entries, lanes)."""
        rows = np.asarray(rows, dtype=float)
        missing = self.groups * self.lanes - self.members
        if missing:
            rows = np.concatenate([rows, np.repeat(rows[-1:], missing, axis=0)])
        return np.ascontiguousarray(rows.reshape(self.groups, self.lanes, -1).swapaxes(1, 2))

    def pack_values(self, values: Any) -> Array:
        """Return values of members, (members,), as (groups, lanes)."""
        return self.pack(np.asarray(values)[:, None])[:, 0]

    def unpack(self, packed: Any) -> Any:
        """Return (groups, ..., lanes) as rows of members, (members, ...)."""
        moved = np.moveaxis(packed, -1, 1)
        return moved.reshape(self.groups * self.lanes, *moved.shape[2:])[: self.members]

    def of(self, packed: Array, member: int) -> Array:
        """Return the part of one member in a packed array, (...)."""
        group, lane = self.place(member)
        return packed[group, ..., lane]
