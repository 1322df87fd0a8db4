"""States between the nodes of an integration."""

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


def between(times: Array, states: Array, wanted: Array, layout: Layout) -> Array:
    """States at wanted times from those at the nodes (rows), by Hermite polynomials.

    Degree 5 for q, from q, v, a at both ends; v and a are its derivatives. Degree 3 for the energies put in and lost.
    """
    n = layout.n
    left = np.clip(np.searchsorted(times, wanted, side="right") - 1, 0, len(times) - 2)
    h = (times[left + 1] - times[left])[:, None]
    s = (wanted - times[left])[:, None] / h
    powers, scales = s ** np.arange(6), (h ** np.arange(3))[:, :, None]
    first, last = states[left], states[left + 1]
    out = first + s * (last - first)  # for powers of forces, and multipliers of constraints
    ends = [end[:, layout.motion].reshape(len(s), 3, n) * scales for end in (first, last)]
    moved = (powers @ WITH_RATES).reshape(len(s), 3, 6) @ np.concatenate(ends, axis=1) / scales
    out[:, layout.motion] = moved.reshape(len(s), 3 * n)
    out[:, layout.aux] = moved[:, 2]
    ends = [end[:, layout.energies].reshape(len(s), 2, 2) * scales[:, :2] for end in (first, last)]
    energies = ((powers[:, :4] @ CUBIC)[:, None, :] @ np.concatenate(ends, axis=1))[:, 0]
    out[:, layout.work], out[:, layout.lost] = energies.T
    return out
