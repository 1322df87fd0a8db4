"""Data of the members of a batch, as arrays with a row for each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexarm.foundation.validation import Array

SIZE_TOLERANCE = 0.01  # error of interpolated `sizes` and `turns`: largest values, which have kinks where fields vary


@dataclass(frozen=True)
class DeflectionSignals:
    """Deflections of second-order links at some stations, whose vibration is followed while members run.

    Parameters
    ----------
    links, stations, axes : ndarray of int, shape (signals,)
        Signals of one link and station follow each other.
    shapes : ndarray, shape (signals, coordinates)
        Deflections as shares of the length of the link, of coordinates in sizes.
    may_be_fast : ndarray of bool, shape (signals,)
        True if the link has a second shape along this axis.
    """

    links: NDArray[np.int64]
    stations: NDArray[np.int64]
    axes: NDArray[np.int64]
    shapes: Array
    may_be_fast: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.links)


@dataclass(frozen=True)
class MemberData:
    """Members of a batch.

    Parameters
    ----------
    numbers : ndarray
        What the functions of the plant take.
    sizes : ndarray
        What is large for each coordinate.
    q, v, law_states : ndarray
        Initial state.
    allowed, solved : ndarray, shape (members,)
        Bounds of errors (m, J), as in `Tolerance`.
    push : ndarray, shape (members,)
        Torque that turns the robot as a whole by about 1 rad/s2 (N m).
    lower, upper : ndarray
        Limits of the joints `limited`.
    turns : ndarray
        What each coordinate alone turns nodes of exact links by (rad).
    slideways : ndarray
        Lengths along which the joints `sliding` go (m).
    far : ndarray
        Deflections beyond reason, in sizes.
    slowest : ndarray, shape (members,)
        Logarithm of the frequency of the slowest vibration (rad/s).
    signals : DeflectionSignals
        Deflections that are followed.
    """

    numbers: Array
    sizes: Array
    q: Array
    v: Array
    law_states: Array
    allowed: Array
    solved: Array
    push: Array
    lower: Array
    upper: Array
    turns: Array
    slideways: Array
    limited: list[int]
    sliding: list[int]
    far: Array
    slowest: Array
    signals: DeflectionSignals

    def __len__(self) -> int:
        return len(self.numbers)
