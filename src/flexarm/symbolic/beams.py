"""Flexible links in symbols: parameters, elastic coordinates, and poses of their sections by stiffening model.

Shortening: displacements and angles of second order are quadratic forms 1/2 eta^T F(x) eta (beam/foreshortening.py).
The axis keeps its length, so that a point at x moves towards the root by 1/2 int_0^x (v'^2 + w'^2); stretch and twist
move the points of a bent link laterally, and bending in two planes rotates its sections about the axis.

Exact: the axis is r(x) = sum_h L_h(x) t_h, with directions t_h = (1 + u') (cos chi, sin chi) at nodes h
(beam/section_nodes.py). The angles chi_h, about z for bend_y and about y for bend_z, are linear in the elastic
coordinates.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import symengine
from numpy.polynomial import legendre

from flexarm.beam.foreshortening import DISPLACEMENT_PRODUCTS, ROTATION_PRODUCTS, Product, SecondOrderBlocks
from flexarm.beam.integrals import LinkIntegrals
from flexarm.beam.polynomials import Grid, PiecewisePolynomials, from_gauss_values, merge_breaks
from flexarm.beam.section_nodes import LinkNodes
from flexarm.beam.sliding_integrals import SlidingIntegrals
from flexarm.foundation.validation import Array
from flexarm.symbolic import algebra
from flexarm.symbolic.algebra import (
    LENGTH,
    ZERO,
    Expr,
    ExprArray,
    Scales,
    X,
    cos,
    diff,
    fraction,
    number,
    sin,
    symbol,
    vector,
)
from flexarm.symbolic.symbols import Abbreviations, latex_name


@dataclass(frozen=True)
class ClosedFormShapes:
    """Elastic coordinates of a link, or of one part of it: indices, symbols and exponents (n, 3) of their scales."""

    integrals: LinkIntegrals
    columns: list[int]
    eta: ExprArray
    exponents: Array


@dataclass(frozen=True)
class Beam:
    """Flexible or rigid link.

    `mesh` contains index and symbol of the coordinates of its nodes, None and 0 if eliminated by a boundary condition;
    it is empty for links that are treated as one piece.
    """

    integrals: LinkIntegrals
    scales: Scales
    l: Expr  # noqa: E741
    m: Expr
    rigidity: dict[str, tuple[Expr, float]]  # EI, GJ, EA by family, with values
    rotary: dict[int, tuple[Expr, float]]  # inertia of the sections per length by axis, with values
    front: ClosedFormShapes
    rear: ClosedFormShapes | None
    mesh: list[tuple[int | None, Expr]]
    d: tuple[int, Expr] | None  # coordinate of the joint that the link slides through
    number: int
    short: Abbreviations
    planar: bool

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

    def nodes(self, first: int, last: int) -> ExprArray:
        """Return the displacements and slopes of the nodes from `first` to `last`."""
        return vector(*(value for _, value in self.mesh[2 * first : 2 * last + 2]))

    @property
    def bends(self) -> bool:
        return bool(self.mesh or self.front.columns or (self.rear is not None and self.rear.columns))


@dataclass
class MovingShapes:
    """Functions along a beam at a symbolic position `at`, in the piece of the value `near`."""

    beam: Beam
    space: PiecewisePolynomials
    exponents: Array
    at: Expr
    near: float | None
    _named: dict[tuple[int, int], Expr] = field(default_factory=dict)

    def values(self, order: int, label: str | None) -> ExprArray:
        """Return derivatives of the functions, as polynomials or, with a label, as abbreviations."""
        each = range(self.space.count)
        return vector(*(self._sum(order, k) if label is None else self._name(order, k, label) for k in each))

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
        space, beam = self.space.derivative(order) if order else self.space, self.beam
        piece = 0 if self.near is None else int(np.searchsorted(space.breaks, self.near)) - 1
        left, right = (fraction(float(end)) for end in space.breaks[piece : piece + 2] / beam.integrals.length)
        t = (2 * self.at / beam.l - left - right) / (right - left)
        if label is not None:
            t = beam.short.name(f"t_{label.split('_')[1]}", t)
        series = legendre.leg2poly(space.coefficients[:, piece, k])
        return beam.scales(series, self.exponents[k] - order * LENGTH) @ t ** np.arange(len(series), dtype=object)


SectionPose = tuple[ExprArray, ExprArray]
"""Position of a point in the axes of the link, and the angles of its section about x, y and z."""

SHAPE_LETTERS = {"bend_y": "N", "bend_z": "W", "twist": "T", "stretch": "S"}
"""Symbols of shape functions at a sliding joint."""

DERIVATIVES = {"value": 0, "slope": 1, "rotation": 1, "curvature": 2}


def section_pose(beam: Beam, x: float) -> SectionPose:
    """Return the pose of the section at a constant x; the frame of a sliding link is at its joint."""
    share, front = x / beam.integrals.length if x else 0.0, beam.front
    along = beam.l if share == 1 else fraction(share) * beam.l
    if beam.mesh:
        pose = _pose_on_mesh(beam, share, along)
    elif beam.stiffening == "exact":
        pose = _exact_pose(beam, x)
    elif beam.d is None or not beam.slides_through_joint:
        pose = _bent_pose(beam, front, along, x, number(1))
    else:
        out = along - beam.l + beam.d[1] if share != 1 else beam.d[1]
        if share == 0 and beam.rear is not None:
            lean = -beam.l / (beam.l - beam.d[1])
            pose = _bent_pose(beam, beam.rear, out, beam.integrals.length, lean)
        else:
            pose = _bent_pose(beam, front, out, x, beam.l / beam.d[1])
    return _abbreviated(beam, pose)


def node_pose(beam: Beam, node: int, d: Expr) -> SectionPose:
    """Return the pose of a joint at d with deflection and slope of a node, 0 at the root (My et al., Table 2)."""
    deflection, slope = beam.nodes(node, node)
    return vector(d, deflection, 0), vector(0, 0, slope)


def moving_section_pose(beam: Beam, x: Expr, near: float | None = None, label: str | None = None) -> SectionPose:
    """Return the pose of the section at a symbolic distance x from the root.

    On a link that slides through its joint, the section is in front of the joint. If the shape functions have several
    pieces, `near` is a value in the piece of x. With a label, the shape functions at x get names.
    """
    along, at, lean = x, x, number(1)
    if beam.slides_through_joint:
        assert beam.d is not None
        along, lean = x + beam.d[1] - beam.l, beam.l / beam.d[1]
        at = beam.l - (beam.l - x) * lean
    rows: dict[str, Expr] = {}
    for name, space in beam.integrals.shapes.items():
        inside = beam.integrals.columns[name]
        functions = MovingShapes(beam, space, beam.front.exponents[inside], at, near)
        tag = None if label is None else f"{SHAPE_LETTERS[name]}_{label}"
        rows[name] = functions.values(0, tag) @ beam.front.eta[inside]
        if name.startswith("bend"):
            rows[name + "'"] = lean * (functions.values(1, tag) @ beam.front.eta[inside])
    rho = vector(along + rows.get("stretch", 0), rows.get("bend_y", 0), rows.get("bend_z", 0))
    angles = vector(rows.get("twist", 0), -rows.get("bend_z'", 0), rows.get("bend_y'", 0))
    if beam.stiffening == "exact":
        space = _weights_along(beam)
        weights = MovingShapes(beam, space, np.tile(LENGTH, (space.count, 1)), at, near)
        rho = _axis_point(beam, weights.values(0, None if label is None else f"L_{label}"))
    if beam.stiffening == "shortening":
        tags = (None, None) if label is None else (f"H_{label}", f"Q_{label}")
        rho = rho + _moving_second_order(beam, DISPLACEMENT_PRODUCTS, at, near, tags[0], lean)
        angles = angles + _moving_second_order(beam, ROTATION_PRODUCTS, at, near, tags[1], lean)
    return (rho, angles) if label is None else _abbreviated(beam, (rho, angles))


def _abbreviated(beam: Beam, pose: SectionPose) -> SectionPose:
    """Replace deflections and angles by abbreviations."""
    (along, y, z), (about_x, about_y, about_z) = pose
    n, name = beam.number, beam.short.name
    if beam.stiffening != "none":  # derivatives are long, too
        whole = beam.short.name_with_derivatives
        along, y, z = whole(f"xf_{n}", along), whole(f"uf_{n}", y), whole(f"wf_{n}", z)
    deflected = vector(along, name(f"uf_{n}", y), name(f"wf_{n}", z))
    return deflected, vector(name(f"phis_{n}", about_x), name(f"ws_{n}", about_y), name(f"us_{n}", about_z))


def _bent_pose(beam: Beam, shapes: ClosedFormShapes, along: Expr, x: float, lean: Expr) -> SectionPose:
    """Return the pose at a constant x; slopes are multiplied by `lean` in a part that is shorter than the link."""
    station, lowered = shapes.integrals.station(x), shapes.exponents - LENGTH
    rho = along * X + beam.scales(station.U, shapes.exponents) @ shapes.eta
    turning = np.vstack([beam.scales(station.W[:1], shapes.exponents), lean * beam.scales(station.W[1:], lowered)])
    angles = turning @ shapes.eta
    if shapes.columns and beam.stiffening == "shortening":
        rho = rho + _second_order(beam, shapes, DISPLACEMENT_PRODUCTS, x, lean)
        angles = angles + _second_order(beam, shapes, ROTATION_PRODUCTS, x, lean)
    return rho, angles


def _pose_on_mesh(beam: Beam, share: float, along: Expr) -> SectionPose:
    position = round(share * beam.elements, 12)
    j = min(int(position), beam.elements - 1)
    size, x = beam.l / beam.elements, symbol("x")
    deflection = algebra.shapes(x, size) @ beam.nodes(j, j + 1)
    at = fraction(position - j) * size
    values = (symengine.sympify(each).subs({x: at}) for each in (deflection, diff(deflection, x)))
    return vector(along, next(values), 0), vector(0, 0, next(values))


# --- displacements and angles of second order ---


def _second_order(beam: Beam, shapes: ClosedFormShapes, products: Sequence[Product], x: float, lean: Expr) -> ExprArray:
    forms, entries = SecondOrderBlocks(shapes.integrals), []
    for _, product in forms.present(products):
        block = forms.at(product, x)
        for i, j, p, q in _nonzero_entries(shapes.integrals, product, block):
            exponents = _length_exponent(product) * LENGTH + shapes.exponents[p] + shapes.exponents[q]
            entries.append((product, p, q, beam.scales(block[i, j], exponents)))
    return _sum_entries(entries, shapes.eta, lean)


def _moving_second_order(
    beam: Beam, products: Sequence[Product], at: Expr, near: float | None, label: str | None, lean: Expr
) -> ExprArray:
    exponents = beam.front.exponents
    found, space = _second_order_functions(beam.integrals, products)
    if not found:
        return ZERO
    scaled = np.array([_length_exponent(product) * LENGTH + exponents[p] + exponents[q] for product, p, q in found])
    values = MovingShapes(beam, space, scaled, at, near).values(0, label)
    return _sum_entries([(*each, value) for each, value in zip(found, values, strict=True)], beam.front.eta, lean)


def _sum_entries(entries: Sequence[tuple[Product, int, int, Expr]], eta: ExprArray, lean: Expr) -> ExprArray:
    """Return the vector of quadratic forms whose entries, of each pair of coordinates once, are given."""
    out = ZERO.copy()
    for product, p, q, value in entries:
        weight = number(1) / 2 if p == q else number(1)
        out[product.axis] += lean ** -_length_exponent(product) * weight * value * eta[p] * eta[q]
    return out


def _second_order_functions(
    integrals: LinkIntegrals, products: Sequence[Product]
) -> tuple[list[tuple[Product, int, int]], PiecewisePolynomials]:
    """Return the nonzero entries of the products with their coordinates, and the entries as functions of x."""
    forms, spaces = SecondOrderBlocks(integrals), [*integrals.shapes.values()]
    breaks, degree = merge_breaks(*(space.breaks for space in spaces)), 2 * max(space.degree for space in spaces)
    places = Grid(breaks, degree + 1).x
    found, columns = [], []
    for _, product in forms.present(products):
        blocks = np.array([forms.at(product, x) for x in places.tolist()])
        for i, j, p, q in _nonzero_entries(integrals, product, np.abs(blocks).max(axis=0)):
            found.append((product, p, q))
            columns.append(blocks[:, i, j])
    values = np.reshape(columns, (len(found), len(places)))
    return found, from_gauss_values(breaks, degree, values.T)


def _nonzero_entries(integrals: LinkIntegrals, product: Product, block: Array) -> Iterator[tuple[int, int, int, int]]:
    """Yield row, column and coordinates of the nonzero entries of a block, each pair of coordinates once."""
    rows, others = (range(integrals.count)[integrals.columns[name]] for name in (product.one, product.other))
    for i, j in np.argwhere(block).tolist():
        if rows[i] <= others[j] or product.one != product.other:
            yield i, j, rows[i], others[j]


def _length_exponent(product: Product) -> int:
    """Return the exponent of the length with which a product varies."""
    order = DERIVATIVES[product.quantity] + DERIVATIVES[product.other_quantity]
    return (1 if product.integrated == "once" else 2) - order


# --- exact links ---


@dataclass(frozen=True)
class AxisNode:
    """Direction of the axis at a node: angle and stretch with their derivatives with respect to the coordinates."""

    angle: Expr
    stretch: Expr
    turning: ExprArray
    stretching: ExprArray
    across: ExprArray  # direction to which e_x rotates

    @property
    def direction(self) -> ExprArray:
        return self.in_link_axes(self.stretch, number(0))

    def in_link_axes(self, along: Expr, across: Expr) -> ExprArray:
        """Return the vector with components along the axis at this node and across it, in the plane of bending."""
        c, s = cos(self.angle), sin(self.angle)
        return (along * c - across * s) * X + (along * s + across * c) * self.across  # type: ignore[no-any-return]


def turning_axis(beam: Beam) -> int:
    """Return the axis about which sections turn: z, or y for a link with bend_z."""
    return 1 if "bend_z" in beam.integrals.columns else 2


def axis_nodes(beam: Beam) -> list[AxisNode]:
    """Return the nodes of the axis of a link; their angles have the names chi_i(h)."""
    integrals, eta, axis = beam.integrals, beam.front.eta, turning_axis(beam)
    places, exponents = LinkNodes(integrals).places, beam.front.exponents - LENGTH
    turning = beam.scales(integrals.rotation(places)[:, axis], exponents)
    strains = np.zeros((len(places), integrals.count))
    if "stretch" in integrals.columns:
        strains[:, integrals.columns["stretch"]] = integrals.shapes["stretch"].derivative()(places)
    stretching = beam.scales(strains, exponents)
    angles = [beam.short.name(f"chi_{beam.number}_{h + 1}", each) for h, each in enumerate(turning @ eta)]
    across = vector(0, 1, 0) if axis == 2 else vector(0, 0, -1)
    return [AxisNode(*each, across) for each in zip(angles, 1 + stretching @ eta, turning, stretching, strict=True)]


def _exact_pose(beam: Beam, x: float) -> SectionPose:
    axis = turning_axis(beam)
    weights = beam.scales(LinkNodes(beam.integrals).weights(x), LENGTH)
    slopes = beam.scales(beam.integrals.rotation(np.array([x]))[0, axis], beam.front.exponents - LENGTH)
    return _axis_point(beam, weights), slopes @ beam.front.eta * np.eye(3, dtype=object)[axis]


def _axis_point(beam: Beam, weights: ExprArray) -> ExprArray:
    return sum((weight * node.direction for weight, node in zip(weights, axis_nodes(beam), strict=True)), ZERO)


def _weights_along(beam: Beam) -> PiecewisePolynomials:
    """Return the weights L_h as functions of x."""
    found, spaces = LinkNodes(beam.integrals), [*beam.integrals.shapes.values()]
    breaks = merge_breaks(found.breaks, *(space.breaks for space in spaces))
    degree = max(found.per_piece, *(space.degree for space in spaces))
    values = np.array([found.weights(x) for x in Grid(breaks, degree + 1).x.tolist()])
    return from_gauss_values(breaks, degree, values)
