"""The sections' own inertia: about the link's axis always, since it carries twist; about y and z when it counts.

Where it counts about all axes, sections turn with the link's deformation, tilt and twist (propeller moment and
gyroscopic terms included): their rotation is followed at nodes (beam/nodes.py). Else they spin about the axis of the
straight link.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from flexarm.beam.integrals import LinkIntegrals
from flexarm.beam.nodes import LinkNodes, nodes_of
from flexarm.beam.patterns import Patterns
from flexarm.mechanics.jets import Jet
from flexarm.mechanics.link_models.beams import add_section_inertia
from flexarm.mechanics.link_models.stations import Forms, add_turn, section_steps
from flexarm.mechanics.rotations import twist_along

if TYPE_CHECKING:
    from flexarm.mechanics.bodies import SymbolicBody
    from flexarm.mechanics.numbers import Numbers
    from flexarm.mechanics.symbols import SymbolsUnder


def add_sections(numbers: Numbers, path: str, beam: LinkIntegrals) -> None:
    patterns = Patterns(beam)
    if turning_sections(beam):
        nodes = nodes_of(beam)
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


def add_spin(numbers: Numbers, path: str, nodes: LinkNodes, patterns: Patterns) -> None:
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
