"""The plan of a sweep: which fields vary, with their units, and which values each member has."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, overload

import numpy as np

from flexarm.dynamics.system import System
from flexarm.foundation.messages import collect_warnings, describe_unknown, error_text, shown, suggestion
from flexarm.foundation.validation import real
from flexarm.robot import DescriptionError, Robot
from flexarm.robot.path_updates import value_at
from flexarm.sweeps.apply_changes import (
    ROOTS,
    STATES,
    apply_changes,
    is_of_case,
    profile_at,
    profile_number,
    profile_number_unit,
    require_gain,
    start_of,
)
from flexarm.sweeps.apply_changes import gains_of as gains_of_law
from flexarm.sweeps.case import Member, Members, SweepCase
from flexarm.sweeps.measures import STANDARD_MEASURES


@dataclass(frozen=True)
class Field:
    """A quantity that varies: name, unit (empty if it has none), meaning, and its value in the case, if any."""

    name: str
    unit: str
    meaning: str
    value: Any = None


def field(case: SweepCase, name: object, sample: Any = None) -> Field:
    """Return the field of a name.

    `sample`: a value that it may have, for parts of a robot that do not exist yet.
    """
    if not isinstance(name, str) or not name:
        raise TypeError(f"over: {shown(name)} is no name; names are such as 'links.fore.payload.mass' and 'q0.upper.q'")
    root, _, rest = name.partition(".")
    if not is_of_case(name):
        return _of_robot(case, name, sample)
    if not rest:
        known = {"q0": "upper.q", "v0": "upper.q", "gains": "kp", "loads": "0.force.1"}.get(root, "upper.amplitude")
        raise KeyError(f"over: {name!r}: specify one, as in '{root}.{known}'")
    if root in STATES:
        return _start(case, name, root, rest)
    if root == "gains":
        require_gain(case, rest)
        return Field(name, "", f"gain {rest} of the law", gains_of_law(case)[rest])
    place, given, number = profile_at(case, root, rest)
    where = f"{root}.{place}"
    now = profile_number(given, number, where)
    unit = profile_number_unit(number, _unit_of(case, root, place))
    words = {"torque": "torque of", "motion": "motion of", "references": "reference of", "loads": "load"}[root]
    return Field(name, unit, f"{number.replace('.', ' ') or 'value'} of the {words} {place}", now)


def _of_robot(case: SweepCase, name: str, sample: Any) -> Field:
    root = name.partition(".")[0].partition("[")[0]
    if root not in Robot.model_fields:
        raise KeyError(
            f"over: {name!r}: {describe_unknown('there is no such field', root, [*Robot.model_fields, *ROOTS])}"
        )
    try:
        value = value_at(case.robot, name)[0]
    except DescriptionError:
        value = None  # a part that would be made, or a name that is wrong: the robot that has it raises the error
    robot = case.robot if sample is None else apply_changes(case, {name: sample}).robot
    try:
        unit = value_at(robot, name)[1]
    except DescriptionError as error:
        raise KeyError(f"over: {error}") from None
    return Field(name, _unit_of_joint(unit, robot, name), _words(name), value)


def _unit_of_joint(unit: str, robot: Robot, name: str) -> str:
    """Return the unit that applies of `N m/rad, N/m in a prismatic joint`."""
    turning, _, sliding = unit.partition(", ")
    link = name.split(".")[1] if name.startswith("links.") else ""
    if not sliding or not link:
        return unit
    joint = robot.links[int(link)].joint if link.isdecimal() else robot.link(link).joint
    return sliding.partition(" in ")[0] if joint.freedoms[0].unit == "m" else turning


def _words(path: str) -> str:
    """Return a path in words: `mass of payload of fore`."""
    return " of ".join(each for each in reversed(path.split(".")) if each not in ("links", "constraints"))


def _start(case: SweepCase, name: str, root: str, coordinate: str) -> Field:
    value = start_of(case, root, coordinate)
    system = System(case.robot, native=False)
    unit = system.units[system.index(coordinate)]
    if root == "v0":
        return Field(name, "1/s" if unit == "1" else f"{unit}/s", f"initial rate of {coordinate}", value)
    return Field(name, unit, f"initial {coordinate}", value)


def _unit_of(case: SweepCase, root: str, place: str) -> str:
    """Return the unit of the values of a profile."""
    if root == "loads":
        return "N" if ".force." in place else "N m"
    if root == "references":
        return ""
    system = System(case.robot, native=False)
    found: Mapping[str, str] = {each.name: each.unit for each in system.actuators}
    if root == "motion":
        found = {each.name: each.coordinate.unit for each in system.actuators}
    if place not in found:
        raise KeyError(f"over: {root}.{place}: there is no actuator {place!r}{suggestion(place, list(found))}")
    return found[place]


MOST = 10_000_000  # members: beyond, the results alone fill the memory
CORNERS = 256  # robots that are made to see whether all others can be

Value = float | int | str | bool


@dataclass(frozen=True)
class SweepPlan(Sequence[Member]):
    """Members in a row, made when they are asked for.

    columns: by field the values along its own dimension or, of an `elementwise` plan, one for each member.
    """

    fields: tuple[Field, ...]
    columns: tuple[tuple[Value, ...], ...]
    elementwise: bool = False

    @cached_property
    def shape(self) -> tuple[int, ...]:
        lengths = tuple(len(column) for column in self.columns)
        return lengths[:1] if self.elementwise else lengths

    @property
    def dimensions(self) -> tuple[str, ...]:
        return ("member",) if self.elementwise else tuple(each.name for each in self.fields)

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
        places = (number,) * len(self.fields) if self.elementwise else unravel(number, self.shape)
        values = (column[place] for column, place in zip(self.columns, places, strict=True))
        return Member(number, {each.name: value for each, value in zip(self.fields, values, strict=True)})

    def members(self, numbers: Sequence[int]) -> Members:
        """Return members by their numbers, as columns."""
        of = np.array(numbers, dtype=np.intp)
        places = (of,) * len(self.fields) if self.elementwise else np.unravel_index(of, self.shape)
        columns = {
            each.name: [column[k] for k in at.tolist()]
            for each, column, at in zip(self.fields, self.columns, places, strict=True)
        }
        return Members(of, columns)

    def words(self, number: int) -> str:
        """Return the changes of a member in words."""
        return ", ".join(f"{name} = {shown(value)}" for name, value in self[number].changes.items())

    def require_possible(self, case: SweepCase, hint: str = "") -> None:
        """Raise ValueError for the first member that makes no case, with a hint.

        The allowed values of a number are an interval, and conditions between numbers are inequalities: if all corners
        are possible, so is what lies between them. Otherwise members are tried one by one.
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

    def unit_warnings(self, case: SweepCase) -> list[str]:
        """Return the warnings of descriptions about values whose unit looks wrong, at the ends of each field."""
        with collect_warnings() as messages:
            for each, column in zip(self.fields, self.columns, strict=True):
                for value in () if is_of_case(each.name) else _levels(column):
                    with suppress(ValueError, TypeError):  # it may be possible with others only
                        case.robot.with_({each.name: value})
        return messages


def plan_of(case: SweepCase, over: object, elementwise: bool = False) -> SweepPlan:
    """Return the plan for the values by name in `over`."""
    if not isinstance(over, Mapping) or not over:
        raise TypeError(f"over = {shown(over)}: must be values by name, {{'links.fore.payload.mass': [0.0, 0.1, 0.2]}}")
    fields, columns = [], []
    for name, given in over.items():
        if name in STANDARD_MEASURES:
            raise ValueError(f"over: {name!r} is a measure of every member, and no name of a field in results")
        column = values_of(name, given)
        fields.append(_field(case, name, column[0]))
        columns.append(column)
    _require_different(case, [each.name for each in fields])
    lengths = [len(column) for column in columns]
    if elementwise and len(set(lengths)) > 1:
        lengths_by_name = ", ".join(f"{each.name} {length}" for each, length in zip(fields, lengths, strict=True))
        raise ValueError(f"over: elementwise values must be equally many, but there are: {lengths_by_name}")
    plan = SweepPlan(tuple(fields), tuple(columns), elementwise)
    if len(plan) > MOST:
        raise ValueError(f"over: makes {len(plan):.3g} members, and at most {MOST:.0e} are run")
    return plan


def _field(case: SweepCase, name: object, sample: Value) -> Field:
    try:
        return field(case, name, sample)
    except ValueError as error:  # this value cannot be: its unit is known all the same, or the name is wrong
        try:
            return field(case, name)
        except KeyError:
            raise ValueError(f"over: {name} = {shown(sample)}: {error}") from None


def _require_different(case: SweepCase, names: Sequence[str]) -> None:
    """Refuse two names of one field, such as `links.0.length` and `links.upper.length`."""
    seen: dict[str, str] = {}
    for name in names:
        same = _spelled(case, name)
        if same in seen:
            raise ValueError(f"over: {seen[same]!r} and {name!r} are one field")
        seen[same] = name


def _spelled(case: SweepCase, name: str) -> str:
    """Return a name in one spelling: links by name, numbers without leading zeros."""
    links = [link.name for link in case.robot.links]
    steps = [step if step in links or not step.isdecimal() else str(int(step)) for step in name.split(".")]
    if steps[0] == "links" and len(steps) > 1 and steps[1].isdecimal() and steps[1] not in links:
        place = int(steps[1])
        steps[1] = links[place] if place < len(links) else steps[1]
    if is_of_case(name) and steps[-1] == "value":  # that of a constant has no name, either
        steps = steps[:-1]
    return ".".join(steps)


def values_of(name: object, given: Any) -> tuple[Value, ...]:
    """Return the values of a field: numbers, or words such as the names of models."""
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
    """Return the smallest and the largest of numbers, or all words and truth values."""
    unique = sorted(set(column), key=str)
    if all(isinstance(each, (int, float)) and not isinstance(each, bool) for each in unique):
        return [min(column), max(column)] if len(unique) > 1 else unique
    return unique


def _problem(case: SweepCase, changes: Mapping[str, Any]) -> str | None:
    try:
        apply_changes(case, changes)
    except (ValueError, TypeError, KeyError) as error:
        return error_text(error)
    return None


def unravel(number: int, shape: Sequence[int]) -> tuple[int, ...]:
    """Return the indices along each dimension, as `numpy.unravel_index`, which is slow for one number."""
    places = []
    for length in reversed(shape):
        number, place = divmod(number, length)
        places.append(place)
    return tuple(reversed(places))
