"""The sections of an exact link at its nodes: how they are turned, from the curvatures that the shapes describe."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import casadi as ca

from flexarm.beam.integrals import LinkIntegrals
from flexarm.beam.nodes import LinkNodes
from flexarm.foundation.dataclass import dataclass
from flexarm.mechanics.jets import Jet
from flexarm.mechanics.rotations import Step
from flexarm.mechanics.symbols import SymbolsUnder

if TYPE_CHECKING:
    from flexarm.mechanics.bodies import Shapes
    from flexarm.mechanics.numbers import Numbers


@dataclass(frozen=True)
class Node:
    """A section: its axes in those of the root, how they turn against them, and how much longer the axis is there.

    matrix: from the section's axes to the root's.
    turning, turning_rate: angular velocity against the root, in the root's axes, and its rate as seen from there.
    stretch: 1 + u', with its rates.
    """

    matrix: Any
    turning: Any
    turning_rate: Any
    stretch: Jet

    @property
    def _direction(self) -> Any:
        return self.matrix[:, 0]

    @property
    def direction(self) -> Any:
        """The direction of the axis times its stretch."""
        return self._direction * self.stretch.x

    @property
    def axis(self) -> Jet:
        """The same with its rates, seen from the root."""
        zero = ca.SX.zeros(3)
        return Jet(self.direction, self.velocity(zero), self.acceleration(zero, zero))

    def velocity_by_rates(self, turning: Any, stretch: Any) -> Any:
        """(3, 3 + n): the rate of the axis for unit rates of the root's rotation and of eta, from those of `turning`
        and of the stretch."""
        lean = -ca.skew(self._direction) * self.stretch.x
        return ca.horzcat(lean, lean @ turning + (0 if stretch is None else self._direction @ stretch))

    def spin_by_rates(self, turning: Any) -> Any:
        """(3, 3 + n): that of `spin`."""
        return self.matrix.T @ ca.horzcat(ca.SX.eye(3), turning)

    def velocity(self, omega: Any) -> Any:
        """Rate of the axis where the root turns with omega."""
        spin = omega + self.turning
        rate = ca.cross(spin, self._direction)
        if self.stretch.dx.is_zero() and self.stretch.x.is_one():
            return rate
        return rate * self.stretch.x + self._direction * self.stretch.dx

    def acceleration(self, omega: Any, domega: Any) -> Any:
        """Its second rate where the root turns with omega, domega."""
        spin, dspin = omega + self.turning, domega + ca.cross(omega, self.turning) + self.turning_rate
        rate = ca.cross(spin, self._direction)
        second = ca.cross(dspin, self._direction) + ca.cross(spin, rate)
        if self.stretch.dx.is_zero() and self.stretch.x.is_one():
            return second
        return second * self.stretch.x + 2 * rate * self.stretch.dx + self._direction * self.stretch.ddx

    def spin(self, omega: Any) -> Any:
        """Angular velocity of the section, in its own axes."""
        return self.matrix.T @ (omega + self.turning)

    def spin_rate(self, omega: Any, domega: Any) -> Any:
        """The rate of that, in its own axes."""
        return self.matrix.T @ (domega + ca.cross(omega, self.turning) + self.turning_rate)


class Frames(ABC):
    """How the sections of a link are turned."""

    @abstractmethod
    def add_numbers(self, numbers: Numbers, path: str, beam: LinkIntegrals, nodes: LinkNodes) -> None:
        """What the nodes need."""

    @abstractmethod
    def add_place(
        self, numbers: Numbers, path: str, beam: LinkIntegrals, nodes: LinkNodes, x: float, anywhere: bool
    ) -> None:
        """What the rotation at a place needs."""

    @abstractmethod
    def add_rail(self, numbers: Numbers, path: str, beam: LinkIntegrals, nodes: LinkNodes, link: str) -> None:
        """What something that slides along the link needs."""

    @abstractmethod
    def nodes(self, numbers: SymbolsUnder, eta: Jet) -> list[Node]:
        """Every node, outward."""

    @abstractmethod
    def turning_by_rates(self, numbers: SymbolsUnder, eta: Any, nodes: list[Node]) -> list[Any]:
        """(3, n) of every node: its `turning` for unit rates of eta; or (3, nodes), for unit `rates_of_nodes`."""

    def rates_of_nodes(self, numbers: SymbolsUnder) -> Any:
        """(nodes, n), where every node has one rate of its own that makes all of its `turning`; None elsewhere."""
        return None

    @abstractmethod
    def turn(self, there: SymbolsUnder, nodes: list[Node], eta: Jet) -> list[Step]:
        """From the root's axes into those of the section at a place."""

    @abstractmethod
    def moving_steps(self, shapes: Shapes, numbers: SymbolsUnder, rail: SymbolsUnder, x: Jet, eta: Jet) -> list[Step]:
        """From the root frame to a place that moves along the link."""


def frames_of(columns: dict[str, slice]) -> Frames:
    """Sections of a link that bends in one plane, or only twists, turn about one axis."""
    from flexarm.mechanics.link_models.frames_in_plane import PlaneFrames
    from flexarm.mechanics.link_models.frames_in_space import SpaceFrames

    turning = [name for name in columns if name != "stretch"]
    return PlaneFrames(turning[0] if turning else None) if len(turning) < 2 else SpaceFrames()


def stretches(numbers: SymbolsUnder, eta: Jet, count: int) -> list[Jet]:
    """1 + u' at the nodes."""
    rows = numbers.find("stretch")
    if rows is None:
        return [Jet.constant(1.0)] * count
    found = eta.through(rows)
    return [Jet.constant(1.0) + found.of(k) for k in range(count)]
