"""Places on links that are known to second order: displacements and angles as forms of the elastic coordinates.

    displacement = U eta + 1/2 eta^T F eta,   angles = W eta + 1/2 eta^T Q eta

The axes of a section are turned by its angles about z, then y, then x.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from flexarm.beam.integrals import LinkIntegrals
from flexarm.beam.patterns import NEAR, Patterns
from flexarm.beam.second_order import MOVES, TURNS, Product, SecondOrder
from flexarm.foundation.dataclass import dataclass
from flexarm.mechanics.jets import Jet
from flexarm.mechanics.link_models.products import summed
from flexarm.mechanics.rotations import Shift, Step, Turn, X, Y, Z
from flexarm.mechanics.symbols import SymbolsUnder

if TYPE_CHECKING:
    from flexarm.mechanics.bodies import Shapes
    from flexarm.mechanics.numbers import Numbers


def add_station(numbers: Numbers, path: str, integrals: LinkIntegrals, x: float, anywhere: bool = False) -> None:
    """Shapes at x; `anywhere`: with numbers for all that could have a value at some x."""
    patterns = Patterns(integrals)
    x = x if anywhere else patterns.snapped(x)
    station = integrals.station(x)
    U, ones = (patterns.a, np.zeros_like(patterns.a)) if anywhere else patterns.U(x)
    inside = np.array(anywhere or x > NEAR * integrals.length)
    numbers.add(f"{path}.x", "m", station.x, inside)
    numbers.add(f"{path}.U", "m", station.U, U, ones=ones)
    add_turn(numbers, path, integrals, x, anywhere)
    add_products(numbers, f"{path}.F", "m", integrals, MOVES, x, anywhere)


def add_turn(numbers: Numbers, path: str, integrals: LinkIntegrals, x: float, anywhere: bool = False) -> None:
    """Only the rotation of the section at x."""
    patterns = Patterns(integrals)
    W, ones = (patterns.turned, np.zeros_like(patterns.turned)) if anywhere else patterns.W(x)
    numbers.add(f"{path}.W", "rad", integrals.station(x).W, W, ones=ones)
    add_products(numbers, f"{path}.Q", "rad", integrals, TURNS, x, anywhere)


def add_products(
    numbers: Numbers,
    path: str,
    unit: str,
    integrals: LinkIntegrals,
    products: Sequence[Product],
    x: float,
    anywhere: bool = False,
) -> None:
    """Their blocks at x."""
    forms, patterns, end = SecondOrder(integrals), Patterns(integrals), np.inf if anywhere else x
    for k, each in forms.present(products):
        same = each.one == each.other
        numbers.add(f"{path}.{k}", unit, forms.at(each, x), patterns.product(each, end), symmetric=same)


@dataclass(frozen=True)
class Forms:
    """Of a place on a link, or on a part of it."""

    shapes: Shapes
    there: SymbolsUnder

    def displacement(self, eta: Jet) -> Jet:
        """(3,): of the axis against the straight one."""
        return eta.through(self.there["U"]) + summed(MOVES, self.shapes, self.there.under("F"), eta)

    def angles(self, eta: Jet) -> Jet:
        """(3,): about x, y, z."""
        return eta.through(self.there["W"]) + summed(TURNS, self.shapes, self.there.under("Q"), eta)


def station_steps(shapes: Shapes, there: SymbolsUnder, eta: Jet) -> list[Step]:
    """From a link's root frame into the axes of a section at a fixed place."""
    forms = Forms(shapes, there)
    return section_steps(Jet.constant(there["x"]).along_x + forms.displacement(eta), forms.angles(eta))


def section_steps(place: Jet, angles: Jet) -> list[Step]:
    """To a place, then into axes that are turned by the angles about z, y and x, in this order."""
    steps: list[Step] = [Shift(place.x, place.dx, place.ddx)]
    for row in (2, 1, 0):
        angle = angles.of(row)
        if not angle.idle:
            steps.append(Turn((X, Y, Z)[row], angle.x, angle.dx, angle.ddx))
    return steps
