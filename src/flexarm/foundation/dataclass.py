"""A decorator like `dataclasses.dataclass` that needs less time at import.

Before Python 3.13 the standard decorator compiles six functions for each frozen class, about 0.4 ms. A first call
imports about a hundred of them, which took longer than importing CasADi. Here only `__init__` is compiled; the other
methods share their code between classes. Classes behave like those of `dataclasses`; type checkers see the original.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass"]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(cls=None, /, **options):
        """Return `dataclasses.dataclass(cls, **options)`, made faster if the only option is `frozen=True`."""

        def wrap(cls):
            plain = options == {"frozen": True} and cls.__doc__ is not None and not _has_dataclass_bases(cls)
            return _frozen(cls) if plain else dataclasses.dataclass(cls, **options)

        return wrap if cls is None else wrap(cls)


class _Factory:
    """Default of an argument whose value is made by a function."""

    def __repr__(self) -> str:
        return "<factory>"


_made = _Factory()


def _has_dataclass_bases(cls: type) -> bool:
    return any(hasattr(base, "__dataclass_fields__") for base in cls.__mro__[1:])


def _frozen(cls: Any) -> Any:
    own = dict(vars(cls))
    dataclasses.dataclass(init=False, repr=False, eq=False)(cls)
    fields = dataclasses.fields(cls)
    if len(fields) != len(cls.__dataclass_fields__) or any(each.kw_only or not each.init for each in fields):
        raise TypeError(f"{cls.__name__}: ClassVar, InitVar, kw_only and init=False need dataclasses.dataclass")
    cls.__dataclass_params__.init = cls.__dataclass_params__.repr = cls.__dataclass_params__.eq = True
    cls.__dataclass_params__.frozen = True  # for classes that inherit from it
    compared = _getter([each.name for each in fields if each.compare])
    hashed = _getter([each.name for each in fields if (each.compare if each.hash is None else each.hash)])
    shown = tuple(each.name for each in fields if each.repr)

    def __eq__(self: Any, other: object) -> Any:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return self is other or compared(self) == compared(other)

    def __hash__(self: Any) -> int:
        return hash(hashed(self))

    def __repr__(self: Any) -> str:
        listed = ", ".join(f"{name}={getattr(self, name)!r}" for name in shown)
        return f"{self.__class__.__qualname__}({listed})"

    made = {"__eq__": __eq__, "__hash__": __hash__, "__repr__": __repr__}
    if own.get("__hash__") is None and "__eq__" in own:  # Python puts None where a class has an __eq__ of its own
        own.pop("__hash__", None)
    made |= {"__init__": _init(cls, fields), "__setattr__": _refuse_assignment, "__delattr__": _refuse_deletion}
    for name, function in made.items():
        if name not in own:
            function.__qualname__ = f"{cls.__qualname__}.{name}"
            setattr(cls, name, function)
    return cls


def _getter(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    """Return a function that returns the values of attributes as a tuple."""
    if len(names) > 1:
        return attrgetter(*names)  # in C
    return lambda one: tuple([getattr(one, name) for name in names])


def _init(cls: type, fields: tuple[dataclasses.Field[Any], ...]) -> Any:
    """Compile an `__init__` that writes to the instance's dictionary, since attributes cannot be set."""
    given, lines = [], []
    values: dict[str, Any] = {"_made": _made}
    for each in fields:
        value = each.name
        if each.default is not dataclasses.MISSING:
            values[f"_default_{each.name}"] = each.default
            given.append(f"{each.name}=_default_{each.name}")
        elif each.default_factory is not dataclasses.MISSING:
            values[f"_make_{each.name}"] = each.default_factory
            given.append(f"{each.name}=_made")
            value = f"_make_{each.name}() if {each.name} is _made else {each.name}"
        elif given and "=" in given[-1]:
            raise TypeError(f"non-default argument {each.name!r} follows default argument")
        else:
            given.append(each.name)
        lines.append(f"_dict[{each.name!r}] = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    body = "\n    ".join(["_dict = self.__dict__", *lines])
    # Names of the class's module are not needed: defaults are values, and annotations are not evaluated.
    exec(f"def __init__({', '.join(['self', *given])}):\n    {body}", values)
    made = values["__init__"]
    made.__annotations__ = {each.name: each.type for each in fields} | {"return": None}
    made.__module__ = cls.__module__
    return made


def _refuse_assignment(self: Any, name: str, value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_deletion(self: Any, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
