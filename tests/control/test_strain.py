"""Strain feedback: poles and passivity against theory."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa
from tests.control.closed_loops import poles

STRIP = fa.Section.rectangle(0.003, 0.03)


def arm(hub=0.1, modes=8, axis="z", section=STRIP, **flexible):
    shapes = fa.Flexible(**(flexible or {"bend_y": modes}), stiffening="none")
    return fa.Robot(
        links=[
            fa.Link(
                "a",
                1.0,
                fa.Revolute(axis),
                section=section,
                material=fa.Material(7e10, 2700.0),
                flexible=shapes,
                hub=fa.PointMass(0.0, inertia=hub),
                payload=fa.PointMass(0.1),
            )
        ]
    )


def held(robot, share=1.0, **strain):
    own = fa.pd(robot, 20.0 * share, 8.0 * share, {"a": 0.0})
    return own + fa.strain_feedback(robot, "a", **strain) if strain else own


def test_gain_makes_motor_and_pd_lighter():
    """Poles are those of an arm whose hub, kp and kd are 1 + gain times less: exactly, but for the moment that eight
    shapes tell."""
    with_strain = poles(arm(), held(arm(), gain=3.0))
    lighter = poles(arm(0.1 / 4), held(arm(0.1 / 4), 1 / 4))
    assert_allclose(with_strain[:5], lighter[:5], rtol=3e-4)
    coarse = poles(arm(modes=3), held(arm(modes=3), gain=3.0))
    assert np.abs(coarse[:5] - lighter[:5]).max() > 5 * np.abs(with_strain[:5] - lighter[:5]).max()


def test_a_stiff_velocity_loop_becomes_damping():
    """With a nearly immobile joint, gain moves all poles of vibrations to the left (Luo)."""
    plain, damped = (poles(arm(), each) for each in (held(arm()), held(arm(), gain=3.0)))
    slow, quick = ([each for each in found if each.imag > 1][:3] for found in (plain, damped))
    assert all(after.real < 3.5 * before.real for before, after in zip(slow, quick))


def test_rate_gain_damps_what_is_faster_than_the_motor_on_its_spring():
    """Re Y ~ kd - c kp + c I w^2: more above sqrt(kp / I) = 14 rad/s, less below, and never negative while
    c kp <= kd."""
    plain = poles(arm(), held(arm()))
    damped = poles(arm(), held(arm(), rate_gain=0.1))
    slow, quick = ([each for each in found if each.imag > 1][:3] for found in (plain, damped))
    below = [each.imag < np.sqrt(20.0 / 0.1) for each in slow]
    assert below == [True, False, False]
    assert [after.real > before.real for before, after in zip(slow, quick)] == below
    for c in (0.05, 0.1, 0.2, 0.4):
        assert poles(arm(), held(arm(), rate_gain=c)).real.max() < 0
    assert poles(arm(), held(arm(), rate_gain=5.0)).real.max() > 0  # far beyond


def test_signs_follow_the_joint():
    """Bending about y, and joints that turn the other way."""
    flat = fa.Section.rectangle(0.03, 0.003)
    expected = poles(arm(modes=3), held(arm(modes=3), gain=3.0))
    for other in (
        arm(modes=3, axis="-z"),
        arm(axis="y", section=flat, bend_z=3),
        arm(axis="-y", section=flat, bend_z=3),
    ):
        assert_allclose(poles(other, held(other, gain=3.0)), expected, rtol=1e-6)
    nameless = arm(modes=3, section=fa.Section.properties(STRIP.at(0).A, STRIP.at(0).I_y, STRIP.at(0).I_z))
    assert_allclose(poles(nameless, held(nameless, gain=3.0)), expected, rtol=1e-6)


def test_a_run_decays_as_the_poles_predict():
    robot = arm(modes=2)
    controller = held(robot, gain=3.0)
    first = next(each for each in poles(robot, controller) if each.imag > 1)
    run = fa.simulate(robot, 2.0, torque=controller, v0={"a.bend_y[1]": 0.02}, sample=2e-3, native=False)
    t, y = run.time.values, run["a.bend_y[1]"].values
    late = t > 0.4
    columns = [np.exp(first.real * t[late]) * each(first.imag * t[late]) for each in (np.cos, np.sin)]
    slowest = max(each.real for each in poles(robot, controller) if abs(each.imag) < 1)
    columns.append(np.exp(slowest * t[late]))
    left = np.linalg.lstsq(np.array(columns).T, y[late], rcond=None)[1]
    assert np.sqrt(left[0] / late.sum()) < 0.01 * np.abs(y).max()


def test_a_sampled_gauge_does_what_the_compiled_law_does():
    robot, start = arm(modes=1), {"a.bend_y[1]": 0.02}
    found = []
    for rate, sensors in ((None, None), (2000, {"a.strain(0.0)": fa.Sensor(resolution=1e-9)})):
        own = fa.pd(robot, 20.0, 8.0, {"a": 0.0}, rate=rate)
        controller = own + fa.strain_feedback(robot, "a", gain=1.0, rate_gain=0.01, rate=rate, sensors=sensors)
        found.append(fa.simulate(robot, 0.25, torque=controller, v0=start, native=False)["a.bend_y[1]"].values)
    assert_allclose(found[1], found[0], atol=0.02 * np.abs(found[0]).max())


def test_links_that_have_no_such_strain_are_refused():
    two = arm(bend_y=1, bend_z=1)
    with pytest.raises(ValueError, match="bend in one plane"):
        fa.strain_feedback(two, "a")
    with pytest.raises(ValueError, match="about which the link bends, 'z'"):
        fa.strain_feedback(arm(axis="y"), "a")
    with pytest.raises(ValueError, match="bend in one plane"):
        fa.strain_feedback(arm().rigid(), "a")
    with pytest.raises(KeyError, match="link: there is no actuator at 'b'"):
        fa.strain_feedback(arm(), "b")
