"""Filters: responses against formulas, and loops that they stabilise."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa
from flexarm.feedback.digital_law import DigitalLaw
from flexarm.feedback.measurements import Instant
from tests.control.closed_loops import poles, slopes
from tests.control.robots import pendulum

ARM = pendulum()
SYSTEM = fa.System(ARM, native=False)
SPRUNG = pendulum(fa.Drive(stiffness=1000.0, damping=0.2, rotor_inertia=0.2))
RESONANCE = np.sqrt(1000 * (1 / 0.2 + 1)) / (2 * np.pi)


def plain(rate=None):
    return fa.Feedback(lambda t, x: {"a": x["a.q"]}, rate=rate)


KINDS = {
    "notch": (
        lambda law: fa.notch(law, 12.0, ratio=0.4, depth=0.1, links=["a"]),
        lambda s: (s**2 + 0.08 * s + 1) / (s**2 + 0.8 * s + 1),
    ),
    "low-pass": (lambda law: fa.low_pass(law, 12.0, links=["a"]), lambda s: 1 / (s**2 + np.sqrt(2) * s + 1)),
    "first order": (lambda law: fa.low_pass(law, 12.0, order=1, links=["a"]), lambda s: 1 / (s + 1)),
}


@pytest.mark.parametrize("name", KINDS)
def test_compiled_ones_have_the_response_of_their_formula(name):
    make, formula = KINDS[name]
    D, C, B, A = slopes(SYSTEM, make(plain()))
    for f in (1.0, 8.0, 12.0, 15.0, 80.0):
        s = 2j * np.pi * f
        found = D[0, 0] + C @ np.linalg.solve(s * np.eye(len(A)) - A, B[:, 0])
        assert_allclose(found[0], formula(1j * f / 12.0), rtol=1e-9)


@pytest.mark.parametrize("name", KINDS)
def test_digital_ones_are_tustins(name):
    """Sampled sines, once transients are gone: the formula at the bent frequency, exact at the filter's own."""
    make, formula = KINDS[name]
    rate = 100.0
    for f in (4.0, 12.0, 30.0):
        law = DigitalLaw(make(plain(rate)), SYSTEM)
        t = np.arange(600) / rate
        q = np.cos(2 * np.pi * f * t)
        out = np.array([law(Instant(at, np.array([x]), np.zeros(1), np.zeros(1))).target[0] for at, x in zip(t, q)])
        waves = np.exp(2j * np.pi * f * t)
        found = 2 * np.mean((out * waves.conj())[300:])  # three whole seconds
        bent = np.tan(np.pi * f / rate) / np.tan(np.pi * 12.0 / rate)
        assert_allclose(found, formula(1j * bent), atol=1e-9)


def test_at_its_frequency_a_notch_leaves_its_depth():
    for depth in (0.0, 0.05, 1.0):
        D, C, B, A = slopes(SYSTEM, fa.notch(plain(), 12.0, depth=depth, links=["a"]))
        s = 2j * np.pi * 12.0
        found = D[0, 0] + C @ np.linalg.solve(s * np.eye(2) - A, B[:, 0])
        assert abs(found[0]) == pytest.approx(depth, abs=1e-12)


def test_a_notch_makes_a_loop_around_a_spring_stable():
    """PD with the joint's coordinate destabilises an elastic drive; a notch at the resonance prevents it."""
    shaken = fa.pd(SPRUNG, 50.0, 10.0, {"a": 0.0}, side="joint")
    assert poles(SPRUNG, shaken).real.max() > 3
    quiet = fa.notch(shaken, RESONANCE)
    assert poles(SPRUNG, quiet).real.max() < -0.3
    start = {"a.q": 0.1, "a.motor": 0.1}
    runs = [fa.simulate(SPRUNG, 2.0, torque=each, q0=start, native=False) for each in (shaken, quiet)]
    assert np.abs(runs[0]["a.motor"].values[-50:]).max() > 1.0
    assert np.abs(runs[1]["a.motor"].values[-50:]).max() < 0.01


def test_a_notch_stabilises_a_loop_with_a_low_pass():
    """With a lag even PD of the motor destabilises the spring."""
    motor = fa.pd(SPRUNG, 50.0, 10.0, {"a": 0.0})
    slow = fa.low_pass(motor, 5.0)
    assert poles(SPRUNG, slow).real.max() > 1
    assert poles(SPRUNG, fa.notch(slow, RESONANCE)).real.max() < 0


@pytest.mark.parametrize("rate", [None, 500])
def test_filters_follow_each_other(rate):
    feedback = fa.pd(SPRUNG, 50.0, 10.0, {"a": 0.0}, rate=rate, limit=4.0)
    both = fa.low_pass(fa.notch(fa.notch(feedback, RESONANCE), 30.0, ratio=0.2, depth=0.5), 200.0, order=1)
    assert set(both.states) == {"notch.a", "notch2.a", "low_pass.a"}
    assert both.gains["notch2.frequency"] == 30.0
    start = {"a.q": 0.2, "a.motor": 0.2}
    run = fa.simulate(SPRUNG, 1.0, torque=both, q0=start, native=False)
    assert np.abs(run.torque.values).max() <= 4.0
    assert abs(run["a.q"].values[-1]) < 0.02
    if rate is None:  # states that no torque reads count by what is felt of them: neither too little nor too much
        close = fa.simulate(SPRUNG, 1.0, torque=both, q0=start, rtol=1e-6, native=False)
        assert_allclose(run["a.q"].values, close["a.q"].values, atol=1e-5)
        assert run.statistics["steps"] < 5000


def test_filters_of_feedbacks_with_states():
    controller = fa.notch(fa.pid(SPRUNG, 50.0, 20.0, 10.0, {"a": 0.1}), RESONANCE)
    assert set(controller.states) == {"integral.a", "notch.a"}
    run = fa.simulate(SPRUNG, 6.0, torque=controller, native=False)
    assert run["a.motor"].values[-1] == pytest.approx(0.1, abs=2e-3)


def test_controllers_on_a_model_have_links():
    """A notch of depth 1 changes nothing."""
    stiff = pendulum(fa.Drive(stiffness=1000.0, rotor_inertia=0.2))
    for robot, law in (
        (ARM, fa.computed_torque(ARM, 25.0, 10.0, {"a": 0.2})),
        (ARM, fa.lqr(fa.linearize(ARM), {"a.q": 1.0}, references={"a.q": 0.2}, rate=100.0).feedback()),
        (stiff, fa.elastic_joint_linearization(stiff, [-5.0, -6.0, -7.0, -8.0], {"a": 0.2})),
    ):
        through = fa.notch(law, 12.0, depth=1.0)
        assert set(through.states) == {"notch.a"}
        plain, filtered = (fa.simulate(robot, 0.5, torque=each, native=False, rtol=1e-7) for each in (law, through))
        assert_allclose(filtered["a.q"].values, plain["a.q"].values, atol=1e-6)


def test_links_are_those_that_are_driven():
    arm = fa.library.two_link_arm()
    controller = fa.pd(arm, 1.0, 1.0, {"upper": 0.0, "fore": 0.0})
    assert set(fa.notch(controller, 5.0).states) == {"notch.upper", "notch.fore"}
    assert set(fa.notch(controller, 5.0, links=["fore"]).states) == {"notch.fore"}
    with pytest.raises(ValueError, match="does not drive 'hand'; it drives upper, fore"):
        fa.notch(controller, 5.0, links=["hand"])
    with pytest.raises(ValueError, match=r"links: the links that a law of your own drives are not known"):
        fa.notch(plain(), 5.0)
    with pytest.raises(ValueError, match="must be below half the law's sample rate, 50 Hz"):
        fa.low_pass(plain(100.0), 60.0, links=["a"])
