import math

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import flexarm as fa
from flexarm.integrators.methods.dop853 import Dop853
from flexarm.integrators.methods.runge_kutta import rk4, rk45


@pytest.mark.parametrize(
    ("method", "oscillating", "decaying"),
    [(rk4(), 2.83, 2.79), (rk45(), 1.0, 3.31), (Dop853(), 5.97, 6.39)],  # known limits of their stability
)
def test_the_longest_stable_step(method, oscillating, decaying):
    for rate, limit in ((1j, oscillating), (-1.0, decaying)):
        found = method.longest_step(np.array([7.0 * rate, 2.0 * rate]), duration=1e6)
        assert found * 7.0 == pytest.approx(limit, rel=0.03)


def test_a_run_too_short_for_growth_may_take_longer_steps():
    rates = np.array([100j])
    assert rk45().longest_step(rates, 0.1) > 1.3 * rk45().longest_step(rates, 1e4)


def test_nothing_moves_no_bound():
    assert rk4().longest_step(np.zeros(0), 1.0) == math.inf
    assert rk4().longest_step(np.zeros(3), 1.0) == math.inf


@pytest.mark.parametrize("method", ["rk4", "rk45", "dop853"])
def test_steps_of_explicit_methods_stay_stable(method):
    """Undamped metal under a step torque: no step is rejected for a flutter that the method itself makes."""
    rod = {"section": fa.Section.rectangle(0.006, 0.03), "material": fa.Material(7e10, 2700)}
    flexible = fa.Flexible(bend_y=3, basis="elements")
    robot = fa.Robot(links=[fa.Link("rod", 1.0, **rod, flexible=flexible, hub=fa.PointMass(0.0, inertia=0.05))])
    run = fa.simulate(robot, 0.05, torque={"rod": 1.0}, method=method, rtol=1e-2, native=False)
    moved = np.ptp(run.array("kinetic"))
    assert np.abs(run.array("balance")).max() < 0.05 * moved


def test_a_step_that_is_given_is_taken_stable_or_not():
    rod = {"section": fa.Section.circle(0.02), "material": fa.Material(7e10, 2700)}
    robot = fa.Robot(links=[fa.Link("rod", 1.0, **rod, flexible=fa.Flexible(bend_y=1))])
    with pytest.warns(fa.ValidityWarning, match="diverged"):
        run = fa.simulate(robot, 5.0, torque={"rod": 1.0}, method="rk4", dt=0.05, native=False)
    assert run.statistics["largest_step"] == pytest.approx(0.05)


def test_dormand_and_princes_numbers_are_scipys():
    from scipy.integrate import RK45

    ours = rk45()
    for row, theirs in ((ours.A, RK45.A), (ours.b, RK45.B), (ours.c, RK45.C), (ours.e, RK45.E)):
        assert_array_equal(row, theirs)
