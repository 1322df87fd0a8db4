"""Positions, rotations and inertia of sections of second-order links (docs/theory.md, "Second order").

Displacements and angles are quadratic forms of the elastic coordinates,

    displacement = U eta + 1/2 eta^T F eta,   angles = W eta + 1/2 eta^T Q eta   (3,),

made of products of two families of shapes. The axes of a section are rotated by its angles about z, then y, then x.

Sections have inertia about the axis of the link, and about y and z with `rotary_inertia`. In the latter case they
rotate with twist and tilt of the link (propeller moment and gyroscopic terms included), evaluated at nodes
(beam/section_nodes.py); else about the axis of the straight link.
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
from flexarm.dynamics.spatial_algebra import Jet, Shift, Step, Turn, X, Y, Z, jet_along, twist_along
from flexarm.foundation.dataclass import dataclass

if TYPE_CHECKING:
    from flexarm.dynamics.bodies import ShapeSymbols, SymbolicBody
    from flexarm.dynamics.parameters import Parameters, SymbolsUnder


def sum_products(
    products: Sequence[Product], shapes: ShapeSymbols, parameters: SymbolsUnder, eta: Jet, integrated: str | None = None
) -> Jet:
    """Return the sum (3,) of products of shapes by axis: all of them, or those integrated "once" or "twice"."""
    zero = ca.SX(1, 1)
    parts = {axis: Jet(zero, zero, zero) for axis in range(3)}
    for k, each in enumerate(products):
        if str(k) not in parameters or integrated not in (None, each.integrated):
            continue
        one, block = eta.of(shapes.columns[each.one]), parameters[str(k)]
        same = each.one == each.other
        value = one.form(block) if same else one.form_with(block, eta.of(shapes.columns[each.other]))
        parts[each.axis] = parts[each.axis] + value
    return parts[0].above(parts[1]).above(parts[2])


def pull_back_products(
    products: Sequence[Product], shapes: ShapeSymbols, parameters: SymbolsUnder, eta: Any, push: Any
) -> Any:
    """Return the force (n,) on eta of a force (3,) on the sum of products; explicit, so that terms are shared."""
    found = ca.SX.zeros(eta.shape)
    for k, each in enumerate(products):
        if str(k) not in parameters:
            continue
        block, along = parameters[str(k)], push[each.axis]
        one, other = shapes.columns[each.one], shapes.columns[each.other]
        found[one] += along * (block @ eta[other])
        if each.one != each.other:
            found[other] += along * (block.T @ eta[one])
    return found


def add_station(parameters: Parameters, path: str, integrals: LinkIntegrals, x: float, anywhere: bool = False) -> None:
    """Add the shapes at x; `anywhere`: include parameters that are not zero at some other x."""
    patterns = SparsityPatterns(integrals)
    x = x if anywhere else patterns.snap(x)
    station = integrals.station(x)
    U, ones = (patterns.a, np.zeros_like(patterns.a)) if anywhere else patterns.U(x)
    inside = np.array(anywhere or x > NODE_TOLERANCE * integrals.length)
    parameters.add(f"{path}.x", "m", station.x, inside)
    parameters.add(f"{path}.U", "m", station.U, U, ones=ones)
    add_turn(parameters, path, integrals, x, anywhere)
    add_products(parameters, f"{path}.F", "m", integrals, DISPLACEMENT_PRODUCTS, x, anywhere)


def add_turn(parameters: Parameters, path: str, integrals: LinkIntegrals, x: float, anywhere: bool = False) -> None:
    """Add the rotation of the section at x only."""
    patterns = SparsityPatterns(integrals)
    W, ones = (patterns.turned, np.zeros_like(patterns.turned)) if anywhere else patterns.W(x)
    parameters.add(f"{path}.W", "rad", integrals.station(x).W, W, ones=ones)
    add_products(parameters, f"{path}.Q", "rad", integrals, ROTATION_PRODUCTS, x, anywhere)


def add_products(
    parameters: Parameters,
    path: str,
    unit: str,
    integrals: LinkIntegrals,
    products: Sequence[Product],
    x: float,
    anywhere: bool = False,
) -> None:
    """Add the blocks of products at x."""
    forms, patterns, end = SecondOrderBlocks(integrals), SparsityPatterns(integrals), np.inf if anywhere else x
    for k, each in forms.present(products):
        same = each.one == each.other
        parameters.add(f"{path}.{k}", unit, forms.at(each, x), patterns.product(each, end), symmetric=same)


@dataclass(frozen=True)
class SectionForms:
    """Displacement and angles at a position on a link, or on a part of it."""

    shapes: ShapeSymbols
    there: SymbolsUnder

    def displacement(self, eta: Jet) -> Jet:
        """Return the displacement (3,) of the axis from the straight link."""
        return eta.through(self.there["U"]) + sum_products(
            DISPLACEMENT_PRODUCTS, self.shapes, self.there.under("F"), eta
        )

    def angles(self, eta: Jet) -> Jet:
        """Return the angles (3,) about x, y, z."""
        return eta.through(self.there["W"]) + sum_products(ROTATION_PRODUCTS, self.shapes, self.there.under("Q"), eta)


def station_steps(shapes: ShapeSymbols, there: SymbolsUnder, eta: Jet) -> list[Step]:
    """Return the steps from a link's root frame into the axes of a section at a fixed position."""
    forms = SectionForms(shapes, there)
    return section_steps(Jet.constant(there["x"]).along_x + forms.displacement(eta), forms.angles(eta))


def section_steps(place: Jet, angles: Jet) -> list[Step]:
    """Return the steps to a position, then into axes rotated by angles about z, y and x, in this order."""
    steps: list[Step] = [Shift(place.x, place.dx, place.ddx)]
    for row in (2, 1, 0):
        angle = angles.of(row)
        if not angle.vanishes:
            steps.append(Turn((X, Y, Z)[row], angle.x, angle.dx, angle.ddx))
    return steps


def add_sections(parameters: Parameters, path: str, beam: LinkIntegrals) -> None:
    """Add the parameters of the sections' rotary inertia."""
    patterns = SparsityPatterns(beam)
    if sections_tilt(beam):
        nodes = link_nodes(beam)
        add_spin(parameters, path, nodes, patterns)
        for k, x in enumerate(nodes.places.tolist()):
            add_turn(parameters, f"{path}.nodes.{k}", beam, x)
        return
    add_section_inertia(parameters, path, beam)
    parameters.add(f"{path}.j", "kg m2", beam.j, patterns.j)
    if twist := beam.columns.get("twist"):
        mass, ones = beam.M_elastic[twist, twist], patterns.unit_of("twist")
        parameters.add(f"{path}.M_twist", "kg m2", mass, patterns.mass_of("twist"), symmetric=True, ones=ones)
    tilting = patterns.turning(1) | patterns.turning(2)
    if beam.link.rotary_inertia and beam.link.section is not None and tilting.any():
        value = np.where(tilting, beam.M_elastic - beam.M["uu"] - beam.M["vv"] - beam.M["ww"], 0.0)
        parameters.add(f"{path}.M_tilting", "kg m2", value, tilting, symmetric=True)


def sections_tilt(beam: LinkIntegrals) -> bool:
    """Return True if the rotary inertia of tilting sections is included."""
    counts = beam.link.rotary_inertia and beam.link.section is not None
    return counts and bool(beam.count) and beam.stiffening != "none"  # "none" has no second-order terms


def add_spin(parameters: Parameters, path: str, nodes: LinkNodes, patterns: SparsityPatterns) -> None:
    """Add the quadratic forms of angular velocities at the nodes, about each axis of the sections."""
    parameters.fact(path, "is followed at so many nodes:", len(nodes.places))
    parameters.fact(path, "has so many pieces:", len(nodes.pieces))
    for k, piece in enumerate(nodes.pieces):
        for axis in range(3):
            if patterns.section_inertia[axis]:
                parameters.add(f"{path}.spin.{k}.{axis}", "kg m2", piece.spin[axis], symmetric=True)


def kinetic_of_sections(body: SymbolicBody, omega: Any, v: Any, eta: Jet) -> Any:
    """Return the kinetic energy of the rotation of sections."""
    n = body.parameters
    if "section_inertia" not in n:
        spins: list[Any] = []
        while f"nodes.{len(spins)}.W" in n:
            forms = SectionForms(body.shapes, n.under(f"nodes.{len(spins)}"))
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
    """Return the kinetic energy of angular velocities of sections at all nodes, in their own axes."""
    return sum((ca.dot(spin, push) for spin, push in zip(spins, spin_momenta(n, spins), strict=True)), ca.SX(0)) / 2


def spin_momenta(n: SymbolsUnder, spins: list[Any]) -> list[Any]:
    """Return the angular momenta of sections for their angular velocities."""
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
    """Displacement and angles of a section, in parts that depend differently on a link's scale.

    moved, angles: (3,), first order. shortened: foreshortening along x due to bending. once, twice: (3,), displacements
    due to two families, integrated once or twice. turned: (3,), angles due to two families.
    """

    moved: Jet
    angles: Jet
    shortened: Jet
    once: Jet
    twice: Jet
    turned: Jet

    @property
    def displacement(self) -> Jet:
        """Displacement (3,) of the axis from the straight link."""
        return self.moved + self.shortened.along_x + self.once + self.twice

    @property
    def rotation(self) -> Jet:
        """Angles (3,) about x, y, z."""
        return self.angles + self.turned


def moving_section(along: RailShapes, x: Jet, eta: Jet) -> MovingSection:
    """Return the section at a moving position x."""
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
    """Return N(x) eta with its rates."""
    N, dN, ddN = orders
    slope = dN @ eta.x
    second = 2 * (dN @ eta.dx) * x.dx + (ddN @ eta.x) * x.dx**2 + slope * x.ddx
    return Jet(N @ eta.x, N @ eta.dx + slope * x.dx, N @ eta.ddx + second)


def _shortened(along: RailShapes, name: str, x: Jet, eta: Jet, slope: Jet, row: Any) -> Jet:
    """Return the foreshortening -1/2 int (v')^2 up to a moving position."""
    index = next(k for k, each in enumerate(DISPLACEMENT_PRODUCTS) if each.one == each.other == name)
    found = eta.form(along.form(f"F.{index}", DISPLACEMENT_PRODUCTS[index], x.x))
    if not along.moves:
        return found
    tilt, dtilt = slope.x**2 / 2, slope.x * (slope.dx + row @ eta.dx)
    return found - Jet(ca.SX(0), tilt * x.dx, dtilt * x.dx + tilt * x.ddx)


def _of_two_families(along: RailShapes, x: Jet, eta: Jet) -> tuple[Jet, Jet, Jet]:
    """Return displacements due to two families, integrated once and twice, and angles."""
    none = Jet.constant(ca.SX.zeros(3))
    if along.of.stiffening == "none" or len(along.of.columns) < 2:
        return none, none, none
    here, amplitudes = ca.SX.sym("x"), ca.SX.sym("eta", along.of.count)
    columns = [ca.SX.zeros(3) for _ in range(3)]
    for each, value in zip(
        DISPLACEMENT_PRODUCTS, along.forms("F", DISPLACEMENT_PRODUCTS, here, amplitudes), strict=True
    ):
        if each.one != each.other:  # the others are foreshortening
            columns[0 if each.integrated == "once" else 1][each.axis] += value
    for each, value in zip(ROTATION_PRODUCTS, along.forms("Q", ROTATION_PRODUCTS, here, amplitudes), strict=True):
        columns[2][each.axis] += value
    found = jet_along(ca.vertcat(*columns), ca.vertcat(here, amplitudes), x.above(eta))
    return found.of(slice(0, 3)), found.of(slice(3, 6)), found.of(slice(6, 9))
