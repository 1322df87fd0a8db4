"""What the integration of each member did to its energy, as `motion/audit.py` tells it of one run."""

from __future__ import annotations

from typing import Any

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.motion.audit import NOTHING, ROUNDING
from flexarm.sweeps.lanes.lane_arrays import LaneArrays
from flexarm.sweeps.lanes.measures import largest


class EnergyAudit:
    """Gathers energies of samples.

    moderate: by member, the energy of a robot that moves about once in its run (J).
    """

    def __init__(self, arrays: LaneArrays, moderate: Array) -> None:
        self._moderate = arrays.packed(moderate[:, None])[:, 0]
        shape = (arrays.groups, 6, arrays.lanes)  # kinetic, elastic, gravity, drive, work, lost
        self._high, self._low = np.full(shape, -np.inf), np.full(shape, np.inf)
        self._balance = np.zeros((arrays.groups, 1, arrays.lanes))
        self._first: Array | None = None  # at the start

    def gather(self, stored: Array, put_in_and_lost: Array, here: Any) -> None:
        """Take note of energies (groups, samples, four, lanes), of work and of what was lost; `here`: which samples
        count, (groups, samples, lanes), None where all do."""
        total = stored.sum(axis=2)
        if self._first is None:
            self._first = total[:, 0]
        balance = total - self._first[:, None] - put_in_and_lost[:, :, 0] + put_in_and_lost[:, :, 1]
        self._balance = np.fmax(self._balance, largest(np.abs(balance)[:, :, None], here))
        every = np.concatenate([stored, put_in_and_lost], axis=2)
        self._high = np.fmax(self._high, largest(every, here))
        self._low = np.fmin(self._low, -largest(-every, here))

    @property
    def share(self) -> Array:
        """(groups, lanes): what was gained or lost, of the energy that moved; none where nothing moved."""
        moved = np.maximum(self._high[:, 0], (self._high - self._low).max(axis=1))
        every = np.maximum(np.abs(self._high), np.abs(self._low)).max(axis=1)
        moving = moved > np.maximum(NOTHING * self._moderate, ROUNDING * every)
        return np.where(moving, self._balance[:, 0] / np.where(moving, moved, 1.0), 0.0)
