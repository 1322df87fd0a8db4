"""How far a run may be from the truth, and how long its steps are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil

from flexarm.codegen.driver import Driver, DriverControl

SHARE = 0.1  # of the tolerance for the largest error of a step, added up
SOLVED = 0.015  # of the tolerance for what iterations leave, added up: it costs little to leave less
FIRST_STEP = 0.01  # s, and of the duration; a tenth of it where inputs kick the robot
SMALLEST_STEP = 1e-11  # s, and of a shorter duration: below this a run has met a singularity
SAFELY = 0.9  # of the longest step with which an explicit method is stable
AFTER_JUMP = 0.1  # of the steps before, or of the first: those that follow see what the jump started
ABSURD = 1e100  # a state beyond this is as good as not a number
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
        rate = SOLVED * self.allowed / self.horizon
        return self.mass * rate * rate  # infinite at most: ** would raise


class StepSize:
    """The step that is wanted next (`dt`, s), and how a driver may change it.

    Parameters
    ----------
    tolerance : Tolerance
    duration : float
        Of the run (s).
    fixed : float or None
        The size of all steps (s), as nearly as breakpoints allow; None: errors are as large as allowed, not larger.
    follows_inputs : bool
        Whether steps are short enough to see the inputs.
    """

    def __init__(
        self, tolerance: Tolerance, duration: float, fixed: float | None = None, follows_inputs: bool = True
    ) -> None:
        self.tolerance, self.duration, self.follows_inputs = tolerance, duration, follows_inputs
        self.fixed = fixed is not None
        self.dt = FIRST_STEP * min(1.0, duration) if fixed is None else fixed

    def restart(self) -> None:
        """Take shorter steps after a jump that shakes the robot."""
        if not self.fixed:
            self.dt = AFTER_JUMP * min(self.dt, FIRST_STEP * min(1.0, self.duration))

    def instruct(self, driver: Driver, t: float, stop: float, longest: float) -> DriverControl:
        """Tell a driver how long steps from t to a stop may be; inputs and stability allow the `longest`."""
        tolerance, control = self.tolerance, driver.control
        driver.set_bounds(
            horizon=tolerance.horizon,
            solved=tolerance.solved,
            error_limit=tolerance.share,
            unsolved_limit=tolerance.allowed,
        )
        control.t, control.stop, control.longest, control.is_fixed = t, stop, longest, self.fixed
        control.smallest = SMALLEST_STEP * min(1.0, self.duration)
        control.dt = self.dt
        if self.fixed:
            control.dt = (stop - t) / max(1, ceil((stop - t) / min(self.dt, longest) - 1e-9))
        return control

    def learn(self, control: DriverControl) -> None:
        """Take the step that a driver wants next."""
        if not self.fixed:
            self.dt = control.dt
