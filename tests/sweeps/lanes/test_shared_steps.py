"""Steps that all members of a batch share."""

import numpy as np
import pytest

from flexarm.codegen.driver import LARGEST_CHANGE, SMALLEST_CHANGE
from flexarm.motion.step_size import AFTER_JUMP, SMALLEST_STEP, Tolerance
from flexarm.sweeps.lanes.shared_steps import AdaptiveStep, FixedStep, Verdict


class Stepped:
    """Steps that were taken, with these errors in units of what is allowed."""

    order, estimate, patience, count = 2, 3, 2, 10

    def __init__(self, step_size, errors, left=None):
        self.errors, self.left = np.array(errors), np.array(left or [0.0] * len(errors))

    def measured(self, used):
        return self.errors[:used], self.left[:used]


@pytest.fixture
def adaptive():
    return AdaptiveStep(Tolerance(rtol=1e-4, atol=0.0, length=1.0, horizon=1.0, mass=2.0), duration=1.0)


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


def test_errors_may_have_been_large_long_ago(adaptive):
    assert adaptive.judge(Stepped(adaptive, [0.9, 0.2, 0.1]), 3).peak == pytest.approx(0.2)


def test_what_the_iteration_left_counts_too(adaptive):
    verdict = adaptive.judge(Stepped(adaptive, [0.5, 0.5], left=[0.1, 2.0]), 2)
    assert (verdict.good, verdict.peak) == (1, pytest.approx(2.0))
    assert verdict.unsolved == pytest.approx([0.1, 2.0])


def test_fixed_steps_count_whatever_their_error_as_long_as_they_are_numbers(adaptive):
    fixed = FixedStep(adaptive.tolerance, 0.1)
    verdict = fixed.judge(Stepped(fixed, [5.0, 5.0], left=[0.1, 2.0]), 2)
    assert verdict.good == 2
    assert verdict.unsolved == pytest.approx([0.1, 2.0])  # and is told
    assert fixed.judge(Stepped(fixed, [5.0, np.inf]), 2).good == 1
    assert not fixed.adapt(fixed.judge(Stepped(fixed, [np.inf]), 1), 0.1, estimate=3)


def test_steps_are_no_longer_than_inputs_and_stability_allow(adaptive):
    adaptive.dt = 0.03
    assert adaptive.plan(0.1, most=250, longest=0.01) == (pytest.approx(0.01), 10)
    assert adaptive.plan(100.0, most=250, longest=0.01) == (0.01, 10_000)
    assert FixedStep(adaptive.tolerance, 0.03).plan(0.09, most=250, longest=0.01) == (pytest.approx(0.01), 9)


def test_steps_are_short_after_a_jump_unless_they_are_fixed(adaptive):
    adaptive.dt = 1e-3
    fixed = FixedStep(adaptive.tolerance, 1e-3)
    for each in (adaptive, fixed):
        each.restart()
    assert (adaptive.dt, fixed.dt) == (pytest.approx(AFTER_JUMP * 1e-3), 1e-3)
    first = AdaptiveStep(adaptive.tolerance, duration=1.0).dt
    adaptive.dt = 100 * first
    adaptive.restart()
    assert adaptive.dt <= first  # however long they were


def test_a_chunk_ends_for_longer_steps_only_where_they_would_be_longer_than_those_wanted(adaptive):
    adaptive.dt = 0.01
    assert 0 < adaptive.least(0.01, 3) < adaptive.most == 1
    assert adaptive.least(0.002, 3) == 0  # a stop cut it short


def changed(step_size, peak, size, good=3, used=3):
    step_size.dt = size
    went_on = step_size.adapt(Verdict(used, good, peak, np.zeros(used)), size, estimate=3)
    return went_on, step_size.dt / size


def test_the_next_step_makes_the_error_that_is_allowed(adaptive):
    assert changed(adaptive, 0.5, 0.01)[1] == pytest.approx(0.9 * 0.5 ** (-1 / 3))
    assert changed(adaptive, 8.0, 0.01, good=0)[1] == pytest.approx(0.9 / 2)
    assert changed(adaptive, 1e-9, 0.01)[1] == LARGEST_CHANGE
    assert changed(adaptive, np.inf, 0.01, good=0)[1] == pytest.approx(SMALLEST_CHANGE)


def test_a_stop_that_cuts_a_step_short_does_not_shorten_the_next(adaptive):
    adaptive.dt = 0.01
    adaptive.adapt(Verdict(1, 1, 0.5, np.zeros(1)), 0.002, estimate=3)
    assert adaptive.dt == 0.01
    adaptive.adapt(Verdict(1, 1, 1e-9, np.zeros(1)), 0.004, estimate=3)
    assert adaptive.dt == pytest.approx(LARGEST_CHANGE * 0.004)  # but what it tells of longer ones is heard


def test_a_step_that_vanishes_ends_the_run(adaptive):
    assert not changed(adaptive, np.inf, 2 * SMALLEST_STEP, good=0)[0]
    assert changed(adaptive, np.inf, 20 * SMALLEST_STEP, good=0)[0]
