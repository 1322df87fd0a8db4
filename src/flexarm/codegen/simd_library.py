"""Compile functions for several robots at once, and call them on arrays.

The number of lanes depends on the processor and is part of a library's key, since computers may share a cache. Loops in
C run over rows of several groups of lanes without Python's lock.
"""

from __future__ import annotations

import ctypes
import platform
import re
from collections.abc import Callable, Sequence
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

import casadi as ca

from flexarm.codegen.cache import kept_library, say_once
from flexarm.codegen.compiler import (
    COMPILER_FLAGS,
    Build,
    ProgramEnding,
    compile_library,
    find_compiler,
    missing_compiler_note,
)
from flexarm.codegen.library import CODE_VERSION, generate_source, key_of
from flexarm.codegen.simd import VECTOR_MATH, UnexpectedSource, vectorize
from flexarm.foundation.validation import Array

_LOOP = """
CASADI_SYMBOL_EXPORT long long {name}_lanes(long long count, long long groups,
    const casadi_real** first, const long long* stride, const long long* across,
    casadi_real** out, const long long* out_stride, const long long* out_across) {{
  casadi_int sz_arg = {inputs}, sz_res = {outputs}, sz_iw = 0, sz_w = 0;
  const size_t line = 64;
  long long k = -1, g, i;
  {name}_work(&sz_arg, &sz_res, &sz_iw, &sz_w);
  const casadi_real** arg = (const casadi_real**) malloc((sz_arg + 1) * sizeof(casadi_real*));
  casadi_real** res = (casadi_real**) malloc((sz_res + 1) * sizeof(casadi_real*));
  casadi_int* iw = (casadi_int*) malloc((sz_iw + 1) * sizeof(casadi_int));
  void* memory = malloc((sz_w + 1) * sizeof(casadi_real) + line);
  casadi_real* w = (casadi_real*) (((size_t) memory + line - 1) / line * line);
  if (arg && res && iw && memory) for (k = 0; k < count && k >= 0; ++k)
    for (g = 0; g < groups; ++g) {{
      for (i = 0; i < {inputs}; ++i) arg[i] = first[i] + k * stride[i] + g * across[i];
      for (i = 0; i < {outputs}; ++i) res[i] = out[i] + k * out_stride[i] + g * out_across[i];
      if ({name}(arg, res, iw, w, 0)) {{ k = -2; break; }}
    }}
  free(arg); free(res); free(iw); free(memory);
  return k < 0 ? -1 : k;
}}
"""


def loop(name: str, inputs: int, outputs: int) -> str:
    """Return C that evaluates a function, with so many inputs and outputs, for rows of groups of lanes."""
    return _LOOP.format(name=name, inputs=inputs, outputs=outputs)


CPU_INFO = Path("/proc/cpuinfo")
ONE_BY_ONE = "robots are computed one by one"


class SimdWidth(NamedTuple):
    """Number of lanes and compiler flags."""

    lanes: int
    flags: tuple[str, ...] = ()


AVX512 = SimdWidth(8, ("-mavx512f", "-mavx512dq", "-mprefer-vector-width=512"))
AVX2 = SimdWidth(4, ("-mavx2",))
SSE2 = SimdWidth(2)  # what every processor of 64 bits has: SSE2, or NEON


@cache
def widest() -> SimdWidth:
    """Return the widest vectors of this processor.

    For 512 bits it must support vectors of 64-bit integers.
    """
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return SSE2
    try:
        found = re.search(r"^flags\s*:(.*)$", CPU_INFO.read_text(), re.M)
    except OSError:
        return SSE2
    flags = set(found[1].split()) if found else set()
    return AVX512 if {"avx512f", "avx512dq"} <= flags else AVX2 if "avx2" in flags else SSE2


class LaneLibrary:
    """Functions compiled together for lanes. `depends`: all that decides what `make` gives; `more`: C that calls
    them."""

    def __init__(
        self,
        names: Sequence[str],
        make: Callable[[], Sequence[ca.Function]],
        depends: Sequence[object] | None,
        width: SimdWidth | None = None,
        more: str = "",
    ) -> None:
        self.names, self._make, self._depends, self.width, self._more = names, make, depends, width or widest(), more
        self.build = Build()  # how it was compiled, once it is loaded

    @cached_property
    def functions(self) -> Sequence[ca.Function]:
        return self._make()

    @cached_property
    def _source(self) -> str:
        loops = (loop(each.name(), each.n_in(), each.n_out()) for each in self.functions)
        vectorized = vectorize(generate_source(self.names[0], self.functions), self.width.lanes)
        return vectorized + "".join(loops) + self._more

    @cached_property
    def loaded(self) -> ctypes.CDLL | None:
        """The library, compiled if needed; None if that is impossible (with a log line)."""
        compiler = find_compiler()
        if compiler is None:
            say_once(missing_compiler_note())
            return None
        try:
            key = self._key(compiler)
            library = kept_library(f"lanes{self.width.lanes}", key, partial(self._build, compiler))
            loaded = ctypes.CDLL(str(library))
            self.build = Build.of(compiler, self._flags, self.width.lanes, VECTOR_MATH)
            return loaded
        except ProgramEnding:
            return None
        except UnexpectedSource as error:
            say_once(f"{error}; {ONE_BY_ONE}")
            return None
        except (OSError, RuntimeError, ValueError) as error:
            reason = getattr(error, "strerror", None) or next(iter(str(error).strip().splitlines()), "")
            say_once(f"compiling '{self.names[0]}' for {self.width.lanes} lanes failed ({reason}); {ONE_BY_ONE}")
            return None

    def _key(self, compiler: tuple[str, ...]) -> str:
        identity = [self._source] if self._depends is None else [*self._depends, *CODE_VERSION]
        return key_of([*identity, "lanes", *self.width], compiler)

    def _build(self, compiler: tuple[str, ...], folder: Path) -> Path:
        return compile_library(compiler, self._source, folder / "lanes.c", self._flags)

    @property
    def _flags(self) -> tuple[str, ...]:
        return ("-O3", "-fno-strict-aliasing", *COMPILER_FLAGS[1:], *self.width.flags)


class LaneFunction:
    """A function of a library over arrays (groups, rows, entries, lanes) that stay in place; an array of one group, or
    of one row, is the same for all."""

    def __init__(self, library: ctypes.CDLL, name: str, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
        self._name, self._kept = name, (inputs, outputs)  # the pointers below point at these
        self._loop = getattr(library, f"{name}_lanes")
        self._loop.restype = ctypes.c_longlong
        self._groups = max(each.shape[0] for each in outputs)
        self._places = [*_places(inputs), *_places(outputs)]

    def __call__(self, rows: int) -> None:
        """Evaluate the first `rows`."""
        counts = map(ctypes.c_longlong, (rows, self._groups))
        if self._loop(*counts, *self._places) < 0:
            raise RuntimeError(f"{self._name}: its machine code for lanes could not be run")


def _places(arrays: Sequence[Array]) -> list[Any]:
    """Pointers, and how many vectors the next row, and the next group, are away."""
    pointers = (ctypes.c_void_p * len(arrays))(*(each.ctypes.data for each in arrays))
    strides = []
    for axis in (1, 0):
        vectors = (each.strides[axis] // (8 * each.shape[3]) if each.shape[axis] > 1 else 0 for each in arrays)
        strides.append((ctypes.c_longlong * len(arrays))(*vectors))
    return [pointers, *strides]
