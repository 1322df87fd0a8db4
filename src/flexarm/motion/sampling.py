"""States between the nodes of an integration."""

from __future__ import annotations

import numpy as np

from flexarm.beam.polynomials import Array
from flexarm.motion.methods import State


def between(times: Array, states: Array, wanted: Array, n: int) -> Array:
    """States at wanted times from those at the nodes (rows), by Hermite polynomials.

    Degree 5 for q, from q, v, a at both ends; v and a are its derivatives. Degree 3 for the energies put in and lost.
    """
    left = np.clip(np.searchsorted(times, wanted, side="right") - 1, 0, len(times) - 2)
    h = (times[left + 1] - times[left])[:, None]
    s = (wanted - times[left])[:, None] / h
    first, last = State.of(states[left].T, n), State.of(states[left + 1].T, n)
    q, v, a = _quintic(s, h, *(part.T for part in (first.q, first.v, first.a, last.q, last.v, last.a)))
    energies = [
        _cubic(s[:, 0], h[:, 0], x, dx, y, dy)
        for x, dx, y, dy in (
            (first.work, first.given, last.work, last.given),
            (first.lost, first.drained, last.lost, last.drained),
        )
    ]
    powers = [x + s[:, 0] * (y - x) for x, y in ((first.given, last.given), (first.drained, last.drained))]
    forces = [] if first.forces is None else [(first.forces + s[:, 0] * (last.forces - first.forces)).T]
    return np.column_stack([q, v, a, a, *energies, *powers, *forces])


def _quintic(s: Array, h: Array, q0: Array, v0: Array, a0: Array, q1: Array, v1: Array, a1: Array) -> tuple[Array, ...]:
    rise = q1 - q0
    c2 = h**2 * a0 / 2
    c3 = 10 * rise - h * (6 * v0 + 4 * v1) - h**2 * (3 * a0 - a1) / 2
    c4 = -15 * rise + h * (8 * v0 + 7 * v1) + h**2 * (3 * a0 / 2 - a1)
    c5 = 6 * rise - 3 * h * (v0 + v1) - h**2 * (a0 - a1) / 2
    q = q0 + s * (h * v0 + s * (c2 + s * (c3 + s * (c4 + s * c5))))
    v = v0 + s * (2 * c2 + s * (3 * c3 + s * (4 * c4 + s * 5 * c5))) / h
    a = (2 * c2 + s * (6 * c3 + s * (12 * c4 + s * 20 * c5))) / h**2
    return q, v, a


def _cubic(s: Array, h: Array, x: Array, dx: Array, y: Array, dy: Array) -> Array:
    rise = y - x
    return np.asarray(x + s * (h * dx + s * (3 * rise - h * (2 * dx + dy) + s * (h * (dx + dy) - 2 * rise))))
