"""How constraints are kept although only their accelerations enter the equations."""

from __future__ import annotations

from typing import Literal

from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.numbers import real_number
from flexarm.foundation.sentences import shown


@dataclass(frozen=True)
class Baumgarte:
    """Violations of constraints are fed back: Phi'' + 2 gamma Phi' + beta^2 Phi = 0, gamma and beta in 1/s."""

    gamma: float = 5.0
    beta: float = 5.0

    def __post_init__(self) -> None:
        for name in ("gamma", "beta"):
            real_number(f"Baumgarte: {name}", getattr(self, name), "1/s", least=0)


Stabilization = Literal["projection"] | Baumgarte


def checked(given: object) -> Stabilization:
    """The option of `simulate`, or a sentence about what it may be."""
    if isinstance(given, str) and given == "projection":
        return "projection"
    if isinstance(given, Baumgarte):
        return given
    raise ValueError(f"stabilization = {shown(given)}: must be 'projection' or fa.Baumgarte(gamma, beta)")
