"""NumPy in, NumPy out, for CasADi functions; batches along leading dimensions."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, Literal

import casadi as ca
import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.mechanics.native import compiled

Native = Literal["auto"] | bool

# gcc takes about as long for a function as the virtual machine takes to evaluate it this often.
WORTH_COMPILING = 10_000


def tied(function: ca.Function, inputs: Sequence[Array], outputs: Sequence[Array]) -> Callable[[], None]:
    """The function tied to arrays that stay in place: far cheaper than handing it new ones at each call."""
    buffer: Any
    buffer, evaluate = function.buffer()
    for k, slot in enumerate(inputs):
        buffer.set_arg(k, slot.reshape(-1).data)
    for k, slot in enumerate(outputs):
        buffer.set_res(k, slot.reshape(-1).data)

    def call(_kept: Any = buffer) -> None:  # the buffer must live as long as what evaluates it
        evaluate()

    return call


class Evaluator:
    """One function of vectors. `native`: True compiles at the first call, False never, "auto" once it pays.

    `ranks` tells which outputs are numbers (0), vectors (1) and matrices (2): to CasADi all are matrices.
    """

    def __init__(self, function: ca.Function, ranks: list[int], native: Native) -> None:
        self.function = function
        self.shapes = [function.size_out(k)[:rank] for k, rank in enumerate(ranks)]
        self.calls_left = {True: 0.0, "auto": float(WORTH_COMPILING), False: float("inf")}[native]
        self.is_compiled = False
        self._lock = threading.Lock()
        self._connect()

    def __call__(self, *vectors: Array) -> list[Array]:
        """The outputs for vectors of shapes (..., n_k), leading dimensions broadcast."""
        leading = np.broadcast_shapes(*(vector.shape[:-1] for vector in vectors))
        count = int(np.prod(leading, dtype=int))
        rows = [np.broadcast_to(x, (*leading, x.shape[-1])).reshape(count, x.shape[-1]) for x in vectors]
        results = [np.empty((count, slot.size)) for slot in self._outputs]
        with self._lock:  # the slots below are shared by all threads
            self._compile_if_worth_it(count)
            for k in range(count):
                for slot, row in zip(self._inputs, rows, strict=True):
                    slot[:] = row[k]
                self._evaluate()
                for slot, result in zip(self._outputs, results, strict=True):
                    result[k] = slot
        return [self._shaped(result, leading, shape) for result, shape in zip(results, self.shapes, strict=True)]

    @staticmethod
    def _shaped(result: Array, leading: tuple[int, ...], shape: tuple[int, ...]) -> Array:
        out = result.reshape((*leading, *shape[::-1]))
        return out.swapaxes(-1, -2) if len(shape) == 2 else out  # CasADi stores column after column

    def _connect(self) -> None:
        f = self.function
        self._inputs = [np.zeros(f.numel_in(k)) for k in range(f.n_in())]
        self._outputs = [np.zeros(f.numel_out(k)) for k in range(f.n_out())]
        self._evaluate = tied(f, self._inputs, self._outputs)

    def _compile_if_worth_it(self, count: int) -> None:
        self.calls_left -= count
        if self.calls_left <= 0 and not self.is_compiled:
            self.function = compiled(self.function)
            self.is_compiled = True
            self._connect()
