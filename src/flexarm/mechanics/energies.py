"""Energies of one link in terms of its own root twist and its own coordinates, and the constant K and D of a robot."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

from flexarm.beam.integrals import LinkIntegrals
from flexarm.foundation.numbers import Array
from flexarm.mechanics import gripped, stops
from flexarm.mechanics.bodies import Body
from flexarm.mechanics.constants import AXIAL_SHARE, constant
from flexarm.mechanics.coordinates import elastic_drive
from flexarm.mechanics.jets import Jet
from flexarm.mechanics.kinematics import Chain
from flexarm.mechanics.rotations import pose_along, twist_along
from flexarm.mechanics.section_poses import deflected, place, section_turn, shortening
from flexarm.robot import Drive, MovingJoint, PointMass


def kinetic(body: Body, twist: Any, x: Any, dx: Any) -> Any:
    """Kinetic energy of a link with all that is fixed to it, and of the rotor that drives it."""
    energy = kinetic_of_link(body, twist, x, dx)
    joint = body.link.joint
    if isinstance(joint, MovingJoint) and joint.drive is not None:
        rotor = body.local.joint if body.local.motor is None else body.local.motor
        energy += joint.drive.reflected_inertia / 2 * dx[rotor] ** 2
    return energy


def kinetic_of_link(body: Body, twist: Any, x: Any, dx: Any) -> Any:
    """The same without the rotor."""
    omega, v = twist[:3], twist[3:]
    if body.gripped:
        through = v + ca.vertcat(dx[body.local.joint], 0, 0)
        energy = sum(gripped.kinetic(part, omega, through) for part in gripped.parts(body, x, dx))
    else:
        beam = _full_beam if body.integrals.stiffening == "full" else _beam
        energy = beam(body.integrals, omega, v, body.elastic(x), body.elastic(dx))
    for mass, at in point_masses(body):
        energy += _point(body, mass, at, omega, v, Jet.slow(x, dx))
    return energy


def first_moment(body: Body, x: Any) -> tuple[Any, Any]:
    """Mass of a link with all that is fixed to it, and its first moment about the root in link axes."""
    if body.gripped:
        each = [gripped.moment(part) for part in gripped.parts(body, x, 0 * x)]
        mass, moment = (sum(part) for part in zip(*each, strict=True))
    else:
        mass, moment = body.integrals.m, _beam_moment(body.integrals, body.elastic(x))
    for point, at in point_masses(body):
        mass += point.mass
        moment += point.mass * _centre(body, point, at, Jet.slow(x))
    return mass, moment


def point_masses(body: Body) -> list[tuple[PointMass, float]]:
    """Everything fixed to a link, with where along it: hub, payload, others."""
    link = body.link
    found = [(link.hub, 0.0), (link.payload, link.length), *((mass, mass.at) for mass in link.masses)]
    return [(mass, at) for mass, at in found if mass is not None and not mass.empty and at is not None]


def stiffness(chain: Chain) -> Array:
    """The constant part of K: elastic drives, and all elastic links but those that slide through their joint."""
    out = np.zeros((chain.coordinates.count,) * 2)
    for body in chain.bodies:
        _add(out, body, None if body.gripped else body.integrals.K, lambda drive: drive.stiffness or 0.0)
    return out


def damping(chain: Chain) -> Array:
    """The constant part of D: the linear dissipation of links, drives and joints."""
    out = np.zeros((chain.coordinates.count,) * 2)
    for body in chain.bodies:
        _add(out, body, None if body.gripped else body.integrals.D, lambda drive: drive.damping)
        if isinstance(body.link.joint, MovingJoint):
            joint = body.local.place(body.local.joint)
            out[joint, joint] += body.link.joint.viscous
    return out


def varying_potential(chain: Chain, q: Any) -> Any:
    """Elastic energy that is not a quadratic form with constant K."""
    total = ca.SX(0)
    for i, body in enumerate(chain.bodies):
        x = chain.part(q, i)
        total += stops.potential(chain, body, x)
        if body.gripped:
            total += bending(body, x)
    return total


def varying_dissipation(chain: Chain, q: Any, v: Any) -> Any:
    """Half the power lost that is not a quadratic form with constant D."""
    total = ca.SX(0)
    for i, body in enumerate(chain.bodies):
        x, dx = chain.part(q, i), chain.part(v, i)
        total += stops.dissipation(chain, body, x, dx)
        if body.gripped:
            total += sum((gripped.dissipation(part) for part in gripped.parts(body, x, dx)), ca.SX(0))
    return total


def dry_friction(chain: Chain, v: Any) -> Any:
    """Coulomb torques on the coordinates, smoothed by tanh so that the equations stay differentiable."""
    force = ca.SX.zeros(chain.coordinates.count)
    for body in chain.bodies:
        joint = body.link.joint
        if isinstance(joint, MovingJoint) and joint.coulomb:
            place = body.local.place(body.local.joint)
            force[place] = joint.coulomb * ca.tanh(v[place] / joint.coulomb_speed)
    return force


def wind_up(chain: Chain, body: Body, x: Any) -> Any:
    """Energy of the spring between a link and its motor, and of the stops of its joint."""
    drive = elastic_drive(body.link)
    stop = stops.potential(chain, body, x)
    if drive is None or drive.stiffness is None:
        return stop
    return stop + drive.stiffness / 2 * (x[body.local.motor] - x[body.local.joint]) ** 2


def bending(body: Body, x: Any) -> Any:
    """Elastic energy of a link."""
    if body.gripped:
        return sum((gripped.elastic(part) for part in gripped.parts(body, x, 0 * x)), ca.SX(0))
    eta = body.elastic(x)
    return ca.dot(eta, constant(body.integrals.K) @ eta) / 2


def _add(matrix: Array, body: Body, elastic: Array | None, between: Callable[[Drive], float]) -> None:
    """Add a body's own block: what acts on its elastic coordinates, and between its motor and its joint."""
    if elastic is not None:
        first = body.local.place(body.local.elastic.start)
        inside = slice(first, first + body.integrals.count)
        matrix[inside, inside] += elastic
    drive = elastic_drive(body.link)
    if drive is not None:
        pair = [body.local.place(body.local.joint), body.local.place(body.local.motor)]
        matrix[np.ix_(pair, pair)] += between(drive) * np.array([[1.0, -1.0], [-1.0, 1.0]])


def _beam_moment(integrals: LinkIntegrals, eta: Any) -> Any:
    """c = int mu rho dx."""
    a, H0 = constant(integrals.a), constant(integrals.H0)
    return ca.vertcat(integrals.c0 - ca.dot(eta, H0 @ eta) / 2, 0, 0) + a @ eta


def _beam(integrals: LinkIntegrals, omega: Any, v: Any, eta: Any, deta: Any) -> Any:
    """All terms of translation up to second order in eta and its rate, from constant integrals, and those of third
    order in the shortening without which the mass matrix would lose definiteness (docs/theory.md).

    The sections' own inertia enters as if they did not tilt: terms of its size times slope or twist are left out.
    """
    a, b, j = constant(integrals.a), constant(integrals.b), constant(integrals.j)
    M = {name: constant(matrix) for name, matrix in integrals.M.items()}
    H0, H1, M_elastic = constant(integrals.H0), constant(integrals.H1), constant(integrals.M_elastic)
    c = _beam_moment(integrals, eta)
    dc = a @ deta - ca.vertcat(ca.dot(H0 @ eta, deta), 0, 0)
    # where it meets the deflection, s(x) is taken as the line squeeze * x with the same int mu x s
    squeeze, dsqueeze = (ca.dot(H1 @ eta, each) / (integrals.g0 or 1.0) for each in (eta / 2, deta))
    along = (1 - squeeze) * (b @ eta)
    dalong = (1 - squeeze) * (b @ deta) + AXIAL_SHARE * dsqueeze * (b @ eta)
    Gxx = integrals.g0 * (1 - 2 * squeeze) + 2 * along[0] + ca.dot(eta, M["uu"] @ eta)
    Gyy, Gzz, Gyz = (ca.dot(eta, M[name] @ eta) for name in ("vv", "ww", "vw"))
    Gxy = along[1] + ca.dot(eta, M["uv"] @ eta)
    Gxz = along[2] + ca.dot(eta, M["uw"] @ eta)
    G = ca.vertcat(ca.horzcat(Gxx, Gxy, Gxz), ca.horzcat(Gxy, Gyy, Gyz), ca.horzcat(Gxz, Gyz, Gzz))
    inertia = (Gxx + Gyy + Gzz) * ca.SX.eye(3) - G + ca.diag(ca.DM(integrals.section_inertia))

    def spin(name: str) -> Any:
        return ca.dot(eta, M[name] @ deta) - ca.dot(deta, M[name] @ eta)

    k = j @ deta + ca.vertcat(spin("vw"), -spin("uw") - dalong[2], dalong[1] + spin("uv"))
    return (
        ca.dot(deta, M_elastic @ deta) / 2
        - dsqueeze * (b[0, :] @ deta)
        + ca.dot(v, dc)
        + ca.dot(omega, k)
        + integrals.m / 2 * ca.dot(v, v)
        + ca.dot(v, ca.cross(omega, c))
        + ca.dot(omega, inertia @ omega) / 2
    )


def _full_beam(integrals: LinkIntegrals, omega: Any, v: Any, eta: Any, deta: Any) -> Any:
    """Every order: 1/2 int mu |velocity of the point|^2 and the turning sections, slice by slice."""
    energy, s, ds, jet = 0.0, 0.0, 0.0, Jet.slow(eta, deta)
    for piece in integrals.slices:
        grown = shortening(constant(piece.station.H), jet)
        s, ds = s + grown.x, ds + grown.dx
        _, velocity = deflected(piece.station, jet, Jet(s, ds, 0)).twist(omega, v)
        energy += piece.mass / 2 * ca.dot(velocity, velocity)
        if piece.inertia.any():
            turning = omega + ca.sparsify(ca.DM(piece.station.W)) @ deta
            if integrals.link.rotary_inertia:  # else the sections are needles: tilting them would gain or lose energy
                turning, _ = twist_along(section_turn(piece.station, jet), omega, v)
            energy += ca.dot(turning, ca.DM(piece.inertia) * turning) / 2
    return energy


def _point(body: Body, mass: PointMass, at: float, omega: Any, v: Any, own: Jet) -> Any:
    there, *turns = place(body, body.integrals.station(at), own)
    turning, velocity = twist_along([there], omega, v)
    inertia = ca.DM(mass.inertia_matrix)
    if any(mass.offset) or not inertia.is_zero():
        turning, velocity = twist_along(turns, turning, velocity)
        velocity = velocity + ca.cross(turning, ca.DM(mass.offset))
    return mass.mass / 2 * ca.dot(velocity, velocity) + ca.dot(turning, constant(inertia) @ turning) / 2


def _centre(body: Body, mass: PointMass, at: float, own: Jet) -> Any:
    """Centre of a point mass in link axes."""
    R, p = pose_along(place(body, body.integrals.station(at), own), ca.SX.eye(3), ca.SX.zeros(3))
    return p + R @ ca.DM(mass.offset)
