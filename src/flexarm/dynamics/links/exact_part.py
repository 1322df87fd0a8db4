"""Parts of sliding links that bend as far as they like (exact.py), in one plane."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import casadi as ca

from flexarm.beam.integrals import LinkIntegrals
from flexarm.beam.section_nodes import link_nodes
from flexarm.beam.sliding_integrals import SlidingIntegrals
from flexarm.dynamics.links.beam_parameters import add_mass
from flexarm.dynamics.links.section_frames import PlaneFrames, SectionNode, frames_of
from flexarm.dynamics.links.sliding_segments import MovingPart, PartKind, SlidingPart, add_strain_by_family, add_turning
from flexarm.dynamics.links.sliding_shapes import SlidingShapes
from flexarm.dynamics.parameters import SymbolsUnder
from flexarm.dynamics.spatial_algebra import Jet, followed

if TYPE_CHECKING:
    from flexarm.dynamics.parameters import Numbers


class ExactPart(PartKind):
    def add_numbers(self, numbers: Numbers, path: str, part: SlidingIntegrals) -> None:
        nodes, frames = link_nodes(part), _frames(part.columns)
        (piece,) = nodes.pieces
        add_mass(numbers, path, part)
        frames.add_numbers(numbers, f"{path}.nodes", part, nodes)
        mixed, flowing = nodes.convected_integrals()
        numbers.add(f"{path}.beta", "kg m", piece.beta)
        numbers.add(f"{path}.B", "kg m2", piece.B, symmetric=True)
        numbers.add(f"{path}.B_mixed", "kg m2", mixed)
        numbers.add(f"{path}.B_flowing", "kg m2", flowing, symmetric=True)
        add_turning(numbers, path, part)
        add_strain_by_family(numbers, path, part)

    def add_end(self, numbers: Numbers, path: str, part: LinkIntegrals) -> None:
        nodes = link_nodes(part)
        numbers.add(f"{path}.x", "m", part.length)
        numbers.add(f"{path}.weights", "m", nodes.weights(part.length))
        _frames(part.columns).add_place(numbers, path, part, nodes, part.length, anywhere=False)

    def add_rail(self, numbers: Numbers, path: str, part: LinkIntegrals) -> None:
        _frames(part.columns).add_rail(numbers, path, part, link_nodes(part), part.link.name)

    def kinetic(self, part: SlidingPart, omega: Any, v: Any) -> Any:
        """With the velocity v + scale sum L_h dt_h + rate sum C_h t_h of the material (nodes.py): its momentum is the
        rate of the first moment, whatever the nodes are."""
        n, scale, nodes = part.numbers, part.scale, _nodes(part)
        moved = scale * ca.horzcat(*(node.velocity(omega) for node in nodes))
        carried = part.rate * _directions(nodes)
        momentum = (moved + 2 * carried) @ n["beta"]
        energy = n["m"] / 2 * ca.dot(v, v) + ca.dot(v, momentum)
        for own, flow in zip(ca.vertsplit(moved), ca.vertsplit(carried), strict=True):
            energy += ca.dot(own, own @ n["B"]) / 2 + ca.dot(own, flow @ n["B_mixed"].T)
            energy += ca.dot(flow, flow @ n["B_flowing"]) / 2
        return scale * energy + part.kinetic_of_sections(omega)

    def first(self, part: SlidingPart) -> Any:
        return part.scale**2 * (_directions(_nodes(part)) @ part.numbers["beta"])

    def end(self, part: MovingPart, there: SymbolsUnder) -> tuple[Jet, Jet]:
        frames, eta, scale = _frames(part.shapes.columns), ca.SX.sym("eta", part.shapes.count), ca.SX.sym("scale")
        place = scale * (_directions(_nodes_at(part, eta, scale)) @ there["weights"])
        angle = _lean(frames, scale) * (there["angle"] @ eta)
        return _followed(frames, place, angle, ca.vertcat(eta, scale), part.eta.above(part.scale))

    def sliding(self, part: MovingPart, rail: SymbolsUnder, X: Jet) -> tuple[Jet, Jet]:
        frames, eta, scale = _frames(part.shapes.columns), ca.SX.sym("eta", part.shapes.count), ca.SX.sym("scale")
        along, here = SlidingShapes(part.shapes, rail), ca.SX.sym("X")
        (weights,) = along.values("weights", here, 1)
        place = scale * (_directions(_nodes_at(part, eta, scale)) @ weights.T)
        angle = _lean(frames, scale) * frames.sliding_angle(along, here, eta)
        return _followed(frames, place, angle, ca.vertcat(eta, scale, here), part.eta.above(part.scale).above(X))


def _followed(frames: PlaneFrames, place: Any, angle: Any, symbols: Any, given: Jet) -> tuple[Jet, Jet]:
    """Place and angles of a section with their rates."""
    angles = ca.SX(3, 1)
    angles[frames.row] = angle
    both = followed(ca.vertcat(place, angles), symbols, given)
    return both.of(slice(0, 3)), both.of(slice(3, 6))


def _frames(columns: dict[str, slice]) -> PlaneFrames:
    frames = frames_of(columns)
    assert isinstance(frames, PlaneFrames)  # links are refused otherwise
    return frames


def _lean(frames: PlaneFrames, scale: Any) -> Any:
    """Slopes go with 1/scale, twist does not change."""
    return 1 if frames.row == 0 else 1 / scale


def _nodes(part: SlidingPart) -> list[SectionNode]:
    """The sections at the nodes, which stay at their share of the length; slopes and strains go with 1/scale."""
    n, frames, scale = part.numbers.under("nodes"), _frames(part.shapes.columns), part.scale
    grown = (part.deta - part.zeta) / scale  # the rate of eta / scale
    angles = Jet.slow(
        _lean(frames, scale) * (n["angle"] @ part.eta), n["angle"] @ (part.deta if frames.row == 0 else grown)
    )
    stretches = [Jet.constant(1.0)] * angles.x.shape[0]
    if "stretch" in n:
        strain = Jet.slow(n["stretch"] @ part.eta / scale, n["stretch"] @ grown)
        stretches = [Jet.slow(1 + strain.x[k], strain.dx[k]) for k in range(angles.x.shape[0])]
    return frames.turned_nodes(angles, stretches)


def _nodes_at(part: SlidingPart | MovingPart, eta: Any, scale: Any) -> list[SectionNode]:
    """The same at rest."""
    still = ca.SX.zeros(eta.shape)
    return _nodes(SlidingPart(part.shapes, part.length, scale, ca.SX(0), eta, still, False))


def _directions(nodes: list[SectionNode]) -> Any:
    return ca.horzcat(*(node.direction for node in nodes))
