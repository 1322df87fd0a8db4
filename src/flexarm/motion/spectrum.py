"""How fast a robot can move where it is: the modes of small motions, for choosing a method and bounding its steps."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.numbers import Array
from flexarm.motion.plant import Plant

MOST_COORDINATES = 80  # beyond this the modes of a robot take longer than they are worth
STILL = 1e-12  # of the other modes' motion
IMMOBILE = 1e-12  # of the largest mobility: what constraints hold


def small_motions(plant: Plant) -> ca.Function:
    """(q, v, u, numbers) -> M^-1 (along the constraints), K and D at the free coordinates; empty where these are too
    many."""
    q, v, u = (ca.MX.sym(name, size) for name, size in zip("qvu", (plant.n, plant.n, plant.input_count)))
    count = len(plant.free)
    if plant.shared is not None or count > MOST_COORDINATES:
        return plant.step_function("small_motions", [q, v, u], [ca.MX(0, 0)] * 3)
    factors, solver = plant.factor(q, v, u, 0, 0), plant.constraint_solver
    constrained = None if solver is None else solver.at(q, factors)

    def answer(force: Any) -> Any:
        found = plant.substitute(factors, force)
        return found if constrained is None else constrained.along(found)

    mobility = ca.horzcat(*(answer(ca.DM.eye(count)[:, k]) for k in range(count)))
    return plant.step_function("small_motions", [q, v, u], [mobility, *plant.slopes(q, v, u)])


@dataclass(frozen=True)
class Spectrum:
    """Of small motions about a state, by the frequencies (rad/s) of their undamped modes, the damping between these
    (1/s), and what turns a vector of coordinates into one of modes, and back."""

    frequencies: Array
    damping: Array
    to_modes: Array
    shapes: Array

    @staticmethod
    def of(mobility: Array, K: Array, D: Array) -> Spectrum:
        if not all(np.isfinite(each).all() for each in (mobility, K, D)):  # whoever steps there will find out
            mobility, K, D = np.zeros((3, 0, 0))
        sizes, axes = np.linalg.eigh((mobility + mobility.T) / 2)
        free = sizes > IMMOBILE * sizes.max(initial=0.0)
        roots, axes = np.sqrt(sizes[free]), axes[:, free]
        squares, turned = np.linalg.eigh((axes * roots).T @ K @ (axes * roots))
        shapes = (axes * roots) @ turned
        damping = shapes.T @ D @ shapes
        return Spectrum(np.sqrt(np.maximum(squares, 0.0)), damping, turned.T @ (axes / roots).T, shapes)

    @cached_property
    def rates(self) -> Any:
        """Complex rates of the motions (1/s)."""
        n = len(self.frequencies)
        if not self.damping.any():
            return 1j * self.frequencies
        stiff = np.diag(self.frequencies**2)
        return np.linalg.eigvals(np.block([[np.zeros((n, n)), np.eye(n)], [-stiff, -self.damping]]))

    @property
    def decays(self) -> Array:
        """Rates at which the modes decay (1/s)."""
        return np.abs(np.diag(self.damping)) / 2

    def moving(self, v: Array, a: Array) -> Spectrum:
        """Of the modes that take part in a motion: one that stands still cannot become unstable."""
        if not len(self.frequencies):  # unknown
            return self
        parts = np.abs(np.stack([self.to_modes @ v, self.to_modes @ a]))
        share = parts / np.maximum(parts.max(axis=1, keepdims=True, initial=0.0), np.finfo(float).tiny)
        moves = share.max(axis=0) > STILL
        damping = self.damping[np.ix_(moves, moves)]
        return Spectrum(self.frequencies[moves], damping, self.to_modes[moves], self.shapes[:, moves])
