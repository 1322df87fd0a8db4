"""Frequencies of a uniform clamped-free Timoshenko beam from its differential equations."""

from __future__ import annotations

import numpy as np
from scipy.linalg import expm
from scipy.optimize import brentq

PIECES = 8  # of the beam: over a short one no solution outgrows the others


def clamped_free(mu: float, EI: float, kGA: float, length: float, count: int, rotary: float = 0.0) -> np.ndarray:
    """The first angular frequencies (rad/s).

    Deflection w, rotation psi, moment M = EI psi', force Q = kGA (w' - psi) along the beam:
    w' = psi + Q / kGA,  psi' = M / EI,  M' = -Q - rotary omega^2 psi,  Q' = -mu omega^2 w.
    """
    unit = np.sqrt(EI / mu) / length**2

    def singular(root: float) -> float:
        """Zero where pieces with w = psi = 0 at the root and M = Q = 0 at the tip fit together."""
        along = np.array(
            [
                [0, 1, 0, EI / (kGA * length**2)],
                [0, 0, 1, 0],
                [0, -(root**4) * rotary / (mu * length**2), 0, -1],
                [-(root**4), 0, 0, 0],
            ]
        )
        scale = np.array([1, max(root, 1), max(root, 1) ** 2, max(root, 1) ** 3])
        over = expm(along / PIECES) / scale[:, None] * scale
        fit = np.kron(np.eye(PIECES, PIECES + 1), over) - np.kron(np.eye(PIECES, PIECES + 1, 1), np.eye(4))
        sign, size = np.linalg.slogdet(fit[:, 2:-2])
        return float(sign * np.exp(size / (4 * PIECES)))

    found: list[float] = []
    left = 0.5
    while len(found) < count:  # omega grows with the square of `root` where the beam is slender
        right = left + 0.1
        if singular(left) * singular(right) < 0:
            found.append(brentq(singular, left, right, xtol=1e-15, rtol=1e-15) ** 2 * unit)
        left = right
    return np.array(found)
