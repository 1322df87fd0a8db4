"""Displacements and rotations of second order in the shapes, which describe curvatures in the section's own axes.

    axis:    x + u - 1/2 int (v'^2 + w'^2),   v + int u' v' - int int theta w'',   w + int u' w' + int int theta v''
    angles:  theta - int w' v'',   -w' - int theta v'',   v' - int theta w''   (about x, y, z, turned by z first)

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
"""Of a family: its functions, their slope; of bending also how sections turn, the slope of that, and what is left."""


@dataclass(frozen=True)
class Product:
    """sign * int (one family) (another), along or about an axis."""

    axis: int
    sign: float
    one: str
    what: ShapeQuantity
    other: str
    other_what: ShapeQuantity
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
"""Half of a family's product with itself counts, and all of one family's with another."""

ROTATION_PRODUCTS = (
    Product(0, -1.0, "bend_z", "rotation", "bend_y", "curvature"),
    Product(1, -1.0, "twist", "value", "bend_y", "curvature"),
    Product(2, -1.0, "twist", "value", "bend_z", "curvature"),
)


BENDING_FAMILIES = {1: "bend_y", 2: "bend_z"}  # which family moves along which axis


class SecondOrderBlocks:
    """Blocks A of one^T A other at places along a link, and the moments of those of its axis."""

    def __init__(self, integrals: LinkIntegrals) -> None:
        self._of = integrals

    def present(self, products: Sequence[Product]) -> list[tuple[int, Product]]:
        """Those of families that the link has, with their numbers; none in the zero-order model."""
        columns = self._of.columns if self._of.stiffening != "none" else {}
        found = [(k, each) for k, each in enumerate(products) if each.one in columns and each.other in columns]
        return found if self._of.sheared else [(k, each) for k, each in found if each.other_what != "shear"]

    def at(self, product: Product, x: float) -> Array:
        """The block of a product at x."""
        if x <= 0.0:
            return np.zeros(self._shape(product))
        spaces = self._of.shapes.values()
        breaks = [end for space in spaces for end in space.breaks.tolist() if 0.0 < end < x]
        grid = Grid(merge_breaks([0.0, x], breaks), max(space.degree for space in spaces) + 1)
        return self._block(product, grid, grid.weights * (x - grid.x if product.integrated == "twice" else 1.0))

    def moved(self, x: float) -> Array:
        """(3, n, n): forms F of the displacements at x, eta^T F eta / 2."""
        out, columns = np.zeros((3, self._of.count, self._of.count)), self._of.columns
        for _, each in self.present(DISPLACEMENT_PRODUCTS):
            block = self.at(each, x)
            out[each.axis, columns[each.one], columns[each.other]] += block
            if each.one != each.other:
                out[each.axis, columns[each.other], columns[each.one]] += block.T
        return out

    def line(self, axis: int) -> Array:
        """(2, 2): the inverse of the products int mu of what the shapes along an axis can do of 1 and of x."""
        of = self._of
        place = of.columns.get(BENDING_FAMILIES[axis], slice(0))
        if place.stop - (place.start or 0) < 2:  # one shape cannot do both
            return np.linalg.pinv(np.array([[of.m, of.c0], [of.c0, of.g0]]))
        moments = np.stack([of.a[axis], of.b[axis]])[:, place]
        return np.linalg.pinv(moments @ np.linalg.solve(self._mass(axis), moments.T), rcond=1e-9)

    def _mass(self, axis: int) -> Array:
        """Of the shapes of bending along an axis, without that of tilting sections."""
        place = self._of.columns[BENDING_FAMILIES[axis]]
        return self._of.M["vv" if axis == 1 else "ww"][place, place]

    @cached_property
    def _densities(self) -> list[PiecewisePolynomials]:
        density = self._of.properties.mass
        return [density, density.times_x()]

    def moment(self, product: Product, power: int) -> Array:
        """The block of int mu x^power of a product, by parts: what lies outboard of s, int_s mu x^power dx or
        int_s mu x^power (x - s) dx."""
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
        one = select_functions(shapes[product.one], product.what)(grid)
        other = (
            one if product.one == product.other else select_functions(shapes[product.other], product.other_what)(grid)
        )
        return drop_rounding(product.sign * weighted_product(weights, one, other))


def select_functions(space: PiecewisePolynomials, what: ShapeQuantity) -> PiecewisePolynomials:
    """What of a family's shapes is meant."""
    if what == "value":
        return space
    if what == "slope":
        return space.derivative()
    if what == "rotation":
        return rotation(space)
    return rotation(space).derivative() if what == "curvature" else shear_strain(space)
