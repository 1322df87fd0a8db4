"""Errors of descriptions: the path of a field, its value, what is allowed; conversion of pydantic's errors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, get_args

from pydantic import BaseModel, ValidationError

from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.messages import describe_unknown, escape_unprintable, shorten, shown

if TYPE_CHECKING:
    from flexarm.robot.description import Description


MAX_LISTED_PROBLEMS = 20  # lines of a message before the number of further problems
MAX_LINE_LENGTH = 1000  # characters


@dataclass(frozen=True)
class DescriptionProblem:
    """Problem of a description: its path, the value (`...` if there is none to show) and a sentence."""

    path: str
    value: object
    sentence: str
    line: int | None = None
    column: int | None = None

    def under(self, parent: str) -> DescriptionProblem:
        """Return the problem with its path as seen from the description that contains this one."""
        return replace(self, path=join_paths(parent, self.path))

    def __str__(self) -> str:
        value = "" if self.value is ... else shown(self.value)
        where = " = ".join(part for part in (self.path, value) if part)
        return f"{where}: {self.sentence}" if where else self.sentence


class DescriptionError(ValueError):
    """Error of a description of a robot or a part of it.

    The message has one line per problem, with the file and line if the description comes from a file.

    Parameters
    ----------
    problems : list of DescriptionProblem
        All problems, each with `path`, `value` and `sentence`, and `line` and `column` in the file.
    file : str, optional
        Path of the file.

    Examples
    --------
    >>> import flexarm as fa
    >>> fa.Link("upper", length=-1.0)
    Traceback (most recent call last):
    flexarm.robot.errors.DescriptionError: length = -1.0: must be positive (m)
    """

    def __init__(self, problems: Sequence[DescriptionProblem], file: str | None = None) -> None:
        super().__init__(problems, file)  # plain args keep the error picklable
        self.problems = list(problems)
        self.file = file

    def __str__(self) -> str:
        lines = [
            location_prefix(self.file, p.line, p.column) + shorten(escape_unprintable(str(p)), MAX_LINE_LENGTH)
            for p in self.problems[:MAX_LISTED_PROBLEMS]
        ]
        if more := len(self.problems) - len(lines):
            lines.append(f"{location_prefix(self.file)}and {more} more problem{'s' if more > 1 else ''}")
        return "\n".join(lines)


class UnitsWarning(UserWarning):
    """Warning about a value that is possible but seems to be given in another unit."""


def location_prefix(file: str | None, line: int | None = None, column: int | None = None) -> str:
    """Return the prefix of a message such as `arm.yaml:12: `; empty without a file."""
    return "" if not file else ":".join(str(part) for part in (file, line, column) if part is not None) + ": "


def join_paths(parent: str, child: str) -> str:
    """Return the path of a field inside a part: `links[0]` and `length` make `links[0].length`."""
    return parent + child if not parent or not child or child.startswith("[") else f"{parent}.{child}"


_SENTENCES: Mapping[str, str] = {
    "string_type": "must be text",
    "bool_type": "must be true or false",
    "recursion_loop": "must not contain itself",
}
_WRONG_KIND = ("model_type", "model_attributes_type", "dict_type", "union_tag_not_found")


def convert_validation_error(error: ValidationError, model: type[Description]) -> list[DescriptionProblem]:
    """Return all problems of a failed validation, with paths that start at `model`."""
    return [problem for record in error.errors(include_url=False) for problem in _problems(record, model)]


def _problems(record: Mapping[str, Any], model: type[Description]) -> Iterator[DescriptionProblem]:
    kind, value, context = record["type"], record["input"], record.get("ctx", {})
    path, kinds = _resolve(record["loc"], model)
    if kind == "missing":
        yield DescriptionProblem(path, ..., "is required")
    elif kind == "extra_forbidden":
        *above, field = record["loc"]
        owner = _resolve(tuple(above), model)[1][0]
        yield DescriptionProblem(path, ..., describe_unknown("unknown field", field, owner.model_fields))
    elif kind == "invalid_key":
        owner_path, _ = _resolve(record["loc"][:-1], model)
        yield DescriptionProblem(join_paths(owner_path, str(value)), ..., "is not text, but names of fields are")
    elif kind == "union_tag_invalid":
        tag = str(kinds[0].tag)
        yield DescriptionProblem(
            join_paths(path, tag), context["tag"], describe_unknown("unknown", context["tag"], _tags(kinds))
        )
    elif kind == "union_tag_not_found" and isinstance(value, Mapping):
        yield DescriptionProblem(
            join_paths(path, str(kinds[0].tag)), ..., f"is required (allowed: {', '.join(_tags(kinds))})"
        )
    elif kind == "tuple_type":
        yield DescriptionProblem(path, value, f"must be a list of {' or '.join(kind.__name__ for kind in kinds)}")
    elif kind in _WRONG_KIND:
        names = " or ".join(kind.__name__ for kind in kinds)
        yield DescriptionProblem(path, value, f"must be {names}, or a mapping with its fields")
    elif kind == "literal_error":
        choices = [choice.strip(" '") for choice in context["expected"].replace(" or ", ",").split(",")]
        yield DescriptionProblem(path, value, describe_unknown("unknown", value, choices))
    elif isinstance(context.get("error"), DescriptionError):
        yield from (problem.under(path) for problem in context["error"].problems)
    elif kind == "value_error":
        yield DescriptionProblem(path, value, str(context["error"]))
    else:
        yield DescriptionProblem(
            path, value, _SENTENCES.get(kind) or record["msg"].replace("Input should be", "must be")
        )


def _resolve(loc: tuple[int | str, ...], model: type[Description]) -> tuple[str, list[type[Description]]]:
    """Return the path of one of pydantic's locations and the kinds of descriptions allowed there.

    A location also contains the tag of each union on its way, which is not part of the path. Only the models
    distinguish a tag from a field of the same name (`reduced` has fields `elements` and `modes`).
    """
    path, kinds, chosen = "", [model], True
    for step in loc:
        if isinstance(step, int):
            path += f"[{step}]"
        elif not chosen and len(kinds) > 1:
            kinds, chosen = [kind for kind in kinds if _tag_of(kind) == step], True
        else:
            path = join_paths(path, step)
            field = kinds[0].model_fields.get(step) if kinds else None
            kinds, chosen = _descriptions_in(field.annotation) if field else [], False
    return path, kinds


def _descriptions_in(annotation: Any) -> list[type[Description]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]  # type: ignore[list-item]
    return [kind for part in get_args(annotation) for kind in _descriptions_in(part)]


def _tag_of(kind: type[Description]) -> str:
    return str(kind.model_fields[str(kind.tag)].default)


def _tags(kinds: list[type[Description]]) -> list[str]:
    return [_tag_of(kind) for kind in kinds]
