"""Members of a sweep before they run: their changes by kind, and groups of members that differ by numbers only."""

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
from flexarm.sweeps.apply_changes import STATES, is_of_case, robot_with
from flexarm.sweeps.case import Member, Members, columns_of


class ChangesByKind(NamedTuple):
    """Changes of the robot, of the initial state, and of the inputs."""

    robot: Mapping[str, Any]
    state: Mapping[str, float]
    inputs: Mapping[str, float]


def changes_by_kind(changes: Mapping[str, Any]) -> ChangesByKind:
    """Sort changes by what they change."""
    kinds: dict[str, dict[str, Any]] = {"robot": {}, "state": {}, "inputs": {}}
    for path, value in changes.items():
        kind = _kind(path)
        kinds[kind][path] = value if kind == "robot" else real_number(path, value)
    return ChangesByKind(**kinds)


@lru_cache(maxsize=256)  # thousands of members change the same
def _kind(path: str) -> str:
    return "robot" if not is_of_case(path) else "state" if path.partition(".")[0] in STATES else "inputs"


class MemberOfGroup(NamedTuple):
    """A member: what it changes of the robot by other values than numbers (`fixed`), by numbers, of the initial state,
    of the inputs."""

    member: Member
    fixed: Mapping[str, Any]
    numbers: Mapping[str, float]
    state: Mapping[str, float]
    inputs: Mapping[str, float]

    @property
    def robot(self) -> dict[str, Any]:
        """All changes of the robot."""
        return {**self.fixed, **self.numbers}

    @property
    def smooth(self) -> Mapping[str, float]:
        """Changes of which its row of parameters is a smooth function."""
        return {**self.numbers, **self.state} if self.state else self.numbers

    def robot_of(self, robot: Robot) -> Robot:
        """Return its robot, from one that has the fixed changes."""
        return robot_with(robot, self.numbers)

    def error(self, error: Exception) -> ValueError:
        """Return an error that names the member."""
        changes = ", ".join(f"{path} = {shown(value)}" for path, value in self.member.changes.items())
        return ValueError(f"member {self.member.number} ({changes}): {error_text(error)}")


class EqualMembers(NamedTuple):
    """Index of the first member of each kind, and the kind of each member."""

    firsts: list[int]
    which: NDArray[np.intp]


@dataclass(frozen=True)
class MemberGroup(Sequence[MemberOfGroup]):
    """Members that differ by numbers only, as columns.

    Parameters
    ----------
    fixed : mapping
        What all of them change of the robot by other values than numbers.
    numbers : mapping
        By field, a finite number for each member, or nan where it leaves the field as it is.
    """

    members: Members
    fixed: Mapping[str, Any]
    numbers: Mapping[str, Array]

    def __len__(self) -> int:
        return len(self.members)

    @overload
    def __getitem__(self, place: int) -> MemberOfGroup: ...

    @overload
    def __getitem__(self, place: slice) -> MemberGroup: ...

    def __getitem__(self, place: int | slice) -> MemberOfGroup | MemberGroup:
        if isinstance(place, slice):
            return self.select(range(*place.indices(len(self))))
        numbers = {path: column.item(place) for path, column in self.numbers.items()}
        own = {path: value for path, value in numbers.items() if isfinite(value)}
        return MemberOfGroup(self.members[place], self.fixed, *changes_by_kind(own))

    def select(self, places: Sequence[int]) -> MemberGroup:
        """Return the members with these indices."""
        chosen = list(places)
        numbers = {path: column[chosen] for path, column in self.numbers.items()}
        return MemberGroup(self.members.select(chosen), self.fixed, numbers)

    def fields(self, *kinds: str) -> tuple[str, ...]:
        """Return the fields of these kinds ("robot", "state", "inputs") that a member changes."""
        known = {path: column for path, column in self.numbers.items() if _kind(path) in kinds}
        return tuple(path for path, column in known.items() if not np.isnan(column).all())

    def points(self, fields: Sequence[str]) -> Array:
        """Return the numbers of fields, (members, fields)."""
        return np.stack([self.numbers[path] for path in fields], axis=1) if fields else np.zeros((len(self), 0))

    def equal(self, *kinds: str) -> EqualMembers:
        """Find members whose numbers of these kinds are the same."""
        fields = self.fields(*kinds)
        if not fields:
            return EqualMembers([0] if len(self) else [], np.zeros(len(self), dtype=np.intp))
        at = self.points(fields)
        rows = np.where(np.isnan(at), np.inf, at)  # no number is infinite
        _, firsts, which = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        order = np.argsort(firsts, kind="stable")  # in the order of the members
        ranks = np.empty_like(order)
        ranks[order] = np.arange(len(order))
        return EqualMembers(firsts[order].tolist(), ranks[which.ravel()])

    def lengths(self, place: int, link: Link) -> Array:
        """Return the lengths of a link, which changes may call by its name or by its index (m)."""
        found = np.full(len(self), link.length)
        for name in (f"links.{place}.length", f"links.{link.name}.length"):
            if (column := self.numbers.get(name)) is not None:
                found = np.where(np.isnan(column), found, column)
        return found


def member_groups(robot: Robot, given: Sequence[Member]) -> list[MemberGroup]:
    """Return the members in groups that differ by numbers only."""
    members = columns_of(given)
    numbers, others = dict[str, Array](), dict[str, list[Any]]()
    for path, column in members.columns.items():
        if _kind(path) != "robot":
            numbers[path] = _real_numbers(path, column)
        elif _is_number(robot, path):
            numbers[path], others[path] = _separated(column)
        else:
            others[path] = list(column)
    others = {path: column for path, column in others.items() if any(value is not ... for value in column)}
    every = MemberGroup(members, {}, numbers)
    if not others:
        return [every]
    groups: dict[tuple[str, ...], list[int]] = {}
    for place, values in enumerate(zip(*others.values(), strict=True)):
        groups.setdefault(tuple(map(repr, values)), []).append(place)
    return [replace(every.select(places), fixed=_values(others, places[0])) for places in groups.values()]


def _values(columns: Mapping[str, Sequence[Any]], place: int) -> dict[str, Any]:
    return {path: column[place] for path, column in columns.items() if column[place] is not ...}


def _real_numbers(path: str, column: Sequence[Any]) -> Array:
    """Return a column of numbers; other values are refused."""
    if _are_numbers(column):
        return np.array(column)
    return np.array([np.nan if value is ... else real_number(path, value) for value in column])


def _separated(column: Sequence[Any]) -> tuple[Array, list[Any]]:
    """Return the numbers of a column, nan elsewhere, and its other values, `...` elsewhere."""
    if _are_numbers(column):
        return np.array(column), []
    plain = [_is_plain(value) for value in column]
    numbers = [float(value) if own else np.nan for value, own in zip(column, plain, strict=True)]
    return np.array(numbers), [... if own else value for value, own in zip(column, plain, strict=True)]


def _are_numbers(column: Sequence[Any]) -> bool:
    return {*map(type, column)} == {float} and bool(np.isfinite(column).all())


def _is_plain(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool) and isfinite(value)


def _is_number(robot: Robot, path: str) -> bool:
    """Return True if a field is a number that may change by little; so is one of a part that is not there yet."""
    try:
        return isinstance(value_at(robot, path)[0], float)
    except DescriptionError:
        return True
