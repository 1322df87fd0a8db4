"""Section `simulation:` of a robot file. All errors are reported at once, with the lines of the file."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from flexarm.dynamics.system import System
from flexarm.foundation.messages import describe_unknown, error_text, suggestion
from flexarm.foundation.validation import Bounds
from flexarm.integrators.constraint_solver import Baumgarte
from flexarm.integrators.loads import PointLoad
from flexarm.integrators.registry import METHODS, SUNDIALS
from flexarm.integrators.step_size import LARGEST_RTOL, SMALLEST_RTOL
from flexarm.profiles.parse import PROFILES, profile
from flexarm.profiles.profile import Profile
from flexarm.robot import DescriptionError, Robot
from flexarm.robot.errors import DescriptionProblem, join_paths, location_prefix
from flexarm.robot.io.files import SIMULATION
from flexarm.robot.io.yaml_source import Source


def simulation_options(
    section: Mapping[str, Any], file: str, *, robot: Robot | None = None, outside: bool = False
) -> dict[str, Any]:
    """Return the arguments of `simulate` from the section of a file.

    file: the robot file; tables must be in its folder unless `outside` is true.
    robot: its links validate names; without it, `simulate` finds unknown names.
    """
    reader = _Reader(os.path.dirname(file), None if robot is None else System(robot, native=False), outside)
    out = {}
    for name, value in section.items():
        with reader.collecting():
            if name not in FIELDS:
                raise _wrong(join_paths(SIMULATION, str(name)), ..., describe_unknown("unknown field", name, FIELDS))
            if value is not None:
                out[str(name)] = FIELDS[name](reader, value, join_paths(SIMULATION, name))
    if section.get("duration") is None:
        sentence = "is required (s); give it in the file or with --duration"
        reader.problems.append(DescriptionProblem(join_paths(SIMULATION, "duration"), ..., sentence))
    if reader.problems:
        raise DescriptionError(_with_lines(reader.problems, section, file), file)
    return out


@contextmanager
def located_errors(file: str, options: Sequence[str]) -> Iterator[None]:
    """Put file and line before the message of an error that names one of these options, which are those of the file.

    A name of an entry that follows the option, as in q0['a.q'], gives the line of this entry.
    """
    try:
        yield
    except DescriptionError:
        raise
    except (ValueError, KeyError, TypeError) as error:
        text = error_text(error)
        found = re.search(rf"\b({'|'.join(map(re.escape, options))})\b[\[.={{']*([\w.]*)", text)
        source = Source.read(file)
        if found is None or found[1] not in (source.data.get(SIMULATION) or {}):
            raise
        line = source.line(join_paths(join_paths(SIMULATION, found[1]), found[2]))
        raise type(error)(f"{location_prefix(file, line)}{text}") from None


@dataclass
class _Reader:
    """Context of the file, and the errors found so far."""

    folder: str
    system: System | None
    outside: bool

    def __post_init__(self) -> None:
        self.problems: list[DescriptionProblem] = []

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Problems inside are noted, and reading goes on after them."""
        try:
            yield
        except DescriptionError as error:
            self.problems += error.problems

    @property
    def frames(self) -> list[str]:
        """Names of the robot's frames."""
        return [] if self.system is None else [frame.name for frame in self.system.robot.frames]

    def place(self, name: object, path: str) -> str:
        """Return the name of a link or frame, as the value of a field."""
        if not isinstance(name, str):
            raise _wrong(path, name, "must be the name of a link")
        links = [] if self.system is None else [*(link.name for link in self.system.robot.links), *self.frames]
        if self.system is not None and name not in links:
            raise _wrong(path, name, f"there is no such link{suggestion(name, links)}")
        return name

    def key(self, name: object, path: str, what: str, known: Sequence[str]) -> str:
        """The name of an actuator or a coordinate, as a field."""
        if not isinstance(name, str):
            raise _wrong(path, ..., f"is not text, but names of {what}s are")
        if self.system is not None and name not in known:
            raise _wrong(path, ..., f"there is no such {what}{suggestion(name, known)}")
        return name

    @property
    def actuators(self) -> Sequence[str]:
        return () if self.system is None else self.system.inputs

    @property
    def coordinates(self) -> Sequence[str]:
        return () if self.system is None else self.system.names


def _wrong(path: str, value: object, sentence: str) -> DescriptionError:
    return DescriptionError([DescriptionProblem(path, value, sentence)])


def _with_lines(problems: list[DescriptionProblem], section: Mapping[str, Any], file: str) -> list[DescriptionProblem]:
    """Lines, except for fields that the command line has changed, and when the file is gone."""
    try:
        source = Source.read(file)
    except DescriptionError:
        return problems
    written = source.data.get(SIMULATION) or {}  # without a section, the line is that of the whole mapping
    if not isinstance(written, dict):
        return problems

    def line(path: str) -> int | None:
        field = re.split(r"[.\[]", path)[1]
        same = repr(section.get(field)) == repr(written.get(field))  # not ==, which circles of aliases would trap
        return source.line(path) if same else None

    return [replace(problem, line=line(problem.path)) for problem in problems]


def _number(**bounds: Any) -> Callable[[_Reader, Any, str], float]:
    check = Bounds(**bounds).check

    def read(reader: _Reader, value: Any, path: str) -> float:
        try:
            return check(value)
        except ValueError as error:
            raise _wrong(path, value, str(error)) from None

    return read


_finite = _number()


def _method(reader: _Reader, value: Any, path: str) -> str:
    if not isinstance(value, str) or value not in [*METHODS, *SUNDIALS]:
        raise _wrong(path, value, describe_unknown("unknown method", value, [*METHODS, *SUNDIALS]))
    return value


def _state(reader: _Reader, value: Any, path: str) -> Any:
    """Coordinates by name, or all of them in a list."""
    if isinstance(value, Mapping):
        found = {}
        for name, number in value.items():
            with reader.collecting():
                where = join_paths(path, str(name))
                found[reader.key(name, where, "coordinate", reader.coordinates)] = _finite(reader, number, where)
        return found
    if isinstance(value, list):
        numbers = [_finite(reader, number, f"{path}[{k}]") for k, number in enumerate(value)]
        if reader.system is not None and len(numbers) != reader.system.nq:
            names = ", ".join(reader.coordinates)
            raise _wrong(path, value, f"has {len(numbers)} numbers: give one for each of {names}, or some by name")
        return numbers
    raise _wrong(path, value, "must be a mapping from coordinates to numbers, or a list of numbers")


def _start(reader: _Reader, value: Any, path: str) -> Any:
    if isinstance(value, str):
        if value != "equilibrium":
            raise _wrong(path, value, "must be equilibrium, or a mapping from coordinates to numbers")
        return value
    return _state(reader, value, path)


def _profiles(reader: _Reader, value: Any, path: str) -> dict[str, Profile]:
    found = {}
    for name, given in _mapping(value, path, "a mapping from links to numbers or profiles").items():
        with reader.collecting():
            where = join_paths(path, str(name))
            found[reader.key(name, where, "actuator", reader.actuators)] = _profile(reader, given, where)
    return found


def _profile(reader: _Reader, value: Any, path: str) -> Profile:
    """A number, or {profile: NAME, ...} with the arguments of that profile."""
    if not isinstance(value, Mapping):
        return profile(_finite(reader, value, path), path)
    kind = value.get("profile")
    if kind is None:
        raise _wrong(join_paths(path, "profile"), ..., f"is required (allowed: {', '.join(PROFILES)})")
    if not isinstance(kind, str) or kind not in PROFILES:
        raise _wrong(join_paths(path, "profile"), kind, describe_unknown("unknown", kind, PROFILES))
    if not all(isinstance(name, str) for name in value):
        raise _wrong(path, ..., "has a field whose name is not text")
    fields = dict(value)
    if kind == "table" and isinstance(fields.get("source"), str):
        fields["source"] = _beside(reader, fields["source"], join_paths(path, "source"))
    try:
        return profile(fields, path)
    except (ValueError, TypeError, OSError) as error:
        raise _wrong(path, ..., str(error).removeprefix(f"{path}: ")) from None


def _beside(reader: _Reader, source: str, path: str) -> str:
    """Return the path of a file in the folder of the robot file: a file from others must not read other files."""
    if "\0" in source or not source:
        raise _wrong(path, source, "must be the name of a file")
    folder = os.path.realpath(reader.folder)
    file = os.path.realpath(os.path.join(folder, source))
    if not reader.outside and os.path.commonpath([folder, file]) != folder:
        raise _wrong(
            path, source, "lies outside the robot file's folder, which only flexarm run --allow-outside permits"
        )
    return file


def _stabilization(reader: _Reader, value: Any, path: str) -> Any:
    """`projection`, or `{gamma: 5, beta: 5}`."""
    if isinstance(value, str) and value == "projection":
        return value
    if not isinstance(value, Mapping) or set(value) - {"gamma", "beta"}:
        raise _wrong(path, value, "must be projection, or a mapping with gamma and beta")
    rate = _number(unit="1/s", least=0.0)
    return Baumgarte(**{name: rate(reader, number, join_paths(path, name)) for name, number in value.items()})


def _loads(reader: _Reader, value: Any, path: str) -> list[PointLoad]:
    if not isinstance(value, list):
        raise _wrong(path, value, "must be a list of mappings with link, x, force and torque")
    found = []
    for k, load in enumerate(value):
        with reader.collecting():
            found.append(_load(reader, load, f"{path}[{k}]"))
    return found


def _load(reader: _Reader, value: Any, path: str) -> PointLoad:
    fields = _fields(value, path, required=("link",), optional=("x", "force", "torque"))
    out: dict[str, Any] = {"link": reader.place(fields["link"], join_paths(path, "link"))}
    if fields.get("x") is not None:
        out["x"] = _distance(reader, fields["x"], join_paths(path, "x"))
    for name in ("force", "torque"):
        if name in fields:
            parts, where = fields[name], join_paths(path, name)
            if not isinstance(parts, list) or len(parts) != 3:
                raise _wrong(where, parts, "must be three numbers or profiles, in world axes")
            out[name] = [_profile(reader, part, f"{where}[{k}]") for k, part in enumerate(parts)]
    return PointLoad(**out)


_distance = _number(unit="m", least=0.0)


def _points(reader: _Reader, value: Any, path: str) -> dict[str, tuple[str, float | None]]:
    found: dict[str, tuple[str, float | None]] = {}
    for name, point in _mapping(value, path, "a mapping from names to link and x").items():
        with reader.collecting():
            where = join_paths(path, str(name))
            if not isinstance(name, str):
                raise _wrong(where, ..., "is not text, but names of points are")
            if isinstance(point, Mapping) and point.get("link") in reader.frames:
                found[name] = _fields(point, where, required=("link",))["link"], None
                continue
            fields = _fields(point, where, required=("link", "x"))
            place = _distance(reader, fields["x"], join_paths(where, "x"))
            found[name] = (reader.place(fields["link"], join_paths(where, "link")), place)
    return found


def _fields(value: Any, path: str, required: Sequence[str], optional: Sequence[str] = ()) -> Mapping[str, Any]:
    """A mapping that has the required fields, and none but these and the optional ones."""
    allowed = [*required, *optional]
    given = _mapping(value, path, f"a mapping with {' and '.join(required)}")
    problems = [
        DescriptionProblem(join_paths(path, name), ..., "is required") for name in required if given.get(name) is None
    ]
    strangers = [str(name) for name in given if name not in allowed]
    problems += [
        DescriptionProblem(join_paths(path, name), ..., describe_unknown("unknown field", name, allowed))
        for name in strangers
    ]
    if problems:
        raise DescriptionError(problems)
    return given


def _switch(reader: _Reader, value: Any, path: str) -> bool:
    if not isinstance(value, bool):
        raise _wrong(path, value, "must be true or false")
    return value


def _mapping(value: Any, path: str, what: str) -> Mapping[Any, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise _wrong(path, value, f"must be {what}")
    return value


_seconds = _number(unit="s", above=0.0)

FIELDS: dict[str, Callable[[_Reader, Any, str], Any]] = {
    "duration": _seconds,
    "torque": _profiles,
    "motion": _profiles,
    "loads": _loads,
    "points": _points,
    "q0": _start,
    "v0": _state,
    "method": _method,
    "stabilization": _stabilization,
    "radius": _number(least=0.0, most=1.0),
    "rtol": _number(least=SMALLEST_RTOL, most=LARGEST_RTOL),
    "atol": _number(unit="m", least=0.0),
    "dt": _seconds,
    "sample": _seconds,
    "verify": _switch,
}
