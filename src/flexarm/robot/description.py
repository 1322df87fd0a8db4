"""Base class of all parts of a robot: frozen, validated and comparable, with properties that are computed once."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from flexarm.foundation.messages import warn
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
        """Property that a description computes once, at the first access; its value must be immutable.

        Values are stored in a slot and not in fields, so that copies (whose fields may differ), pickles and comparisons
        do not include them. Two threads that access it at the same time may both compute it.
        """

        def __get__(self, owner: Any, kind: Any = None) -> Any:
            if owner is None:
                return self
            try:
                cache = owner._cache
            except AttributeError:
                cache = {}
                object.__setattr__(owner, "_cache", cache)
            if self not in cache:
                cache[self] = super().__get__(owner, kind)
            return cache[self]


if TYPE_CHECKING:
    from pydantic._internal._model_construction import ModelMetaclass
else:
    ModelMetaclass = type(BaseModel)

SCALAR_TYPES = (float, int, bool, str, type(None))


class DescriptionMeta(ModelMetaclass):
    # Accepts positional arguments, and converts errors into DescriptionErrors. A metaclass, since an `__init__` would
    # also run for nested parts and lose their paths. Docstrings and signatures are generated on demand.

    if not TYPE_CHECKING:  # type checkers read each class's own `__init__`

        @property
        def __doc__(cls):
            from flexarm.robot.docstrings import docstring

            return docstring(cls)

        @property
        def __signature__(cls):
            from flexarm.robot.docstrings import signature

            return signature(cls)

        @__signature__.setter
        def __signature__(cls, value):
            """Ignore the signature that pydantic sets, which has the tag and no positional arguments."""

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


def _complete_schema(schema: dict[str, Any], model: type[Description]) -> None:
    """Describe a class by its summary, and require its tag, which distinguishes the kinds in plain data."""
    from flexarm.robot.docstrings import summary

    schema["description"] = summary(model)
    if model.tag is not None:
        schema["required"] = [model.tag, *schema.get("required", [])]


class Description(BaseModel, metaclass=DescriptionMeta):
    """Frozen part of a robot. Subclasses add fields, `conflicts` between them and `unit_warnings`."""

    __slots__ = ("_cache",)  # values of `lazy_property`

    model_config = ConfigDict(defer_build=True, frozen=True, extra="forbid", json_schema_extra=_complete_schema)

    tag: ClassVar[str | None] = None
    """Field that distinguishes the kinds of a union (`type`, `shape`); it is never given by position."""

    def conflicts(self) -> Iterator[DescriptionProblem]:
        """Yield problems between fields that are each valid; paths start at this description.

        Returns
        -------
        iterator of DescriptionProblem
        """
        return iter(())

    def unit_warnings(self) -> list[tuple[str, str]]:
        """Return values that seem to be in another unit.

        Returns
        -------
        list of (str, str)
            Fields, each with a sentence.
        """
        return []

    @model_validator(mode="after")
    def _refuse_conflicts(self) -> Self:
        if self._conflicts:
            raise DescriptionError(list(self._conflicts))
        return self

    @lazy_property
    def _conflicts(self) -> tuple[DescriptionProblem, ...]:
        """Problems between fields, needed again whenever this becomes part of another description."""
        return tuple(self.conflicts())

    @classmethod
    def model_validate(cls, obj: Any, **options: Any) -> Self:
        """Validate plain data or a description, without warnings about units.

        Parameters
        ----------
        obj : mapping or Description
            The data.
        **options
            Options of pydantic.

        Returns
        -------
        Description

        Raises
        ------
        DescriptionError
            If the data are not a valid description.
        """
        try:
            return super().model_validate(obj, **options)
        except ValidationError as error:
            raise DescriptionError(convert_validation_error(error, cls)) from None

    def parts(self, path: str = "") -> Iterator[tuple[str, Description]]:
        """Iterate over this description and all descriptions inside it.

        Parameters
        ----------
        path : str, optional
            Path of this description.

        Yields
        ------
        str
            Path of a description.
        Description
            The description.
        """
        yield path, self
        for name in type(self).model_fields:
            yield from _parts_of(getattr(self, name), join_paths(path, name))

    @lazy_property
    def kinds(self) -> frozenset[type[Description]]:
        """Classes of this description and of all descriptions inside it."""
        inside = (_kinds_of(each) for each in vars(self).values() if type(each) not in SCALAR_TYPES)
        return frozenset({type(self)}).union(*inside)

    def every_unit_warning(self) -> Iterator[DescriptionProblem]:
        """Iterate over the unit warnings of this description and of all descriptions inside it.

        Yields
        ------
        DescriptionProblem
        """
        for path, part in self.parts():
            for problem in _unit_warnings_of(part):
                yield problem.under(path)

    @lazy_property
    def given(self) -> tuple[tuple[str, Any], ...]:
        """Fields that are required or differ from their default, and the tag."""
        own = ((name, getattr(self, name), field.default) for name, field in type(self).model_fields.items())
        return tuple((name, value) for name, value, default in own if name == self.tag or value != default)

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        return ((name, value) for name, value in self.given if name != self.tag)

    if not TYPE_CHECKING:  # type checkers already refuse assignment to a frozen model
        __iter__ = None  # otherwise a part would be accepted as a list of its fields

        def __setattr__(self, name: str, value: object) -> None:
            raise AttributeError(f"{type(self).__name__}.{name} cannot be set: descriptions do not change")

        def __delattr__(self, name: str) -> None:
            raise AttributeError(f"{type(self).__name__}.{name} cannot be removed: descriptions do not change")


def warn_of_new_units(
    description: Description, given: Mapping[str, object], known: Collection[DescriptionProblem] = ()
) -> None:
    """Warn about units in this description and in parts made for it from plain data, except for `known` problems.

    Parts that were given as descriptions have already raised their warnings.
    """
    problems = [
        (part, problem.under(path))
        for path, part in _new_parts(description, given.values())
        for problem in _unit_warnings_of(part)
    ]
    if not problems:
        return
    ready = set(_ids_of_descriptions(given.values()))
    for part, problem in problems:
        if id(part) not in ready and problem not in known:
            warn(str(problem), UnitsWarning)


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
    """Yield this description and those inside it with paths, except those that were given as descriptions."""
    ready = set[int]()
    values = [*given]
    while values:
        value = values.pop()
        if isinstance(value, Description):
            ready.add(id(value))
        elif isinstance(value, Mapping):
            values += value.values()
        elif isinstance(value, (list, tuple)):
            values += value
    stack: list[tuple[str, Any]] = [("", description)]
    while stack:
        path, value = stack.pop()
        if isinstance(value, tuple):
            stack += [(f"{path}[{k}]", each) for k, each in enumerate(value) if type(each) not in SCALAR_TYPES][::-1]
        elif isinstance(value, Description) and id(value) not in ready:
            yield path, value
            fields = [
                (join_paths(path, name), each) for name, each in vars(value).items() if type(each) not in SCALAR_TYPES
            ]
            stack += fields[::-1]


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
