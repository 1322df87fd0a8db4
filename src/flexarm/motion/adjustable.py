"""Profiles that know how they were made, so that one of their numbers can be changed."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from typing import Any, ParamSpec

import numpy as np

from flexarm.foundation.sentences import suggestion
from flexarm.motion.profiles import Made, Profile

Given = ParamSpec("Given")


def with_numbers(given: Profile, where: str, numbers: Mapping[str, Any]) -> Profile:
    """A profile with other numbers of those that made it; `where` is what a sentence calls it."""
    for name in numbers:
        if given.made is None:
            raise ValueError(f"{where}.{name}: {given!r} has no numbers by name; fa.bang_bang and its like have")
        if name not in given.made.given:
            raise ValueError(f"{where}.{name}: {given!r} has no '{name}'{suggestion(name, list(given.made.given))}")
    return given if given.made is None else given.made.function(**{**given.made.given, **numbers})


def adjustable(make: Callable[Given, Profile]) -> Callable[Given, Profile]:
    """A function that makes profiles which know how they were made."""
    signature = inspect.signature(make)

    @wraps(make)
    def made(*arguments: Given.args, **named: Given.kwargs) -> Profile:
        found, given = make(*arguments, **named), signature.bind(*arguments, **named)
        given.apply_defaults()
        kept = {
            name: tuple(each) if isinstance(each, (list, np.ndarray)) else each
            for name, each in given.arguments.items()
        }
        return replace(found, made=Made(made, kept))  # what happens to a list later does not matter here

    return made
