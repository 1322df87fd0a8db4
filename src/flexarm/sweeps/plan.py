"""The plan of a sweep: which fields vary, and which values each member has."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, overload

import numpy as np

from flexarm.foundation.heard import heard
from flexarm.foundation.numbers import real
from flexarm.foundation.sentences import shown, told
from flexarm.sweeps.applied import applied, is_of_case
from flexarm.sweeps.fields import Field, field
from flexarm.sweeps.member import Case, Member
from flexarm.sweeps.members import Members

MOST = 10_000_000  # members: beyond, the results alone fill the memory
CORNERS = 256  # robots that are made to see whether all others can be

Value = float | int | str | bool


@dataclass(frozen=True)
class Plan(Sequence[Member]):
    """Members in a row, made when they are asked for.

    columns: by field the values along its own dimension or, of members that lie `together`, one for each member.
    """

    fields: tuple[Field, ...]
    columns: tuple[tuple[Value, ...], ...]
    together: bool = False

    @cached_property
    def shape(self) -> tuple[int, ...]:
        lengths = tuple(len(column) for column in self.columns)
        return lengths[:1] if self.together else lengths

    @property
    def dimensions(self) -> tuple[str, ...]:
        return ("member",) if self.together else tuple(each.name for each in self.fields)

    @cached_property
    def _count(self) -> int:
        return math.prod(self.shape)

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, number: int) -> Member: ...

    @overload
    def __getitem__(self, number: slice) -> Sequence[Member]: ...

    def __getitem__(self, number: int | slice) -> Member | Sequence[Member]:
        if isinstance(number, slice):
            return [self[k] for k in range(*number.indices(len(self)))]
        if not -len(self) <= number < len(self):
            raise IndexError(f"there are {len(self)} members")
        number %= len(self)
        places = (number,) * len(self.fields) if self.together else unravelled(number, self.shape)
        values = (column[place] for column, place in zip(self.columns, places, strict=True))
        return Member(number, {each.name: value for each, value in zip(self.fields, values, strict=True)})

    def members(self, numbers: Sequence[int]) -> Members:
        """Some of them by their numbers, as columns."""
        of = np.array(numbers, dtype=np.intp)
        places = (of,) * len(self.fields) if self.together else np.unravel_index(of, self.shape)
        columns = {
            each.name: [column[k] for k in at.tolist()]
            for each, column, at in zip(self.fields, self.columns, places, strict=True)
        }
        return Members(of, columns)

    def words(self, number: int) -> str:
        """What a member is, in words."""
        return ", ".join(f"{name} = {shown(value)}" for name, value in self[number].changes.items())

    def require_possible(self, case: Case, hint: str = "") -> None:
        """Every member must make a case: the first that does not is told, before anything runs, with a hint.

        What a number may be is an interval, and what binds numbers to each other are inequalities: where all corners
        can be, so can what lies between. Where one cannot, members are looked at one by one.
        """
        levels = [_levels(column) for column in self.columns]
        count = math.prod(map(len, levels))
        names = [each.name for each in self.fields]
        if count <= min(CORNERS, len(self)):
            corners: Iterator[Any] = (dict(zip(names, corner, strict=True)) for corner in product(*levels))
            if all(_problem(case, corner) is None for corner in corners):
                return
        for member in self:
            if (problem := _problem(case, member.changes)) is not None:
                which = f"member {member.number} ({self.words(member.number)})"
                raise ValueError(f"over: {which} cannot be: {problem}{hint}")

    def odd_units(self, case: Case) -> list[str]:
        """What descriptions say of values whose unit looks wrong, at the ends of each field."""
        with heard() as said:
            for each, column in zip(self.fields, self.columns, strict=True):
                for value in () if is_of_case(each.name) else _levels(column):
                    with suppress(ValueError, TypeError):  # it may be possible with others only
                        case.robot.with_({each.name: value})
        return said


def plan_of(case: Case, over: object, together: bool = False) -> Plan:
    """The plan that `over` asks for: values by name."""
    if not isinstance(over, Mapping) or not over:
        raise TypeError(f"over = {shown(over)}: must be values by name, {{'links.fore.payload.mass': [0.0, 0.1, 0.2]}}")
    fields, columns = [], []
    for name, given in over.items():
        column = values_of(name, given)
        fields.append(_field(case, name, column[0]))
        columns.append(column)
    _require_different(case, [each.name for each in fields])
    lengths = [len(column) for column in columns]
    if together and len(set(lengths)) > 1:
        told = ", ".join(f"{each.name} {length}" for each, length in zip(fields, lengths, strict=True))
        raise ValueError(f"over: values that lie side by side must be equally many, but there are: {told}")
    plan = Plan(tuple(fields), tuple(columns), together)
    if len(plan) > MOST:
        raise ValueError(f"over: makes {len(plan):.3g} members, and at most {MOST:.0e} are run")
    return plan


def _field(case: Case, name: object, sample: Value) -> Field:
    try:
        return field(case, name, sample)
    except ValueError as error:  # this value cannot be: what it is can be told all the same, or the name is wrong
        try:
            return field(case, name)
        except KeyError:
            raise ValueError(f"over: {name} = {shown(sample)}: {error}") from None


def _require_different(case: Case, names: Sequence[str]) -> None:
    """`links.0.length` and `links.upper.length` are one field."""
    seen: dict[str, str] = {}
    for name in names:
        same = _spelled(case, name)
        if same in seen:
            raise ValueError(f"over: {seen[same]!r} and {name!r} are one field")
        seen[same] = name


def _spelled(case: Case, name: str) -> str:
    """One of the ways in which a name can be written: links by name, numbers without zeros before them."""
    links = [link.name for link in case.robot.links]
    steps = [step if step in links or not step.isdecimal() else str(int(step)) for step in name.split(".")]
    if steps[0] == "links" and len(steps) > 1 and steps[1].isdecimal() and steps[1] not in links:
        place = int(steps[1])
        steps[1] = links[place] if place < len(links) else steps[1]
    if is_of_case(name) and steps[-1] == "value":  # that of a constant has no name, either
        steps = steps[:-1]
    return ".".join(steps)


def values_of(name: object, given: Any) -> tuple[Value, ...]:
    """The values of a field: numbers, or words such as the names of models."""
    where = f"over[{name!r}]"
    if isinstance(given, (str, bytes, Mapping)) or not (hasattr(given, "__iter__") or np.ndim(given)):
        raise TypeError(f"{where} = {shown(given)}: must be a list of values, np.linspace(0, 0.5, 11)")
    try:
        column = tuple(_value(each) for each in given)
    except TypeError:
        raise TypeError(f"{where} = {shown(given)}: must be a list of numbers, or of words") from None
    if not column:
        raise ValueError(f"{where} = {shown(given)}: is empty; a sweep needs a value at least")
    for k, value in enumerate(column):
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"{where}[{k}] = {value}: must be finite")
    if len({isinstance(value, str) for value in column}) > 1:
        raise TypeError(f"{where} = {shown(given)}: must be a list of numbers, or of words, not of both")
    return column


def _value(given: Any) -> Value:
    if isinstance(given, (bool, np.bool_)):
        return bool(given)
    if isinstance(given, (int, np.integer)):
        return int(given)
    if isinstance(given, str) and given:
        return given
    number = real(given)
    if number is None:
        raise TypeError
    return number


def _levels(column: Sequence[Value]) -> list[Value]:
    """The ends of numbers; of words and switches all that there are."""
    unique = sorted(set(column), key=str)
    if all(isinstance(each, (int, float)) and not isinstance(each, bool) for each in unique):
        return [min(column), max(column)] if len(unique) > 1 else unique
    return unique


def _problem(case: Case, changes: Mapping[str, Any]) -> str | None:
    try:
        applied(case, changes)
    except (ValueError, TypeError, KeyError) as error:
        return told(error)
    return None


def unravelled(number: int, shape: Sequence[int]) -> tuple[int, ...]:
    """Places along each dimension; as NumPy's, which takes long for one."""
    places = []
    for length in reversed(shape):
        number, place = divmod(number, length)
        places.append(place)
    return tuple(reversed(places))
