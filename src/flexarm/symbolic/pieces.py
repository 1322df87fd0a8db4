"""Pieces of a robot whose integrals over x are done once: elements and lumps here, links in one piece in `parts`.

The points of a piece move with V + Omega x rho + sum_a N_a dq_a, the twist of the link's frame and the fields of the
piece's own coordinates. What the mass matrix needs of it are a few integrals of rho and N_a; no x is left in them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from flexarm.foundation.numbers import Array
from flexarm.symbolic import hermite
from flexarm.symbolic.algebra import ZERO, Expr, Rows, Vector, number, ratio, times
from flexarm.symbolic.beams import Beam, displacement


@dataclass
class Piece:
    """Mass, first moment c and inertia about the frame; by own coordinate the momenta A = int mu N and
    k = int mu rho x N; the matrices of the own coordinates."""

    mass: Expr = 0
    c: Vector = ZERO
    inertia: Rows = field(default_factory=lambda: [[0] * 3 for _ in range(3)])
    columns: list[int] = field(default_factory=list)
    A: list[Vector] = field(default_factory=list)
    k: list[Vector] = field(default_factory=list)
    M: Rows = field(default_factory=list)
    K: Rows = field(default_factory=list)
    D: Rows = field(default_factory=list)


@dataclass(frozen=True)
class Damped:
    """Damping of a link: parts in proportion to its stiffness and its mass, and the rest by its numbers."""

    stiffness: Expr = 0
    mass: Expr = 0
    ratios: Array | None = None


def point(mass: Expr, offset: Vector, inertia: Rows) -> Piece:
    """A rigid lump: mass, centre and inertia about the centre, in the axes of the frame that carries it."""
    x, y, z = offset
    steiner = [[y * y + z * z, -x * y, -x * z], [-x * y, x * x + z * z, -y * z], [-x * z, -y * z, x * x + y * y]]
    rows = [[one + mass * two for one, two in zip(*pair, strict=True)] for pair in zip(inertia, steiner, strict=True)]
    return Piece(mass, times(mass, offset), rows)


def element(beam: Beam, j: int, damped: Damped) -> Piece:
    """Element j = 0, 1, ... of a planar link: r_ij = (j l_e + x, S u), My et al. eq. (3)."""
    m, size = beam.m, beam.l / beam.elements
    start = j * size
    nodes = beam.mesh[2 * j : 2 * j + 4]
    kept = [k for k, node in enumerate(nodes) if node is not None]
    u = [displacement(node) for node in nodes]
    mass = hermite.mass(m, size)
    a = hermite.moment(m, size)
    b = [start * one + two for one, two in zip(a, hermite.first_moment(m, size), strict=True)]
    spread = sum((u[p] * mass[p][q] * u[q] for p in kept for q in kept), number(0))
    along = m * size * (start**2 + start * size + size**2 * ratio(1, 3))
    off = -sum((u[p] * b[p] for p in kept), number(0))
    inertia = [[spread, off, 0], [off, along, 0], [0, 0, along + spread]]
    k = [(0, 0, b[p]) for p in range(4)]
    for row, (sections, _) in beam.rotary.items():
        inertia[row][row] += sections * size
    if 2 in beam.rotary:
        sections = beam.rotary[2][0]
        slopes = hermite.slope_products(sections, size)
        k = [(0, 0, b[p] + sections * hermite.SLOPE_MOMENT[p]) for p in range(4)]
        mass = [[one + two for one, two in zip(*pair, strict=True)] for pair in zip(mass, slopes, strict=True)]
    EI = hermite.stiffness(beam.rigidity["bend_y"][0], size)
    D = [[damped.stiffness * EI[p][q] + damped.mass * mass[p][q] for q in kept] for p in kept]
    moment = sum((u[p] * a[p] for p in kept), number(0))
    return Piece(
        mass=m * size,
        c=(m * size * (start + size * ratio(1, 2)), moment, 0),
        inertia=inertia,
        columns=[node[0] for node in nodes if node is not None],
        A=[(0, a[p], 0) for p in kept],
        k=[k[p] for p in kept],
        M=[[mass[p][q] for q in kept] for p in kept],
        K=[[EI[p][q] for q in kept] for p in kept],
        D=D,
    )
