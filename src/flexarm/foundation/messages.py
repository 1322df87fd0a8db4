"""Parts of sentences for users: values as they would be typed, names with the nearest that is known.

Warnings of runs in several threads, each heard where it was said.

`warnings.catch_warnings` catches for the whole program; so the first that listens opens it, the last closes it, and
what is said goes to the thread that says it.
"""

from __future__ import annotations

import re
import reprlib
import threading
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 60
_SHORT.maxlist = _SHORT.maxtuple = 12
_SHORT.maxlevel = 3  # twelve lists of twelve lists of twelve are long enough

MAX_LISTED_NAMES = 12  # names that a sentence lists before it says "..."


def shown(value: object) -> str:
    """A value as the user would have typed it, on one line, cut when long."""
    return _digits(value) if isinstance(value, float) else shorten(re.sub(r"\n\s*", " ", _SHORT.repr(value)), 300)


def error_text(error: BaseException) -> str:
    """What an error says: a KeyError its own words, which Python would put into quotes."""
    return str(error.args[0] if isinstance(error, KeyError) and error.args else error)


def shorten(text: str, most: int) -> str:
    """A text with its middle left out when it is longer than so many letters."""
    return text if len(text) <= most else f"{text[: most * 2 // 3]} ... {text[-(most // 3) :]}"


def escape_unprintable(text: str) -> str:
    """A text on one line without letters that would do something to a terminal: these are written as in a program."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def format_number(number: float) -> str:
    """A number without a needless `.0`.

    >>> short(2.0), short(2e10), short(0.1)
    ('2', '20000000000', '0.1')
    """
    return _digits(number).removesuffix(".0")


def _digits(number: float) -> str:
    return repr(float(number)).replace("e+", "e")


def describe_unknown(kind: str, word: object, allowed: Iterable[str]) -> str:
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
    return f"; there are {', '.join(known[:MAX_LISTED_NAMES])}{', ...' if len(known) > MAX_LISTED_NAMES else ''}"


def _nearest(name: object, known: Sequence[str]) -> list[str]:
    from difflib import get_close_matches

    return get_close_matches(str(name), known, n=1)


_lock = threading.Lock()
_own = threading.local()
_listeners = 0
_caught: Any = None


@contextmanager
def collect_warnings() -> Iterator[list[str]]:
    """A list that takes all warnings for users that this thread says inside."""
    said: list[str] = []
    _enter()
    before, _own.said = getattr(_own, "said", None), said
    try:
        yield said
    finally:
        _own.said = before
        _leave()


def _enter() -> None:
    global _listeners, _caught
    with _lock:
        if not _listeners:
            _caught = warnings.catch_warnings()
            _caught.__enter__()
            warnings.simplefilter("always", UserWarning)
            other = warnings.showwarning

            def show(message: Any, category: Any, *rest: Any, **named: Any) -> None:
                said = getattr(_own, "said", None)
                if said is None or not issubclass(category, UserWarning):
                    other(message, category, *rest, **named)
                elif str(message) not in said:
                    said.append(str(message))

            warnings.showwarning = show
        _listeners += 1


def _leave() -> None:
    global _listeners
    with _lock:
        _listeners -= 1
        if not _listeners:
            _caught.__exit__(None, None, None)
