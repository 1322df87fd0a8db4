"""Forces and moments across the sections of a link, from the equilibrium of what lies outboard of them.

Of the points of a link, mass times acceleration (gravity as an upward one) and the rate of their sections' angular
momentum are summed from the section outward; to these come masses, links and loads there. Where the energy of a link
is truncated ("shortening"), its momentum differs a little from that of its points: the difference is spread over its
mass, so that the sum over the whole link is what its joint gives.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from flexarm.beam.integrals import OutboardQuadrature
from flexarm.beam.polynomials import merge_breaks
from flexarm.beam.section_nodes import LinkNodes
from flexarm.dynamics.joint_reactions import Balance, about, force_first, turned, turned_back
from flexarm.dynamics.links.sliding import gripped
from flexarm.dynamics.model import lumps
from flexarm.dynamics.parameters import Numbers
from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.validation import Array
from flexarm.robot import FixedPrismatic, RidingJoint

if TYPE_CHECKING:
    import casadi as ca

    from flexarm.dynamics.bodies import Body

NEAR = 1e-9  # of a link's length: what is so near to a section counts as outboard of it
MOST_POINTS = 40  # on a piece: shapes of high degree are smooth


@dataclass(frozen=True)
class Sections:
    """Of a link, in states one after the other: places (states, points, 3) and axes (states, points, 3, 3) of sections
    in root axes, accelerations in root axes, angular velocities and their rates in their own."""

    r: Array
    R: Array
    acceleration: Array
    spin: Array
    spin_rate: Array


class LinkCuts:
    """One link in the states of a balance."""

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
        """States as one dimension."""
        return np.broadcast_to(values, (*self.balance.leading, width)).reshape(self._states, width)

    def forces(self, x: Array) -> Array:
        """(..., len(x), 6): force and moment of what is outboard of the sections at x on what is inboard, in the
        sections' axes."""
        balance, link = self.balance, self.link
        if not self._states:
            return np.zeros((*balance.leading, len(x), 6))
        needed = self._own(x) + self._children(x) - self._outer(x)
        behind = x < self._held_at - NEAR * self.body.link.length  # there the other side is free
        at_root = self._flat(turned_back(balance.R(link), balance.at_root(link)), 6)
        across = np.where(behind[..., None], at_root[:, None, :], 0.0) - needed
        sections = self._sections(x)
        found = turned_back(sections.R, about(across, sections.r))
        if _nothing_behind(self.body):
            found = np.where(behind[..., None], np.nan, found)
        return found.reshape(*balance.leading, len(x), 6)

    # --- what lies outboard, about the root and in its axes: (states, len(x), 6) ---

    def _own(self, x: Array) -> Array:
        """What the link itself takes, with all masses on it."""
        mass, found = self._of_points(x)
        whole = self._of_points(np.zeros(1))[0]
        if whole.any() and not _nothing_behind(self.body):  # what appears in a joint takes its momentum there
            found = found + (mass / whole)[..., None] * self.unresolved[:, None, :]
        for each, (_, _, at) in zip(self._own_wrenches[1:], lumps(self.body), strict=True):
            found = found + self._outboard(np.array([at]), x)[..., None] * each[:, None, :]
        return found

    @cached_property
    def unresolved(self) -> Array:
        """(states, 6): by how much the momentum of the link's energy takes more than that of its points."""
        whole, *masses = self._own_wrenches
        return np.asarray(whole - sum(masses, np.zeros(6)) - self._of_points(np.zeros(1))[1][:, 0])

    def _of_points(self, x: Array) -> tuple[Array, Array]:
        """(states or 1, len(x)), (states, len(x), 6): mass outboard of sections, and what it takes."""
        points, (mass, taken) = self._material, self._per_length
        weights = points.weights(x)
        return np.einsum("...xp,...p->...x", weights, mass), np.einsum("...xp,...pk->...xk", weights, taken)

    def _children(self, x: Array) -> Array:
        """What joints give to links that hang on this one."""
        balance, total = self.balance, np.zeros((self._states, len(x), 6))
        for number, body in enumerate(balance.bodies):
            if body.parent != self.link:
                continue
            if isinstance(body.link.joint, RidingJoint):
                at = balance.q[..., body.local.place(body.local.joint)].reshape(self._states)
            else:
                at = np.array([body.hangs_at])
            total += self._outboard(at, x)[..., None] * self._at_own_root(balance.at_root(number), balance.p(number))
        return total

    def _outer(self, x: Array) -> Array:
        """What loads and constraints give."""
        total = np.zeros((self._states, len(x), 6))
        for each in self.balance.outer:
            if each.link == self.link:
                at = np.broadcast_to(each.x, self.balance.leading).reshape(self._states)
                total += self._outboard(at, x)[..., None] * self._at_own_root(each.wrench, each.p)
        return total

    def _outboard(self, at: Array, x: Array) -> Array:
        """(states or 1, len(x)): whether places are outboard of sections, or at them."""
        return np.asarray(at[:, None] >= x - NEAR * self.body.link.length)

    def _at_own_root(self, wrench: Array, p: Array) -> Array:
        """(states, 1, 6): a wrench about a point of the world, about the root and in its axes."""
        balance, link = self.balance, self.link
        return self._flat(turned_back(balance.R(link), about(wrench, balance.p(link) - p)), 6)[:, None, :]

    # --- the link itself ---

    @cached_property
    def _own_wrenches(self) -> list[Array]:
        """(states, 6) each: what all of it takes, then each mass."""
        function = self.balance.system.structure.functions.own_wrenches(self.link)
        found = self._run(function, *self._given)
        return [*np.moveaxis(force_first(found.reshape(self._states, -1, 6)), 1, 0)]

    @cached_property
    def _material(self) -> OutboardQuadrature:
        """Points of the link; where it changes its length on both sides of a joint, these move with it."""
        body, of = self.body, self.body.integrals
        shapes = [*of.shapes.values()]
        mass = of.properties.mass
        degree = max((space.degree for space in shapes), default=1)
        if of.stiffening == "exact":
            degree = max(degree, LinkNodes(of).per_piece)
        elif shapes and of.stiffening != "none":
            degree = 2 * degree
        count = min(2 * degree + mass.degree + 2, MOST_POINTS)
        if not gripped(body.link):
            return OutboardQuadrature(
                merge_breaks(of.properties.steps, mass.breaks, *(space.breaks for space in shapes))[None], count
            )
        guide = self._held_at
        ends = [guide, np.full_like(guide, body.link.length)]
        return OutboardQuadrature(np.hstack(ends if _nothing_behind(body) else [np.zeros_like(guide), *ends]), count)

    @cached_property
    def _per_length(self) -> tuple[Array, Array]:
        """(states or 1, points), (states, points, 6): mass of the material per length, and what it takes."""
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
        return mass, about(push, -sections.r) + turned(sections.R, couple)

    def _sections(self, x: Array) -> Sections:
        """At x (points,), the same in all states, or (states or 1, points)."""
        functions, table = self.balance.system.structure.functions, np.atleast_2d(x)
        rows = np.empty((self._states, table.shape[1], 21))
        moving = x.ndim == 2 and gripped(self.body.link)
        for k, column in enumerate(table.T):
            if k == 0 or not moving:
                there = Numbers()
                self.body.model.add_place(there, "place", self.body, float(column[0]), anywhere=True)
            place = there.vector[None, :]
            if moving:  # of such places only x itself changes
                place = np.repeat(place, self._states, axis=0)
                place[:, there.names.index("place.x")] = column
            rows[:, k] = self._run(functions.section_motion(self.link, there), *self._given, place)
        r, R, acceleration, spin, spin_rate = np.split(rows, [3, 12, 15, 18], axis=-1)
        return Sections(r, R.reshape(*R.shape[:-1], 3, 3), acceleration, spin, spin_rate)

    def _run(self, function: ca.Function, *given: Array) -> Array:
        """(states, outputs): a function of columns in all states."""
        columns = [each.T if each.shape[1] else np.zeros((0, 1)) for each in given]
        found = np.array(function(*columns, self.balance.system.numbers))
        return found.reshape(-1, self._states, order="F").T


def _nothing_behind(body: Body) -> bool:
    """Whether material of a link appears in its joint."""
    return isinstance(body.link.joint, FixedPrismatic) and body.link.joint.rear == "none"
