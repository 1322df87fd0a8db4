"""Parts of sliding links that are complete to second order (second_order.py), or linear with stiffening "none"."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import casadi as ca

from flexarm.beam.foreshortening import DISPLACEMENT_PRODUCTS, ROTATION_PRODUCTS
from flexarm.beam.integrals import LinkIntegrals
from flexarm.beam.sliding_integrals import SlidingIntegrals
from flexarm.beam.sparsity import SparsityPatterns
from flexarm.dynamics.links.beam_parameters import PAIRS, add_shape_integrals, add_shapes
from flexarm.dynamics.links.second_order import ACROSS, LEVER, SWING, rolled, swept
from flexarm.dynamics.links.sections import MovingSection, add_station, moving_section, summed
from flexarm.dynamics.links.sliding_segments import (
    MovingPart,
    PartKind,
    SlidingPart,
    add_strain_by_family,
    add_turning,
    form,
)
from flexarm.dynamics.links.sliding_shapes import SlidingShapes
from flexarm.dynamics.parameters import SymbolsUnder
from flexarm.dynamics.spatial_algebra import Jet

if TYPE_CHECKING:
    from flexarm.dynamics.parameters import Numbers

SCALED = {"once": -1, "twice": 0}
"""With which power of the scale displacements of second order go: slopes with its inverse, lengths with itself."""


class SecondOrderPart(PartKind):
    def add_numbers(self, numbers: Numbers, path: str, part: SlidingIntegrals) -> None:
        patterns = SparsityPatterns(part)
        add_shape_integrals(numbers, path, part, needs_all=True)
        numbers.add(f"{path}.g0_inverse", "1/(kg m2)", 1 / (part.g0 or 1.0))
        numbers.add(f"{path}.a_c", "kg m", part.a_c, patterns.a)
        numbers.add(f"{path}.b_c", "kg m2", part.b_c, patterns.a)
        for one in "uvw":
            for other in "uvw":
                pattern = patterns.M(one + other, convected=True)
                numbers.add(f"{path}.M_c.{one}{other}", "kg m2", part.M_c[one + other], pattern)
        numbers.add(f"{path}.M_cc", "kg m2", part.M_cc, patterns.M_cc, symmetric=True)
        add_turning(numbers, path, part)
        add_strain_by_family(numbers, path, part)

    def add_end(self, numbers: Numbers, path: str, part: LinkIntegrals) -> None:
        add_station(numbers, path, part, part.length)

    def add_rail(self, numbers: Numbers, path: str, part: LinkIntegrals) -> None:
        add_shapes(numbers, path, part)

    def kinetic(self, part: SlidingPart, omega: Any, v: Any) -> Any:
        """All terms up to second order in eta, as for an ordinary link; v becomes that of the material in the joint."""
        n, scale, eta, deta, zeta = part.numbers, part.scale, part.eta, part.deta, part.zeta
        v = v + ca.vertcat(part.length * part.rate, 0, 0)
        M = {pair: n[f"M.{pair}"] for pair in PAIRS}
        M_c = {one + other: n[f"M_c.{one}{other}"] for one in "uvw" for other in "uvw"}
        along, flowing = n["b"] @ eta, n["b"] @ deta + n["b_c"] @ zeta
        moved, across = _bent(part, 0), _bent(part, 1)
        squeeze, dsqueeze = (-each[0] * n["g0_inverse"] / scale for each in (across.x, across.dx))  # of each length
        left = 1 - LEVER * squeeze
        dalong = left * flowing + SWING * dsqueeze * along
        G = {pair: ca.dot(eta, M[pair] @ eta) for pair in PAIRS}
        G["uu"] += scale**2 * n["g0"] + 2 * scale * (left * along[0] + across.x[0])
        G["uv"] += scale * (left * along[1] + across.x[1])
        G["uw"] += scale * (left * along[2] + across.x[2])
        inertia = ca.vertcat(
            ca.horzcat(G["vv"] + G["ww"], -G["uv"], -G["uw"]),
            ca.horzcat(-G["uv"], G["uu"] + G["ww"], -G["vw"]),
            ca.horzcat(-G["uw"], -G["vw"], G["uu"] + G["vv"]),
        )

        def spin(one: str, other: str) -> Any:
            plain = ca.dot(eta, M[one + other] @ deta) - ca.dot(deta, M[one + other] @ eta)
            return plain + ca.dot(eta, M_c[one + other] @ zeta) - ca.dot(eta, M_c[other + one] @ zeta)

        turned = ca.vertcat(
            spin("v", "w"),
            -spin("u", "w") - scale * (dalong[2] + across.dx[2]),
            spin("u", "v") + scale * (dalong[1] + across.dx[1]),
        )
        mixed = sum((M_c[name + name] for name in "uvw"), ca.SX(*M["uu"].shape))
        plain = sum((M[name + name] for name in "uvw"), ca.SX(*M["uu"].shape))
        c = ca.vertcat(scale * n["c0"], 0, 0) + n["a"] @ eta + moved.x
        dc = n["a"] @ deta + n["a_c"] @ zeta + moved.dx
        energy = (
            form(deta, zeta, plain, mixed, n["M_cc"])
            - scale * dsqueeze * flowing[0]
            + ca.dot(v, dc)
            + ca.dot(omega, turned)
            + n["m"] / 2 * ca.dot(v, v)
            + ca.dot(v, ca.cross(omega, c))
            + ca.dot(omega, inertia @ omega) / 2
        )
        first = [n["a"] @ deta + n["a_c"] @ zeta, flowing]
        second = [ACROSS @ each.dx for each in (moved, across)]
        energy += swept(n, first, second) + rolled(n, omega, [n["a"] @ eta, along], second)
        return scale * energy + part.kinetic_of_sections(omega)

    def first(self, part: SlidingPart) -> Any:
        n, scale = part.numbers, part.scale
        return scale * (ca.vertcat(scale * n["c0"], 0, 0) + n["a"] @ part.eta + _bent(part, 0).x)

    def end(self, part: MovingPart, there: SymbolsUnder) -> tuple[Jet, Jet]:
        eta, shapes = part.eta, part.shapes
        once, twice = (summed(DISPLACEMENT_PRODUCTS, shapes, there.under("F"), eta, each) for each in SCALED)
        turned = summed(ROTATION_PRODUCTS, shapes, there.under("Q"), eta)
        linear = eta.through(there["U"]), eta.through(there["W"])
        section = MovingSection(*linear, Jet.constant(0.0), once, twice, turned)
        return _scaled(part, Jet.constant(part.length), section)

    def sliding(self, part: MovingPart, rail: SymbolsUnder, X: Jet) -> tuple[Jet, Jet]:
        if not part.shapes.count:
            return (X * part.scale).along_x, Jet.constant(ca.SX.zeros(3))
        return _scaled(part, X, moving_section(SlidingShapes(part.shapes, rail), X, part.eta))


def _scaled(part: MovingPart, X: Jet, section: MovingSection) -> tuple[Jet, Jet]:
    """Place and angles of a section of the scaled part, from those of the whole link at X."""
    lean = Jet.constant(1.0) / part.scale
    place = (X * part.scale).along_x + section.moved + section.twice
    place = place + (section.shortened * lean).along_x + section.once * lean
    slopes = (section.angles + section.turned) * lean
    twist = section.angles.of(0) + section.turned.of(0) * lean * lean
    return place, twist.above(slopes.of(1)).above(slopes.of(2))


def _bent(part: SlidingPart, power: int) -> Jet:
    """(3,): int mu X^power of the displacements of second order, with their rates."""
    return _bent_so(part, power, "once") + _bent_so(part, power, "twice")


def _bent_so(part: SlidingPart, power: int, often: str) -> Jet:
    """Of those that are integrated once or twice; rates are those of the material, which flows: what (L - X) F' adds,
    by parts."""
    eta, exponent = Jet.slow(part.eta, part.deta), SCALED[often]
    forms = [summed(DISPLACEMENT_PRODUCTS, part.shapes, part.numbers.under(f"bent.{k}"), eta, often) for k in (0, 1)]
    flowing = (1 + power + exponent) * forms[power].x - (part.length * forms[0].x if power else 0)
    scaled = part.scale**exponent
    return Jet.slow(scaled * forms[power].x, scaled * (forms[power].dx + part.flow * flowing))
