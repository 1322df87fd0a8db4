"""What each link, with all that hangs on it, takes from its joint: as CasADi expressions.

A virtual twist w_i of a link's root carries the link and all that hangs on it as one rigid body. The power of all
forces of inertia and gravity in it is the wrench that the joint must give: one reverse sweep, as in the inverse
dynamics,

    wrench_i = sum_j (dV_j/dw_i)^T F_j.
"""

from __future__ import annotations

from typing import Any

import casadi as ca

from flexarm.mechanics import energies
from flexarm.mechanics.equations import Equations
from flexarm.mechanics.jets import Jet
from flexarm.mechanics.rotations import Shift, pose_along, twist_along
from flexarm.mechanics.symbols import SymbolsUnder


def tree(e: Equations) -> list[Any]:
    """Of all links: wrenches (6, links) that inertia and gravity take at their roots (torque first, in root axes),
    rotations (3, 3 links) and places (3, links) of the roots in the world, and how these move (9, links): omega, its
    rate, acceleration, gravity as an upward one."""
    chain, count = e.chain, len(e.chain.bodies)
    virtual = ca.SX.sym("virtual", 6, count)
    twists: list[Any] = [None] * count
    for i in chain.order:
        parent = chain.bodies[i].parent
        start = ca.SX.zeros(6) if parent is None else twists[parent]
        twists[i] = ca.vertcat(*twist_along(chain.path(i, e.q), start[:3], start[3:])) + virtual[:, i]
    forces, _ = e.forces_of_links
    wrenches = ca.jtimes(ca.vertcat(*twists), ca.vec(virtual), ca.vertcat(*forces), True)
    poses = chain.poses(e.q)
    moved = chain.accelerations(e.q, e.v, e.a, -chain.numbers["gravity"])
    found = [
        ca.reshape(wrenches, 6, count),
        ca.horzcat(*(R for R, _ in poses)),
        ca.horzcat(*(p for _, p in poses)),
        ca.horzcat(*(ca.vertcat(*each) for each in moved)),
    ]
    return [*ca.cse([ca.densify(each) for each in found])]


def local_symbols(e: Equations, link: int) -> tuple[list[Any], list[Any], Jet]:
    """Symbols for the motion of a link's root, split and as given, and for its own coordinates."""
    motion, count = ca.SX.sym("motion", 9), e.chain.bodies[link].local.count
    own = Jet(*(ca.SX.sym(name, count) for name in ("x", "dx", "ddx")))
    return [motion[:3], motion[3:6], motion[6:]], [motion, *own.parts], own


def own_wrenches(e: Equations, link: int) -> tuple[list[Any], list[Any]]:
    """(motion, x, dx, ddx) -> what a link alone takes at its root, (6, 1 + masses on it): all of it, then each mass."""
    (omega, domega, a), given, own = local_symbols(e, link)
    body, v = e.chain.bodies[link], ca.SX.sym("v", 3)
    whole, _ = energies.link_forces(body, omega, domega, a, own)
    lumps = [energies.lump_forces(body, lump, omega, domega, a, own, v)[:6] for lump in body.lumps]
    return given, [ca.cse(ca.densify(ca.horzcat(whole, *lumps)))]


def section_motion(e: Equations, link: int, there: SymbolsUnder) -> tuple[list[Any], list[Any]]:
    """(motion, x, dx, ddx) -> of the section at a place on a link: its place (3,), axes (9, row by row) and
    acceleration (3,) in root axes, angular velocity and its rate (3, 3) in its own."""
    (omega, domega, a), given, own = local_symbols(e, link)
    body = e.chain.bodies[link]
    shift, *turns = body.model.place(body, there, own)
    assert isinstance(shift, Shift)
    R, _ = pose_along(turns, ca.SX.eye(3), ca.SX.zeros(3))
    _, _, pushed = shift.acceleration(omega, domega, a)
    spin, growing = omega, domega
    for turn in turns:
        spin, growing, _ = turn.acceleration(spin, growing, ca.SX.zeros(3))
    return given, [ca.cse(ca.densify(ca.vertcat(shift.r, ca.vec(ca.SX(R).T), pushed, spin, growing)))]
