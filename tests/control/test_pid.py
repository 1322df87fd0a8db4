"""Joint PID: no steady error, and no wind-up."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa
from tests.control.closed_loops import poles
from tests.control.robots import DOWN, pendulum, weighty


@pytest.mark.parametrize("rate", [None, 50])
def test_the_integral_ends_as_the_weight(rate):
    arm = pendulum(gravity=DOWN, axis="y")
    goal = 0.4
    weight = -9.81 * np.cos(goal)
    controller = fa.pid(arm, 60.0, 15.0, 60.0, {"a": goal}, rate=rate)
    run = fa.simulate(arm, 9.0, torque=controller, native=False)
    assert run["a.q"].values[-1] == pytest.approx(goal, abs=1e-4)
    assert run.torque.values[-1, 0] == pytest.approx(weight, rel=1e-4)
    alone = fa.simulate(arm, 3.0, torque=fa.pd(arm, 60.0, 15.0, {"a": goal}, rate=rate), native=False)
    assert abs(alone["a.q"].values[-1] - goal) > 0.1


def test_its_poles_are_those_of_the_formula():
    controller = fa.pid(pendulum(), 50.0, 10.0, 30.0, {"a": 0.0})
    exact = np.roots([1, 10.0, 50.0, 30.0])
    assert_allclose(poles(pendulum(), controller), sorted(exact[exact.imag >= 0], key=abs), rtol=1e-9)


@pytest.mark.parametrize("rate", [None, 50])
def test_back_calculation_ends_wind_up(rate):
    """After a large step under a torque limit, an integral without back-calculation overshoots."""
    arm = pendulum()

    def overshoot(**more):
        controller = fa.pid(arm, 20.0, 9.0, 12.0, {"a": 3.0}, limit=2.0, rate=rate, **more)
        return fa.simulate(arm, 9.0, torque=controller, native=False)["a.q"].values.max() - 3.0

    assert overshoot(tracking_time=1e6) > 0.8  # as without
    assert overshoot() < 0.4
    assert overshoot(tracking_time=0.2) < 0.4


def test_digital_integrals_approach_the_compiled_one():
    def last(rate):
        controller = fa.pid(pendulum(), 20.0, 4.0, 20.0, {"a": 1.0}, rate=rate, limit=6.0)
        return fa.simulate(pendulum(), 1.0, torque=controller, native=False)["a.q"].values[-1]

    missed = [last(rate) - last(None) for rate in (100, 200, 400)]
    assert_allclose(np.divide(missed[:-1], missed[1:]), 2.0, rtol=0.2)


def test_limits_count_with_the_feedforward_and_those_of_motors():
    arm = pendulum(gravity=DOWN, axis="y")
    weight = fa.gravity_torque(arm)
    controller = fa.pid(arm, 60.0, 15.0, 60.0, {"a": 0.0}, feedforward=weight, actuators={"a": fa.Actuator(limit=9.0)})
    assert controller.gains["limit.a"] == 9.0
    run = fa.simulate(arm, 0.3, torque=controller, native=False)  # its weight is 9.81: it falls, and u is more than 9
    assert_allclose(run.torque.values[:, 0], -9.0, atol=1e-9)
    plain = fa.pid(arm, 60.0, 15.0, 60.0, {"a": 0.0}, feedforward={"a": -9.81})
    run = fa.simulate(arm, 0.3, torque=plain, native=False)
    assert np.abs(run["a.q"].values).max() < 1e-9


def test_gains_of_no_integral_do_nothing():
    arm = weighty()
    aims = {"a": 0.0, "b": 0.0}
    controller = fa.pid(arm, 20.0, {"a": 2.0}, {"b": 5.0}, aims, limit=3.0)
    assert (controller.gains["ki.a"], controller.gains["reset.a"]) == (0.0, 0.0)
    assert controller.gains["reset.b"] == pytest.approx(5.0 / 20.0)
    with pytest.raises(ValueError, match="tracking_time: give one"):
        fa.pid(arm, 0.0, 0.0, 5.0, aims, limit=3.0)
    with pytest.raises(ValueError, match=r"tracking_time = 0.001 s: must be at least the law's period, 0.01 s"):
        fa.pid(arm, 1.0, 1.0, 5.0, aims, tracking_time=1e-3, rate=100)


def test_limits_that_come_later_are_refused():
    """The integral would wind up behind limits that are added later."""
    arm = pendulum()
    own = fa.pid(arm, 20.0, 2.0, 8.0, {"a": 1.0}, limit=5.0)
    for other in (
        fa.Feedback(lambda t, x: [0.0], limit=2.0),
        fa.Feedback(lambda t, x: [0.0], actuators={"a": fa.Actuator(limit=2.0)}),
    ):
        for one, second in ((own, other), (other, own)):
            with pytest.raises(ValueError, match=r"give the limits to the first, fa.pid"):
                one + second
    assert (own + fa.Feedback(lambda t, x: [0.0], limit=5.0)).limit == 5.0
