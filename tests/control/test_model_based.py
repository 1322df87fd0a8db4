"""Computed torque: exact on rigid robots, nearly so on stiff ones, and a fast loop that damps what bends."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import expm

import flexarm as fa
from tests.control.closed_loops import closed_loop_poles

KP, KD = 25.0, 6.0


def arm(drive=None, gravity=(0, 0, -9.81)):
    joints = [fa.Revolute("y", viscous=0.1, drive=drive), fa.Revolute("y", coulomb=0.05, drive=drive)]
    links = [fa.Link("a", 1.0, joints[0], mass=2.0), fa.Link("b", 0.7, joints[1], mass=1.0)]
    return fa.Robot("arm", links=links, gravity=gravity)


REFERENCES = {"a.q": fa.minimum_jerk(0.0, 1.0, 1.5), "b.q": fa.sine(0.3, 0.5)}


def error(run, name):
    return REFERENCES[name](run.data["time"].values) - run[name].values


def linear_error(times, start, kp=KP, kd=KD):
    A = np.array([[0.0, 1.0], [-kp, -kd]])
    return np.array([(expm(A * t) @ start)[0] for t in times])


@pytest.mark.parametrize("drive", [None, fa.Drive(rotor_inertia=1e-3, gear_ratio=20.0, torque_at="motor")])
def test_on_a_rigid_robot_the_error_obeys_its_linear_equation(drive):
    """With gravity, friction and rotors behind gears."""
    law = fa.computed_torque(arm(drive), KP, {"a": KD, "b": KD}, REFERENCES)
    start = {"a.q": 0.1, "b.q": -0.2}
    run = fa.simulate(arm(drive), 1.5, torque=law, q0=start, rtol=1e-9, sample=0.05, native=False)
    times = run.data["time"].values
    assert_allclose(error(run, "a.q"), linear_error(times, [-0.1, 0.0]), atol=2e-8)
    assert_allclose(error(run, "b.q"), linear_error(times, [0.2, 0.3 * np.pi]), atol=2e-8)


def test_a_digital_one_follows_too():
    law = fa.computed_torque(arm(), KP, KD, REFERENCES, rate=250.0)
    run = fa.simulate(arm(), 1.0, torque=law, v0={"b.q": 0.3 * np.pi}, native=False)
    assert np.abs(error(run, "a.q")).max() < 1e-2


def hubs(stiffer=1.0):
    """Two links that bend, on hubs."""
    metal, bar = fa.Material(E=7e10 * stiffer, rho=2700.0), fa.Section.rectangle(0.004, 0.03)
    shapes = fa.Flexible(bend_y=1, stiffening="none")
    inner = fa.Link("a", 0.6, fa.Revolute("z"), bar, metal, shapes, hub=fa.PointMass(0.0, inertia=0.05))
    outer = fa.Link(
        "b", 0.5, fa.Revolute("z"), bar, metal, shapes,
        hub=fa.PointMass(0.5, inertia=0.02), payload=fa.PointMass(0.2),
    )  # fmt: skip
    return fa.Robot("hubs", links=[inner, outer])


def test_stiff_links_track_as_rigid_ones_do():
    """The error against the rigid robot falls as the links' softness."""
    start = {"v0": {"b.q": 0.3 * np.pi}, "sample": 0.05, "native": False, "rtol": 1e-7}
    rigid = hubs().rigid()
    exact = fa.simulate(rigid, 1.5, torque=fa.computed_torque(rigid, KP, KD, REFERENCES), **start)
    apart = []
    for stiffer in (10.0, 100.0):
        law = fa.computed_torque(hubs(stiffer), KP, KD, REFERENCES, fast=0.5)
        run = fa.simulate(hubs(stiffer), 1.5, torque=law, **start)
        apart.append(np.abs(run["b.q"].values - exact["b.q"].values).max())
    assert apart[0] / apart[1] == pytest.approx(10.0, rel=0.35)
    assert apart[1] < 1e-3


def test_the_fast_loop_damps_the_lowest_mode_and_leaves_the_slow_poles():
    robot, q = hubs(), {"a.q": 0.3, "b.q": 0.7}
    system = fa.System(robot, native=False)
    lin = fa.linearize(system, q)
    ratios, slow, slowest = [], [], []
    for fast in (0.0, 0.2, 0.5, 50.0):
        law = fa.computed_torque(system, 4.0, 4.0, {"a": 0.3, "b": 0.7}, fast=fast)
        poles = closed_loop_poles(system, law, lin, q)
        first = min(poles[poles.imag > 30], key=abs, default=-1.0)
        ratios.append(-first.real / abs(first))
        slow.append(np.sort(poles[np.abs(poles) < 5].real))
        slowest.append(poles.real.max())
    assert ratios[1] > 1.5 * ratios[0]
    assert ratios[2] > 2.5 * ratios[0]
    assert_allclose(slow[1], slow[0], atol=0.5)
    assert max(slowest[:3]) < 0 < slowest[3]  # too much of it reaches the slow motion


def test_the_fast_loop_steadies_an_elastic_joint_that_is_unstable_without():
    spring = fa.Revolute("z", drive=fa.Drive(stiffness=400.0, rotor_inertia=0.2))
    system = fa.System(fa.Robot("soft", links=[fa.Link("a", 1.0, spring, mass=2.0)]), native=False)
    lin = fa.linearize(system)
    poles = {
        fast: closed_loop_poles(system, fa.computed_torque(system, 4.0, 4.0, {"a": 0.0}, fast=fast), lin, None)
        for fast in (0.0, 5.0)
    }
    assert poles[0.0].real.max() > 1
    assert poles[5.0].real.max() < -1.5
    # the boundary layer by hand: d'' + gain M / (J (J + M)) d' + k (1 / J + 1 / M) d = 0 of the wind-up d
    M, J = 2.0 / 3, 0.2
    slow, damped = (each[np.abs(each) > 20].real.mean() for each in poles.values())
    assert damped - slow == pytest.approx(-5.0 * M / (J * (J + M)) / 2, rel=0.02)


def test_gains_are_numbers_that_may_change():
    law = fa.computed_torque(arm(), [1.0, 2.0], 3.0, {"a": 0.0, "b.q": 0.0})
    assert (law.gains["kp"].tolist(), law.gains["kd"].tolist()) == ([1.0, 2.0], [3.0, 3.0])
    assert "fast" not in law.gains


def test_what_is_refused():
    loop = fa.Robot(
        "loop",
        links=[fa.Link("a", 1.0, mass=1.0), fa.Link("b", 1.0, mass=1.0)],
        constraints=[fa.OnLine("b", direction="x", point=[0, 0.5, 0])],
    )
    good = {"robot": arm(), "references": REFERENCES, "kp": 1.0, "kd": 1.0}
    for change, words in [
        ({"robot": loop}, "has constraints"),
        ({"robot": fa.Robot("still", links=[fa.Link("a", 1.0, fa.Weld(), mass=1.0)])}, "no joint"),
        ({"references": {"a.q": 1.0}}, "none for 'b'"),
        ({"references": {"a.q": 1.0, "c.q": 1.0}}, "there is no actuator at 'c.q'"),
        ({"kp": {"a": 1.0}}, "no number for 'b'"),
        ({"kp": {"c": 1.0}}, "there is no joint at 'c'"),
        ({"kd": [1.0, 2.0, 3.0]}, "one for each of a, b"),
        ({"kd": 0.0}, "positive"),
        ({"fast": -1.0}, "zero or positive"),
    ]:
        with pytest.raises((ValueError, TypeError, KeyError), match=words):
            fa.computed_torque(**{**good, **change})
