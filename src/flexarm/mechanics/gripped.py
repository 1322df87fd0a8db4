"""Energies of a link that slides through its joint and bends in front of it and behind it.

Each part is the whole link scaled to the length that sticks out (beam/sliding.py): constant integrals times powers of
that scale. The part behind the joint is one in front, seen in axes turned half about y.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca

from flexarm.beam.sliding import SlidingIntegrals
from flexarm.foundation.families import FAMILIES
from flexarm.mechanics.bodies import Body
from flexarm.mechanics.constants import AXIAL_SHARE, constant
from flexarm.mechanics.rotations import Step, Turn, X, Y, Z, twist_along

TURNED = ca.DM([-1, 1, -1])


@dataclass(frozen=True)
class Part:
    """What sticks out on one side of the joint: its length in units of the link's, elastic coordinates, rates."""

    integrals: SlidingIntegrals
    scale: Any
    rate: Any
    eta: Any
    deta: Any
    turned: bool

    def axes(self, vector: Any) -> Any:
        """A vector in the part's own axes, which run outward."""
        return TURNED * vector if self.turned else vector

    @property
    def zeta(self) -> Any:
        return self.rate / self.scale * self.eta


def parts(body: Body, x: Any, dx: Any) -> list[Part]:
    """Both sides of the joint, from the body's own coordinates and rates."""
    length, d, dd = body.link.length, x[body.local.joint], dx[body.local.joint]
    assert isinstance(body.integrals, SlidingIntegrals)
    out = [Part(body.integrals, d / length, dd / length, body.front(x), body.front(dx), False)]
    if body.rear is not None:
        signs = _signs(body.rear)
        eta, deta = signs * body.behind(x), signs * body.behind(dx)
        out.append(Part(body.rear, (length - d) / length, -dd / length, eta, deta, True))
    return out


def _signs(integrals: SlidingIntegrals) -> Any:
    """How deflections change their sign when the axes are turned."""
    return ca.DM([FAMILIES[name].reversed for name, space in integrals.shapes.items() for _ in range(space.count)])


def kinetic(part: Part, omega: Any, v: Any) -> Any:
    """Kinetic energy of a part; v is the velocity of the material in the joint, in link axes like omega."""
    omega, v = part.axes(omega), part.axes(v)
    if part.integrals.stiffening == "full":
        return _every_order(part, omega, v)
    return _second_order(part, omega, v)


def moment(part: Part) -> tuple[Any, Any]:
    """Mass of a part and its first moment about the joint, in link axes."""
    return part.scale * part.integrals.m, part.axes(_moment(part))


def elastic(part: Part) -> Any:
    """Elastic energy: strain goes with 1/scale once or twice, length with the scale."""
    energy = ca.SX(0)
    for name, family in part.integrals.families.items():
        eta = part.eta[part.integrals.columns[name], 0]
        K = constant(part.integrals.damped[name][0])
        energy += ca.dot(eta, K @ eta) / 2 / part.scale ** (2 * family.order - 1)
    return energy


def dissipation(part: Part) -> Any:
    """Half the power lost in a part."""
    integrals = part.integrals
    flexible, material = integrals.link.flexible, integrals.link.material
    if not integrals.count or flexible is None or material is None:
        return ca.SX(0)
    given = flexible.damping
    strain_rate = material.damping + (0.0 if given is None else given.beta)
    half = ca.SX(0)
    for name, family in integrals.families.items():
        place = integrals.columns[name]
        deta, zeta = part.deta[place, 0], part.zeta[place, 0]
        if strain_rate:
            plain, mixed, flowing = (constant(each) for each in integrals.damped[name])
            power = ca.dot(deta, plain @ deta) / 2 + ca.dot(deta, mixed @ zeta) + ca.dot(zeta, flowing @ zeta) / 2
            half += strain_rate * power / part.scale ** (2 * family.order - 1)
        if given is not None and given.alpha:
            mass = constant(integrals.M_elastic[place, place])
            half += given.alpha * part.scale * ca.dot(deta, mass @ deta) / 2
        if given is not None and given.ratio is not None:  # frequencies go with 1/scale^order, masses with the scale
            ratios = constant(integrals.D_ratios[place, place])
            half += ca.dot(deta, ratios @ deta) / 2 * part.scale ** (1 - family.order)
    return half


def _moment(part: Part) -> Any:
    integrals, scale, eta = part.integrals, part.scale, part.eta
    a, H0 = constant(integrals.a), constant(integrals.H0)
    return ca.vertcat(scale**2 * integrals.c0 - ca.dot(eta, H0 @ eta) / 2, 0, 0) + scale * (a @ eta)


def _second_order(part: Part, omega: Any, v: Any) -> Any:
    """All terms up to second order in eta, as for an ordinary link (energies.py)."""
    integrals, scale, eta, deta, zeta = part.integrals, part.scale, part.eta, part.deta, part.zeta
    a, b, a_c, b_c = (constant(each) for each in (integrals.a, integrals.b, integrals.a_c, integrals.b_c))
    M = {name: constant(matrix) for name, matrix in integrals.M.items()}
    M_c = {name: constant(matrix) for name, matrix in integrals.M_c.items()}
    H0, H1 = constant(integrals.H0), constant(integrals.H1)
    c = _moment(part)
    dc = scale * (a @ deta + a_c @ zeta) - ca.vertcat(ca.dot(H0 @ eta, deta), 0, 0)
    squeeze, dsqueeze = _squeeze(part)
    left, flowing_b = scale - squeeze, b @ deta + b_c @ zeta
    along, dalong = left * (b @ eta), left * flowing_b + AXIAL_SHARE * dsqueeze * (b @ eta)
    Gxx = scale * (scale**2 * integrals.g0 + 2 * along[0] + ca.dot(eta, (M["uu"] - H1) @ eta))
    Gyy, Gzz, Gyz = (scale * ca.dot(eta, M[name] @ eta) for name in ("vv", "ww", "vw"))
    Gxy = scale * (along[1] + ca.dot(eta, M["uv"] @ eta))
    Gxz = scale * (along[2] + ca.dot(eta, M["uw"] @ eta))
    G = ca.vertcat(ca.horzcat(Gxx, Gxy, Gxz), ca.horzcat(Gxy, Gyy, Gyz), ca.horzcat(Gxz, Gyz, Gzz))
    inertia = (Gxx + Gyy + Gzz) * ca.SX.eye(3) - G + scale * ca.diag(ca.DM(integrals.section_inertia))

    def spin(one: str, other: str) -> Any:
        plain = ca.dot(eta, M[one + other] @ deta) - ca.dot(deta, M[one + other] @ eta)
        return plain + ca.dot(eta, M_c[one + other] @ zeta) - ca.dot(eta, M_c[other + one] @ zeta)

    k = scale * ca.vertcat(spin("v", "w"), -spin("u", "w") - dalong[2], dalong[1] + spin("u", "v"))
    flowing = sum((M_c[name + name] for name in "uvw"), ca.SX(*H0.shape))
    plain = sum((M[name + name] for name in "uvw"), ca.SX(*H0.shape))
    energy = scale * (_form(deta, zeta, plain, flowing, constant(integrals.M_cc)) - dsqueeze * flowing_b[0])
    for row in range(3):  # the sections turn about x with the twist, about y and z with slopes, which go with 1/scale
        if not integrals.section_inertia[row]:
            continue
        j, j_c, *forms = integrals.turning(row)
        lean = 1 if row == 0 else 1 / scale
        k[row] += scale * lean * (ca.dot(ca.DM(j), deta) + ca.dot(ca.DM(j_c), zeta))
        energy += scale * lean**2 * _form(deta, zeta, *(constant(each) for each in forms))
    return (
        energy
        + ca.dot(v, dc)
        + ca.dot(omega, k)
        + scale * integrals.m / 2 * ca.dot(v, v)
        + ca.dot(v, ca.cross(omega, c))
        + ca.dot(omega, inertia @ omega) / 2
    )


def _squeeze(part: Part) -> tuple[Any, Any]:
    """The shortening as a line squeeze * X with the same int mu X s, and its rate at material points, which flow
    through the shapes: what int mu X (l - X) H'(X) adds, by parts."""
    integrals, scale, eta = part.integrals, part.scale, part.eta
    bent = [constant(H) @ eta for H in (integrals.H0, integrals.H1)]
    whole, rates = ([ca.dot(each, vector) for each in bent] for vector in (eta / 2, part.deta))
    flow = part.rate / scale * (whole[1] - integrals.length * whole[0])
    unit = scale * (integrals.g0 or 1.0)
    return whole[1] / unit, (rates[1] + flow) / unit


def _form(deta: Any, zeta: Any, plain: Any, mixed: Any, flowing: Any) -> Any:
    return ca.dot(deta, plain @ deta) / 2 + ca.dot(deta, mixed @ zeta) + ca.dot(zeta, flowing @ zeta) / 2


def _every_order(part: Part, omega: Any, v: Any) -> Any:
    """1/2 int mu |velocity of the material point|^2 and the turning sections, slice by slice."""
    integrals, scale, eta, deta, zeta = part.integrals, part.scale, part.eta, part.deta, part.zeta
    energy, s, ds = ca.SX(0), ca.SX(0), ca.SX(0)
    flow = part.rate / scale
    for piece, Nc, Wc in zip(integrals.slices, *integrals.convected_slices, strict=True):
        U, W, H = (constant(each) for each in (piece.station.U, piece.station.W, piece.station.H))
        s += ca.dot(eta, H @ eta) / 2 / scale
        ds += (ca.dot(deta, H @ eta) - flow * ca.dot(eta, H @ eta) / 2) / scale
        slopes = (W @ eta)[1:]
        carried = flow * (integrals.length - piece.station.x) * ca.dot(slopes, slopes) / 2 / scale
        if integrals.stiffening == "none":
            carried = 0
        rho = ca.vertcat(scale * piece.station.x - s, 0, 0) + U @ eta
        rate = U @ deta + constant(Nc) @ zeta - ca.vertcat(ds + carried, 0, 0)
        velocity = v + ca.cross(omega, rho) + rate
        energy += scale * piece.mass / 2 * ca.dot(velocity, velocity)
        if piece.inertia.any():
            angles, rates = (
                ca.vertcat(each[0], each[1:] / scale) for each in (W @ eta, W @ deta + constant(Wc) @ zeta)
            )
            turning = omega + rates
            if integrals.link.rotary_inertia:  # else the sections are needles, as in an ordinary link
                turns: list[Step] = [Turn((X, Y, Z)[row], angles[row], rates[row], 0) for row in (2, 1, 0)]
                turning, _ = twist_along(turns, omega, v)
            energy += scale * ca.dot(turning, ca.DM(piece.inertia) * turning) / 2
    return energy
