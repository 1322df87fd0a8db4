"""States between the nodes of an integration."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from flexarm.beam.polynomials import Array

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


def between(times: Array, states: Array, wanted: Array, n: int) -> Array:
    """States at wanted times from those at the nodes (rows), by Hermite polynomials.

    Degree 5 for q, from q, v, a at both ends; v and a are its derivatives. Degree 3 for the energies put in and lost.
    """
    left = np.clip(np.searchsorted(times, wanted, side="right") - 1, 0, len(times) - 2)
    h = (times[left + 1] - times[left])[:, None]
    s = (wanted - times[left])[:, None] / h
    first, last = states[left], states[left + 1]
    out = first + s * (last - first)  # for powers, and multipliers of constraints
    place = [slice(k * n, (k + 1) * n) for k in range(4)]
    ends = [h**k * end[:, place[k]] for end in (first, last) for k in range(3)]
    for k, values in enumerate(_hermite(QUINTIC, s, np.stack(ends, axis=1))):
        out[:, place[k]] = values / h**k
    out[:, place[3]] = out[:, place[2]]
    energies, powers = slice(4 * n, 4 * n + 2), slice(4 * n + 2, 4 * n + 4)
    ends = [each for end in (first, last) for each in (end[:, energies], h * end[:, powers])]
    out[:, energies] = next(_hermite(CUBIC, s, np.stack(ends, axis=1)))
    return out


def _hermite(polynomials: Array, s: Array, data: Array) -> Iterator[Array]:
    """Values at s, then derivatives, of polynomials through data (samples, kinds, columns)."""
    degrees = np.arange(len(polynomials))
    weights = polynomials
    for _ in range(3):
        yield (((s ** degrees[: len(weights)]) @ weights)[:, None, :] @ data)[:, 0, :]
        weights = weights[1:] * degrees[1 : len(weights), None]
