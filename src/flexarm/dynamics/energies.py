"""Energies and forces of one link in terms of its root twist and own coordinates; constant K and D of a robot.

Terms that depend on how a link deforms come from its model (`links`); this module adds lumped masses, rotors, joints
and stops, and sums over links (docs/theory.md, "Equations of motion").
"""

from __future__ import annotations

from typing import Any

import casadi as ca

from flexarm.dynamics.articulated import symmetric
from flexarm.dynamics.bodies import SymbolicBody, elastic_drive
from flexarm.dynamics.kinematics import Kinematics
from flexarm.dynamics.parameters import SymbolsUnder
from flexarm.dynamics.spatial_algebra import Jet, acceleration_along, pose_along, twist_along
from flexarm.robot import MovingJoint

# Depth over which the damping of a stop sets in, so that the force is continuous; as a share of the travel.
STOP_DAMPING_DEPTH = 1e-3


def stop_energy(body: SymbolicBody, x: Any) -> Any:
    """Return the energy of the stops of a body's joint."""
    energy = ca.SX(0)
    for depth in _stop_depths(body, x):
        energy += body.parameters["joint.stop.stiffness"] / 2 * ca.fmax(0, depth) ** 2
    return energy


def stop_dissipation(body: SymbolicBody, x: Any, dx: Any) -> Any:
    """Return half the power dissipated by the stops of a body's joint."""
    half = ca.SX(0)
    for depth in _stop_depths(body, x):
        damping = body.parameters["joint.stop.damping"]
        if damping.nnz():
            lower, upper = ca.vertsplit(body.parameters["joint.limits"])
            touch = ca.fmin(1, ca.fmax(0, depth) / (STOP_DAMPING_DEPTH * (upper - lower)))
            half += damping / 2 * touch * dx[body.local.joint] ** 2
    return half


def _stop_depths(body: SymbolicBody, x: Any) -> list[Any]:
    """Return the penetration of both stops of a joint (rad or m); negative without contact."""
    joint = body.link.joint
    if not isinstance(joint, MovingJoint) or joint.stop is None:
        return []
    lower, upper = ca.vertsplit(body.parameters["joint.limits"])
    at = x[body.local.joint]
    return [lower - at, at - upper]


def kinetic_energy(body: SymbolicBody, twist: Any, x: Any, dx: Any) -> Any:
    """Return the kinetic energy of a link, the masses fixed to it and the rotor that drives it."""
    energy = link_kinetic_energy(body, twist, x, dx)
    if (rotor := _rotor(body)) is not None:
        energy += body.parameters["joint.drive.reflected_inertia"] / 2 * dx[rotor] ** 2
    return energy


def _rotor(body: SymbolicBody) -> int | None:
    """Return the index of the coordinate with which the rotor of the link's drive moves, or None."""
    joint = body.link.joint
    if not isinstance(joint, MovingJoint) or joint.drive is None:
        return None
    return body.local.joint if body.local.motor is None else body.local.motor


def link_kinetic_energy(body: SymbolicBody, twist: Any, x: Any, dx: Any) -> Any:
    """Return the kinetic energy of a link and the masses fixed to it, without its rotor."""
    omega, v = twist[:3], twist[3:]
    energy = body.model.kinetic(body, omega, v, x, dx)
    for lump in body.lumps:
        turning, velocity = _lump_twist(body, lump, omega, v, Jet.slow(x, dx))
        energy += lump["mass"] / 2 * ca.dot(velocity, velocity) + ca.dot(turning, lump["inertia"] @ turning) / 2
    return energy


def link_forces(body: SymbolicBody, omega: Any, domega: Any, a: Any, own: Jet) -> tuple[Any, Any]:
    """Return the inertia forces on a link's twist (6,) and on its own coordinates for a given motion of its root."""
    v = ca.SX.sym("v", 3)
    force, inner = body.model.forces(body, omega, domega, a, own, v)
    for lump in body.lumps:
        pushed = lump_forces(body, lump, omega, domega, a, own, v)
        force, inner = force + pushed[:6], inner + pushed[6:]
    if (rotor := _rotor(body)) is not None:
        inner[rotor] += body.parameters["joint.drive.reflected_inertia"] * own.ddx[rotor]
    return force, inner


def lump_forces(body: SymbolicBody, lump: SymbolsUnder, omega: Any, domega: Any, a: Any, own: Jet, v: Any) -> Any:
    """Return the inertia forces of a mass on the twist and own coordinates of its link, (6 + n,)."""
    steps = _to_lump(body, lump, own)
    turning, growing, pushed = acceleration_along(steps, omega, domega, a)
    mass, offset, inertia = lump["mass"], ca.densify(lump["offset"]), lump["inertia"]
    if lump["offset"].nnz():
        pushed = pushed + ca.cross(growing, offset) + ca.cross(turning, ca.cross(turning, offset))
    moved, forces = [], []
    spin, velocity = _lump_twist(body, lump, omega, v, own)
    moved.append(velocity)
    forces.append(mass * pushed)
    if inertia.nnz():
        moved.append(spin)
        forces.append(inertia @ growing + ca.cross(turning, inertia @ turning))
    return ca.jtimes(ca.vertcat(*moved), ca.vertcat(omega, v, own.dx), ca.vertcat(*forces), True)


def _to_lump(body: SymbolicBody, lump: SymbolsUnder, own: Jet) -> Any:
    """Return the steps from the root frame to a mass, including its axes only if they matter."""
    there, *turns = body.model.place(body, lump.under("place"), own)
    return [there, *turns] if lump["offset"].nnz() or lump["inertia"].nnz() else [there]


def _lump_twist(body: SymbolicBody, lump: SymbolsUnder, omega: Any, v: Any, own: Jet) -> tuple[Any, Any]:
    """Return the angular velocity of a mass, and the velocity of its centre."""
    turning, velocity = twist_along(_to_lump(body, lump, own), omega, v)
    if lump["offset"].nnz():
        velocity = velocity + ca.cross(turning, ca.densify(lump["offset"]))
    return turning, velocity


def inertia(body: SymbolicBody, x: Any) -> Any:
    """Return the inertia matrix (6 + n, 6 + n) of a link and the masses fixed to it, over its twist and own rates."""
    rates = ca.SX.sym("rates", 6 + body.local.count)
    own = Jet.slow(x, rates[6:])
    total = body.model.inertia(body, x)
    for lump in body.lumps:
        turning, velocity = _lump_twist(body, lump, rates[:3], rates[3:6], own)
        J = ca.jacobian(velocity, rates)
        total += symmetric(J.T @ (lump["mass"] * J))
        if lump["inertia"].nnz():
            J = ca.jacobian(turning, rates)
            total += symmetric(J.T @ (lump["inertia"] @ J))
    if (rotor := _rotor(body)) is not None:
        total[6 + rotor, 6 + rotor] += body.parameters["joint.drive.reflected_inertia"]
    return total


def squared_displacements(body: SymbolicBody, twist: Any, x: Any, dx: Any) -> list[Any]:
    """Return mean squares of the displacement of a link under a small change (twist, dx), independent of coordinates.

    The mean is over the link's mass. A motor counts as if it turned its link, and so does a joint without mass.
    """
    lever = body.parameters.get("lever", body.length)
    levers = [lever if freedom.unit == "rad" else 1.0 for freedom in body.link.joint.freedoms]
    moved, squares = [] if body.local.motor is None else [(body.local.motor, levers[0])], []
    if "mass_inverse" in body.parameters:
        squares.append(2 * body.parameters["mass_inverse"] * ca.fabs(link_kinetic_energy(body, twist, x, dx)))
    else:
        moved += zip(body.local.joints, levers, strict=True)
    return squares + [(lever * dx[place]) ** 2 for place, lever in moved]


def first_moment(body: SymbolicBody, x: Any) -> tuple[Any, Any]:
    """Return the mass of a link with the masses fixed to it, and its first moment about the root in link axes."""
    mass, moment = body.model.first_moment(body, x)
    for lump in body.lumps:
        mass += lump["mass"]
        moment += lump["mass"] * _centre(body, lump, Jet.slow(x))
    return mass, moment


def _centre(body: SymbolicBody, lump: SymbolsUnder, own: Jet) -> Any:
    """Return the centre of a mass in link axes."""
    steps = body.model.place(body, lump.under("place"), own)
    R, p = pose_along(steps, ca.SX.eye(3), ca.SX.zeros(3))
    return p + R @ lump["offset"]


def stiffness(chain: Kinematics) -> Any:
    """Return the constant part (nq, nq) of K: elastic drives, and links except those that slide through their joint."""
    return ca.diagcat(*(own_stiffness(body) for body in chain.bodies))


def damping(chain: Kinematics) -> Any:
    """Return the constant part (nq, nq) of D: linear dissipation of links, drives and joints."""
    return ca.diagcat(*(own_damping(body) for body in chain.bodies))


def own_stiffness(body: SymbolicBody) -> Any:
    """Return the constant stiffness of one body; no spring acts between two bodies."""
    out = _own(body, body.model.stiffness(body), "joint.drive.stiffness")
    for k, freedom in body.freedoms:
        if freedom["stiffness"].nnz():
            out[k, k] += freedom["stiffness"]
    return out


def own_damping(body: SymbolicBody) -> Any:
    """Return the constant damping of one body."""
    out = _own(body, body.model.damping(body), "joint.drive.damping")
    for k, freedom in body.freedoms:
        if freedom["viscous"].nnz():
            out[k, k] += freedom["viscous"]
    return out


def _own(body: SymbolicBody, elastic: Any, between: str) -> Any:
    """Return a matrix over a body's coordinates from its elastic block and the spring or damper of its drive."""
    matrix = ca.SX(body.local.count, body.local.count)
    if body.elastic_count:
        matrix[body.local.elastic, body.local.elastic] = elastic
    if elastic_drive(body.link) is not None and body.parameters[between].nnz():
        pair = [body.local.own_joint, body.local.own_joint + 1]
        matrix[pair, pair] += body.parameters[between] * ca.DM([[1.0, -1.0], [-1.0, 1.0]])
    return matrix


def varying_potential(chain: Kinematics, q: Any) -> Any:
    """Return the elastic energy that is not a quadratic form of the constant K."""
    return sum((own_varying_potential(body, chain.part(q, i)) for i, body in enumerate(chain.bodies)), ca.SX(0))


def own_varying_potential(body: SymbolicBody, x: Any) -> Any:
    """Return the elastic energy of one body that is not a quadratic form of the constant K."""
    return stop_energy(body, x) + body.model.varying_strain(body, x) - _preload(body, x)


def _preload(body: SymbolicBody, x: Any) -> Any:
    """Return the work of the forces that springs of the joint have at zero coordinates, because of their rest."""
    loaded = ((k, freedom) for k, freedom in body.freedoms if freedom["rest"].nnz())
    return sum((freedom["stiffness"] * freedom["rest"] * x[k] for k, freedom in loaded), ca.SX(0))


def varying_dissipation(chain: Kinematics, q: Any, v: Any) -> Any:
    """Return half the dissipated power that is not a quadratic form of the constant D."""
    parts = ((body, chain.part(q, i), chain.part(v, i)) for i, body in enumerate(chain.bodies))
    return sum((own_varying_dissipation(*each) for each in parts), ca.SX(0))


def own_varying_dissipation(body: SymbolicBody, x: Any, dx: Any) -> Any:
    """Return half the dissipated power of one body that is not a quadratic form of the constant D."""
    return stop_dissipation(body, x, dx) + body.model.varying_dissipation(body, x, dx)


def dry_friction(chain: Kinematics, v: Any) -> Any:
    """Return the Coulomb friction on the coordinates, smoothed by tanh so that the equations stay differentiable."""
    return ca.vertcat(*(own_friction(body, chain.part(v, i)) for i, body in enumerate(chain.bodies)))


def own_friction(body: SymbolicBody, dx: Any) -> Any:
    """Return the Coulomb friction on a body's own coordinates."""
    force = ca.SX.zeros(body.local.count)
    for k, freedom in body.freedoms:
        if freedom["coulomb"].nnz():
            force[k] = freedom["coulomb"] * ca.tanh(dx[k] / freedom["coulomb_speed"])
    return force


def drive_energy(body: SymbolicBody, x: Any) -> Any:
    """Return the energy of the spring between a link and its motor, and of the springs and stops of its joint."""
    energy = stop_energy(body, x)
    for k, freedom in body.freedoms:
        if freedom["stiffness"].nnz():
            energy += freedom["stiffness"] / 2 * (x[k] - freedom["rest"]) ** 2
    if elastic_drive(body.link) is None:
        return energy
    return energy + body.parameters["joint.drive.stiffness"] / 2 * (x[body.local.motor] - x[body.local.joint]) ** 2


def strain_energy(body: SymbolicBody, x: Any) -> Any:
    """Return the elastic energy of a link."""
    eta = body.elastic(x)
    return ca.dot(eta, body.model.stiffness(body) @ eta) / 2 + body.model.varying_strain(body, x)
