"""Energies of a link that slides through its joint and bends in front of it and behind it.

Each part is the whole link scaled to the length that sticks out (beam/sliding.py): constant integrals times powers of
that scale. The part behind the joint is one in front, seen in axes turned half about y.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca

from flexarm.foundation.families import FAMILIES
from flexarm.mechanics.bodies import Shapes, SymbolicBody
from flexarm.mechanics.rotations import Step, Turn, X, Y, Z, twist_along
from flexarm.mechanics.symbols import SymbolsUnder

TURNED = ca.DM([-1, 1, -1])

# How much counts of the coupling between deflection and speed of shortening, int mu v ds. With more than a half, the
# mass matrix would need its counterpart of fourth order to stay definite; with none, or with all, the spin-up of a beam
# bends less, or more, than that of the geometrically nonlinear beam (docs/theory.md).
AXIAL_SHARE = 1 / 3


@dataclass(frozen=True)
class Part:
    """What sticks out on one side of the joint: its length in units of the link's, elastic coordinates, rates."""

    shapes: Shapes
    length: Any
    scale: Any
    rate: Any
    eta: Any
    deta: Any
    turned: bool

    def axes(self, vector: Any) -> Any:
        """A vector in the part's own axes, which run outward."""
        return TURNED * vector if self.turned else vector

    @property
    def numbers(self) -> SymbolsUnder:
        return self.shapes.numbers

    @property
    def zeta(self) -> Any:
        return self.rate / self.scale * self.eta


def parts(body: SymbolicBody, x: Any, dx: Any) -> list[Part]:
    """Both sides of the joint, from the body's own coordinates and rates."""
    length, d, dd = body.length, x[body.local.joint], dx[body.local.joint]
    out = [Part(body.shapes, length, d / length, dd / length, body.front(x), body.front(dx), False)]
    if body.rear is not None:
        signs = _signs(body.rear)
        eta, deta = signs * body.behind(x), signs * body.behind(dx)
        out.append(Part(body.rear, length, (length - d) / length, -dd / length, eta, deta, True))
    return out


def _signs(shapes: Shapes) -> Any:
    """How deflections change their sign when the axes are turned."""
    return ca.DM(
        [FAMILIES[name].reversed for name, place in shapes.columns.items() for _ in range(place.start, place.stop)]
    )


def kinetic(part: Part, omega: Any, v: Any) -> Any:
    """Kinetic energy of a part; v is the velocity of the material in the joint, in link axes like omega."""
    omega, v = part.axes(omega), part.axes(v)
    if part.shapes.stiffening == "full":
        return _every_order(part, omega, v)
    return _second_order(part, omega, v)


def moment(part: Part) -> tuple[Any, Any]:
    """Mass of a part and its first moment about the joint, in link axes."""
    return part.scale * part.numbers["m"], part.axes(_moment(part))


def elastic(part: Part) -> Any:
    """Elastic energy: strain goes with 1/scale once or twice, length with the scale."""
    energy = ca.SX(0)
    for name, place in part.shapes.columns.items():
        eta = part.eta[place, 0]
        energy += ca.dot(eta, part.numbers[f"{name}.K"] @ eta) / 2 / part.scale ** (2 * part.shapes.order(name) - 1)
    return energy


def dissipation(part: Part) -> Any:
    """Half the power lost in a part."""
    n, half = part.numbers, ca.SX(0)
    for name, place in part.shapes.columns.items():
        order = part.shapes.order(name)
        deta, zeta = part.deta[place, 0], part.zeta[place, 0]
        if n["strain_rate"].nnz():
            power = _form(deta, zeta, *(n[f"{name}.{each}"] for each in ("K", "K_mixed", "K_flowing")))
            half += n["strain_rate"] * power / part.scale ** (2 * order - 1)
        if n["alpha"].nnz():
            half += n["alpha"] * part.scale * ca.dot(deta, n[f"{name}.M"] @ deta) / 2
        if f"{name}.D_ratios" in n:  # frequencies go with 1/scale^order, masses with the scale
            half += ca.dot(deta, n[f"{name}.D_ratios"] @ deta) / 2 * part.scale ** (1 - order)
    return half


def _moment(part: Part) -> Any:
    n, scale, eta = part.numbers, part.scale, part.eta
    return ca.vertcat(scale**2 * n["c0"] - ca.dot(eta, n["H0"] @ eta) / 2, 0, 0) + scale * (n["a"] @ eta)


def _second_order(part: Part, omega: Any, v: Any) -> Any:
    """All terms up to second order in eta, as for an ordinary link (energies.py)."""
    n, scale, eta, deta, zeta = part.numbers, part.scale, part.eta, part.deta, part.zeta
    a, b, a_c, b_c, H0, H1 = (n[name] for name in ("a", "b", "a_c", "b_c", "H0", "H1"))
    M = {pair: n[f"M.{pair}"] for pair in ("uu", "uv", "uw", "vv", "vw", "ww")}
    M_c = {one + other: n[f"M_c.{one}{other}"] for one in "uvw" for other in "uvw"}
    c = _moment(part)
    dc = scale * (a @ deta + a_c @ zeta) - ca.vertcat(ca.dot(H0 @ eta, deta), 0, 0)
    squeeze, dsqueeze = _squeeze(part)
    left, flowing_b = scale - squeeze, b @ deta + b_c @ zeta
    along, dalong = left * (b @ eta), left * flowing_b + AXIAL_SHARE * dsqueeze * (b @ eta)
    Gxx = scale * (scale**2 * n["g0"] + 2 * along[0] + ca.dot(eta, (M["uu"] - H1) @ eta))
    Gyy, Gzz, Gyz = (scale * ca.dot(eta, M[name] @ eta) for name in ("vv", "ww", "vw"))
    Gxy = scale * (along[1] + ca.dot(eta, M["uv"] @ eta))
    Gxz = scale * (along[2] + ca.dot(eta, M["uw"] @ eta))
    G = ca.vertcat(ca.horzcat(Gxx, Gxy, Gxz), ca.horzcat(Gxy, Gyy, Gyz), ca.horzcat(Gxz, Gyz, Gzz))
    inertia = (Gxx + Gyy + Gzz) * ca.SX.eye(3) - G + scale * ca.diag(n["section_inertia"])

    def spin(one: str, other: str) -> Any:
        plain = ca.dot(eta, M[one + other] @ deta) - ca.dot(deta, M[one + other] @ eta)
        return plain + ca.dot(eta, M_c[one + other] @ zeta) - ca.dot(eta, M_c[other + one] @ zeta)

    k = scale * ca.vertcat(spin("v", "w"), -spin("u", "w") - dalong[2], dalong[1] + spin("u", "v"))
    flowing = sum((M_c[name + name] for name in "uvw"), ca.SX(*H0.shape))
    plain = sum((M[name + name] for name in "uvw"), ca.SX(*H0.shape))
    energy = scale * (_form(deta, zeta, plain, flowing, n["M_cc"]) - dsqueeze * flowing_b[0])
    for row in range(3):  # the sections turn about x with the twist, about y and z with slopes, which go with 1/scale
        if f"turning.{row}.j" not in n:
            continue
        turning = n.under(f"turning.{row}")
        lean = 1 if row == 0 else 1 / scale
        k[row] += scale * lean * (ca.dot(turning["j"], deta) + ca.dot(turning["j_c"], zeta))
        energy += scale * lean**2 * _form(deta, zeta, *(turning[each] for each in ("plain", "mixed", "flowing")))
    return (
        energy
        + ca.dot(v, dc)
        + ca.dot(omega, k)
        + scale * n["m"] / 2 * ca.dot(v, v)
        + ca.dot(v, ca.cross(omega, c))
        + ca.dot(omega, inertia @ omega) / 2
    )


def _squeeze(part: Part) -> tuple[Any, Any]:
    """The shortening as a line squeeze * X with the same int mu X s, and its rate at material points, which flow
    through the shapes: what int mu X (l - X) H'(X) adds, by parts."""
    n, scale, eta = part.numbers, part.scale, part.eta
    bent = [n[name] @ eta for name in ("H0", "H1")]
    whole, rates = ([ca.dot(each, vector) for each in bent] for vector in (eta / 2, part.deta))
    flow = part.rate / scale * (whole[1] - part.length * whole[0])
    unit = n["g0_inverse"] / scale
    return whole[1] * unit, (rates[1] + flow) * unit


def _form(deta: Any, zeta: Any, plain: Any, mixed: Any, flowing: Any) -> Any:
    return ca.dot(deta, plain @ deta) / 2 + ca.dot(deta, mixed @ zeta) + ca.dot(zeta, flowing @ zeta) / 2


def slices(shapes: Shapes) -> list[SymbolsUnder]:
    """Those of a link with the energy of every order."""
    found: list[SymbolsUnder] = []
    while f"slices.{len(found)}.x" in shapes.numbers:
        found.append(shapes.numbers.under(f"slices.{len(found)}"))
    return found


def _every_order(part: Part, omega: Any, v: Any) -> Any:
    """1/2 int mu |velocity of the material point|^2 and the turning sections, slice by slice."""
    scale, eta, deta, zeta = part.scale, part.eta, part.deta, part.zeta
    energy, s, ds = ca.SX(0), ca.SX(0), ca.SX(0)
    flow = part.rate / scale
    for piece in slices(part.shapes):
        U, W, H, Nc, Wc = (piece[each] for each in ("U", "W", "H", "Nc", "Wc"))
        s += ca.dot(eta, H @ eta) / 2 / scale
        ds += (ca.dot(deta, H @ eta) - flow * ca.dot(eta, H @ eta) / 2) / scale
        slopes = (W @ eta)[1:]
        carried = flow * (part.length - piece["x"]) * ca.dot(slopes, slopes) / 2 / scale
        if part.shapes.stiffening == "none":
            carried = 0
        rho = ca.vertcat(scale * piece["x"] - s, 0, 0) + U @ eta
        rate = U @ deta + Nc @ zeta - ca.vertcat(ds + carried, 0, 0)
        velocity = v + ca.cross(omega, rho) + rate
        energy += scale * piece["mass"] / 2 * ca.dot(velocity, velocity)
        if piece["inertia"].nnz():
            angles, rates = (ca.vertcat(each[0], each[1:] / scale) for each in (W @ eta, W @ deta + Wc @ zeta))
            turning = omega + rates
            if piece["inertia"].nnz() > 1:  # else the sections are needles, as in an ordinary link
                turns: list[Step] = [Turn((X, Y, Z)[row], angles[row], rates[row], 0) for row in (2, 1, 0)]
                turning, _ = twist_along(turns, omega, v)
            energy += scale * ca.dot(turning, piece["inertia"] * turning) / 2
    return energy
