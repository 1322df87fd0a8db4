"""Products of two families of shapes, of which places and momenta of second order are made.

Places on links that are known to second order: displacements and angles as forms of the elastic coordinates.

    displacement = U eta + 1/2 eta^T F eta,   angles = W eta + 1/2 eta^T Q eta

The axes of a section are turned by its angles about z, then y, then x.

The sections' own inertia: about the link's axis always, since it carries twist; about y and z when it counts.

Where it counts about all axes, sections turn with the link's deformation, tilt and twist (propeller moment and
gyroscopic terms included): their rotation is followed at nodes (beam/section_nodes.py). Else they spin about the
axis of the
straight link.

Sections at places that move along links known to second order, with all that their motion brings with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from flexarm.beam.foreshortening import DISPLACEMENT_PRODUCTS, ROTATION_PRODUCTS, Product, SecondOrderBlocks
from flexarm.beam.integrals import LinkIntegrals
from flexarm.beam.section_nodes import LinkNodes, link_nodes
from flexarm.beam.sparsity import NODE_TOLERANCE, SparsityPatterns
from flexarm.dynamics.links.beam_parameters import add_section_inertia
from flexarm.dynamics.links.sliding_shapes import RailShapes
from flexarm.dynamics.parameters import SymbolsUnder
from flexarm.dynamics.spatial_algebra import Jet, Shift, Step, Turn, X, Y, Z, followed, twist_along
from flexarm.foundation.dataclass import dataclass

if TYPE_CHECKING:
    from flexarm.dynamics.bodies import ShapeSymbols, SymbolicBody
    from flexarm.dynamics.parameters import Numbers, SymbolsUnder


def summed(
    products: Sequence[Product], shapes: ShapeSymbols, numbers: SymbolsUnder, eta: Jet, integrated: str | None = None
) -> Jet:
    """(3,): by axis, what the products (all of them, or those integrated so often) add up to with blocks of numbers."""
    zero = ca.SX(1, 1)
    parts = {axis: Jet(zero, zero, zero) for axis in range(3)}
    for k, each in enumerate(products):
        if str(k) not in numbers or integrated not in (None, each.integrated):
            continue
        one, block = eta.of(shapes.columns[each.one]), numbers[str(k)]
        same = each.one == each.other
        value = one.form(block) if same else one.form_with(block, eta.of(shapes.columns[each.other]))
        parts[each.axis] = parts[each.axis] + value
    return parts[0].above(parts[1]).above(parts[2])


def pulled(products: Sequence[Product], shapes: ShapeSymbols, numbers: SymbolsUnder, eta: Any, push: Any) -> Any:
    """(n,): what a force (3,) on the sum of products is on eta. Written out, it shares what the sum is made of."""
    found = ca.SX.zeros(eta.shape)
    for k, each in enumerate(products):
        if str(k) not in numbers:
            continue
        block, along = numbers[str(k)], push[each.axis]
        one, other = shapes.columns[each.one], shapes.columns[each.other]
        found[one] += along * (block @ eta[other])
        if each.one != each.other:
            found[other] += along * (block.T @ eta[one])
    return found


def add_station(numbers: Numbers, path: str, integrals: LinkIntegrals, x: float, anywhere: bool = False) -> None:
    """Shapes at x; `anywhere`: with numbers for all that could have a value at some x."""
    patterns = SparsityPatterns(integrals)
    x = x if anywhere else patterns.snap(x)
    station = integrals.station(x)
    U, ones = (patterns.a, np.zeros_like(patterns.a)) if anywhere else patterns.U(x)
    inside = np.array(anywhere or x > NODE_TOLERANCE * integrals.length)
    numbers.add(f"{path}.x", "m", station.x, inside)
    numbers.add(f"{path}.U", "m", station.U, U, ones=ones)
    add_turn(numbers, path, integrals, x, anywhere)
    add_products(numbers, f"{path}.F", "m", integrals, DISPLACEMENT_PRODUCTS, x, anywhere)


def add_turn(numbers: Numbers, path: str, integrals: LinkIntegrals, x: float, anywhere: bool = False) -> None:
    """Only the rotation of the section at x."""
    patterns = SparsityPatterns(integrals)
    W, ones = (patterns.turned, np.zeros_like(patterns.turned)) if anywhere else patterns.W(x)
    numbers.add(f"{path}.W", "rad", integrals.station(x).W, W, ones=ones)
    add_products(numbers, f"{path}.Q", "rad", integrals, ROTATION_PRODUCTS, x, anywhere)


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
    forms, patterns, end = SecondOrderBlocks(integrals), SparsityPatterns(integrals), np.inf if anywhere else x
    for k, each in forms.present(products):
        same = each.one == each.other
        numbers.add(f"{path}.{k}", unit, forms.at(each, x), patterns.product(each, end), symmetric=same)


@dataclass(frozen=True)
class Forms:
    """Of a place on a link, or on a part of it."""

    shapes: ShapeSymbols
    there: SymbolsUnder

    def displacement(self, eta: Jet) -> Jet:
        """(3,): of the axis against the straight one."""
        return eta.through(self.there["U"]) + summed(DISPLACEMENT_PRODUCTS, self.shapes, self.there.under("F"), eta)

    def angles(self, eta: Jet) -> Jet:
        """(3,): about x, y, z."""
        return eta.through(self.there["W"]) + summed(ROTATION_PRODUCTS, self.shapes, self.there.under("Q"), eta)


def station_steps(shapes: ShapeSymbols, there: SymbolsUnder, eta: Jet) -> list[Step]:
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


def add_sections(numbers: Numbers, path: str, beam: LinkIntegrals) -> None:
    patterns = SparsityPatterns(beam)
    if turning_sections(beam):
        nodes = link_nodes(beam)
        add_spin(numbers, path, nodes, patterns)
        for k, x in enumerate(nodes.places.tolist()):
            add_turn(numbers, f"{path}.nodes.{k}", beam, x)
        return
    add_section_inertia(numbers, path, beam)
    numbers.add(f"{path}.j", "kg m2", beam.j, patterns.j)
    if twist := beam.columns.get("twist"):
        mass, ones = beam.M_elastic[twist, twist], patterns.unit_of("twist")
        numbers.add(f"{path}.M_twist", "kg m2", mass, patterns.mass_of("twist"), symmetric=True, ones=ones)
    tilting = patterns.turning(1) | patterns.turning(2)
    if beam.link.rotary_inertia and beam.link.section is not None and tilting.any():
        value = np.where(tilting, beam.M_elastic - beam.M["uu"] - beam.M["vv"] - beam.M["ww"], 0.0)
        numbers.add(f"{path}.M_tilting", "kg m2", value, tilting, symmetric=True)


def turning_sections(beam: LinkIntegrals) -> bool:
    """Whether the sections' tilt counts."""
    counts = beam.link.rotary_inertia and beam.link.section is not None
    return counts and bool(beam.count) and beam.stiffening != "none"  # which has no second-order terms


def add_spin(numbers: Numbers, path: str, nodes: LinkNodes, patterns: SparsityPatterns) -> None:
    """Forms of the spins at the nodes, about each axis of the sections."""
    numbers.fact(path, "is followed at so many nodes:", len(nodes.places))
    numbers.fact(path, "has so many pieces:", len(nodes.pieces))
    for k, piece in enumerate(nodes.pieces):
        for axis in range(3):
            if patterns.section_inertia[axis]:
                numbers.add(f"{path}.spin.{k}.{axis}", "kg m2", piece.spin[axis], symmetric=True)


def kinetic_of_sections(body: SymbolicBody, omega: Any, v: Any, eta: Jet) -> Any:
    """Of a link whose places are known to second order."""
    n = body.numbers
    if "section_inertia" not in n:
        spins: list[Any] = []
        while f"nodes.{len(spins)}.W" in n:
            forms = Forms(body.shapes, n.under(f"nodes.{len(spins)}"))
            steps = section_steps(Jet.constant(ca.SX.zeros(3)), forms.angles(eta))
            spins.append(twist_along(steps, omega, v)[0])
        return spin_energy(n, spins)
    energy = ca.dot(omega, n["section_inertia"] * omega) / 2 + ca.dot(omega, n["j"] @ eta.dx)
    if "M_twist" in n:
        rates = eta.dx[body.shapes.columns["twist"], 0]
        energy += ca.dot(rates, n["M_twist"] @ rates) / 2
    if "M_tilting" in n:
        energy += ca.dot(eta.dx, n["M_tilting"] @ eta.dx) / 2
    return energy


def spin_energy(n: SymbolsUnder, spins: list[Any]) -> Any:
    """From the angular velocities of the sections at all nodes, in their own axes."""
    return sum((ca.dot(spin, push) for spin, push in zip(spins, spin_momenta(n, spins), strict=True)), ca.SX(0)) / 2


def spin_momenta(n: SymbolsUnder, spins: list[Any]) -> list[Any]:
    """The angular momentum that goes with each of them."""
    pieces = 0
    while any(f"spin.{pieces}.{axis}" in n for axis in range(3)):
        pieces += 1
    found: list[Any] = []
    per_piece = len(spins) // max(pieces, 1)
    for piece in range(pieces):
        stacked = ca.horzcat(*spins[piece * per_piece : (piece + 1) * per_piece])  # (3, nodes)
        rows = []
        for axis in range(3):
            form = n.find(f"spin.{piece}.{axis}")
            rows.append(ca.SX(1, per_piece) if form is None else stacked[axis, :] @ form)
        momenta = ca.vertcat(*rows)
        found += [momenta[:, k] for k in range(per_piece)]
    return found


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
    index = next(k for k, each in enumerate(DISPLACEMENT_PRODUCTS) if each.one == each.other == name)
    found = eta.form(along.form(f"F.{index}", DISPLACEMENT_PRODUCTS[index], x.x))
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
    for each, value in zip(
        DISPLACEMENT_PRODUCTS, along.forms("F", DISPLACEMENT_PRODUCTS, here, amplitudes), strict=True
    ):
        if each.one != each.other:  # the others are the shortenings
            columns[0 if each.integrated == "once" else 1][each.axis] += value
    for each, value in zip(ROTATION_PRODUCTS, along.forms("Q", ROTATION_PRODUCTS, here, amplitudes), strict=True):
        columns[2][each.axis] += value
    found = followed(ca.vertcat(*columns), ca.vertcat(here, amplitudes), x.above(eta))
    return found.of(slice(0, 3)), found.of(slice(3, 6)), found.of(slice(6, 9))
