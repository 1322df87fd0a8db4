"""Sections that turn about one axis of the link: the angle is the slope of the shapes, whatever its size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from flexarm.beam.integrals import LinkIntegrals
from flexarm.beam.nodes import LinkNodes
from flexarm.beam.patterns import Patterns
from flexarm.mechanics.jets import Jet, followed
from flexarm.mechanics.link_models.frames import Frames, Node, stretches
from flexarm.mechanics.link_models.nodes_numbers import add_stretch
from flexarm.mechanics.moving_shapes import SlidingShapes
from flexarm.mechanics.place_numbers import add_polynomials, add_shapes
from flexarm.mechanics.rotations import Axis, Shift, Step, Turn, X, Y, Z, rotation
from flexarm.mechanics.symbols import SymbolsUnder

if TYPE_CHECKING:
    from flexarm.mechanics.bodies import Shapes
    from flexarm.mechanics.numbers import Numbers

AXES: dict[str | None, tuple[Axis, int]] = {"twist": (X, 0), "bend_z": (Y, 1), "bend_y": (Z, 2), None: (Z, 2)}
"""By the family that turns the sections: the axis, and its row among rotations."""


class PlaneFrames(Frames):
    """About the axis of one family."""

    def __init__(self, family: str | None) -> None:
        self.axis, self.row = AXES[family]
        self.family = family

    def add_numbers(self, numbers: Numbers, path: str, beam: LinkIntegrals, nodes: LinkNodes) -> None:
        patterns, x = Patterns(beam), nodes.places
        rows = beam.rotation(x)[:, self.row, :]
        present = np.stack([patterns.W(each)[0][self.row] for each in x.tolist()])
        numbers.add(f"{path}.angle", "rad", rows, present)
        add_stretch(numbers, path, beam, nodes)

    def add_place(
        self, numbers: Numbers, path: str, beam: LinkIntegrals, nodes: LinkNodes, x: float, anywhere: bool
    ) -> None:
        patterns = Patterns(beam)
        W, ones = (patterns.turned, np.zeros_like(patterns.turned)) if anywhere else patterns.W(x)
        row = [self.row]
        numbers.add(f"{path}.angle", "rad", beam.station(x).W[row], W[row], ones=ones[row])

    def add_rail(self, numbers: Numbers, path: str, beam: LinkIntegrals, nodes: LinkNodes, link: str) -> None:
        add_shapes(numbers, path, beam)
        weights = nodes.weight_functions()
        add_polynomials(numbers, f"{path}.weights", weights)

    def nodes(self, numbers: SymbolsUnder, eta: Jet) -> list[Node]:
        angles = eta.through(numbers["angle"])
        return self.turned_nodes(angles, stretches(numbers, eta, angles.x.shape[0]))

    def turned_nodes(self, angles: Jet, stretched: list[Jet]) -> list[Node]:
        """Nodes from their angles and stretches."""
        axis, found = ca.DM(self.axis), []
        for k, stretch in enumerate(stretched):
            angle = angles.of(k)
            matrix = ca.SX(rotation(self.axis, angle.x)) if self.family else ca.SX.eye(3)
            found.append(Node(matrix, axis * angle.dx, axis * angle.ddx, stretch))
        return found

    def turning_by_rates(self, numbers: SymbolsUnder, eta: Any, nodes: list[Node]) -> list[Any]:
        axis, rows = ca.SX(ca.sparsify(ca.DM(self.axis))), numbers["angle"]
        if self.rates_of_nodes(numbers) is not None:
            rows = ca.SX.eye(len(nodes))
        return [axis @ rows[k, :] for k in range(len(nodes))]

    def rates_of_nodes(self, numbers: SymbolsUnder) -> Any:
        return None if "stretch" in numbers else numbers["angle"]

    def turn(self, there: SymbolsUnder, nodes: list[Node], eta: Jet) -> list[Step]:
        angle = eta.through(there["angle"])
        return [] if angle.idle else [Turn(self.axis, angle.x, angle.dx, angle.ddx)]

    def moving_steps(self, shapes: Shapes, numbers: SymbolsUnder, rail: SymbolsUnder, x: Jet, eta: Jet) -> list[Step]:
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
