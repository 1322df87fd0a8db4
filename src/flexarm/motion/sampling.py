"""States between the nodes of an integration.

`codegen/groups.c` evaluates the same polynomials for groups of lanes, by the matrices below.
"""

from __future__ import annotations

import numpy as np

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
DEGREES = np.arange(6.0)[:, None, None]  # of the powers of s
UNRESOLVED = 2.0  # times the motion in a step: accelerations further from those of a cubic throw a quintic off
LOW = 2  # methods up to this order: their q, v and a do not fit each other well enough to derive a from q


def between(times: Array, states: Array, wanted: Array, layout: Layout, order: int = LOW + 1) -> Array:
    """Return states at wanted times from those at the nodes (rows) of a method of this order.

    The powers of forces and the multipliers of constraints are linear from node to node, all else as in `rows_between`.
    """
    moved, rest = 3 * layout.every, states[:, layout.given :]
    rows = _interpolated(times, states[:, layout.motion], states[:, layout.energies], rest, wanted, order)
    out = np.empty((len(wanted), states.shape[1]))
    out[:, :moved], out[:, layout.work :] = rows[:, :moved], rows[:, moved:]
    out[:, layout.every_aux] = out[:, layout.every_a]
    return out


def rows_between(times: Array, motions: Array, energies: Array, wanted: Array, order: int) -> Array:
    """Return rows of (q, v, a, work, loss) at wanted times by Hermite polynomials between the nodes of a method.

    Degree 5 for q, from q, v, a at both ends (3 where a is not resolved); v and a are its derivatives (of a method of
    low order, a is linear from node to node). Degree 3 for the energies put in and lost.

    Parameters
    ----------
    times : ndarray, shape (nodes,)
        Times of the nodes (s); one that is there twice is a jump, after which the later node counts.
    motions : ndarray, shape (nodes, 3 n)
        q, v and a at the nodes.
    energies : ndarray, shape (nodes, 4)
        Work and loss (J), and their rates (W).
    wanted : ndarray, shape (m,)
        Times (s).
    order : int
        Order of the method.

    Returns
    -------
    ndarray, shape (m, 3 n + 2)
    """
    return _interpolated(times, motions, energies, energies[:, :0], wanted, order)


def _interpolated(times: Array, motions: Array, energies: Array, rest: Array, wanted: Array, order: int) -> Array:
    """Return the rows of `rows_between` with a rest behind them that is linear from node to node."""
    first = np.flatnonzero(times[1:] > times[:-1])  # stretches that are not jumps
    left = np.maximum(times[first].searchsorted(wanted, side="right") - 1, 0)
    if len(first) > len(wanted):
        used, left = np.unique(left, return_inverse=True)
        first = first[used]
    last = first + 1
    begin, h = times.take(first), times.take(last) - times.take(first)
    s = ((wanted - begin.take(left)) / h.take(left))[:, None]
    at_ends = [[each.take(nodes, axis=0) for nodes in (first, last)] for each in (motions, energies, rest)]
    table = _coefficients(*at_ends, h=h[:, None], order=order)
    # A polynomial by Horner's rule: each sample has the digits that it has alone.
    out: Array = table[-1].take(left, axis=0)
    for each in table[-2::-1]:
        out *= s
        out += each.take(left, axis=0)
    return out


def _coefficients(motions: list[Array], energies: list[Array], rest: list[Array], *, h: Array, order: int) -> Array:
    """Return (6, steps, columns): coefficients of s = 0 ... 1 from values at both ends of steps of size h (column).

    Where accelerations belong to modes that the steps do not resolve they would throw a quintic far off: q is the
    cubic through q and v there.
    """
    n = motions[0].shape[1] // 3
    (q0, v0, a0), (q1, v1, a1) = ((each[:, :n], h * each[:, n : 2 * n], h * h * each[:, 2 * n :]) for each in motions)
    moved = q1 - q0
    smooth0, smooth1 = 6 * moved - 4 * v0 - 2 * v1, -6 * moved + 2 * v0 + 4 * v1
    thrown = np.maximum(np.abs(smooth0 - a0), np.abs(smooth1 - a1))
    is_off = thrown > UNRESOLVED * (np.abs(moved) + (np.abs(v0) + np.abs(v1)) / 2)
    if is_off.any():
        a0, a1 = np.where(is_off, smooth0, a0), np.where(is_off, smooth1, a1)
    x, y, z = moved - v0 - 0.5 * a0, v1 - v0 - a0, a1 - a0  # what cubic and higher terms add at s = 1
    out = np.zeros((6, len(h), 3 * n + 2 + rest[0].shape[1]))
    q, v, a = (out[:, :, k * n : (k + 1) * n] for k in range(3))
    q[0], q[1], q[2] = q0, v0, 0.5 * a0
    q[3], q[4], q[5] = 10 * x - 4 * y + 0.5 * z, -15 * x + 7 * y - z, 6 * x - 3 * y + 0.5 * z
    np.multiply(q[1:], DEGREES[1:] / h, out=v[:-1])
    if order <= LOW:
        a[0] = motions[0][:, 2 * n :]
        np.subtract(motions[1][:, 2 * n :], a[0], out=a[1])
    else:
        np.multiply(v[1:], DEGREES[1:] / h, out=a[:-1])  # v has no power beyond 4
    e0, e1, r0, r1 = *(each[:, :2] for each in energies), *(h * each[:, 2:] for each in energies)
    work = out[:, :, 3 * n : 3 * n + 2]
    work[0], work[1], work[2], work[3] = e0, r0, 3 * (e1 - e0) - 2 * r0 - r1, -2 * (e1 - e0) + r0 + r1
    out[0, :, 3 * n + 2 :] = rest[0]
    np.subtract(rest[1], rest[0], out=out[1, :, 3 * n + 2 :])
    return out
