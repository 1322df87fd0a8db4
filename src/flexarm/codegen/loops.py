"""Evaluate a function for many rows in one call, in compiled code or in CasADi's virtual machine."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from flexarm.codegen.compiler import Build
from flexarm.foundation.numbers import Array

_LOOP = """
CASADI_SYMBOL_EXPORT long long {name}_many(long long count, const casadi_real** first, const long long* stride,
    casadi_real** out, const long long* out_stride, const casadi_real* limits, long long checked) {{
  casadi_int sz_arg = {inputs}, sz_res = {outputs}, sz_iw = 0, sz_w = 0;
  long long k, i, well = 1, idle = 0, small;
  {name}_work(&sz_arg, &sz_res, &sz_iw, &sz_w);
  const casadi_real** arg = (const casadi_real**) malloc((sz_arg + 1) * sizeof(casadi_real*));
  casadi_real** res = (casadi_real**) malloc((sz_res + 1) * sizeof(casadi_real*));
  casadi_int* iw = (casadi_int*) malloc((sz_iw + 1) * sizeof(casadi_int));
  casadi_real* w = (casadi_real*) malloc((sz_w + 1) * sizeof(casadi_real));
  k = -1;
  if (arg && res && iw && w) for (k = 0; k < count && well; ++k) {{
    for (i = 0; i < {inputs}; ++i) arg[i] = first[i] + k * stride[i];
    for (i = 0; i < {outputs}; ++i) res[i] = out[i] + k * out_stride[i];
    if ({name}(arg, res, iw, w, 0)) {{ k = -1; break; }}
    for (i = 0, small = 1; i < checked; ++i) {{
      well = well && res[1][i] <= limits[0] && res[2][i] <= limits[1];
      small = small && res[1][i] < limits[2];
    }}
    idle = small && checked ? idle + 1 : 0;
    well = well && (!checked || idle < limits[3]);
  }}
  free(arg); free(res); free(iw); free(w);
  return k;
}}
"""


def loop_source(function: ca.Function) -> str:
    """Return C source of a loop that evaluates a function for many rows."""
    return _LOOP.format(name=function.name(), inputs=function.n_in(), outputs=function.n_out())


def tied(function: ca.Function, inputs: Sequence[Array], outputs: Sequence[Array]) -> Callable[[], None]:
    """Bind a function to arrays that stay in place, and return a call without arguments: it is far cheaper."""
    buffer: Any
    buffer, evaluate = function.buffer()
    for k, slot in enumerate(inputs):
        buffer.set_arg(k, slot.reshape(-1).data)
    for k, slot in enumerate(outputs):
        buffer.set_res(k, slot.reshape(-1).data)

    def call(_kept: Any = buffer) -> None:  # the buffer must live as long as what evaluates it
        evaluate()

    return call


@dataclass(frozen=True)
class Runner:
    """A function and, if it is machine code, the library that has its loop, and how that was compiled."""

    function: ca.Function
    library: Path | None = None
    build: Build = field(default_factory=Build)

    @cached_property
    def input_sizes(self) -> list[int]:
        return [int(self.function.numel_in(k)) for k in range(self.function.n_in())]

    @cached_property
    def output_sizes(self) -> list[int]:
        return [int(self.function.numel_out(k)) for k in range(self.function.n_out())]

    @cached_property
    def many(self) -> Any:
        """The compiled loop of `Many`."""
        return self._compiled("many")

    @cached_property
    def drive(self) -> Any:
        """The compiled loop of a `Driver`."""
        return self._compiled("drive")

    def _compiled(self, loop: str) -> Any:
        found = getattr(ctypes.CDLL(str(self.library)), f"{self.function.name()}_{loop}")
        found.restype = ctypes.c_longlong
        return found


class Many:
    """Rows of the inputs to rows of the outputs; an input of one dimension is the same for all.

    With limits it ends after the first row whose second or third output exceeds the first two (or is not a number),
    and when the second output is below the third limit in as many rows in a row as the fourth says.
    """

    def __init__(
        self, runner: Runner, inputs: Sequence[Array], outputs: Sequence[Array], limits: Array | None = None
    ) -> None:
        self._name = runner.function.name()
        self._kept = inputs, outputs, limits  # the pointers below point at these
        self._bound = (_in_machine_code if runner.library else _in_python)(runner, *self._kept)

    def __call__(self, count: int) -> int:
        """Evaluate up to `count` rows, and return how many were."""
        done = int(self._bound(count)())
        if done < 0:
            raise RuntimeError(f"{self._name}: its machine code could not be run; native=False does without it")
        return done

    def repeated(self, count: int) -> Callable[[], int]:
        """The same call again and again, with nothing around it; negative where machine code could not be run. It is of
        use as long as this object lives."""
        return self._bound(count)


def evaluate_rows(runner: Runner, columns: Sequence[Array], *fixed: Array) -> list[Array]:
    """Evaluate a function for rows of its first inputs; the others are the same for all. Return rows of each output."""
    rows = [_contiguous(each) for each in columns]
    outputs = [np.empty((len(rows[0]), size)) for size in runner.output_sizes]
    Many(runner, [*rows, *fixed], outputs)(len(rows[0]))
    return outputs


def _contiguous(rows: Array) -> Array:
    """Return rows whose numbers stand one after the other; the rows themselves may be apart."""
    ready = rows.dtype == float and rows.strides[1] == rows.itemsize
    return rows if ready else np.ascontiguousarray(rows, dtype=float)


def _in_machine_code(
    runner: Runner, inputs: Sequence[Array], outputs: Sequence[Array], limits: Array | None
) -> Callable[[int], Callable[[], int]]:
    loop = runner.many
    arguments: list[Any] = [_pointers(inputs), _strides(inputs), _pointers(outputs), _strides(outputs), None]
    checked = 0
    if limits is not None:
        arguments[-1], checked = ctypes.c_void_p(limits.ctypes.data), outputs[1].shape[1]

    return lambda count: partial(loop, ctypes.c_longlong(count), *arguments, ctypes.c_longlong(checked))


def _pointers(arrays: Sequence[Array]) -> Any:
    return (ctypes.c_void_p * len(arrays))(*(each.ctypes.data for each in arrays))


def _strides(arrays: Sequence[Array]) -> Any:
    strides = (each.strides[0] // each.itemsize if each.ndim == 2 else 0 for each in arrays)
    return (ctypes.c_longlong * len(arrays))(*strides)


def _in_python(
    runner: Runner, inputs: Sequence[Array], outputs: Sequence[Array], limits: Array | None
) -> Callable[[int], Callable[[], int]]:
    slots, results = ([np.zeros(size) for size in sizes] for sizes in (runner.input_sizes, runner.output_sizes))
    evaluate = tied(runner.function, slots, results)
    rows = [(slot, each) for slot, each in zip(slots, inputs, strict=True) if each.ndim == 2]
    fixed = [(slot, each) for slot, each in zip(slots, inputs, strict=True) if each.ndim == 1]

    def run(count: int) -> int:
        idle = 0
        for slot, each in fixed:
            slot[:] = each
        for k in range(count):
            for slot, each in rows:
                slot[:] = each[k]
            evaluate()
            for each, result in zip(outputs, results, strict=True):
                each[k] = result
            if limits is None:
                continue
            idle = idle + 1 if results[1].size and (results[1] < limits[2]).all() else 0
            well = (results[1] <= limits[0]).all() and (results[2] <= limits[1]).all()
            if not well or idle >= limits[3]:
                return k + 1
        return count

    return lambda count: partial(run, count)
