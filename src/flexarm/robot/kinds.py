"""Which kinds of parts a room knows. It refuses the others: a new kind must not be left out in silence."""

from __future__ import annotations

from dataclasses import dataclass

from .constraints import Constraint
from .description import Description
from .drives import Drive, Stop
from .errors import DescriptionError, Problem
from .flexibility import Basis, Damping
from .joints import Joint
from .robot import Robot

# Sections are not here: all that a room asks of one, its own class answers.
FAMILIES: dict[type[Description], str] = {
    Joint: "joint",
    Drive: "drive",
    Stop: "stop",
    Basis: "basis",
    Damping: "damping",
    Constraint: "constraint",
}


@dataclass(frozen=True)
class Kinds:
    """The kinds that a room knows, by the family of parts; families that it does not look at are left out."""

    room: str
    known: dict[type[Description], tuple[type[Description], ...]]

    def require(self, robot: Robot) -> None:
        """Refuse a robot with a part of another kind. A subclass is one: what it adds would be ignored."""
        problems = [
            Problem(path, ..., self._refusal(type(part), family))
            for path, part in robot.parts()
            for family, known in self.known.items()
            if isinstance(part, family) and type(part) not in known
        ]
        if problems:
            raise DescriptionError(problems)

    def _refusal(self, kind: type, family: type[Description]) -> str:
        names = ", ".join(each.__name__ for each in self.known[family])
        return f"{self.room} cannot take a {FAMILIES[family]} of the kind {kind.__name__} (known: {names})"
