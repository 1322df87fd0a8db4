"""Foreshortening: displacements and rotations of second order in the shapes.

The shapes describe curvatures in the section's own axes, so that the displacements and rotations are

    axis:    x + u - 1/2 int (v'^2 + w'^2),   v + int u' v' - int int theta w'',   w + int u' w' + int int theta v''
    angles:  theta - int w' v'',   -w' - int theta v'',   v' - int theta w''   (about x, y, z, turned by z first).

Each is a sum of products of two families, integrated once or twice from the root (docs/theory.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Literal

import numpy as np

from flexarm.beam.bases import weighted_product
from flexarm.beam.integrals import LinkIntegrals, drop_rounding
from flexarm.beam.polynomials import Grid, PiecewisePolynomials, merge_breaks
from flexarm.beam.properties import rotation, shear_strain
from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.validation import Array

IntegralOrder = Literal["once", "twice"]


ShapeQuantity = Literal["value", "slope", "rotation", "curvature", "shear"]
"""A family's functions or their slope; for bending also the rotation of sections, its slope, and the shear strain."""


@dataclass(frozen=True)
class Product:
    """Integrated product of two families, sign * int (one) (other), along or about an axis."""

    axis: int
    sign: float
    one: str
    quantity: ShapeQuantity
    other: str
    other_quantity: ShapeQuantity
    integrated: IntegralOrder = "once"


DISPLACEMENT_PRODUCTS = (
    Product(0, -1.0, "bend_y", "slope", "bend_y", "slope"),
    Product(0, -1.0, "bend_z", "slope", "bend_z", "slope"),
    Product(1, 1.0, "stretch", "slope", "bend_y", "slope"),
    Product(2, 1.0, "stretch", "slope", "bend_z", "slope"),
    Product(1, -1.0, "twist", "value", "bend_z", "curvature", "twice"),
    Product(2, 1.0, "twist", "value", "bend_y", "curvature", "twice"),
    Product(1, -1.0, "twist", "value", "bend_z", "shear"),
    Product(2, 1.0, "twist", "value", "bend_y", "shear"),
)
"""Displacements; products of a family with itself count half, products of two families fully."""

ROTATION_PRODUCTS = (
    Product(0, -1.0, "bend_z", "rotation", "bend_y", "curvature"),
    Product(1, -1.0, "twist", "value", "bend_y", "curvature"),
    Product(2, -1.0, "twist", "value", "bend_z", "curvature"),
)


BENDING_FAMILIES = {1: "bend_y", 2: "bend_z"}  # by axis of displacement


class SecondOrderBlocks:
    """Matrix blocks A of the forms eta_one^T A eta_other at points of a link, and their integrals along it."""

    def __init__(self, integrals: LinkIntegrals) -> None:
        self._of = integrals

    def present(self, products: Sequence[Product]) -> list[tuple[int, Product]]:
        """Return the products of families that the link has, with their indices; none in the zero-order model."""
        columns = self._of.columns if self._of.stiffening != "none" else {}
        found = [(k, each) for k, each in enumerate(products) if each.one in columns and each.other in columns]
        return found if self._of.sheared else [(k, each) for k, each in found if each.other_quantity != "shear"]

    def at(self, product: Product, x: float) -> Array:
        """Return the block of a product at x."""
        if x <= 0.0:
            return np.zeros(self._shape(product))
        spaces = self._of.shapes.values()
        breaks = [end for space in spaces for end in space.breaks.tolist() if 0.0 < end < x]
        grid = Grid(merge_breaks([0.0, x], breaks), max(space.degree for space in spaces) + 1)
        return self._block(product, grid, grid.weights * (x - grid.x if product.integrated == "twice" else 1.0))

    def displacement_forms(self, x: float) -> Array:
        """Return the matrices F, shape (3, n, n), of the second-order displacements eta^T F eta / 2 at x."""
        out, columns = np.zeros((3, self._of.count, self._of.count)), self._of.columns
        for _, each in self.present(DISPLACEMENT_PRODUCTS):
            block = self.at(each, x)
            out[each.axis, columns[each.one], columns[each.other]] += block
            if each.one != each.other:
                out[each.axis, columns[each.other], columns[each.one]] += block.T
        return out

    def rigid_projection(self, axis: int) -> Array:
        """Return the inverse mass moments of 1 and x as far as the shapes along an axis represent them, (2, 2)."""
        of = self._of
        place = of.columns.get(BENDING_FAMILIES[axis], slice(0))
        if place.stop - (place.start or 0) < 2:  # one shape cannot represent both
            return np.linalg.pinv(np.array([[of.m, of.c0], [of.c0, of.g0]]))
        moments = np.stack([of.a[axis], of.b[axis]])[:, place]
        return np.linalg.pinv(moments @ np.linalg.solve(self._mass(axis), moments.T), rcond=1e-9)

    def _mass(self, axis: int) -> Array:
        """Return the mass matrix of bending along an axis, without rotary inertia."""
        place = self._of.columns[BENDING_FAMILIES[axis]]
        return self._of.M["vv" if axis == 1 else "ww"][place, place]

    @cached_property
    def _densities(self) -> list[PiecewisePolynomials]:
        density = self._of.properties.mass
        return [density, density.times_x()]

    def moment(self, product: Product, power: int) -> Array:
        """Return the block of int mu x^power times a product.

        Integration by parts gives the weights int_s mu x^power dx or int_s mu x^power (x - s) dx of what lies outboard
        of s.
        """
        density = self._densities[power]
        of, spaces = self._of, [self._of.shapes[name] for name in (product.one, product.other)]
        breaks = merge_breaks(density.breaks, *(space.breaks for space in spaces))
        grid = Grid(breaks, (sum(space.degree for space in spaces) + density.degree + 2) // 2 + 1)
        inboard = density.integral()
        end, once = np.array([of.length]), inboard(grid)[:, 0]
        whole = float(inboard(end)[0, 0])
        outboard = whole - once
        if product.integrated == "twice":
            twice = inboard.integral()
            outboard = whole * (of.length - grid.x) - float(twice(end)[0, 0]) + twice(grid)[:, 0]
        return self._block(product, grid, grid.weights * outboard)

    def _shape(self, product: Product) -> tuple[int, int]:
        one, other = (self._of.columns[name] for name in (product.one, product.other))
        return one.stop - one.start, other.stop - other.start

    def _block(self, product: Product, grid: Grid, weights: Array) -> Array:
        shapes = self._of.shapes
        one = select_functions(shapes[product.one], product.quantity)(grid)
        other = (
            one
            if product.one == product.other
            else select_functions(shapes[product.other], product.other_quantity)(grid)
        )
        return drop_rounding(product.sign * weighted_product(weights, one, other))


def select_functions(space: PiecewisePolynomials, what: ShapeQuantity) -> PiecewisePolynomials:
    """Return the functions of a quantity of a family's shapes."""
    if what == "value":
        return space
    if what == "slope":
        return space.derivative()
    if what == "rotation":
        return rotation(space)
    return rotation(space).derivative() if what == "curvature" else shear_strain(space)
