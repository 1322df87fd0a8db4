"""Tolerances, and instructions to a driver about step sizes."""

import numpy as np
import pytest

from flexarm.codegen.driver import Driver
from flexarm.integrators.step_size import AFTER_JUMP, FIRST_STEP, SMALLEST_STEP, STEP_ERROR_SHARE, StepSize, Tolerance

TOLERANCE = Tolerance(rtol=1e-4, atol=0.0, length=1.0, horizon=1.0, mass=2.0)


def driver():
    return Driver(3, 1, 1, (0.5, 1.0), np.zeros(1), slice(1, 2), slice(2, 3), estimate=3, patience=2, capacity=4)


def test_fixed_steps_are_equal_and_reach_a_stop():
    control = StepSize(TOLERANCE, 1.0, fixed=0.03).instruct(driver(), 0.2, 0.3, longest=np.inf)
    assert control.dt == pytest.approx(0.1 / 4)
    assert control.is_fixed
    control = StepSize(TOLERANCE, 1.0, fixed=0.03).instruct(driver(), 0.0, 0.09, longest=0.01)
    assert control.dt == pytest.approx(0.01)


def test_what_a_driver_wants_next_is_kept_unless_steps_are_fixed():
    for fixed, kept in ((None, 0.5), (0.03, 0.03)):
        size, own = StepSize(TOLERANCE, 1.0, fixed), driver()
        size.instruct(own, 0.0, 1.0, np.inf)
        own.control.dt = 0.5
        size.learn(own.control)
        assert size.dt == kept


def test_steps_are_short_after_a_jump_unless_they_are_fixed():
    adaptive, fixed = StepSize(TOLERANCE, 1.0), StepSize(TOLERANCE, 1.0, fixed=1e-3)
    adaptive.dt = 1e-3
    for each in (adaptive, fixed):
        each.restart()
    assert (adaptive.dt, fixed.dt) == (pytest.approx(AFTER_JUMP * 1e-3), 1e-3)
    adaptive.dt = 100.0
    adaptive.restart()
    assert adaptive.dt == pytest.approx(AFTER_JUMP * FIRST_STEP)  # however long they were


def test_the_smallest_step_follows_the_duration():
    for duration in (1e-6, 1.0, 1e3):
        control = StepSize(TOLERANCE, duration).instruct(driver(), 0.0, duration, np.inf)
        assert control.smallest == pytest.approx(SMALLEST_STEP * min(1.0, duration))


def test_tolerance_is_a_length_of_which_steps_get_a_share():
    tolerance = Tolerance(rtol=1e-4, atol=1e-3, length=2.0, horizon=4.0, mass=3.0)
    assert tolerance.allowed == pytest.approx(1.2e-3)
    assert tolerance.share == pytest.approx(STEP_ERROR_SHARE * 1.2e-3)


def test_iterations_leave_less_the_longer_it_adds_up():
    short, long = (Tolerance(1e-4, 0.0, 1.0, horizon, mass=2.0) for horizon in (1.0, 10.0))
    assert long.solved == pytest.approx(short.solved / 100)  # an energy: the square of a rate
