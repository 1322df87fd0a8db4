"""Actuators make of commands what they are said to make."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

import flexarm as fa
from flexarm.feedback.actuators import HeldTorques

ROD = fa.Robot("rod", links=[fa.Link("a", 1.0, mass=3.0)])  # 1 kg m2
RATE = 50.0


def run(law, actuator, rate=None, **options):
    feedback = fa.Feedback(law, rate=rate, actuators={"a": actuator})
    return fa.simulate(ROD, 0.5, torque=feedback, native=False, rtol=1e-8, sample=0.002, **options)


def steps(t, x):
    return [2.0 if t < 0.2 else -1.0]


@pytest.mark.parametrize("rate", [None, RATE])
def test_a_lag_is_first_order(rate):
    lag = 0.03

    def law(t, x):
        return [2.0]

    found = run(law, fa.Actuator(lag=lag, start=0.5), rate)
    t = found.data.time.values
    assert_allclose(found.data.torque.values[:, 0], 2 - 1.5 * np.exp(-t / lag), atol=1e-6)
    spun = 2 * t - 1.5 * lag * (1 - np.exp(-t / lag))
    assert_allclose(found.data.v.values[:, 0], spun, atol=1e-6)


@pytest.mark.parametrize("lag", [0.0, 0.02])
def test_lag_and_slew_of_held_commands_against_their_equation(lag):
    """The closed form between two commands, against an integration of it."""
    held = HeldTorques(1.0, np.array([0.3]), np.array([2.0]), np.array([lag]), np.array([20.0]))
    t = np.linspace(1.0, 1.3, 200)
    if lag:
        rate = lambda _, z: np.clip((2.0 - z) / lag, -20.0, 20.0)  # noqa: E731
        exact = solve_ivp(rate, (1.0, 1.3), [0.3], t_eval=t, rtol=1e-10, atol=1e-12, max_step=1e-3).y[0]
    else:
        exact = np.minimum(0.3 + 20.0 * (t - 1.0), 2.0)
    assert_allclose(held(t)[0], exact, atol=1e-6)


def test_traced_and_digital_motors_are_the_same_motor():
    motor = fa.Actuator(lag=0.02, slew=40.0, limit=1.5)

    def traced(t, x):
        return [np.where(t < 0.2, 2.0, -1.0)]

    one, other = run(traced, motor), run(steps, motor, RATE)
    assert_allclose(one.data.torque.values, other.data.torque.values, atol=2e-3)
    assert_allclose(one["a.q"].values, other["a.q"].values, atol=1e-4)
    assert np.abs(other.data.torque.values).max() <= 1.5


def test_a_delay_acts_later():
    found = run(steps, fa.Actuator(delay=0.04, start=0.1), RATE)
    t = found.data.time.values
    expected = np.where(t < 0.04 - 1e-9, 0.1, np.where(t < 0.24 - 1e-9, 2.0, -1.0))
    assert_allclose(found.data.torque.values[:-1, 0], expected[:-1])


def test_a_quick_motor_is_seen_by_slow_laws():
    """A lag of a fiftieth of a period, between whose commands nothing else would bound steps."""
    lag = 0.0004
    found = run(lambda t, x: [1.0 if round(t * RATE) % 2 else -1.0], fa.Actuator(lag=lag), RATE)
    plain = run(lambda t, x: [1.0 if round(t * RATE) % 2 else -1.0], fa.Actuator(), RATE)
    t = np.arange(1, 25) / RATE
    late = (plain.at(t).data.v.values - found.at(t).data.v.values)[:, 0]
    # what the first command misses, then twice as much with each that turns it about
    expected = np.cumsum([lag * (-1.0), *(2 * lag * (-1.0) ** k for k in range(len(t) - 1))])
    assert_allclose(late, expected, atol=1e-7)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: fa.Actuator(lag=-1.0), "lag"),
        (lambda: fa.Actuator(limit=0.0), "limit"),
        (lambda: fa.Actuator(slew=np.array([1.0, 2.0])), "slew = .*: must be a number"),
        (lambda: fa.Actuator(limit=2.0, start=0.5), "start = 0.5: is for one with a lag, a slew or a delay"),
        (lambda: run(steps, fa.Actuator(delay=0.04)), "needs a law with a sample rate"),
        (lambda: run(steps, fa.Actuator(slew=4.0)), "needs a lag"),
        (lambda: run(steps, fa.Actuator(delay=0.03), RATE), "whole number of the law's periods"),
        (lambda: run(steps, 3.0, RATE), "must be a fa.Actuator"),
        (
            lambda: fa.simulate(
                ROD, 0.1, torque=fa.Feedback(lambda t, x: [0.0], actuators={"b": fa.Actuator()}), native=False
            ),
            "there is no actuator at 'b'",
        ),
    ],
)
def test_what_is_no_actuator_is_refused(make, sentence):
    with pytest.raises((TypeError, ValueError, KeyError), match=sentence):
        make()


@pytest.mark.parametrize("lag", [0.0, 0.01])
@pytest.mark.parametrize("options", [{}, {"rtol": 1e-6}, {"method": "rk45"}])
def test_torques_that_slew_end_it_between_steps(lag, options):
    """Within a period of a slow law, which they cannot know."""
    rate, slew = 10.0, 30.0
    feedback = fa.Feedback(
        lambda t, x: [1.0 if round(rate * t) % 2 else -1.0],
        rate=rate,
        actuators={"a": fa.Actuator(slew=slew, lag=lag)},
    )
    run = fa.simulate(ROD, 1.0, torque=feedback, native=False, **options)
    q = v = torque = 0.0
    for k in range(10):
        held = HeldTorques(0.0, *(np.array([each]) for each in (torque, 1.0 if k % 2 else -1.0, lag, slew)))
        edges = (0.0, *held.kinks, 1 / rate)
        for start, stop in itertools.pairwise(edges):  # by Gauss's rule: exact for the ramps, nearly so for the lag
            t, weights = ((stop - start) * each / 2 for each in np.polynomial.legendre.leggauss(12))
            t += (start + stop) / 2
            u = held(t)[0]
            q, v = q + v * (stop - start) + weights @ (u * (stop - t)), v + weights @ u
        torque = held(np.array([1 / rate]))[0, 0]
    assert run["a.q"].values[-1] == pytest.approx(q, abs=options.get("rtol", 1e-4))
