"""Robots in YAML files: reading with errors that give file, line and field, writing, and the JSON Schema."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from flexarm.foundation.files import write_text
from flexarm.foundation.messages import describe_unknown, shown, warn
from flexarm.robot.description import Description
from flexarm.robot.errors import (
    MAX_LISTED_PROBLEMS,
    DescriptionError,
    DescriptionProblem,
    UnitsWarning,
    location_prefix,
)
from flexarm.robot.io.yaml_source import Source, checked_path
from flexarm.robot.robot import Robot

if TYPE_CHECKING:
    from ruamel.yaml import YAML

FilePath = str | os.PathLike[str]
SIMULATION = "simulation"
"""Section of a file with the options of `flexarm run`; it is not part of the robot."""
SWEEP = "sweep"
"""Section of a file with the options of `flexarm sweep`."""


def load(path: FilePath) -> Robot:
    """Read a robot from a YAML file.

    Parameters
    ----------
    path : str or path-like
        File to read.

    Returns
    -------
    Robot
        Validated robot.

    Raises
    ------
    DescriptionError
        If the file cannot be read or is not a valid description; each problem has the line and the path of its field.

    See Also
    --------
    save : Write a robot to a file.
    schema : JSON Schema of robot files.

    Examples
    --------
    >>> load("missing.yaml")
    Traceback (most recent call last):
    flexarm.robot.errors.DescriptionError: missing.yaml: there is no such file
    """
    return read(path)[0]


def read(path: FilePath) -> tuple[Robot, dict[str, Any]]:
    """Return the robot in a YAML file and the file's section `simulation` as plain data ({} if absent)."""
    robot, simulation, _ = read_source(path)
    return robot, simulation


def read_source(path: FilePath) -> tuple[Robot, dict[str, Any], Source]:
    """Return the robot in a YAML file, the section `simulation`, and the file with its line numbers."""
    source = Source.read(path)
    fields = {name: value for name, value in source.data.items() if name in Robot.model_fields or _not_text(name)}
    simulation = source.data.get(SIMULATION)
    problems = []
    try:
        robot = Robot.model_validate(fields)
    except DescriptionError as error:
        problems = error.problems
    for section in (SIMULATION, SWEEP):
        if not isinstance(source.data.get(section), dict | None):
            problems.append(DescriptionProblem(section, source.data[section], "must be a mapping"))
    allowed = [*Robot.model_fields, SIMULATION, SWEEP]
    unknowns = [name for name in source.data if name not in fields and name not in (SIMULATION, SWEEP)]
    problems += [DescriptionProblem(name, ..., describe_unknown("unknown field", name, allowed)) for name in unknowns]
    if problems:
        lines = [replace(problem, line=source.line(problem.path)) for problem in problems]
        raise DescriptionError(lines, source.file) from None
    _warn(source, list(robot.every_unit_warning()))
    return robot, simulation or {}, source


def _not_text(name: object) -> bool:
    return not isinstance(name, str)


def _warn(source: Source, problems: list[DescriptionProblem]) -> None:
    for problem in problems[:MAX_LISTED_PROBLEMS]:
        warn(location_prefix(source.file, source.line(problem.path)) + str(problem), UnitsWarning)
    if (more := len(problems) - MAX_LISTED_PROBLEMS) > 0:
        sentence = f"{location_prefix(source.file)}{more} more values look as if they were in another unit"
        warn(sentence, UnitsWarning)


def save(robot: Robot, path: FilePath) -> None:
    """Write a robot to a YAML file, without fields that have their default.

    Parameters
    ----------
    robot : Robot
        Robot to write.
    path : str or path-like
        File to write; an existing file is replaced atomically.

    Raises
    ------
    DescriptionError
        If the file cannot be written.

    See Also
    --------
    load : Read a robot from a file.
    """
    if not isinstance(robot, Robot):
        raise TypeError(f"robot = {shown(robot)}: must be a Robot")
    target = checked_path(path)
    try:
        write_text(target, yaml_text(robot))
    except OSError as error:
        raise DescriptionError([DescriptionProblem("", ..., str(error))]) from None


def yaml_text(robot: Robot, simulation: Mapping[str, Any] | None = None, sweep: Mapping[str, Any] | None = None) -> str:
    """Return a robot as the text of a YAML file, optionally with the sections `simulation` and `sweep`."""
    text = io.StringIO()
    sections = {
        name: {field: _inline(value) for field, value in given.items()}
        for name, given in ((SIMULATION, simulation), (SWEEP, sweep))
        if given
    }
    _writer().dump(_block(plain_data(robot)) | sections, text)
    return text.getvalue()


def schema() -> dict[str, Any]:
    """Return the JSON Schema of robot files, for completion and validation in editors.

    Returns
    -------
    dict
        JSON Schema (draft 2020-12).

    Examples
    --------
    >>> sorted(schema()["required"])
    ['links']
    """
    for kind in _kinds_of(Description):
        kind.model_rebuild()  # pydantic before 2.14 cannot write defaults of kinds it has not built yet
    robot = Robot.model_json_schema()
    simulation = {"type": "object", "description": "what to compute with the robot; not part of it"}
    sweep = {"type": "object", "description": "what to vary in many simulations of the robot; not part of it"}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **robot,
        "title": "flexarm robot",
        "properties": {**robot["properties"], SIMULATION: simulation, SWEEP: sweep},
    }


def _kinds_of(parent: type[Description]) -> Iterator[type[Description]]:
    for kind in parent.__subclasses__():
        yield kind
        yield from _kinds_of(kind)


def plain_data(value: Any) -> Any:
    """Return a description as mappings, lists and numbers, without fields that have their default."""
    if isinstance(value, tuple):
        return [plain_data(item) for item in value]
    if not isinstance(value, Description):
        return value
    data = {name: plain_data(item) for name, item in value.given}
    return data[value.tag] if value.tag is not None and len(data) == 1 else data  # `joint: weld`


def _writer() -> YAML:
    from ruamel.yaml import YAML
    from ruamel.yaml.representer import RoundTripRepresenter

    class Representer(RoundTripRepresenter):
        """Representer that writes 2e10 instead of 20000000000.0."""

    def short(representer: Any, number: float) -> Any:
        text = repr(number)
        if "e" in text or abs(number) >= 1e6:
            text = f"{Decimal(text).normalize():e}".replace("e+", "e")
        return representer.represent_scalar("tag:yaml.org,2002:float", text)

    Representer.add_representer(float, short)
    writer = YAML()
    writer.Representer = Representer
    writer.width = 4096  # a field, however long, stays on its line
    writer.indent(mapping=2, sequence=4, offset=2)
    return writer


def _block(robot: dict[str, Any]) -> dict[str, Any]:
    """Arrange a robot for YAML: one line for each field of the robot and of its links, and for each constraint."""
    lists = {"links": [{name: _inline(value) for name, value in link.items()} for link in robot["links"]]}
    lists |= {name: [_inline(each) for each in robot[name]] for name in ("constraints", "frames") if name in robot}
    return {name: lists[name] if name in lists else _inline(value) for name, value in robot.items()}


def _inline(value: Any) -> Any:
    from ruamel.yaml.comments import CommentedMap, CommentedSeq

    if isinstance(value, dict):
        mapping = CommentedMap((name, _inline(item)) for name, item in value.items())
        mapping.fa.set_flow_style()
        return mapping
    if isinstance(value, list):
        sequence = CommentedSeq(_inline(item) for item in value)
        sequence.fa.set_flow_style()
        return sequence
    return value
