"""Steps that all members of a batch share: good where they are good enough in every lane."""

from __future__ import annotations

from typing import Any

from flexarm.foundation.numbers import Array
from flexarm.motion.step_size import FIRST_STEP, NO_LIMIT, SAFETY, WORTH_IT, AdaptiveStep, FixedStep, Tolerance


class Shared:
    """Judged by the worst of all lanes; absurd states have infinite errors already."""

    def _measured(self, stepper: Any, used: int) -> tuple[Array, Array]:
        error, left = stepper.measured(used)
        return error, left


class SharedAdaptive(Shared, AdaptiveStep):
    """As of one run."""

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


class SharedFixed(Shared, FixedStep):
    """As of one run: errors do not matter, but that there are numbers."""

    def least(self, size: float, estimate: int) -> float:
        return 0.0

    @property
    def most(self) -> float:
        return NO_LIMIT

    def begin_anew(self) -> None:
        """Its steps stay as they are."""


def shared_steps(tolerance: Tolerance, duration: float, dt: float | None) -> SharedAdaptive | SharedFixed:
    return SharedAdaptive(tolerance, duration) if dt is None else SharedFixed(tolerance, dt)
