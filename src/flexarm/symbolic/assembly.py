"""Assembly of the matrices of a robot from those of its pieces, and its Coriolis matrix.

Route "global" (My et al., eq. 12 to 15 and 22 to 24): the matrix of each piece has full size; M is their sum.
Route "extended" (Bien & My, Table 1): the matrix of each piece is over the coordinates that move it; index maps place
it in the matrix of its link, and that in the matrix of the robot.

Christoffel symbols: C_ab = 1/2 sum_k (dM_ab/dq_k + dM_ak/dq_b - dM_bk/dq_a) v_k, so that dM/dt - 2 C is skew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from flexarm.symbolic.algebra import Expr, Rows, number, ratio, total
from flexarm.symbolic.mass_elements import Carrier, MassPiece, PieceInertia
from flexarm.symbolic.model import Model
from flexarm.symbolic.symbols import Abbreviations

ROUTES = ("extended", "global")
Entry = Callable[[int, int], Expr]
ProgressWrapper = Callable[[Iterable[Any]], Iterable[Any]]
"""Iterator over a list that shows the progress."""


@dataclass(frozen=True)
class SymmetricEntries:
    """Symmetric matrix over some coordinates, given by a function of its entries."""

    columns: list[int]
    entry: Entry


class Inertias:
    """Pieces of a robot with their Jacobians, by link."""

    def __init__(self, model: Model) -> None:
        self.links: list[list[PieceInertia]] = []
        for i in range(len(model.bodies)):
            carriers: dict[int, Carrier] = {}
            found = []
            for frame, piece in model.bodies[i].carried:
                carrier = carriers.setdefault(id(frame), Carrier(frame))
                found.append(PieceInertia(carrier, piece))
            self.links.append(found)


def mass_entries(inertias: Inertias) -> list[list[SymmetricEntries]]:
    return [[SymmetricEntries(each.columns, each.entry) for each in link] for link in inertias.links]


def assemble(links: Sequence[Sequence[SymmetricEntries]], size: int, route: str, progress: ProgressWrapper) -> Rows:
    """Assemble a symmetric matrix of the robot from the parts of its links."""
    return (_assemble_global if route == "global" else _assemble_extended)(links, size, progress)


def _assemble_global(links: Sequence[Sequence[SymmetricEntries]], size: int, progress: ProgressWrapper) -> Rows:
    """Sum matrices of full size."""
    parts = progress([part for link in links for part in link])
    each = ((part.columns, [[part.entry(a, b) for b in part.columns] for a in part.columns]) for part in parts)
    return _sum_full_matrices(each, size)


def _sum_full_matrices(parts: Iterable[tuple[list[int], Rows]], size: int) -> Rows:
    out: Rows = [[number(0)] * size for _ in range(size)]
    for columns, matrix in parts:
        full: Rows = [[number(0)] * size for _ in range(size)]
        for a, row in zip(columns, matrix, strict=True):
            for b, entry in zip(columns, row, strict=True):
                full[a][b] = entry
        out = [[one + two for one, two in zip(*rows, strict=True)] for rows in zip(out, full, strict=True)]
    return out


def _assemble_extended(links: Sequence[Sequence[SymmetricEntries]], size: int, progress: ProgressWrapper) -> Rows:
    """Add the upper triangle of each small matrix to the matrix of the link, and that to the matrix of the robot."""
    terms: dict[tuple[int, int], list[Expr]] = {}
    for link in progress(links):
        columns, matrix = link_matrix(link)
        for p, a in enumerate(columns):
            for q in range(p, len(columns)):
                if matrix[p][q] != 0:
                    terms.setdefault((a, columns[q]), []).append(matrix[p][q])
    out: Rows = [[number(0)] * size for _ in range(size)]
    for (a, b), found in terms.items():
        out[a][b] = out[b][a] = total(found)
    return out


def link_matrix(parts: Sequence[SymmetricEntries]) -> tuple[list[int], Rows]:
    """Return the coordinates that move a link and its matrix over them (Bien & My, eq. 3 to 9)."""
    columns = sorted({column for part in parts for column in part.columns})
    at = {column: index for index, column in enumerate(columns)}
    terms: dict[tuple[int, int], list[Expr]] = {}
    for part in parts:
        indices = [at[column] for column in part.columns]
        for p, a in enumerate(part.columns):
            for q in range(p, len(indices)):
                terms.setdefault((indices[p], indices[q]), []).append(part.entry(a, part.columns[q]))
    out: Rows = [[number(0)] * len(columns) for _ in columns]
    for (p, q), found in terms.items():
        out[p][q] = out[q][p] = total(found)
    return columns, out


def assemble_piece_matrices(pieces: Iterable[MassPiece], name: str, size: int, route: str) -> Rows:
    """Assemble the matrix K or D (`name`) of pieces; it is not symmetric for links that slide."""
    if route == "global":
        return _sum_full_matrices([(piece.columns, getattr(piece, name)) for piece in pieces], size)
    terms: dict[tuple[int, int], list[Expr]] = {}
    for piece in pieces:
        for p, row in enumerate(getattr(piece, name)):
            for q, entry in enumerate(row):
                if entry != 0:
                    terms.setdefault((piece.columns[p], piece.columns[q]), []).append(entry)
    out: Rows = [[number(0)] * size for _ in range(size)]
    for (a, b), found in terms.items():
        out[a][b] = total(found)
    return out


def coriolis(M: Rows, v: list[Expr], short: Abbreviations, progress: ProgressWrapper) -> Rows:
    """Return the Coriolis matrix; each nonzero derivative of M is taken once, as entries depend on few coordinates."""
    n = len(v)
    terms: dict[tuple[int, int], list[Expr]] = {}

    def add(row: int, column: int, term: Expr) -> None:
        terms.setdefault((row, column), []).append(term)

    for a in progress(range(n)):
        for b in range(a, n):
            for q, k in short.coordinates([M[a][b]]):
                slope = short.diff(M[a][b], q) * ratio(1, 2)
                if slope == 0:
                    continue
                for i, j in ((a, b), (b, a)) if a != b else ((a, b),):
                    add(i, j, slope * v[k])
                    add(i, k, slope * v[j])
                    add(k, i, -slope * v[j])
    out: Rows = [[number(0)] * n for _ in range(n)]
    for (row, column), found_terms in terms.items():
        out[row][column] = total(found_terms)
    return out
