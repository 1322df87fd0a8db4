"""Iterations inside a step: as many as are needed, decided by the step itself."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa

ROD = {"section": fa.Section.rectangle(0.006, 0.02), "material": fa.Material(7e10, 2700.0, damping=1e-4)}
ARM = fa.Robot(
    gravity=(0, -9.81, 0),
    links=[fa.Link("a", 0.6, mass=0.5), fa.Link("b", 0.5, **ROD, flexible=fa.Flexible(bend_y=2))],
)
FOUR_BAR = fa.Robot(
    gravity=(0, -9.81, 0),
    links=[
        fa.Link("crank", 0.2, mass=1.0),
        fa.Link("coupler", 0.5, mass=1.0),
        fa.Link("rocker", 0.4, mass=1.0, parent="ground", offset=(0.45, 0, 0)),
    ],
    constraints=[fa.Loop("coupler", "rocker")],
)


def run(robot, **options):
    return fa.simulate(robot, 0.4, dt=0.004, sample=0.004, native=False, **options)


@pytest.mark.parametrize("robot", [ARM, FOUR_BAR], ids=["arm", "loop"])
@pytest.mark.parametrize("method", [fa.GeneralizedAlpha, fa.Newmark])
def test_the_least_number_of_iterations_does_not_decide_the_result(robot, method):
    q0 = {"crank.q": 1.0} if robot is FOUR_BAR else None
    few, many = (run(robot, method=method(iterations=count), rtol=1e-9, q0=q0) for count in (1, 8))
    assert_allclose(few.tip.values, many.tip.values, atol=1e-8)


@pytest.mark.parametrize("method", ["esdirk", "generalized-alpha"])
def test_the_equations_hold_at_the_end_of_each_step_as_well_as_the_tolerance_asks(method):
    system, missing = fa.System(ARM.rigid(), native=False), []
    for rtol in (1e-3, 1e-9):
        found = run(system, method=method, rtol=rtol)
        q, v, a = (found.array(name) for name in "qva")
        missing.append(np.abs(system.inverse_dynamics(q, v, a)).max())  # N m
    assert missing[1] < 1e-7
    assert missing[0] < 1e-2


def test_what_iterations_leave_does_not_add_up_over_many_steps():
    torque = dict.fromkeys(("column", "upper", "fore"), 400.0)

    def tip(iterations):
        method = fa.GeneralizedAlpha(iterations=iterations)
        run = fa.simulate(fa.library.rrr_arm(), 0.3, torque=torque, dt=2e-4, rtol=1e-2, sample=0.02, method=method)
        return run.array("tip")

    allowed = 1e-2 * 8.5
    assert np.abs(tip(2) - tip(8)).max() < 0.01 * allowed
