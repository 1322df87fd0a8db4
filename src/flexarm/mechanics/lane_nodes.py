"""What is found on the nodes of many robots at once, by loops in C: states between them, the worst error, swings."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexarm.foundation.numbers import Array

Bits = NDArray[np.int64]


class LaneNodes:
    """Loops of a library over nodes (groups, nodes, entries, lanes), in which entries of a node lie together.

    every: how many coordinates there are.
    """

    def __init__(self, library: ctypes.CDLL, every: int) -> None:
        self._every = every
        self._between, self._worst, self._swings = (
            getattr(library, f"flexarm_{name}") for name in ("between", "worst", "swings")
        )
        for each in (self._between, self._worst, self._swings):
            each.restype = None

    def between(self, path: Array, left: Any, weights: Array, low: bool, out: Array) -> None:
        """Rows (groups, wanted, q v a work lost, lanes) into `out`: each between the node `left` and the next, by its
        `weights` (wanted, 24); `low`: accelerations go straight."""
        left, weights = np.ascontiguousarray(left, dtype=np.int64), np.ascontiguousarray(weights)
        numbers = (len(left), len(path), self._every)
        self._between(
            *_whole(*numbers), *_at(left, weights, path), *_strides(path), *_at(out), *_whole(_across(out), low)
        )

    def worst(self, errors: Array, steps: int, allowed: Array) -> Array:
        """By step the largest error (groups, steps, errors, lanes) of all lanes, as a share of what each of them is
        allowed (groups, 1, 1, lanes)."""
        out = np.empty(steps)
        numbers = (steps, len(errors), errors.shape[2])
        self._worst(*_whole(*numbers), *_at(errors), *_strides(errors), *_at(allowed, out))
        return out

    def swings(self, q: Array, v: Array, least: Array, living: Bits, last: Array, counts: Bits) -> None:
        """Count in `counts` how often coordinates turn on nodes q, v after swings of more than `least`, in lanes that
        are `living` (groups, lanes; all bits, or none); `last` is where they turned. But for nodes all are (groups,
        coordinates, lanes)."""
        groups, nodes, width, _ = q.shape
        self._swings(*_whole(nodes, groups, width), *_at(q, v), *_strides(q), *_at(least, living, last, counts))


def _whole(*numbers: int) -> list[Any]:
    return [ctypes.c_longlong(each) for each in numbers]


def _at(*arrays: Array | Bits) -> list[Any]:
    return [ctypes.c_void_p(each.ctypes.data) for each in arrays]


def _across(array: Array) -> int:
    """How many vectors the next group is away."""
    return int(array.strides[0] // (8 * array.shape[3]))


def _strides(array: Array) -> list[Any]:
    """How many vectors the next node is away, and the next group."""
    return _whole(array.strides[1] // (8 * array.shape[3]), _across(array))
