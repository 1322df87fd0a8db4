"""Parts of sentences for users: values as they would be typed, names with the nearest that is known."""

from __future__ import annotations

import re
import reprlib
from collections.abc import Iterable, Sequence

_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 60
_SHORT.maxlist = _SHORT.maxtuple = 12
_SHORT.maxlevel = 3  # twelve lists of twelve lists of twelve are long enough

LISTED = 12  # names that a sentence lists before it says "..."


def shown(value: object) -> str:
    """A value as the user would have typed it, on one line, cut when long."""
    return _digits(value) if isinstance(value, float) else cut(re.sub(r"\n\s*", " ", _SHORT.repr(value)), 300)


def told(error: BaseException) -> str:
    """What an error says: a KeyError its own words, which Python would put into quotes."""
    return str(error.args[0] if isinstance(error, KeyError) and error.args else error)


def cut(text: str, most: int) -> str:
    """A text with its middle left out when it is longer than so many letters."""
    return text if len(text) <= most else f"{text[: most * 2 // 3]} ... {text[-(most // 3) :]}"


def printable(text: str) -> str:
    """A text on one line without letters that would do something to a terminal: these are written as in a program."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def short(number: float) -> str:
    """A number without a needless `.0`.

    >>> short(2.0), short(2e10), short(0.1)
    ('2', '20000000000', '0.1')
    """
    return _digits(number).removesuffix(".0")


def _digits(number: float) -> str:
    return repr(float(number)).replace("e+", "e")


def unknown(kind: str, word: object, allowed: Iterable[str]) -> str:
    """`unknown field; did you mean 'length'? (allowed: name, joint, length)`; nothing allowed leaves the list out."""
    names = list(allowed)
    near = _nearest(word, names)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return f"{kind}{hint} (allowed: {', '.join(names)})" if names else kind


def suggestion(name: object, known: Sequence[str]) -> str:
    """The end of a sentence about an unknown name: the nearest one, or all of them if few.

    >>> "there is no link 'fora'" + suggestion("fora", ["upper", "fore"])
    "there is no link 'fora'; did you mean 'fore'?"
    """
    if not known:
        return "; there are none"
    near = _nearest(name, known)
    if near:
        return f"; did you mean '{near[0]}'?"
    return f"; there are {', '.join(known[:LISTED])}{', ...' if len(known) > LISTED else ''}"


def _nearest(name: object, known: Sequence[str]) -> list[str]:
    from difflib import get_close_matches

    return get_close_matches(str(name), known, n=1)
