"""Inputs that are faster than the steps which a run would like to take, on a rigid link whose angle is known."""

import math
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa

ROD = fa.System(fa.Robot(links=[fa.Link("a", 1.0, mass=3.0)]), native=False)  # its inertia about the joint is one
METHODS = ("generalized-alpha", "esdirk", "rk45")
RTOL = 1e-4


def run(torque=None, duration=1.0, **options):
    options.setdefault("sample", duration)
    return fa.simulate(ROD, duration, torque=None if torque is None else {"a": torque}, native=False, **options)


def angle(*arguments, **options):
    return float(run(*arguments, **options)["a.q"].values[-1])


def sine_angle(frequency, phase, duration):
    w = 2 * np.pi * frequency
    return np.cos(phase) / w * duration - (np.sin(w * duration + phase) - np.sin(phase)) / w**2


def integral(function, duration, edges=()):
    """Of (T - t) function: the angle, by Gauss between many points."""
    t = np.union1d(np.linspace(0, duration, 20001), edges)
    x, w = np.polynomial.legendre.leggauss(5)
    half = np.diff(t)[:, None] / 2
    times = t[:-1, None] + half * (1 + x)
    return float(((duration - times) * function(times.ravel()).reshape(times.shape) * half * w).sum())


def pulse_at(begin, t):
    return 20.0 if begin <= t < begin + 0.005 else 0.0


def bump_at(begin, t):
    return 20 * math.exp(-(((t - begin) / 2e-3) ** 2))


def test_a_sine_that_looks_like_a_constant_to_the_first_steps():
    for method in (*METHODS, "rk4"):
        assert angle(fa.sine(1.0, 100.0, phase=np.pi / 2), method=method) == pytest.approx(0.0, abs=RTOL)
    for method in ("adams", "bdf"):  # which keep their tolerance in a step
        assert angle(fa.sine(1.0, 100.0, phase=np.pi / 2), method=method) == pytest.approx(0.0, abs=10 * RTOL)


@pytest.mark.parametrize("method", METHODS)
def test_sines_of_all_frequencies(method):
    """88 for each method, by their exact angles."""
    ratios = []
    for frequency in (1.0, 3.3, 10.0, 20.0, 33.3, 50.0, 99.9, 100.0, 200.0, 300.0, 1000.0):
        for phase in np.arange(4) * np.pi / 4:
            for duration in (0.1, 0.2) if frequency > 200 else (0.1, 0.5):
                found = angle(fa.sine(1.0, frequency, phase=phase), duration, method=method)
                ratios.append(abs(found - sine_angle(frequency, phase, duration)) / RTOL)
    assert np.mean(np.array(ratios) < 1) > 0.95
    assert max(ratios) < 2


@pytest.mark.parametrize("method", METHODS)
def test_pulses_anywhere_in_functions_splines_and_loads(method):
    rng = np.random.default_rng(5)
    for begin in rng.uniform(0.01, 0.98, 3).tolist():
        pulse, bump = partial(pulse_at, begin), partial(bump_at, begin)
        exact = 20 * 0.005 * (1 - begin - 0.0025)
        assert angle(pulse, method=method) == pytest.approx(exact, rel=1e-9)
        assert angle(bump, method=method) == pytest.approx(integral(np.vectorize(bump), 1.0), abs=1.5 * RTOL)
        knots = np.linspace(0, 1, 1001)
        curve = fa.spline(knots, [pulse(t) for t in knots])
        assert angle(curve, method=method) == pytest.approx(integral(curve, 1.0, knots), abs=1.5 * RTOL)
        load = fa.PointLoad("a", torque=(0, 0, pulse))
        assert angle(loads=[load], method=method) == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_chirps_beats_and_noise(method):
    rng = np.random.default_rng(8)
    one, two = rng.uniform(10, 80, 2)
    knots = np.linspace(0, 0.5, 101)
    for function in (
        fa.chirp(5.0, 1.0, 150.0, 0.5),
        lambda t: 5 * np.sin(2 * np.pi * one * t) * np.cos(2 * np.pi * two * t + 1),
        fa.spline(knots, rng.normal(size=101)),
    ):
        assert angle(function, 0.5, method=method) == pytest.approx(integral(function, 0.5, knots), abs=2 * RTOL)


@pytest.mark.parametrize("kind", ["formula", "called"])
def test_driven_motions_are_seen_with_their_rates(kind):
    """A shake that is small as an angle, but not as an acceleration."""
    arm = fa.System(fa.Robot(links=[fa.Link("a", 1.0, mass=1.0), fa.Link("b", 1.0, mass=1.0)]), native=False)
    w = 2 * np.pi * 100
    sine = np.sin if kind == "formula" else math.sin
    shake, known = (lambda t: 1e-3 * sine(w * t)), fa.sine(1e-3, 100.0)
    ends = [
        fa.simulate(arm, 0.3, motion={"a": each}, method="rk45", native=False, sample=0.3)["b.q"].values[-1]
        for each in (shake, known)
    ]
    assert ends[0] == pytest.approx(ends[1], abs=RTOL)
    tight = fa.simulate(arm, 0.3, motion={"a": known}, method="rk45", rtol=1e-8, native=False, sample=0.3)
    assert ends[1] == pytest.approx(tight["b.q"].values[-1], abs=RTOL)


def test_a_motion_that_jumps_is_refused_also_as_a_function():
    with pytest.raises(ValueError, match=r"motion\.a = .*: jumps by 1 rad at t = 0\.5 s, which no joint can follow"):
        run(motion={"a": lambda t: 1.0 if t >= 0.5 else 0.0})


def test_a_laws_own_formula_of_time_is_seen():
    def law(t, q, v):
        return [np.cos(2 * np.pi * 100 * t) + np.where(t < 0.3333, 1.0, 0.0)]

    found = float(fa.simulate(ROD, 1.0, torque=law, method="rk45", native=False)["a.q"].values[-1])
    assert found == pytest.approx(0.3333 * (1 - 0.3333 / 2), abs=1e-6)
    delayed = fa.sine(1.0, 50.0, phase=np.pi / 2)
    found = fa.simulate(ROD, 1.0, torque=lambda t, q, v: [delayed(2 * t - 0.005)], native=False)
    assert found["a.q"].values[-1] == pytest.approx(sine_angle(100.0, 0.0, 1.0), abs=2 * RTOL)


def test_what_is_slow_takes_as_many_steps_as_ever():
    """Also as a function: its jumps are step boundaries, its constants cost nothing."""
    known = run(fa.bang_bang(1.0, (0.3, 0.6))).statistics
    called = run(lambda t: 1.0 if t < 0.3 else -1.0 if t < 0.6 else 0.0).statistics
    assert called["steps"] == known["steps"]
    assert (known["longest_step_by_inputs"], known["input_resolution"], known["input_probes"]) == (None, None, 0)
    assert called["longest_step_by_inputs"] is None
    assert 0 < called["input_resolution"] < 0.0025
    assert 500 < called["input_probes"] < 2000


def test_the_step_that_was_wanted_comes_back_after_a_fast_stretch():
    found = run(lambda t: 1e-9 * math.exp(-(((t - 0.5) / 1e-3) ** 2)), 2.0, sample=1e-3).statistics
    assert found["smallest_step"] < 1e-3
    assert found["steps"] < 400  # the stretch takes some fifty
    assert found["largest_step"] > 0.01


def test_assumptions_are_in_the_statistics():
    found = run(fa.sine(1.0, 100.0), 0.1, method="rk45").statistics
    assert found["longest_step_by_inputs"] == pytest.approx(0.00125)
    assert found["largest_step"] <= 0.00125 + 1e-12
    ends_only = run(fa.sine(1.0, 100.0), 0.1, method="generalized-alpha").statistics  # inputs are seen less often
    assert ends_only["longest_step_by_inputs"] == pytest.approx(0.000625)


def test_a_fixed_step_that_does_not_see_an_input_is_doubted():
    with pytest.warns(
        fa.ValidityWarning, match=r"dt = 0\.01: the torque of 'a' is so fast .* only steps up to 0\.00125 s"
    ):
        found = run(fa.sine(1.0, 100.0), 0.1, dt=0.01)
    assert found.statistics["steps"] == 10


def test_an_input_that_would_take_forever_is_refused():
    with pytest.raises(ValueError, match=r"the torque of 'a' is so fast .*: that makes 8e\+08 of the duration, 100 s"):
        run(fa.sine(1.0, 1e6), 100.0)


def test_a_function_that_cannot_be_resolved_is_doubted():
    with pytest.warns(fa.ValidityWarning, match="the torque of 'a' is faster than could be found out by calling it"):
        run(lambda t: 1e-9 * ((math.sin(1e7 * t) * 1e4) % 1.0), 0.01, dt=1e-6)


def test_samples_of_a_seen_input_are_on_the_known_path():
    found = run(fa.sine(1.0, 20.0), 0.5, method="rk45", sample=0.01)
    times = found.time.values
    assert_allclose(found["a.q"].values, [sine_angle(20.0, 0.0, t) for t in times], atol=RTOL)
