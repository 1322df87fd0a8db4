"""What one field of a sweep is varied over: a range around the number that it is now, until somebody types another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flexarm.studio.case import Case
from flexarm.studio.fields import fields, sweepable
from flexarm.studio.number_box import add_number_box, count_in, number_in, written
from flexarm.studio.possible import can_be
from flexarm.studio.sweeping import Range

NOTHING = "nothing"


class RangePanel:
    """The handles of one range."""

    def __init__(self, gui: Any, label: str) -> None:
        self._case: Case | None = None
        self._known: Mapping[str, Any] = {}
        self._typed = False
        self._field = gui.add_dropdown(label, (NOTHING,), initial_value=NOTHING)
        self._first = add_number_box(gui, f"{label}: from", 0.0)
        self._last = add_number_box(gui, f"{label}: to", 1.0)
        self._count = add_number_box(gui, f"{label}: count", 11)

        async def chosen(event: Any) -> None:
            if event.client is not None:
                self._typed = False
                self._around()

        async def typed(event: Any) -> None:
            if event.client is not None:
                self._typed = True

        self._field.on_update(chosen)
        for handle in (self._first, self._last, self._count):
            handle.on_update(typed)

    def offer(self, case: Case | None, chosen: str) -> None:
        """Fields of another robot."""
        self._typed = False
        self._field.value = NOTHING
        self._take(case)
        self._field.value = chosen if chosen in self._known else NOTHING
        self._around()

    def follow(self, case: Case | None) -> None:
        """Other numbers of the same robot, or other controllers: what cannot be swept with them is not offered."""
        chosen = str(self._field.value)
        self._take(case)
        self._field.value = chosen if chosen in self._known else NOTHING
        if not self._typed:
            self._around()

    def show(self, given: Range) -> None:
        """A range that somebody wrote."""
        self._typed = True
        self._put(given)

    def value(self) -> list[Range]:
        name = str(self._field.value)
        if name == NOTHING:
            return []
        first, last = number_in(self._first.value, f"{name}: from"), number_in(self._last.value, f"{name}: to")
        count = count_in(self._count.value, f"{name}: count")
        return [Range(name, first, last, count, whole=self._known[name].whole)]

    def _take(self, case: Case | None) -> None:
        known = {} if case is None else fields(case)
        self._case = case
        self._known = {name: each for name, each in known.items() if case is not None and sweepable(case, name)}
        options = (NOTHING, *self._known)
        if tuple(self._field.options) != options:
            self._field.options = options

    def _around(self) -> None:
        name, case = str(self._field.value), self._case
        if case is not None and name in self._known:
            number = self._known[name]
            self._put(Range.around(name, number, lambda value: can_be(case, number.path, value)))

    def _put(self, given: Range) -> None:
        self._first.value, self._last.value = written(given.first), written(given.last)
        self._count.value = written(given.count)
