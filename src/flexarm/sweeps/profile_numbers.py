"""Numbers of profiles by name: `amplitude` and the others with which a function made it, and the `scale` of any."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from flexarm.foundation.numbers import real, real_number
from flexarm.foundation.sentences import suggestion
from flexarm.motion.adjustable import with_numbers
from flexarm.motion.given_profiles import profile
from flexarm.motion.inputs import constant
from flexarm.motion.profiles import Profile
from flexarm.motion.shaped import copied

SCALE = "scale"
SECONDS = ("switch", "at", "begin", "finish", "duration")
RATES = {"speed": "/s", "acceleration": "/s2", "jerk": "/s3"}


def names(given: Any, where: str) -> list[str]:
    """Of the numbers of whatever may be given for a profile; that of a constant is nameless."""
    made = profile(given, where)
    return [*(("",) if _is_constant(made) else numbers(made)), SCALE]


def numbers(made: Profile) -> dict[str, float]:
    """All with which it was made: `amplitude`; of a list, `switch.0`, `switch.1`, ..."""
    return {} if made.made is None else dict(_numbers(made.made.given))


def _numbers(given: Any) -> Iterator[tuple[str, float]]:
    for name, each in given.items():
        if (number := real(each)) is not None:
            yield name, number
        elif not isinstance(each, (str, dict)) and hasattr(each, "__iter__"):
            row = [real(one) for one in each]
            yield from ((f"{name}.{k}", one) for k, one in enumerate(row) if one is not None)


def value(given: Any, name: str, where: str) -> float:
    """The number that it has now."""
    _require(given, name, where)
    return 1.0 if name == SCALE else numbers(profile(given, where))[name or "value"]


def changed(given: Any, new: Mapping[str, Any], where: str) -> Profile:
    """The same profile with other numbers, all at once: switch times need only be in order when all are there."""
    for name in new:
        _require(given, name, where)
    made = profile(given, where)
    arguments: dict[str, Any] = {}
    for name, number in new.items():
        argument, _, place = (name or "value").partition(".")
        if place:
            assert made.made is not None
            arguments.setdefault(argument, list(made.made.given[argument]))[int(place)] = number
        elif name != SCALE:
            arguments[argument] = number  # which the function checks
    try:
        made = with_numbers(made, where, arguments) if arguments else made
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None
    if SCALE not in new:
        return made
    factor = real_number(f"{where}.{SCALE}", new[SCALE])
    return copied(made, [factor], [0.0], f"{factor!r} * {made.name}")


def unit(given: Any, name: str, of_value: str, where: str) -> str:
    """Of a number of a profile whose values have a unit."""
    made = profile(given, where).made
    kind = "" if made is None else made.function.__name__
    argument = name.partition(".")[0]
    if argument in (SCALE, "smooth"):
        return "1"
    if argument in SECONDS:
        return "s"
    if argument == "frequency" or (kind == "chirp" and argument in ("start", "end")):
        return "Hz"
    if argument == "phase":
        return "rad"
    return of_value + RATES.get(argument, "") if of_value else ""


def _is_constant(made: Profile) -> bool:
    return made.made is not None and made.made.function is constant


def _require(given: Any, name: str, where: str) -> None:
    known = names(given, where)
    if name not in known and not (name == "value" and "" in known):
        whole = [f"{where}.{each}" if each else where for each in known]
        asked = f"{where}.{name}" if name else where
        raise KeyError(f"over: there is no number {asked!r}{suggestion(asked, whole)}")
