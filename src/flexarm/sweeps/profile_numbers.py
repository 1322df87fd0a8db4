"""Numbers of profiles by name: `amplitude` and the others with which a function made it, and the `scale` of any."""

from __future__ import annotations

from typing import Any

from flexarm.foundation.numbers import real_number
from flexarm.foundation.sentences import suggestion
from flexarm.motion.inputs import Profile, constant, profile
from flexarm.motion.shaped import copied

SCALE = "scale"
SECONDS = ("switch", "at", "begin", "finish", "duration", "times")
RATES = {"speed": "/s", "acceleration": "/s2", "jerk": "/s3"}


def names(given: Any, where: str) -> list[str]:
    """Of the numbers of whatever may be given for a profile; the number itself has none."""
    recipe = profile(given, where).recipe
    numbers = {} if recipe is None else recipe.numbers
    return ["", SCALE] if _is_constant(given, where) else [*numbers, SCALE]


def value(given: Any, name: str, where: str) -> float:
    """The number that it has now."""
    _require(given, name, where)
    made = profile(given, where)
    if name == SCALE:
        return 1.0
    assert made.recipe is not None
    return made.recipe.numbers[name or "value"]


def changed(given: Any, name: str, number: Any, where: str) -> Profile:
    """The same profile with another number."""
    _require(given, name, where)
    made = profile(given, where)
    if name == SCALE:
        factor = real_number(f"{where}.{SCALE}", number)
        return copied(made, [factor], [0.0], f"{factor!r} * {made.name}")
    if not name:
        return constant(real_number(where, number))
    assert made.recipe is not None
    try:
        return made.recipe.with_(name, number)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None


def unit(given: Any, name: str, of_value: str, where: str) -> str:
    """Of a number of a profile whose values have a unit."""
    made = profile(given, where)
    kind = "" if made.recipe is None else made.recipe.function.__name__
    argument = name.partition(".")[0]
    if argument == SCALE or argument == "smooth":
        return "1"
    if argument in SECONDS:
        return "s"
    if argument == "frequency" or (kind == "chirp" and argument in ("start", "end")):
        return "Hz"
    if argument == "phase":
        return "rad"
    return of_value + RATES.get(argument, "") if of_value else ""


def _is_constant(given: Any, where: str) -> bool:
    recipe = profile(given, where).recipe
    return recipe is not None and recipe.function is constant


def _require(given: Any, name: str, where: str) -> None:
    known = names(given, where)
    if name not in known and not (name == "value" and "" in known):
        whole = [f"{where}.{each}" if each else where for each in known]
        asked = f"{where}.{name}" if name else where
        raise KeyError(f"over: there is no number {asked!r}{suggestion(asked, whole)}")
