"""What is wrong with a description, said in sentences that name the field, its value and what is allowed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.sentences import cut, printable, shown

TOLD = 20  # problems that a message tells before it says how many more there are
LONGEST = 1000  # letters of a line


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong: where, with which value (`...` when there is none to show) and why."""

    path: str
    value: object
    sentence: str
    line: int | None = None
    column: int | None = None

    def under(self, parent: str) -> Problem:
        """The same problem seen from the description that holds this one."""
        return replace(self, path=join(parent, self.path))

    def __str__(self) -> str:
        value = "" if self.value is ... else shown(self.value)
        where = " = ".join(part for part in (self.path, value) if part)
        return f"{where}: {self.sentence}" if where else self.sentence


class DescriptionError(ValueError):
    """A robot, or a part of one, that cannot be; `problems` lists everything found, the text has a line for each of
    the first."""

    def __init__(self, problems: Sequence[Problem], file: str | None = None) -> None:
        super().__init__(problems, file)  # plain args keep the error picklable
        self.problems = list(problems)
        self.file = file

    def __str__(self) -> str:
        told = [located(self.file, p.line, p.column) + cut(printable(str(p)), LONGEST) for p in self.problems[:TOLD]]
        if more := len(self.problems) - len(told):
            told.append(f"{located(self.file)}and {more} more problem{'s' if more > 1 else ''}")
        return "\n".join(told)


class UnitsWarning(UserWarning):
    """A value that is possible but looks as if it were given in another unit."""


def located(file: str | None, line: int | None = None, column: int | None = None) -> str:
    """The prefix `arm.yaml:12: ` of a message, empty without a file."""
    return "" if not file else ":".join(str(part) for part in (file, line, column) if part is not None) + ": "


def join(parent: str, child: str) -> str:
    """`links[0]` and `length` make `links[0].length`; indices follow without a dot."""
    return parent + child if not parent or not child or child.startswith("[") else f"{parent}.{child}"
