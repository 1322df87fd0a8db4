"""Steps that all members of a batch share: good where they are good enough in every lane."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import ceil, isfinite
from typing import Any

import numpy as np

from flexarm.codegen.driver import LARGEST_CHANGE, SAFETY, SMALLEST_CHANGE
from flexarm.foundation.numbers import Array
from flexarm.motion.step_size import AFTER_JUMP, FIRST_STEP, SMALLEST_STEP, Tolerance

SHARE_OF_CHUNKS = 0.15  # of the tolerance for the largest error of equal steps: the others are smaller
WORTH_IT = 1.5  # a chunk ends for steps that are this much longer
NO_LIMIT = float(np.finfo(float).max)


@dataclass(frozen=True)
class Verdict:
    """On a chunk of steps: the first `good` of `used` count. `peak` is the largest error, that of the first bad step if
    there is one, else of the last ones, in units of what is allowed; `unsolved` what the iteration left in each step,
    in such units."""

    used: int
    good: int
    peak: float
    unsolved: Array


class SharedStepSize(ABC):
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
    def judge(self, stepper: Any, used: int) -> Verdict:
        """Which of the steps that were taken count."""

    @abstractmethod
    def adapt(self, verdict: Verdict, size: float, estimate: int) -> bool:
        """Choose the next `dt`; False where there is no way on."""

    def _measured(self, stepper: Any, used: int) -> tuple[Array, Array]:
        """Errors of the worst lane, and what the iteration left, in units of what is allowed; absurd states have
        infinite errors already."""
        error, left = stepper.measured(used)
        return error, left


class FixedStep(SharedStepSize):
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

    def judge(self, stepper: Any, used: int) -> Verdict:
        error, unsolved = self._measured(stepper, used)
        bad = np.isinf(error) | np.isinf(unsolved)
        good = int(bad.argmax()) if bad.any() else used
        return Verdict(used, good, 0.0, unsolved)

    def adapt(self, verdict: Verdict, size: float, estimate: int) -> bool:
        return verdict.good == verdict.used

    def least(self, size: float, estimate: int) -> float:
        return 0.0

    @property
    def most(self) -> float:
        return NO_LIMIT

    def begin_anew(self) -> None:
        """Its steps stay as they are."""


class AdaptiveStep(SharedStepSize):
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

    def judge(self, stepper: Any, used: int) -> Verdict:
        error, unsolved = self._measured(stepper, used)
        excess = np.maximum(error, unsolved)
        bad = ~(excess <= 1)
        good = int(bad.argmax()) if bad.any() else used
        peak = float(excess[good] if good < used else excess[-stepper.patience :].max())
        return Verdict(used, good, peak, unsolved)

    def adapt(self, verdict: Verdict, size: float, estimate: int) -> bool:
        change = SAFETY * max(verdict.peak, 1e-10) ** (-1 / estimate) if isfinite(verdict.peak) else SMALLEST_CHANGE
        proposed = size * min(max(change, SMALLEST_CHANGE), LARGEST_CHANGE)
        cut_short = size < self.dt
        if proposed < SMALLEST_STEP * min(1.0, self.duration) and not cut_short:
            self.dt = proposed
            return False
        well = verdict.good == verdict.used
        self.dt = max(self.dt, proposed) if well and cut_short else proposed
        return True

    def least(self, size: float, estimate: int) -> float:
        """The share of the allowed error below which longer steps should be tried."""
        could_grow = size > self.dt / WORTH_IT
        return float((SAFETY / WORTH_IT) ** estimate) if could_grow else 0.0

    @property
    def most(self) -> float:
        """Of the errors, as a share of what is allowed."""
        return 1.0

    def begin_anew(self) -> None:
        """After the lanes that wanted ever shorter steps are gone."""
        self.dt = FIRST_STEP * min(1.0, self.duration)
        self.restart()


def shared_steps(tolerance: Tolerance, duration: float, dt: float | None) -> AdaptiveStep | FixedStep:
    return AdaptiveStep(tolerance, duration) if dt is None else FixedStep(tolerance, dt)


def _steps(left: float, dt: float) -> int:
    return max(1, ceil(left / dt - 1e-9))
