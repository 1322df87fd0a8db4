"""How long before and after its path an output has to be prepared and followed up.

While the output stands still the robot moves as the zeros of its linear model do: those in the right half plane lead up
to the path, those in the left one follow it. Zeros that do not decay leave no bounded motion to begin with.

Motions along a path on a uniform grid of times: central differences of order 4, closed to a ring.

The unknowns are q at all nodes; rates are differences of the departure from the static solution, which is the same at
both ends of the window: nothing. So the ring needs no boundary conditions, and whatever does not belong to a bounded
motion, forwards or backwards, has no place on it.

Inversion of the linear model about the start, frequency by frequency (Bayo), zeros of both half planes at once.

The departure d from rest at the start is a static part that follows the path, S y(t), and a periodic rest, of which

    (-w^2 M + i w D + K) d - B u = -(M S y'' + D S y'),   C d = 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from flexarm.analysis.transfer import zeros
from flexarm.control.inversion.output_constraint import Goals, Servo
from flexarm.foundation.validation import Array

TIME_CONSTANTS = 12.0  # time constants of the slowest zero: e^-12 = 6e-6 is left
MAX_WINDOW_DURATIONS = 30.0  # durations of the path, that each window takes at most unless it is given
MIN_TIME_CONSTANTS = 3.0  # time constants that must fit into it: e^-3 = 5 % would be left
UNDAMPED_RATIO = 1e-6  # of a zero's size: with a smaller real part it is on the imaginary axis


@dataclass(frozen=True)
class SmallMotionsAtRest:
    """M d'' + D d' + K d = B u, C d = (0 unless the path moves), about a posture (nq,) in which the robot rests."""

    servo: Servo
    q: Array
    goals: Goals  # of that one time

    @cached_property
    def matrices(self) -> tuple[Array, Array, Array, Array, Array]:
        """M, D, K, B and C."""
        system, rest = self.servo.system, np.zeros_like(self.q)[None]
        found = system.linearization(self.q)
        slope = self.servo.statics(self.q[None], rest, rest, self.goals)[1][0]
        C = slope[len(self.servo.passive) :]
        return found.M, found.G + found.D, found.K, system.input_matrix, C

    @cached_property
    def zeros(self) -> Array:
        """Of the outputs (rad/s, complex)."""
        M, D, K, B, C = self.matrices
        n, count = len(M), B.shape[1]
        inverse = np.linalg.inv(M)
        A = np.block([[np.zeros((n, n)), np.eye(n)], [-inverse @ K, -inverse @ D]])
        whole = np.vstack([np.zeros((n, count)), inverse @ B]), np.hstack([C, np.zeros((count, n))])
        return np.asarray(zeros(A, *whole, np.zeros((count, count))))


def windows(ends: list[SmallMotionsAtRest], duration: float) -> tuple[float, float]:
    """Seconds before and after a path that lasts so long."""
    found = np.concatenate([each.zeros for each in ends])
    still = found[np.abs(found.real) <= UNDAMPED_RATIO * np.abs(found)]
    if len(still):
        slowest = float(np.abs(still).min()) / (2 * np.pi)
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
                f"s to calm down to a third, which is long against a path of {duration:.3g} s; give it more damping, "
                "choose another output, or insist by telling how long the torques may go on (before and after)"
            )
        out.append(min(TIME_CONSTANTS / slowest, MAX_WINDOW_DURATIONS * duration))
    return out[0], out[1]


REACH = 2  # neighbours on each side
FIRST = np.array([1.0, -8.0, 0.0, 8.0, -1.0]) / 12
SECOND = np.array([-1.0, 16.0, -30.0, 16.0, -1.0]) / 12
MIN_NODE_COUNT = 4 * REACH + 2  # nodes that make a ring
MAX_ITERATIONS = 25
MAX_RELATIVE_CHANGE = 0.5  # of what is large for a coordinate, in one iteration
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
        for k in range(MAX_ITERATIONS):
            tell(k / MAX_ITERATIONS)
            v, a = self.rates(q, pace)
            rows, *slopes = self.servo.slopes(q, v, a, self.goals)
            change = self._correction(rows[:, :, 0], slopes, pace) * sizes
            size = float(np.abs(change / sizes).max())
            if not np.isfinite(size) or (k > 3 and size > 4 * last):
                return None
            q = q + change * min(1.0, MAX_RELATIVE_CHANGE / max(size, 1e-300))
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
    for _ in range(MAX_ITERATIONS):
        rows, slope = servo.statics(q, v, a, goals)
        change = np.linalg.solve(slope * sizes, -rows)[:, :, 0]
        size = float(np.abs(change).max(initial=0.0))
        if not np.isfinite(size):
            break
        q += change * sizes * min(1.0, MAX_RELATIVE_CHANGE / max(size, 1e-300))
        if size < SETTLED or (size < ROUNDING and size > last / 4):
            return q
        last = size
    raise ArithmeticError(
        "tip: no posture was found in which the deflected robot has its output on the path; its links are too soft for "
        "their loads, or the path is at the edge of the reach"
    )


@dataclass(frozen=True)
class Motion:
    """q, v, a (n, nq), torques (n, nu), and where the robot would be if it went slowly, `base` (n, nq)."""

    q: Array
    v: Array
    a: Array
    torques: Array
    base: Array


def linear_motion(model: SmallMotionsAtRest, goals: Goals, step: float) -> Motion:
    """On a window whose nodes are `step` seconds apart."""
    M, D, K, B, C = model.matrices
    n, (nq, nu) = len(goals.q), B.shape
    joints = model.servo.twin.joints  # outputs count in their units
    y, dy, ddy = ((each - rest)[:, joints] for each, rest in ((goals.q, goals.q[0]), (goals.v, 0.0), (goals.a, 0.0)))
    static = np.linalg.solve(np.block([[K, -B], [C, np.zeros((nu, nu))]]), np.vstack([np.zeros((nq, nu)), np.eye(nu)]))
    S, U = static[:nq], static[nq:]
    load = -(ddy @ (M @ S).T + dy @ (D @ S).T)
    w = 2 * np.pi * np.fft.rfftfreq(n, step)
    pencil = np.zeros((len(w), nq + nu, nq + nu), dtype=complex)
    pencil[:, :nq, :nq] = -(w**2)[:, None, None] * M + 1j * w[:, None, None] * D + K
    pencil[:, :nq, nq:], pencil[:, nq:, :nq] = -B, C
    right = np.concatenate([np.fft.rfft(load, axis=0), np.zeros((len(w), nu))], axis=1)
    found = np.linalg.solve(pencil, right[:, :, None])[:, :, 0]
    d, u = found[:, :nq], found[:, nq:]
    q, v, a = (
        np.fft.irfft(d * ((1j * w) ** rate)[:, None], n, axis=0) + part @ S.T for rate, part in enumerate((y, dy, ddy))
    )
    held = np.linalg.lstsq(B, model.servo.system.inverse_dynamics(model.q, None, None), rcond=None)[0]
    torques = held + y @ U.T + np.fft.irfft(u, n, axis=0)
    return Motion(model.q + q, v, a, torques, model.q + y @ S.T)
