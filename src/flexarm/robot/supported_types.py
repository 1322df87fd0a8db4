"""Which kinds of parts a user knows. It refuses the others: a new kind must not be left out in silence."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from flexarm.robot.constraints import Constraint
from flexarm.robot.description import Description
from flexarm.robot.drives import Drive, Stop
from flexarm.robot.errors import DescriptionError, DescriptionProblem
from flexarm.robot.flexibility import Basis, Damping
from flexarm.robot.joints import Joint
from flexarm.robot.robot import Robot

# Sections are not here: all that a user asks of one, its own class answers.
PART_NAMES: dict[type[Description], str] = {
    Joint: "joint",
    Drive: "drive",
    Stop: "stop",
    Basis: "basis",
    Damping: "damping",
    Constraint: "constraint",
}


@dataclass(frozen=True, eq=False)
class SupportedTypes:
    """The kinds that a user knows, by the family of parts; families that it does not look at are left out."""

    user: str
    known: dict[type[Description], tuple[type[Description], ...]]

    def require(self, robot: Robot) -> None:
        """Refuse a robot with a part of another kind. A subclass is one: what it adds would be ignored."""
        if _all_known(self, robot.kinds):
            return
        problems = [
            DescriptionProblem(path, ..., self._refusal(type(part), family))
            for path, part in robot.parts()
            for family in self.refuses(type(part))
        ]
        raise DescriptionError(problems)

    def refuses(self, kind: type[Description]) -> list[type[Description]]:
        """As a member of which families."""
        return [family for family, known in self.known.items() if issubclass(kind, family) and kind not in known]

    def _refusal(self, kind: type, family: type[Description]) -> str:
        names = ", ".join(each.__name__ for each in self.known[family])
        return f"{self.user} cannot take a {PART_NAMES[family]} of the kind {kind.__name__} (known: {names})"


@lru_cache(maxsize=64)  # thousands of robots are made of the same kinds
def _all_known(to: SupportedTypes, kinds: frozenset[type[Description]]) -> bool:
    return not any(to.refuses(each) for each in kinds)
