"""Shape functions of a link: finite elements, assumed modes, reduced meshes.

A family of deformation needs functions that vanish at the clamped root: bending with their first derivative
(`ORDER` 2: the energy holds the second derivative), stretch and twist by themselves (`ORDER` 1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flexarm.beam.polynomials import Array, PiecewisePolynomials, gauss
from flexarm.robot import Elements, Link, Modes, Reduced

FAMILIES = ("bend_y", "bend_z", "twist", "stretch")
ORDER = {"bend_y": 2, "bend_z": 2, "twist": 1, "stretch": 1}

# Polynomials beyond twice the number of modes in the Ritz space: 12 give the highest mode ten digits (tests/beam).
EXTRA_DEGREES = 12


@dataclass(frozen=True)
class Family:
    """One family on one link: what resists the deformation and what moves with it, per length."""

    name: str
    stiffness: PiecewisePolynomials
    inertia: PiecewisePolynomials
    rotary: PiecewisePolynomials | None = None  # inertia against the slope of bending (Rayleigh)

    @property
    def order(self) -> int:
        return ORDER[self.name]


def shapes(link: Link, family: Family, count: int) -> PiecewisePolynomials:
    """The shape functions of one family of a flexible link, as its basis says."""
    assert link.flexible is not None
    basis = link.flexible.basis
    if isinstance(basis, Elements):
        return elements(link.length, count, family.order, basis.order)
    if isinstance(basis, Reduced):
        return reduced(link, family, basis, basis.modes or count)
    assert isinstance(basis, Modes)
    return modes(link, family, count, basis)


def elements(length: float, count: int, order: int, degree: int = 1) -> PiecewisePolynomials:
    """Nodal functions of `count` equal elements, the root's left out.

    Bending: cubic Hermite, two coordinates a node (deflection, slope). Stretch and twist: Lagrange of `degree` 1 or 2.
    """
    size = length / count
    if order == 2:
        # columns: deflection and slope of the left node, then of the right one; rows: Legendre degrees 0 ... 3
        local = np.array(
            [
                [1 / 2, size / 12, 1 / 2, -size / 12],
                [-3 / 5, -size / 20, 3 / 5, -size / 20],
                [0, -size / 12, 0, size / 12],
                [1 / 10, size / 20, -1 / 10, size / 20],
            ]
        )
        step = 2
    elif degree == 1:
        local, step = np.array([[1 / 2, 1 / 2], [-1 / 2, 1 / 2]]), 1
    else:
        local, step = np.array([[1 / 6, 2 / 3, 1 / 6], [-1 / 2, 0, 1 / 2], [1 / 3, -2 / 3, 1 / 3]]), 2
    root = 2 if order == 2 else 1
    rows, columns = local.shape
    coefficients = np.zeros((rows, count, root + step * count))
    for piece in range(count):
        coefficients[:, piece, step * piece : step * piece + columns] = local
    return PiecewisePolynomials(np.linspace(0, length, count + 1), coefficients[:, :, root:])


def modes(link: Link, family: Family, count: int, basis: Modes) -> PiecewisePolynomials:
    """The first `count` eigenfunctions of the clamped link (with a tip mass and inertia if the basis has them)."""
    space = _clamped_polynomials(family.stiffness.breaks, family.order, 2 * count + EXTRA_DEGREES)
    mass, stiffness = matrices(family, space)
    tip, slope = space(link.length), space.derivative()(link.length)
    lump = basis.tip_mass * tip.T @ tip
    if family.order == 2:
        lump = lump + basis.tip_inertia * slope.T @ slope
    elif family.name == "twist":
        lump = basis.tip_inertia * tip.T @ tip
    return _tip_up(space @ lowest_modes(mass + lump, stiffness, count)[1])


def reduced(link: Link, family: Family, basis: Reduced, count: int) -> PiecewisePolynomials:
    """Component modes of a meshed link.

    Free interface: the first modes of the clamped mesh. Fixed interface (Craig-Bampton): the static shapes of a unit
    tip deflection and slope (these are the first coordinates), then the modes with the tip held.
    """
    mesh = elements(link.length, basis.elements, family.order)
    mass, stiffness = matrices(family, mesh)
    tip = family.order if basis.interface == "fixed" else 0
    inner = mesh.count - tip
    kept = lowest_modes(mass[:inner, :inner], stiffness[:inner, :inner], count)[1]
    if not tip:
        return _tip_up(mesh @ kept)
    static = -np.linalg.solve(stiffness[:inner, :inner], stiffness[:inner, inner:])
    return mesh @ np.block([[static, kept], [np.eye(tip), np.zeros((tip, count))]])


def matrices(family: Family, space: PiecewisePolynomials) -> tuple[Array, Array]:
    """Mass and stiffness matrices of one family in a space of functions."""
    x, weights = nodes(space, family.stiffness, family.inertia)
    slope = space.derivative()
    strain = slope.derivative() if family.order == 2 else slope
    mass = weighted(weights * family.inertia(x)[:, 0], space(x))
    if family.rotary is not None:
        mass = mass + weighted(weights * family.rotary(x)[:, 0], slope(x))
    return mass, weighted(weights * family.stiffness(x)[:, 0], strain(x))


def weighted(weights: Array, left: Array, right: Array | None = None) -> Array:
    """sum_g weights_g left_g^T right_g over quadrature points g."""
    return np.asarray((left * weights[:, None]).T @ (left if right is None else right))


def nodes(*spaces: PiecewisePolynomials) -> tuple[Array, Array]:
    """Quadrature on the common pieces of several spaces, exact for a product of two of the functions, the
    distribution of mass or stiffness along the link, and x^2."""
    ends = np.sort(np.concatenate([space.breaks for space in spaces]))
    ends = ends[np.concatenate([[True], np.diff(ends) > 1e-12 * ends[-1]])]
    degrees = sorted(space.degree for space in spaces)
    return gauss(ends, (2 * degrees[-1] + degrees[0]) // 2 + 2)


def lowest_modes(mass: Array, stiffness: Array, count: int) -> tuple[Array, Array]:
    """Angular frequencies and mass-normalised vectors of K x = omega^2 M x, ascending, K positive definite.

    Solved as M x = K x / omega^2: rounding then spoils the high modes, which nobody uses, and not the low ones.
    """
    factor = np.linalg.cholesky(stiffness)
    half = np.linalg.solve(factor, mass)
    flexibility, vectors = np.linalg.eigh(np.linalg.solve(factor, half.T))
    flexibility, vectors = flexibility[::-1][:count], vectors[:, ::-1][:, :count]
    shapes = np.linalg.solve(factor.T, vectors) / np.sqrt(flexibility)
    # orthonormal to the last digit, low modes first (Gram-Schmidt as a Cholesky factor)
    shapes = np.linalg.solve(np.linalg.cholesky(shapes.T @ mass @ shapes), shapes.T).T
    return 1 / np.sqrt(flexibility), shapes


def _tip_up(shapes: PiecewisePolynomials) -> PiecewisePolynomials:
    """Eigenvectors have no sign of their own: make every tip move in the positive direction."""
    tip = shapes(shapes.breaks[-1])[0]
    return shapes @ np.diag(np.where(tip < 0, -1.0, 1.0))


def _clamped_polynomials(breaks: Array, order: int, degree: int) -> PiecewisePolynomials:
    """All polynomials on the section's pieces that are clamped at the root and of continuity order - 1 at steps.

    Their highest derivative in the energy is a Legendre polynomial of one piece, so that the stiffness matrix of a
    uniform link is diagonal and the eigenproblem well conditioned.
    """
    pieces = len(breaks) - 1
    strain = np.zeros((degree + 1, pieces, pieces * (degree + 1)))
    for piece in range(pieces):
        block = slice(piece * (degree + 1), (piece + 1) * (degree + 1))
        strain[:, piece, block] = np.diag(np.sqrt(2 * np.arange(degree + 1) + 1))
    space = PiecewisePolynomials(breaks, strain)
    for _ in range(order):
        space = space.integral()
    return space
