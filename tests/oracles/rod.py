"""A clamped spatial rod under dead loads: Kirchhoff's, or Reissner's where it stretches and shears.

Section axes R (x along the rod), axis r, moment m in the world; strains in section axes:

    r' = R (e_x + C_n^-1 R' n),   R' = R hat(kappa),   kappa = kappa_0 + C_m^-1 R' m,   m' = -r' x n,

where the force n(s) = tip force + weight beyond s is known, since loads are dead. What is not known is the root's
moment, by which the rod is shot at its tip.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import root

Vector = tuple[float, float, float]


@dataclass(frozen=True)
class Rod:
    """Uniform, along x from the origin when straight; `curvature` when there is no load. Flexibilities of zero mean
    that the rod does not stretch, or shear."""

    length: float
    GJ: float
    EI_y: float
    EI_z: float
    curvature: Vector = (0.0, 0.0, 0.0)
    force: Vector = (0.0, 0.0, 0.0)
    moment: Vector = (0.0, 0.0, 0.0)
    weight: Vector = (0.0, 0.0, 0.0)  # per length
    stretch: float = 0.0  # 1 / EA
    shear: float = 0.0  # 1 / kGA


@dataclass(frozen=True)
class Shape:
    """A rod in equilibrium, at some material points: axis (points, 3), section axes (points, 3, 3), moments in the
    world (points, 3)."""

    r: np.ndarray
    R: np.ndarray
    m: np.ndarray


def equilibrium(rod: Rod, x: np.ndarray | None = None, steps: int = 8) -> Shape:
    """With the loads put on in `steps`; at the points `x`, or the tip alone."""
    m, share = np.zeros(3), 0.0
    for share in np.linspace(0, 1, steps + 1)[1:]:
        m = _shot(rod, share, m)
    return _shape(_integrated(rod, 1.0, m, np.array([rod.length]) if x is None else x))


def tip_moments(rod: Rod, root_moment: np.ndarray) -> np.ndarray:
    """What the rod misses at its tip with some moment at its root; zero in equilibrium."""
    return _missed(rod, 1.0, root_moment)


def _shot(rod: Rod, share: float, guess: np.ndarray) -> np.ndarray:
    scale = min(rod.GJ, rod.EI_y, rod.EI_z) / rod.length
    found = root(lambda m: _missed(rod, share, m * scale) / scale, guess / scale, tol=1e-12)
    worst = np.abs(found.fun).max()
    if worst > 1e-8 * max(1.0, np.abs(found.x).max()):
        raise ArithmeticError(f"shooting for the rod missed the tip's moment by {worst:.1g} EI / L")
    return np.asarray(found.x * scale)


def _missed(rod: Rod, share: float, root_moment: np.ndarray) -> np.ndarray:
    ends = _integrated(rod, share, root_moment, np.array([rod.length]))
    return np.asarray(ends[7:, -1] - share * np.array(rod.moment))


def _integrated(rod: Rod, share: float, root_moment: np.ndarray, x: np.ndarray) -> np.ndarray:
    """(10, points): position, quaternion, moment."""
    force, weight = share * np.array(rod.force), share * np.array(rod.weight)
    give, turn = np.array([rod.stretch, rod.shear, rod.shear]), 1 / np.array([rod.GJ, rod.EI_y, rod.EI_z])
    bent, along = np.array(rod.curvature), np.array([1.0, 0.0, 0.0])

    def rates(s: float, state: np.ndarray) -> np.ndarray:
        q, m = state[3:7], state[7:]
        R, n = rotation(q), force + weight * (rod.length - s)
        dr = R @ (along + give * (R.T @ n))
        kappa = bent + turn * (R.T @ m)
        return np.concatenate([dr, 0.5 * _times(q, kappa), -np.cross(dr, n)])

    start = np.concatenate([np.zeros(3), [1.0, 0, 0, 0], root_moment])
    atol = np.concatenate([np.full(3, 1e-13 * rod.length), np.full(4, 1e-13), np.full(3, 1e-13 * max(turn) ** -1)])
    solved = solve_ivp(rates, (0, rod.length), start, method="DOP853", rtol=1e-12, atol=atol, t_eval=x)
    return np.asarray(solved.y)


def _shape(solved: np.ndarray) -> Shape:
    return Shape(solved[:3].T, np.array([rotation(q) for q in solved[3:7].T]), solved[7:].T)


def rotation(q: np.ndarray) -> np.ndarray:
    """Of a quaternion, scalar first, of any length."""
    w, x, y, z = q / np.sqrt(q @ q)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def _times(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Quaternion times vector."""
    return np.array(
        [
            -q[1] * v[0] - q[2] * v[1] - q[3] * v[2],
            q[0] * v[0] + q[2] * v[2] - q[3] * v[1],
            q[0] * v[1] + q[3] * v[0] - q[1] * v[2],
            q[0] * v[2] + q[1] * v[1] - q[2] * v[0],
        ]
    )


def critical(loaded: Callable[[float], Rod], low: float, high: float) -> float:
    """The load between two at which a rod loaded in its x-z plane gives way sideways: equilibrium out of the plane is
    then no longer determined, the tip's moments about x and z not a function of the root's that can be inverted."""
    from scipy.optimize import brentq

    def stays(load: float) -> float:
        rod = loaded(load)
        in_plane = equilibrium(rod, np.array([0.0])).m[0]
        step = 1e-5 * min(rod.GJ, rod.EI_z) / rod.length
        out = []
        for axis in (0, 2):
            change = step * np.eye(3)[axis]
            out.append((tip_moments(rod, in_plane + change) - tip_moments(rod, in_plane - change))[[0, 2]] / (2 * step))
        return float(np.linalg.det(np.array(out)))

    return float(brentq(stays, low, high, rtol=1e-10))
