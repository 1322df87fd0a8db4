"""Tolerances and step sizes."""

import numpy as np
import pytest

from flexarm.codegen.driver import CONTROL_TYPE, next_sizes
from flexarm.integrators.step_size import FIRST_STEP, STEP_ERROR_SHARE, StepSize, Tolerance

TOLERANCE = Tolerance(rtol=1e-4, atol=0.0, length=1.0, horizon=1.0, mass=2.0)


def control(**given):
    """Return the controls of one group: at t = 0, a stop at 1 s and steps of 0.3 s unless given."""
    out = np.zeros(1, CONTROL_TYPE)
    for name, value in {"stop": 1.0, "dt": 0.3, "longest": np.inf, **given}.items():
        out[name] = value
    return out


def test_the_last_steps_before_a_stop_are_equal():
    assert next_sizes(control(dt=0.3)) == pytest.approx(0.3)  # more than two steps are left
    assert next_sizes(control(dt=0.7)) == pytest.approx(0.5)
    assert next_sizes(control(dt=3.0, t=0.5)) == pytest.approx(0.5)


def test_steps_resolve_the_inputs_unless_their_size_is_fixed():
    assert next_sizes(control(longest=0.01)) == pytest.approx(0.01)
    assert next_sizes(control(longest=0.01, is_fixed=1)) == pytest.approx(0.3)


def test_the_first_step_is_the_fixed_one_or_follows_the_duration():
    assert StepSize(TOLERANCE, 1.0, fixed=0.03).first == 0.03
    for duration in (1e-6, 1.0, 1e3):
        assert StepSize(TOLERANCE, duration).first == pytest.approx(FIRST_STEP * min(1.0, duration))


def test_tolerance_is_a_length_of_which_steps_get_a_share():
    tolerance = Tolerance(rtol=1e-4, atol=1e-3, length=2.0, horizon=4.0, mass=3.0)
    assert tolerance.allowed == pytest.approx(1.2e-3)
    assert tolerance.share == pytest.approx(STEP_ERROR_SHARE * 1.2e-3)


def test_iterations_leave_less_the_longer_it_adds_up():
    short, long = (Tolerance(1e-4, 0.0, 1.0, horizon, mass=2.0) for horizon in (1.0, 10.0))
    assert long.solved == pytest.approx(short.solved / 100)  # an energy: the square of a rate
