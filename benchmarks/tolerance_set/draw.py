"""Random parameters of a case, the same in every run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar
from zlib import crc32

import numpy as np

Choice = TypeVar("Choice")
RTOLS = (1e-3, 1e-4, 1e-5)


class Draw:
    """The same numbers each time for a kind of case and its place in it.

    `stretch` makes every number a little larger, which tells how much the end of a run feels such a change.
    """

    def __init__(self, kind: str, number: int, stretch: float = 0.0) -> None:
        self.number = number
        self._factor = 1.0 + stretch
        self._random = np.random.default_rng([crc32(kind.encode()), number])

    def between(self, low: float, high: float) -> float:
        """Four digits are enough to make a case, and to read it."""
        return float(f"{self._random.uniform(low, high):.4g}") * self._factor

    def about(self, low: float, high: float) -> float:
        """The same, as likely near the low end as near the high one."""
        return float(f"{low * (high / low) ** self._random.uniform():.4g}") * self._factor

    def sign(self) -> int:
        return int(self._random.choice((-1, 1)))

    def turn(self, choices: Sequence[Choice]) -> Choice:
        """Cases of a kind take turns."""
        return choices[self.number % len(choices)]

    def rtol(self, turns: int) -> float:
        """Each of as many choices as take turns meets every tolerance."""
        return RTOLS[self.number // turns % len(RTOLS)]
