"""C from Christoffel symbols: C_ab = 1/2 sum_k (dM_ab/dq_k + dM_ak/dq_b - dM_bk/dq_a) v_k, so dM/dt - 2 C is skew."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from flexarm.symbolic.abbreviations import Abbreviations
from flexarm.symbolic.algebra import Expr, Rows, number, ratio, total


def coriolis(M: Rows, v: list[Expr], short: Abbreviations, watch: Callable[[Iterable[Any]], Iterable[Any]]) -> Rows:
    """Only derivatives that are not zero are taken, each once: M_ab depends on few coordinates."""
    n = len(v)
    terms: dict[tuple[int, int], list[Expr]] = {}

    def add(row: int, column: int, term: Expr) -> None:
        terms.setdefault((row, column), []).append(term)

    for a in watch(range(n)):
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
