"""Mass matrix of a robot: pieces of mass, int mu J^T J dx of each with J = dr/dq, their assembly, and Coriolis terms.

The velocity of a point is V + Omega x rho + sum_a N_a dq_a, with the velocities of the frame of the link and the
displacement fields of the coordinates of the piece. The mass matrix depends on a few integrals of rho and N_a over x.
J is in the axes of the frame of the piece; My et al. (eq. 11 and 12) use those of the ground, with the same J^T J.

Route "global" (My et al., eq. 12 to 15 and 22 to 24): the matrix of each piece has full size; M is their sum.
Route "extended" (Bien & My, Table 1): the matrix of each piece is over the coordinates that move it; index maps place
it in the matrix of its link, and that in the matrix of the robot.

Christoffel symbols: C_ab = 1/2 sum_k (dM_ab/dq_k + dM_ak/dq_b - dM_bk/dq_a) v_k, so that dM/dt - 2 C is skew.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from flexarm.foundation.validation import Array
from flexarm.symbolic import algebra
from flexarm.symbolic.algebra import ZERO, Expr, ExprArray, number, quadratic_form, total, vector, zeros
from flexarm.symbolic.beams import Beam
from flexarm.symbolic.frames import SymbolicFrame
from flexarm.symbolic.symbols import Abbreviations


@dataclass
class MassPiece:
    """Inertia of a piece relative to its frame.

    Mass, first moment c and inertia; for each own coordinate (`columns`) A = int mu N and k = int mu rho x N, shape
    (n, 3); M, K and D of the own coordinates.
    """

    mass: Expr
    c: ExprArray
    inertia: ExprArray
    columns: list[int] = field(default_factory=list)
    A: ExprArray = field(default_factory=lambda: zeros(0, 3))
    k: ExprArray = field(default_factory=lambda: zeros(0, 3))
    M: ExprArray = field(default_factory=lambda: zeros(0, 0))
    K: ExprArray = field(default_factory=lambda: zeros(0, 0))
    D: ExprArray = field(default_factory=lambda: zeros(0, 0))


@dataclass(frozen=True)
class ClosedFormDamping:
    """Damping of a link: factors of its stiffness and mass matrices, and a matrix from damping ratios."""

    stiffness: Expr = 0
    mass: Expr = 0
    ratios: Array | None = None


def trace_inertia(second: ExprArray) -> ExprArray:
    """Return the inertia tr(G) 1 - G of a body from its second moments G = int mu rho rho^T."""
    return np.trace(second) * np.eye(3, dtype=object) - second  # type: ignore[no-any-return]


def lump_piece(mass: Expr, offset: ExprArray, inertia: ExprArray) -> MassPiece:
    """Return a rigid body with its centre at an offset and its inertia about the centre, in the axes of its frame."""
    return MassPiece(mass, mass * offset, inertia + mass * trace_inertia(np.outer(offset, offset)))


def damping_piece(columns: list[int], D: Array) -> MassPiece:
    """Return a piece without mass that adds a damping matrix."""
    n = len(columns)
    inert = zeros(n, 3), zeros(n, 3), zeros(n, n), zeros(n, n)
    return MassPiece(0, ZERO, zeros(3, 3), columns, *inert, algebra.numbers(D))


def element_piece(beam: Beam, j: int, damped: ClosedFormDamping) -> MassPiece:
    """Return element j = 0, 1, ... of a planar link: r_ij = (j l_e + x, S u) of My et al., eq. (3)."""
    m, size = beam.m, beam.l / beam.elements
    start = j * size
    columns, values = zip(*beam.mesh[2 * j : 2 * j + 4], strict=True)
    u = vector(*values)
    kept = [k for k, column in enumerate(columns) if column is not None]
    mass, a = algebra.mass(m, size), algebra.moment(m, size)
    b = start * a + algebra.first_moment(m, size)
    spread, along = quadratic_form(mass, u), m * size * (start**2 + start * size + size**2 / number(3))
    inertia = vector(vector(spread, -u @ b, 0), vector(-u @ b, along, 0), vector(0, 0, along + spread))
    for row, (sections, _) in beam.rotary.items():
        inertia[row, row] += sections * size
    if 2 in beam.rotary:
        b = b + beam.rotary[2][0] * algebra.SLOPE_MOMENT
        mass = mass + algebra.slope_products(beam.rotary[2][0], size)
    EI = algebra.stiffness(beam.rigidity["bend_y"][0], size)
    here = np.ix_(kept, kept)
    return MassPiece(
        m * size,
        vector(m * size * (start + size / 2), u @ a, 0),
        inertia,
        [column for column in columns if column is not None],
        np.outer(a[kept], vector(0, 1, 0)),
        np.outer(b[kept], algebra.Z),
        mass[here],
        EI[here],
        (damped.stiffness * EI + damped.mass * mass)[here],
    )


class Carrier:
    """Jacobians of a frame, and products that its pieces share."""

    def __init__(self, frame: SymbolicFrame) -> None:
        self.frame = frame
        self.velocity = {column: frame.resolve(parts) for column, parts in frame.velocity.items()}
        self._squares: dict[tuple[int, int], Expr] = {}

    def square(self, a: int, b: int) -> Expr:
        """Return V_a . V_b, with one rotation for each pair of frames."""
        if (a, b) not in self._squares:
            out = number(0)
            for first, v in self.frame.velocity[a].items():
                for second, w in self.frame.velocity[b].items():
                    out += v @ (w if first is second else first.rotation(second) @ w)
            self._squares[a, b] = self._squares[b, a] = out
        return self._squares[a, b]


class PieceInertia:
    """Mass matrix and gravity term of a piece."""

    def __init__(self, carrier: Carrier, piece: MassPiece) -> None:
        self.carrier, self.piece, omega = carrier, piece, carrier.frame.omega
        self.columns = sorted({*carrier.frame.moving_coordinates, *piece.columns})
        self._own = {column: index for index, column in enumerate(piece.columns)}
        self._momentum = {
            column: np.cross(omega.get(column, ZERO), piece.c)
            + (piece.A[self._own[column]] if column in self._own else 0)
            for column in self.columns
        }

    def matrix(self) -> ExprArray:
        """Return the mass matrix over `columns`."""
        out = zeros(len(self.columns), len(self.columns))
        for p, a in enumerate(self.columns):
            for q, b in enumerate(self.columns[p:], p):
                out[p, q] = out[q, p] = self._entry(a, b)
        return out

    def _entry(self, a: int, b: int) -> Expr:
        """Return m V_a.V_b + V_a.s_b + V_b.s_a + Omega_a.(I Omega_b + k_b) + Omega_b.k_a + own, s = Omega x c + A."""
        piece, own, V, omega = self.piece, self._own, self.carrier.velocity, self.carrier.frame.omega
        out = number(0)
        if a in V and b in V:
            out += piece.mass * self.carrier.square(a, b)
        for one, other in ((a, b), (b, a)):
            if one in V:
                out += V[one] @ self._momentum[other]
            if one in omega and other in own:
                out += omega[one] @ piece.k[own[other]]
        if a in omega and b in omega:
            out += omega[a] @ (piece.inertia @ omega[b])
        if a in own and b in own:
            out += piece.M[own[a], own[b]]
        return out

    def weight(self, a: int, upward: ExprArray, ground: SymbolicFrame) -> Expr:
        """Return d/dq_a of the potential of gravity; `upward` is minus gravity in the axes of the ground."""
        frame = self.carrier.frame
        lifted = {each: self.piece.mass * v for each, v in frame.velocity.get(a, {}).items()}
        lifted[frame] = lifted.get(frame, ZERO) + self._momentum[a]
        return sum((v @ (each.rotation(ground) @ upward) for each, v in lifted.items()), number(0))


ROUTES = ("extended", "global")
Part = tuple[Sequence[int], ExprArray]
"""Coordinates, and a square matrix over them."""
ProgressWrapper = Callable[[Iterable[Any]], Iterable[Any]]
"""Iterator over a list that shows the progress."""


def assemble(parts: Iterable[Part], size: int, route: str = "extended") -> ExprArray:
    """Add matrices over some coordinates to a matrix over all."""
    if route == "global":
        whole = zeros(size, size)
        for columns, matrix in parts:
            full = zeros(size, size)
            full[np.ix_(columns, columns)] = matrix
            whole = whole + full
        return whole
    terms = defaultdict(list)
    for columns, matrix in parts:
        for p, q in np.argwhere(matrix != 0):
            terms[columns[p], columns[q]].append(matrix[p, q])
    return _sum_terms(terms, size)


def _sum_terms(terms: dict[tuple[int, int], list[Expr]], size: int) -> ExprArray:
    out = zeros(size, size)
    for place, found in terms.items():
        out[place] = total(found)
    return out


def mass_matrix(links: Sequence[Sequence[PieceInertia]], size: int, route: str, progress: ProgressWrapper) -> ExprArray:
    """Assemble the mass matrix from the pieces of each link."""
    if route == "global":
        pieces = [piece for link in links for piece in link]
        return assemble(((piece.columns, piece.matrix()) for piece in progress(pieces)), size, route)
    return assemble((link_mass(link) for link in progress(links)), size)


def link_mass(pieces: Sequence[PieceInertia]) -> tuple[list[int], ExprArray]:
    """Return the coordinates that move a link and its mass matrix over them (Bien & My, eq. 3 to 9)."""
    columns = sorted({column for piece in pieces for column in piece.columns})
    parts = ((list(map(columns.index, piece.columns)), piece.matrix()) for piece in pieces)
    return columns, assemble(parts, len(columns))


def coriolis(M: ExprArray, v: list[Expr], short: Abbreviations, progress: ProgressWrapper) -> ExprArray:
    """Return the Coriolis matrix; each nonzero derivative of M is taken once, as entries depend on few coordinates."""
    terms = defaultdict(list)
    for a in progress(range(len(v))):
        for b in range(a, len(v)):
            for q, k in short.coordinates([M[a, b]]):
                slope = short.diff(M[a, b], q) / 2
                if slope == 0:
                    continue
                for i, j in {(a, b), (b, a)}:
                    terms[i, j].append(slope * v[k])
                    terms[i, k].append(slope * v[j])
                    terms[k, i].append(-slope * v[j])
    return _sum_terms(terms, len(v))
