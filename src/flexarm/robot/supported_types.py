"""Kinds of parts that a package supports. Other kinds are refused, so that none is ignored silently."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from flexarm.robot.constraints import Constraint
from flexarm.robot.description import Description
from flexarm.robot.drives import Drive, Stop
from flexarm.robot.errors import DescriptionError, DescriptionProblem
from flexarm.robot.flexibility import Basis, Damping
from flexarm.robot.joints import Joint
from flexarm.robot.robot import Robot

# Sections are not included: packages use only the methods of their base class.
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
    """Kinds of parts that a package supports, by family; families that it does not use are left out."""

    package: str
    known: Mapping[type[Description], tuple[type[Description], ...] | Callable[[], tuple[type[Description], ...]]]

    def require(self, robot: Robot) -> None:
        """Raise DescriptionError if a part of the robot is of another kind; subclasses are other kinds."""
        if _all_supported(self, robot.kinds):
            return
        problems = [
            DescriptionProblem(path, ..., self._refusal(type(part), family))
            for path, part in robot.parts()
            for family in self.refuses(type(part))
        ]
        raise DescriptionError(problems)

    def refuses(self, kind: type[Description]) -> list[type[Description]]:
        """Return the families as whose member the kind is not supported."""
        return [each for each in self.known if issubclass(kind, each) and kind not in self._known(each)]

    def _known(self, family: type[Description]) -> tuple[type[Description], ...]:
        found = self.known[family]
        return found() if callable(found) else found

    def _refusal(self, kind: type, family: type[Description]) -> str:
        names = ", ".join(each.__name__ for each in self._known(family))
        return f"{self.package} cannot take a {PART_NAMES[family]} of the kind {kind.__name__} (known: {names})"


@lru_cache(maxsize=64)  # thousands of robots are made of the same kinds
def _all_supported(supported: SupportedTypes, kinds: frozenset[type[Description]]) -> bool:
    return not any(supported.refuses(each) for each in kinds)
