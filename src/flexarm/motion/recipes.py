"""What a profile was made of: the function and its arguments, so that the same one can be made with other numbers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec

from flexarm.foundation.numbers import real
from flexarm.foundation.sentences import suggestion

if TYPE_CHECKING:
    from flexarm.motion.inputs import Profile

P = ParamSpec("P")


@dataclass(frozen=True)
class Recipe:
    """`fa.sine(0.1, frequency=2)`: the function, and its arguments by name."""

    function: Callable[..., Profile]
    arguments: Mapping[str, Any]

    @property
    def numbers(self) -> dict[str, float]:
        """All numbers by name: `amplitude`; of a list, `switch.0`, `switch.1`, ..."""
        return dict(self._numbers())

    def _numbers(self) -> Iterator[tuple[str, float]]:
        for name, value in self.arguments.items():
            if (number := real(value)) is not None:
                yield name, number
            elif isinstance(value, tuple):
                yield from (
                    (f"{name}.{k}", number) for k, each in enumerate(value) if (number := real(each)) is not None
                )

    def with_(self, name: str, value: float) -> Profile:
        """The same profile with another number."""
        if name not in self.numbers:
            raise KeyError(f"{self.function.__name__} has no number {name!r}{suggestion(name, list(self.numbers))}")
        argument, _, place = name.partition(".")
        given: Any = value  # which the function checks
        if place:
            row = list(self.arguments[argument])
            row[int(place)] = given
            given = tuple(row)
        return self.function(**{**self.arguments, argument: given})


def remembered(function: Callable[P, Profile]) -> Callable[P, Profile]:
    """A function that makes profiles, which then know how they were made."""

    @wraps(function)
    def made(*args: P.args, **kwargs: P.kwargs) -> Profile:
        profile = function(*args, **kwargs)
        given = inspect.signature(function).bind(*args, **kwargs)
        given.apply_defaults()
        frozen = {name: _frozen(value) for name, value in given.arguments.items()}
        return replace(profile, recipe=Recipe(made, frozen))

    return made


def _frozen(value: Any) -> Any:
    """Lists as tuples: what happens to a list later does not matter."""
    if isinstance(value, Mapping):
        return {name: _frozen(each) for name, each in value.items()}
    return tuple(getattr(value, "tolist", lambda: value)()) if _is_row(value) else value


def _is_row(value: Any) -> bool:
    return isinstance(value, (list, tuple)) or getattr(value, "ndim", 0) == 1
