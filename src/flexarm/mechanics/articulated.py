"""Mass matrix and its inverse, link by link.

The kinetic energy is a sum over links of a quadratic form in (V_i, dx_i), and the twists follow the tree,

    V_i = W_i + joint_i dx_i,    W_i = carry_i V_parent + carry_x_i dx_parent.

Folding the tree inward, each link hands its parent a 6x6 inertia seen at W_i: the composite one when all coordinates
are held (that gives the columns of M), the articulated one when they are free (that solves M a = r at a cost
proportional to the number of links; Featherstone 2008, chapters 6 and 7, with elastic coordinates added).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca


@dataclass(frozen=True)
class LocalInertia:
    """One link: its form `inertia` over (V, dx), its place in the robot's vector and its twist's Jacobians."""

    parent: int | None
    place: slice
    inertia: Any
    carry: Any
    carry_x: Any
    joint: Any


@dataclass
class _Form:
    """1/2 (W, dx)^T [[WW, Wx], [Wx^T, xx]] (W, dx) - f^T W - r^T dx."""

    WW: Any
    Wx: Any
    xx: Any
    f: Any
    r: Any


class Articulated:
    def __init__(self, links: list[LocalInertia], order: tuple[int, ...]) -> None:
        self.links = links
        self.order = order
        self.count = max((link.place.stop for link in links), default=0)

    def matrix(self) -> Any:
        """M(q)."""
        M = ca.SX(self.count, self.count)
        forms = self._forms(ca.SX.zeros(self.count))
        for i in reversed(self.order):
            link, form = self.links[i], forms[i]
            self._seat(link, form)
            M[link.place, link.place] = form.xx
            force, child, parent = form.Wx, link, link.parent
            while parent is not None:  # what moving dx_i takes at each coordinate further in
                above = self.links[parent]
                block = (child.carry_x + child.carry @ above.joint).T @ force
                M[above.place, link.place] = block
                M[link.place, above.place] = block.T
                force, child, parent = child.carry.T @ force, above, above.parent
            self._hand_over(link, forms, form.WW, ca.SX.zeros(6))
        return ca.sparsify(M)

    def solve(self, force: Any) -> Any:
        """a with M(q) a = force."""
        forms = self._forms(force)
        factors: dict[int, Any] = {}
        for i in reversed(self.order):
            link, form = self.links[i], forms[i]
            self._seat(link, form)
            if not form.xx.is_empty():
                factors[i] = ca.ldl(form.xx)
                freed = ca.ldl_solve(ca.horzcat(form.Wx.T, form.r), *factors[i])
                form.WW = form.WW - form.Wx @ freed[:, :6]
                form.f = form.f - form.Wx @ freed[:, 6]
            self._hand_over(link, forms, form.WW, form.f)
        a = ca.SX.zeros(self.count)
        V: dict[int, Any] = {}
        for i in self.order:
            link, form = self.links[i], forms[i]
            W = ca.SX.zeros(6)
            if link.parent is not None:
                W = link.carry @ V[link.parent] + link.carry_x @ a[self.links[link.parent].place, 0]
            if i in factors:
                a[link.place, 0] = ca.ldl_solve(form.r - form.Wx.T @ W, *factors[i])
            V[i] = W + link.joint @ a[link.place, 0]
        return a

    def _forms(self, force: Any) -> list[_Form]:
        """Each link alone, at its own twist V."""
        out = []
        for link in self.links:
            I = link.inertia  # noqa: E741
            out.append(_Form(I[:6, :6], I[:6, 6:], I[6:, 6:], ca.SX.zeros(6), force[link.place, 0]))
        return out

    def _seat(self, link: LocalInertia, form: _Form) -> None:
        """From V to W = V - joint dx."""
        S = link.joint
        pulled = form.WW @ S
        form.xx = form.xx + S.T @ form.Wx + form.Wx.T @ S + S.T @ pulled
        form.r = form.r + S.T @ form.f
        form.Wx = form.Wx + pulled

    def _hand_over(self, link: LocalInertia, forms: list[_Form], inertia: Any, force: Any) -> None:
        """Add what a link shows at W to its parent."""
        if link.parent is None:
            return
        above = forms[link.parent]
        X, P = link.carry, link.carry_x
        seen, seen_x = inertia @ X, inertia @ P
        above.WW = above.WW + X.T @ seen
        above.Wx = above.Wx + X.T @ seen_x
        above.xx = above.xx + P.T @ seen_x
        above.f = above.f + X.T @ force
        above.r = above.r + P.T @ force
