"""What the loop over time sees: jumps, and what they do between its steps."""

import math
import warnings

import numpy as np
import pytest

import flexarm as fa

ALUMINIUM = fa.Material(E=7e10, rho=2700.0, damping=1e-4)


def bar(width=0.02, length=0.5, modes=3):
    return fa.Link(
        "bar",
        length,
        section=fa.Section.rectangle(width, 0.02),
        material=ALUMINIUM,
        flexible=fa.Flexible(bend_y=modes),
        payload=fa.PointMass(0.3),
    )


ROD = fa.Robot(links=[fa.Link("rod", 1.0, mass=0.157)])


def run(robot, duration, **options):
    return fa.simulate(robot, duration, native=False, **options)


@pytest.mark.parametrize("rtol", [1e-3, 1e-4])
def test_a_jump_on_a_stiff_robot_leaves_no_ghosts_between_the_steps(rtol):
    """Modes that no step resolves begin with huge accelerations; samples are those of the motion all the same."""
    robot, torque = fa.Robot(links=[bar()]), {"bar": fa.step(0.0, 0.1, 0.5)}
    found, exact = (run(robot, 1.0, torque=torque, rtol=each) for each in (rtol, 1e-9))
    assert found.array("elastic").max() < 2 * exact.array("elastic").max()
    apart = np.linalg.norm(found.array("tip") - exact.at(found.array("time")).array("tip"), axis=1)
    assert apart.max() < rtol * 0.5


def test_a_driven_speed_that_jumps_kicks_the_links():
    """A corner of the motion is the limit of rounder and rounder ones."""
    robot = fa.Robot(links=[bar(0.01, 1.0, 2)])
    corner = run(robot, 0.6, motion={"bar": fa.ramp(0.0, 0.03, 0.1, 0.5)}, rtol=1e-6)

    def rounded(width):
        def angle(t):  # the ramp, its corners replaced by parabolas
            ramp = lambda s: np.where(s < -width, 0.0, np.where(s > width, s, (s + width) ** 2 / (4 * width)))  # noqa: E731
            return 0.03 / 0.4 * (ramp(t - 0.1) - ramp(t - 0.5))

        return run(robot, 0.6, motion={"bar": angle}, rtol=1e-6).array("tip")[-1]

    far, near = (np.linalg.norm(rounded(width) - corner.array("tip")[-1]) for width in (4e-3, 1e-3))
    assert near < far / 8  # in the square of their width
    assert abs(corner.statistics["energy_share"]) < 1e-4


def test_a_law_is_looked_at_where_it_is_not_zero():
    """What is multiplied by an angle or a profile that is zero at first is fast all the same."""

    def pulse(t, q, v):
        return [5 * q[0] * np.where(t > 3.3333, 1.0, 0.0) * np.where(t < 3.3373, 1.0, 0.0)]

    inertia = 0.157 / 3
    found = run(ROD, 4.0, torque=pulse, v0=[0.3])
    rate, start = math.sqrt(5 / inertia), 0.3 * 3.3333
    kicked = 0.3 * math.cosh(rate * 0.004) + start * rate * math.sinh(rate * 0.004)
    assert found.array("v")[-1, 0] == pytest.approx(kicked, rel=1e-3)
    swell = fa.cycloid(0, 1, 1.0)
    assert (
        abs(run(ROD, 2.0, torque=lambda t, q, v: [swell(t) * 0.01 * np.cos(200 * np.pi * t)]).array("q")[-1, 0]) < 1e-4
    )


@pytest.mark.parametrize("gain", [200.0, 1e4])
def test_a_law_that_saturates_is_followed_to_the_tolerance(gain):
    def law():
        return fa.Feedback(lambda t, q, v: [-gain * (q[0] - 0.5) - gain / 20 * v[0]], limit=0.1)

    found, exact = (run(ROD, 2.0, torque=law(), rtol=rtol) for rtol in (1e-4, 1e-8))
    assert np.abs(found.array("q") - exact.at(found.array("time")).array("q")).max() < 1e-4


def test_a_function_that_fails_at_a_sample_only_leaves_a_gap_there():
    def sinc(t):
        return 0.01 * math.sin(t - 0.5) / (t - 0.5)

    found = run(ROD, 1.0, torque={"rod": sinc}, sample=0.1)
    assert found.status == "completed"
    assert np.flatnonzero(np.isnan(found.array("torque")[:, 0])).tolist() == [5]


def test_a_verification_that_is_interrupted_loses_nothing(monkeypatch):
    from flexarm.simulation import simulate as module

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "largest_distance", interrupted)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = run(ROD, 1.0, torque={"rod": 0.01}, verify=True)
    assert (found.status, found.error_estimate) == ("completed", None)
