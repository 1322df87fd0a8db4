"""Links whose places are complete to second order in their elastic coordinates, by constant integrals.

The shapes describe curvatures in the section's own axes (beam/foreshortening.py). The kinetic energy of the points is
kept to second order, and in the momentum to third (docs/theory.md): there the shortening is taken as a line `squeeze`
times x. With stiffening "none" all but what is linear is left out.
"""

from __future__ import annotations

from dataclasses import fields
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from flexarm.beam.foreshortening import DISPLACEMENT_PRODUCTS, SecondOrderBlocks
from flexarm.beam.integrals import LinkIntegrals
from flexarm.beam.loaded_modes import Loads
from flexarm.dynamics.links.beam_parameters import (
    add_nodes,
    add_once,
    add_shape_integrals,
    add_shapes,
    add_strain,
    beam_integrals,
)
from flexarm.dynamics.links.model import LinkModel, differentiated, straight_points
from flexarm.dynamics.links.sections import (
    Forms,
    add_sections,
    add_station,
    kinetic_of_sections,
    moving_section,
    pulled,
    section_steps,
    station_steps,
    summed,
)
from flexarm.dynamics.links.sliding_shapes import UNDER_A_SLIDE
from flexarm.dynamics.parameters import SymbolsUnder
from flexarm.dynamics.spatial_algebra import Jet, Step
from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.validation import Array
from flexarm.robot.joints import PrismaticContact

if TYPE_CHECKING:
    from flexarm.dynamics.bodies import Body, ShapeSymbols, SymbolicBody
    from flexarm.dynamics.parameters import Numbers
    from flexarm.robot import Link

# How the shortening enters the angular momentum of deformation, at third order. A turn of the whole link by an angle
# has (1 - squeeze) x along the axis and 1 - squeeze / 3 of the deflection across it, cosine and sine: 4/3 in their
# product. The first mode's own term is about -1/3, which leaves 1/2 for the rate of squeeze.
LEVER, SWING = 4 / 3, 1 / 2

ACROSS = ca.SX(ca.sparsify(ca.diag(ca.DM([0, 1, 1]))))


class SecondOrderLink(LinkModel):
    """Stiffening "shortening", or "none"."""

    def takes(self, link: Link) -> bool:
        return link.stiffening in ("none", "shortening")

    def integrals(self, link: Link, smooth: bool, loads: Loads) -> LinkIntegrals:
        return beam_integrals(link, smooth, loads)

    def size(self, link: Link) -> float:
        """Counted on single links; modes couple every shape with every other one, elements only neighbours."""
        flexible = link.flexible
        assert flexible is not None
        counts = [flexible.basis.coordinates(family, count) for family, count in flexible.counts.items()]
        if link.stiffening == "none":
            return 30.0 * sum(counts)
        if flexible.meshed:
            return 140.0 * sum(counts)
        return sum(50.0 * count + 10.5 * count**2 for count in counts) + (10.5 * sum(counts)) * (len(counts) > 1)

    def add_numbers(self, numbers: Numbers, path: str, body: Body) -> None:
        add_once(numbers, path, body.integrals, (), lambda own: _add_beam(own, "", body.integrals))

    def add_place(self, numbers: Numbers, path: str, body: Body, x: float, anywhere: bool = False) -> None:
        beam = body.integrals
        add_once(numbers, path, beam, (x, anywhere), lambda own: add_station(own, "", beam, x, anywhere))

    def add_rail(self, numbers: Numbers, path: str, body: Body, contact: PrismaticContact = "continuous") -> None:
        (add_shapes if contact == "continuous" else add_nodes)(numbers, path, body.integrals)

    def points(self, body: Body, own: Array, x: Array) -> Array:
        eta, of, places = own[..., body.local.elastic], body.integrals, tuple(x.tolist())
        out = straight_points(x, eta.shape[:-1]) + np.einsum("pin,...n->...pi", _displacement(of, places), eta)
        if of.stiffening == "none":
            return np.asarray(out)
        return np.asarray(out + np.einsum("...m,pimn,...n->...pi", eta, _moved(of, places), eta) / 2)

    def kinetic(self, body: SymbolicBody, omega: Any, v: Any, x: Any, dx: Any) -> Any:
        eta, n = Jet.slow(body.elastic(x), body.elastic(dx)), body.numbers
        points = Points(body.shapes, eta)
        beyond = third_order(omega, points.squeeze, points.along)
        beyond += swept(n, *points.lines("dx"))
        beyond += rolled(n, omega, [points.deflected.x, points.along.x], [points.swept.dx, points.swept_x.dx])
        return kinetic_of_points(points, n, omega, v) + beyond + kinetic_of_sections(body, omega, v, eta)

    def forces(self, body: SymbolicBody, omega: Any, domega: Any, a: Any, own: Jet, v: Any) -> tuple[Any, Any]:
        eta, n = own.of(body.local.elastic), body.numbers
        points = Points(body.shapes, eta)
        force, inner = differentiated(kinetic_of_sections(body, omega, v, eta), omega, domega, a, own, v)
        pushed, direct, pushes = forces_on_points(points, n, omega, domega, a)
        turned, more = forces_of_third_order(points, n, omega, domega, a, v)
        inner[body.local.elastic] += direct + points.pulled(pushes + more)
        return force + pushed + turned, inner

    def first_moment(self, body: SymbolicBody, x: Any) -> tuple[Any, Any]:
        return body.numbers["m"], Points(body.shapes, Jet.slow(body.elastic(x))).c.x

    def stiffness(self, body: SymbolicBody) -> Any:
        return body.numbers["K"]

    def damping(self, body: SymbolicBody) -> Any:
        return body.numbers["D"]

    def place(self, body: SymbolicBody, there: SymbolsUnder, own: Jet) -> list[Step]:
        return station_steps(body.shapes, there, own.of(body.local.elastic))

    def moving_place(
        self, body: SymbolicBody, rail: SymbolsUnder, x: Jet, own: Jet, contact: PrismaticContact = "continuous"
    ) -> list[Step]:
        along = UNDER_A_SLIDE[contact](body.shapes, rail)
        section = moving_section(along, x, own.of(body.local.elastic))
        return section_steps(x.along_x + section.displacement, section.rotation)

    def deflection(self, body: SymbolicBody, x: Any) -> Any:
        eta, tip = body.elastic(x), body.numbers.under("tip")
        return Forms(body.shapes, tip).displacement(Jet.slow(eta)).x


def _add_beam(numbers: Numbers, path: str, beam: LinkIntegrals) -> None:
    add_shape_integrals(numbers, path, beam)
    add_strain(numbers, path, beam)
    add_sections(numbers, path, beam)


@lru_cache(maxsize=16)  # a film needs the same places in every frame
def _displacement(of: LinkIntegrals, x: tuple[float, ...]) -> Array:
    """Return (points, 3, n): displacements of first order."""
    return of.displacement(np.array(x))


@lru_cache(maxsize=16)
def _moved(of: LinkIntegrals, x: tuple[float, ...]) -> Array:
    """(points, 3, n, n): displacements of second order."""
    forms = SecondOrderBlocks(of)
    return np.stack([forms.displacement_forms(each) for each in x])


@dataclass(frozen=True)
class Pushes:
    """Forces on integrals over a link's points: on those of first order, on the squeeze, and on products."""

    deflected: Any
    along: Any
    squeeze: Any
    bent: Any
    bent_x: Any

    def __add__(self, other: Pushes) -> Pushes:
        return Pushes(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(self)))


class Points:
    """The points of a link's axis, with their rates: integrals over them, to second order.

    c = int mu rho, f = int mu x rho, and int mu rho_i rho_j of any two of rho, its rate and its second rate.
    """

    def __init__(self, shapes: ShapeSymbols, eta: Jet) -> None:
        n = self._n = shapes.numbers
        self._shapes, self.eta = shapes, eta
        self.squeeze = summed(DISPLACEMENT_PRODUCTS, shapes, n.under("squeeze"), eta).of(
            0
        )  # the same int mu x s as the shortening
        self.bent, across = (summed(DISPLACEMENT_PRODUCTS, shapes, n.under(f"bent.{k}"), eta) for k in (0, 1))
        self.swept, self.swept_x = self.bent.through(ACROSS), across.through(ACROSS)
        self.bent_x = across - (self.squeeze * Jet.constant(n["g0"])).along_x
        self.deflected, self.along = eta.through(n["a"]), eta.through(n["b"])
        self.c = Jet.constant(n["c0"]).along_x + self.deflected + self.bent
        self.f = self.along + self.bent_x

    def pulled(self, pushes: Pushes) -> Any:
        """What forces on the integrals are on eta."""
        n, shapes = self._n, self._shapes
        found = n["a"].T @ pushes.deflected + n["b"].T @ pushes.along
        for name, push in (
            ("squeeze", ca.vertcat(pushes.squeeze, 0, 0)),
            ("bent.0", pushes.bent),
            ("bent.1", pushes.bent_x),
        ):
            found += pulled(DISPLACEMENT_PRODUCTS, shapes, n.under(name), self.eta.x, push)
        return found

    def M(self, i: int, j: int) -> Any:
        """int mu N_i^T N_j."""
        pair = "uvw"[i] + "uvw"[j]
        return self._n[f"M.{pair}"] if i <= j else self._n[f"M.{pair[::-1]}"].T

    def lines(self, rate: str) -> tuple[list[Any], list[Any]]:
        """Rates of int mu rho and of int mu x rho: of first order, and of how products sweep the points across."""
        first, second = (self.deflected, self.along), (self.swept, self.swept_x)
        return [getattr(each, rate) for each in first], [getattr(each, rate) for each in second]

    def spread(self) -> Any:
        """(3, 3): int mu rho_i rho_j."""
        G = self._with_deflection(self.eta.x, self.f.x)
        G[0, 0] += self._n["g0"] + self.f.x[0]
        for k in (1, 2):
            G[k, 0] += self.f.x[k]
        return G

    def with_rate(self) -> Any:
        """(3, 3): int mu rho_i drho_j."""
        return self._with_deflection(self.eta.dx, self.f.dx)

    def with_second_rate(self) -> Any:
        """(3, 3): int mu rho_i ddrho_j."""
        return self._with_deflection(self.eta.ddx, self.f.ddx)

    def _with_deflection(self, other: Any, along: Any) -> Any:
        rows = [[ca.dot(self.eta.x, self.M(i, j) @ other) for j in range(3)] for i in range(3)]
        out = ca.vertcat(*(ca.horzcat(*row) for row in rows))
        out[0, :] += along.T
        return out


def kinetic_of_points(points: Points, n: SymbolsUnder, omega: Any, v: Any) -> Any:
    """1/2 int mu |v + omega x rho + drho|^2."""
    G, D, rates = points.spread(), points.with_rate(), points.eta.dx
    inertia = ca.trace(G) * ca.SX.eye(3) - G
    turned = ca.vertcat(D[1, 2] - D[2, 1], D[2, 0] - D[0, 2], D[0, 1] - D[1, 0])
    return (
        sum(ca.dot(rates, points.M(i, i) @ rates) for i in range(3)) / 2
        + ca.dot(v, points.c.dx + ca.cross(omega, points.c.x))
        + n["m"] / 2 * ca.dot(v, v)
        + ca.dot(omega, turned)
        + ca.dot(omega, inertia @ omega) / 2
    )


def forces_on_points(points: Points, n: SymbolsUnder, omega: Any, domega: Any, a: Any) -> tuple[Any, Any, Pushes]:
    """The same as forces on the twist, on eta and on integrals: mass times acceleration, without differentiation."""
    S = ca.skew(omega)
    W = ca.skew(domega) + S @ S  # what turning does to a place
    c, eta = points.c, points.eta
    force = n["m"] * a + W @ c.x + 2 * (S @ c.dx) + c.ddx
    pushed = points.spread() @ W.T + points.with_second_rate()  # int mu rho_i a_j, but for Coriolis' part
    D = points.with_rate()
    torque = ca.vertcat(pushed[1, 2] - pushed[2, 1], pushed[2, 0] - pushed[0, 2], pushed[0, 1] - pushed[1, 0]) + 2 * (
        ca.trace(D) * omega - D.T @ omega
    )
    across, whole = forces_on_lines(points, n)
    pushes = Pushes(a + across[0], W[:, 0] + across[1], -n["g0"] * W[0, 0], a + whole[0], W[:, 0] + whole[1])
    direct = ca.SX.zeros(eta.x.shape)
    for i in range(3):
        direct += points.M(i, i) @ eta.ddx
        for j in range(3):
            direct += points.M(i, j) @ (W[i, j] * eta.x + 2 * S[i, j] * eta.dx)
    return ca.vertcat(torque + ca.cross(c.x, a), force), direct, pushes


def third_order(omega: Any, squeeze: Jet, along: Jet) -> Any:
    """What is kept of the kinetic energy at third order: how the shortening enters the momentum and the inertia."""
    rate = SWING * squeeze.dx * along.x - LEVER * squeeze.x * along.dx
    place = -LEVER * squeeze.x * along.x
    total = omega[2] * rate[1] - omega[1] * rate[2] - squeeze.dx * along.dx[0]
    return total + place[0] * (omega[1] ** 2 + omega[2] ** 2) - omega[0] * ca.dot(omega[1:], place[1:])


def forces_of_third_order(
    points: Points, n: SymbolsUnder, omega: Any, domega: Any, a: Any, v: Any
) -> tuple[Any, Pushes]:
    """Of these, and of what roll sweeps, as if their integrals were coordinates: Lagrange's equations do not mind."""
    given = points.squeeze
    for each in (points.along, points.deflected, points.swept, points.swept_x):
        given = given.above(each)
    given = Jet(*map(ca.densify, given.parts))
    own = Jet(*(ca.SX.sym(name, given.x.shape[0]) for name in ("r", "dr", "ddr")))
    squeeze, along, deflected, moved, turned = own.of(0), *(own.of(slice(k, k + 3)) for k in (1, 4, 7, 10))
    energy = third_order(omega, squeeze, along)
    if not (points.swept.idle and points.swept_x.idle):
        energy += rolled(n, omega, [deflected.x, along.x], [moved.dx, turned.dx])
    force, inner = differentiated(energy, omega, domega, a, own, v)
    force, inner = ca.substitute([force, inner], [*own.parts], [*given.parts])
    return force, Pushes(inner[4:7], inner[1:4], inner[0], inner[7:10], inner[10:])


def swept(n: SymbolsUnder, first: list[Any], second: list[Any]) -> Any:
    """Twist sweeps a bent link's points across its axis, and stretch makes it bend by as much more. The motion of the
    root sees that at second order; at third and fourth a motion with the same moments stands for it that shapes of
    bending can do (of a line in x), so that it is part of a square. Without that the mass matrix of a slender link
    would not be definite when it is bent by its thickness. Given are rates of int mu rho and of int mu x rho."""
    both = [2 * one + other for one, other in zip(first, second, strict=True)]
    return sum(ca.dot(one, other) for one, other in zip(both, _weighed(n, second), strict=True)) / 2


def rolled(n: SymbolsUnder, omega: Any, deflected: list[Any], second: list[Any]) -> Any:
    """A link that rolls about its axis sweeps its bent points, too: what they and twist have in common, part of the
    same square."""
    pairs = zip(deflected, _weighed(n, second), strict=True)
    return omega[0] * sum(place[1] * rate[2] - place[2] * rate[1] for place, rate in pairs)


def forces_on_lines(points: Points, n: SymbolsUnder) -> tuple[list[Any], list[Any]]:
    """The same as forces on what is of first order in c and f, and on what products sweep."""
    first, second = points.lines("ddx")
    both = [one + other for one, other in zip(first, second, strict=True)]
    return _weighed(n, second), _weighed(n, both)


def _weighed(n: SymbolsUnder, moments: list[Any]) -> list[Any]:
    """Of what shapes can do of a line p + q x, from its products int mu with 1 and x: p and q."""
    found = [ca.SX(3, 1), ca.SX(3, 1)]
    for axis, name in ((1, "y"), (2, "z")):
        if (line := n.find(f"line.{name}")) is not None:
            for k in (0, 1):
                found[k][axis] = line[k, 0] * moments[0][axis] + line[k, 1] * moments[1][axis]
    return found
