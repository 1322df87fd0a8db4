"""Members before they run: their changes by kind, and what decides which of them can run together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.foundation.sentences import shown
from flexarm.robot import DescriptionError, Robot
from flexarm.robot.changes import value_at
from flexarm.sweeps.lanes.changes import parted
from flexarm.sweeps.member import Member


@dataclass(frozen=True)
class Candidate:
    """A member: what it changes of the robot by other kinds (`fixed`), by numbers, of its start, of its inputs."""

    member: Member
    fixed: Mapping[str, Any]
    numbers: Mapping[str, float]
    state: Mapping[str, float]
    inputs: Mapping[str, float]

    @property
    def robot(self) -> dict[str, Any]:
        return {**self.fixed, **self.numbers}

    @property
    def smooth(self) -> dict[str, float]:
        """All that rows are smooth functions of."""
        return {**self.numbers, **self.state}

    def about(self, error: Exception) -> ValueError:
        """An error that tells whose it is."""
        said = ", ".join(f"{path} = {shown(value)}" for path, value in self.member.changes.items())
        return ValueError(f"member {self.member.number} ({said}): {error.args[0] if error.args else error}")


def candidates(robot: Robot, members: Sequence[Member]) -> list[list[Candidate]]:
    """The members in groups that differ by numbers only."""
    numbers: dict[str, bool] = {}
    groups: dict[tuple[Any, ...], list[Candidate]] = {}
    for member in members:
        parts = parted(member.changes)
        fixed, free = dict[str, Any](), dict[str, float]()
        for path, value in parts.robot.items():
            if path not in numbers:
                numbers[path] = _is_number(robot, path)
            number = numbers[path] and isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
            if number:
                free[path] = float(value)
            else:
                fixed[path] = value
        key = tuple((path, repr(value)) for path, value in fixed.items())
        groups.setdefault(key, []).append(Candidate(member, fixed, free, parts.state, parts.inputs))
    return [*groups.values()]


def points(these: Sequence[Candidate], fields: Sequence[str]) -> Array:
    """(members, fields)."""
    rows = [[each.smooth[name] for name in fields] for each in these]
    return np.array(rows, dtype=float).reshape(len(these), len(fields))


def _is_number(robot: Robot, path: str) -> bool:
    """Whether a field is a number that may change by little; one that is not there is made of what it is given."""
    try:
        return isinstance(value_at(robot, path)[0], float)
    except DescriptionError:
        return True
