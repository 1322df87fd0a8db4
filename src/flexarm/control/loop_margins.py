"""How far a loop is from instability: gain, phase and distance from -1, one input opened at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from flexarm.analysis.state_space import StateSpace
from flexarm.control.riccati import python_control
from flexarm.foundation.numbers import Array

if TYPE_CHECKING:
    from flexarm.control.linear_law import Matrices

DECADES = 3  # beyond the slowest and the fastest pole
_WIDTHS = np.geomspace(1e-2, 30, 40)
SPREAD = np.concatenate([-_WIDTHS[::-1], _WIDTHS])  # around resonances, in their widths


@dataclass(frozen=True)
class Margins:
    """gain: by which factor the loop's gain may change before it is unstable (above 1: grow; below: fall; inf: any).
    phase: by how much it may lag (rad; a negative one: lead). distance: of the loop's frequency response from -1,
    at the least."""

    gain: float
    phase: float
    distance: float


def margins_of(plant: StateSpace, C: Array, D: Array, own: Matrices, k: int, dt: float | None) -> Margins:
    """Of the loop opened at the input k, the others closed."""
    library = python_control("margins")
    frequencies = _frequencies(plant.A, own.A, dt)
    points = 1j * frequencies if dt is None else np.exp(1j * frequencies * dt)
    response = np.array([_loop(z, plant, C, D, own, k) for z in points])
    data = np.abs(response), np.degrees(np.unwrap(np.angle(response))), frequencies
    gain, phase, distance, *_ = library.stability_margins(data)
    return Margins(float(gain), float(np.radians(phase)), float(min(distance, np.abs(1 + response).min())))


def _loop(z: complex, plant: StateSpace, C: Array, D: Array, own: Matrices, k: int) -> complex:
    """Minus what comes back as command of the input k, per unit given to it."""
    P = C @ np.linalg.solve(z * np.eye(len(plant.A)) - plant.A, plant.B) + D
    # the law: (z - A) s = B y + H u, u = C s + D y; the opened input's own observer sees its command
    if len(own.A):
        inner = np.linalg.solve(z * np.eye(len(own.A)) - own.A, np.hstack([own.B, own.H]))
        by_y, by_u = own.C @ inner[:, : own.B.shape[1]] + own.D, own.C @ inner[:, own.B.shape[1] :]
    else:
        by_y, by_u = own.D, np.zeros((len(own.D), len(own.D)))
    K = np.linalg.solve(np.eye(len(by_u)) - by_u, by_y)  # u = K y, observers fed by what is commanded
    L = -K @ P
    others = [j for j in range(len(L)) if j != k]
    if not others:
        return complex(L[k, k])
    closed = np.linalg.solve(np.eye(len(others)) + L[np.ix_(others, others)], L[np.ix_(others, [k])])
    return complex(L[k, k] - (L[np.ix_([k], others)] @ closed)[0, 0])


def _frequencies(A: Array, own: Array, dt: float | None) -> Array:
    """rad/s, dense around resonances."""
    poles = np.concatenate([np.linalg.eigvals(A), np.linalg.eigvals(own) if len(own) else np.zeros(0)])
    if dt is not None:
        poles = np.log(poles[np.abs(poles) > 1e-12].astype(complex)) / dt
    sizes = np.abs(poles)
    sizes = sizes[sizes > 1e-6 * max(sizes.max(initial=0.0), 1e-300)]
    if not len(sizes):
        sizes = np.array([1.0 if dt is None else 0.1 / dt])
    low, high = sizes.min() * 10.0**-DECADES, sizes.max() * 10.0**DECADES
    around = [abs(p) + SPREAD * max(abs(p.real), 1e-4 * abs(p)) for p in poles if abs(p.imag) > abs(p.real)]
    every = np.unique(np.concatenate([np.geomspace(low, high, 2000), *around]))
    most = np.inf if dt is None else np.pi / dt
    return np.asarray(every[(every > low) & (every < most)])
