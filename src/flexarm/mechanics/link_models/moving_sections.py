"""Sections at places that move along links known to second order, with all that their motion brings with it."""

from __future__ import annotations

from typing import Any

import casadi as ca

from flexarm.beam.second_order import MOVES, TURNS
from flexarm.foundation.dataclass import dataclass
from flexarm.mechanics.jets import Jet, followed
from flexarm.mechanics.moving_shapes import RailShapes


@dataclass(frozen=True)
class MovingSection:
    """Parts of a section's displacement and angles that go with different powers of a link's scale.

    moved, angles: (3,) of first order. shortened: along x, of bending. once, twice: (3,) displacements of two families
    together, integrated once or twice. turned: (3,) angles of two families.
    """

    moved: Jet
    angles: Jet
    shortened: Jet
    once: Jet
    twice: Jet
    turned: Jet

    @property
    def displacement(self) -> Jet:
        return self.moved + self.shortened.along_x + self.once + self.twice

    @property
    def rotation(self) -> Jet:
        return self.angles + self.turned


def moving_section(along: RailShapes, x: Jet, eta: Jet) -> MovingSection:
    """At x."""
    zero = Jet.constant(0.0)
    rows = dict.fromkeys(("stretch", "bend_y", "bend_z", "twist", "bend_y'", "bend_z'"), zero)
    shortened, second_order = zero, along.of.stiffening != "none"
    for name, columns in along.of.columns.items():
        part = eta.of(columns)
        rows[name] = _combined(along.orders(name, x.x), x, part)
        if name.startswith("bend"):
            orders = along.orders(name, x.x, slope=True)
            slope = rows[name + "'"] = _combined(orders, x, part)
            if second_order:
                shortened = shortened + _shortened(along, name, x, part, slope, orders[0])
    moved = rows["stretch"].above(rows["bend_y"]).above(rows["bend_z"])
    angles = rows["twist"].above(-rows["bend_z'"]).above(rows["bend_y'"])
    return MovingSection(moved, angles, shortened, *_of_two_families(along, x, eta))


def _combined(orders: list[Any], x: Jet, eta: Jet) -> Jet:
    """N(x) eta."""
    N, dN, ddN = orders
    slope = dN @ eta.x
    second = 2 * (dN @ eta.dx) * x.dx + (ddN @ eta.x) * x.dx**2 + slope * x.ddx
    return Jet(N @ eta.x, N @ eta.dx + slope * x.dx, N @ eta.ddx + second)


def _shortened(along: RailShapes, name: str, x: Jet, eta: Jet, slope: Jet, row: Any) -> Jet:
    """-1/2 int (v')^2, whose end moves."""
    index = next(k for k, each in enumerate(MOVES) if each.one == each.other == name)
    found = eta.form(along.form(f"F.{index}", MOVES[index], x.x))
    if not along.moves:
        return found
    tilt, dtilt = slope.x**2 / 2, slope.x * (slope.dx + row @ eta.dx)
    return found - Jet(ca.SX(0), tilt * x.dx, dtilt * x.dx + tilt * x.ddx)


def _of_two_families(along: RailShapes, x: Jet, eta: Jet) -> tuple[Jet, Jet, Jet]:
    """Displacements integrated once and twice, and angles."""
    none = Jet.constant(ca.SX.zeros(3))
    if along.of.stiffening == "none" or len(along.of.columns) < 2:
        return none, none, none
    here, amplitudes = ca.SX.sym("x"), ca.SX.sym("eta", along.of.count)
    columns = [ca.SX.zeros(3) for _ in range(3)]
    for each, value in zip(MOVES, along.forms("F", MOVES, here, amplitudes), strict=True):
        if each.one != each.other:  # the others are the shortenings
            columns[0 if each.integrated == "once" else 1][each.axis] += value
    for each, value in zip(TURNS, along.forms("Q", TURNS, here, amplitudes), strict=True):
        columns[2][each.axis] += value
    found = followed(ca.vertcat(*columns), ca.vertcat(here, amplitudes), x.above(eta))
    return found.of(slice(0, 3)), found.of(slice(3, 6)), found.of(slice(6, 9))
