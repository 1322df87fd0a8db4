"""Profiles from rest to rest keep their limits, and arrive."""

import numpy as np
import pytest

import flexarm as fa

PROFILES = [
    (fa.trapezoid(0, 1, 1, 2), (1, 2, np.inf)),
    (fa.trapezoid(1, 0.9, 1, 2), (1, 2, np.inf)),
    (fa.s_curve(0, 1, 1, 2, 10), (1, 2, 10)),
    (fa.s_curve(0, 0.01, 1, 2, 10), (1, 2, 10)),
    (fa.s_curve(0, 0.5, 1, 2, 10), (1, 2, 10)),
    (fa.s_curve(2, -3, 0.5, 2, 1), (0.5, 2, 1)),
    (fa.s_curve(0, 1, 100, 2, 10), (100, 2, 10)),
    (fa.minimum_jerk(0, 1, 2), (np.inf,) * 3),
    (fa.rest_to_rest(0.5, 1, 2, smooth=4), (np.inf,) * 3),
]


@pytest.mark.parametrize(("profile", "limits"), PROFILES, ids=lambda each: str(each))
def test_limits_are_kept_and_ends_reached(profile, limits):
    end = profile.breaks[-1]
    t = np.linspace(-0.1 * end, 1.1 * end, 24001)
    x, v, a = (profile(t, rate) for rate in range(3))
    wanted = [float(each) for each in profile.name.partition("(")[2].rstrip(")").split(", ")[:2]]
    assert [x[0], x[-1]] == pytest.approx(wanted, abs=1e-12)
    assert profile.jumps() == []
    for rate, limit in zip((v, a, np.gradient(a, t)), limits):
        inside = np.abs(rate)[2:-2]
        assert inside.max() <= limit * (1 + 1e-6) or limit == np.inf
    assert np.cumsum(v)[-1] * (t[1] - t[0]) == pytest.approx(wanted[1] - wanted[0], rel=1e-3)
    assert [v[0], v[-1], a[0], a[-1]] == [0, 0, 0, 0]


def test_they_are_as_fast_as_the_limits_allow():
    """A way in which speed and acceleration are reached: way / speed + speed / acceleration + acceleration / jerk."""
    assert fa.trapezoid(0, 1, 1, 2).breaks[-1] == pytest.approx(1 + 0.5)
    assert fa.s_curve(0, 1, 1, 2, 10).breaks[-1] == pytest.approx(1 + 0.5 + 0.2)
    assert fa.s_curve(0, 0.01, 1, 2, 10).breaks[-1] == pytest.approx(4 * (0.01 / 20) ** (1 / 3))


def test_smooth_ends():
    move = fa.rest_to_rest(0, 1, 2, smooth=3)
    near = np.array([1e-4, 2 - 1e-4])
    assert np.abs(move(near, 2)).max() < 1e-6
    assert fa.minimum_jerk(0, 1, 1)(0.25) == pytest.approx(10 * 0.25**3 - 15 * 0.25**4 + 6 * 0.25**5)


def test_no_way_is_no_motion():
    assert fa.trapezoid(1, 1, 1, 1)(3.0) == 1.0
    assert fa.s_curve(1, 1, 1, 1, 1).breaks == ()


@pytest.mark.parametrize(
    "call",
    [
        lambda: fa.trapezoid(0, 1, 0, 1),
        lambda: fa.s_curve(0, 1, 1, 1, -1),
        lambda: fa.minimum_jerk(0, 1, 0),
        lambda: fa.rest_to_rest(0, 1, 1, smooth=9),
        lambda: fa.rest_to_rest(0, 1, 1, smooth=0),
    ],
)
def test_wrong_numbers_are_refused(call):
    with pytest.raises(ValueError, match="must be"):
        call()


def test_a_driven_joint_follows():
    robot = fa.Robot(links=[fa.Link("rod", 1.0, mass=1.0)])
    run = fa.simulate(robot, 2.0, motion={"rod": fa.s_curve(0, 1, 1, 2, 10)}, native=False)
    assert float(run["rod.q"][-1]) == pytest.approx(1.0)
    assert float(np.abs(run.torque).max()) == pytest.approx(2 / 3, rel=1e-3)  # m l^2 / 3 times the acceleration
