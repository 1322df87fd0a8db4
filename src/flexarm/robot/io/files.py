"""Robots in YAML files: reading with errors that name file, line and field, writing, and the JSON Schema."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from flexarm.foundation.files import write_text
from flexarm.foundation.messages import describe_unknown, shown
from flexarm.robot.description import Description, warn_of_units
from flexarm.robot.errors import MAX_LISTED_PROBLEMS, DescriptionError, DescriptionProblem, location_prefix
from flexarm.robot.io.yaml_source import Source, checked_path
from flexarm.robot.robot import Robot

if TYPE_CHECKING:
    from ruamel.yaml import YAML

FilePath = str | os.PathLike[str]
SIMULATION = "simulation"
"""The part of a file that tells what to do with the robot; it is none of the robot's business."""
SWEEP = "sweep"
"""The part that tells what to vary in many runs of it."""


def load(path: FilePath) -> Robot:
    """The robot in the YAML file `path`."""
    return read(path)[0]


def read(path: FilePath) -> tuple[Robot, dict[str, Any]]:
    """The robot in a YAML file and the file's `simulation` section as plain data ({} when absent)."""
    robot, simulation, _ = read_source(path)
    return robot, simulation


def read_source(path: FilePath) -> tuple[Robot, dict[str, Any], Source]:
    """What `read` gives, and the file, which knows the lines of both."""
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


def _warn(source: Source, doubts: list[DescriptionProblem]) -> None:
    for doubt in doubts[:MAX_LISTED_PROBLEMS]:
        warn_of_units(location_prefix(source.file, source.line(doubt.path)) + str(doubt))
    if (more := len(doubts) - MAX_LISTED_PROBLEMS) > 0:
        warn_of_units(f"{location_prefix(source.file)}{more} more values look as if they were in another unit")


def save(robot: Robot, path: FilePath) -> None:
    """Write a robot as YAML to `path`, without defaults. The file is replaced in one step: nobody sees half of it."""
    if not isinstance(robot, Robot):
        raise TypeError(f"robot = {shown(robot)}: must be a Robot")
    target = checked_path(path)
    try:
        write_text(target, yaml_text(robot))
    except OSError as error:
        raise DescriptionError([DescriptionProblem("", ..., str(error))]) from None


def yaml_text(robot: Robot, simulation: Mapping[str, Any] | None = None, sweep: Mapping[str, Any] | None = None) -> str:
    """A robot as the text of a YAML file, with what to compute of it, once and many times, as its sections."""
    text = io.StringIO()
    sections = {
        name: {field: _inline(value) for field, value in given.items()}
        for name, given in ((SIMULATION, simulation), (SWEEP, sweep))
        if given
    }
    _writer().dump(_block(plain_data(robot)) | sections, text)
    return text.getvalue()


def schema() -> dict[str, Any]:
    """JSON Schema of a robot file, for editors.

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
    """A description as mappings, lists and numbers, without the fields that have their default."""
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
        """Writes 2e10 rather than 20000000000.0."""

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
    """One line for each field of the robot and of its links, and for each constraint; what lies deeper stays on its
    field's line."""
    lists = {"links": [{name: _inline(value) for name, value in link.items()} for link in robot["links"]]}
    if "constraints" in robot:
        lists["constraints"] = [_inline(constraint) for constraint in robot["constraints"]]
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
