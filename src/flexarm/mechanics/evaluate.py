"""NumPy in, NumPy out, for CasADi functions; batches along leading dimensions."""

from __future__ import annotations

from typing import Any, Literal

import casadi as ca
import numpy as np

from flexarm.mechanics.native import compiled

Native = Literal["auto"] | bool

# gcc takes about as long for a function as the virtual machine takes to evaluate it this often.
WORTH_COMPILING = 10_000


class Evaluator:
    """One function of vectors. `native`: True compiles at the first call, False never, "auto" once it pays.

    `ranks` tells which outputs are numbers (0), vectors (1) and matrices (2): to CasADi all are matrices.
    """

    def __init__(self, function: ca.Function, ranks: list[int], native: Native) -> None:
        self.function = function
        self.shapes = [function.size_out(k) for k in range(function.n_out())]
        self.ranks = ranks
        self.calls_left = {True: 0.0, "auto": float(WORTH_COMPILING), False: float("inf")}[native]
        self.is_compiled = False

    def __call__(self, *vectors: np.ndarray[Any, Any]) -> list[np.ndarray[Any, Any]]:
        """The outputs for vectors of shapes (..., n_k), leading dimensions broadcast."""
        leading = np.broadcast_shapes(*(vector.shape[:-1] for vector in vectors))
        count = int(np.prod(leading, dtype=int))
        if count == 0:
            return [np.zeros((*leading, *shape[:rank])) for shape, rank in zip(self.shapes, self.ranks, strict=True)]
        self._compile_if_worth_it(count)
        columns = [np.broadcast_to(x, (*leading, x.shape[-1])).reshape(count, x.shape[-1]).T for x in vectors]
        results = self.function.call([ca.DM(np.ascontiguousarray(column)) for column in columns])
        out = []
        for result, (rows, width), rank in zip(results, self.shapes, self.ranks, strict=True):
            stacked = result.full().reshape(rows, count, width).transpose(1, 0, 2)
            out.append(stacked.reshape((*leading, *(rows, width)[:rank])))
        return out

    def _compile_if_worth_it(self, count: int) -> None:
        self.calls_left -= count
        if self.calls_left <= 0 and not self.is_compiled:
            self.function = compiled(self.function)
            self.is_compiled = True
