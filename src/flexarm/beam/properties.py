"""What a link is made of, per length, as functions of x.

Shear of short links (Timoshenko): sections that do not stay normal to the axis, without coordinates of their own.

Sections turn by psi and the axis leans by N' = psi + gamma, with the strain energy 1/2 int (EI psi'^2 + kGA gamma^2).
Modes find their gamma as they find their psi. An element has that of statics, where moment and shear force balance.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from flexarm.beam.polynomials import Grid, PiecewisePolynomials, constant, fit_with_misses, fit_within
from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.validation import Array
from flexarm.robot import Link
from flexarm.robot.flexibility import FAMILIES
from flexarm.robot.sections import SectionProperties

# Steps make constants and a taper quartics of A and I, which are found as such; other functions (the torsion constant
# of a tapering rectangle) take a higher degree and are cut into pieces until they are met to FIT of their value.
POLYNOMIAL_DEGREES, EXACT_TOLERANCE = (0, 4), 1e-14
FIT_DEGREE, FIT_TOLERANCE = 12, 1e-11


class LinkProperties:
    """Mass, rotary inertia and stiffness per length. The section is asked once at each point, whatever needs it."""

    def __init__(self, link: Link) -> None:
        self.link = link
        self._inertias: dict[str, PiecewisePolynomials] = {}
        self._sections: dict[float, SectionProperties] = {}

    @cached_property
    def steps(self) -> Array:
        """Where the section jumps, with both ends."""
        section = self.link.section
        return np.array([0.0, *(section.breaks if section else ()), 1.0]) * self.link.length

    @cached_property
    def mass(self) -> PiecewisePolynomials:
        return self._along(self._mass_at)

    def inertia(self, moment: str) -> PiecewisePolynomials:
        """Rotary inertia about the axis of a second moment of area (I_p, I_y, I_z)."""
        if moment not in self._inertias:
            self._inertias[moment] = self._along(lambda xi: self._inertia_at(xi, moment))
        return self._inertias[moment]

    def stiffness(self, family: str) -> PiecewisePolynomials:
        """What section_property a family of deformation."""
        material, section_property = self.link.material, FAMILIES[family].section_property
        assert material is not None
        modulus = material.E if FAMILIES[family].modulus == "E" else material.shear_modulus
        return self._along(lambda xi: float(modulus * getattr(self._section_at(xi), section_property)))

    def shear_stiffness(self, family: str) -> PiecewisePolynomials:
        """What section_property the shear of a family of bending."""
        material, area = self.link.material, FAMILIES[family].shear
        assert material is not None
        assert area is not None
        modulus = material.shear_modulus
        return self._along(lambda xi: float(modulus * getattr(self._section_at(xi), area)))

    def _section_at(self, xi: float) -> SectionProperties:
        if xi not in self._sections:
            assert self.link.section is not None
            self._sections[xi] = self.link.section.at(xi)
        return self._sections[xi]

    def _mass_at(self, xi: float) -> float:
        """What `Link.mass_per_length` says."""
        link = self.link
        if link.mass is not None or link.section is None or link.material is None:
            return link.mass_per_length(xi)
        return link.material.rho * self._section_at(xi).A

    def _inertia_at(self, xi: float, moment: str) -> float:
        """With the density that gives the mass: a given mass of the link scales the material's."""
        if self.link.section is None:
            return 0.0
        section = self._section_at(xi)
        return float(self._mass_at(xi) / section.A * getattr(section, moment))

    def _along(self, value: Callable[[float], float]) -> PiecewisePolynomials:
        """A property given at fractions of the length, as a function of x."""
        section, length = self.link.section, self.link.length
        if section is None or (section.uniform and not section.breaks):
            return constant(value(0.5), length)

        def function(x: float) -> float:
            return value(x / length)

        for degree in POLYNOMIAL_DEGREES:
            found, missed = fit_with_misses(function, self.steps, degree, EXACT_TOLERANCE)
            if not missed.any():
                return found
        return fit_within(function, self.steps, FIT_DEGREE, FIT_TOLERANCE)


ELEMENT_GAUSS_POINTS = 8  # in an element, for the mean of its shear strain


@dataclass(frozen=True)
class ShearedShapes(PiecewisePolynomials):
    """Deflections of the axis, with the rotations `turns` of the sections that belong to them."""

    turns: PiecewisePolynomials

    def __matmul__(self, combination: Array) -> ShearedShapes:
        moves = super().__matmul__(combination)
        return ShearedShapes(moves.breaks, moves.coefficients, self.turns @ combination)


def rotation(shapes: PiecewisePolynomials) -> PiecewisePolynomials:
    """How sections turn where the axis bends: with its slope, unless they are sheared."""
    return shapes.turns if isinstance(shapes, ShearedShapes) else shapes.derivative()


def shear_strain(shapes: PiecewisePolynomials) -> PiecewisePolynomials:
    """By how much the axis leans more than sections turn."""
    slope, turns = shapes.derivative(), rotation(shapes)
    out = np.zeros((max(slope.degree, turns.degree) + 1, *slope.coefficients.shape[1:]))
    out[: slope.degree + 1] = slope.coefficients
    out[: turns.degree + 1] -= turns.coefficients
    return PiecewisePolynomials(shapes.breaks, out)


def with_shear(bending: PiecewisePolynomials, shear: PiecewisePolynomials) -> ShearedShapes:
    """Functions that bend the link without shear, and others of the same pieces that shear it without bending."""
    turns, still = bending.derivative(), PiecewisePolynomials(shear.breaks, np.zeros_like(shear.coefficients))
    return ShearedShapes(bending.breaks, _beside(bending, shear).coefficients, _beside(turns, still))


def _beside(one: PiecewisePolynomials, other: PiecewisePolynomials) -> PiecewisePolynomials:
    """The functions of both, whose degrees may differ."""
    degrees = max(one.degree, other.degree) + 1
    out = np.zeros((degrees, len(one.breaks) - 1, one.count + other.count))
    out[: one.degree + 1, :, : one.count] = one.coefficients
    out[: other.degree + 1, :, one.count :] = other.coefficients
    return PiecewisePolynomials(one.breaks, out)


def element_functions(nodes: Array, EI: PiecewisePolynomials, kGA: PiecewisePolynomials) -> tuple[Array, Array]:
    """Deflections and rotations of the elements between nodes, as coefficients (degrees, pieces, functions): those of a
    unit deflection and of a unit rotation at the left node, then at the right one.

    The rotation is quadratic, the shear strain constant. Of a uniform element these are the exact functions of statics
    (Przemieniecki 1968).
    """
    count = len(nodes) - 1
    turns = PiecewisePolynomials(nodes, np.repeat(np.eye(3)[:, None, :], count, axis=1))
    leans = turns.coefficients.copy()
    leans[0] += _static_strain(turns, EI, kGA)
    grown = PiecewisePolynomials(nodes, leans).integral_of_pieces().coefficients
    ends = np.empty((count, 3, 3))  # rotation at the left, at the right, growth of the deflection between them
    ends[:, 0], ends[:, 1], ends[:, 2] = [1, -1, 1], 1, grown.sum(axis=0)
    nodal = np.linalg.solve(ends, np.array([[0.0, 1, 0, 0], [0, 0, 0, 1], [-1, 0, 1, 0]]))
    deflections = np.einsum("kpa,pad->kpd", grown, nodal)
    deflections[0, :, 0] += 1
    return deflections, nodal.transpose(1, 0, 2)


def _static_strain(turns: PiecewisePolynomials, EI: PiecewisePolynomials, kGA: PiecewisePolynomials) -> Array:
    """(pieces, functions): the mean of gamma = -(EI psi')' / kGA on each piece."""
    grid, curvature = Grid(turns.breaks, ELEMENT_GAUSS_POINTS), turns.derivative()
    force = -EI(grid) * curvature.derivative()(grid) - EI.derivative()(grid) * curvature(grid)
    shares = grid.weights.reshape(-1, ELEMENT_GAUSS_POINTS, 1)
    return np.asarray(
        (shares * (force / kGA(grid)).reshape(-1, ELEMENT_GAUSS_POINTS, turns.count)).sum(1) / shares.sum(1)
    )
