"""Loops of a library over nodes of many robots at once, with arrays that stay in place."""

from __future__ import annotations

import ctypes
import time as clock
from typing import Any

import numpy as np

from flexarm.foundation.numbers import Array

KINDS: dict[type, Any] = {int: ctypes.c_longlong, float: ctypes.c_double, np.ndarray: ctypes.c_void_p}


class LaneLoop:
    """One of the loops of `lane_node_loops.py`. What a call gives comes first, of these kinds (of an array its address,
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
