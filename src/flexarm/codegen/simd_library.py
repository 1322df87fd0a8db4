"""Compile functions for several robots at once, and call them on arrays.

The number of lanes is that of the processor on which they run, and part of a library's key: a cache that several
computers share has one library for each width.
"""

from __future__ import annotations

import ctypes
import platform
import re
import time as clock
from collections.abc import Callable, Sequence
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from flexarm.codegen.cache import kept_library, say_once
from flexarm.codegen.compiler import FLAGS, Build, Unwanted, compile_library, find_compiler, missing_compiler_note
from flexarm.codegen.library import CODE, key_of
from flexarm.codegen.simd import VECTOR_MATH, UnexpectedSource, vectorize
from flexarm.codegen.simd_loops import COMMON, NODE_LOOPS, loop
from flexarm.codegen.source import generate_source
from flexarm.foundation.numbers import Array

CPU_INFO = Path("/proc/cpuinfo")
ONE_BY_ONE = "robots are computed one by one"
KINDS: dict[type, Any] = {int: ctypes.c_longlong, float: ctypes.c_double, np.ndarray: ctypes.c_void_p}


class Width(NamedTuple):
    """Lanes, and what the compiler must be told."""

    lanes: int
    flags: tuple[str, ...] = ()


AVX512 = Width(8, ("-mavx512f", "-mavx512dq", "-mprefer-vector-width=512"))
AVX2 = Width(4, ("-mavx2",))
PAIRS = Width(2)  # what every processor of 64 bits has: SSE2, or NEON


@cache
def widest() -> Width:
    """What the processor has on which this runs. (Its name for 512 bits must come with whole numbers of 64.)"""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return PAIRS
    try:
        found = re.search(r"^flags\s*:(.*)$", CPU_INFO.read_text(), re.M)
    except OSError:
        return PAIRS
    flags = set(found[1].split()) if found else set()
    return AVX512 if {"avx512f", "avx512dq"} <= flags else AVX2 if "avx2" in flags else PAIRS


class LaneLibrary:
    """Functions compiled together for lanes. `depends`: all that decides what `make` gives; `more`: C that calls
    them."""

    def __init__(
        self,
        names: Sequence[str],
        make: Callable[[], Sequence[ca.Function]],
        depends: Sequence[object] | None,
        width: Width | None = None,
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
        return vectorized + COMMON + NODE_LOOPS + "".join(loops) + self._more

    @cached_property
    def loaded(self) -> ctypes.CDLL | None:
        """The library, compiled if need be; None where it cannot be had (one line says why)."""
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
        except Unwanted:
            return None
        except UnexpectedSource as error:
            say_once(f"{error}; {ONE_BY_ONE}")
            return None
        except (OSError, RuntimeError, ValueError) as error:
            reason = getattr(error, "strerror", None) or next(iter(str(error).strip().splitlines()), "")
            say_once(f"compiling '{self.names[0]}' for {self.width.lanes} lanes failed ({reason}); {ONE_BY_ONE}")
            return None

    def _key(self, compiler: tuple[str, ...]) -> str:
        identity = [self._source] if self._depends is None else [*self._depends, *CODE]
        return key_of([*identity, "lanes", *self.width], compiler)

    def _build(self, compiler: tuple[str, ...], folder: Path) -> Path:
        return compile_library(compiler, self._source, folder / "lanes.c", self._flags)

    @property
    def _flags(self) -> tuple[str, ...]:
        return ("-O3", *FLAGS[1:], *self.width.flags)


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
        self._run(rows, (None,) * 3, 0, 0, 0)

    def steps(self, rows: int, limits: Array, ranges: Array, worst: Array, patience: int) -> int:
        """The same for rows that are steps, as far as they are good in all lanes, and how many were taken.

        limits: (groups, 5, lanes), the largest error, what may be left, the error below which longer steps would do
            if it is met for as many steps as `patience` says; and what errors, and what is left, are shares of.
        ranges: (groups, 2, entries, lanes), filled with the least and the largest of each entry of the first output.
        worst: (rows, 2), filled with the largest shares of all lanes.
        """
        entries, checked = ranges.shape[2], self._kept[1][1].shape[2]
        return self._run(rows, (limits, ranges, worst), entries, checked, patience)

    def _run(self, rows: int, arrays: Sequence[Array | None], entries: int, checked: int, patience: int) -> int:
        places = (None if each is None else ctypes.c_void_p(each.ctypes.data) for each in arrays)
        numbers = map(ctypes.c_longlong, (entries, checked, patience))
        counts = map(ctypes.c_longlong, (rows, self._groups))
        done = int(self._loop(*counts, *self._places, *places, *numbers))
        if done < 0:
            raise RuntimeError(f"{self._name}: its machine code for lanes could not be run")
        return done


def _places(arrays: Sequence[Array]) -> list[Any]:
    """Pointers, and how many vectors the next row, and the next group, are away."""
    pointers = (ctypes.c_void_p * len(arrays))(*(each.ctypes.data for each in arrays))
    strides = []
    for axis in (1, 0):
        vectors = (each.strides[axis] // (8 * each.shape[3]) if each.shape[axis] > 1 else 0 for each in arrays)
        strides.append((ctypes.c_longlong * len(arrays))(*vectors))
    return [pointers, *strides]


class LaneLoop:
    """One of the loops of `simd_loops.py`. What a call gives comes first, of these kinds (of an array its address,
    or None); then what stays as it is, whose addresses are asked for once. `seconds` tell how long it ran."""

    def __init__(self, library: ctypes.CDLL, name: str, given: tuple[type, ...], *stays: Any):
        self._loop = library[name]  # one of our own, whose types nobody else changes
        self._loop.argtypes = [KINDS[each] for each in (*given, *map(type, stays))]
        self._loop.restype = ctypes.c_longlong
        self._stays = [each.ctypes.data if isinstance(each, np.ndarray) else each for each in stays]
        self._kept = stays  # the addresses point at these
        self.seconds = 0.0

    def __call__(self, *given: Any) -> int:
        begin = clock.perf_counter()
        found = int(self._loop(*given, *self._stays))
        self.seconds += clock.perf_counter() - begin
        return found


def vectors(array: Array, axis: int) -> int:
    """How many vectors the next entry along an axis is away in an array (..., lanes)."""
    return int(array.strides[axis] // (8 * array.shape[-1]))
