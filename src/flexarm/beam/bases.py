"""Shape functions of a link: finite elements, assumed modes, reduced meshes.

A family of deformation needs functions that vanish at the clamped root: bending with their first derivative
(order 2: the energy holds the second derivative), stretch and twist by themselves (order 1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flexarm.beam.polynomials import PiecewisePolynomials, gauss, merged
from flexarm.foundation.families import FAMILIES
from flexarm.foundation.numbers import Array
from flexarm.robot import Elements, Link, Modes, Reduced

# Polynomials beyond twice the number of modes in the Ritz space: 12 give the highest mode ten digits (tests/beam).
EXTRA_DEGREES = 12
SMOOTH_DEGREES = 4  # six digits: enough where the polynomials themselves must be cheap


@dataclass(frozen=True)
class Family:
    """One family on one link: what resists the deformation and what moves with it, per length."""

    name: str
    steps: Array  # where the section jumps, with both ends; a fitted property may have more pieces than that
    stiffness: PiecewisePolynomials
    inertia: PiecewisePolynomials
    rotary: PiecewisePolynomials | None = None  # inertia against the slope of bending (Rayleigh)

    @property
    def order(self) -> int:
        return FAMILIES[self.name].order


def shapes(link: Link, family: Family, count: int, smooth: bool = False, clamped: bool = True) -> PiecewisePolynomials:
    """The shape functions of one family of a flexible link, as its basis says; `smooth` modes are one polynomial over
    steps of the section, of lower degree, since they are evaluated wherever something slides along the link. Only
    elements can be unclamped: then the root's own functions come first."""
    assert link.flexible is not None
    basis = link.flexible.basis
    if isinstance(basis, Elements):
        return elements(mesh(family.steps, count), family.order, basis.order, clamped)
    if isinstance(basis, Reduced):
        return reduced(family, basis, basis.modes or count)
    assert isinstance(basis, Modes)
    return modes(link, family, count, basis, smooth)


def elements(nodes: Array, order: int, degree: int = 1, clamped: bool = True) -> PiecewisePolynomials:
    """Nodal functions of the elements between `nodes`, the root's left out if it is clamped.

    Bending: cubic Hermite, two coordinates a node (deflection, slope). Stretch and twist: Lagrange of `degree` 1 or 2.
    """
    count = len(nodes) - 1
    per_element, root = (2, 2) if order == 2 else (degree, 1)
    coefficients = np.zeros((4 if order == 2 else degree + 1, count, root + per_element * count))
    for piece, size in enumerate(np.diff(nodes)):
        local = _hermite(size) if order == 2 else LAGRANGE[degree]
        coefficients[:, piece, per_element * piece : per_element * piece + local.shape[1]] = local
    return PiecewisePolynomials(nodes, coefficients[:, :, root if clamped else 0 :])


def _hermite(size: float) -> Array:
    """Columns: deflection and slope of the left node, then of the right one; rows: Legendre degrees 0 ... 3."""
    return np.array(
        [
            [1 / 2, size / 12, 1 / 2, -size / 12],
            [-3 / 5, -size / 20, 3 / 5, -size / 20],
            [0, -size / 12, 0, size / 12],
            [1 / 10, size / 20, -1 / 10, size / 20],
        ]
    )


LAGRANGE = {
    1: np.array([[1 / 2, 1 / 2], [-1 / 2, 1 / 2]]),
    2: np.array([[1 / 6, 2 / 3, 1 / 6], [-1 / 2, 0, 1 / 2], [1 / 3, -2 / 3, 1 / 3]]),
}


def mesh(breaks: Array, count: int) -> Array:
    """Nodes of `count` elements with one at every break, of equal size within each piece and as equal as can be."""
    lengths = np.diff(breaks)
    shares = np.ones(len(lengths), dtype=int)
    for _ in range(count - len(lengths)):
        sizes = lengths / shares
        # the next element goes where they are largest; among equals, which rounding may tell apart, to the first
        shares[np.argmax(sizes > (1 - 1e-9) * sizes.max())] += 1
    parts = [np.linspace(a, b, n + 1)[:-1] for a, b, n in zip(breaks[:-1], breaks[1:], shares, strict=True)]
    return np.append(np.concatenate(parts), breaks[-1])


def modes(link: Link, family: Family, count: int, basis: Modes, smooth: bool = False) -> PiecewisePolynomials:
    """The first `count` eigenfunctions of the clamped link (with a tip mass and inertia if the basis has them)."""
    steps = family.steps[[0, -1]] if smooth else family.steps
    space = _clamped_polynomials(steps, family.order, 2 * count + (SMOOTH_DEGREES if smooth else EXTRA_DEGREES))
    mass, stiffness = matrices(family, space)
    tip, slope = space(link.length), space.derivative()(link.length)
    lump = basis.tip_mass * tip.T @ tip
    if family.order == 2:
        lump = lump + basis.tip_inertia * slope.T @ slope
    elif family.name == "twist":
        lump = basis.tip_inertia * tip.T @ tip
    return _tip_up(space @ lowest_modes(mass + lump, stiffness, count)[1])


def reduced(family: Family, basis: Reduced, count: int) -> PiecewisePolynomials:
    """Component modes of a meshed link.

    Free interface: the first modes of the clamped mesh. Fixed interface (Craig-Bampton): the static shapes of a unit
    tip deflection and slope (these are the first coordinates), then the modes with the tip held.
    """
    space = elements(mesh(family.steps, basis.elements), family.order)
    mass, stiffness = matrices(family, space)
    tip = family.order if basis.interface == "fixed" else 0
    inner = space.count - tip
    kept = lowest_modes(mass[:inner, :inner], stiffness[:inner, :inner], count)[1]
    if not tip:
        return _tip_up(space @ kept)
    static = -np.linalg.solve(stiffness[:inner, :inner], stiffness[:inner, inner:])
    return space @ np.block([[static, kept], [np.eye(tip), np.zeros((tip, count))]])


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
    ends = merged(*(space.breaks for space in spaces))
    degrees = sorted(space.degree for space in spaces)
    return gauss(ends, (2 * degrees[-1] + degrees[0]) // 2 + 2)


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
