"""Cases that a page can go back to: one for each change that settled, not for each key."""

from __future__ import annotations

import time
from collections.abc import Iterable

from flexarm.studio.case import Case

MOST = 100  # cases
SETTLED = 1.5  # s after which the same numbers are turned anew


class History:
    """The cases before the one that is shown; `first` is where it began, None of a run that was recorded."""

    def __init__(self, first: Case | None = None) -> None:
        self.first = first
        self._before: list[Case] = []
        self._turned: frozenset[str] = frozenset()
        self._last = -SETTLED

    def __len__(self) -> int:
        return len(self._before)

    @property
    def last(self) -> Case | None:
        return self._before[-1] if self._before else None

    def pop(self) -> None:
        """Somebody went back to the last one."""
        self._before.pop()
        self._turned = frozenset()

    def keep(self, case: Case, turned: Iterable[str] = (), now: float | None = None) -> None:
        """A case that gives way to another, of which these numbers are turned. What is typed or turned by keys is one
        change: the case before it is there already."""
        numbers, now = frozenset(turned), time.monotonic() if now is None else now
        same = bool(numbers) and numbers == self._turned and now - self._last < SETTLED
        self._turned, self._last = numbers, now
        if not same:
            self._before = [*self._before, case][-MOST:]
