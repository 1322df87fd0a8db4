"""How fast profiles are."""

import numpy as np
import pytest

import flexarm as fa
from flexarm.profiles.bandwidth import RESOLVED_PERIODS
from flexarm.profiles.parse import profile
from flexarm.profiles.standard import constant


def look(each, duration=10.0, order=0):
    return each.look(0.0, duration, order)[1]


@pytest.mark.parametrize(
    "calm",
    [
        constant(3.0),
        fa.bang_bang(2.0, (1.0, 2.5)),
        fa.ramp(1.0, 4.0, 2.0, 5.0),
        fa.sine(0.0, 100.0),
        fa.sine(1.0, 0.0),
        fa.chirp(0.0, 1.0, 2.0, 3.0),
        fa.spline([0, 1, 2, 3], [2.0, 2.0, 2.0, 2.0]),
        fa.spline(np.linspace(0, 10, 1001), 2 + 3 * np.linspace(0, 10, 1001)),
    ],
    ids=repr,
)
def test_what_does_not_turn_bounds_nothing(calm):
    assert look(calm).longest == look(calm, order=2).longest == np.inf


def test_waves_are_met_eight_times_a_period():
    assert look(fa.sine(1.0, 100.0)).longest == pytest.approx(0.00125)
    assert look(fa.sine(1.0, -100.0)).longest == pytest.approx(0.00125)
    assert look(fa.cycloid(0.0, 1.0, 2.0)).stretches.tolist() == [[0.0, 2.0, 0.25]]


@pytest.mark.parametrize(("start", "end"), [(1.0, 50.0), (50.0, 1.0), (-20.0, 20.0), (0.0, 100.0), (30.0, 30.0)])
def test_sweeps_are_as_fast_as_they_are_at_a_time(start, end):
    found = look(fa.chirp(1.0, start, end, 8.0)).stretches
    for t in np.linspace(0.01, 7.99, 200):
        frequency = abs(start + (end - start) * t / 8)
        longest = found[(found[:, 0] <= t) & (t <= found[:, 1]), 2].min()
        assert longest * frequency <= RESOLVED_PERIODS + 1e-12
        assert frequency < 3 or longest * frequency > 0.75 * RESOLVED_PERIODS
    assert found[:, 1].max() == 8.0


def test_splines_are_seen_from_knot_to_knot_where_they_turn():
    times = np.linspace(0, 10, 10001)
    pulse = look(fa.spline(times, np.where((times > 4) & (times < 4.005), 1.0, 0.0)))
    assert pulse.longest == pytest.approx(0.001)
    fast = pulse.stretches[pulse.stretches[:, 2] < 0.01]
    assert 3.9 < fast[:, 0].min() < fast[:, 1].max() < 4.1
    assert look(fa.spline(times, np.sin(times))).longest > 0.3  # dense knots on a slow curve
    assert look(fa.spline([0, 5, 10], [0.0, 1.0, 0.0]), order=2).longest >= 5.0


def test_knots_that_are_denser_than_probes_are_seen():
    times = np.sort(np.append(np.linspace(0, 10, 11), 5 + 1e-6 * np.arange(1, 9)))
    found = look(fa.spline(times, np.where((times > 5) & (times < 5.000005), 1.0, 0.0)))
    assert found.longest == pytest.approx(1e-6, rel=1e-3)


def test_profiles_inside_functions_tell_how_fast_they_are():
    wave = fa.sine(1e-9, 5000.0)  # too small to be noticed by probing
    assert look(profile(lambda t: 3.0 * t + wave(2 * t), "x"), 1.0).longest == pytest.approx(RESOLVED_PERIODS / 10000)


def test_pieces_of_the_users_are_probed():
    class Wiggle:
        def value(self, t, order):
            return np.sin(300 * t + order * np.pi / 2) * 300.0**order

    found = look(fa.Profile((0.0,), (Wiggle(),), "wiggle"), 1.0)
    assert 0.1 < found.longest * 300 / (2 * np.pi) < 0.4
