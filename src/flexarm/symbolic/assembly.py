"""Assembly of the matrices of a robot from those of its pieces, and its Coriolis matrix.

Route "global" (My et al., eq. 12 to 15 and 22 to 24): the matrix of each piece has full size; M is their sum.
Route "extended" (Bien & My, Table 1): the matrix of each piece is over the coordinates that move it; index maps place
it in the matrix of its link, and that in the matrix of the robot.

Christoffel symbols: C_ab = 1/2 sum_k (dM_ab/dq_k + dM_ak/dq_b - dM_bk/dq_a) v_k, so that dM/dt - 2 C is skew.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from flexarm.symbolic.algebra import Expr, ExprArray, total, zeros
from flexarm.symbolic.mass_elements import PieceInertia
from flexarm.symbolic.symbols import Abbreviations

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
