"""YAML files as plain data with line numbers."""

from __future__ import annotations

import os
import re
from typing import Any

from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.files import read_bytes
from flexarm.foundation.messages import shown
from flexarm.robot.errors import DescriptionError, DescriptionProblem

MAX_FILE_BYTES = 1_000_000


@dataclass(frozen=True)
class Source:
    """Mapping in a file: `data` as plain Python values, `marked` as ruamel's containers with positions."""

    file: str
    data: dict[str, Any]
    marked: Any

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Source:
        """Read a file, or raise DescriptionError with the line of the problem."""
        file = checked_path(path)
        marked = _parse(_text(file), file)
        if marked is None:
            raise file_error(file, "the file is empty; a robot needs at least `links`", line=1)
        if not isinstance(marked, dict):
            raise file_error(file, f"a robot file is a mapping (name, links, ...), but this is {_kind(marked)}", line=1)
        return cls(file, _plain(marked, {}), marked)

    def line(self, path: str) -> int:
        """Return the line (from 1) of the deepest part of a path such as `links[1].section.width` in the file."""
        node, line, rest = self.marked, self.marked.lc.line, path
        while rest:
            listed = isinstance(node, list)
            try:
                key, rest = _step(node, rest)
                line, node = (node.lc.item if listed else node.lc.key)(key)[0], node[key]
            except (StopIteration, KeyError, IndexError, ValueError, TypeError, AttributeError):
                break  # a missing field, or a value merged from elsewhere: take the line of its owner
        return int(line) + 1


def _step(node: Any, path: str) -> tuple[Any, str]:
    """Return the first key or index of a path into a node, and the rest; keys may contain dots (`upper.q`)."""
    step = re.split(r"[.\[\]]", path.lstrip("["), maxsplit=1)[0]
    if isinstance(node, list):
        return int(step), path[len(step) + 2 :].lstrip(".")
    key = step if step in node else next(key for key in node if f"{path}.".startswith((f"{key}.", f"{key}[")))
    return key, path[len(str(key)) :].lstrip(".")


def checked_path(path: str | os.PathLike[str]) -> str:
    """Return the path as text, or raise an error if it is not a file name."""
    if not isinstance(path, (str, os.PathLike)):
        raise DescriptionError([DescriptionProblem("path", path, "must be the name of a file")])
    file = os.fsdecode(path)
    if not file or "\0" in file:
        raise file_error(shown(file), "is no path: give the name of a file")
    return file


def _text(file: str) -> str:
    raw = b""
    try:
        raw = read_bytes(file, MAX_FILE_BYTES)
        return raw.decode("utf-8-sig")
    except OSError as error:
        raise DescriptionError([DescriptionProblem("", ..., str(error))]) from None
    except UnicodeDecodeError as error:
        if raw.startswith(b"\x89HDF"):
            raise file_error(file, "holds the results of a run, not a robot: fa.Run.load reads it") from None
        line = raw.count(b"\n", 0, error.start) + 1
        raise file_error(file, f"is not UTF-8 text (byte {raw[error.start]:#04x})", line=line) from None


def _parse(text: str, file: str) -> Any:
    from ruamel.yaml.constructor import DuplicateKeyError
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    from flexarm.robot.io.bounded_yaml import BoundsError, bounded_yaml

    try:
        return bounded_yaml().load(text)
    except BoundsError as error:
        raise file_error(file, str(error.problem), error.problem_mark.line + 1) from None
    except DuplicateKeyError as error:
        mark = error.problem_mark
        key = re.search(r'duplicate key "(.*?)"', str(error.problem))
        name = f"{key[1]!r} " if key else ""
        raise file_error(file, f"the key {name}stands twice in one mapping", mark.line + 1, mark.column + 1) from None
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        message = ", ".join(part for part in (error.context, error.problem) if part)
        position = (mark.line + 1, mark.column + 1) if mark is not None else (None, None)
        raise file_error(file, f"is not valid YAML: {message}", *position) from None
    except YAMLError as error:
        place = getattr(error, "position", None)  # of a character that YAML does not allow
        line = None if place is None else text.count("\n", 0, place) + 1
        raise file_error(file, f"is not valid YAML: {str(error).splitlines()[0]}", line) from None


def _plain(node: Any, done: dict[int, Any]) -> Any:
    """Convert ruamel's containers to plain values; `done` keeps aliases shared, also those that form cycles."""
    if id(node) in done:
        return done[id(node)]
    if isinstance(node, dict):
        mapping: dict[Any, Any] = {}
        done[id(node)] = mapping
        mapping.update((key, _plain(value, done)) for key, value in node.items())
        return mapping
    if isinstance(node, list):
        sequence: list[Any] = []
        done[id(node)] = sequence
        sequence.extend(_plain(item, done) for item in node)
        return sequence
    for kind in (bool, int, float, str):
        if isinstance(node, kind):
            return kind(node)
    return node


def _kind(value: object) -> str:
    return "a list" if isinstance(value, list) else f"only {shown(value)}"


def file_error(file: str, sentence: str, line: int | None = None, column: int | None = None) -> DescriptionError:
    """Return the error of a file that cannot be read as a robot."""
    return DescriptionError([DescriptionProblem("", ..., sentence, line, column)], file)
