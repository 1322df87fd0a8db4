"""The constant integrals of a link: all that the equations of motion need to know of how it bends.

Symbols as in docs/theory.md: eta are the link's elastic coordinates, stacked family by family; u, v, w the
displacements along x, y, z; H(x) = int_0^x (v'^T v' + w'^T w') the foreshortening matrix, s = 1/2 eta^T H eta.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from flexarm.beam import bases
from flexarm.beam.bases import Family, weighted
from flexarm.beam.polynomials import PiecewisePolynomials, fit, fit_within, gauss, merged
from flexarm.foundation.families import FAMILIES
from flexarm.foundation.numbers import Array
from flexarm.robot import Link

# Rounding leaves some 1e-12 where orthogonality makes a zero; a true zero costs the equations nothing.
ROUNDING = 1e-11

# A taper makes quartics of A and I, which this degree holds exactly; other functions (the torsion constant of a
# tapering rectangle) are cut into pieces until they are met to FIT of their value.
TAPER_DEGREE = 12
FIT = 1e-11


@dataclass(frozen=True)
class Station:
    """Shapes at one point of the axis: displacement = U eta, small rotation = W eta, shortening = 1/2 eta^T H eta."""

    x: float
    U: Array
    W: Array
    H: Array


@dataclass(frozen=True)
class Slice:
    """A quadrature slice: its mass and rotary inertia (3,); its station's H is the growth since the slice before."""

    station: Station
    mass: float
    inertia: Array


class LinkIntegrals:
    """Shape functions of a link and the integrals of them. A rigid link is one with no shapes."""

    # Gauss points for the quartic forms of the full energy: modes wave less than their polynomial degree suggests.
    SLICES_PER_SHAPE = 4

    def __init__(self, link: Link, smooth: bool = False, clamped: bool = True) -> None:
        """`smooth`: shapes whose curvature does not jump, since something slides along the link. Not `clamped`: shapes
        that move the root, since the link is held elsewhere."""
        self.link = link
        self.length = link.length
        self.smooth, self.clamped = smooth, clamped
        self.stiffening: str = link.flexible.stiffening if link.flexible else "none"
        self.columns: dict[str, slice] = {}  # of each family in eta
        self.count = 0
        for name in FAMILIES:
            if width := self._width(name):
                self.columns[name] = slice(self.count, self.count + width)
                self.count += width
        self._stations: dict[float, Station] = {}

    def _width(self, family: str) -> int:
        """How many shapes a family has, known before they are computed."""
        flexible = self.link.flexible
        if flexible is None or family not in flexible.counts:
            return 0
        moving_root = 0 if self.clamped or flexible.loose else FAMILIES[family].order
        return flexible.basis.coordinates(family, flexible.counts[family]) + moving_root

    @cached_property
    def shapes(self) -> dict[str, PiecewisePolynomials]:
        """Shape functions of each family."""
        flexible = self.link.flexible
        if flexible is None:
            return {}
        return {
            name: bases.shapes(self.link, family, flexible.counts[name], self.smooth, self.clamped)
            for name, family in self.families.items()
        }

    @cached_property
    def families(self) -> dict[str, Family]:
        return {name: self._family(name) for name in self.columns}

    # --- what the link is made of, per length ---

    @cached_property
    def mass_per_length(self) -> PiecewisePolynomials:
        return self._along(self.link.mass_per_length)

    def _along(self, value: Callable[[float], float]) -> PiecewisePolynomials:
        """A property given at fractions of the length, as a function of x."""
        varies = self.link.section is not None and any(self._varies(a, b) for a, b in pairwise(self._steps))
        return fit_within(lambda x: value(x / self.length), self._steps, TAPER_DEGREE if varies else 0, FIT)

    @property
    def _steps(self) -> Array:
        """Where the section jumps, with both ends."""
        section = self.link.section
        return np.array([0.0, *(section.breaks if section else ()), 1.0]) * self.length

    def _varies(self, start: float, end: float) -> bool:
        """Whether the section changes between two breaks."""
        assert self.link.section is not None
        inside = (start + 0.25 * (end - start), start + 0.75 * (end - start))
        first, last = (self.link.section.at(x / self.length) for x in inside)
        return first != last

    def _family(self, name: str) -> Family:
        section, material = self.link.section, self.link.material
        assert section is not None
        assert material is not None
        resists = FAMILIES[name].resists
        modulus = material.E if FAMILIES[name].modulus == "E" else material.shear_modulus
        return Family(
            name,
            steps=self._steps,
            stiffness=self._along(lambda xi: modulus * getattr(section.at(xi), resists)),
            inertia=self._section_inertia("I_p") if name == "twist" else self.mass_per_length,
            rotary=self._section_inertia(resists) if name.startswith("bend") and self.link.rotary_inertia else None,
        )

    def _section_inertia(self, moment: str) -> PiecewisePolynomials:
        """Rotary inertia per length about the axis of a second moment of area."""
        link = self.link
        about = {
            "I_p": link.polar_inertia_per_length,
            "I_y": link.inertia_y_per_length,
            "I_z": link.inertia_z_per_length,
        }
        return self._along(about[moment])

    # --- shapes at points ---

    def displacement(self, x: Array) -> Array:
        """(points, 3, n): rows u, v, w."""
        return self._rows(x, self.shapes, {0: ("stretch", 1.0), 1: ("bend_y", 1.0), 2: ("bend_z", 1.0)})

    def rotation(self, x: Array) -> Array:
        """(points, 3, n): small rotation of the section, (theta, -w', v')."""
        slopes = self._rows(x, self._slopes, {1: ("bend_z", -1.0), 2: ("bend_y", 1.0)})
        return slopes + self._rows(x, self.shapes, {0: ("twist", 1.0)})

    def _rows(self, x: Array, functions: dict[str, PiecewisePolynomials], rows: dict[int, tuple[str, float]]) -> Array:
        out = np.zeros((len(x), 3, self.count))
        for row, (name, sign) in rows.items():
            if name in functions:
                out[:, row, self.columns[name]] = sign * functions[name](x)
        return out

    @cached_property
    def _slopes(self) -> dict[str, PiecewisePolynomials]:
        return {name: space.derivative() for name, space in self.shapes.items()}

    def station(self, x: float) -> Station:
        """Shapes at x, for whatever hangs there."""
        if x not in self._stations:
            self._stations[x] = self._station(x)
        return self._stations[x]

    def _station(self, x: float) -> Station:
        at = np.array([x])
        U, W = self.displacement(at)[0] * self.sizes / self.length, self.rotation(at)[0] * self.sizes
        U, W = (np.where(np.abs(part) > ROUNDING, part, 0.0) for part in (U, W))  # the root stands still
        return Station(x, U * self.length / self.sizes, W / self.sizes, self.shortening(0.0, x))

    @cached_property
    def sizes(self) -> Array:
        """Per elastic coordinate, the value that means a deflection of the link's length or a rotation of one radian
        somewhere along it: what is large for this coordinate."""
        x = np.linspace(0, self.length, 4 * max((len(s.breaks) for s in self.shapes.values()), default=2) + 1)
        rows = np.concatenate([self.displacement(x) / self.length, self.rotation(x)], axis=1)
        return np.asarray(1 / np.maximum(np.abs(rows).max(axis=(0, 1), initial=0.0), 1e-300))

    def shortening(self, start: float, end: float) -> Array:
        """H(end) - H(start); zero in the zero-order model."""
        if self.stiffening == "none" or not self.count or end <= start:
            return np.zeros((self.count, self.count))
        breaks = np.concatenate([space.breaks for space in self.shapes.values()])
        degree = max(space.degree for space in self.shapes.values())
        x, weights = gauss(merged([start], breaks[(breaks > start) & (breaks < end)], [end]), degree)
        return clean(self._bending(weights, x))

    def _bending(self, weights: Array, x: Array) -> Array:
        """int weight (v'^T v' + w'^T w'), the form of every shortening integral."""
        slopes = self.rotation(x)
        return weighted(weights, slopes[:, 1]) + weighted(weights, slopes[:, 2])

    @cached_property
    def slices(self) -> list[Slice]:
        """The link cut for the kinetic energy of every order, whose integrand is quartic in the shapes."""
        functions = [self.mass_per_length, *self.shapes.values()]
        pieces = merged(*(function.breaks for function in functions))
        spaces = self.shapes.values()
        smooth = self.SLICES_PER_SHAPE * max(space.count for space in spaces) + 8
        per_piece = min(2 * max(space.degree for space in spaces) + 4, smooth)
        x, weights = gauss(pieces, per_piece)
        mass, inertia = weights * self.mass_per_length(x)[:, 0], weights[:, None] * self._rotary_density(x)
        U, W = self.displacement(x), self.rotation(x)
        starts = np.concatenate([[0.0], x[:-1]])
        growth = [self.shortening(start, end) for start, end in zip(starts, x, strict=True)]
        return [Slice(Station(x[g], U[g], W[g], growth[g]), float(mass[g]), inertia[g]) for g in range(len(x))]

    # --- the integrals ---

    @cached_property
    def _nodes(self) -> tuple[Array, Array]:
        return bases.nodes(self.mass_per_length, *self.shapes.values())

    @cached_property
    def _moments(self) -> tuple[Array, Array, Array]:
        """Quadrature points, mass at each, displacement shapes at each."""
        x, weights = self._nodes
        return x, weights * self.mass_per_length(x)[:, 0], self.displacement(x)

    @cached_property
    def m(self) -> float:
        return float(self._moments[1].sum())

    @cached_property
    def c0(self) -> float:
        x, mass, _ = self._moments
        return float(mass @ x)

    @cached_property
    def g0(self) -> float:
        x, mass, _ = self._moments
        return float(mass @ x**2)

    @cached_property
    def a(self) -> Array:
        """(3, n): int mu N_u, int mu N_v, int mu N_w."""
        _, mass, N = self._moments
        return clean(np.einsum("g,gin->in", mass, N))

    @cached_property
    def b(self) -> Array:
        """(3, n): int mu x N_u, ..."""
        x, mass, N = self._moments
        return clean(np.einsum("g,gin->in", mass * x, N))

    @cached_property
    def M(self) -> dict[str, Array]:
        """M["uv"] = int mu N_u^T N_v and so on."""
        _, mass, N = self._moments
        pairs = [(i, j) for i in range(3) for j in range(i, 3)]
        return {"uvw"[i] + "uvw"[j]: clean(weighted(mass, N[:, i], N[:, j])) for i, j in pairs}

    def _rotary_density(self, x: Array) -> Array:
        """(points, 3): about x always, since it carries twist; about y and z when the link counts it."""
        moments = ("I_p", "I_y", "I_z") if self.link.rotary_inertia else ("I_p",)
        out = np.zeros((len(x), 3))
        for column, moment in enumerate(moments):
            out[:, column] = self._section_inertia(moment)(x)[:, 0]
        return out

    @cached_property
    def _turning(self) -> tuple[Array, Array]:
        """Rotary inertia and rotation shapes at the quadrature points."""
        x, weights = self._nodes
        return weights[:, None] * self._rotary_density(x), self.rotation(x)

    @cached_property
    def section_inertia(self) -> Array:
        """(3,): int rho I_p, and int rho I_y, int rho I_z when they count."""
        return np.asarray(self._turning[0].sum(axis=0))

    @cached_property
    def j(self) -> Array:
        """(3, n): angular momentum of the turning sections."""
        inertia, W = self._turning
        return clean(np.einsum("gi,gin->in", inertia, W))

    @cached_property
    def M_elastic(self) -> Array:
        """Mass matrix of eta with the root held: translation and rotation of the sections."""
        inertia, W = self._turning
        turning = sum(weighted(inertia[:, i], W[:, i]) for i in range(3))
        return clean(self.M["uu"] + self.M["vv"] + self.M["ww"] + turning)

    @cached_property
    def H0(self) -> Array:
        """int mu H(x) dx."""
        return self._outboard(power=0)

    @cached_property
    def H1(self) -> Array:
        """int mu x H(x) dx."""
        return self._outboard(power=1)

    def _outboard(self, power: int) -> Array:
        """int mu x^power H dx; by parts, the integral of H' times the moment outboard of x."""
        if self.stiffening == "none":
            return np.zeros((self.count, self.count))
        mu = self.mass_per_length
        moment = fit(lambda x: float(mu(x)[0, 0]) * x**power, mu.breaks, mu.degree + power).integral()
        x, weights = self._nodes
        outboard = moment(self.length)[0, 0] - moment(x)[:, 0]
        return clean(self._bending(weights * outboard, x))

    @cached_property
    def K(self) -> Array:
        """Elastic stiffness, block by family."""
        out = np.zeros((self.count, self.count))
        for name, space in self.shapes.items():
            out[self.columns[name], self.columns[name]] = bases.matrices(self.families[name], space)[1]
        return clean(out)

    @cached_property
    def D(self) -> Array:
        """Elastic damping: Kelvin-Voigt of the material, alpha M + beta K, and ratios of the clamped link's modes."""
        flexible, material = self.link.flexible, self.link.material
        if flexible is None or material is None or not self.count:
            return np.zeros((self.count, self.count))
        out = material.damping * self.K
        given = flexible.damping
        if given is None:
            return out
        return clean(out + given.alpha * self.M_elastic + given.beta * self.K + self.D_ratios)

    @cached_property
    def D_ratios(self) -> Array:
        """The part of D that gives the clamped link's modes their ratios."""
        given = None if self.link.flexible is None else self.link.flexible.damping
        if given is None or given.ratio is None or not self.count:
            return np.zeros((self.count, self.count))
        # family by family, as they do not couple: together, modes of one frequency (a round bar's) would mix at random
        found = {
            name: bases.all_modes(self.M_elastic[place, place], self.K[place, place])
            for name, place in self.columns.items()
        }
        rank = np.argsort(np.argsort(np.concatenate([squares for squares, _ in found.values()]), kind="stable"))
        listed = given.ratio if isinstance(given.ratio, tuple) else (given.ratio,)
        ratios = np.array([*listed, *[listed[-1]] * (self.count - len(listed))])[rank]  # the last one holds on
        out = np.zeros((self.count, self.count))
        for name, (squares, modes) in found.items():
            place = self.columns[name]
            left = self.M_elastic[place, place] @ modes
            out[place, place] = (left * (2 * ratios[place] * np.sqrt(squares))) @ left.T
        return clean(out)


def clean(matrix: Array) -> Array:
    """Zero what is rounding beside the entries of its row and column."""
    size = np.abs(matrix)
    scale = np.sqrt(np.outer(size.max(axis=1, initial=0.0), size.max(axis=0, initial=0.0)))
    return np.where(size > ROUNDING * scale, matrix, 0.0)
