"""Links that bend as far as they like: geometrically exact, with the elastic coordinates of all other links.

The shapes are the curvatures in the section's own axes, so strain energy and damping are forms of the constant K and
D at any deflection. The direction of the axis is followed at nodes (frames.py), the axis is their sum with constant
weights (beam/section_nodes.py), and the kinetic energy is a sum of squares.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from flexarm.beam.integrals import LinkIntegrals
from flexarm.beam.loaded_modes import Loads
from flexarm.beam.section_nodes import link_nodes
from flexarm.beam.sparsity import NODE_TOLERANCE, SparsityPatterns
from flexarm.dynamics.articulated import symmetric
from flexarm.dynamics.links.beam_parameters import add_mass, add_once, add_section_inertia, add_strain, beam_integrals
from flexarm.dynamics.links.model import LinkModel
from flexarm.dynamics.links.section_frames import Frames, SectionNode, frames_of
from flexarm.dynamics.links.sections import add_spin, spin_energy, spin_momenta
from flexarm.dynamics.parameters import Numbers, ParameterSymbols, SymbolsUnder
from flexarm.dynamics.spatial_algebra import Jet, Shift, Step
from flexarm.foundation.validation import Array
from flexarm.robot.joints import PrismaticContact

if TYPE_CHECKING:
    from flexarm.dynamics.bodies import Body, SymbolicBody
    from flexarm.robot import Link


class ExactLink(LinkModel):
    """Stiffening "exact"."""

    def takes(self, link: Link) -> bool:
        return link.stiffening == "exact"

    def integrals(self, link: Link, smooth: bool, loads: Loads) -> LinkIntegrals:
        return beam_integrals(link, smooth, loads)

    def size(self, link: Link) -> float:
        flexible = link.flexible
        assert flexible is not None
        counts = {name: flexible.basis.coordinates(name, count) for name, count in flexible.counts.items()}
        n, nodes = sum(counts.values()), 2 * max(counts.values()) + 1
        if flexible.meshed:
            return 120.0 * n + 35.0 * n**2
        each = 40.0 + 8.0 * n + 4.0 * nodes if flexible.in_one_plane else 250.0 + 30.0 * n + 6.0 * nodes
        return nodes * each + 10.0 * n**3  # the mass matrix, in which every shape meets every other at every node

    def add_numbers(self, numbers: Numbers, path: str, body: Body) -> None:
        add_once(numbers, path, body.integrals, (), lambda own: _add_beam(own, "", body.integrals))

    def add_place(self, numbers: Numbers, path: str, body: Body, x: float, anywhere: bool = False) -> None:
        beam = body.integrals
        add_once(numbers, path, beam, (x, anywhere), lambda own: _add_place(own, "", beam, x, anywhere))

    def add_rail(self, numbers: Numbers, path: str, body: Body, contact: PrismaticContact = "continuous") -> None:
        frames = frames_of(body.integrals.columns)
        frames.add_rail(numbers, path, body.integrals, link_nodes(body.integrals), body.link.name)

    def points(self, body: Body, own: Array, x: Array) -> Array:
        beam, eta = body.integrals, own[..., body.local.elastic]
        function, numbers = _directions(beam)
        flat = eta.reshape(-1, beam.count)
        values = np.array(function(flat.T, numbers)).reshape(3, -1, len(flat), order="F")  # (axes, nodes, states)
        found = np.einsum("pg,igb->bpi", _weights(beam, tuple(x.tolist())), values)
        return np.asarray(found.reshape(*eta.shape[:-1], len(x), 3))

    def turns_between_nodes(self, body: Body, own: Array) -> Array:
        turned = np.einsum("gin,...n->...gi", _steps_between_nodes(body.integrals), own[..., body.local.elastic])
        return np.asarray(np.linalg.norm(turned, axis=-1).max(axis=-1))

    # --- expressions ---

    def _nodes(self, body: SymbolicBody, own: Jet) -> list[SectionNode]:
        return _frames(body).nodes(body.numbers.under("nodes"), own.of(body.local.elastic))

    def kinetic(self, body: SymbolicBody, omega: Any, v: Any, x: Any, dx: Any) -> Any:
        nodes = self._nodes(body, Jet.slow(x, dx))
        rates = [node.velocity(omega) for node in nodes]
        energy, start = ca.SX(0), v
        for piece, own in _pieces(body, rates):
            energy += piece["m"] / 2 * ca.dot(start, start) + ca.dot(start, own @ piece["beta"])
            energy += sum(_square(piece["B"], row) for row in ca.vertsplit(own)) / 2
            start = start + own @ piece["weights"]
        if "section_inertia" in body.numbers:
            return energy + ca.dot(omega, body.numbers["section_inertia"] * omega) / 2
        return energy + spin_energy(body.numbers, [node.spin(omega) for node in nodes])

    def forces(self, body: SymbolicBody, omega: Any, domega: Any, a: Any, own: Jet, v: Any) -> tuple[Any, Any]:
        """From the accelerations of the directions: forces on them, and one sweep back to the coordinates."""
        nodes = self._nodes(body, own)
        accelerations = [node.acceleration(omega, domega) for node in nodes]
        pieces = _pieces(body, accelerations)
        starts, pulls, start = [], [], a
        for piece, rates in pieces:
            starts.append(start)
            pulls.append(piece["m"] * start + rates @ piece["beta"])
            start = start + rates @ piece["weights"]
        on_directions: list[Any] = []
        outboard = ca.SX.zeros(3)
        for (piece, rates), start, pull in reversed([*zip(pieces, starts, pulls, strict=True)]):
            on_nodes = rates @ piece["B"] + start @ piece["beta"].T + outboard @ piece["weights"].T
            on_directions = ca.horzsplit(on_nodes) + on_directions
            outboard = outboard + pull
        moved, pushed = [node.velocity(omega) for node in nodes], on_directions
        couple = ca.SX.zeros(3)
        if "section_inertia" in body.numbers:
            inertia = body.numbers["section_inertia"]
            couple = inertia * domega + ca.cross(omega, inertia * omega)
        else:
            spins = [node.spin(omega) for node in nodes]
            momenta = spin_momenta(body.numbers, spins)
            growing = spin_momenta(body.numbers, [node.spin_rate(omega, domega) for node in nodes])
            moved += spins
            pushed = pushed + [
                rate + ca.cross(spin, momentum) for rate, spin, momentum in zip(growing, spins, momenta, strict=True)
            ]
        found = ca.jtimes(ca.vertcat(*moved), ca.vertcat(omega, own.dx), ca.vertcat(*pushed), True)
        return ca.vertcat(found[:3] + couple, outboard), found[3:]

    def inertia(self, body: SymbolicBody, x: Any) -> Any:
        """From what each rate contributes to the velocities at the nodes."""
        numbers, frames = body.numbers.under("nodes"), _frames(body)
        nodes = self._nodes(body, Jet.slow(x))
        form = self._inertia(body, nodes, frames.turning_by_rates(numbers, body.elastic(x), nodes))
        if (rates := frames.rates_of_nodes(numbers)) is not None:
            coupling = form[:6, 6:] @ rates
            inner = symmetric(rates.T @ (form[6:, 6:] @ rates))
            form = ca.vertcat(ca.horzcat(form[:6, :6], coupling), ca.horzcat(coupling.T, inner))
        places = [*range(6), *(6 + k for k in range(body.local.elastic.start, body.local.elastic.stop))]
        total = ca.SX(6 + body.local.count, 6 + body.local.count)
        total[places, places] = form
        return total

    def _inertia(self, body: SymbolicBody, nodes: list[SectionNode], turning: list[Any]) -> Any:
        """Over (omega, v) and the rates by which `turning` is given."""
        count, rows = turning[0].shape[1], body.numbers.find("nodes.stretch")

        def with_v(part: Any) -> Any:
            return ca.horzcat(part[:, :3], ca.SX(3, 3), part[:, 3:])

        both = [*enumerate(zip(nodes, turning, strict=True))]
        moved = [with_v(node.velocity_by_rates(each, None if rows is None else rows[k, :])) for k, (node, each) in both]
        start = ca.horzcat(ca.SX(3, 3), ca.SX.eye(3), ca.SX(3, count))
        total = ca.SX(6 + count, 6 + count)
        for piece, parts in _pieces(body, moved, list):
            first = sum(part * piece["beta"][k] for k, part in enumerate(parts))
            mixed = start.T @ first
            total += symmetric(piece["m"] * (start.T @ start) + mixed + mixed.T)
            total += sum(_weighed(piece["B"], [part[axis, :] for part in parts]) for axis in range(3))
            start = start + sum(part * piece["weights"][k] for k, part in enumerate(parts))
        if "section_inertia" in body.numbers:
            total[:3, :3] += ca.diag(body.numbers["section_inertia"])
            return total
        spins = [with_v(node.spin_by_rates(each)) for _, (node, each) in both]
        for k, (_, parts) in enumerate(_pieces(body, spins, list)):
            for axis in range(3):
                if (form := body.numbers.find(f"spin.{k}.{axis}")) is not None:
                    total += _weighed(form, [part[axis, :] for part in parts])
        return total

    def first_moment(self, body: SymbolicBody, x: Any) -> tuple[Any, Any]:
        nodes = self._nodes(body, Jet.slow(x))
        moment, start = ca.SX.zeros(3), ca.SX.zeros(3)
        for piece, own in _pieces(body, [node.direction for node in nodes]):
            moment += piece["m"] * start + own @ piece["beta"]
            start = start + own @ piece["weights"]
        return body.numbers["m"], moment

    def stiffness(self, body: SymbolicBody) -> Any:
        return body.numbers["K"]

    def damping(self, body: SymbolicBody) -> Any:
        return body.numbers["D"]

    def place(self, body: SymbolicBody, there: SymbolsUnder, own: Jet) -> list[Step]:
        nodes, eta = self._nodes(body, own), own.of(body.local.elastic)
        weights = there["weights"]
        rows = (ca.horzcat(*(getattr(node.axis, part) for node in nodes)) @ weights for part in ("x", "dx", "ddx"))
        return [Shift(*rows), *_frames(body).turn(there, nodes, eta)]

    def moving_place(
        self, body: SymbolicBody, rail: SymbolsUnder, x: Jet, own: Jet, contact: PrismaticContact = "continuous"
    ) -> list[Step]:
        return _frames(body).moving_steps(body.shapes, body.numbers.under("nodes"), rail, x, own.of(body.local.elastic))

    def deflection(self, body: SymbolicBody, x: Any) -> Any:
        # Differences at the nodes: an undeformed link has exactly none, whatever the rounding of the weights.
        straight = ca.vertcat(1, 0, 0)
        shifts = [node.direction - straight for node in self._nodes(body, Jet.slow(x))]
        return ca.horzcat(*shifts) @ body.numbers["tip.weights"]


def _add_beam(numbers: Numbers, path: str, beam: LinkIntegrals) -> None:
    nodes, patterns = link_nodes(beam), SparsityPatterns(beam)
    add_mass(numbers, path, beam)
    add_strain(numbers, path, beam)
    frames_of(beam.columns).add_numbers(numbers, f"{path}.nodes", beam, nodes)
    for k, piece in enumerate(nodes.pieces):
        stem = f"{path}.pieces.{k}"
        numbers.add(f"{stem}.m", "kg", piece.mass)
        numbers.add(f"{stem}.beta", "kg m", piece.beta)
        numbers.add(f"{stem}.B", "kg m2", piece.B, symmetric=True)
        numbers.add(f"{stem}.weights", "m", piece.weights)
    if spinning(beam):
        add_spin(numbers, path, nodes, patterns)
    else:
        add_section_inertia(numbers, path, beam)


def _add_place(numbers: Numbers, path: str, beam: LinkIntegrals, x: float, anywhere: bool) -> None:
    patterns = SparsityPatterns(beam)
    x, nodes = x if anywhere else patterns.snap(x), link_nodes(beam)
    inside = x > NODE_TOLERANCE * beam.length
    reached = np.repeat(nodes.breaks[:-1] < x, nodes.per_piece) & inside
    numbers.add(f"{path}.x", "m", x, np.array(anywhere or inside))
    numbers.add(f"{path}.weights", "m", nodes.weights(x), np.ones_like(reached) if anywhere else reached)
    frames_of(beam.columns).add_place(numbers, path, beam, nodes, x, anywhere)


@lru_cache(maxsize=16)
def _directions(beam: LinkIntegrals) -> tuple[ca.Function, Array]:
    """(eta, numbers) -> directions of the axis at all nodes, one after the other; and the numbers."""
    numbers, frames, eta = Numbers(), frames_of(beam.columns), ca.SX.sym("eta", beam.count)
    frames.add_numbers(numbers, "nodes", beam, link_nodes(beam))
    symbols = ParameterSymbols(numbers)
    nodes = frames.nodes(symbols.under("nodes"), Jet.slow(eta))
    found = ca.Function(
        "directions", [eta, symbols.column], [ca.densify(ca.vertcat(*(node.direction for node in nodes)))]
    )
    return found, numbers.vector


@lru_cache(maxsize=16)
def _steps_between_nodes(beam: LinkIntegrals) -> Array:
    """(nodes + 1, 3, n): from the root to the first node, from one to the next, and to the tip."""
    return np.diff(beam.rotation(np.array([0.0, *link_nodes(beam).places, beam.length])), axis=0)


@lru_cache(maxsize=16)  # a film asks for the same places at every frame
def _weights(beam: LinkIntegrals, x: tuple[float, ...]) -> Array:
    nodes = link_nodes(beam)
    return np.array([nodes.weights(each) for each in x])


def spinning(beam: LinkIntegrals) -> bool:
    """Whether the rotation of the sections carries inertia: their twist, or any where it counts."""
    return beam.link.section is not None and ("twist" in beam.columns or beam.link.rotary_inertia)


def _frames(body: SymbolicBody) -> Frames:
    return frames_of(body.shapes.columns)


def _weighed(form: Any, rows: list[Any]) -> Any:
    """sum form_hk row_h^T row_k."""
    J = ca.sparsify(ca.vertcat(*rows))
    return symmetric(J.T @ (form @ J))


def _square(B: Any, row: Any) -> Any:
    """row B row^T of a symmetric matrix, from its lower half."""
    inner = row @ ca.tril(B, False)
    return ca.dot(row, 2 * inner + row * ca.diag(B).T)


def _pieces(
    body: SymbolicBody, values: list[Any], joined: Callable[[list[Any]], Any] = lambda each: ca.horzcat(*each)
) -> list[tuple[SymbolsUnder, Any]]:
    """The pieces of a link, each with the values (3, nodes) at its own nodes."""
    found: list[tuple[SymbolsUnder, Any]] = []
    count = 0
    while f"pieces.{count}.m" in body.numbers:
        count += 1
    per_piece = len(values) // count
    for k in range(count):
        own = joined(values[k * per_piece : (k + 1) * per_piece])
        found.append((body.numbers.under(f"pieces.{k}"), own))
    return found
