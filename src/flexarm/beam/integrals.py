"""The constant integrals of a link: all that the equations of motion need to know of how it bends.

Symbols as in docs/theory.md: eta are the link's elastic coordinates, stacked family by family; u, v, w the
displacements along x, y, z. Sections turn with the slopes v', w' of the axis, unless there is shear (shear.py). What
is of second order in the shapes is in second_order.py.

Integrals over what lies outboard of any place on a link, from values at Gauss points.
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

# Rounding leaves some 1e-12 where orthogonality makes a zero; a true zero costs the equations nothing.
ROUNDING_TOLERANCE = 1e-11

# Which family moves the sections along which axis, and which bending turns them about which axis, with which sign.
DISPLACEMENT_AXES = {"stretch": 0, "bend_y": 1, "bend_z": 2}
BENDING_ROTATIONS = (("bend_z", 1, -1.0), ("bend_y", 2, 1.0))

Part = tuple[slice, Array]
Parts = dict[int, Part]
"""By axis: the columns of the one family that moves along it (or turns about it), and its values (points, width)."""


@dataclass(frozen=True)
class Station:
    """Shapes at one point of the axis, to first order: displacement = U eta, small rotation = W eta."""

    x: float
    U: Array
    W: Array


class LinkIntegrals:
    """Shape functions of a link and the integrals of them. A rigid link is one with no shapes."""

    def __init__(self, link: Link, smooth: bool = False, clamped: bool = True, loads: Loads = ()) -> None:
        """`smooth`: shapes whose curvature does not jump, since something slides along the link. Not `clamped`: shapes
        that move the root, since the link is held elsewhere. `loads`: what the link carries, for its modes."""
        self.link = link
        self.length = link.length
        self.smooth, self.clamped, self.loads = smooth, clamped, reference_loads(link, loads)
        self.stiffening: str = link.stiffening
        self.columns: dict[str, slice] = {}  # of each family in eta
        self.count = 0
        for name in FAMILIES:
            if width := self._width(name):
                self.columns[name] = slice(self.count, self.count + width)
                self.count += width
        self.properties = LinkProperties(link)
        self._stations: dict[float, Station] = {}
        self.remembered: dict[tuple[object, ...], Any] = {}  # what others computed from it

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
            name: bases.shape_functions(self.link, family, flexible.counts[name], self.loads, self.smooth, self.clamped)
            for name, family in self.families.items()
        }

    @cached_property
    def families(self) -> dict[str, ShapeFamily]:
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
            rotary=properties.inertia(FAMILIES[name].resists) if bends and self.link.rotary_inertia else None,
            shear=properties.shear_stiffness(name) if sheared else None,
        )

    # --- shapes at points ---

    def displacement(self, x: Array) -> Array:
        """(points, 3, n): rows u, v, w."""
        return self._dense(self._moves(x), len(x))

    def rotation(self, x: Array) -> Array:
        """(points, 3, n): small rotation of the section, (theta, -w', v') without shear."""
        return self._dense(self._turns(x), len(x))

    def rotation_integral(self, x: Array) -> Array:
        """(points, 3, n): that from the root to each point."""
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
        """Whether sections do not stay normal to the axis."""
        return self.link.flexible is not None and self.link.flexible.shear

    def station(self, x: float) -> Station:
        """Shapes at x, for whatever hangs there."""
        if x not in self._stations:
            self._stations[x] = self._station(x)
        return self._stations[x]

    def _station(self, x: float) -> Station:
        U, W = self._dense(self._moves(x), 1)[0], self._dense(self._turns(x), 1)[0]
        # the root stands still
        U[np.abs(U) * self.sizes <= ROUNDING_TOLERANCE * self.length] = 0.0
        W[np.abs(W) * self.sizes <= ROUNDING_TOLERANCE] = 0.0
        return Station(x, U, W)

    @cached_property
    def sizes(self) -> Array:
        """Per elastic coordinate, the value that means a deflection of the link's length or a rotation of one radian
        somewhere along it: what is large for this coordinate."""
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
        return bases.quadrature([*self.shapes.values()], [self.properties.mass, *self.rotary])

    @cached_property
    def _moments(self) -> tuple[Array, Array, Parts]:
        """Quadrature points, mass at each, displacement shapes at each."""
        grid = self.grid
        return grid.x, grid.weights * self.properties.mass(grid)[:, 0], self._moves(grid)

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
        return drop_rounding(self._sums((mass, mass, mass), N))

    @cached_property
    def b(self) -> Array:
        """(3, n): int mu x N_u, ..."""
        x, mass, N = self._moments
        return drop_rounding(self._sums((mass * x,) * 3, N))

    def _sums(self, weights: Sequence[Array] | Array, parts: Parts) -> Array:
        """(3, n): of every axis, its values summed with its weights."""
        out = np.zeros((3, self.count))
        for axis, (columns, values) in parts.items():
            out[axis, columns] = weights[axis] @ values
        return out

    @cached_property
    def M(self) -> dict[str, Array]:
        """M["uv"] = int mu N_u^T N_v and so on."""
        _, mass, N = self._moments
        pairs = [(i, j) for i in range(3) for j in range(i, 3)]
        return {"uvw"[i] + "uvw"[j]: self._product(mass, N.get(i), N.get(j)) for i, j in pairs}

    def _product(self, weights: Array, left: Part | None, right: Part | None) -> Array:
        """(n, n): sum of weights left^T right over the points, zero where one of them has no shapes."""
        out = np.zeros((self.count, self.count))
        if left is not None and right is not None:
            out[left[0], right[0]] = drop_rounding(weighted_product(weights, left[1], right[1]))
        return out

    @property
    def rotary(self) -> list[PiecewisePolynomials]:
        """Rotary inertia per length about x, which carries twist; about y and z when the link counts it."""
        moments = ("I_p", "I_y", "I_z") if self.link.rotary_inertia else ("I_p",)
        return [self.properties.inertia(moment) for moment in moments]

    def _rotary_inertia(self, grid: Grid) -> Array:
        """(points, 3): of what each point stands for."""
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
        """(3,): int rho I_p, and int rho I_y, int rho I_z when they count."""
        return np.asarray(self._turning[0].sum(axis=0))

    @cached_property
    def j(self) -> Array:
        """(3, n): angular momentum of the turning sections."""
        inertia, W = self._turning
        return drop_rounding(self._sums(inertia.T, W))

    @cached_property
    def M_elastic(self) -> Array:
        """Mass matrix of eta with the root held: translation and rotation of the sections."""
        inertia, W = self._turning
        out = self.M["uu"] + self.M["vv"] + self.M["ww"]
        for axis, (columns, values) in W.items():
            if axis == 0 or self.link.rotary_inertia:
                out[columns, columns] += weighted_product(inertia[:, axis], values)
        return drop_rounding(out)

    @cached_property
    def K(self) -> Array:
        """Elastic stiffness, block by family."""
        out = np.zeros((self.count, self.count))
        for name, space in self.shapes.items():
            family = self.families[name]
            grid = bases.quadrature([space], family.stiffnesses)
            out[self.columns[name], self.columns[name]] = bases.stiffness_matrix(family, space, grid)
        return drop_rounding(out)

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
        return drop_rounding(out + given.alpha * self.M_elastic + given.beta * self.K + self.D_ratios)

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
        return drop_rounding(out)


def drop_rounding(matrix: Array) -> Array:
    """Zero what is rounding beside the entries of its row and column."""
    size = np.abs(matrix)
    rows, columns = np.sqrt(size.max(axis=1, initial=0.0)), np.sqrt(size.max(axis=0, initial=0.0))
    return np.where(size > ROUNDING_TOLERANCE * rows[:, None] * columns, matrix, 0.0)


@dataclass(frozen=True, eq=False)
class OutboardQuadrature:
    """Pieces between `breaks` (..., m + 1), which may differ from row to row, with `count` Gauss points on each."""

    breaks: Array
    count: int

    @cached_property
    def x(self) -> Array:
        """(..., points)."""
        nodes, _ = polynomials.gauss_rule(self.count)
        left, right = self._ends
        return _flat(left + (right - left) * (nodes + 1) / 2)

    def weights(self, x: Array) -> Array:
        """(..., len(x), points): with these, values at the points add up to the integral of the polynomials through
        them, from x to the last break."""
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
    """Pieces and points on each as one dimension."""
    return np.asarray(values.reshape(*values.shape[:-2], values.shape[-2] * values.shape[-1]))
