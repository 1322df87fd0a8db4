"""Lateral-torsional buckling of a cantilever with a deep, narrow section, loaded at its centroid.

Without deflection before buckling: GJ beta'' + M^2 / EI beta = 0 for the twist beta, with EI of bending sideways and M
the moment of the load in the stiff plane, P xi or q xi^2 / 2 at the distance xi from the tip; beta' = 0 there, beta = 0
at the root. With it, the bent rod is linearised where it stands (rod.py).
"""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp
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
