"""Sections that bend in two planes and twist: their rotation is a product of small ones, from node to node.

Over an interval the rotation vector is phi = turn + turn x bow, with turn = int kappa and bow = int (s / h) kappa, s
from the middle of the interval of length h: the first two terms of Magnus' series, the second exact for curvatures
that are linear in the interval; what is left out is of fifth order in h. The rotation itself is Cayley's of
c = 2 tan(|phi| / 2) phi / |phi|, a rational function that is a rotation whatever c is, and has no singular place below
half a turn in one interval. Nothing in it depends on how the axes of the section are rolled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from flexarm.beam.integrals import LinkIntegrals
from flexarm.beam.nodes import LinkNodes
from flexarm.beam.patterns import NEAR, Patterns
from flexarm.foundation.numbers import Array
from flexarm.mechanics.jets import Jet
from flexarm.mechanics.link_models.frames import Frames, Node, stretches
from flexarm.mechanics.link_models.nodes_numbers import add_stretch
from flexarm.mechanics.rotations import Step, Swing
from flexarm.mechanics.symbols import SymbolsUnder

if TYPE_CHECKING:
    from flexarm.mechanics.bodies import Shapes
    from flexarm.mechanics.numbers import Numbers

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
        behind = int(np.searchsorted(nodes.places, x + NEAR * beam.length))  # nodes that the place has behind it
        numbers.fact(path, "is so many nodes from the root:", behind)
        start = nodes.places[behind - 1] if behind else 0.0
        _add_interval(numbers, f"{path}.after{behind}", beam, float(start), x)

    def add_rail(self, numbers: Numbers, path: str, beam: LinkIntegrals, nodes: LinkNodes, link: str) -> None:
        raise ValueError(
            f"nothing can slide along link {link!r}, which bends in space with stiffening 'exact'; take "
            "stiffening 'shortening' for it, or shapes in one plane"
        )

    def nodes(self, numbers: SymbolsUnder, eta: Jet) -> list[Node]:
        count = 0
        while f"{count}.turn" in numbers:
            count += 1
        found: list[Node] = []
        for k, stretch in enumerate(stretches(numbers, eta, count)):
            matrix, turning, rate = _turned(found[-1] if found else None, numbers.under(str(k)), eta)
            found.append(Node(matrix, turning, rate, stretch))
        return found

    def turning_by_rates(self, numbers: SymbolsUnder, eta: Any, nodes: list[Node]) -> list[Any]:
        found, rates = [], ca.SX.sym("rates", eta.shape[0])
        total, before = ca.SX(3, eta.shape[0]), ca.SX.eye(3)
        for k, node in enumerate(nodes):
            _, turning, _ = _turned(None, numbers.under(str(k)), Jet.slow(eta, rates))
            total = total + before @ ca.jacobian(turning, rates)
            found.append(total)
            before = node.matrix
        return found

    def turn(self, there: SymbolsUnder, nodes: list[Node], eta: Jet) -> list[Step]:
        behind = next(k for k in range(len(nodes) + 1) if f"after{k}.turn" in there)
        matrix, turning, rate = _turned(nodes[behind - 1] if behind else None, there.under(f"after{behind}"), eta)
        # the rate of the angular velocity in its own axes is that in the root's, for a vector along itself
        return [Swing(matrix, matrix.T @ turning, matrix.T @ rate)]

    def moving_steps(self, shapes: Shapes, numbers: SymbolsUnder, rail: SymbolsUnder, x: Jet, eta: Jet) -> list[Step]:
        raise TypeError("nothing slides along an exact link in space")


def _add_interval(numbers: Numbers, path: str, beam: LinkIntegrals, start: float, end: float) -> None:
    turn, bow = _interval(beam, start, end)
    present = Patterns(beam).turns_between(start, end)
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


def _turned(before: Node | None, interval: SymbolsUnder, eta: Jet) -> tuple[Any, Any, Any]:
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
