"""Sparsity of a link's integrals: entries that are zero by construction for any length, section or material.

Modes are orthogonal, elements without common nodes and different planes do not couple. This follows from the basis and
the families, never from small values. Patterns are arrays of bool, True where an entry may differ from zero.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexarm.beam.foreshortening import Product
from flexarm.beam.integrals import LinkIntegrals
from flexarm.robot import Elements, Reduced, Splines
from flexarm.robot.flexibility import FAMILIES

Pattern = NDArray[np.bool_]

NODE_TOLERANCE = 1e-9  # relative to a link's length: places closer to a node than this are at the node

DISPLACEMENT_FAMILIES = {"u": "stretch", "v": "bend_y", "w": "bend_z"}  # by displacement
ROTATION_FAMILIES = ("twist", "bend_z", "bend_y")  # of rotations about x, y, z


class SparsityPatterns:
    """Sparsity patterns of one link's integrals, under the names of the integrals."""

    def __init__(self, integrals: LinkIntegrals) -> None:
        self._of, self._columns, self._n = integrals, integrals.columns, integrals.count
        self._near = NODE_TOLERANCE * integrals.length
        flexible = integrals.link.flexible
        self._basis: Any = None if flexible is None else flexible.basis
        self._damping = None if flexible is None else flexible.damping

    # --- matrices of one family ---

    @cached_property
    def _meshed(self) -> bool:
        return isinstance(self._basis, (Elements, Splines))

    def _support(self, name: str) -> Pattern:
        """Return on which elements each shape differs from zero, shape (pieces, shapes)."""
        return np.asarray((self._of.shapes[name].coefficients != 0).any(axis=0))

    def _overlap(self, one: str, other: str, start: float = 0.0, end: float = np.inf) -> Pattern:
        """Return pairs of shapes that are both nonzero somewhere between two places."""
        if not self._meshed:
            met = end > self._near
            return np.full((self._width(one), self._width(other)), met)
        a, b = self._of.shapes[one].breaks, self._of.shapes[other].breaks
        low = np.maximum(np.maximum.outer(a[:-1], b[:-1]), start)
        high = np.minimum(np.minimum.outer(a[1:], b[1:]), end)
        return np.asarray(self._support(one).T @ (high - low > self._near) @ self._support(other))

    def overlap(self, name: str) -> Pattern:
        """Return pairs of shapes of a family with a common element."""
        return self._overlap(name, name)

    def _width(self, name: str) -> int:
        place = self._columns[name]
        return int(place.stop - place.start)

    def mass_of(self, name: str) -> Pattern:
        """Return the pattern of a family's mass matrix, in which modes are orthogonal."""
        return self._orthogonal(name, self._tip(name))

    def unit_of(self, name: str) -> Pattern:
        """Return where a family's mass matrix is one, since modes are mass-normalized."""
        out = np.zeros((self._width(name),) * 2, dtype=bool)
        if not self._meshed:
            tip = self._tip(name)
            np.fill_diagonal(out[tip:, tip:], True)
        return out

    def stiffness_of(self, name: str) -> Pattern:
        """Return the pattern of a family's stiffness matrix."""
        out = self._orthogonal(name)
        tip = self._tip(name)
        out[:tip, :tip] = True
        return out

    def _orthogonal(self, name: str, tip: int = 0) -> Pattern:
        """Return a diagonal pattern for modes; the first `tip` shapes couple with all others."""
        if self._meshed:
            return self._overlap(name, name)
        out = np.eye(self._width(name), dtype=bool)
        out[:tip], out[:, :tip] = True, True
        return out

    def _tip(self, name: str) -> int:
        return int(self._basis.tip_shapes(name)) if isinstance(self._basis, Reduced) else 0

    # --- the integrals ---

    @cached_property
    def section_inertia(self) -> Pattern:
        """Pattern of the rotary inertia about x, y, z, shape (3,)."""
        link = self._of.link
        return np.array([True, link.rotary_inertia, link.rotary_inertia]) & (link.section is not None)

    @cached_property
    def a(self) -> Pattern:
        """Pattern of integrals that are linear in displacements, shape (3, n)."""
        return self._rows([DISPLACEMENT_FAMILIES[axis] for axis in "uvw"])

    @cached_property
    def turned(self) -> Pattern:
        """Pattern of integrals that are linear in rotations, shape (3, n)."""
        return self._rows(ROTATION_FAMILIES)

    @cached_property
    def j(self) -> Pattern:
        """Pattern of the angular momentum of the sections, shape (3, n)."""
        return self.turned & self.section_inertia[:, None]

    def _rows(self, families: Any) -> Pattern:
        out = np.zeros((3, self._n), dtype=bool)
        for row, name in enumerate(families):
            if name in self._columns:
                out[row, self._columns[name]] = True
        return out

    def M(self, axes: str, convected: bool = False) -> Pattern:
        """Return the pattern of int mu N_u^T N_v for axes "uv", or with the convected shapes of a sliding link."""
        one, other = (DISPLACEMENT_FAMILIES[axis] for axis in axes)
        if one not in self._columns or other not in self._columns:
            return np.zeros((self._n, self._n), dtype=bool)
        simple = one == other and not self._tilts(one) and not convected
        return self._block(one, other, self.mass_of(one) if simple else self._overlap(one, other))

    def M_ones(self, axes: str) -> Pattern:
        """Return where M is one by construction."""
        one, other = (DISPLACEMENT_FAMILIES[axis] for axis in axes)
        simple = one == other and one in self._columns and not self._tilts(one)
        return self._blocks({one: self.unit_of(one)} if simple else {})

    def _tilts(self, name: str) -> bool:
        """Return True if modes are orthogonal with rotary inertia included."""
        return self._of.families[name].rotary is not None

    @cached_property
    def M_elastic(self) -> Pattern:
        """Pattern of the elastic mass matrix."""
        return self._blocks({name: self.mass_of(name) for name in self._columns})

    @cached_property
    def M_cc(self) -> Pattern:
        """Pattern of the mass matrix of the convected shapes."""
        return self._blocks({name: self._overlap(name, name) for name in self._columns if name != "twist"})

    def turning(self, row: int) -> Pattern:
        """Return the pattern of integrals of rotary inertia about one axis."""
        name = ROTATION_FAMILIES[row]
        return self._blocks({name: self._overlap(name, name)} if name in self._columns else {})

    @cached_property
    def K(self) -> Pattern:
        """Pattern of the elastic stiffness matrix."""
        return self._blocks({name: self.stiffness_of(name) for name in self._columns})

    @cached_property
    def D(self) -> Pattern:
        """Pattern of the elastic damping matrix."""
        out = np.zeros((self._n, self._n), dtype=bool)
        material, given = self._of.link.material, self._damping
        if not self._n or material is None:
            return out
        if material.damping or (given is not None and given.beta):
            out |= self.K
        if given is not None and given.alpha:
            out |= self.M_elastic
        if given is not None and given.ratio is not None:
            out |= self.D_ratios
        return out

    @cached_property
    def D_ratios(self) -> Pattern:
        """Pattern of damping ratios: diagonal for modes, else full for each family."""
        both = {name: self.mass_of(name) | self.stiffness_of(name) for name in self._columns}
        diagonal = {name: not each[~np.eye(len(each), dtype=bool)].any() for name, each in both.items()}
        return self._blocks(
            {name: each if diagonal[name] else np.ones_like(each, dtype=bool) for name, each in both.items()}
        )

    def product(self, product: Product, end: float = np.inf) -> Pattern:
        """Return the pattern of a product of two families, integrated from the root to a place."""
        return self._overlap(product.one, product.other, end=end)

    def _blocks(self, by_family: dict[str, Pattern]) -> Pattern:
        out = np.zeros((self._n, self._n), dtype=bool)
        for name, pattern in by_family.items():
            out[self._columns[name], self._columns[name]] = pattern
        return out

    def _block(self, one: str, other: str, pattern: Pattern) -> Pattern:
        out = np.zeros((self._n, self._n), dtype=bool)
        out[self._columns[one], self._columns[other]] = pattern
        return out

    # --- shapes at a place ---

    def nonzero_at(self, name: str, x: float) -> Pattern:
        """Return which shapes of a family differ from zero at x inside a piece, shape (shapes of the family,)."""
        return np.broadcast_to(self._inside(name, x), self._width(name))

    def relative_rotation(self, start: float, end: float) -> Pattern:
        """Return which shapes rotate the sections at two places relative to each other, shape (3, n)."""
        out = np.zeros((3, self._n), dtype=bool)
        for row, name in enumerate(ROTATION_FAMILIES):
            if name in self._columns and end - start > self._near:
                out[row, self._columns[name]] = self._between(name, start, end)
        return out

    def _between(self, name: str, start: float, end: float) -> Any:
        if not self._meshed:
            return True
        breaks = self._of.shapes[name].breaks
        met = np.minimum(breaks[1:], end) - np.maximum(breaks[:-1], start) > self._near
        return (self._support(name) & met[:, None]).any(axis=0)

    def snap(self, x: float) -> float:
        """Return the end of the link or the node that a place equals up to rounding, else the place."""
        nodes = [space.breaks for space in self._of.shapes.values()] if self._meshed else []
        ends = np.concatenate([[0.0, self._of.length], *nodes])
        nearest = float(ends[np.abs(ends - x).argmin()])
        return nearest if abs(nearest - x) <= self._near else x

    def U(self, x: float) -> tuple[Pattern, Pattern]:
        """Return the pattern of displacements at x, shape (3, n), and where they are one by construction."""
        return self._at(x, [(DISPLACEMENT_FAMILIES[axis], False) for axis in "uvw"])

    def W(self, x: float) -> tuple[Pattern, Pattern]:
        """Return the pattern of rotations at x, shape (3, n), and where they are one or minus one."""
        return self._at(x, [(name, name != "twist") for name in ROTATION_FAMILIES])

    def _at(self, x: float, rows: list[tuple[str, bool]]) -> tuple[Pattern, Pattern]:
        present, ones = np.zeros((2, 3, self._n), dtype=bool)
        for row, (name, slope) in enumerate(rows):
            if name in self._columns:
                place, nodal = self._columns[name], self._nodal(name, x, slope)
                present[row, place] = self._inside(name, x) if nodal is None else nodal
                ones[row, place] = False if nodal is None else nodal
        return present, ones

    def _inside(self, name: str, x: float) -> Any:
        """Return which shapes of a family differ from zero at x between nodes."""
        if not self._meshed or x <= self._near:  # at the clamped root only nodal functions of the root are nonzero
            return x > self._near
        return self._support(name)[int(np.searchsorted(self._of.shapes[name].breaks, x)) - 1]

    def _nodal(self, name: str, x: float, slope: bool) -> Pattern | None:
        """Return the one shape whose value (or slope) at the node x is one, all others being zero; None elsewhere."""
        nodes, order, width = self._of.shapes[name].breaks, FAMILIES[name].order, self._width(name)
        if isinstance(self._basis, Elements):
            per_node, count = (2, len(nodes)) if order == 2 else (self._basis.order, len(nodes))
            at_root = order - (width - per_node * (count - 1))  # functions that a clamped root removes
        elif self._tip(name):  # the shapes of the tip's own deflection and slope come first
            nodes, per_node, at_root = nodes[-1:], 0, 0
        else:
            return None
        nearest = int(np.abs(nodes - x).argmin())
        if abs(nodes[nearest] - x) > self._near:
            return None
        column = per_node * nearest - at_root + (1 if slope else 0)
        out = np.zeros(width, dtype=bool)
        if column >= 0:
            out[column] = True
        return out
