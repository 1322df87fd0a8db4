"""States between the nodes of an integration."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from flexarm.foundation.numbers import Array
from flexarm.motion.state import Layout

# Polynomials in s through values and (scaled) derivatives at s = 0 and 1: rows are powers of s, columns the data.
QUINTIC = np.array(  # of (q, h v, h^2 a) at both ends
    [
        [1, 0, 0, 0, 0, 0],
        [0, 1, 0, 0, 0, 0],
        [0, 0, 0.5, 0, 0, 0],
        [-10, -6, -1.5, 10, -4, 0.5],
        [15, 8, 1.5, -15, 7, -1],
        [-6, -3, -0.5, 6, -3, 0.5],
    ]
)
CUBIC = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [-3, -2, 3, -1], [2, 1, -2, 1]])  # of (x, h dx) at both ends
RATE = np.diag(np.arange(1.0, 6.0), 1)  # from coefficients of powers to those of the derivative
WITH_RATES = np.hstack([QUINTIC, RATE @ QUINTIC, RATE @ RATE @ QUINTIC])
UNRESOLVED = 2.0  # times the motion in a step: accelerations further from those of a cubic throw a quintic off
LOW = 2  # methods up to this order: their q, v and a do not fit each other well enough to derive a from q


def between(times: Array, states: Array, wanted: Array, layout: Layout, order: int = LOW + 1) -> Array:
    """States at wanted times from those at the nodes (rows) of a method of this order, by Hermite polynomials.

    Degree 5 for q, from q, v, a at both ends (3 where a is not resolved); v and a are its derivatives (of a method of
    low order, a is straight from node to node). Degree 3 for the energies put in and lost.
    """
    left = stretches(times, wanted)
    h = (times[left + 1] - times[left])[:, None]
    s = (wanted - times[left])[:, None] / h
    first, last = states[left], states[left + 1]
    out = first + s * (last - first)  # for powers of forces, and multipliers of constraints
    moved = motion(first[:, layout.motion], last[:, layout.motion], h, s, order)
    out[:, layout.motion] = moved
    out[:, layout.every_aux] = moved[:, layout.every_a]
    out[:, layout.energies.start : layout.given] = energies(first[:, layout.energies], last[:, layout.energies], h, s)
    return out


def stretches(times: Array, wanted: Array) -> NDArray[np.intp]:
    """For each wanted time the node that begins its stretch; of two nodes at one time, the later."""
    return np.asarray(np.clip(np.searchsorted(times, wanted, side="right") - 1, 0, len(times) - 2))


def motion(first: Array, last: Array, h: Array, s: Array, order: int) -> Array:
    """(q, v, a) in rows, a share s (column) of the way from the first node to the last, which is h (column) later."""
    scales = (h ** np.arange(3))[:, :, None]
    ends = np.concatenate([end.reshape(len(s), 3, -1) * scales for end in (first, last)], axis=1)
    _leave_out_unresolved(ends)
    weights = np.einsum("ij,jk->ik", s ** np.arange(6), WITH_RATES)  # a product of matrices depends on their sizes
    moved = weights.reshape(len(s), 3, 6) @ ends / scales
    if order <= LOW:
        a0, a1 = (end.reshape(len(s), 3, -1)[:, 2] for end in (first, last))
        moved[:, 2] = a0 + s * (a1 - a0)
    return np.asarray(moved.reshape(first.shape))


def _leave_out_unresolved(ends: Array) -> None:
    """Put accelerations of the cubic through (q, h v) into (q, h v, h^2 a) at both ends of steps, (steps, 6, n), where
    the given ones belong to modes that the steps do not resolve: they would throw the quintic far off."""
    q0, v0, a0, q1, v1, a1 = ends.swapaxes(0, 1)
    smooth = np.stack([6 * (q1 - q0) - 4 * v0 - 2 * v1, -6 * (q1 - q0) + 2 * v0 + 4 * v1], axis=1)
    given = np.stack([a0, a1], axis=1)
    thrown = np.abs(smooth - given).max(axis=1)
    moved = np.abs(q1 - q0) + (np.abs(v0) + np.abs(v1)) / 2
    ends[:, [2, 5]] = np.where((thrown > UNRESOLVED * moved)[:, None], smooth, given)


def energies(first: Array, last: Array, h: Array, s: Array) -> Array:
    """(work, loss) in rows, from both and their rates at the nodes."""
    scales = (h ** np.arange(2))[:, :, None]
    ends = np.concatenate([end.reshape(len(s), 2, 2) * scales for end in (first, last)], axis=1)
    weights = np.einsum("ij,jk->ik", s ** np.arange(4), CUBIC)
    return np.asarray((weights[:, None, :] @ ends)[:, 0])
