"""Boxes for numbers: texts, for number fields of browsers take `1e-2` for -12. `page.js` turns them by arrow keys."""

from __future__ import annotations

from typing import Any

from flexarm.foundation.sentences import shown


def add_number_box(gui: Any, label: str, value: float, hint: str | None = None) -> Any:
    """A handle whose value is the number as a text."""
    return gui.add_text(label, written(value), hint=hint)


def written(value: float) -> str:
    """A number as it stands in a box: whatever is read from it is the number again.

    >>> written(0.15), written(8e-14), written(2.1e11), written(0.1 + 0.2)
    ('0.15', '8e-14', '210000000000', '0.30000000000000004')
    """
    short = f"{value:.15g}"
    return short if float(short) == value else repr(float(value))


def number_in(text: Any, name: str) -> float:
    """The number that somebody typed; a sentence where it is none, or none yet.

    >>> number_in("1e-2", "kp")
    0.01
    """
    try:
        return float(text)
    except (ValueError, TypeError, OverflowError):
        raise ValueError(f"{name} = {shown(text)}: must be a number") from None


def count_in(text: Any, name: str) -> int:
    """The same of a whole number.

    >>> count_in("1e1", "count")
    10
    """
    number = number_in(text, name)
    if not number.is_integer():
        raise ValueError(f"{name} = {shown(text)}: must be a whole number")
    return int(number)
