"""Docstrings and signatures of descriptions, generated from their fields for `help()` and editors."""

from __future__ import annotations

import re
from inspect import Parameter, Signature, cleandoc
from textwrap import indent, wrap
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo

if TYPE_CHECKING:
    from flexarm.robot.description import Description

WIDTH = 96  # characters of a line of a description
MAX_LISTED_TYPES = 5  # of a union; longer ones are described by their base class


def summary(kind: type[Description]) -> str:
    """Return the docstring as written in the class, without its sections."""
    return _split(kind)[0]


def docstring(kind: type[Description]) -> str | None:
    """Return the docstring of a class with a section `Parameters` made of its fields."""
    text, sections = _split(kind)
    fields = _fields(kind)
    if not text:
        return None
    if not fields:
        return f"{text}{sections}\n" if sections else text
    entries = [f"{name} : {_type(field)}\n{_meaning(field)}" for name, field in fields.items()]
    return "\n".join([text, "", "Parameters", "----------", *entries]) + sections + "\n"


def signature(kind: type[Description]) -> Signature:
    """Return the signature of a class: fields by position or name, from a required one after defaults by name only."""
    parameters: list[Parameter] = []
    by_name = False
    for name, field in _fields(kind).items():
        default = Parameter.empty if field.is_required() else field.default
        by_name |= default is Parameter.empty and any(each.default is not Parameter.empty for each in parameters)
        place = Parameter.KEYWORD_ONLY if by_name else Parameter.POSITIONAL_OR_KEYWORD
        parameters.append(Parameter(name, place, default=default))
    return Signature(parameters)


def _split(kind: type[Description]) -> tuple[str, str]:
    text = cleandoc(vars(kind).get("__doc__") or "")
    section = re.search(r"\n\n[A-Z][A-Za-z ]+\n---", text)
    return (text[: section.start()], text[section.start() :]) if section else (text, "")


def _fields(kind: type[Description]) -> dict[str, FieldInfo]:
    return {name: field for name, field in kind.model_fields.items() if name != kind.tag}


def _type(field: FieldInfo) -> str:
    name = _type_name(field.annotation)
    if field.is_required():
        return name
    return f"{name}, optional" if field.default is None else f"{name}, default: {field.default!r}"


def _type_name(annotation: Any) -> str:
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _type_name(parts[0])
    if origin is Literal:
        return "{" + ", ".join(map(repr, parts)) + "}"
    if origin in (Union, UnionType):
        names = dict.fromkeys(_type_name(part) for part in parts if part is not NoneType)
        return " or ".join(names) if len(names) <= MAX_LISTED_TYPES else parts[0].mro()[-4].__name__
    if origin is tuple:
        if parts[-1] is Ellipsis:
            return f"sequence of {_type_name(parts[0])}"
        inner = get_args(parts[0])
        return f"({len(parts)}, {len(inner)}) array_like" if inner else f"({len(parts)},) array_like"
    return getattr(annotation, "__name__", str(annotation))


def _meaning(field: FieldInfo) -> str:
    text = field.description or ""
    sentence = text[:1].upper() + text[1:] + "."
    return indent("\n".join(wrap(sentence, WIDTH)), "    ")
