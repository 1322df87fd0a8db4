"""How long the next steps are, and which of those that were taken count."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.motion.stepper import Stepper

SAFETY = 0.9
FIRST_STEP = 0.01  # s, and of the duration: long, since the error control is quick to shorten it
SMALLEST_STEP = 1e-11  # s, and of a shorter duration: below this a run has met a singularity
SHRINK, GROW = 0.1, 4.0  # bounds of a change
ABSURD = 1e100  # a state beyond this is as good as not a number
UNSOLVED = 0.03  # s^2: how long an acceleration that the iteration still corrects is thought to act, squared
NO_LIMIT = float(np.finfo(float).max)


@dataclass
class Tolerance:
    """How far the links may be from where they should be: rtol times the robot's length, and atol (m).

    A step may add its share, a tenth of that times rtol ** (1 / order): a method of that order then ends with errors in
    proportion to rtol. The share does not shrink with the step as an error per second would: the vibration of stiff
    links that no step resolves is bounded by its amplitude, however many steps there are.
    """

    rtol: float
    atol: float
    length: float

    @property
    def allowed(self) -> float:
        return self.rtol * self.length + self.atol

    def share(self, order: int) -> float:
        return float(0.1 * self.allowed * (self.allowed / self.length) ** (1 / order))


@dataclass(frozen=True)
class Verdict:
    """On a chunk of steps: the first `good` of `used` count. `peak` is the largest error, that of the first bad step if
    there is one, in units of what is allowed; `unsolved` what the iteration left in each step, in such units."""

    used: int
    good: int
    peak: float
    unsolved: Array
    struggles: bool  # the iteration, not the step, is at fault


class StepSize(ABC):
    """`dt` is the step that is wanted next; a stop may cut it short."""

    fixed: bool
    dt: float

    def __init__(self, tolerance: Tolerance) -> None:
        self.tolerance = tolerance

    @abstractmethod
    def plan(self, left: float, most: int) -> tuple[float, int]:
        """The size of the next steps and how many of them reach a stop that is `left` seconds away."""

    @abstractmethod
    def limits(self, order: int) -> tuple[float, float]:
        """Errors and accelerations left by the iteration at which a chunk may stop."""

    @abstractmethod
    def judge(self, stepper: Stepper, used: int) -> Verdict:
        """Which of the steps that were taken count."""

    @abstractmethod
    def adapt(self, verdict: Verdict, size: float, estimate: int) -> bool:
        """Choose the next `dt`; False where there is no way on."""

    def _measured(self, stepper: Stepper, used: int) -> tuple[Array, Array, Any]:
        """Errors and what the iteration left in units of what is allowed; which states are absurd."""
        error, left = self._allowed(stepper.order)
        absurd = ~(np.abs(stepper.states[:used]) < ABSURD).all(axis=1)
        return _largest(stepper.errors[:used]) / error, _largest(stepper.left[:used]) / left, absurd

    def _allowed(self, order: int) -> tuple[float, float]:
        return self.tolerance.share(order), self.tolerance.allowed / UNSOLVED


class FixedStep(StepSize):
    """Steps of one size (as nearly as stops allow), whatever their error."""

    fixed = True

    def __init__(self, tolerance: Tolerance, dt: float) -> None:
        super().__init__(tolerance)
        self.dt = dt

    def plan(self, left: float, most: int) -> tuple[float, int]:
        steps = _steps(left, self.dt)
        return left / steps, steps

    def limits(self, order: int) -> tuple[float, float]:
        return NO_LIMIT, NO_LIMIT

    def judge(self, stepper: Stepper, used: int) -> Verdict:
        error, unsolved, absurd = self._measured(stepper, used)
        bad = absurd | np.isinf(error) | np.isinf(unsolved)
        good = int(bad.argmax()) if bad.any() else used
        return Verdict(used, good, 0.0, unsolved, bool(unsolved.max(initial=0.0) > 1))

    def adapt(self, verdict: Verdict, size: float, estimate: int) -> bool:
        return verdict.good == verdict.used


class AdaptiveStep(StepSize):
    """Steps whose errors are as large as allowed, and not larger."""

    fixed = False

    def __init__(self, tolerance: Tolerance, duration: float) -> None:
        super().__init__(tolerance)
        self.duration = duration
        self.dt = FIRST_STEP * min(1.0, duration)

    def plan(self, left: float, most: int) -> tuple[float, int]:
        steps = _steps(left, self.dt)
        return left / steps if steps <= most else self.dt, steps

    def limits(self, order: int) -> tuple[float, float]:
        return self._allowed(order)

    def judge(self, stepper: Stepper, used: int) -> Verdict:
        error, unsolved, absurd = self._measured(stepper, used)
        struggles = bool(unsolved.max(initial=0.0) > max(1.0, error.max(initial=0.0)))
        excess = np.where(absurd, np.inf, np.maximum(error, unsolved))
        bad = ~(excess <= 1)
        good = int(bad.argmax()) if bad.any() else used
        peak = float(excess[good] if good < used else excess.max())
        return Verdict(used, good, peak, unsolved, struggles)

    def adapt(self, verdict: Verdict, size: float, estimate: int) -> bool:
        change = SAFETY * max(verdict.peak, 1e-10) ** (-1 / estimate) if np.isfinite(verdict.peak) else SHRINK
        proposed = size * float(np.clip(change, SHRINK, GROW))
        cut_short = size < self.dt
        if proposed < SMALLEST_STEP * min(1.0, self.duration) and not cut_short:
            self.dt = proposed
            return False
        well = verdict.good == verdict.used
        self.dt = max(self.dt, proposed) if well and cut_short else proposed
        return True


def _steps(left: float, dt: float) -> int:
    return max(1, int(np.ceil(left / dt - 1e-9)))


def _largest(displacements: Array) -> Array:
    """Of each step's links; infinite where one is not a number."""
    worst = displacements.max(axis=1, initial=0.0)
    return np.where(np.isfinite(worst), worst, np.inf)
