import numpy as np
import pytest

from flexarm.motion.step_size import GROW, SHRINK, SMALLEST_STEP, AdaptiveStep, FixedStep, Tolerance, Verdict


class Stepped:
    """Steps that were taken, with these errors in units of what is allowed."""

    order, estimate, count = 2, 3, 10

    def __init__(self, step_size, errors, left=None, states=None):
        share, solved = step_size._allowed(self.order)
        self.errors = np.array(errors)[:, None] * share
        self.left = np.array(left or [0.0] * len(errors))[:, None] * solved
        self.states = np.zeros((len(errors), 3)) if states is None else np.array(states)


@pytest.fixture
def adaptive():
    return AdaptiveStep(Tolerance(1e-4, 0.0, 1.0), duration=1.0)


def test_steps_reach_a_stop_exactly(adaptive):
    adaptive.dt = 0.03
    size, steps = adaptive.plan(0.1, most=250)
    assert steps * size == pytest.approx(0.1)
    assert size <= 0.03
    assert adaptive.plan(100.0, most=250) == (0.03, 3334)  # far away: as long as errors want
    assert FixedStep(adaptive.tolerance, 0.03).plan(100.0, most=250) == (100.0 / 3334, 3334)


def test_steps_count_up_to_the_first_that_is_not_accurate_enough(adaptive):
    verdict = adaptive.judge(Stepped(adaptive, [0.5, 0.9, 1.1]), 3)
    assert (verdict.good, verdict.used) == (2, 3)
    assert verdict.peak == pytest.approx(1.1)
    assert adaptive.judge(Stepped(adaptive, [0.5, 0.9, 0.2]), 3).good == 3
    assert adaptive.judge(Stepped(adaptive, [0.5, np.nan]), 2).good == 1
    assert adaptive.judge(Stepped(adaptive, [0.5, 0.5], states=[[0] * 3, [1e200] * 3]), 2).good == 1


def test_what_the_iteration_left_counts_too_and_is_told_apart(adaptive):
    verdict = adaptive.judge(Stepped(adaptive, [0.5, 0.5], left=[0.1, 2.0]), 2)
    assert (verdict.good, verdict.struggles) == (1, True)
    assert not adaptive.judge(
        Stepped(adaptive, [0.5, 3.0], left=[0.1, 2.0]), 2
    ).struggles  # the step is too long anyway
    fixed = FixedStep(adaptive.tolerance, 0.1)
    assert fixed.judge(Stepped(fixed, [5.0, 5.0], left=[0.1, 2.0]), 2).struggles
    assert fixed.judge(Stepped(fixed, [5.0, 5.0]), 2).good == 2  # whatever their error
    assert fixed.judge(Stepped(fixed, [5.0, np.inf]), 2).good == 1


def changed(step_size, peak, size, good=3, used=3):
    step_size.dt = size
    went_on = step_size.adapt(Verdict(used, good, peak, np.zeros(used), False), size, estimate=3)
    return went_on, step_size.dt / size


def test_the_next_step_makes_the_error_that_is_allowed(adaptive):
    assert changed(adaptive, 0.5, 0.01)[1] == pytest.approx(0.9 * 0.5 ** (-1 / 3))
    assert changed(adaptive, 8.0, 0.01, good=0)[1] == pytest.approx(0.9 / 2)
    assert changed(adaptive, 1e-9, 0.01)[1] == GROW
    assert changed(adaptive, np.inf, 0.01, good=0)[1] == pytest.approx(SHRINK)


def test_a_stop_that_cuts_a_step_short_does_not_shorten_the_next(adaptive):
    adaptive.dt = 0.01
    adaptive.adapt(Verdict(1, 1, 0.5, np.zeros(1), False), 0.002, estimate=3)
    assert adaptive.dt == 0.01


def test_a_step_that_vanishes_ends_the_run(adaptive):
    assert not changed(adaptive, np.inf, 2 * SMALLEST_STEP, good=0)[0]
    assert changed(adaptive, np.inf, 20 * SMALLEST_STEP, good=0)[0]


def test_tolerance_is_shared_out_by_the_order_of_the_method():
    tolerance = Tolerance(1e-4, 1e-3, 2.0)
    assert tolerance.allowed == pytest.approx(1.2e-3)
    assert tolerance.share(2) == pytest.approx(0.1 * 1.2e-3 * (0.6e-3) ** 0.5)
