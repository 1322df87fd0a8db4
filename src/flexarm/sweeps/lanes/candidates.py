"""Members before they run: their changes by kind, and what decides which of them can run together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from flexarm.foundation.numbers import Array, real_number
from flexarm.foundation.sentences import shown, told
from flexarm.robot import DescriptionError, Link, Robot
from flexarm.robot.changes import value_at
from flexarm.sweeps.applied import STATES, changed_robot, is_of_case
from flexarm.sweeps.member import Member


class Parts(NamedTuple):
    """The changes of a member: of the robot, of where a run begins, of what drives it."""

    robot: Mapping[str, Any]
    state: Mapping[str, float]
    inputs: Mapping[str, float]


def parted(changes: Mapping[str, Any]) -> Parts:
    """Changes by what they change."""
    kinds: dict[str, dict[str, Any]] = {"robot": {}, "state": {}, "inputs": {}}
    for path, value in changes.items():
        kind = _kind(path)
        kinds[kind][path] = value if kind == "robot" else real_number(path, value)
    return Parts(**kinds)


@lru_cache(maxsize=256)  # thousands of members change the same
def _kind(path: str) -> str:
    return "robot" if not is_of_case(path) else "state" if path.partition(".")[0] in STATES else "inputs"


class Candidate(NamedTuple):
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
    def smooth(self) -> Mapping[str, float]:
        """All that rows are smooth functions of."""
        return {**self.numbers, **self.state} if self.state else self.numbers

    def robot_of(self, robot: Robot) -> Robot:
        """Its robot, of one that has what is fixed."""
        return changed_robot(robot, self.numbers)

    def length(self, place: int, link: Link) -> float:
        """Of one of its links, which may be called by its name or by its place."""
        names = (f"links.{link.name}.length", f"links.{place}.length")
        return float(next((self.numbers[name] for name in names if name in self.numbers), link.length))

    def about(self, error: Exception) -> ValueError:
        """An error that tells whose it is."""
        said = ", ".join(f"{path} = {shown(value)}" for path, value in self.member.changes.items())
        return ValueError(f"member {self.member.number} ({said}): {told(error)}")


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
            if numbers[path] and (type(value) is float or _is_plain(value)):
                free[path] = float(value)
            else:
                fixed[path] = value
        key = tuple((path, repr(value)) for path, value in fixed.items())
        groups.setdefault(key, []).append(Candidate(member, fixed, free, parts.state, parts.inputs))
    return [*groups.values()]


def _is_plain(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)


def points(these: Sequence[Candidate], fields: Sequence[str]) -> Array:
    """(members, fields)."""
    rows = [[smooth[name] for name in fields] for smooth in (each.smooth for each in these)]
    return np.array(rows, dtype=float).reshape(len(these), len(fields))


def _is_number(robot: Robot, path: str) -> bool:
    """Whether a field is a number that may change by little; one that is not there is made of what it is given."""
    try:
        return isinstance(value_at(robot, path)[0], float)
    except DescriptionError:
        return True
