"""Shape functions of a link: finite elements, B-splines, assumed modes and component modes.

At the clamped root, functions of bending vanish together with their first derivative (order 2: the strain energy
contains the second derivative), functions of stretch and twist vanish themselves (order 1).
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
    """Return the B-splines of a degree on a mesh, with degree - 1 continuous derivatives, clamped at the root.

    Each differs from zero on at most degree + 1 neighbouring elements.
    """
    knots = np.concatenate([np.full(degree, nodes[0]), nodes, np.full(degree, nodes[-1])])
    points, _ = legendre.leggauss(degree + 1)
    fitted = np.linalg.inv(legendre.legvander(points, degree))
    pieces = len(nodes) - 1
    coefficients = np.zeros((degree + 1, pieces, pieces + degree))
    for piece in range(pieces):
        left, right = nodes[piece], nodes[piece + 1]
        x = (left + right + (right - left) * points) / 2
        coefficients[:, piece, piece : piece + degree + 1] = fitted @ _nonzero_splines(knots, piece + degree, degree, x)
    return PiecewisePolynomials(nodes, np.ascontiguousarray(coefficients[:, :, order:]))


def _nonzero_splines(knots: Array, interval: int, degree: int, x: Array) -> Array:
    """Evaluate the B-splines that differ from zero between two knots by the Cox-de Boor recursion.

    The result has shape (points, degree + 1).
    """
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


# Polynomials of the Ritz space beyond twice the number of modes: 12 give the highest mode ten digits (tests/beam).
EXTRA_DEGREE_COUNT = 12
EXTRA_SMOOTH_DEGREE_COUNT = 4  # six digits, for modes that are evaluated at every step of a run

# Products of more functions than this are computed in blocks of quadrature points.
MAX_DENSE_FUNCTIONS = 60
BLOCK_POINTS = 64


@dataclass(frozen=True)
class ShapeFamily:
    """Stiffness and inertia per length of one family of deformation of a link."""

    name: str
    steps: Array  # where the section jumps, with both ends; fitted properties may have more pieces
    stiffness: PiecewisePolynomials
    inertia: PiecewisePolynomials
    rotary: PiecewisePolynomials | None = None  # inertia against the rotation of bending (Rayleigh)
    shear: PiecewisePolynomials | None = None  # shear stiffness of bending (Timoshenko)

    @property
    def order(self) -> int:
        """Order of the derivative in the strain energy."""
        return FAMILIES[self.name].order

    @property
    def uniform(self) -> bool:
        """True if the modes are scaled copies of those of any uniform link."""
        return self.stiffness.constant and self.inertia.constant and self.rotary is None and self.shear is None

    @property
    def stiffnesses(self) -> list[PiecewisePolynomials]:
        """Bending, twist or stretch stiffness, and the shear stiffness if there is shear."""
        return [self.stiffness] if self.shear is None else [self.stiffness, self.shear]


def shape_functions(
    link: Link, family: ShapeFamily, count: int, loads: Loads = (), smooth: bool = False, clamped: bool = True
) -> PiecewisePolynomials:
    """Return the shape functions of one family of a flexible link in its basis.

    Parameters
    ----------
    link : Link
        Flexible link.
    family : ShapeFamily
        Family of deformation on this link.
    count : int
        Number of modes or elements.
    loads : tuple of CarriedBody
        Bodies with which modes are loaded.
    smooth : bool
        Let modes be one polynomial of lower degree over steps of the section, for links along which a joint slides.
    clamped : bool
        If False (elements only), the functions of the root's own displacement come first.
    """
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
    """Return the nodal functions of the elements between `nodes`, without those of a clamped root.

    Bending: cubic Hermite with two coordinates per node (deflection, slope). Stretch and twist: Lagrange polynomials
    of `degree` 1 or 2.
    """
    local = _hermite(nodes[1:] - nodes[:-1]) if order == 2 else LAGRANGE[degree][:, None, :]
    return _assembled(nodes, local, order, degree, clamped)


def mesh_shapes(family: ShapeFamily, nodes: Array, degree: int = 1, clamped: bool = True) -> PiecewisePolynomials:
    """Return the nodal functions of a family; with shear, the coordinates of bending are deflection and rotation."""
    if family.shear is None:
        return element_shapes(nodes, family.order, degree, clamped)
    local = element_functions(nodes, family.stiffness, family.shear)
    moves, turns = (_assembled(nodes, each, family.order, degree, clamped) for each in local)
    return ShearedShapes(nodes, moves.coefficients, turns)


def _assembled(nodes: Array, local: Array, order: int, degree: int, clamped: bool) -> PiecewisePolynomials:
    """Assemble nodal functions from element functions, an array of shape (degrees, pieces, functions)."""
    count = len(nodes) - 1
    per_element, root = (2, 2) if order == 2 else (degree, 1)
    piece = np.arange(count)[:, None]
    coefficients = np.zeros((len(local), count, root + per_element * count))
    coefficients[:, piece, per_element * piece + np.arange(local.shape[2])] = local
    return PiecewisePolynomials(nodes, np.ascontiguousarray(coefficients[:, :, root if clamped else 0 :]))


def _hermite(sizes: Array) -> Array:
    """Return Legendre coefficients of cubic Hermite functions: deflection and slope of the left, then the right node.

    The shape is (4 degrees, pieces, 4 functions).
    """
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
    """Return the nodes of `count` elements with a node at every break; sizes are equal within a piece, else similar."""
    ends = breaks.tolist()
    lengths = [b - a for a, b in pairwise(ends)]
    shares = [1] * len(lengths) if len(lengths) > 1 else [count]
    for _ in range(count - sum(shares)):
        sizes = [length / share for length, share in zip(lengths, shares, strict=True)]
        # the next element goes to the piece with the largest ones; among equals up to rounding, to the first
        enough = (1 - 1e-9) * max(sizes)
        shares[next(k for k, size in enumerate(sizes) if size > enough)] += 1
    parts = [np.linspace(a, b, n + 1)[:-1] for (a, b), n in zip(pairwise(ends), shares, strict=True)]
    return np.append(np.concatenate(parts), ends[-1])


def mode_shapes(family: ShapeFamily, count: int, loads: Loads = (), smooth: bool = False) -> PiecewisePolynomials:
    """Return assumed modes: a basis of the space of the first `count` modes of the clamped link with its loads.

    They are orthogonalized by the mass of the link alone, so that their mass matrix is the identity and their stiffness
    matrix is diagonal, as for modes without loads.
    """
    steps = family.steps[[0, -1]] if smooth else family.steps
    degree = 2 * count + (EXTRA_SMOOTH_DEGREE_COUNT if smooth else EXTRA_DEGREE_COUNT)
    lumps = tuple(lump for load in loads for lump in lumped_masses(family.name, load, count))
    if family.uniform and len(steps) == 2:
        length = float(steps[-1])
        mass = float(family.inertia.coefficients[0, 0, 0]) * length
        scaled = tuple(lump.scaled(1 / mass, 1 / length) for lump in lumps)
        return PiecewisePolynomials(steps, _unit_modes(family.order, count, degree, scaled) / np.sqrt(mass))
    return _orient_tips(_loadable(family, steps, degree).modes(lumps, count))


@lru_cache(256)
def _unit_modes(order: int, count: int, degree: int, lumps: tuple[LumpedMass, ...]) -> Array:
    """Return the coefficients of the modes of a uniform link of unit length and mass, which are scaled for others."""
    found = _orient_tips(_unit_loadable(order, degree).modes(lumps, count)).coefficients
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
    """Return the component modes of a meshed link.

    Free interface: the first modes of the clamped mesh. Fixed interface (Craig-Bampton): the static shapes of a unit
    tip deflection and slope (the first coordinates), then the modes with the tip held.
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
    """Return the coefficients of the component modes of a uniform link of unit length and mass."""
    one = constant(1.0, 1.0)
    family = ShapeFamily("bend_y" if order == 2 else "stretch", one.breaks, stiffness=one, inertia=one)
    found = _reduced(family, element_shapes(mesh(one.breaks, count_of_elements), order), count, tip).coefficients
    found.setflags(write=False)
    return found


def _reduced(family: ShapeFamily, space: PiecewisePolynomials, count: int, tip: int) -> PiecewisePolynomials:
    """Return the component modes in a space of elements; the last `tip` coordinates are those of the interface."""
    mass, stiffness = mass_and_stiffness(family, space)
    inner = space.count - tip
    kept = lowest_modes(mass[:inner, :inner], stiffness[:inner, :inner], count)[1]
    if not tip:
        return _orient_tips(space @ kept)
    static = -np.linalg.solve(stiffness[:inner, :inner], stiffness[:inner, inner:])
    found = space @ np.block([[static, kept], [np.eye(tip), np.zeros((tip, count))]])
    return _orient_roots(found, family.order, tip)


def mass_and_stiffness(family: ShapeFamily, space: PiecewisePolynomials) -> tuple[Array, Array]:
    """Return the mass and stiffness matrices of one family in a space of functions."""
    rotary = [] if family.rotary is None else [family.rotary]
    grid = quadrature([space], [*family.stiffnesses, family.inertia, *rotary])
    mass = weighted_product(grid.weights * family.inertia(grid)[:, 0], space(grid))
    if family.rotary is not None:
        mass = mass + weighted_product(grid.weights * family.rotary(grid)[:, 0], rotation(space)(grid))
    return mass, stiffness_matrix(family, space, grid)


def stiffness_matrix(family: ShapeFamily, space: PiecewisePolynomials, grid: Grid) -> Array:
    """Return the stiffness matrix of one family, integrated on a grid."""
    if family.shear is None:
        return weighted_product(grid.weights * family.stiffness(grid)[:, 0], space.derivative(family.order)(grid))
    turns = rotation(space)
    curved = weighted_product(grid.weights * family.stiffness(grid)[:, 0], turns.derivative()(grid))
    return curved + weighted_product(grid.weights * family.shear(grid)[:, 0], space.derivative()(grid) - turns(grid))


def weighted_product(weights: Array, left: Array, right: Array | None = None) -> Array:
    """Return the sum of weights_g left_g^T right_g over quadrature points g."""
    right = left if right is None else right
    if min(left.shape[1], right.shape[1]) > MAX_DENSE_FUNCTIONS:
        return _weighted_by_blocks(weights, left, right)
    return np.asarray((left * weights[:, None]).T @ right)


def _weighted_by_blocks(weights: Array, left: Array, right: Array) -> Array:
    """Compute `weighted_product` in blocks of points, where only few functions of a mesh differ from zero."""
    out = np.zeros((left.shape[1], right.shape[1]))
    starts = range(0, len(weights), BLOCK_POINTS)
    rows = _nonzero_columns(left, starts)
    columns = rows if right is left else _nonzero_columns(right, starts)
    for start, row, column in zip(starts, rows, columns, strict=True):
        points = slice(start, start + BLOCK_POINTS)
        out[row, column] += (left[points, row] * weights[points, None]).T @ right[points, column]
    return out


def _nonzero_columns(values: Array, starts: Sequence[int]) -> list[slice]:
    """Return the range of columns with nonzero values for each block of rows."""
    found = np.logical_or.reduceat(values != 0, starts, axis=0)
    first, last = found.argmax(axis=1).tolist(), (found.shape[1] - found[:, ::-1].argmax(axis=1)).tolist()
    return [slice(*ends) for ends in zip(first, last, strict=True)]


def quadrature(spaces: Sequence[PiecewisePolynomials], properties: Sequence[PiecewisePolynomials]) -> Grid:
    """Return a Gauss grid on the common pieces of several spaces.

    It is exact for products of two functions, a property (mass or stiffness per length) and x^2.
    """
    ends = merge_breaks(*(each.breaks for each in (*spaces, *properties)))
    degree = 2 * max((space.degree for space in spaces), default=0) + max(each.degree for each in properties) + 2
    return Grid(ends, degree // 2 + 1)


def lowest_modes(mass: Array, stiffness: Array, count: int) -> tuple[Array, Array]:
    """Return angular frequencies and mass-normalized vectors of K x = omega^2 M x, ascending, K positive definite.

    The problem is solved as M x = K x / omega^2, so that rounding errors affect the high modes, not the low ones.
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
    """Return omega^2 and mass-normalized vectors of all modes, ascending; M must be positive definite, K need not.

    Low modes are computed from the flexibility, high modes from the stiffness, each where it is accurate.
    """
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
        except np.linalg.LinAlgError:  # not positive definite, for instance in a posture under gravity
            pass
    return squares, shapes


def _orient_tips(shapes: PiecewisePolynomials) -> PiecewisePolynomials:
    """Choose the signs of eigenvectors so that the tip moves in the positive direction."""
    tip = shapes.coefficients[:, -1].sum(axis=0)  # every Legendre polynomial is 1 at the right end
    return shapes @ np.diag(np.where(tip < 0, -1.0, 1.0))


def _orient_roots(shapes: PiecewisePolynomials, order: int, first: int) -> PiecewisePolynomials:
    """Choose the signs of modes with the tip held, from the column `first`: positive strain at the root."""
    strain = rotation(shapes).derivative() if order == 2 else shapes.derivative()
    signs = np.where(strain(0.0)[0] < 0, -1.0, 1.0)
    signs[:first] = 1.0
    return shapes @ np.diag(signs)


def _clamped_polynomials(breaks: Array, order: int, degree: int) -> PiecewisePolynomials:
    """Return all polynomials on the section's pieces, clamped at the root, with continuity order - 1 at steps."""
    fractions = tuple((breaks / breaks[-1]).tolist())
    return PiecewisePolynomials(breaks, _clamped_coefficients(fractions, order, degree))


@lru_cache(64)
def _clamped_coefficients(fractions: tuple[float, ...], order: int, degree: int) -> Array:
    """Return the coefficients of `_clamped_polynomials` on a link of unit length.

    Their highest derivative in the energy is a Legendre polynomial on one piece, so that the stiffness matrix of a
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
    space.coefficients.setflags(write=False)  # shared by all links
    return space.coefficients
