"""Parts of sliding links in the geometrically exact model (exact.py), in one plane."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import casadi as ca

from flexarm.beam.integrals import LinkIntegrals
from flexarm.beam.section_nodes import link_nodes
from flexarm.beam.sliding_integrals import SlidingIntegrals
from flexarm.dynamics.links.beam_parameters import add_mass
from flexarm.dynamics.links.section_frames import PlaneFrames, SectionNode, frames_of
from flexarm.dynamics.links.sliding_segments import (
    MovingPart,
    PartKind,
    SlidingPart,
    add_section_rotation,
    add_strain_by_family,
)
from flexarm.dynamics.links.sliding_shapes import SlidingShapes
from flexarm.dynamics.parameters import SymbolsUnder
from flexarm.dynamics.spatial_algebra import Jet, jet_along

if TYPE_CHECKING:
    from flexarm.dynamics.parameters import Parameters


class ExactPart(PartKind):
    """Geometrically exact part of a sliding link."""

    def add_parameters(self, parameters: Parameters, path: str, part: SlidingIntegrals) -> None:
        nodes, frames = link_nodes(part), _frames(part.columns)
        (piece,) = nodes.pieces
        add_mass(parameters, path, part)
        frames.add_parameters(parameters, f"{path}.nodes", part, nodes)
        mixed, flowing = nodes.convected_integrals()
        parameters.add(f"{path}.beta", "kg m", piece.beta)
        parameters.add(f"{path}.B", "kg m2", piece.B, symmetric=True)
        parameters.add(f"{path}.B_mixed", "kg m2", mixed)
        parameters.add(f"{path}.B_flowing", "kg m2", flowing, symmetric=True)
        add_section_rotation(parameters, path, part)
        add_strain_by_family(parameters, path, part)

    def add_end(self, parameters: Parameters, path: str, part: LinkIntegrals) -> None:
        nodes = link_nodes(part)
        parameters.add(f"{path}.x", "m", part.length)
        parameters.add(f"{path}.weights", "m", nodes.weights(part.length))
        _frames(part.columns).add_place(parameters, path, part, nodes, part.length, anywhere=False)

    def add_rail(self, parameters: Parameters, path: str, part: LinkIntegrals) -> None:
        _frames(part.columns).add_rail(parameters, path, part, link_nodes(part), part.link.name)

    def kinetic(self, part: SlidingPart, omega: Any, v: Any) -> Any:
        """Return the kinetic energy for the velocity v + scale sum L_h dt_h + rate sum C_h t_h of the material.

        Its momentum is the rate of the first moment, whatever the nodes are (beam/section_nodes.py).
        """
        n, scale, nodes = part.parameters, part.scale, _nodes(part)
        moved = scale * ca.horzcat(*(node.velocity(omega) for node in nodes))
        carried = part.rate * _directions(nodes)
        momentum = (moved + 2 * carried) @ n["beta"]
        energy = n["m"] / 2 * ca.dot(v, v) + ca.dot(v, momentum)
        for own, flow in zip(ca.vertsplit(moved), ca.vertsplit(carried), strict=True):
            energy += ca.dot(own, own @ n["B"]) / 2 + ca.dot(own, flow @ n["B_mixed"].T)
            energy += ca.dot(flow, flow @ n["B_flowing"]) / 2
        return scale * energy + part.kinetic_of_sections(omega)

    def first(self, part: SlidingPart) -> Any:
        return part.scale**2 * (_directions(_nodes(part)) @ part.parameters["beta"])

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
    """Return position and angles of a section with their rates."""
    angles = ca.SX(3, 1)
    angles[frames.row] = angle
    both = jet_along(ca.vertcat(place, angles), symbols, given)
    return both.of(slice(0, 3)), both.of(slice(3, 6))


def _frames(columns: dict[str, slice]) -> PlaneFrames:
    frames = frames_of(columns)
    assert isinstance(frames, PlaneFrames)  # other links are rejected by validation
    return frames


def _lean(frames: PlaneFrames, scale: Any) -> Any:
    """Return the factor of angles: slopes scale with 1/scale, twist does not change."""
    return 1 if frames.row == 0 else 1 / scale


def _nodes(part: SlidingPart) -> list[SectionNode]:
    """Return the sections at the nodes, which stay at their share of the length; slopes go with 1/scale."""
    n, frames, scale = part.parameters.under("nodes"), _frames(part.shapes.columns), part.scale
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
    """Return the sections at the nodes at rest."""
    still = ca.SX.zeros(eta.shape)
    return _nodes(SlidingPart(part.shapes, part.length, scale, ca.SX(0), eta, still, False))


def _directions(nodes: list[SectionNode]) -> Any:
    return ca.horzcat(*(node.direction for node in nodes))
