"""Evaluate CasADi functions on NumPy arrays, with batches along leading dimensions."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Literal

import casadi as ca
import numpy as np

from flexarm.codegen.library import compiled
from flexarm.codegen.loops import tied
from flexarm.foundation.validation import Array

Native = Literal["auto"] | bool

# gcc takes about as long for a function as the virtual machine takes to evaluate it this often.
WORTH_COMPILING = 10_000


class SharedFunction:
    """Function shared by many evaluators, compiled once for all of them when that pays.

    `ranks` of the outputs: numbers (0), vectors (1) and matrices (2); in CasADi all are matrices.
    """

    def __init__(self, function: ca.Function, ranks: Sequence[int]) -> None:
        self.function = function
        self.shapes = [function.size_out(k)[:rank] for k, rank in enumerate(ranks)]
        self.calls = 0
        self._compiled: ca.Function | None = None
        self._lock = threading.Lock()

    def best(self, native: Native, count: int) -> ca.Function:
        """Return the function for `count` more evaluations. `native`: True compiles now, False never, "auto" when it
        pays.
        """
        if native is False:
            return self.function
        with self._lock:
            self.calls += count
            if self._compiled is None and (native is True or self.calls >= WORTH_COMPILING):
                self._compiled = compiled(self.function)
            return self._compiled or self.function


class Evaluator:
    """A function of vectors, with arrays of its own."""

    def __init__(self, code: SharedFunction, native: Native) -> None:
        self.code, self.native, self.shapes = code, native, code.shapes
        self._lock = threading.Lock()
        self._connect(code.function)

    def __call__(self, *vectors: Array) -> list[Array]:
        """The outputs for vectors of shapes (..., n_k), leading dimensions broadcast."""
        leading = np.broadcast_shapes(*(vector.shape[:-1] for vector in vectors))
        count = int(np.prod(leading, dtype=int))
        rows = [np.broadcast_to(x, (*leading, x.shape[-1])).reshape(count, x.shape[-1]) for x in vectors]
        results = [np.empty((count, slot.size)) for slot in self._outputs]
        with self._lock:  # the slots below are shared by all threads
            best = self.code.best(self.native, count)
            if best is not self.function:
                self._connect(best)
            pairs = list(zip(self._inputs, rows, strict=True)) if count else []
            varying = [(slot, row) for (slot, row), vector in zip(pairs, vectors) if vector.ndim > 1]
            for slot, row in pairs:
                slot[:] = row[0]
            for k in range(count):
                for slot, row in varying:
                    slot[:] = row[k]
                self._evaluate()
                for slot, result in zip(self._outputs, results, strict=True):
                    result[k] = slot
        return [self._shaped(result, leading, shape) for result, shape in zip(results, self.shapes, strict=True)]

    @staticmethod
    def _shaped(result: Array, leading: tuple[int, ...], shape: tuple[int, ...]) -> Array:
        out = result.reshape((*leading, *shape[::-1]))
        return out.swapaxes(-1, -2) if len(shape) == 2 else out  # CasADi stores column after column

    def _connect(self, f: ca.Function) -> None:
        self.function = f
        self._inputs = [np.zeros(f.numel_in(k)) for k in range(f.n_in())]
        self._outputs = [np.zeros(f.numel_out(k)) for k in range(f.n_out())]
        self._evaluate = tied(f, self._inputs, self._outputs)
