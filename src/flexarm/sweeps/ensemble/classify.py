"""Members before they run: their changes by kind, and what decides which of them can run together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import isfinite
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from flexarm.foundation.messages import error_text, shown
from flexarm.foundation.validation import Array, real_number
from flexarm.robot import DescriptionError, Link, Robot
from flexarm.robot.path_updates import value_at
from flexarm.sweeps.apply_changes import STATES, changed_robot, is_of_case
from flexarm.sweeps.case import Member, Members, columns_of


class MemberChanges(NamedTuple):
    """The changes of a member: of the robot, of where a run begins, of what drives it."""

    robot: Mapping[str, Any]
    state: Mapping[str, float]
    inputs: Mapping[str, float]


def parted(changes: Mapping[str, Any]) -> MemberChanges:
    """Changes by what they change."""
    kinds: dict[str, dict[str, Any]] = {"robot": {}, "state": {}, "inputs": {}}
    for path, value in changes.items():
        kind = _kind(path)
        kinds[kind][path] = value if kind == "robot" else real_number(path, value)
    return MemberChanges(**kinds)


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

    def about(self, error: Exception) -> ValueError:
        """An error that tells whose it is."""
        said = ", ".join(f"{path} = {shown(value)}" for path, value in self.member.changes.items())
        return ValueError(f"member {self.member.number} ({said}): {error_text(error)}")


class EqualMembers(NamedTuple):
    """Members by what they have in common: the place of the first of each kind, and by member which kind it is."""

    firsts: list[int]
    which: NDArray[np.intp]


@dataclass(frozen=True)
class Candidates(Sequence[Candidate]):
    """Members that differ by numbers only, as columns: single ones are made when they are asked for.

    fixed: what all of them change of the robot by other kinds.
    numbers: by field one for each member, finite, or nan where it leaves the field as it is.
    """

    members: Members
    fixed: Mapping[str, Any]
    numbers: Mapping[str, Array]

    def __len__(self) -> int:
        return len(self.members)

    @overload
    def __getitem__(self, place: int) -> Candidate: ...

    @overload
    def __getitem__(self, place: slice) -> Candidates: ...

    def __getitem__(self, place: int | slice) -> Candidate | Candidates:
        if isinstance(place, slice):
            return self.some(range(*place.indices(len(self))))
        numbers = {path: column.item(place) for path, column in self.numbers.items()}
        own = {path: value for path, value in numbers.items() if isfinite(value)}
        return Candidate(self.members[place], self.fixed, *parted(own))

    def some(self, places: Sequence[int]) -> Candidates:
        """Those at these places."""
        chosen = list(places)
        numbers = {path: column[chosen] for path, column in self.numbers.items()}
        return Candidates(self.members.some(chosen), self.fixed, numbers)

    def fields(self, *kinds: str) -> tuple[str, ...]:
        """Numbers of these kinds that one of them changes at least."""
        known = {path: column for path, column in self.numbers.items() if _kind(path) in kinds}
        return tuple(path for path, column in known.items() if not np.isnan(column).all())

    def points(self, fields: Sequence[str]) -> Array:
        """(members, fields)."""
        return np.stack([self.numbers[path] for path in fields], axis=1) if fields else np.zeros((len(self), 0))

    def alike(self, *kinds: str) -> EqualMembers:
        """Those whose numbers of these kinds are the same."""
        fields, known = self.fields(*kinds), dict[tuple[float, ...], int]()
        if not fields:
            return EqualMembers([0] if len(self) else [], np.zeros(len(self), dtype=np.intp))
        at = self.points(fields)
        rows = np.where(np.isnan(at), np.inf, at).tolist()  # no number is; and nan is not even itself
        which = np.array([known.setdefault(tuple(row), len(known)) for row in rows], dtype=np.intp)
        return EqualMembers(np.unique(which, return_index=True)[1].tolist(), which)

    def lengths(self, place: int, link: Link) -> Array:
        """Of one of their links, which may be called by its name or by its place."""
        found = np.full(len(self), link.length)
        for name in (f"links.{place}.length", f"links.{link.name}.length"):
            if (column := self.numbers.get(name)) is not None:
                found = np.where(np.isnan(column), found, column)
        return found


def candidates(robot: Robot, given: Sequence[Member]) -> list[Candidates]:
    """The members in groups that differ by numbers only."""
    members = columns_of(given)
    numbers, others = dict[str, Array](), dict[str, list[Any]]()
    for path, column in members.columns.items():
        if _kind(path) != "robot":
            numbers[path] = _real_numbers(path, column)
        elif _is_number(robot, path):
            numbers[path], others[path] = _plain_numbers(column)
        else:
            others[path] = list(column)
    others = {path: column for path, column in others.items() if any(value is not ... for value in column)}
    every = Candidates(members, {}, numbers)
    if not others:
        return [every]
    groups: dict[tuple[str, ...], list[int]] = {}
    for place, values in enumerate(zip(*others.values(), strict=True)):
        groups.setdefault(tuple(map(repr, values)), []).append(place)
    return [replace(every.some(places), fixed=_changed(others, places[0])) for places in groups.values()]


def _changed(columns: Mapping[str, Sequence[Any]], place: int) -> dict[str, Any]:
    return {path: column[place] for path, column in columns.items() if column[place] is not ...}


def _real_numbers(path: str, column: Sequence[Any]) -> Array:
    """Of what is no robot's; others are refused."""
    if _are_numbers(column):
        return np.array(column)
    return np.array([np.nan if value is ... else real_number(path, value) for value in column])


def _plain_numbers(column: Sequence[Any]) -> tuple[Array, list[Any]]:
    """What are numbers, and what is something else, `...` where there is nothing of the kind."""
    if _are_numbers(column):
        return np.array(column), []
    plain = [_is_plain(value) for value in column]
    numbers = [float(value) if own else np.nan for value, own in zip(column, plain, strict=True)]
    return np.array(numbers), [... if own else value for value, own in zip(column, plain, strict=True)]


def _are_numbers(column: Sequence[Any]) -> bool:
    """Whether nothing need be looked at one by one."""
    return {*map(type, column)} == {float} and bool(np.isfinite(column).all())


def _is_plain(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool) and isfinite(value)


def _is_number(robot: Robot, path: str) -> bool:
    """Whether a field is a number that may change by little; one that is not there is made of what it is given."""
    try:
        return isinstance(value_at(robot, path)[0], float)
    except DescriptionError:
        return True
