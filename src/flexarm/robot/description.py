"""Properties of descriptions that are computed once.

The base of everything a robot is made of: frozen, validated, comparable, with errors and warnings in sentences.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from flexarm.robot.errors import (
    DescriptionError,
    DescriptionProblem,
    UnitsWarning,
    convert_validation_error,
    join_paths,
)

__all__ = ["lazy_property"]


if TYPE_CHECKING:
    from builtins import property as lazy_property
else:

    class lazy_property(property):
        """A property that a description computes when it is first asked for: it does not change, nor do its parts.

        What is lazy_property stands in a slot beside the fields, so that copies (which may have other fields), pickles
        and comparisons know nothing of it. It must not be something that its users could change. Of two threads that
        ask at once both compute it.
        """

        def __get__(self, owner: Any, kind: Any = None) -> Any:
            if owner is None:
                return self
            try:
                known = owner._cache
            except AttributeError:
                known = {}
                object.__setattr__(owner, "_cache", known)
            if self not in known:
                known[self] = super().__get__(owner, kind)
            return known[self]


if TYPE_CHECKING:
    from pydantic._internal._model_construction import ModelMetaclass
else:
    ModelMetaclass = type(BaseModel)

SCALAR_TYPES = (float, int, bool, str, type(None))  # values without parts

_PACKAGE = str(Path(__file__).parent) + os.sep


class DescriptionMeta(ModelMetaclass):
    """Lets descriptions be built with positional arguments, and says what is wrong in our words.

    A metaclass, since an `__init__` of our own would also run for nested parts and lose their paths.
    """

    if not TYPE_CHECKING:  # type checkers read each class's own `__init__`

        def __call__(cls, *args: object, **fields: object) -> Any:
            given = cls._by_name(args, fields)
            try:
                description = super().__call__(**given)
            except ValidationError as error:
                raise DescriptionError(convert_validation_error(error, cls)) from None
            warn_of_new_units(description, given)
            return description

        def _by_name(cls, args, fields):
            names = [name for name in cls.model_fields if name != cls.tag]
            if len(args) > len(names):
                raise TypeError(f"{cls.__name__} takes at most {len(names)} arguments, but {len(args)} were given")
            positional = dict(zip(names, args, strict=False))
            for name in positional.keys() & fields.keys():
                raise TypeError(f"{cls.__name__} got {name!r} twice: by position and by name")
            return positional | fields


def _require_tag(schema: dict[str, Any], model: type[Description]) -> None:
    """In plain data the tag has no default: it is what tells the kinds apart."""
    if model.tag is not None:
        schema["required"] = [model.tag, *schema.get("required", [])]


class Description(BaseModel, metaclass=DescriptionMeta):
    """A frozen part of a robot. Subclasses add fields, `conflicts` between them and `unit_warnings`."""

    __slots__ = ("_cache",)  # of `lazy_property`

    model_config = ConfigDict(defer_build=True, frozen=True, extra="forbid", json_schema_extra=_require_tag)

    tag: ClassVar[str | None] = None
    """The field that tells the kinds of a union apart (`type`, `shape`); it is never given by position."""

    def conflicts(self) -> Iterator[DescriptionProblem]:
        """What is wrong between fields that are each right on their own; paths start at this description."""
        return iter(())

    def unit_warnings(self) -> list[tuple[str, str]]:
        """Values that look like another unit: (field, sentence)."""
        return []

    @model_validator(mode="after")
    def _refuse_conflicts(self) -> Self:
        if self._conflicts:
            raise DescriptionError(list(self._conflicts))
        return self

    @lazy_property
    def _conflicts(self) -> tuple[DescriptionProblem, ...]:
        """Asked for again whenever it becomes part of another description."""
        return tuple(self.conflicts())

    @classmethod
    def model_validate(cls, obj: Any, **options: Any) -> Self:
        """Build from plain data, without warnings about units."""
        try:
            return super().model_validate(obj, **options)
        except ValidationError as error:
            raise DescriptionError(convert_validation_error(error, cls)) from None

    def parts(self, path: str = "") -> Iterator[tuple[str, Description]]:
        """This description and everything inside it, each with its path."""
        yield path, self
        for name in type(self).model_fields:
            yield from _parts_of(getattr(self, name), join_paths(path, name))

    @lazy_property
    def kinds(self) -> frozenset[type[Description]]:
        """Of this description and of everything inside it."""
        inside = (_kinds_of(each) for each in vars(self).values() if type(each) not in SCALAR_TYPES)
        return frozenset({type(self)}).union(*inside)

    def every_unit_warning(self) -> Iterator[DescriptionProblem]:
        """The unit warnings of this description and everything inside it."""
        for path, part in self.parts():
            for problem in _unit_warnings_of(part):
                yield problem.under(path)

    @lazy_property
    def given(self) -> tuple[tuple[str, Any], ...]:
        """The fields that differ from their default (required ones have none), and the tag."""
        own = ((name, getattr(self, name), field.default) for name, field in type(self).model_fields.items())
        return tuple((name, value) for name, value, default in own if name == self.tag or value != default)

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        return ((name, value) for name, value in self.given if name != self.tag)

    if not TYPE_CHECKING:  # type checkers already refuse assignment to a frozen model
        __iter__ = None  # or a part would pass for a list of its fields

        def __setattr__(self, name: str, value: object) -> None:
            raise AttributeError(f"{type(self).__name__}.{name} cannot be set: descriptions do not change")

        def __delattr__(self, name: str) -> None:
            raise AttributeError(f"{type(self).__name__}.{name} cannot be removed: descriptions do not change")


def warn_of_units(message: str) -> None:
    """Emit a UnitsWarning that points at the first line outside this package: the user's."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, UnitsWarning, stacklevel=level)


def warn_of_new_units(
    description: Description, given: Mapping[str, object], known: Collection[DescriptionProblem] = ()
) -> None:
    """Warn about this description and the parts made for it from plain data, but for what is `known`.

    Ready-made parts have warned already, and so have theirs.
    """
    doubts = [
        (part, doubt.under(path))
        for path, part in _new_parts(description, given.values())
        for doubt in _unit_warnings_of(part)
    ]
    if not doubts:
        return
    ready = set(_ids_of_descriptions(given.values()))
    for part, doubt in doubts:
        if id(part) not in ready and doubt not in known:
            warn_of_units(str(doubt))


def _unit_warnings_of(part: Description) -> Iterator[DescriptionProblem]:
    for field, sentence in part.unit_warnings():
        value: Any = part
        for name in field.split("."):
            value = getattr(value, name)
        whole = isinstance(value, float) and value.is_integer() and abs(value) < 1e15
        yield DescriptionProblem(field, int(value) if whole else value, sentence)


def _parts_of(value: object, path: str) -> Iterator[tuple[str, Description]]:
    if isinstance(value, Description):
        yield from value.parts(path)
    elif isinstance(value, tuple):
        for index, item in enumerate(value):
            yield from _parts_of(item, f"{path}[{index}]")


def _new_parts(description: Description, given: Iterable[object]) -> Iterator[tuple[str, Description]]:
    """Yield this description and what is inside it with paths, but for ready-made parts in what was given."""
    ready = set[int]()
    lists = [*given]
    while lists:
        value = lists.pop()
        if isinstance(value, Description):
            ready.add(id(value))
        elif isinstance(value, Mapping):
            lists += value.values()
        elif isinstance(value, (list, tuple)):
            lists += value
    waiting: list[tuple[str, Any]] = [("", description)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, tuple):
            waiting += [(f"{path}[{k}]", each) for k, each in enumerate(value) if type(each) not in SCALAR_TYPES][::-1]
        elif isinstance(value, Description) and id(value) not in ready:
            yield path, value
            fields = [
                (join_paths(path, name), each) for name, each in vars(value).items() if type(each) not in SCALAR_TYPES
            ]
            waiting += fields[::-1]


def _kinds_of(value: object) -> frozenset[type[Description]]:
    if isinstance(value, tuple):
        return frozenset().union(*map(_kinds_of, value))
    return value.kinds if isinstance(value, Description) else frozenset()


def _ids_of_descriptions(values: Iterable[object]) -> Iterator[int]:
    for value in values:
        if isinstance(value, Description):
            yield from (id(part) for _, part in value.parts())
        elif isinstance(value, Mapping):
            yield from _ids_of_descriptions(value.values())
        elif isinstance(value, (list, tuple)):
            yield from _ids_of_descriptions(value)
