"""What a link is made of, per length, as functions of x."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from flexarm.beam.polynomials import PiecewisePolynomials, constant, fit_missed, fit_within
from flexarm.foundation.families import FAMILIES
from flexarm.foundation.numbers import Array
from flexarm.robot import Link
from flexarm.robot.sections import SectionProperties

# Steps make constants and a taper quartics of A and I, which are found as such; other functions (the torsion constant
# of a tapering rectangle) take a higher degree and are cut into pieces until they are met to FIT of their value.
SIMPLE, EXACT = (0, 4), 1e-14
DEGREE, FIT = 12, 1e-11


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
        """What resists a family of deformation."""
        material, resists = self.link.material, FAMILIES[family].resists
        assert material is not None
        modulus = material.E if FAMILIES[family].modulus == "E" else material.shear_modulus
        return self._along(lambda xi: float(modulus * getattr(self._section_at(xi), resists)))

    def shear_stiffness(self, family: str) -> PiecewisePolynomials:
        """What resists the shear of a family of bending."""
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

        for degree in SIMPLE:
            found, missed = fit_missed(function, self.steps, degree, EXACT)
            if not missed.any():
                return found
        return fit_within(function, self.steps, DEGREE, FIT)
