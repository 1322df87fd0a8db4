"""Solvers of the inverse problem: windows of pre- and post-actuation, collocation, and the linear method of Bayo.

While the output rests, the robot moves as the zeros of its linear model do: those in the right half plane lead up to
the path, those in the left one follow it. Undamped zeros admit no bounded motion.

Collocation uses central differences of order 4 on a uniform periodic grid. The unknowns are q at all nodes; rates are
differences of the departure from the static solution, which vanishes at both ends of the window. So no boundary
conditions are needed, and only bounded motions satisfy the equations.

The linear method treats all frequencies separately, with zeros of both half planes at once. The departure d from rest
is a static part S y(t) that follows the path plus a periodic part, of which

    (-w^2 M + i w D + K) d - B u = -(M S y'' + D S y'),   C d = 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from flexarm.analysis.transfer import zeros
from flexarm.control.inversion.output_constraint import OutputConstraint, ReferenceSamples
from flexarm.foundation.validation import Array

TIME_CONSTANTS = 12.0  # default window, in time constants of the slowest zero: e^-12 = 6e-6 remains
MAX_WINDOW_DURATIONS = 30.0  # largest default window, in durations of the path
MIN_TIME_CONSTANTS = 3.0  # time constants that must fit into a window: e^-3 = 5 % remains
UNDAMPED_RATIO = 1e-6  # ratio of real part to magnitude below which a zero is on the imaginary axis
STENCIL_REACH = 2  # neighbours on each side in the difference stencils
FIRST_DIFFERENCE = np.array([1.0, -8.0, 0.0, 8.0, -1.0]) / 12
SECOND_DIFFERENCE = np.array([-1.0, 16.0, -30.0, 16.0, -1.0]) / 12
MIN_NODE_COUNT = 4 * STENCIL_REACH + 2
MAX_ITERATIONS = 25
MAX_RELATIVE_CHANGE = 0.5  # largest Newton step, in units of each coordinate's characteristic size
CORRECTION_TOLERANCE = 1e-11  # Newton step at which the iteration has converged
ROUNDING_TOLERANCE = 1e-8  # Newton step that may be due to rounding if it no longer decreases
MIN_PACE_STEP = 1 / 32  # smallest step of the continuation from slow to full speed


@dataclass(frozen=True)
class SmallMotionsAtRest:
    """Linear model M d'' + D d' + K d = B u, C d = 0 (while the path rests), about a posture at rest."""

    constraint: OutputConstraint
    q: Array
    goals: ReferenceSamples  # at one time

    @cached_property
    def matrices(self) -> tuple[Array, Array, Array, Array, Array]:
        """Return M, D, K, B and C."""
        system, rest = self.constraint.system, np.zeros_like(self.q)[None]
        found = system.linearization(self.q)
        slope = self.constraint.residual(self.q[None], rest, rest, self.goals, "q")[1][0]
        C = slope[len(self.constraint.passive) :]
        return found.M, found.G + found.D, found.K, system.input_matrix, C

    @cached_property
    def zeros(self) -> Array:
        """Return the zeros of the outputs (rad/s, complex)."""
        M, D, K, B, C = self.matrices
        n, count = len(M), B.shape[1]
        inverse = np.linalg.inv(M)
        A = np.block([[np.zeros((n, n)), np.eye(n)], [-inverse @ K, -inverse @ D]])
        whole = np.vstack([np.zeros((n, count)), inverse @ B]), np.hstack([C, np.zeros((count, n))])
        return np.asarray(zeros(A, *whole, np.zeros((count, count))))


def actuation_windows(ends: list[SmallMotionsAtRest], duration: float) -> tuple[float, float]:
    """Return the durations (s) of pre- and post-actuation for a path of a given duration."""
    found = np.concatenate([each.zeros for each in ends])
    undamped = found[np.abs(found.real) <= UNDAMPED_RATIO * np.abs(found)]
    if len(undamped):
        slowest = float(np.abs(undamped).min()) / (2 * np.pi)
        raise ValueError(
            f"tip: while the output stands still the robot would vibrate at {slowest:.4g} Hz without end, since it has "
            "zeros on the imaginary axis; give links (or joints) some damping, fa.Damping(ratio=0.01), or move the "
            "joints (output='joints')"
        )
    out = []
    for side in (found[found.real > 0], -found[found.real < 0]):
        slowest = float(side.real.min()) if len(side) else np.inf
        if slowest * MAX_WINDOW_DURATIONS * duration < MIN_TIME_CONSTANTS:
            turns = float(np.abs(side[side.real.argmin()].imag)) / (2 * np.pi)
            raise ValueError(
                f"tip: while the output stands still the robot vibrates at {turns:.4g} Hz and needs {1 / slowest:.3g} "
                f"s to decay to a third, which is long against a path of {duration:.3g} s; give it more damping, "
                "choose another output, or give the durations of pre- and post-actuation (before and after)"
            )
        out.append(min(TIME_CONSTANTS / slowest, MAX_WINDOW_DURATIONS * duration))
    return out[0], out[1]


@dataclass(frozen=True)
class PeriodicCollocation:
    """Collocation of motions that differ periodically from a static one (n, nq), with time steps `step` (s)."""

    constraint: OutputConstraint
    goals: ReferenceSamples
    step: float
    statics: Array

    def rates(self, q: Array, pace: float = 1.0) -> tuple[Array, Array]:
        """Return v and a (n, nq) of the motion traversed at a given pace, 1 for full speed."""
        own, base = q - self.statics, self.statics
        padded = np.concatenate([np.repeat(base[:1], STENCIL_REACH, 0), base, np.repeat(base[-1:], STENCIL_REACH, 0)])
        count, out = len(q), []
        for weights, scale in ((FIRST_DIFFERENCE, pace / self.step), (SECOND_DIFFERENCE, (pace / self.step) ** 2)):
            found = np.zeros_like(q)
            for k, weight in enumerate(weights):
                found += weight * (np.roll(own, STENCIL_REACH - k, axis=0) + padded[k : k + count])
            out.append(scale * found)
        return out[0], out[1]

    def solve_by_continuation(self, report: Callable[[float], None]) -> Array | None:
        """Solve by continuation from slow motions along the path to full speed; return None on failure."""
        pace, step, q = 0.0, 0.25, self.statics
        while pace < 1.0:
            candidate = self.solve(q, report, min(pace + step, 1.0))
            if candidate is not None:
                q, pace, step = candidate, min(pace + step, 1.0), 1.5 * step
            elif (step := step / 2) < MIN_PACE_STEP:
                return None
        return q

    def solve(self, q: Array, report: Callable[[float], None], pace: float = 1.0) -> Array | None:
        """Solve by Newton's method from a first guess; return None if it is too far or no motion is bounded."""
        sizes, last = self.constraint.system.sizes, np.inf
        for k in range(MAX_ITERATIONS):
            report(k / MAX_ITERATIONS)
            v, a = self.rates(q, pace)
            rows, *slopes = self.constraint.residual(q, v, a, self.goals, "qva")
            change = self._correction(rows[:, :, 0], slopes, pace) * sizes
            size = float(np.abs(change / sizes).max())
            if not np.isfinite(size) or (k > 3 and size > 4 * last):
                return None
            q = q + change * min(1.0, MAX_RELATIVE_CHANGE / max(size, 1e-300))
            if size < CORRECTION_TOLERANCE or (size < ROUNDING_TOLERANCE and size > last / 4):
                return q
            last = size
        return None

    def _correction(self, rows: Array, slopes: list[Array], pace: float) -> Array:
        """Return -(d rows / d q)^-1 rows in units of the coordinates' sizes; not finite if the matrix is singular."""
        from scipy.sparse import csc_matrix
        from scipy.sparse.linalg import splu

        by_q, by_v, by_a = slopes
        n, m = rows.shape
        # blocks[j][k]: how the rows of node k change with node k + j - STENCIL_REACH
        blocks = [
            by_v * (f * pace / self.step) + by_a * (s * (pace / self.step) ** 2)
            for f, s in zip(FIRST_DIFFERENCE, SECOND_DIFFERENCE)
        ]
        blocks[STENCIL_REACH] = blocks[STENCIL_REACH] + by_q
        values = np.stack(blocks) * self.constraint.system.sizes
        scale = 1 / np.abs(values).max(axis=(0, 3))
        nodes = np.arange(n)
        row = np.broadcast_to((nodes[:, None] * m + np.arange(m))[None, :, :, None], values.shape)
        neighbours = (nodes + np.arange(-STENCIL_REACH, STENCIL_REACH + 1)[:, None]) % n
        column = np.broadcast_to((neighbours[:, :, None] * m + np.arange(m))[:, :, None, :], values.shape)
        values *= scale[:, :, None]
        matrix = csc_matrix((values.ravel(), (row.ravel(), column.ravel())), shape=(n * m, n * m))
        matrix.eliminate_zeros()
        try:
            return np.asarray(splu(matrix).solve((-rows * scale).ravel()).reshape(n, m))
        except RuntimeError:  # exactly singular
            return np.full((n, m), np.nan)


def static_postures(constraint: OutputConstraint, goals: ReferenceSamples, loaded: bool) -> Array:
    """Return postures (n, nq) on the path, deflected by gravity and, if `loaded`, by the inertia of the rigid twin."""
    v, a = (goals.v, goals.a) if loaded else (np.zeros_like(goals.v), np.zeros_like(goals.a))
    q, sizes, last = goals.q.copy(), constraint.system.sizes, np.inf
    for _ in range(MAX_ITERATIONS):
        rows, slope = constraint.residual(q, v, a, goals, "q")
        change = np.linalg.solve(slope * sizes, -rows)[:, :, 0]
        size = float(np.abs(change).max(initial=0.0))
        if not np.isfinite(size):
            break
        q += change * sizes * min(1.0, MAX_RELATIVE_CHANGE / max(size, 1e-300))
        if size < CORRECTION_TOLERANCE or (size < ROUNDING_TOLERANCE and size > last / 4):
            return q
        last = size
    raise ArithmeticError(
        "tip: no posture was found in which the deflected robot has its output on the path; its links are too soft for "
        "their loads, or the path is at the edge of the reach"
    )


@dataclass(frozen=True)
class Motion:
    """Motion q, v, a (n, nq), torques (n, nu), and the static motion `base` (n, nq) along the same path."""

    q: Array
    v: Array
    a: Array
    torques: Array
    base: Array


def linear_motion(model: SmallMotionsAtRest, goals: ReferenceSamples, step: float) -> Motion:
    """Return the motion of the linear model on a window with distances `step` (s)."""
    M, D, K, B, C = model.matrices
    n, (nq, nu) = len(goals.q), B.shape
    joints = model.constraint.twin.joints  # outputs count in their units
    y, dy, ddy = ((each - rest)[:, joints] for each, rest in ((goals.q, goals.q[0]), (goals.v, 0.0), (goals.a, 0.0)))
    response = np.linalg.solve(
        np.block([[K, -B], [C, np.zeros((nu, nu))]]), np.vstack([np.zeros((nq, nu)), np.eye(nu)])
    )
    S, U = response[:nq], response[nq:]
    load = -(ddy @ (M @ S).T + dy @ (D @ S).T)
    w = 2 * np.pi * np.fft.rfftfreq(n, step)
    pencil = np.zeros((len(w), nq + nu, nq + nu), dtype=complex)
    pencil[:, :nq, :nq] = -(w**2)[:, None, None] * M + 1j * w[:, None, None] * D + K
    pencil[:, :nq, nq:], pencil[:, nq:, :nq] = -B, C
    right = np.concatenate([np.fft.rfft(load, axis=0), np.zeros((len(w), nu))], axis=1)
    found = np.linalg.solve(pencil, right[:, :, None])[:, :, 0]
    d, u = found[:, :nq], found[:, nq:]
    q, v, a = (
        np.fft.irfft(d * ((1j * w) ** order)[:, None], n, axis=0) + part @ S.T
        for order, part in enumerate((y, dy, ddy))
    )
    held = np.linalg.lstsq(B, model.constraint.system.inverse_dynamics(model.q, None, None), rcond=None)[0]
    torques = held + y @ U.T + np.fft.irfft(u, n, axis=0)
    return Motion(model.q + q, v, a, torques, model.q + y @ S.T)
