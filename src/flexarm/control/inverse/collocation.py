"""Motions along a path on a uniform grid of times: central differences of order 4, closed to a ring.

The unknowns are q at all nodes; rates are differences of the departure from the static solution, which is the same at
both ends of the window: nothing. So the ring needs no boundary conditions, and whatever does not belong to a bounded
motion, forwards or backwards, has no place on it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from flexarm.control.inverse.servo import Goals, Servo
from flexarm.foundation.numbers import Array

REACH = 2  # neighbours on each side
FIRST = np.array([1.0, -8.0, 0.0, 8.0, -1.0]) / 12
SECOND = np.array([-1.0, 16.0, -30.0, 16.0, -1.0]) / 12
FEWEST = 4 * REACH + 2  # nodes that make a ring
ITERATIONS = 25
LONGEST = 0.5  # of what is large for a coordinate, in one iteration
SETTLED, ROUNDING = 1e-11, 1e-8  # corrections that are none, and those that may be all that rounding allows
SLOWEST = 1 / 32  # of the speed: where a motion along the path is looked for first, if it comes to that


@dataclass(frozen=True)
class Ring:
    """Nodes `step` seconds apart, and a motion (n, nq) beside which all others differ by a periodic one."""

    servo: Servo
    goals: Goals
    step: float
    statics: Array

    def rates(self, q: Array, pace: float = 1.0) -> tuple[Array, Array]:
        """v and a (n, nq), as if all went at this pace."""
        own, base = q - self.statics, self.statics
        padded = np.concatenate([np.repeat(base[:1], REACH, 0), base, np.repeat(base[-1:], REACH, 0)])
        count, out = len(q), []
        for weights, scale in ((FIRST, pace / self.step), (SECOND, (pace / self.step) ** 2)):
            found = np.zeros_like(q)
            for k, weight in enumerate(weights):
                found += weight * (np.roll(own, REACH - k, axis=0) + padded[k : k + count])
            out.append(scale * found)
        return out[0], out[1]

    def sped_up(self, tell: Callable[[float], None]) -> Array | None:
        """From slow motions along the path to the fast one."""
        pace, step, q = 0.0, 0.25, self.statics
        while pace < 1.0:
            tried = self.solved(q, tell, min(pace + step, 1.0))
            if tried is not None:
                q, pace, step = tried, min(pace + step, 1.0), 1.5 * step
            elif (step := step / 2) < SLOWEST:
                return None
        return q

    def solved(self, q: Array, tell: Callable[[float], None], pace: float = 1.0) -> Array | None:
        """Newton's method from a first guess; None where that is too far, or no motion is bounded."""
        sizes, last = self.servo.system.sizes, np.inf
        for k in range(ITERATIONS):
            tell(k / ITERATIONS)
            v, a = self.rates(q, pace)
            rows, *slopes = self.servo.slopes(q, v, a, self.goals)
            change = self._correction(rows[:, :, 0], slopes, pace) * sizes
            size = float(np.abs(change / sizes).max())
            if not np.isfinite(size) or (k > 3 and size > 4 * last):
                return None
            q = q + change * min(1.0, LONGEST / max(size, 1e-300))
            if size < SETTLED or (size < ROUNDING and size > last / 4):
                return q
            last = size
        return None

    def _correction(self, rows: Array, slopes: list[Array], pace: float) -> Array:
        """-(d rows / d q)^-1 rows in units of the coordinates' sizes; not finite where there is no inverse."""
        from scipy.sparse import csc_matrix
        from scipy.sparse.linalg import splu

        by_q, by_v, by_a = slopes
        n, m = rows.shape
        # blocks[j][k]: how the rows of node k change with node k + j - REACH
        blocks = [by_v * (f * pace / self.step) + by_a * (s * (pace / self.step) ** 2) for f, s in zip(FIRST, SECOND)]
        blocks[REACH] = blocks[REACH] + by_q
        values = np.stack(blocks) * self.servo.system.sizes
        scale = 1 / np.abs(values).max(axis=(0, 3))
        nodes = np.arange(n)
        row = np.broadcast_to((nodes[:, None] * m + np.arange(m))[None, :, :, None], values.shape)
        beside = (nodes + np.arange(-REACH, REACH + 1)[:, None]) % n
        column = np.broadcast_to((beside[:, :, None] * m + np.arange(m))[:, :, None, :], values.shape)
        values *= scale[:, :, None]
        matrix = csc_matrix((values.ravel(), (row.ravel(), column.ravel())), shape=(n * m, n * m))
        matrix.eliminate_zeros()
        try:
            return np.asarray(splu(matrix).solve((-rows * scale).ravel()).reshape(n, m))
        except RuntimeError:  # exactly singular
            return np.full((n, m), np.nan)


def static(servo: Servo, goals: Goals, loaded: bool) -> Array:
    """Postures (n, nq) in which the output is on the path, links deflected by gravity, and by the inertia of the rigid
    twin where they are `loaded`."""
    v, a = (goals.v, goals.a) if loaded else (np.zeros_like(goals.v), np.zeros_like(goals.a))
    q, sizes, last = goals.q.copy(), servo.system.sizes, np.inf
    for _ in range(ITERATIONS):
        rows, slope = servo.statics(q, v, a, goals)
        change = np.linalg.solve(slope * sizes, -rows)[:, :, 0]
        size = float(np.abs(change).max(initial=0.0))
        if not np.isfinite(size):
            break
        q += change * sizes * min(1.0, LONGEST / max(size, 1e-300))
        if size < SETTLED or (size < ROUNDING and size > last / 4):
            return q
        last = size
    raise ArithmeticError(
        "tip: no posture was found in which the deflected robot has its output on the path; its links are too soft for "
        "their loads, or the path is at the edge of the reach"
    )
