"""Forces and torques in the joints of a tree, on arrays.

A joint gives to its link what the inertia and the weight of the link and of all that hangs on it take, less what loads
and constraints give to them.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.mechanics.link_models.gripped import gripped
from flexarm.mechanics.outer_forces import OuterForce, outer_forces
from flexarm.mechanics.wrenches import about, force_first, turned, turned_back
from flexarm.robot import FixedPrismatic

if TYPE_CHECKING:
    from flexarm.mechanics.bodies import Body
    from flexarm.mechanics.system import System


class Balance:
    """Of all forces on a robot in a state (q, v, a), or in many: leading dimensions are a batch."""

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
        """Rotation (..., 3, 3) of a link's root in the world."""
        return self._R[..., link, :, :]

    def p(self, link: int) -> Array:
        """Its place (..., 3)."""
        return self._p[..., link, :]

    def motion(self, link: int) -> Array:
        """How it moves (..., 9): omega, its rate, acceleration, in its own axes; gravity as an upward acceleration."""
        return self._motions[..., link, :]

    @cached_property
    def _at_roots(self) -> list[Array]:
        """Wrenches (..., 6) on all links from their joints, about their roots, in the world."""
        found = [
            np.broadcast_to(turned(self.R(i), self._taken[..., i, :]), (*self.leading, 6))
            for i in range(len(self.bodies))
        ]
        for each in self.outer:
            link: int | None = each.link
            while link is not None:
                found[link] = found[link] - about(each.wrench, self.p(link) - each.p)
                link = self.bodies[link].parent
        return found

    def at_root(self, link: int) -> Array:
        """Wrench (..., 6) on a link from its joint, about its root, in the world."""
        return self._at_roots[link]

    def held_at(self, link: int) -> Array:
        """Where along a link its joint holds it (m from its root, as its places are counted)."""
        body = self.bodies[link]
        if not isinstance(body.link.joint, FixedPrismatic):
            return np.zeros(self.leading)
        return np.asarray(body.link.length - self.q[..., body.local.place(body.local.joint)])

    def reaction(self, link: int, axes: str) -> Array:
        """(..., 6): force and torque of a joint on its link, about the joint, in root axes or the world's."""
        found = turned_back(self.R(link), self.at_root(link))
        if slides_as_a_whole(self.bodies[link]):  # its root is not where the guide is
            found = about(found, self.held_at(link)[..., None] * np.array([1.0, 0.0, 0.0]))
        return turned(self.R(link), found) if axes == "world" else found


def slides_as_a_whole(body: Body) -> bool:
    """Whether a link slides through its joint, and its root with it."""
    return isinstance(body.link.joint, FixedPrismatic) and not gripped(body.link)
