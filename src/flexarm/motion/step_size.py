"""How long the next steps are, and which of those that were taken count."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from math import ceil, isfinite

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.motion.stepper import Limits, Stepper

SAFETY = 0.9
SHARE = 0.15  # of the tolerance for the largest error of a step, added up
SOLVED = 0.1  # of that for what an iteration leaves: it costs little to leave less
FIRST_STEP = 0.01  # s, and of the duration; a tenth of it where inputs kick the robot
SMALLEST_STEP = 1e-11  # s, and of a shorter duration: below this a run has met a singularity
SHRINK, GROW = 0.1, 8.0  # bounds of a change
WORTH_IT = 1.5  # a chunk ends for steps that are this much longer
SAFELY = 0.9  # of the longest step with which an explicit method is stable
AFTER_JUMP = 0.1  # of the steps before, or of the first: those that follow see what the jump started
ABSURD = 1e100  # a state beyond this is as good as not a number
NO_LIMIT = float(np.finfo(float).max)
SMALLEST_RTOL = 1e-13  # what rounding leaves of a tolerance
LARGEST_RTOL = 0.1  # of the robot's length: results with larger errors have no meaning


@dataclass
class Tolerance:
    """How far the links may be from where they should be: rtol times the robot's length, and atol (m).

    Errors tell what they add up to over the run, if every step made the same. Steps differ, so a share of what is
    allowed is given to them.
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
        return SHARE * self.allowed

    @property
    def solved(self) -> float:
        """Energy (J, twice) of rates that the iteration may miss."""
        rate = SOLVED * self.share / self.horizon
        return self.mass * rate * rate  # infinite at most: ** would raise


@dataclass(frozen=True)
class Verdict:
    """On a chunk of steps: the first `good` of `used` count. `peak` is the largest error, that of the first bad step if
    there is one, else of the last ones, in units of what is allowed; `unsolved` what the iteration left in each step,
    in such units."""

    used: int
    good: int
    peak: float
    unsolved: Array


class StepSize(ABC):
    """`dt` is the step that is wanted next; a stop may cut it short."""

    fixed: bool
    dt: float
    heeds_inputs = True  # steps are short enough to see them

    def __init__(self, tolerance: Tolerance) -> None:
        self.tolerance = tolerance

    @abstractmethod
    def plan(self, left: float, most: int, longest: float = np.inf) -> tuple[float, int]:
        """The size of the next steps and how many of them reach a stop that is `left` seconds away; the inputs are seen
        by steps up to the `longest`."""

    @abstractmethod
    def restart(self) -> None:
        """Take note of a jump that shakes the robot."""

    @abstractmethod
    def limits(self, size: float, stepper: Stepper) -> Limits:
        """At which a chunk of steps of this size may stop."""

    @abstractmethod
    def judge(self, stepper: Stepper, used: int) -> Verdict:
        """Which of the steps that were taken count."""

    @abstractmethod
    def adapt(self, verdict: Verdict, size: float, estimate: int) -> bool:
        """Choose the next `dt`; False where there is no way on."""

    def _measured(self, stepper: Stepper, used: int) -> tuple[Array, Array]:
        """Errors, infinite where states are absurd, and what the iteration left, in units of what is allowed."""
        share, allowed = self.tolerance.share, self.tolerance.allowed
        sound = (np.abs(stepper.states[:used]) < ABSURD).all(axis=1)
        error = np.where(sound, _largest(stepper.errors[:used]) / share, np.inf)
        return error, _largest(stepper.left[:used]) / allowed


class FixedStep(StepSize):
    """Steps of one size (as nearly as stops allow), whatever their error."""

    fixed = True
    heeds_inputs = False

    def __init__(self, tolerance: Tolerance, dt: float) -> None:
        super().__init__(tolerance)
        self.dt = dt

    def plan(self, left: float, most: int, longest: float = np.inf) -> tuple[float, int]:
        steps = _steps(left, min(self.dt, longest))
        return left / steps, steps

    def restart(self) -> None:
        """Its steps stay as they are."""

    def limits(self, size: float, stepper: Stepper) -> Limits:
        return Limits(NO_LIMIT, NO_LIMIT, 0.0, 1, self.tolerance.horizon, self.tolerance.solved)

    def judge(self, stepper: Stepper, used: int) -> Verdict:
        error, unsolved = self._measured(stepper, used)
        bad = np.isinf(error) | np.isinf(unsolved)
        good = int(bad.argmax()) if bad.any() else used
        return Verdict(used, good, 0.0, unsolved)

    def adapt(self, verdict: Verdict, size: float, estimate: int) -> bool:
        return verdict.good == verdict.used


class Intervals(FixedStep):
    """Of one size, too, but no longer than the inputs allow: what happens inside is the method's own affair."""

    heeds_inputs = True


class AdaptiveStep(StepSize):
    """Steps whose errors are as large as allowed, and not larger."""

    fixed = False

    def __init__(self, tolerance: Tolerance, duration: float) -> None:
        super().__init__(tolerance)
        self.duration = duration
        self.dt = FIRST_STEP * min(1.0, duration)

    def restart(self) -> None:
        self.dt = AFTER_JUMP * min(self.dt, FIRST_STEP * min(1.0, self.duration))

    def plan(self, left: float, most: int, longest: float = np.inf) -> tuple[float, int]:
        size = min(self.dt, longest)
        steps = _steps(left, size)
        return left / steps if steps <= most else size, steps

    def limits(self, size: float, stepper: Stepper) -> Limits:
        share = self.tolerance.share
        could_grow = size > self.dt / WORTH_IT  # a stop may have cut it short
        least = share * (SAFETY / WORTH_IT) ** stepper.estimate if could_grow else 0.0
        return Limits(
            share, self.tolerance.allowed, least, stepper.patience, self.tolerance.horizon, self.tolerance.solved
        )

    def judge(self, stepper: Stepper, used: int) -> Verdict:
        error, unsolved = self._measured(stepper, used)
        excess = np.maximum(error, unsolved)
        bad = ~(excess <= 1)
        good = int(bad.argmax()) if bad.any() else used
        peak = float(excess[good] if good < used else excess[-stepper.patience :].max())
        return Verdict(used, good, peak, unsolved)

    def adapt(self, verdict: Verdict, size: float, estimate: int) -> bool:
        change = SAFETY * max(verdict.peak, 1e-10) ** (-1 / estimate) if isfinite(verdict.peak) else SHRINK
        proposed = size * min(max(change, SHRINK), GROW)
        cut_short = size < self.dt
        if proposed < SMALLEST_STEP * min(1.0, self.duration) and not cut_short:
            self.dt = proposed
            return False
        well = verdict.good == verdict.used
        self.dt = max(self.dt, proposed) if well and cut_short else proposed
        return True


def _steps(left: float, dt: float) -> int:
    return max(1, ceil(left / dt - 1e-9))


def _largest(displacements: Array) -> Array:
    """Of each step's links; infinite where one is not a number."""
    worst = displacements.max(axis=1, initial=0.0)
    return np.where(np.isfinite(worst), worst, np.inf)
