"""Parts of messages for users (values, names, suggestions), and warnings, which can be collected by thread.

`warnings.catch_warnings` is global to the process, so it cannot collect the warnings of one thread.
"""

from __future__ import annotations

import os
import re
import reprlib
import sys
import threading
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

_PACKAGE = str(Path(__file__).parents[1]) + os.sep
_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 60
_SHORT.maxlist = _SHORT.maxtuple = 12
_SHORT.maxlevel = 3

MAX_LISTED_NAMES = 12  # longer lists of names end with "..."


def shown(value: object) -> str:
    """Return a value as the user would have typed it, on one line, shortened if it is long."""
    return _digits(value) if isinstance(value, float) else shorten(re.sub(r"\n\s*", " ", _SHORT.repr(value)), 300)


def error_text(error: BaseException) -> str:
    """Return the message of an error; that of a KeyError without the quotes that Python adds."""
    return str(error.args[0] if isinstance(error, KeyError) and error.args else error)


def shorten(text: str, max_length: int) -> str:
    """Return a text without its middle if it is longer than `max_length` characters."""
    return text if len(text) <= max_length else f"{text[: max_length * 2 // 3]} ... {text[-(max_length // 3) :]}"


def escape_unprintable(text: str) -> str:
    """Return a text with control characters, which would affect a terminal, written as escape sequences."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def format_number(number: float) -> str:
    """Return a number as text, without a trailing `.0`.

    >>> format_number(2.0), format_number(2e10), format_number(0.1)
    ('2', '20000000000', '0.1')
    """
    return _digits(number).removesuffix(".0")


def _digits(number: float) -> str:
    return repr(float(number)).replace("e+", "e")


def describe_unknown(kind: str, word: object, allowed: Iterable[str]) -> str:
    """Return a message about an unknown word with the nearest match and the allowed words.

    >>> describe_unknown("unknown field", "lenght", ["name", "length"])
    "unknown field; did you mean 'length'? (allowed: name, length)"
    """
    names = list(allowed)
    near = _nearest(word, names)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return f"{kind}{hint} (allowed: {', '.join(names)})" if names else kind


def suggestion(name: object, known: Sequence[str]) -> str:
    """Return the end of a sentence about an unknown name: the nearest known name, or a list of them.

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


_collection = threading.local()  # .messages: list of the present thread


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Give a warning to `collect_warnings` of this thread, or else to Python, from the first line outside flexarm."""
    messages: list[str] | None = getattr(_collection, "messages", None)
    if messages is None:
        level, frame = 1, sys._getframe()
        while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
            level, frame = level + 1, frame.f_back
        warnings.warn(message, category, stacklevel=level)
    elif message not in messages:
        messages.append(message)


@contextmanager
def collect_warnings() -> Iterator[list[str]]:
    """Collect the texts of the warnings that flexarm gives in this thread, each once, instead of showing them."""
    messages: list[str] = []
    before, _collection.messages = getattr(_collection, "messages", None), messages
    try:
        yield messages
    finally:
        _collection.messages = before
