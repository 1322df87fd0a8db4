"""Mass, inertia and stiffness of a link per length, and shape functions with shear (Timoshenko).

With shear, sections rotate by psi and the axis has the slope N' = psi + gamma, with the strain energy
1/2 int (EI psi'^2 + kGA gamma^2). There are no coordinates for gamma: modes determine it from the eigenproblem like
psi; elements have the one of statics, where moment and shear force balance.
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
    """Mass, rotary inertia and stiffness per length; the section is evaluated once at each point."""

    def __init__(self, link: Link) -> None:
        self.link = link
        self._inertias: dict[str, PiecewisePolynomials] = {}
        self._sections: dict[float, SectionProperties] = {}

    @cached_property
    def steps(self) -> Array:
        """Places where the section jumps, with both ends (m)."""
        section = self.link.section
        return np.array([0.0, *(section.breaks if section else ()), 1.0]) * self.link.length

    @cached_property
    def mass(self) -> PiecewisePolynomials:
        """Mass per length (kg/m)."""
        return self._along(self._mass_at)

    def inertia(self, moment: str) -> PiecewisePolynomials:
        """Return the rotary inertia per length about the axis of a second moment of area (I_p, I_y, I_z)."""
        if moment not in self._inertias:
            self._inertias[moment] = self._along(lambda xi: self._inertia_at(xi, moment))
        return self._inertias[moment]

    def stiffness(self, family: str) -> PiecewisePolynomials:
        """Return the stiffness per length against a family of deformation."""
        material, property_name = self.link.material, FAMILIES[family].section_property
        assert material is not None
        modulus = material.E if FAMILIES[family].modulus == "E" else material.shear_modulus
        return self._along(lambda xi: float(modulus * getattr(self._section_at(xi), property_name)))

    def shear_stiffness(self, family: str) -> PiecewisePolynomials:
        """Return the shear stiffness per length of a family of bending."""
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
        """Return `Link.mass_per_length` from the cached section."""
        link = self.link
        if link.mass is not None or link.section is None or link.material is None:
            return link.mass_per_length(xi)
        return link.material.rho * self._section_at(xi).A

    def _inertia_at(self, xi: float, moment: str) -> float:
        """Return the rotary inertia per length; a given mass of the link scales the density."""
        if self.link.section is None:
            return 0.0
        section = self._section_at(xi)
        return float(self._mass_at(xi) / section.A * getattr(section, moment))

    def _along(self, value: Callable[[float], float]) -> PiecewisePolynomials:
        """Return a property given at fractions of the length as a function of x."""
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
    """Deflections of the axis with the corresponding rotations `turns` of the sections."""

    turns: PiecewisePolynomials

    def __matmul__(self, combination: Array) -> ShearedShapes:
        moves = super().__matmul__(combination)
        return ShearedShapes(moves.breaks, moves.coefficients, self.turns @ combination)


def rotation(shapes: PiecewisePolynomials) -> PiecewisePolynomials:
    """Return the rotation of the sections: the slope of the axis, unless there is shear."""
    return shapes.turns if isinstance(shapes, ShearedShapes) else shapes.derivative()


def shear_strain(shapes: PiecewisePolynomials) -> PiecewisePolynomials:
    """Return the shear strain, slope of the axis minus rotation of the sections."""
    slope, turns = shapes.derivative(), rotation(shapes)
    out = np.zeros((max(slope.degree, turns.degree) + 1, *slope.coefficients.shape[1:]))
    out[: slope.degree + 1] = slope.coefficients
    out[: turns.degree + 1] -= turns.coefficients
    return PiecewisePolynomials(shapes.breaks, out)


def with_shear(bending: PiecewisePolynomials, shear: PiecewisePolynomials) -> ShearedShapes:
    """Join functions that bend the link without shear and functions that shear it without rotation of sections."""
    turns, zero = bending.derivative(), PiecewisePolynomials(shear.breaks, np.zeros_like(shear.coefficients))
    return ShearedShapes(bending.breaks, _joined(bending, shear).coefficients, _joined(turns, zero))


def _joined(one: PiecewisePolynomials, other: PiecewisePolynomials) -> PiecewisePolynomials:
    """Return the functions of two sets with the same pieces, whose degrees may differ."""
    degrees = max(one.degree, other.degree) + 1
    out = np.zeros((degrees, len(one.breaks) - 1, one.count + other.count))
    out[: one.degree + 1, :, : one.count] = one.coefficients
    out[: other.degree + 1, :, one.count :] = other.coefficients
    return PiecewisePolynomials(one.breaks, out)


def element_functions(nodes: Array, EI: PiecewisePolynomials, kGA: PiecewisePolynomials) -> tuple[Array, Array]:
    """Return deflections and rotations of Timoshenko elements as coefficients (degrees, pieces, functions).

    The functions are those of a unit deflection and a unit rotation at the left node, then at the right one. The
    rotation is quadratic, the shear strain constant; for a uniform element they are the exact functions of statics
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
    """Return the mean of gamma = -(EI psi')' / kGA on each piece, shape (pieces, functions)."""
    grid, curvature = Grid(turns.breaks, ELEMENT_GAUSS_POINTS), turns.derivative()
    force = -EI(grid) * curvature.derivative()(grid) - EI.derivative()(grid) * curvature(grid)
    shares = grid.weights.reshape(-1, ELEMENT_GAUSS_POINTS, 1)
    return np.asarray(
        (shares * (force / kGA(grid)).reshape(-1, ELEMENT_GAUSS_POINTS, turns.count)).sum(1) / shares.sum(1)
    )
