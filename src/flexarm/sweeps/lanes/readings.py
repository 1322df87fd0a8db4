"""What is read of a sample (`lane_code.read`), and which of its entries is what."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Readings:
    """Places in a column: kinetic, elastic and gravity's energy, that of drives, work, loss; what the integration put
    in, but for a constant; the tip; by link the square of its tip's deflection; torques."""

    links: int
    actuators: int

    stores = slice(0, 6)
    gained = 6
    tip = slice(7, 10)

    @property
    def deflections(self) -> slice:
        return slice(10, 10 + self.links)

    @property
    def torques(self) -> slice:
        return slice(10 + self.links, self.count)

    @property
    def count(self) -> int:
        return 10 + self.links + self.actuators
