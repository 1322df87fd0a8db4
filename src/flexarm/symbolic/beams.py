"""Flexible link in symbols: parameters, elastic coordinates, and positions of its points when it deforms."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.polynomial import legendre

from flexarm.beam.integrals import LinkIntegrals
from flexarm.beam.polynomials import PiecewisePolynomials
from flexarm.beam.sliding_integrals import SlidingIntegrals
from flexarm.symbolic import algebra, stiffened_places
from flexarm.symbolic.algebra import ZERO, Exponents, Expr, Scales, Vector, diff, fraction, number, plus, symbol, times
from flexarm.symbolic.symbols import Abbreviations, latex_name

SHAPE_LETTERS = {
    "bend_y": "N",
    "bend_z": "W",
    "twist": "T",
    "stretch": "S",
}  # symbols of shape functions at a sliding joint

SectionPose = tuple[Vector, Vector]
"""Position of a point in the axes of the link, and the angles of its section about x, y and z."""


@dataclass(frozen=True)
class ClosedFormShapes:
    """Elastic coordinates of a link, or of one part of it: indices, symbols and exponents of their scales."""

    integrals: LinkIntegrals
    columns: list[int]
    eta: list[Expr]
    powers: list[Exponents]


@dataclass(frozen=True)
class Beam:
    """Flexible or rigid link.

    `mesh` contains index and symbol of the coordinates of its nodes, None if eliminated by a boundary condition; it is
    empty for links that are treated as one piece.
    """

    integrals: LinkIntegrals
    scales: Scales
    l: Expr  # noqa: E741
    m: Expr
    rigidity: dict[str, tuple[Expr, float]]  # EI, GJ, EA by family, with values
    rotary: dict[int, tuple[Expr, float]]  # inertia of the sections per length by axis
    front: ClosedFormShapes
    rear: ClosedFormShapes | None = None
    mesh: list[tuple[int, Expr] | None] = field(default_factory=list)
    d: tuple[int, Expr] | None = None  # coordinate of the joint that the link slides through
    number: int = 1
    short: Abbreviations = field(default_factory=lambda: Abbreviations({}))
    planar: bool = True

    @property
    def slides_through_joint(self) -> bool:
        return isinstance(self.integrals, SlidingIntegrals)

    @property
    def stiffening(self) -> str:
        """Stiffening model; "none" also for rigid links and for "exact" links that do not bend."""
        model = self.integrals.stiffening if self.front.columns else "none"
        straight = not any(name.startswith("bend") for name in self.integrals.columns)
        return "none" if model == "exact" and straight else model

    @property
    def elements(self) -> int:
        return len(self.mesh) // 2 - 1

    @property
    def bends(self) -> bool:
        return bool(self.mesh or self.front.columns or (self.rear is not None and self.rear.columns))

    def section_pose(self, x: float) -> SectionPose:
        """Return the pose of the section at a constant distance x from the root.

        The frame of a link that slides through its joint is at the joint.
        """
        return self._named(self._section_pose(x))

    def _section_pose(self, x: float) -> SectionPose:
        share = x / self.integrals.length if x else 0.0
        along = self.l if share == 1 else fraction(share) * self.l
        if self.mesh:
            return self._on_mesh(share)
        if self.stiffening == "exact":
            return stiffened_places.exact_section_pose(self, x)
        if not self.slides_through_joint:
            return self._bent(self.front, along, x, 1)
        assert self.d is not None
        out = along - self.l + self.d[1] if share != 1 else self.d[1]
        if share == 0 and self.rear is not None:
            return self._bent(self.rear, out, self.integrals.length, -self.l / (self.l - self.d[1]))
        return self._bent(self.front, out, x, self.l / self.d[1])

    def node_pose(self, node: int, d: Expr) -> SectionPose:
        """Return the pose of a joint at d with deflection and slope of a node, 0 at the root (My et al., Table 2)."""
        deflection, slope = self.mesh[2 * node : 2 * node + 2]
        return (d, node_displacement(deflection), 0), (0, 0, node_displacement(slope))

    def moving_section_pose(self, x: Expr, near: float | None = None, label: str | None = None) -> SectionPose:
        """Return the pose of the section at a symbolic distance x from the root.

        On a link that slides through its joint, the section is in front of the joint. If the shape functions have
        several pieces, `near` is a value in the piece of x. With a label, the shape functions at x get names.
        """
        along, at, lean = x, x, number(1)
        if self.slides_through_joint:
            assert self.d is not None
            along, lean = x + self.d[1] - self.l, self.l / self.d[1]
            at = self.l - (self.l - x) * lean
        rows: dict[str, Expr] = {}
        for name, space in self.integrals.shapes.items():
            inside = self.integrals.columns[name]
            functions = MovingShapes(self, space, self.front.powers[inside], at, near)
            eta = self.front.eta[inside]
            tag = None if label is None else f"{SHAPE_LETTERS[name]}_{label}"
            rows[name] = _sum(functions.values(0, tag), eta)
            if name.startswith("bend"):
                rows[name + "'"] = lean * _sum(functions.values(1, tag), eta)
        rho = (along + rows.get("stretch", 0), rows.get("bend_y", 0), rows.get("bend_z", 0))
        if self.stiffening == "exact":
            rho = stiffened_places.exact_axis_point(self, at, near, label)
        angles = (rows.get("twist", 0), -rows.get("bend_z'", 0), rows.get("bend_y'", 0))
        if self.stiffening == "shortening":
            rho = plus(rho, stiffened_places.moving_second_order_displacement(self, at, near, label, lean))
            angles = plus(angles, stiffened_places.moving_second_order_rotation(self, at, near, label, lean))
        pose = rho, angles
        return pose if label is None else self._named(pose)

    def _named(self, pose: SectionPose) -> SectionPose:
        """Replace deflections and angles by abbreviations."""
        (along, y, z), (about_x, about_y, about_z) = pose
        n, name = self.number, self.short.name
        if self.stiffening != "none":  # derivatives are long, too
            whole = self.short.name_with_derivatives
            along, y, z = whole(f"xf_{n}", along), whole(f"uf_{n}", y), whole(f"wf_{n}", z)
        deflected = (along, name(f"uf_{n}", y), name(f"wf_{n}", z))
        return deflected, (name(f"phis_{n}", about_x), name(f"ws_{n}", about_y), name(f"us_{n}", about_z))

    def _bent(self, shapes: ClosedFormShapes, along: Expr, x: float, lean: Expr) -> SectionPose:
        """Return the pose at a constant x; slopes are multiplied by `lean` in a part that is shorter than the link."""
        station = shapes.integrals.station(x)
        rho, angles = (along, 0, 0), ZERO
        for k, (eta, power) in enumerate(zip(shapes.eta, shapes.powers, strict=True)):
            U = tuple(self.scales(float(value), power) for value in station.U[:, k])
            twist = self.scales(float(station.W[0, k]), power)
            slopes = (self.scales(float(value), power * Exponents(l=-1)) * lean for value in station.W[1:, k])
            rho, angles = plus(rho, times(eta, U)), plus(angles, times(eta, (twist, *slopes)))
        if shapes.columns and self.stiffening == "shortening":
            rho = plus(rho, stiffened_places.second_order_displacement(self, shapes, x, lean))
            angles = plus(angles, stiffened_places.second_order_rotation(self, shapes, x, lean))
        return rho, angles

    def _on_mesh(self, share: float) -> SectionPose:
        position = round(share * self.elements, 12)
        j = min(int(position), self.elements - 1)
        size, x = self.l / self.elements, symbol("x")
        at = fraction(position - j) * size
        nodes = [node_displacement(each) for each in self.mesh[2 * j : 2 * j + 4]]
        local = algebra.shapes(x, size)
        deflection = _sum([each.subs(x, at) for each in local], nodes)
        slope = _sum([diff(each, x).subs(x, at) for each in local], nodes)
        along = self.l if share == 1 else fraction(share) * self.l
        return (along, deflection, 0), (0, 0, slope)


class MovingShapes:
    """Shape functions of one family at a symbolic position `at`, and their derivatives."""

    def __init__(
        self, beam: Beam, space: PiecewisePolynomials, powers: list[Exponents], at: Expr, near: float | None
    ) -> None:
        self.beam, self.space, self.powers, self.at = beam, space, powers, at
        self.piece = 0 if near is None else int(np.searchsorted(space.breaks, near)) - 1
        self._named: dict[tuple[int, int], Expr] = {}

    def values(self, order: int, label: str | None) -> list[Expr]:
        """Return derivatives of the shape functions, as polynomials or, with a label, as abbreviations."""
        return [self._sum(order, k) if label is None else self._name(order, k, label) for k in range(self.space.count)]

    def _name(self, order: int, k: int, label: str) -> Expr:
        if (order, k) not in self._named:
            short, base = self.beam.short, f"{label}_{k + 1}"

            def slope(by: Expr) -> Expr:
                inner = short.diff(self.at, by)
                return 0 if inner == 0 else self._name(order + 1, k, label) * inner

            latex = latex_name(base).replace("_", "'" * order + "_", 1)
            self._named[order, k] = short.define("d" * order + base, self._sum(order, k, label), slope, latex)
        return self._named[order, k]

    def _sum(self, order: int, k: int, label: str | None = None) -> Expr:
        """Return a derivative as a polynomial of t, which is -1 and 1 at the ends of the piece."""
        space = self.space
        for _ in range(order):
            space = space.derivative()
        ends = space.breaks[self.piece : self.piece + 2] / self.beam.integrals.length
        left, right = (fraction(float(end)) for end in ends)
        t = (2 * self.at / self.beam.l - left - right) / (right - left)
        if label is not None:
            t = self.beam.short.name(f"t_{label.split('_')[1]}", t)
        power = self.powers[k] * Exponents(l=-order)
        series = legendre.leg2poly(space.coefficients[:, self.piece, k])
        return sum((self.beam.scales(float(c), power) * t**n for n, c in enumerate(series)), number(0))


def node_displacement(node: tuple[int, Expr] | None) -> Expr:
    """Return the coordinate of a node, zero if eliminated by a boundary condition."""
    return 0 if node is None else node[1]


def _sum(weights: list[Expr], values: list[Expr]) -> Expr:
    return sum((weight * value for weight, value in zip(weights, values, strict=True) if weight != 0), number(0))
