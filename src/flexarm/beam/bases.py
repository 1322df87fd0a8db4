"""B-splines on a mesh: elements whose functions are smooth across nodes, clamped at the root.

Shape functions of a link: finite elements, splines, assumed modes, reduced meshes.

A family of deformation needs functions that vanish at the clamped root: bending with their first derivative
(order 2: the energy holds the second derivative), stretch and twist by themselves (order 1).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.polynomial import legendre

from flexarm.beam.loaded_modes import LoadedModes, Loads, LumpedMass, lumped_masses
from flexarm.beam.polynomials import Grid, PiecewisePolynomials, constant, merge_breaks
from flexarm.beam.properties import ShearedShapes, element_functions, rotation, with_shear
from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.validation import Array
from flexarm.robot import Elements, Link, Modes, Reduced, Splines
from flexarm.robot.flexibility import FAMILIES


def spline_shapes(nodes: Array, order: int, degree: int) -> PiecewisePolynomials:
    """Of a degree, with one continuous derivative less; those that move or (order 2) turn the clamped root left out.

    Each lives on degree + 1 neighbouring elements at the most.
    """
    knots = np.concatenate([np.full(degree, nodes[0]), nodes, np.full(degree, nodes[-1])])
    points, _ = legendre.leggauss(degree + 1)
    fitted = np.linalg.inv(legendre.legvander(points, degree))
    pieces = len(nodes) - 1
    coefficients = np.zeros((degree + 1, pieces, pieces + degree))
    for piece in range(pieces):
        left, right = nodes[piece], nodes[piece + 1]
        x = (left + right + (right - left) * points) / 2
        coefficients[:, piece, piece : piece + degree + 1] = fitted @ _alive(knots, piece + degree, degree, x)
    return PiecewisePolynomials(nodes, np.ascontiguousarray(coefficients[:, :, order:]))


def _alive(knots: Array, interval: int, degree: int, x: Array) -> Array:
    """(points, degree + 1): the B-splines that differ from zero between two knots, by Cox and de Boor's recursion."""
    found = np.ones((len(x), 1))
    for k in range(1, degree + 1):
        higher = np.zeros((len(x), k + 1))
        for j in range(k):
            left, right = knots[interval + 1 - k + j], knots[interval + 1 + j]
            share = found[:, j] / (right - left)
            higher[:, j] += share * (right - x)
            higher[:, j + 1] += share * (x - left)
        found = higher
    return found


# Polynomials beyond twice the number of modes in the Ritz space: 12 give the highest mode ten digits (tests/beam).
EXTRA_DEGREE_COUNT = 12
EXTRA_SMOOTH_DEGREE_COUNT = 4  # six digits: enough where the polynomials themselves must be cheap

# Products of more functions than these are made part by part, of this many points.
MAX_DENSE_FUNCTIONS = 60
BLOCK_POINTS = 64


@dataclass(frozen=True)
class ShapeFamily:
    """One family on one link: what resists the deformation and what moves with it, per length."""

    name: str
    steps: Array  # where the section jumps, with both ends; a fitted property may have more pieces than that
    stiffness_matrix: PiecewisePolynomials
    inertia: PiecewisePolynomials
    rotary: PiecewisePolynomials | None = None  # inertia against the rotation of bending (Rayleigh)
    shear: PiecewisePolynomials | None = None  # what resists shear in bending (Timoshenko)

    @property
    def order(self) -> int:
        return FAMILIES[self.name].order

    @property
    def uniform(self) -> bool:
        """Whether its modes are those of any uniform link."""
        return self.stiffness.constant and self.inertia.constant and self.rotary is None and self.shear is None

    @property
    def stiffnesses(self) -> list[PiecewisePolynomials]:
        return [self.stiffness] if self.shear is None else [self.stiffness, self.shear]


def shape_functions(
    link: Link, family: ShapeFamily, count: int, loads: Loads = (), smooth: bool = False, clamped: bool = True
) -> PiecewisePolynomials:
    """The shape functions of one family of a flexible link, as its basis says. `loads`: what its modes are loaded with.
    `smooth` modes are one polynomial over steps of the section, of lower degree, since they are evaluated wherever
    something slides along the link. Only elements can be unclamped: then the root's own functions come first."""
    assert link.flexible is not None
    basis = link.flexible.basis
    if isinstance(basis, Elements):
        return mesh_shapes(family, mesh(family.steps, count), basis.order, clamped)
    if isinstance(basis, Splines):
        return spline_shapes(mesh(family.steps, count), family.order, basis.degree - 2 + family.order)
    if isinstance(basis, Reduced):
        return reduced_shapes(family, basis, basis.modes or count)
    assert isinstance(basis, Modes)
    return mode_shapes(family, count, loads, smooth)


def element_shapes(nodes: Array, order: int, degree: int = 1, clamped: bool = True) -> PiecewisePolynomials:
    """Nodal functions of the elements between `nodes`, the root's left out if it is clamped.

    Bending: cubic Hermite, two coordinates a node (deflection, slope). Stretch and twist: Lagrange of `degree` 1 or 2.
    """
    local = _hermite(nodes[1:] - nodes[:-1]) if order == 2 else LAGRANGE[degree][:, None, :]
    return _assembled(nodes, local, order, degree, clamped)


def mesh_shapes(family: ShapeFamily, nodes: Array, degree: int = 1, clamped: bool = True) -> PiecewisePolynomials:
    """The same for a family, whose bending may come with shear: coordinates are then deflection and rotation."""
    if family.shear is None:
        return element_shapes(nodes, family.order, degree, clamped)
    local = element_functions(nodes, family.stiffness, family.shear)
    moves, turns = (_assembled(nodes, each, family.order, degree, clamped) for each in local)
    return ShearedShapes(nodes, moves.coefficients, turns)


def _assembled(nodes: Array, local: Array, order: int, degree: int, clamped: bool) -> PiecewisePolynomials:
    """Functions of nodes from those of elements (degrees, pieces, functions), which neighbours share."""
    count = len(nodes) - 1
    per_element, root = (2, 2) if order == 2 else (degree, 1)
    piece = np.arange(count)[:, None]
    coefficients = np.zeros((len(local), count, root + per_element * count))
    coefficients[:, piece, per_element * piece + np.arange(local.shape[2])] = local
    return PiecewisePolynomials(nodes, np.ascontiguousarray(coefficients[:, :, root if clamped else 0 :]))


def _hermite(sizes: Array) -> Array:
    """(Legendre degrees 0 ... 3, pieces, functions): deflection and slope of the left node, then of the right one."""
    values = np.array([[1 / 2, 1 / 2], [-3 / 5, 3 / 5], [0, 0], [1 / 10, -1 / 10]])
    slopes = np.array([[1 / 12, -1 / 12], [-1 / 20, -1 / 20], [-1 / 12, 1 / 12], [1 / 20, 1 / 20]])
    out = np.empty((4, len(sizes), 4))
    out[:, :, 0::2] = values[:, None, :]
    out[:, :, 1::2] = slopes[:, None, :] * sizes[:, None]
    return out


LAGRANGE = {
    1: np.array([[1 / 2, 1 / 2], [-1 / 2, 1 / 2]]),
    2: np.array([[1 / 6, 2 / 3, 1 / 6], [-1 / 2, 0, 1 / 2], [1 / 3, -2 / 3, 1 / 3]]),
}


def mesh(breaks: Array, count: int) -> Array:
    """Nodes of `count` elements with one at every break, of equal size within each piece and as equal as can be."""
    ends = breaks.tolist()
    lengths = [b - a for a, b in pairwise(ends)]
    shares = [1] * len(lengths) if len(lengths) > 1 else [count]
    for _ in range(count - sum(shares)):
        sizes = [length / share for length, share in zip(lengths, shares, strict=True)]
        # the next element goes where they are largest; among equals, which rounding may tell apart, to the first
        enough = (1 - 1e-9) * max(sizes)
        shares[next(k for k, size in enumerate(sizes) if size > enough)] += 1
    parts = [np.linspace(a, b, n + 1)[:-1] for (a, b), n in zip(pairwise(ends), shares, strict=True)]
    return np.append(np.concatenate(parts), ends[-1])


def mode_shapes(family: ShapeFamily, count: int, loads: Loads = (), smooth: bool = False) -> PiecewisePolynomials:
    """What the first `count` eigenfunctions of the clamped link with its loads span, made orthogonal by the mass of the
    link alone: like modes without loads they have a unit mass matrix and a diagonal stiffness."""
    steps = family.steps[[0, -1]] if smooth else family.steps
    degree = 2 * count + (EXTRA_SMOOTH_DEGREE_COUNT if smooth else EXTRA_DEGREE_COUNT)
    lumps = tuple(lump for load in loads for lump in lumped_masses(family.name, load, count))
    if family.uniform and len(steps) == 2:
        length = float(steps[-1])
        mass = float(family.inertia.coefficients[0, 0, 0]) * length
        scaled = tuple(lump.scaled(1 / mass, 1 / length) for lump in lumps)
        return PiecewisePolynomials(steps, _unit_modes(family.order, count, degree, scaled) / np.sqrt(mass))
    return _tip_up(_loadable(family, steps, degree).modes(lumps, count))


@lru_cache(256)
def _unit_modes(order: int, count: int, degree: int, lumps: tuple[LumpedMass, ...]) -> Array:
    """Coefficients of the modes of a uniform link of unit length and mass; others have the same, scaled."""
    found = _tip_up(_unit_loadable(order, degree).modes(lumps, count)).coefficients
    found.setflags(write=False)
    return found


@lru_cache(64)
def _unit_loadable(order: int, degree: int) -> LoadedModes:
    one = constant(1.0, 1.0)
    family = ShapeFamily("bend_y" if order == 2 else "stretch", one.breaks, stiffness=one, inertia=one)
    return _loadable(family, one.breaks, degree)


def _loadable(family: ShapeFamily, steps: Array, degree: int) -> LoadedModes:
    space = _clamped_polynomials(steps, family.order, degree)
    if family.shear is not None:
        space = with_shear(space, _clamped_polynomials(steps, 1, degree))
    return LoadedModes(space, *mass_and_stiffness(family, space))


def reduced_shapes(family: ShapeFamily, basis: Reduced, count: int) -> PiecewisePolynomials:
    """Component modes of a meshed link.

    Free interface: the first modes of the clamped mesh. Fixed interface (Craig-Bampton): the static shapes of a unit
    tip deflection and slope (these are the first coordinates), then the modes with the tip held.
    """
    tip = family.order if basis.interface == "fixed" else 0
    nodes = mesh(family.steps, basis.elements)
    if family.uniform and len(family.steps) == 2:
        length = float(family.steps[-1])
        mass = float(family.inertia.coefficients[0, 0, 0]) * length
        sizes = np.array([1.0, length][:tip] + [1 / np.sqrt(mass)] * count)  # of unit slopes, and of modes
        return PiecewisePolynomials(nodes, _unit_reduced(family.order, basis.elements, count, tip) * sizes)
    return _reduced(family, mesh_shapes(family, nodes), count, tip)


@lru_cache(64)
def _unit_reduced(order: int, count_of_elements: int, count: int, tip: int) -> Array:
    """Coefficients of those of a uniform link of unit length and mass; others have the same, scaled."""
    one = constant(1.0, 1.0)
    family = ShapeFamily("bend_y" if order == 2 else "stretch", one.breaks, stiffness=one, inertia=one)
    found = _reduced(family, element_shapes(mesh(one.breaks, count_of_elements), order), count, tip).coefficients
    found.setflags(write=False)
    return found


def _reduced(family: ShapeFamily, space: PiecewisePolynomials, count: int, tip: int) -> PiecewisePolynomials:
    """Of a space of elements, with the last `tip` coordinates held."""
    mass, stiffness = mass_and_stiffness(family, space)
    inner = space.count - tip
    kept = lowest_modes(mass[:inner, :inner], stiffness[:inner, :inner], count)[1]
    if not tip:
        return _tip_up(space @ kept)
    static = -np.linalg.solve(stiffness[:inner, :inner], stiffness[:inner, inner:])
    found = space @ np.block([[static, kept], [np.eye(tip), np.zeros((tip, count))]])
    return _root_up(found, family.order, tip)


def mass_and_stiffness(family: ShapeFamily, space: PiecewisePolynomials) -> tuple[Array, Array]:
    """Mass and stiffness matrices of one family in a space of functions."""
    rotary = [] if family.rotary is None else [family.rotary]
    grid = quadrature([space], [*family.stiffnesses, family.inertia, *rotary])
    mass = weighted_product(grid.weights * family.inertia(grid)[:, 0], space(grid))
    if family.rotary is not None:
        mass = mass + weighted_product(grid.weights * family.rotary(grid)[:, 0], rotation(space)(grid))
    return mass, stiffness_matrix(family, space, grid)


def stiffness_matrix(family: ShapeFamily, space: PiecewisePolynomials, grid: Grid) -> Array:
    """Stiffness matrix of one family, by the quadrature of a grid."""
    if family.shear is None:
        return weighted_product(grid.weights * family.stiffness(grid)[:, 0], space.derivative(family.order)(grid))
    turns = rotation(space)
    curved = weighted_product(grid.weights * family.stiffness(grid)[:, 0], turns.derivative()(grid))
    return curved + weighted_product(grid.weights * family.shear(grid)[:, 0], space.derivative()(grid) - turns(grid))


def weighted_product(weights: Array, left: Array, right: Array | None = None) -> Array:
    """sum_g weights_g left_g^T right_g over quadrature points g."""
    right = left if right is None else right
    if min(left.shape[1], right.shape[1]) > MAX_DENSE_FUNCTIONS:
        return _weighted_by_parts(weights, left, right)
    return np.asarray((left * weights[:, None]).T @ right)


def _weighted_by_parts(weights: Array, left: Array, right: Array) -> Array:
    """The same for many functions, part by part of the link: of a mesh only few differ from zero there."""
    out = np.zeros((left.shape[1], right.shape[1]))
    starts = range(0, len(weights), BLOCK_POINTS)
    heres = _nonzero(left, starts)
    theres = heres if right is left else _nonzero(right, starts)
    for start, here, there in zip(starts, heres, theres, strict=True):
        points = slice(start, start + BLOCK_POINTS)
        out[here, there] += (left[points, here] * weights[points, None]).T @ right[points, there]
    return out


def _nonzero(values: Array, starts: Sequence[int]) -> list[slice]:
    """The columns in which anything differs from zero, for each part of the rows."""
    found = np.logical_or.reduceat(values != 0, starts, axis=0)
    first, last = found.argmax(axis=1).tolist(), (found.shape[1] - found[:, ::-1].argmax(axis=1)).tolist()
    return [slice(*ends) for ends in zip(first, last, strict=True)]


def quadrature(spaces: Sequence[PiecewisePolynomials], properties: Sequence[PiecewisePolynomials]) -> Grid:
    """Quadrature on the common pieces of several spaces, exact for a product of two of the functions, a property
    (mass or stiffness along the link), and x^2."""
    ends = merge_breaks(*(each.breaks for each in (*spaces, *properties)))
    degree = 2 * max((space.degree for space in spaces), default=0) + max(each.degree for each in properties) + 2
    return Grid(ends, degree // 2 + 1)


def lowest_modes(mass: Array, stiffness: Array, count: int) -> tuple[Array, Array]:
    """Angular frequencies and mass-normalised vectors of K x = omega^2 M x, ascending, K positive definite.

    Solved as M x = K x / omega^2: rounding then spoils the high modes and not the low ones.
    """
    factor = np.linalg.cholesky(stiffness)
    half = np.linalg.solve(factor, mass)
    flexibility, vectors = np.linalg.eigh(np.linalg.solve(factor, half.T))
    flexibility, vectors = flexibility[::-1][:count], vectors[:, ::-1][:, :count]
    flexibility = np.maximum(flexibility, np.finfo(float).tiny)
    shapes = np.linalg.solve(factor.T, vectors) / np.sqrt(flexibility)
    # orthonormal to the last digit, low modes first (Gram-Schmidt as a Cholesky factor)
    shapes = np.linalg.solve(np.linalg.cholesky(shapes.T @ mass @ shapes), shapes.T).T
    return 1 / np.sqrt(flexibility), shapes


def all_modes(mass: Array, stiffness: Array) -> tuple[Array, Array]:
    """omega^2 and mass-normalised vectors of every mode, ascending: the low ones from the flexibility, the high ones
    from the stiffness, each where it is accurate. K need not be positive definite, M must."""
    if not len(mass):
        return np.zeros(0), np.zeros((0, 0))
    factor = np.linalg.cholesky(mass)
    half = np.linalg.solve(factor, stiffness)
    squares, vectors = np.linalg.eigh(np.linalg.solve(factor, half.T))
    shapes = np.linalg.solve(factor.T, vectors)
    low = int(np.sum(squares < 1e-8 * squares[-1]))
    if low and squares[-1] > 0:
        try:
            omega, soft = lowest_modes(mass, stiffness, low)
            squares[:low], shapes[:, :low] = omega**2, soft
        except np.linalg.LinAlgError:  # not positive definite: some posture under gravity
            pass
    return squares, shapes


def _tip_up(shapes: PiecewisePolynomials) -> PiecewisePolynomials:
    """Eigenvectors have no sign of their own: make every tip move in the positive direction."""
    tip = shapes.coefficients[:, -1].sum(axis=0)  # every Legendre polynomial is 1 at the right end
    return shapes @ np.diag(np.where(tip < 0, -1.0, 1.0))


def _root_up(shapes: PiecewisePolynomials, order: int, first: int) -> PiecewisePolynomials:
    """The same for modes with the tip held, those from the column `first`: positive strain at the root."""
    strain = rotation(shapes).derivative() if order == 2 else shapes.derivative()
    signs = np.where(strain(0.0)[0] < 0, -1.0, 1.0)
    signs[:first] = 1.0
    return shapes @ np.diag(signs)


def _clamped_polynomials(breaks: Array, order: int, degree: int) -> PiecewisePolynomials:
    """All polynomials on the section's pieces that are clamped at the root and of continuity order - 1 at steps."""
    fractions = tuple((breaks / breaks[-1]).tolist())
    return PiecewisePolynomials(breaks, _clamped_coefficients(fractions, order, degree))


@lru_cache(64)
def _clamped_coefficients(fractions: tuple[float, ...], order: int, degree: int) -> Array:
    """Their coefficients on a link of unit length.

    Their highest derivative in the energy is a Legendre polynomial of one piece, so that the stiffness matrix of a
    uniform link is diagonal and the eigenproblem well conditioned.
    """
    pieces = len(fractions) - 1
    strain = np.zeros((degree + 1, pieces, pieces * (degree + 1)))
    for piece in range(pieces):
        block = slice(piece * (degree + 1), (piece + 1) * (degree + 1))
        strain[:, piece, block] = np.diag(np.sqrt(2 * np.arange(degree + 1) + 1))
    space = PiecewisePolynomials(np.array(fractions), strain)
    for _ in range(order):
        space = space.integral()
    space.coefficients.setflags(write=False)  # shared by all links that ask for them
    return space.coefficients
