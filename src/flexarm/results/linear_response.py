"""Responses of linear systems to forces that are constant from one time of an even grid to the next, in NumPy."""

from __future__ import annotations

import numpy as np

from flexarm.foundation.validation import Array

MAX_GROWTH = 30.0  # exponent within a block of the recurrence
BLOCK_SIZE = 256  # points of a block, at most
POINTS_AT_ONCE = 1024  # so that arrays stay in the cache
MAX_PRODUCT_SIZE = 200_000  # multiplications, for which BLAS does not start threads
TAYLOR_TERMS = 14  # of the exponential of a matrix of norm 1/2: exact to 1e-16


def product(one: Array, other: Array) -> Array:
    """Return the product of two matrices, the second of which has a column for each time."""
    out = np.empty((len(one), other.shape[1]))
    some = max(MAX_PRODUCT_SIZE // max(one.size, 1), 1)
    for begin in range(0, other.shape[1], some):
        out[:, begin : begin + some] = one @ other[:, begin : begin + some]
    return out


def modal_responses(omega: Array, decay: Array, forces: Array, start: Array, dt: float) -> Array:
    """Return the coordinates of modes (modes, times).

    With the pole p of a mode and w = x' - conj(p) x, its equation is w' = p w + f. It is solved in blocks: in each of
    them as a sum from rest, to which the motion at the end of the block before is added.

    Parameters
    ----------
    omega, decay : ndarray, shape (modes,)
        Angular frequencies and decay rates (1/s) of x'' + 2 decay x' + omega^2 x = f.
    forces : ndarray, shape (modes, times)
        f over the interval that begins at each time.
    start : ndarray, shape (2, modes)
        Coordinates and rates at the start.
    dt : float
        Interval (s).
    """
    modes, count = forces.shape
    if not modes:
        return np.zeros((0, count))
    turning = np.sqrt(omega**2 - decay**2)
    pole = -decay + 1j * turning
    fastest = float(decay.max(initial=0.0)) * dt
    block = int(max(min(BLOCK_SIZE, count, MAX_GROWTH / fastest if fastest else np.inf), 1))
    step, powers = np.exp(pole * dt), np.exp((pole * dt)[:, None] * np.arange(block))
    weights = ((1 - 1 / step) / pole)[:, None] / powers
    through = powers[:, -1] * step
    w = start[1] - np.conj(pole) * start[0]
    out, powers = np.empty((modes, count)), powers / turning[:, None]
    blocks = max(POINTS_AT_ONCE // block, 1)
    for begin in range(0, count, blocks * block):
        force = forces[:, begin : begin + blocks * block]
        here = force.shape[1]
        many = -(-here // block)
        padded = np.zeros((modes, many * block))
        padded[:, :here] = force
        added = np.cumsum(padded.reshape(modes, many, block) * weights[:, None, :], axis=2)
        before = np.empty((modes, many), dtype=complex)
        for k in range(many):
            before[:, k] = w
            w = through * (w + added[:, k, -1])
        motion = np.empty_like(added)
        motion[:, :, 0] = 0.0
        motion[:, :, 1:] = added[:, :, :-1]
        motion += before[:, :, None]
        out[:, begin : begin + here] = (powers[:, None, :] * motion).imag.reshape(modes, -1)[:, :here]
    return out


def state_responses(A: Array, forces: Array, start: Array, dt: float) -> Array:
    """Return the states x (n, times) of x' = A x + f.

    Parameters
    ----------
    A : ndarray, shape (n, n)
        State matrix.
    forces : ndarray, shape (n, times)
        f over the interval that begins at each time.
    start : ndarray, shape (n,)
        State at the start.
    dt : float
        Interval (s).
    """
    step, through = _discrete(A, dt)
    given, x = np.ascontiguousarray(product(through, forces).T), start
    out = np.empty(given.shape)
    for k, each in enumerate(given):
        out[k] = x
        x = step @ x + each
    return out.T


def growth(A: Array, duration: float) -> float:
    """Return the logarithm of the growth of the fastest growing motion of x' = A x within a duration (s)."""
    return float(np.linalg.eigvals(A).real.max(initial=0.0)) * duration


def _discrete(A: Array, dt: float) -> tuple[Array, Array]:
    """Return exp(A dt) and its integral over dt, by scaling and squaring (SciPy's takes long to import)."""
    n = len(A)
    both = np.zeros((2 * n, 2 * n))
    both[:n, :n], both[:n, n:] = A * dt, np.eye(n) * dt
    halvings = max(0, int(np.ceil(np.log2(max(np.abs(both[:n, :n]).sum(axis=0).max(), 1e-300)))) + 1)
    scaled = both / 2**halvings
    out = term = np.eye(2 * n)
    for k in range(1, TAYLOR_TERMS + 1):
        term = term @ scaled / k
        out = out + term
    for _ in range(halvings):
        out = out @ out
    return out[:n, :n], out[:n, n:]
