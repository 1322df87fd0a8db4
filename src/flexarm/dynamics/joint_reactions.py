"""Forces and torques in the joints of a tree of links.

A joint gives to its link what the inertia and weight of the link and of all that hangs on it require, less the loads
and constraint forces on them. Wrenches are arrays (..., 6): a force, then the torque about a point.

A virtual twist w_i of a link's root moves the link and all that hangs on it as one rigid body. The power of all inertia
and gravity forces in it is the wrench required from the joint, one reverse sweep as in inverse dynamics
(docs/theory.md, "Reactions and internal forces"):

    wrench_i = sum_j (dV_j/dw_i)^T F_j.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from flexarm.codegen.library import building
from flexarm.dynamics import energies
from flexarm.dynamics.equations import Equations
from flexarm.dynamics.links.sliding import is_gripped
from flexarm.dynamics.parameters import SymbolsUnder
from flexarm.dynamics.spatial_algebra import Jet, Shift, pose_along, twist_along
from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.messages import shown
from flexarm.foundation.validation import Array, real_array
from flexarm.robot.constraints import PointSupport

if TYPE_CHECKING:
    from flexarm.dynamics.bodies import Body
    from flexarm.dynamics.system import System


def move_wrench(wrench: Array, r: Array) -> Array:
    """Return a wrench about the point at r from the one about which it is given."""
    force = wrench[..., :3]
    torque = wrench[..., 3:] - np.cross(r, force)
    return np.concatenate([np.broadcast_to(force, torque.shape), torque], axis=-1)


def rotate_wrench(R: Array, wrench: Array) -> Array:
    """Return a wrench in other axes; R (..., 3, 3) transforms coordinates into these."""
    parts = [np.einsum("...ij,...j->...i", R, wrench[..., part]) for part in (slice(0, 3), slice(3, 6))]
    return np.concatenate(parts, axis=-1)


def rotate_wrench_back(R: Array, wrench: Array) -> Array:
    """Return a wrench in other axes, with the inverse of R."""
    return rotate_wrench(np.swapaxes(R, -1, -2), wrench)


def force_first(wrench: Array) -> Array:
    """Return a wrench in this order from that of twists, torque first."""
    return np.concatenate([wrench[..., 3:], wrench[..., :3]], axis=-1)


BALANCE_TOLERANCE = 1e-6  # remaining forces on coordinates, relative to those that constraints balance


@dataclass(frozen=True)
class OuterForce:
    """Wrench (..., 6) on a link about a point p (..., 3), both in the world, acting on the section at x (...)."""

    link: int
    x: Array
    p: Array
    wrench: Array


def outer_forces(
    system: System, motion: tuple[Array, Array, Array], loads: Any, constraint_forces: Any
) -> list[OuterForce]:
    """Return the forces of loads and constraints on links in a state (q, v, a), from user arguments."""
    q, pushed = motion[0], _loads(system, motion[0], loads)
    if constraint_forces is None and not pushed and system.constraints:
        constraint_forces = _balancing(system, motion)
    return [*pushed, *_constraints(system, q, constraint_forces)]


def _balancing(system: System, motion: tuple[Array, Array, Array]) -> Array | None:
    """Return constraint forces that balance the coordinates without actuator, or None if they are not determined."""
    driven = {each.coordinate.index for each in system.actuators}
    passive = [k for k in range(system.nq) if k not in driven]
    shape = np.broadcast_shapes(*(each.shape for each in motion))
    q, v, a = (np.broadcast_to(each, shape).reshape(-1, system.nq) for each in motion)
    taken = system.inverse_dynamics(q, v, a)
    found = []
    for row, needed in zip(system.constraint_jacobian(q)[:, :, passive], taken[:, passive], strict=True):
        forces, is_unique = row_forces(row, needed)
        left = row.T @ forces - needed
        if not is_unique or np.abs(left).max(initial=0.0) > BALANCE_TOLERANCE * np.abs(needed).max(initial=1e-300):
            return None
        found.append(forces)
    return np.array(found).reshape(*shape[:-1], -1)


def row_forces(J: Array, needed: Array) -> tuple[Array, bool]:
    """Return least-squares forces of rows J (rows, coordinates) for generalized forces; True if they are unique."""
    sizes = np.maximum(np.abs(J).max(axis=1, initial=0.0), 1e-300)
    forces, _, rank, _ = np.linalg.lstsq((J / sizes[:, None]).T, needed, rcond=1e-9)
    return np.asarray(forces / sizes), bool(rank == len(J))


def _loads(system: System, q: Array, loads: Any) -> list[OuterForce]:
    if not isinstance(loads, Sequence) or isinstance(loads, str):
        raise TypeError(f"loads = {shown(loads)}: must be a list of (link, x, wrench)")
    found = []
    for k, load in enumerate(loads):
        if not isinstance(load, Sequence) or isinstance(load, str) or len(load) != 3:
            raise TypeError(
                f"loads[{k}] = {shown(load)}: must be (link, x, wrench): a name, a distance from its root (m; None is "
                "the tip), and force and torque in world axes, six numbers (N, N m)"
            )
        link, x, given = load
        try:
            number, at = system.place(link, x)
        except (KeyError, ValueError) as error:
            raise type(error)(f"loads[{k}]: {error.args[0]}") from None
        wrench = real_array(f"loads[{k}]", given)
        if wrench.ndim == 0 or wrench.shape[-1] != 6:
            raise ValueError(
                f"loads[{k}]: the wrench has shape {wrench.shape}: its last dimension must be 6, force (N) and torque "
                "(N m) in world axes"
            )
        found.append(OuterForce(number, np.array(at), system.frame(link, at, q)[..., :3, 3], wrench))
    return found


def _constraints(system: System, q: Array, forces: Any) -> list[OuterForce]:
    rows = system.constraints
    with building:
        touches = system.structure.held_places.touches if rows else []  # a guide's own grip is part of its joint
    if forces is None:
        if touches:
            raise ValueError(
                "constraint_forces: is required, since this state (and its loads) does not determine the forces of the "
                f"constraints: one force for each of {', '.join(rows)}, as run['reaction'] has them"
            )
        return []
    given = real_array("constraint_forces", forces)
    if given.ndim == 0 or given.shape[-1] != len(rows):
        raise ValueError(
            f"constraint_forces has shape {given.shape}: its last dimension must be {len(rows)}, one for each row of "
            f"the constraints ({', '.join(rows) or 'there are none'})"
        )
    if not touches:
        return []
    pulled, R, p = system._call(system.structure.functions.held, given, q=q)
    found = []
    for k, touch in enumerate(touches):
        wrench = rotate_wrench(R[..., 3 * k : 3 * k + 3], force_first(pulled[..., k]))
        constraint = system.robot.every_constraint[touch.constraint]
        if touch.side == "root":
            x = _support_places(system, touch.constraint, q)
        else:
            _, _, at = constraint.places["link" if touch.side == "place" else touch.side]
            x = np.array(system.robot.links[touch.link].length if at is None else at)
        found.append(OuterForce(touch.link, x, p[..., k], wrench))
    return found


def _support_places(system: System, constraint: int, q: Array) -> Array:
    """Return the positions (...) of a support on its link."""
    supports = [k for k, each in enumerate(system.robot.every_constraint) if isinstance(each, PointSupport)]
    _, _, where = system.structure.constraints.supports[supports.index(constraint)]
    flat = q.reshape(-1, system.nq)
    found = np.array([float(where(each, system.numbers)) for each in flat])
    return found.reshape(q.shape[:-1])


def root_wrenches(e: Equations) -> list[Any]:
    """Return wrenches of inertia and gravity at the roots of all links, and poses and motions of the roots.

    Wrenches (6, links), torque first, in root axes; rotations (3, 3 links) and positions (3, links) in the world;
    motions (9, links): omega, its rate and the acceleration, with gravity as an upward acceleration.
    """
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
    moved = chain.accelerations(e.q, e.v, e.a, -chain.parameters["gravity"])
    found = [
        ca.reshape(wrenches, 6, count),
        ca.horzcat(*(R for R, _ in poses)),
        ca.horzcat(*(p for _, p in poses)),
        ca.horzcat(*(ca.vertcat(*each) for each in moved)),
    ]
    return [*ca.cse([ca.densify(each) for each in found])]


def local_symbols(e: Equations, link: int) -> tuple[list[Any], list[Any], Jet]:
    """Return symbols for the motion of a link's root, split and as given, and for its own coordinates."""
    motion, count = ca.SX.sym("motion", 9), e.chain.bodies[link].local.count
    own = Jet(*(ca.SX.sym(name, count) for name in ("x", "dx", "ddx")))
    return [motion[:3], motion[3:6], motion[6:]], [motion, *own.parts], own


def own_wrenches(e: Equations, link: int) -> tuple[list[Any], list[Any]]:
    """Return arguments (motion, x, dx, ddx) and wrenches (6, 1 + masses) of a link alone, and of each mass on it."""
    (omega, domega, a), given, own = local_symbols(e, link)
    body, v = e.chain.bodies[link], ca.SX.sym("v", 3)
    whole, _ = energies.link_forces(body, omega, domega, a, own)
    lumps = [energies.lump_forces(body, lump, omega, domega, a, own, v)[:6] for lump in body.lumps]
    return given, [ca.cse(ca.densify(ca.horzcat(whole, *lumps)))]


def section_motion(e: Equations, link: int, there: SymbolsUnder) -> tuple[list[Any], list[Any]]:
    """Return arguments (motion, x, dx, ddx) and motion of the section at a position on a link.

    Position (3,), axes (9, row by row) and acceleration (3,) in root axes; angular velocity and its rate in section
    axes.
    """
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


class Balance:
    """Equilibrium of all forces on a robot in states (q, v, a); leading dimensions are a batch."""

    def __init__(self, system: System, q: Any, v: Any, a: Any, loads: Any, constraint_forces: Any) -> None:
        self.system, self.bodies = system, system._chain.bodies
        given = [system.vector(each, name) for name, each in (("q", q), ("v", v), ("a", a))]
        leading = np.broadcast_shapes(*(each.shape[:-1] for each in given))
        self.outer: list[OuterForce] = outer_forces(system, (given[0], given[1], given[2]), loads, constraint_forces)
        leading = np.broadcast_shapes(leading, *(each.wrench.shape[:-1] for each in self.outer))
        self.leading = leading
        self.q, self.v, self.a = (np.broadcast_to(each, (*leading, system.nq)) for each in given)
        taken, R, p, motions = system._call(system.structure.functions.tree, q=given[0], v=given[1], a=given[2])
        count = len(self.bodies)
        self._taken = force_first(np.swapaxes(taken, -1, -2))  # (..., links, 6)
        self._R = np.swapaxes(R.reshape(*R.shape[:-1], count, 3), -2, -3)  # (..., links, 3, 3)
        self._p, self._motions = np.swapaxes(p, -1, -2), np.swapaxes(motions, -1, -2)

    def R(self, link: int) -> Array:
        """Return the rotation (..., 3, 3) of a link's root in the world."""
        return self._R[..., link, :, :]

    def p(self, link: int) -> Array:
        """Return the position (..., 3) of a link's root in the world."""
        return self._p[..., link, :]

    def motion(self, link: int) -> Array:
        """Return omega, its rate and the acceleration (..., 9) of a link's root in its own axes, gravity included."""
        return self._motions[..., link, :]

    @cached_property
    def _at_roots(self) -> list[Array]:
        """Wrenches (..., 6) of joints on all links, about their roots, in the world."""
        found = [
            np.broadcast_to(rotate_wrench(self.R(i), self._taken[..., i, :]), (*self.leading, 6))
            for i in range(len(self.bodies))
        ]
        for each in self.outer:
            link: int | None = each.link
            while link is not None:
                found[link] = found[link] - move_wrench(each.wrench, self.p(link) - each.p)
                link = self.bodies[link].parent
        return found

    def at_root(self, link: int) -> Array:
        """Return the wrench (..., 6) of its joint on a link, about the link's root, in the world."""
        return self._at_roots[link]

    def held_at(self, link: int) -> Array:
        """Return the position of a joint along its link (m from the root, as positions on the link are counted)."""
        body = self.bodies[link]
        if not body.link.joint.grips:
            return np.zeros(self.leading)
        return np.asarray(body.link.length - self.q[..., body.local.place(body.local.joint)])

    def reaction(self, link: int, axes: str) -> Array:
        """Return force and torque (..., 6) of a joint on its link, about the joint, in root or world axes."""
        found = rotate_wrench_back(self.R(link), self.at_root(link))
        if slides_rigidly(self.bodies[link]):  # the root moves relative to the guide
            found = move_wrench(found, self.held_at(link)[..., None] * np.array([1.0, 0.0, 0.0]))
        return rotate_wrench(self.R(link), found) if axes == "world" else found


def slides_rigidly(body: Body) -> bool:
    """Return True if a link slides through its joint together with its root frame."""
    return body.link.joint.grips and not is_gripped(body.link)
