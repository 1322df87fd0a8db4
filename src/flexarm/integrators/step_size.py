"""Step sizes: tolerance of a run, choice of step sizes, and modes of small motions that bound explicit steps."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.validation import Array
from flexarm.integrators.plant import Plant

MOST_COORDINATES = 80  # beyond this the modes of a robot take longer than they are worth
REST_TOLERANCE = 1e-12  # of the other modes' motion
IMMOBILE_TOLERANCE = 1e-12  # of the largest mobility: what constraints hold


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
class LocalSpectrum:
    """Modes of small motions about a state: undamped frequencies (rad/s), damping between modes (1/s) and modal
    transformation.
    """

    frequencies: Array
    damping: Array
    to_modes: Array
    shapes: Array

    @staticmethod
    def of(mobility: Array, K: Array, D: Array) -> LocalSpectrum:
        if not all(np.isfinite(each).all() for each in (mobility, K, D)):  # whoever steps there will find out
            mobility, K, D = np.zeros((3, 0, 0))
        sizes, axes = np.linalg.eigh((mobility + mobility.T) / 2)
        free = sizes > IMMOBILE_TOLERANCE * sizes.max(initial=0.0)
        roots, axes = np.sqrt(sizes[free]), axes[:, free]
        squares, turned = np.linalg.eigh((axes * roots).T @ K @ (axes * roots))
        shapes = (axes * roots) @ turned
        damping = shapes.T @ D @ shapes
        return LocalSpectrum(np.sqrt(np.maximum(squares, 0.0)), damping, turned.T @ (axes / roots).T, shapes)

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

    def moving(self, v: Array, a: Array) -> LocalSpectrum:
        """Return the modes that take part in a motion: a mode at rest cannot become unstable."""
        if not len(self.frequencies):  # unknown
            return self
        parts = np.abs(np.stack([self.to_modes @ v, self.to_modes @ a]))
        share = parts / np.maximum(parts.max(axis=1, keepdims=True, initial=0.0), np.finfo(float).tiny)
        moves = share.max(axis=0) > REST_TOLERANCE
        damping = self.damping[np.ix_(moves, moves)]
        return LocalSpectrum(self.frequencies[moves], damping, self.to_modes[moves], self.shapes[:, moves])


STEP_ERROR_SHARE = 0.1  # of the tolerance for the largest error of a step, added up
SOLVER_ERROR_SHARE = 0.015  # of the tolerance for what iterations leave, added up: it costs little to leave less
FIRST_STEP = 0.01  # s, and of the duration; a tenth of it where inputs kick the robot
SMALLEST_STEP = 1e-11  # s, and of a shorter duration: below this a run has met a singularity
STABILITY_FACTOR = 0.9  # of the longest step with which an explicit method is stable
AFTER_JUMP = 0.1  # of the steps before, or of the first: those that follow see what the jump started
ABSURD_STATE = 1e100  # a state beyond this is as good as not a number
SMALLEST_RTOL = 1e-13  # what rounding leaves of a tolerance
LARGEST_RTOL = 0.1  # of the robot's length: results with larger errors have no meaning


@dataclass
class Tolerance:
    """Allowed position error of the links: rtol times the robot's length, and atol (m).

    Error estimates are accumulated over the run as if all steps made the same error. Steps differ, so they get a share
    of the allowed error.
    """

    rtol: float
    atol: float
    length: float
    horizon: float  # s: how long errors add up
    mass: float  # kg, of the lightest link that matters

    @property
    def allowed(self) -> float:
        return self.rtol * self.length + self.atol

    def divided(self, by: float) -> Tolerance:
        return replace(self, rtol=self.rtol / by, atol=self.atol / by)

    @property
    def share(self) -> float:
        return STEP_ERROR_SHARE * self.allowed

    @property
    def solved(self) -> float:
        """Energy (J, twice) of rates that the iteration may miss."""
        rate = SOLVER_ERROR_SHARE * self.allowed / self.horizon
        return self.mass * rate * rate  # infinite at most: ** would raise


@dataclass(frozen=True)
class StepSize:
    """Tolerance of the steps of a run and, for fixed steps, their size.

    Parameters
    ----------
    duration : float
        Of the run (s).
    fixed : float or None
        Size of all steps (s), as nearly as stops allow; None: errors are controlled.
    follows_inputs : bool
        True if steps must resolve the inputs.
    """

    tolerance: Tolerance
    duration: float
    fixed: float | None = None
    follows_inputs: bool = True

    @property
    def first(self) -> float:
        """Size of the first step (s)."""
        return FIRST_STEP * min(1.0, self.duration) if self.fixed is None else self.fixed
