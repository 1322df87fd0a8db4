"""Constant integrals of a link's shape functions in the equations of motion, and quadrature outboard of a point.

Symbols as in docs/theory.md: eta are the link's elastic coordinates, stacked family by family; u, v, w are the
displacements along x, y, z; mu is the mass per length. Sections turn with the slopes v', w' of the axis unless there is
shear (properties.py). Terms of second order in the shapes are in foreshortening.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from flexarm.beam import bases, polynomials
from flexarm.beam.bases import ShapeFamily, weighted_product
from flexarm.beam.loaded_modes import Loads
from flexarm.beam.polynomials import EvenGrid, Grid, PiecewisePolynomials
from flexarm.beam.properties import LinkProperties, rotation
from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.validation import Array
from flexarm.robot import Link
from flexarm.robot.carried_inertia import reference_loads
from flexarm.robot.flexibility import FAMILIES

# Rounding leaves some 1e-12 where orthogonality makes a zero; exact zeros shorten the equations.
ROUNDING_TOLERANCE = 1e-11

# Axis of displacement by family; and (family, axis, sign) of rotations by bending.
DISPLACEMENT_AXES = {"stretch": 0, "bend_y": 1, "bend_z": 2}
BENDING_ROTATIONS = (("bend_z", 1, -1.0), ("bend_y", 2, 1.0))

Part = tuple[slice, Array]
Parts = dict[int, Part]
"""By axis: columns of the family that moves along it (or turns about it), and its values (points, width)."""


@dataclass(frozen=True)
class Station:
    """First-order shapes at one point of the axis: displacement = U eta, small rotation = W eta."""

    x: float
    U: Array
    W: Array


class LinkIntegrals:
    """Shape functions of a link and their integrals. A rigid link has no shapes.

    Parameters
    ----------
    link : Link
        Link with numbers of shapes.
    smooth : bool
        Take modes with continuous curvature, for a link along which a joint slides.
    clamped : bool
        If False, there are also shapes that move the root, for a link that is held elsewhere.
    loads : tuple of CarriedBody
        Bodies that the link carries, for its modes.
    """

    def __init__(self, link: Link, smooth: bool = False, clamped: bool = True, loads: Loads = ()) -> None:
        self.link = link
        self.length = link.length
        self.smooth, self.clamped, self.loads = smooth, clamped, reference_loads(link, loads)
        self.stiffening: str = link.stiffening
        self.columns: dict[str, slice] = {}  # places of each family in eta
        self.count = 0
        for name in FAMILIES:
            if width := self._width(name):
                self.columns[name] = slice(self.count, self.count + width)
                self.count += width
        self.properties = LinkProperties(link)
        self._stations: dict[float, Station] = {}
        self.cache: dict[tuple[object, ...], Any] = {}  # results of other modules, by key

    def _width(self, family: str) -> int:
        """Return the number of shapes of a family without computing them."""
        flexible = self.link.flexible
        if flexible is None or family not in flexible.counts:
            return 0
        moving_root = 0 if self.clamped or flexible.loose else FAMILIES[family].order
        return flexible.basis.coordinates(family, flexible.counts[family]) + moving_root

    @cached_property
    def shapes(self) -> dict[str, PiecewisePolynomials]:
        """Shape functions by family."""
        flexible = self.link.flexible
        if flexible is None:
            return {}
        return {
            name: bases.shape_functions(self.link, family, flexible.counts[name], self.loads, self.smooth, self.clamped)
            for name, family in self.families.items()
        }

    @cached_property
    def families(self) -> dict[str, ShapeFamily]:
        """Stiffness and inertia per length by family."""
        return {name: self._family(name) for name in self.columns}

    def _family(self, name: str) -> ShapeFamily:
        properties, flexible = self.properties, self.link.flexible
        bends = name.startswith("bend")
        sheared = bends and flexible is not None and flexible.shear
        return ShapeFamily(
            name,
            steps=properties.steps,
            stiffness=properties.stiffness(name),
            inertia=properties.inertia("I_p") if name == "twist" else properties.mass,
            rotary=properties.inertia(FAMILIES[name].section_property) if bends and self.link.rotary_inertia else None,
            shear=properties.shear_stiffness(name) if sheared else None,
        )

    # --- shapes at points ---

    def displacement(self, x: Array) -> Array:
        """Return the shapes of the displacement u, v, w at points x, shape (points, 3, n)."""
        return self._dense(self._moves(x), len(x))

    def rotation(self, x: Array) -> Array:
        """Return the shapes of the small rotation of sections, (theta, -w', v') without shear, (points, 3, n)."""
        return self._dense(self._turns(x), len(x))

    def rotation_integral(self, x: Array) -> Array:
        """Return the integral of the rotation from the root to each point, shape (points, 3, n)."""
        shapes, columns = self.shapes, self.columns
        parts = self._bent(shapes if not self.sheared else {k: r.integral() for k, r in self._rotations.items()}, x)
        if "twist" in shapes:
            parts[0] = (columns["twist"], shapes["twist"].integral()(x))
        return self._dense(parts, len(x))

    def _moves(self, x: Array | float | Grid) -> Parts:
        shapes, columns = self.shapes, self.columns
        return {axis: (columns[name], shapes[name](x)) for name, axis in DISPLACEMENT_AXES.items() if name in shapes}

    def _turns(self, x: Array | float | Grid) -> Parts:
        out = {0: (self.columns["twist"], self.shapes["twist"](x))} if "twist" in self.columns else {}
        return out | self._bent(self._rotations, x)

    def _bent(self, slopes: dict[str, PiecewisePolynomials], x: Array | float | Grid) -> Parts:
        columns = self.columns
        return {
            axis: (columns[name], sign * slopes[name](x)) for name, axis, sign in BENDING_ROTATIONS if name in slopes
        }

    def _dense(self, parts: Parts, points: int) -> Array:
        out = np.zeros((points, 3, self.count))
        for axis, (columns, values) in parts.items():
            out[:, axis, columns] = values
        return out

    @cached_property
    def _slopes(self) -> dict[str, PiecewisePolynomials]:
        return {name: space.derivative() for name, space in self.shapes.items()}

    @cached_property
    def _rotations(self) -> dict[str, PiecewisePolynomials]:
        return {name: rotation(self.shapes[name]) if self.sheared else slope for name, slope in self._slopes.items()}

    @property
    def sheared(self) -> bool:
        """True if sections do not stay normal to the axis."""
        return self.link.flexible is not None and self.link.flexible.shear

    def station(self, x: float) -> Station:
        """Return the shapes at x, cached for everything attached there."""
        if x not in self._stations:
            self._stations[x] = self._station(x)
        return self._stations[x]

    def _station(self, x: float) -> Station:
        U, W = self._dense(self._moves(x), 1)[0], self._dense(self._turns(x), 1)[0]
        # the root does not move
        U[np.abs(U) * self.sizes <= ROUNDING_TOLERANCE * self.length] = 0.0
        W[np.abs(W) * self.sizes <= ROUNDING_TOLERANCE] = 0.0
        return Station(x, U, W)

    @cached_property
    def sizes(self) -> Array:
        """Value of each elastic coordinate at a largest deflection of the link's length or rotation of 1 rad."""
        pieces = max((len(space.breaks) for space in self.shapes.values()), default=2)
        x = EvenGrid(np.array([0.0, self.length]), 4 * pieces + 1)
        largest = np.full(self.count, 1e-300)
        for parts, unit in ((self._moves(x), self.length), (self._turns(x), 1.0)):
            for columns, values in parts.values():
                largest[columns] = np.maximum(largest[columns], np.abs(values).max(axis=0) / unit)
        return 1 / largest

    # --- the integrals ---

    @cached_property
    def grid(self) -> Grid:
        """Gauss grid that is exact for the integrals of this class."""
        return bases.quadrature([*self.shapes.values()], [self.properties.mass, *self.rotary])

    @cached_property
    def _moments(self) -> tuple[Array, Array, Parts]:
        """Quadrature points, their masses and displacement shapes."""
        grid = self.grid
        return grid.x, grid.weights * self.properties.mass(grid)[:, 0], self._moves(grid)

    @cached_property
    def m(self) -> float:
        """Mass, int mu (kg)."""
        return float(self._moments[1].sum())

    @cached_property
    def c0(self) -> float:
        """First moment, int mu x (kg m)."""
        x, mass, _ = self._moments
        return float(mass @ x)

    @cached_property
    def g0(self) -> float:
        """Second moment, int mu x^2 (kg m2)."""
        x, mass, _ = self._moments
        return float(mass @ x**2)

    @cached_property
    def a(self) -> Array:
        """Integrals int mu N_u, int mu N_v, int mu N_w, shape (3, n)."""
        _, mass, N = self._moments
        return drop_rounding(self._sums((mass, mass, mass), N))

    @cached_property
    def b(self) -> Array:
        """Integrals int mu x N_u, int mu x N_v, int mu x N_w, shape (3, n)."""
        x, mass, N = self._moments
        return drop_rounding(self._sums((mass * x,) * 3, N))

    def _sums(self, weights: Sequence[Array] | Array, parts: Parts) -> Array:
        """Return the weighted sums of the values of each axis, shape (3, n)."""
        out = np.zeros((3, self.count))
        for axis, (columns, values) in parts.items():
            out[axis, columns] = weights[axis] @ values
        return out

    @cached_property
    def M(self) -> dict[str, Array]:
        """Integrals M["uv"] = int mu N_u^T N_v and so on, each of shape (n, n)."""
        _, mass, N = self._moments
        pairs = [(i, j) for i in range(3) for j in range(i, 3)]
        return {"uvw"[i] + "uvw"[j]: self._product(mass, N.get(i), N.get(j)) for i, j in pairs}

    def _product(self, weights: Array, left: Part | None, right: Part | None) -> Array:
        """Return the weighted sum of left^T right over the points, zero where one has no shapes; shape (n, n)."""
        out = np.zeros((self.count, self.count))
        if left is not None and right is not None:
            out[left[0], right[0]] = drop_rounding(weighted_product(weights, left[1], right[1]))
        return out

    @property
    def rotary(self) -> list[PiecewisePolynomials]:
        """Rotary inertia per length about x (for twist), and about y and z if the link has rotary inertia."""
        moments = ("I_p", "I_y", "I_z") if self.link.rotary_inertia else ("I_p",)
        return [self.properties.inertia(moment) for moment in moments]

    def _rotary_inertia(self, grid: Grid) -> Array:
        """Return the rotary inertia about x, y, z at each point times its weight, shape (points, 3)."""
        out = np.zeros((len(grid.x), 3))
        for axis, inertia in enumerate(self.rotary):
            out[:, axis] = grid.weights * inertia(grid)[:, 0]
        return out

    @cached_property
    def _turning(self) -> tuple[Array, Parts]:
        """Rotary inertia and rotation shapes at the quadrature points."""
        return self._rotary_inertia(self.grid), self._turns(self.grid)

    @cached_property
    def section_inertia(self) -> Array:
        """Integrals int rho I_p, and int rho I_y, int rho I_z if the link has rotary inertia, shape (3,)."""
        return np.asarray(self._turning[0].sum(axis=0))

    @cached_property
    def j(self) -> Array:
        """Angular momentum of the sections per elastic rate, shape (3, n)."""
        inertia, W = self._turning
        return drop_rounding(self._sums(inertia.T, W))

    @cached_property
    def M_elastic(self) -> Array:
        """Mass matrix of eta with the root held, from translation and rotation of the sections."""
        inertia, W = self._turning
        out = self.M["uu"] + self.M["vv"] + self.M["ww"]
        for axis, (columns, values) in W.items():
            if axis == 0 or self.link.rotary_inertia:
                out[columns, columns] += weighted_product(inertia[:, axis], values)
        return drop_rounding(out)

    @cached_property
    def K(self) -> Array:
        """Elastic stiffness matrix, one block per family."""
        out = np.zeros((self.count, self.count))
        for name, space in self.shapes.items():
            family = self.families[name]
            grid = bases.quadrature([space], family.stiffnesses)
            out[self.columns[name], self.columns[name]] = bases.stiffness_matrix(family, space, grid)
        return drop_rounding(out)

    @cached_property
    def D(self) -> Array:
        """Elastic damping matrix: Kelvin-Voigt, alpha M + beta K, and damping ratios of the clamped link's modes."""
        flexible, material = self.link.flexible, self.link.material
        if flexible is None or material is None or not self.count:
            return np.zeros((self.count, self.count))
        out = material.damping * self.K
        given = flexible.damping
        if given is None:
            return out
        return drop_rounding(out + given.alpha * self.M_elastic + given.beta * self.K + self.D_ratios)

    @cached_property
    def D_ratios(self) -> Array:
        """Part of D from the damping ratios of the clamped link's modes."""
        given = None if self.link.flexible is None else self.link.flexible.damping
        if given is None or given.ratio is None or not self.count:
            return np.zeros((self.count, self.count))
        # by family, as families do not couple: together, modes of equal frequency (of a round bar) mix at random
        found = {
            name: bases.all_modes(self.M_elastic[place, place], self.K[place, place])
            for name, place in self.columns.items()
        }
        rank = np.argsort(np.argsort(np.concatenate([squares for squares, _ in found.values()]), kind="stable"))
        listed = given.ratio if isinstance(given.ratio, tuple) else (given.ratio,)
        ratios = np.array([*listed, *[listed[-1]] * (self.count - len(listed))])[rank]  # the last one is repeated
        out = np.zeros((self.count, self.count))
        for name, (squares, modes) in found.items():
            place = self.columns[name]
            left = self.M_elastic[place, place] @ modes
            out[place, place] = (left * (2 * ratios[place] * np.sqrt(squares))) @ left.T
        return drop_rounding(out)


def drop_rounding(matrix: Array) -> Array:
    """Set entries to zero that are rounding errors relative to the entries of their row and column."""
    size = np.abs(matrix)
    rows, columns = np.sqrt(size.max(axis=1, initial=0.0)), np.sqrt(size.max(axis=0, initial=0.0))
    return np.where(size > ROUNDING_TOLERANCE * rows[:, None] * columns, matrix, 0.0)


@dataclass(frozen=True, eq=False)
class OutboardQuadrature:
    """Quadrature from any point to the end, with `count` Gauss points on each piece between `breaks` (..., m + 1)."""

    breaks: Array
    count: int

    @cached_property
    def x(self) -> Array:
        """Gauss points of all pieces, shape (..., points)."""
        nodes, _ = polynomials.gauss_rule(self.count)
        left, right = self._ends
        return _flat(left + (right - left) * (nodes + 1) / 2)

    def weights(self, x: Array) -> Array:
        """Return weights of the values at the Gauss points in the integral from x to the last break.

        The integrand is the polynomial through the values on each piece; the shape is (..., len(x), points).
        """
        left, right = (each[..., None, :, :] for each in self._ends)  # (..., 1, m, 1)
        with np.errstate(invalid="ignore", divide="ignore"):
            local = (2 * x[:, None, None] - left - right) / (right - left)
        local = np.clip(np.where(right > left, local, 1.0), -1.0, 1.0)[..., 0]
        behind = polynomials.legendre_values(local.ravel(), self.count) @ (
            polynomials.integration(self.count - 1) @ polynomials.projection(self.count - 1)
        )
        ahead = polynomials.gauss_rule(self.count)[1] - behind.reshape(*local.shape, self.count)
        return _flat((right - left) / 2 * ahead)

    @property
    def _ends(self) -> tuple[Array, Array]:
        return self.breaks[..., :-1, None], self.breaks[..., 1:, None]


def _flat(values: Array) -> Array:
    """Merge the last two dimensions, pieces and points."""
    return np.asarray(values.reshape(*values.shape[:-2], values.shape[-2] * values.shape[-1]))
