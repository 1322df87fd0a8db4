"""Which of several numbers a case can take."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from flexarm.foundation.heard import heard
from flexarm.studio.case import Case
from flexarm.studio.computing import Result
from flexarm.studio.number_box import number_in


@dataclass(frozen=True)
class Possible:
    """A case with the numbers that can be, its run if it was computed, those that cannot be, and why."""

    case: Case
    result: Result | None = None
    refused: dict[str, float | str] = field(default_factory=dict)
    problem: Exception | None = None

    def tried(self, path: str, value: float | str, compute: Callable[[Case], Result | None]) -> Possible:
        """With one number more, taken or refused."""
        try:
            case = changed(self.case, {path: value})
            return Possible(case, compute(case), self.refused, self.problem)
        except Exception as error:
            return Possible(self.case, self.result, {**self.refused, path: value}, self.problem or error)


def changed(case: Case, wanted: Mapping[str, float | str]) -> Case:
    """With other numbers; units that look wrong are told of by whoever shows the case, as long as they are there."""
    with heard():
        return case.with_({path: number_in(value, path) for path, value in wanted.items()})


def can_be(case: Case, path: str, value: float) -> bool:
    """Whether a robot, or a simulation, takes a number; what comes of it is another question."""
    try:
        changed(case, {path: value})
    except Exception:
        return False
    return True
