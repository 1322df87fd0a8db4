"""Kennedy and Carpenter's method: its tableau, its order on smooth, stiff and constrained robots."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa
from flexarm.integrators.methods.esdirk import ABRUPT_WEIGHTS, EMBEDDED_WEIGHTS, GAMMA, A, C, E, trapezoids
from tests.integrators.methods.test_method import SOFT

b = A[-1]


def test_order_conditions_of_the_tableau():
    """Quadrature to order 5 and the conditions of Butcher's trees up to order 4; to the 13 digits that are printed."""
    for k in range(1, 6):
        assert b @ C ** (k - 1) == pytest.approx(1 / k, abs=1e-12)
    assert b @ A @ C == pytest.approx(1 / 6, abs=1e-12)
    assert (b * C) @ A @ C == pytest.approx(1 / 8, abs=1e-12)
    assert b @ A @ C**2 == pytest.approx(1 / 12, abs=1e-12)
    assert b @ A @ A @ C == pytest.approx(1 / 24, abs=1e-12)
    for k in range(1, 5):
        assert np.array(EMBEDDED_WEIGHTS) @ C ** (k - 1) == pytest.approx(1 / k, abs=1e-12)
    assert_allclose(E, b - np.array(EMBEDDED_WEIGHTS))


def test_stages_are_of_order_two_and_the_method_is_l_stable():
    assert_allclose(A @ C, C**2 / 2, atol=1e-12)
    assert_allclose(np.diag(A)[1:], GAMMA)

    def growth(z):
        return 1 + z * b @ np.linalg.solve(np.eye(len(C)) - z * A, np.ones(len(C)))

    assert abs(growth(-1e9)) < 1e-6
    along = np.linspace(0, 200, 4001)[1:]
    assert max(abs(growth(1j * y)) for y in along) <= 1 + 1e-9
    assert max(abs(growth(-y)) for y in along) <= 1


def test_trapezoids_integrate_straight_lines():
    for used in (None, (0, 1, 4, 6)):
        weights = trapezoids(C, used)
        assert weights.sum() == pytest.approx(1.0)
        assert weights @ C == pytest.approx(0.5)
    for weights in ABRUPT_WEIGHTS:  # smooth forces are no news to them
        assert_allclose([weights.sum(), weights @ C], 0, atol=1e-12)


ROD = {"section": fa.Section.rectangle(0.006, 0.02), "material": fa.Material(E=7e10, rho=2700.0, damping=1e-3)}
FOUR_BAR = fa.Robot(
    links=[
        fa.Link("crank", length=0.2, **ROD),
        fa.Link("coupler", length=0.7, **ROD, flexible=fa.Flexible(bend_y=2)),
        fa.Link("rocker", length=0.5, **ROD, parent="ground", offset=(0.7, 0, 0)),
    ],
    constraints=[fa.Loop("coupler", "rocker")],
)


def end(system, dt, method="esdirk", duration=0.4, **options):
    run = fa.simulate(system, duration, method=method, dt=dt, rtol=1e-12, sample=duration, native=False, **options)
    return np.concatenate([run.array("q")[-1], run.array("v")[-1] / 50])


def measured_orders(system, steps, exact, **options):
    errors = np.array([np.abs(end(system, dt, **options) - exact).max() for dt in steps])
    return np.log2(errors[:-1] / errors[1:])


def test_order_five_on_a_smooth_motion():
    system, torque = fa.System(SOFT, native=False), {"upper": fa.sine(1.0, 2.0)}
    exact = end(system, 1e-3, "dop853", torque=torque)
    orders = measured_orders(system, (8e-3, 4e-3, 2e-3), exact, torque=torque)
    assert_allclose(orders, 5, atol=0.4)


def test_order_on_constraints_with_a_driven_joint():
    """At least 4 where the multipliers are algebraic unknowns."""
    system = fa.System(FOUR_BAR, native=False)
    options = {"motion": {"crank": fa.sine(1.0, 1.0)}, "q0": {"coupler.q": 0.7954, "rocker.q": 1.5908}}
    exact = end(system, 5e-4, **options)
    assert (measured_orders(system, (2e-2, 1e-2, 5e-3), exact, **options) > 4).all()


def test_modes_that_no_step_resolves_do_not_spoil_it():
    """A link with modes at 1.6 and 9.5 kHz that starts in balance, with steps of 20 ms."""
    stiff = SOFT.with_({"links.fore.material.E": 2e13, "links.fore.material.damping": 1e-6})
    system = fa.System(stiff, native=False)
    assert fa.modes(stiff).frequencies[2] > 1500
    options = {"torque": {"upper": fa.sine(1.0, 2.0)}, "q0": "equilibrium", "duration": 0.2}
    exact = end(system, 1e-3, **options)
    assert np.abs(end(system, 2e-2, **options) - exact).max() < 1e-6


def test_energy_of_a_smooth_motion_is_kept_to_the_order_of_the_method():
    """Work, dissipation and what is stored are integrated alike."""
    system = fa.System(SOFT, native=False)
    options = {"torque": {"upper": fa.sine(1.0, 2.0)}, "rtol": 1e-12, "sample": 0.08, "native": False}
    lost = [
        np.abs(fa.simulate(system, 0.4, method="esdirk", dt=dt, **options).array("balance")).max()
        for dt in (2e-3, 1e-3)
    ]
    assert lost[1] < lost[0] / 16


def test_a_change_of_friction_within_a_step_is_seen():
    """A sliding mass under friction turns back: the error at the end is within the tolerance, with a few steps."""
    cart = fa.Link("cart", 0.5, fa.Revolute("z", coulomb=0.5), mass=1.0)
    robot = fa.Robot(links=[cart])
    torque = {"cart": fa.bang_bang(2.0, (0.3, 0.7))}
    exact = fa.simulate(robot, 1.0, torque=torque, method="rk45", rtol=1e-9, native=False).array("q")[-1]
    for rtol in (1e-3, 1e-5):
        run = fa.simulate(robot, 1.0, torque=torque, method="esdirk", rtol=rtol, native=False)
        assert np.abs(run.array("q")[-1] - exact).max() < rtol
        assert run.statistics["steps"] < 500
