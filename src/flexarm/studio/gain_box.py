"""Boxes for gains: one number for all joints, or numbers by link, `upper: 20, fore: 5`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flexarm.foundation.sentences import shown
from flexarm.studio.number_box import number_in, written


def gain_text(value: float | Mapping[str, float]) -> str:
    """As it stands in a box: one number where all are the same.

    >>> gain_text({"upper": 20.0, "fore": 5.0}), gain_text({"upper": 2.0, "fore": 2.0}), gain_text(0.5)
    ('upper: 20, fore: 5', '2', '0.5')
    """
    if not isinstance(value, Mapping):
        return written(value)
    if len(set(value.values())) == 1:
        return written(next(iter(value.values())))
    return ", ".join(f"{link}: {written(each)}" for link, each in value.items())


def gain_in(text: Any, name: str) -> float | dict[str, float]:
    """What somebody typed; a sentence where it is no gain, or none yet.

    >>> gain_in("1e1", "kp"), gain_in("upper: 20, fore: 5", "kp")
    (10.0, {'upper': 20.0, 'fore': 5.0})
    """
    words = str(text)
    if ":" not in words:
        return number_in(words, name)
    found: dict[str, float] = {}
    for part in words.split(","):
        link, colon, number = (each.strip() for each in part.rpartition(":"))
        if not colon or not link:
            raise ValueError(f"{name} = {shown(words)}: must be a number, or numbers by link: upper: 20, fore: 5")
        found[link] = number_in(number, f"{name} of {link}")
    return found
