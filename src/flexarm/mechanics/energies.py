"""Energies of one link in terms of its own root twist and its own coordinates, and the constant K and D of a robot."""

from __future__ import annotations

from typing import Any

import casadi as ca

from flexarm.mechanics import gripped, stops
from flexarm.mechanics.bodies import Shapes, SymbolicBody
from flexarm.mechanics.coordinates import elastic_drive
from flexarm.mechanics.gripped import AXIAL_SHARE, slices
from flexarm.mechanics.jets import Jet
from flexarm.mechanics.kinematics import Kinematics
from flexarm.mechanics.rotations import pose_along, twist_along
from flexarm.mechanics.section_poses import deflected, place, section_turn, shortening
from flexarm.mechanics.symbols import SymbolsUnder
from flexarm.robot import MovingJoint
from flexarm.robot.joints import Prismatic


def kinetic(body: SymbolicBody, twist: Any, x: Any, dx: Any) -> Any:
    """Kinetic energy of a link with all that is fixed to it, and of the rotor that drives it."""
    energy = kinetic_of_link(body, twist, x, dx)
    joint = body.link.joint
    if isinstance(joint, MovingJoint) and joint.drive is not None:
        rotor = body.local.joint if body.local.motor is None else body.local.motor
        energy += body.numbers["joint.drive.reflected_inertia"] / 2 * dx[rotor] ** 2
    return energy


def kinetic_of_link(body: SymbolicBody, twist: Any, x: Any, dx: Any) -> Any:
    """The same without the rotor."""
    omega, v = twist[:3], twist[3:]
    if body.gripped:
        through = v + ca.vertcat(dx[body.local.joint], 0, 0)
        energy = sum(gripped.kinetic(part, omega, through) for part in gripped.parts(body, x, dx))
    else:
        beam = _full_beam if body.shapes.stiffening == "full" else _beam
        energy = beam(body, omega, v, body.elastic(x), body.elastic(dx))
    for lump in body.lumps:
        energy += _point(body, lump, omega, v, Jet.slow(x, dx))
    return energy


def squared_displacements(body: SymbolicBody, twist: Any, x: Any, dx: Any) -> list[Any]:
    """How far a small change (twist, dx) moves a link: the mean square over its mass, whatever the coordinates; a motor
    counts as if it turned its link, and so does a joint without mass."""
    lever = 1.0 if isinstance(body.link.joint, Prismatic) else body.length
    turned, squares = [] if body.local.motor is None else [body.local.motor], []
    if "mass_inverse" in body.numbers:
        squares.append(2 * body.numbers["mass_inverse"] * ca.fabs(kinetic_of_link(body, twist, x, dx)))
    elif body.local.joint is not None:
        turned.append(body.local.joint)
    return squares + [(lever * dx[place]) ** 2 for place in turned]


def first_moment(body: SymbolicBody, x: Any) -> tuple[Any, Any]:
    """Mass of a link with all that is fixed to it, and its first moment about the root in link axes."""
    if body.gripped:
        each = [gripped.moment(part) for part in gripped.parts(body, x, 0 * x)]
        mass, moment = (sum(part) for part in zip(*each, strict=True))
    else:
        mass, moment = body.numbers["m"], _beam_moment(body.shapes, body.elastic(x))
    for lump in body.lumps:
        mass += lump["mass"]
        moment += lump["mass"] * _centre(body, lump, Jet.slow(x))
    return mass, moment


def stiffness(chain: Kinematics) -> Any:
    """The constant part of K: elastic drives, and all elastic links but those that slide through their joint."""
    return ca.diagcat(*(own_stiffness(body) for body in chain.bodies))


def damping(chain: Kinematics) -> Any:
    """The constant part of D: the linear dissipation of links, drives and joints."""
    return ca.diagcat(*(own_damping(body) for body in chain.bodies))


def own_stiffness(body: SymbolicBody) -> Any:
    """The block of one body: no spring acts between two of them."""
    return _own(body, "K", "joint.drive.stiffness")


def own_damping(body: SymbolicBody) -> Any:
    out = _own(body, "D", "joint.drive.damping")
    if isinstance(body.link.joint, MovingJoint) and body.numbers["joint.viscous"].nnz():
        joint = body.local.own_joint
        out[joint, joint] += body.numbers["joint.viscous"]
    return out


def varying_potential(chain: Kinematics, q: Any) -> Any:
    """Elastic energy that is not a quadratic form with constant K."""
    return sum((own_varying_potential(body, chain.part(q, i)) for i, body in enumerate(chain.bodies)), ca.SX(0))


def own_varying_potential(body: SymbolicBody, x: Any) -> Any:
    """That of one body."""
    return stops.potential(body, x) + (bending(body, x) if body.gripped else 0)


def varying_dissipation(chain: Kinematics, q: Any, v: Any) -> Any:
    """Half the power lost that is not a quadratic form with constant D."""
    parts = ((body, chain.part(q, i), chain.part(v, i)) for i, body in enumerate(chain.bodies))
    return sum((own_varying_dissipation(*each) for each in parts), ca.SX(0))


def own_varying_dissipation(body: SymbolicBody, x: Any, dx: Any) -> Any:
    """That of one body."""
    lost = [stops.dissipation(body, x, dx)]
    if body.gripped:
        lost += [gripped.dissipation(part) for part in gripped.parts(body, x, dx)]
    return sum(lost, ca.SX(0))


def dry_friction(chain: Kinematics, v: Any) -> Any:
    """Coulomb torques on the coordinates, smoothed by tanh so that the equations stay differentiable."""
    return ca.vertcat(*(own_friction(body, chain.part(v, i)) for i, body in enumerate(chain.bodies)))


def own_friction(body: SymbolicBody, dx: Any) -> Any:
    """Those on a body's own coordinates."""
    force = ca.SX.zeros(body.local.count)
    if isinstance(body.link.joint, MovingJoint) and body.numbers["joint.coulomb"].nnz():
        joint = body.local.own_joint
        speed = dx[joint] / body.numbers["joint.coulomb_speed"]
        force[joint] = body.numbers["joint.coulomb"] * ca.tanh(speed)
    return force


def wind_up(body: SymbolicBody, x: Any) -> Any:
    """Energy of the spring between a link and its motor, and of the stops of its joint."""
    stop = stops.potential(body, x)
    if elastic_drive(body.link) is None:
        return stop
    return stop + body.numbers["joint.drive.stiffness"] / 2 * (x[body.local.motor] - x[body.local.joint]) ** 2


def bending(body: SymbolicBody, x: Any) -> Any:
    """Elastic energy of a link."""
    if body.gripped:
        return sum((gripped.elastic(part) for part in gripped.parts(body, x, 0 * x)), ca.SX(0))
    eta = body.elastic(x)
    return ca.dot(eta, body.numbers["K"] @ eta) / 2


def _own(body: SymbolicBody, elastic: str, between: str) -> Any:
    """What acts on a body's elastic coordinates, and between its motor and its joint."""
    matrix = ca.SX(body.local.count, body.local.count)
    if not body.gripped and body.shapes.count:
        inside = slice(body.local.elastic.start, body.local.elastic.start + body.shapes.count)
        matrix[inside, inside] = body.numbers[elastic]
    if elastic_drive(body.link) is not None and body.numbers[between].nnz():
        pair = [body.local.own_joint, body.local.own_joint + 1]
        matrix[pair, pair] += body.numbers[between] * ca.DM([[1.0, -1.0], [-1.0, 1.0]])
    return matrix


def _beam_moment(shapes: Shapes, eta: Any) -> Any:
    """c = int mu rho dx."""
    n = shapes.numbers
    return ca.vertcat(n["c0"] - ca.dot(eta, n["H0"] @ eta) / 2, 0, 0) + n["a"] @ eta


def _beam(body: SymbolicBody, omega: Any, v: Any, eta: Any, deta: Any) -> Any:
    """All terms of translation up to second order in eta and its rate, from constant integrals, and those of third
    order in the shortening without which the mass matrix would lose definiteness (docs/theory.md).

    The sections' own inertia enters as if they did not tilt: terms of its size times slope or twist are left out.
    """
    n = body.numbers
    a, b, j, H0, g0, squeezing = (n[name] for name in ("a", "b", "j", "H0", "g0", "squeeze"))
    M = {pair: n[f"M.{pair}"] for pair in ("uu", "uv", "uw", "vv", "vw", "ww")}
    M_elastic = _elastic_mass(body.shapes)
    c = _beam_moment(body.shapes, eta)
    dc = a @ deta - ca.vertcat(ca.dot(H0 @ eta, deta), 0, 0)
    # where it meets the deflection, s(x) is taken as the line squeeze * x with the same int mu x s
    squeeze, dsqueeze = (ca.dot(squeezing @ eta, each) for each in (eta / 2, deta))
    along = (1 - squeeze) * (b @ eta)
    dalong = (1 - squeeze) * (b @ deta) + AXIAL_SHARE * dsqueeze * (b @ eta)
    Gxx = g0 * (1 - 2 * squeeze) + 2 * along[0] + ca.dot(eta, M["uu"] @ eta)
    Gyy, Gzz, Gyz = (ca.dot(eta, M[name] @ eta) for name in ("vv", "ww", "vw"))
    Gxy = along[1] + ca.dot(eta, M["uv"] @ eta)
    Gxz = along[2] + ca.dot(eta, M["uw"] @ eta)
    G = ca.vertcat(ca.horzcat(Gxx, Gxy, Gxz), ca.horzcat(Gxy, Gyy, Gyz), ca.horzcat(Gxz, Gyz, Gzz))
    inertia = (Gxx + Gyy + Gzz) * ca.SX.eye(3) - G + ca.diag(n["section_inertia"])

    def spin(name: str) -> Any:
        return ca.dot(eta, M[name] @ deta) - ca.dot(deta, M[name] @ eta)

    k = j @ deta + ca.vertcat(spin("vw"), -spin("uw") - dalong[2], dalong[1] + spin("uv"))
    return (
        ca.dot(deta, M_elastic @ deta) / 2
        - dsqueeze * (b[0, :] @ deta)
        + ca.dot(v, dc)
        + ca.dot(omega, k)
        + n["m"] / 2 * ca.dot(v, v)
        + ca.dot(v, ca.cross(omega, c))
        + ca.dot(omega, inertia @ omega) / 2
    )


def _elastic_mass(shapes: Shapes) -> Any:
    """Mass matrix of eta with the root held."""
    n = shapes.numbers
    if "M_elastic" in n:
        return n["M_elastic"]
    out = n["M.uu"] + n["M.vv"] + n["M.ww"]
    if "M_twist" in n:
        twist = shapes.columns["twist"]
        out[twist, twist] = n["M_twist"]
    return out


def _full_beam(body: SymbolicBody, omega: Any, v: Any, eta: Any, deta: Any) -> Any:
    """Every order: 1/2 int mu |velocity of the point|^2 and the turning sections, slice by slice."""
    energy, s, ds, jet = 0.0, 0.0, 0.0, Jet.slow(eta, deta)
    for piece in slices(body.shapes):
        grown = shortening(piece["H"], jet)
        s, ds = s + grown.x, ds + grown.dx
        _, velocity = deflected(piece, jet, Jet(s, ds, 0)).twist(omega, v)
        energy += piece["mass"] / 2 * ca.dot(velocity, velocity)
        if piece["inertia"].nnz():
            turning = omega + piece["W"] @ deta
            if body.link.rotary_inertia:  # else the sections are needles: tilting them would gain or lose energy
                turning, _ = twist_along(section_turn(piece, jet), omega, v)
            energy += ca.dot(turning, piece["inertia"] * turning) / 2
    return energy


def _point(body: SymbolicBody, lump: SymbolsUnder, omega: Any, v: Any, own: Jet) -> Any:
    there, *turns = place(body, lump.under("place"), own)
    turning, velocity = twist_along([there], omega, v)
    inertia, offset = lump["inertia"], lump["offset"]
    if offset.nnz() or inertia.nnz():
        turning, velocity = twist_along(turns, turning, velocity)
        velocity = velocity + ca.cross(turning, ca.densify(offset))
    return lump["mass"] / 2 * ca.dot(velocity, velocity) + ca.dot(turning, inertia @ turning) / 2


def _centre(body: SymbolicBody, lump: SymbolsUnder, own: Jet) -> Any:
    """Centre of a point mass in link axes."""
    R, p = pose_along(place(body, lump.under("place"), own), ca.SX.eye(3), ca.SX.zeros(3))
    return p + R @ lump["offset"]
