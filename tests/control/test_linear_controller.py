"""Linear controllers on linear models and on robots, and their stability margins."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa

ROD = fa.Robot("rod", links=[fa.Link("rod", 1.0, mass=3.0)])


def design(**given):
    lin = fa.linearize(ROD, inputs=["rod"], outputs=["rod.q"])
    given = {"references": {"rod.q": 0.2}, **given}
    return fa.lqg(lin, {"rod.q": 1.0}, 1.0, {"rod": 1.0}, {"rod.q": 1.0}, **given)


@pytest.mark.parametrize("rate", [None, 10.0])
@pytest.mark.parametrize("integral", [None, {"rod.q": 0.5}])
def test_a_run_is_the_step_response_of_the_closed_loop(rate, integral):
    found = design(rate=rate, integral=integral)
    closed = found.closed_loop()
    times, expected = closed.step(np.arange(0.0, 6.05, 0.1), "rod.q", "rod.q")
    run = fa.simulate(ROD, 6.0, torque=found.feedback(), sample=0.1, rtol=1e-8, native=False)
    assert_allclose(run["rod.q"].values, 0.2 * expected.ravel()[: len(run["rod.q"])], atol=1e-6)
    assert times[-1] == pytest.approx(6.0)


def test_other_models_and_what_is_refused():
    found = design(rate=10.0)
    lin = fa.linearize(ROD)
    assert same(found.closed_loop(lin).poles, found.poles)  # sampled as the design is
    assert same(found.closed_loop(lin.discrete(0.1)).poles, found.poles)
    for model, words in [
        (lin.discrete(0.2), "sampled every 0.2 s"),
        (fa.linearize(ROD, inputs=["tip.fy"]), "has no input 'rod'"),
        (fa.linearize(fa.library.two_masses()), "has no input 'rod'"),
        (3, "must be a StateSpace"),
    ]:
        with pytest.raises((ValueError, TypeError, KeyError), match=words):
            found.closed_loop(model)
    with pytest.raises(ValueError, match=r"sampled every 0\.1 s, the design is not"):
        design().closed_loop(lin.discrete(0.1))
    assert repr(found) == "LinearController of rod from rod.q, states: estimate (2), sampled every 0.1 s"


def same(one, other):
    return np.allclose(np.sort_complex(one), np.sort_complex(other))


def test_limits_in_every_form():
    for limit in (0.05, [0.05], {"rod": 0.05}):
        run = fa.simulate(ROD, 3.0, torque=design().feedback(limit=limit), native=False)
        assert np.abs(run.torque.values).max() == pytest.approx(0.05)
        assert float(run["rod.q"][-1]) > 0.1
    motor = {"rod": fa.Actuator(limit=0.05)}
    limited = fa.simulate(ROD, 3.0, torque=design().feedback(actuators=motor), native=False)
    assert_allclose(limited["rod.q"].values, run["rod.q"].values, atol=1e-9)
    with pytest.raises(ValueError, match="one for each of rod"):
        design().feedback(limit=[1.0, 2.0])


# --- stability margins ---


def test_of_a_double_integrator_with_state_feedback():
    """L = (1.414 s + 1) / s^2: its phase margin is known."""
    margin = fa.lqr(fa.linearize(ROD), {"rod.q": 1.0}).margins()["rod"]
    w = np.sqrt(1 + np.sqrt(2))  # |L| = 1
    assert margin.phase == pytest.approx(np.arctan(np.sqrt(2) * w), rel=1e-4)
    assert margin.gain == np.inf


@pytest.mark.parametrize("rate", [None, 20.0])
def test_a_loop_whose_gain_is_changed_by_its_margin_is_at_the_edge(rate):
    masses = fa.linearize(fa.library.two_masses(1.0), inputs=["mass"], outputs=["mass.q"])
    design = fa.lqg(masses, {"mass.q": 0.1}, 1.0, {"mass": 1.0}, {"mass.q": 1.0}, rate=rate)
    gain = design.margins()["mass"].gain
    assert 0.2 < gain < 5 and gain != 1  # noqa: PT018
    for factor, stable in ((gain**0.98, True), (gain**1.02, False)):
        other = replace(masses, B=factor * masses.B)
        poles = design.closed_loop(other).poles
        assert ((poles.real.max() < 0) if rate is None else (np.abs(poles).max() < 1)) == stable


def test_each_of_two_inputs_with_the_other_closed():
    arm = fa.Robot("arm", links=[fa.Link("a", 1.0, mass=1.0), fa.Link("b", 1.0, mass=1.0)])
    lin = fa.linearize(arm)
    noise = {"a.q": 1e-4, "b.q": 1e-4}
    design = fa.lqg(lin, {"a.q": 1.0, "b.q": 1.0}, 1.0, {"a": 1.0, "b": 1.0}, noise)
    for k, (name, margin) in enumerate(design.margins().items()):
        scale = np.ones(2)
        for factor, stable in ((margin.gain**0.98, True), (margin.gain**1.02, False)):
            scale[k] = factor
            assert (design.closed_loop(replace(lin, B=lin.B * scale)).poles.real.max() < 0) == stable, name
