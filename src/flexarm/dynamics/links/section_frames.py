"""The sections of an exact link at its nodes: how they are turned, from the curvatures that the shapes describe.

Sections that turn about one axis of the link: the angle is the slope of the shapes, whatever its size.

Sections that bend in two planes and twist: their rotation is a product of small ones, from node to node.

Over an interval the rotation vector is phi = turn + turn x bow, with turn = int kappa and bow = int (s / h) kappa, s
from the middle of the interval of length h: the first two terms of Magnus' series, the second exact for curvatures
that are linear in the interval; what is left out is of fifth order in h. The rotation itself is Cayley's of
c = 2 tan(|phi| / 2) phi / |phi|, a rational function that is a rotation whatever c is, and has no singular place below
half a turn in one interval. Nothing in it depends on how the axes of the section are rolled.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from flexarm.beam.integrals import LinkIntegrals
from flexarm.beam.section_nodes import LinkNodes
from flexarm.beam.sparsity import NODE_TOLERANCE, SparsityPatterns
from flexarm.dynamics.links.beam_parameters import add_polynomials, add_shapes, add_stretch
from flexarm.dynamics.links.sliding_shapes import SlidingShapes
from flexarm.dynamics.parameters import SymbolsUnder
from flexarm.dynamics.spatial_algebra import Axis, Jet, Shift, Step, Swing, Turn, X, Y, Z, followed, rotation
from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.validation import Array

if TYPE_CHECKING:
    from flexarm.dynamics.bodies import ShapeSymbols
    from flexarm.dynamics.parameters import Numbers


@dataclass(frozen=True)
class SectionNode:
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
    def nodes(self, numbers: SymbolsUnder, eta: Jet) -> list[SectionNode]:
        """Every node, outward."""

    @abstractmethod
    def turning_by_rates(self, numbers: SymbolsUnder, eta: Any, nodes: list[SectionNode]) -> list[Any]:
        """(3, n) of every node: its `turning` for unit rates of eta; or (3, nodes), for unit `rates_of_nodes`."""

    def rates_of_nodes(self, numbers: SymbolsUnder) -> Any:
        """(nodes, n), where every node has one rate of its own that makes all of its `turning`; None elsewhere."""
        return None

    @abstractmethod
    def turn(self, there: SymbolsUnder, nodes: list[SectionNode], eta: Jet) -> list[Step]:
        """From the root's axes into those of the section at a place."""

    @abstractmethod
    def moving_steps(
        self, shapes: ShapeSymbols, numbers: SymbolsUnder, rail: SymbolsUnder, x: Jet, eta: Jet
    ) -> list[Step]:
        """From the root frame to a place that moves along the link."""


def frames_of(columns: dict[str, slice]) -> Frames:
    """Sections of a link that bends in one plane, or only twists, turn about one axis."""
    pass
    pass

    turning = [name for name in columns if name != "stretch"]
    return PlaneFrames(turning[0] if turning else None) if len(turning) < 2 else SpaceFrames()


def stretches(numbers: SymbolsUnder, eta: Jet, count: int) -> list[Jet]:
    """1 + u' at the nodes."""
    rows = numbers.find("stretch")
    if rows is None:
        return [Jet.constant(1.0)] * count
    found = eta.through(rows)
    return [Jet.constant(1.0) + found.of(k) for k in range(count)]


AXES: dict[str | None, tuple[Axis, int]] = {"twist": (X, 0), "bend_z": (Y, 1), "bend_y": (Z, 2), None: (Z, 2)}
"""By the family that turns the sections: the axis, and its row among rotations."""


class PlaneFrames(Frames):
    """About the axis of one family."""

    def __init__(self, family: str | None) -> None:
        self.axis, self.row = AXES[family]
        self.family = family

    def add_numbers(self, numbers: Numbers, path: str, beam: LinkIntegrals, nodes: LinkNodes) -> None:
        patterns, x = SparsityPatterns(beam), nodes.places
        rows = beam.rotation(x)[:, self.row, :]
        present = np.stack([patterns.W(each)[0][self.row] for each in x.tolist()])
        numbers.add(f"{path}.angle", "rad", rows, present)
        add_stretch(numbers, path, beam, nodes)

    def add_place(
        self, numbers: Numbers, path: str, beam: LinkIntegrals, nodes: LinkNodes, x: float, anywhere: bool
    ) -> None:
        patterns = SparsityPatterns(beam)
        W, ones = (patterns.turned, np.zeros_like(patterns.turned)) if anywhere else patterns.W(x)
        row = [self.row]
        numbers.add(f"{path}.angle", "rad", beam.station(x).W[row], W[row], ones=ones[row])

    def add_rail(self, numbers: Numbers, path: str, beam: LinkIntegrals, nodes: LinkNodes, link: str) -> None:
        add_shapes(numbers, path, beam)
        weights = nodes.weight_functions()
        add_polynomials(numbers, f"{path}.weights", weights)

    def nodes(self, numbers: SymbolsUnder, eta: Jet) -> list[SectionNode]:
        angles = eta.through(numbers["angle"])
        return self.turned_nodes(angles, stretches(numbers, eta, angles.x.shape[0]))

    def turned_nodes(self, angles: Jet, stretched: list[Jet]) -> list[SectionNode]:
        """Nodes from their angles and stretches."""
        axis, found = ca.DM(self.axis), []
        for k, stretch in enumerate(stretched):
            angle = angles.of(k)
            matrix = ca.SX(rotation(self.axis, angle.x)) if self.family else ca.SX.eye(3)
            found.append(SectionNode(matrix, axis * angle.dx, axis * angle.ddx, stretch))
        return found

    def turning_by_rates(self, numbers: SymbolsUnder, eta: Any, nodes: list[SectionNode]) -> list[Any]:
        axis, rows = ca.SX(ca.sparsify(ca.DM(self.axis))), numbers["angle"]
        if self.rates_of_nodes(numbers) is not None:
            rows = ca.SX.eye(len(nodes))
        return [axis @ rows[k, :] for k in range(len(nodes))]

    def rates_of_nodes(self, numbers: SymbolsUnder) -> Any:
        return None if "stretch" in numbers else numbers["angle"]

    def turn(self, there: SymbolsUnder, nodes: list[SectionNode], eta: Jet) -> list[Step]:
        angle = eta.through(there["angle"])
        return [] if angle.idle else [Turn(self.axis, angle.x, angle.dx, angle.ddx)]

    def moving_steps(
        self, shapes: ShapeSymbols, numbers: SymbolsUnder, rail: SymbolsUnder, x: Jet, eta: Jet
    ) -> list[Step]:
        here, amplitudes = ca.SX.sym("x"), ca.SX.sym("eta", shapes.count)
        along = SlidingShapes(shapes, rail)
        angle = self.sliding_angle(along, here, amplitudes)
        nodes = self.nodes(numbers, Jet.slow(amplitudes))
        (weights,) = along.values("weights", here, 1)
        place = ca.horzcat(*(node.direction for node in nodes)) @ weights.T
        both = followed(ca.vertcat(place, angle), ca.vertcat(here, amplitudes), x.above(eta))
        r, turned = both.of(slice(0, 3)), both.of(3)
        return [Shift(r.x, r.dx, r.ddx), Turn(self.axis, turned.x, turned.dx, turned.ddx)]

    def sliding_angle(self, along: SlidingShapes, x: Any, eta: Any) -> Any:
        """The angle at x, an expression."""
        if self.family is None:
            return ca.SX(0)
        sign = -1 if self.family == "bend_z" else 1
        row = along.orders(self.family, x, slope=self.family != "twist")[0]
        return sign * (row @ eta[along.of.columns[self.family], 0])


TANGENT = (1 / 24, 1 / 240, 17 / 40320)  # tan(phi / 2) / phi - 1/2 in powers of phi^2


class SpaceFrames(Frames):
    """About any axis."""

    def add_numbers(self, numbers: Numbers, path: str, beam: LinkIntegrals, nodes: LinkNodes) -> None:
        before = 0.0
        numbers.fact(path, "are so many:", len(nodes.places))
        for k, x in enumerate(nodes.places.tolist()):
            _add_interval(numbers, f"{path}.{k}", beam, before, x)
            before = x
        add_stretch(numbers, path, beam, nodes)

    def add_place(
        self, numbers: Numbers, path: str, beam: LinkIntegrals, nodes: LinkNodes, x: float, anywhere: bool
    ) -> None:
        behind = int(
            np.searchsorted(nodes.places, x + NODE_TOLERANCE * beam.length)
        )  # nodes that the place has behind it
        numbers.fact(path, "is so many nodes from the root:", behind)
        start = nodes.places[behind - 1] if behind else 0.0
        _add_interval(numbers, f"{path}.after{behind}", beam, float(start), x)

    def add_rail(self, numbers: Numbers, path: str, beam: LinkIntegrals, nodes: LinkNodes, link: str) -> None:
        raise ValueError(
            f"nothing can slide along link {link!r}, which bends in space with stiffening 'exact'; take "
            "stiffening 'shortening' for it, or shapes in one plane"
        )

    def nodes(self, numbers: SymbolsUnder, eta: Jet) -> list[SectionNode]:
        count = 0
        while f"{count}.turn" in numbers:
            count += 1
        found: list[SectionNode] = []
        for k, stretch in enumerate(stretches(numbers, eta, count)):
            matrix, turning, rate = _turned(found[-1] if found else None, numbers.under(str(k)), eta)
            found.append(SectionNode(matrix, turning, rate, stretch))
        return found

    def turning_by_rates(self, numbers: SymbolsUnder, eta: Any, nodes: list[SectionNode]) -> list[Any]:
        found, rates = [], ca.SX.sym("rates", eta.shape[0])
        total, before = ca.SX(3, eta.shape[0]), ca.SX.eye(3)
        for k, node in enumerate(nodes):
            _, turning, _ = _turned(None, numbers.under(str(k)), Jet.slow(eta, rates))
            total = total + before @ ca.jacobian(turning, rates)
            found.append(total)
            before = node.matrix
        return found

    def turn(self, there: SymbolsUnder, nodes: list[SectionNode], eta: Jet) -> list[Step]:
        behind = next(k for k in range(len(nodes) + 1) if f"after{k}.turn" in there)
        matrix, turning, rate = _turned(nodes[behind - 1] if behind else None, there.under(f"after{behind}"), eta)
        # the rate of the angular velocity in its own axes is that in the root's, for a vector along itself
        return [Swing(matrix, matrix.T @ turning, matrix.T @ rate)]

    def moving_steps(
        self, shapes: ShapeSymbols, numbers: SymbolsUnder, rail: SymbolsUnder, x: Jet, eta: Jet
    ) -> list[Step]:
        raise TypeError("nothing slides along an exact link in space")


def _add_interval(numbers: Numbers, path: str, beam: LinkIntegrals, start: float, end: float) -> None:
    turn, bow = _interval(beam, start, end)
    present = SparsityPatterns(beam).relative_rotation(start, end)
    numbers.add(f"{path}.turn", "rad", turn, present)
    numbers.add(f"{path}.bow", "rad", bow, present)


def _interval(beam: LinkIntegrals, start: float, end: float) -> tuple[Array, Array]:
    """(3, n) each: int kappa and int (s / h) kappa."""
    ends = beam.rotation(np.array([start, end]))
    if end <= start:
        return np.zeros_like(ends[0]), np.zeros_like(ends[0])
    whole = beam.rotation_integral(np.array([start, end]))
    return ends[1] - ends[0], (ends[0] + ends[1]) / 2 - (whole[1] - whole[0]) / (end - start)


def _tangent_factor(square: Jet) -> Jet:
    """Return tan(phi / 2) / phi as a function of phi^2, by Horner's scheme of the value and its two derivatives."""
    first, second, third = TANGENT
    x = square.x
    value = 0.5 + x * (first + x * (second + third * x))
    slope = first + x * (2 * second + 3 * third * x)
    bend = 2 * second + 6 * third * x
    return Jet(value, slope * square.dx, slope * square.ddx + bend * square.dx * square.dx)


def _turned(before: SectionNode | None, interval: SymbolsUnder, eta: Jet) -> tuple[Any, Any, Any]:
    """The rotation at the end of an interval, its angular velocity and the rate of that, all in the root's axes."""
    turn, bow = eta.through(interval["turn"]), eta.through(interval["bow"])
    phi = turn + turn.cross(bow)
    factor = _tangent_factor(phi.square)
    h, dh = phi.x * factor.x, phi.dx * factor.x + phi.x * factor.dx
    ddh = phi.ddx * factor.x + 2 * phi.dx * factor.dx + phi.x * factor.ddx
    scale = 2 / (1 + ca.dot(h, h))
    turning = scale * (dh + ca.cross(h, dh))
    rate = scale * (ddh + ca.cross(h, ddh) - ca.dot(h, dh) * turning)
    scaled = scale * h
    first = (
        ca.vertcat(1, 0, 0) + ca.vertcat(0, scaled[2], -scaled[1]) + ca.cross(h, ca.vertcat(0, scaled[2], -scaled[1]))
    )
    second = (
        ca.vertcat(0, 1, 0) + ca.vertcat(-scaled[2], 0, scaled[0]) + ca.cross(h, ca.vertcat(-scaled[2], 0, scaled[0]))
    )
    if before is None:
        return ca.horzcat(first, second, ca.cross(first, second)), turning, rate
    carried = before.matrix @ turning
    first, second = before.matrix @ first, before.matrix @ second
    return (
        ca.horzcat(first, second, ca.cross(first, second)),
        before.turning + carried,
        before.turning_rate + ca.cross(before.turning, carried) + before.matrix @ rate,
    )
