"""Mass matrix and its inverse by recursion over the links (docs/theory.md, "Equations of motion").

The kinetic energy is a sum over links of a quadratic form in (V_i, dx_i), and the twists follow the tree,

    V_i = W_i + joint_i dx_i,    W_i = carry_i V_parent + carry_x_i dx_parent.

In an inward sweep each link passes a 6x6 inertia at W_i to its parent: the composite inertia if all coordinates are
held (columns of M), the articulated inertia if they are free (solution of M a = r at a cost proportional to the number
of links; Featherstone 2008, chapters 6 and 7, with elastic coordinates added).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import casadi as ca

from flexarm.foundation.dataclass import dataclass


@dataclass(frozen=True)
class LocalInertia:
    """Inertia of one link over (V, dx), (6 + n, 6 + n); its slice of the robot's vector; Jacobians of its twist."""

    parent: int | None
    place: slice
    inertia: Any
    carry: Any
    carry_x: Any
    joint: Any


@dataclass(frozen=True)
class Eliminated:
    """Link after elimination of its coordinates.

    `pivots`, `factor`, `permutation`: LDL factors of their inertia. `freed` (n, 6): response to an acceleration of W.
    """

    parent: int | None
    place: slice
    pivots: Any
    factor: Any
    permutation: list[int]
    freed: Any
    carry: Any
    carry_x: Any
    joint: Any

    MATRICES = ("pivots", "factor", "freed", "carry", "carry_x", "joint")

    def accelerations(self, force: Any) -> Any:
        """Return the link's own accelerations under a force on its coordinates, with W held."""
        if not force.shape[0]:
            return force
        return ca.ldl_solve(force, self.pivots, self.factor, self.permutation)


@dataclass
class Form:
    """Quadratic form 1/2 (W, dx)^T [[WW, Wx], [Wx^T, xx]] (W, dx)."""

    WW: Any
    Wx: Any
    xx: Any

    @staticmethod
    def of(link: LocalInertia) -> Form:
        """Return the form of a link alone, at its own twist V."""
        return Form(link.inertia[:6, :6], link.inertia[:6, 6:], link.inertia[6:, 6:])

    def add(self, WW: Any, Wx: Any, xx: Any) -> None:
        """Add the inertia of a child."""
        self.WW, self.Wx, self.xx = self.WW + WW, self.Wx + Wx, self.xx + xx

    def transform_to_joint(self, joint: Any) -> None:
        """Change variables from V to W = V - joint dx."""
        pulled = self.WW @ joint
        coupled = joint.T @ self.Wx
        self.xx = self.xx + symmetric(coupled + coupled.T + joint.T @ pulled)
        self.Wx = self.Wx + pulled


def eliminate(link: LocalInertia, form: Form) -> tuple[Eliminated, Any]:
    """Return a link, children included, with its coordinates eliminated, and the inertia (6, 6) that remains at W."""
    form.transform_to_joint(link.joint)
    pivots, factor, permutation = ca.ldl(form.xx) if form.xx.numel() else (ca.SX(0, 1), ca.SX(0, 0), [])
    freed = ca.SX(form.xx.shape[0], 6)  # zero on the ground, which does not move
    if form.xx.numel() and link.parent is not None:
        freed = ca.ldl_solve(form.Wx.T, pivots, factor, permutation)
    sparse = (ca.sparsify(part) for part in (freed, link.carry, link.carry_x, link.joint))
    return Eliminated(link.parent, link.place, pivots, factor, permutation, *sparse), form.WW - symmetric(
        form.Wx @ freed
    )


def parent_inertia(link: LocalInertia, inertia: Any) -> tuple[Any, Any, Any]:
    """Return the inertia of a link at W as parts of its parent's form, over the parent's V and coordinates."""
    X, P = link.carry, link.carry_x
    seen_x = inertia @ P
    return symmetric(X.T @ (inertia @ X)), X.T @ seen_x, symmetric(P.T @ seen_x)


def symmetric(matrix: Any) -> Any:
    """Return a symmetric matrix from its lower half."""
    return ca.tril2symm(ca.tril(ca.sparsify(matrix)))


class Articulated:
    """Tree of links with their inertias; `order` lists parents first."""

    def __init__(self, links: list[LocalInertia], order: tuple[int, ...]) -> None:
        self.links = links
        self.order = order
        self.count = max((link.place.stop for link in links), default=0)

    def matrix(self) -> Any:
        """Return the mass matrix M(q), (nq, nq)."""
        M = ca.SX(self.count, self.count)
        forms = [Form.of(link) for link in self.links]
        for i in reversed(self.order):
            link, form = self.links[i], forms[i]
            form.transform_to_joint(link.joint)
            M[link.place, link.place] = form.xx
            force, child, parent = form.Wx, link, link.parent
            while parent is not None:  # generalized forces of dx_i at each coordinate further inward
                above = self.links[parent]
                block = (child.carry_x + child.carry @ above.joint).T @ force
                M[above.place, link.place] = block
                M[link.place, above.place] = block.T
                force, child, parent = child.carry.T @ force, above, above.parent
            self._hand_over(i, forms, form.WW)
        return ca.sparsify(M)

    def solve(self, force: Any) -> Any:
        """Return the solution a of M(q) a = force."""
        return back_substitute(self.eliminate(), self.order, force)

    def eliminate(self) -> list[Eliminated]:
        """Eliminate all links inward: the part of a solution that does not depend on the force."""
        forms = [Form.of(link) for link in self.links]
        out: list[Any] = [None] * len(self.links)
        for i in reversed(self.order):
            out[i], left = eliminate(self.links[i], forms[i])
            self._hand_over(i, forms, left)
        return out

    def restricted(self, free: Sequence[int], extra: Any) -> Articulated:
        """Return the tree restricted to free coordinates, with a matrix added to the inertia of own coordinates.

        Entries of `extra` between links are ignored: there must be none.
        """
        kept = [[k - link.place.start for k in free if link.place.start <= k < link.place.stop] for link in self.links]
        out, start = [], 0
        for link, own in zip(self.links, kept, strict=True):
            above = [] if link.parent is None else kept[link.parent]
            rows = [*range(6), *(6 + k for k in own)]
            inertia, places = link.inertia[rows, rows], [link.place.start + k for k in own]
            inertia[6:, 6:] += extra[places, places]
            out.append(
                LocalInertia(
                    parent=link.parent,
                    place=slice(start, start + len(own)),
                    inertia=inertia,
                    carry=link.carry,
                    carry_x=link.carry_x[:, above],
                    joint=link.joint[:, own],
                )
            )
            start += len(own)
        return Articulated(out, self.order)

    def _hand_over(self, i: int, forms: list[Form], inertia: Any) -> None:
        """Add the inertia that a link shows at W to its parent."""
        link = self.links[i]
        if link.parent is not None:
            forms[link.parent].add(*parent_inertia(link, inertia))


def back_substitute(links: list[Eliminated], order: tuple[int, ...], force: Any) -> Any:
    """Return the solution for a force from eliminated links: an inward and an outward sweep."""
    at_V: list[Any] = [ca.SX.zeros(6) for _ in links]
    own = [force[link.place, 0] for link in links]
    for i in reversed(order):
        link = links[i]
        own[i] = own[i] + link.joint.T @ at_V[i]
        if link.parent is not None:
            at_W = at_V[i] - link.freed.T @ own[i]
            at_V[link.parent] += link.carry.T @ at_W
            own[link.parent] = own[link.parent] + link.carry_x.T @ at_W
    a = ca.SX.zeros(force.shape[0])
    V: dict[int, Any] = {}
    for i in order:
        link = links[i]
        W = ca.SX.zeros(6)
        if link.parent is not None:
            W = link.carry @ V[link.parent] + link.carry_x @ a[links[link.parent].place, 0]
        a[link.place, 0] = link.accelerations(own[i]) - link.freed @ W
        V[i] = W + link.joint @ a[link.place, 0]
    return a


def pack_eliminated(links: list[Eliminated]) -> Any:
    """Return all entries of eliminated links as one column, to pass them between CasADi functions."""
    return ca.vertcat(*(x for link in links for name in Eliminated.MATRICES for x in getattr(link, name).nonzeros()))


def unpack_eliminated(column: Any, like: list[Eliminated]) -> list[Eliminated]:
    """Return the eliminated links from their column; `like` gives their patterns."""
    out, start = [], 0
    for link in like:
        parts: dict[str, Any] = {}
        for name in Eliminated.MATRICES:
            sparsity = getattr(link, name).sparsity()
            parts[name] = ca.SX(sparsity, column[start : start + sparsity.nnz()])
            start += sparsity.nnz()
        out.append(replace(link, **parts))
    return out
