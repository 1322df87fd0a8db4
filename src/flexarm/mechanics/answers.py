"""What a system answers with where one array is not enough."""

from __future__ import annotations

from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.numbers import Array
from flexarm.foundation.sentences import suggestion


@dataclass(frozen=True)
class Energy:
    """Energies in J, numbers or arrays over a batch; also by key, `energy["kinetic"]`."""

    kinetic: Array
    elastic: Array
    gravity: Array
    drive: Array

    @property
    def total(self) -> Array:
        return self.kinetic + self.elastic + self.gravity + self.drive

    def __getitem__(self, name: str) -> Array:
        known = ["kinetic", "elastic", "gravity", "drive", "total"]
        if name not in known:
            raise KeyError(f"there is no energy '{name}'{suggestion(name, known)}")
        return getattr(self, name)  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Linearization:
    """Matrices (..., nq, nq) of small motions: mass, tangent stiffness, gyroscopic terms, dissipation."""

    M: Array
    K: Array
    G: Array
    D: Array
