"""Forces and moments across the sections of a link, from the equilibrium of what lies outboard of them.

Mass times acceleration of the link's points (gravity as an upward acceleration) and the rate of angular momentum of its
sections are summed from the section outward; masses, links and loads there are added. Where the energy of a link is
truncated ("shortening"), its momentum differs slightly from that of its points; the difference is distributed over its
mass, so that the sum over the whole link equals the reaction of its joint (docs/theory.md, "Reactions and internal
forces").
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from flexarm.beam.integrals import OutboardQuadrature
from flexarm.beam.polynomials import merge_breaks
from flexarm.beam.section_nodes import LinkNodes
from flexarm.dynamics.joint_reactions import Balance, force_first, move_wrench, rotate_wrench, rotate_wrench_back
from flexarm.dynamics.links.sliding import is_gripped
from flexarm.dynamics.model import lumps
from flexarm.dynamics.parameters import Parameters
from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.validation import Array
from flexarm.robot import FixedPrismatic

if TYPE_CHECKING:
    import casadi as ca

    from flexarm.dynamics.bodies import Body

SECTION_TOLERANCE = 1e-9  # share of a link's length; what is this close to a section counts as outboard
MAX_POINT_COUNT = 40  # quadrature points of a piece: shapes of high degree are smooth


@dataclass(frozen=True)
class SectionMotions:
    """Motion of sections of a link in consecutive states.

    Positions r (states, points, 3), axes R (states, points, 3, 3) and accelerations in root axes; angular velocities
    and their rates in section axes.
    """

    r: Array
    R: Array
    acceleration: Array
    spin: Array
    spin_rate: Array


class LinkSectionForces:
    """Section forces of one link in the states of a balance."""

    def __init__(self, balance: Balance, link: int) -> None:
        self.balance, self.link = balance, link
        self.body: Body = balance.bodies[link]
        own = self.body.local.all
        self._states = int(np.prod(balance.leading, dtype=int))
        self._given = [self._flat(balance.motion(link), 9)] + [
            self._flat(each[..., own], self.body.local.count) for each in (balance.q, balance.v, balance.a)
        ]
        self._held_at = self._flat(balance.held_at(link)[..., None], 1)  # (states, 1)

    def _flat(self, values: Array, width: int) -> Array:
        """Return values with the states as one dimension."""
        return np.broadcast_to(values, (*self.balance.leading, width)).reshape(self._states, width)

    def forces(self, x: Array) -> Array:
        """Return forces and moments (..., len(x), 6) of the outboard part on the inboard part, in section axes."""
        balance, link = self.balance, self.link
        if not self._states:
            return np.zeros((*balance.leading, len(x), 6))
        needed = self._own(x) + self._children(x) - self._outer(x)
        behind = x < self._held_at - SECTION_TOLERANCE * self.body.link.length  # there the root side is free
        at_root = self._flat(rotate_wrench_back(balance.R(link), balance.at_root(link)), 6)
        across = np.where(behind[..., None], at_root[:, None, :], 0.0) - needed
        sections = self._sections(x)
        found = rotate_wrench_back(sections.R, move_wrench(across, sections.r))
        if _has_no_rear(self.body):
            found = np.where(behind[..., None], np.nan, found)
        return found.reshape(*balance.leading, len(x), 6)

    # --- wrenches of outboard parts, about the root and in its axes: (states, len(x), 6) ---

    def _own(self, x: Array) -> Array:
        """Return the wrenches of inertia of the link itself and of the masses on it."""
        mass, found = self._of_points(x)
        whole = self._of_points(np.zeros(1))[0]
        if whole.any() and not _has_no_rear(self.body):  # material that enters at a joint takes momentum there
            found = found + (mass / whole)[..., None] * self.unresolved[:, None, :]
        for each, (_, _, at) in zip(self._own_wrenches[1:], lumps(self.body), strict=True):
            found = found + self._outboard(np.array([at]), x)[..., None] * each[:, None, :]
        return found

    @cached_property
    def unresolved(self) -> Array:
        """Difference (states, 6) between the wrench from the link's energy and that of its points."""
        whole, *masses = self._own_wrenches
        return np.asarray(whole - sum(masses, np.zeros(6)) - self._of_points(np.zeros(1))[1][:, 0])

    def _of_points(self, x: Array) -> tuple[Array, Array]:
        """Return the mass outboard of sections (states or 1, len(x)), and its wrench of inertia (states, len(x), 6)."""
        points, (mass, taken) = self._material, self._per_length
        weights = points.weights(x)
        return np.einsum("...xp,...p->...x", weights, mass), np.einsum("...xp,...pk->...xk", weights, taken)

    def _children(self, x: Array) -> Array:
        """Return the wrenches of joints on links attached to this one."""
        balance, total = self.balance, np.zeros((self._states, len(x), 6))
        for number, body in enumerate(balance.bodies):
            if body.parent != self.link:
                continue
            if body.link.joint.rides:
                at = balance.q[..., body.local.place(body.local.joint)].reshape(self._states)
            else:
                at = np.array([body.hangs_at])
            total += self._outboard(at, x)[..., None] * self._at_own_root(balance.at_root(number), balance.p(number))
        return total

    def _outer(self, x: Array) -> Array:
        """Return the wrenches of loads and constraints."""
        total = np.zeros((self._states, len(x), 6))
        for each in self.balance.outer:
            if each.link == self.link:
                at = np.broadcast_to(each.x, self.balance.leading).reshape(self._states)
                total += self._outboard(at, x)[..., None] * self._at_own_root(each.wrench, each.p)
        return total

    def _outboard(self, at: Array, x: Array) -> Array:
        """Return True (states or 1, len(x)) where positions are outboard of sections, or at them."""
        return np.asarray(at[:, None] >= x - SECTION_TOLERANCE * self.body.link.length)

    def _at_own_root(self, wrench: Array, p: Array) -> Array:
        """Return a wrench (states, 1, 6) about a point of the world, moved to the root and written in its axes."""
        balance, link = self.balance, self.link
        return self._flat(rotate_wrench_back(balance.R(link), move_wrench(wrench, balance.p(link) - p)), 6)[:, None, :]

    # --- the link itself ---

    @cached_property
    def _own_wrenches(self) -> list[Array]:
        """Wrenches of inertia (states, 6): of all of the link, then of each mass on it."""
        function = self.balance.system.structure.functions.own_wrenches(self.link)
        found = self._run(function, *self._given)
        return [*np.moveaxis(force_first(found.reshape(self._states, -1, 6)), 1, 0)]

    @cached_property
    def _material(self) -> OutboardQuadrature:
        """Quadrature points along the link; if it is gripped by a joint, they move with the joint."""
        body, of = self.body, self.body.integrals
        shapes = [*of.shapes.values()]
        mass = of.properties.mass
        degree = max((space.degree for space in shapes), default=1)
        if of.stiffening == "exact":
            degree = max(degree, LinkNodes(of).per_piece)
        elif shapes and of.stiffening != "none":
            degree = 2 * degree
        count = min(2 * degree + mass.degree + 2, MAX_POINT_COUNT)
        if not is_gripped(body.link):
            return OutboardQuadrature(
                merge_breaks(of.properties.steps, mass.breaks, *(space.breaks for space in shapes))[None], count
            )
        guide = self._held_at
        ends = [guide, np.full_like(guide, body.link.length)]
        return OutboardQuadrature(np.hstack(ends if _has_no_rear(body) else [np.zeros_like(guide), *ends]), count)

    @cached_property
    def _per_length(self) -> tuple[Array, Array]:
        """Mass per length (states or 1, points), and wrench of inertia per length (states, points, 6)."""
        x = self._material.x
        sections, properties = self._sections(x), self.body.integrals.properties
        flat = x.ravel()
        mass = properties.mass(flat).reshape(x.shape)
        moments = ("I_p", "I_y", "I_z") if self.body.link.rotary_inertia else ("I_p",)
        inertia = np.zeros((*x.shape, 3))
        for axis, moment in enumerate(moments):
            inertia[..., axis] = properties.inertia(moment)(flat).reshape(x.shape)
        force = mass[..., None] * sections.acceleration
        turning = inertia * sections.spin_rate + np.cross(sections.spin, inertia * sections.spin)
        couple = np.concatenate([np.zeros_like(turning), turning], axis=-1)
        push = np.concatenate([force, np.zeros_like(force)], axis=-1)
        return mass, move_wrench(push, -sections.r) + rotate_wrench(sections.R, couple)

    def _sections(self, x: Array) -> SectionMotions:
        """Return the motion of sections at x: (points,), the same in all states, or (states or 1, points)."""
        functions, table = self.balance.system.structure.functions, np.atleast_2d(x)
        rows = np.empty((self._states, table.shape[1], 21))
        moving = x.ndim == 2 and is_gripped(self.body.link)
        for k, column in enumerate(table.T):
            if k == 0 or not moving:
                there = Parameters()
                self.body.model.add_place(there, "place", self.body, float(column[0]), anywhere=True)
            place = there.vector[None, :]
            if moving:  # only x differs between such positions
                place = np.repeat(place, self._states, axis=0)
                place[:, there.names.index("place.x")] = column
            rows[:, k] = self._run(functions.section_motion(self.link, there), *self._given, place)
        r, R, acceleration, spin, spin_rate = np.split(rows, [3, 12, 15, 18], axis=-1)
        return SectionMotions(r, R.reshape(*R.shape[:-1], 3, 3), acceleration, spin, spin_rate)

    def _run(self, function: ca.Function, *given: Array) -> Array:
        """Return the outputs (states, outputs) of a function of columns in all states."""
        columns = [each.T if each.shape[1] else np.zeros((0, 1)) for each in given]
        found = np.array(function(*columns, self.balance.system.numbers))
        return found.reshape(-1, self._states, order="F").T


def _has_no_rear(body: Body) -> bool:
    """Return True if material of a link enters at its joint."""
    return isinstance(body.link.joint, FixedPrismatic) and body.link.joint.rear == "none"
