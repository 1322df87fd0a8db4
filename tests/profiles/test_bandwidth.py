"""Functions of t that can only be called."""

import math
from functools import partial

import numpy as np
import pytest

from flexarm.profiles.bandwidth import StepBounds
from flexarm.profiles.parse import profile


def look(function, duration=1.0, order=0):
    return profile(function, "x").look(0.0, duration, order)[1]


@pytest.mark.parametrize(
    "function",
    [lambda t: 2.0, lambda t: 2.0 if t < 9 else 0.0, lambda t: 3 * t, lambda t: np.sin(t) ** 2 + np.cos(t) ** 2],
)
def test_what_is_slow_bounds_nothing(function):
    found = look(function)
    assert (found.longest, found.jumps) == (np.inf, ())


@pytest.mark.parametrize("duration", [0.3, 1.0, 7.0])
@pytest.mark.parametrize("frequency", [3.0, 47.0, 333.3, 1000.0])
def test_a_wave_is_met_several_times_a_period(frequency, duration):
    for function in (lambda t: np.sin(2 * np.pi * frequency * t), lambda t: math.sin(2 * math.pi * frequency * t)):
        found = look(function, duration)
        assert 0.1 < found.longest * frequency < 0.4
        assert not found.unresolved


@pytest.mark.parametrize("count", [1, 2, 8, 64])
def test_a_wave_that_is_zero_at_all_even_probes_is_seen(count):
    found = look(lambda t: np.sin(2 * np.pi * count * 64 * t))
    assert found.longest < 0.4 / (64 * count)


def pulse(begin, t):
    return 1.0 if begin <= t < begin + 0.005 else 0.0


def test_jumps_are_found_to_the_last_digit():
    rng = np.random.default_rng(3)
    for duration in (0.2, 1.0, 30.0):
        begin = float(rng.uniform(0, 0.9 * duration))
        found = look(partial(pulse, begin), duration)
        assert found.jumps == (begin, begin + 0.005)
        assert found.longest == np.inf  # constant in between
    square = look(lambda t: np.sign(np.sin(2 * np.pi * 50 * t + 1)))
    assert square.jumps == pytest.approx((np.arange(1, 101) - 1 / np.pi) / 100, abs=1e-15)


def test_jumps_stand_out_of_what_else_happens():
    found = look(lambda t: math.sin(40 * t) + (0.1 if t >= 1 / 3 else 0.0))
    assert found.jumps == (1 / 3,)
    assert found.longest == look(lambda t: math.sin(40 * t)).longest
    assert look(lambda t: t % 0.25).jumps == (0.25, 0.5, 0.75)


def test_a_steep_rise_is_no_jump():
    found = look(lambda t: np.tanh(1e4 * (t - 0.4321)))
    assert not found.jumps
    assert found.longest < 2e-4
    assert 0.4 < found.fastest < 0.45


def test_only_the_fast_stretch_bounds_the_step():
    found = look(lambda t: math.exp(-(((t - 0.5) / 1e-3) ** 2)), 10.0)
    pace = StepBounds.of(found.stretches, 10.0)
    assert pace.ahead(0.5, 10.0)[0] < 1e-3
    assert pace.ahead(5.0, 10.0)[0] > 0.1
    assert pace.steps < 100


def test_what_comes_after_a_failure_does_not_matter():
    found = look(lambda t: math.sin(100 * t) * math.sqrt(2 - t), 10.0)
    assert found.longest < 0.4 * 2 * np.pi / 100
    assert found.stretches[:, 1].max() <= 2.0
    assert found.probes < 5000
    for nothing in (lambda t: 1.0 if t < 0.5 else math.nan, lambda t: 1.0 / (t < 0.5)):
        assert (look(nothing).longest, look(nothing).jumps) == (np.inf, ())
    assert look(lambda t: [1.0][int(t > 1e-5)]).longest == np.inf


def test_what_cannot_be_resolved_says_so():
    found = look(lambda t: (math.sin(1e7 * t) * 1e4) % 1.0)
    assert found.unresolved
    assert found.probes <= 1_100_000


def test_the_resolution_is_about_two_milliseconds_or_finer():
    assert look(lambda t: t, 1.0).resolution < 0.0025
    assert look(lambda t: t, 100.0).resolution < 0.0025
    assert look(lambda t: t, 0.1).resolution < 0.00025


def test_a_small_wave_after_a_hammer_is_seen():
    found = look(lambda t: 1000.0 * (t < 0.01) + 0.01 * np.sin(300 * t))
    pace = StepBounds.of(found.stretches, 1.0)
    assert pace.ahead(0.5, 1.0)[0] < 0.4 * 2 * np.pi / 300


def test_rates_of_functions_are_as_fast_as_these():
    def ripple(t):
        return math.sin(t) + 1e-6 * math.sin(2 * math.pi * 200 * t)  # seen in the accelerations alone

    fit, found = profile(ripple, "x").look(0.0, 1.0, 2)
    assert found.longest < 0.4 / 200
    assert look(ripple).longest > 0.1

    def fast(t):
        return math.sin(2 * math.pi * 400 * t)

    fit, _ = profile(fast, "x").look(0.0, 0.1, 2)
    times = np.linspace(0.01, 0.09, 50)
    assert fit(times, 2) == pytest.approx(
        -((800 * np.pi) ** 2) * np.sin(800 * np.pi * times), abs=1e-3 * (800 * np.pi) ** 2
    )
