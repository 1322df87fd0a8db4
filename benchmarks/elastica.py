"""Reference of W2: an inextensible beam with exact geometry, spun up in its plane.

Independent of every tool compared. The slope angle is theta(s) = sum a_i phi_i(s) with phi_i' Legendre polynomials;
positions are integrals of cos theta and sin theta on Gauss nodes, the bending moment is EI theta', and the equations
are those of d'Alembert in the rotating frame.
"""

from __future__ import annotations

import numpy as np
from numpy.polynomial import Legendre, legendre
from scipy.integrate import solve_ivp

LENGTH, AREA, SECOND, DENSITY, YOUNG = 8.0, 7.2968e-5, 8.2189e-9, 2766.7, 6.8952e10
NODES = 24


def rate(t: float, speed: float, ramp: float) -> tuple[float, float]:
    """Angular velocity and acceleration of the root."""
    if t >= ramp:
        return speed, 0.0
    turn = 2 * np.pi * t / ramp
    return speed / ramp * (t - ramp / (2 * np.pi) * np.sin(turn)), speed / ramp * (1 - np.cos(turn))


def angle(t: np.ndarray, speed: float, ramp: float) -> np.ndarray:
    """Of the root, the integral of `rate`."""
    s = np.minimum(t, ramp)
    risen = s**2 / 2 + (ramp / (2 * np.pi)) ** 2 * (np.cos(2 * np.pi * s / ramp) - 1)
    return speed / ramp * risen + speed * np.maximum(t - ramp, 0)


def deflection(times: np.ndarray, speed: float, ramp: float, shapes: int, rtol: float) -> np.ndarray:
    """(times, 1): the tip's distance from the root's tangent (m)."""
    nodes, weights = legendre.leggauss(NODES)
    w = LENGTH * weights / 2
    slopes = [Legendre.basis(k) for k in range(shapes)]
    phi = np.stack([LENGTH / 2 * each.integ(lbnd=-1)(nodes) for each in slopes], axis=1)
    bend = np.stack([each(nodes) for each in slopes], axis=1)
    K = YOUNG * SECOND * bend.T @ (w[:, None] * bend)
    # row k of `upto` integrates from the root to node k what is known on the nodes
    powers = legendre.legvander(nodes, NODES - 1)
    integrals = np.stack([Legendre.basis(k).integ(lbnd=-1)(nodes) for k in range(NODES)], axis=1)
    upto = LENGTH / 2 * np.linalg.solve(powers.T, integrals.T).T
    mass = DENSITY * AREA * w
    n = shapes

    def motion(t: float, state: np.ndarray) -> np.ndarray:
        a, v = state[:n], state[n:]
        theta, spin = phi @ a, phi @ v
        c, sn = np.cos(theta), np.sin(theta)
        x, y, Jx, Jy = upto @ c, upto @ sn, -upto @ (sn[:, None] * phi), upto @ (c[:, None] * phi)
        omega, alpha = rate(t, speed, ramp)
        ax = -upto @ (c * spin**2) - 2 * omega * (Jy @ v) - alpha * y - omega**2 * x
        ay = -upto @ (sn * spin**2) + 2 * omega * (Jx @ v) + alpha * x - omega**2 * y
        M = Jx.T @ (mass[:, None] * Jx) + Jy.T @ (mass[:, None] * Jy)
        force = -Jx.T @ (mass * ax) - Jy.T @ (mass * ay) - K @ a
        return np.concatenate([v, np.linalg.solve(M, force)])

    start = np.zeros(2 * n)
    found = solve_ivp(motion, (0, times[-1]), start, "DOP853", t_eval=times, rtol=rtol, atol=rtol * 1e-3)
    if not found.success:
        raise RuntimeError(found.message)
    return (w @ np.sin(phi @ found.y[:n]))[:, None]
