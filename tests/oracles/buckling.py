"""Lateral-torsional buckling of a cantilever with a deep, narrow section, loaded at its centroid.

Without deflection before buckling: GJ beta'' + M^2 / EI beta = 0 for the twist beta, with EI of bending sideways and M
the moment of the load in the stiff plane, P xi or q xi^2 / 2 at the distance xi from the tip; beta' = 0 there, beta = 0
at the root. With it, the bent rod is linearised where it stands (rod.py).
"""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp
from scipy.linalg import eigh
from scipy.optimize import brentq

from tests.oracles.rod import Rod, critical


def tip_load() -> float:
    """P L^2 / sqrt(EI GJ) of a load at the tip."""
    return _first(lambda xi: xi, 3.0, 5.0)


def own_weight() -> float:
    """q L^3 / sqrt(EI GJ) of a load per length."""
    return _first(lambda xi: xi**2 / 2, 10.0, 15.0)


def _first(moment, low: float, high: float) -> float:
    def at_root(load: float) -> float:
        rates = lambda xi, state: [state[1], -((load * moment(xi)) ** 2) * state[0]]  # noqa: E731
        return float(solve_ivp(rates, (0, 1), [1.0, 0.0], method="DOP853", rtol=1e-12, atol=1e-13).y[0, -1])

    return float(brentq(at_root, low, high, rtol=1e-12))


def own_weight_with_modes(n: int) -> float:
    """What Ritz's method makes of it with the first n modes of the bare cantilever in bending sideways and in twist:
    1/2 GJ beta'^2 + 1/2 EI w''^2 + q xi^2 / 2 beta w'' is stationary."""
    nodes, weights = np.polynomial.legendre.leggauss(60)
    x, dx = (nodes + 1) / 2, weights / 2
    bending, twist, slope = [], [], []
    for k in range(1, n + 1):
        b = brentq(lambda b: np.cos(b) + 1 / np.cosh(b), (k - 0.5) * np.pi - 0.4, (k - 0.5) * np.pi + 0.4)
        s = (np.sinh(b) - np.sin(b)) / (np.cosh(b) + np.cos(b))
        bending.append(np.cosh(b * x) + np.cos(b * x) - s * (np.sinh(b * x) + np.sin(b * x)))
        c = (k - 0.5) * np.pi
        twist.append(np.sin(c * x))
        slope.append(c * np.cos(c * x))
    W, B, dB = map(np.array, (bending, twist, slope))
    none = np.zeros((n, n))
    coupling = (W * dx * (1 - x) ** 2 / 2) @ B.T
    stiffness = np.block([[(W * dx) @ W.T, none], [none, (dB * dx) @ dB.T]])
    return 1 / float(eigh(np.block([[none, coupling], [coupling.T, none]]), stiffness, eigvals_only=True)[-1])


def with_deflection(weak: float, torsion: float, load: str = "tip") -> float:
    """The same with the deflection before buckling: `weak` = EI of bending sideways, `torsion` = GJ, both over that of
    bending in the plane of the load."""
    root = float(np.sqrt(weak * torsion))

    def loaded(size: float) -> Rod:
        force = (0.0, 0.0, -size * root)
        at = {"force": force} if load == "tip" else {"weight": force}
        return Rod(length=1.0, GJ=torsion, EI_y=1.0, EI_z=weak, **at)

    low, high = (3.0, 9.0) if load == "tip" else (10.0, 30.0)
    return critical(loaded, low, high)
