"""Inversion of the linear model about the start, frequency by frequency (Bayo), zeros of both half planes at once.

The departure d from rest at the start is a static part that follows the path, S y(t), and a periodic rest, of which

    (-w^2 M + i w D + K) d - B u = -(M S y'' + D S y'),   C d = 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flexarm.control.inverse.servo import Goals
from flexarm.control.inverse.windows import SmallMotionsAtRest
from flexarm.foundation.numbers import Array


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
