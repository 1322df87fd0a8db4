"""Computed torque with a fast loop, and feedback linearization of elastic joints."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import expm

import flexarm as fa
from flexarm.profiles.derived import second_rate
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


# --- feedback linearization ---

POLES = [-6.0, -7.0, -5 + 3j, -5 - 3j]


def elastic_arm(count=2, **drive):
    """Rigid links in a vertical plane, with friction at the links and gears at the motors."""
    spring = fa.Drive(**{"stiffness": 200.0, "rotor_inertia": 1e-3, "gear_ratio": 10.0, "torque_at": "motor", **drive})
    joint = fa.Revolute("y", viscous=0.2, drive=spring)
    links = [fa.Link("a", 1.0, joint, mass=2.0), fa.Link("b", 0.7, joint, mass=1.0)]
    return fa.Robot("arm", links=links[:count], gravity=(0, 0, -9.81))


def linear_errors(times, start):
    A = np.zeros((4, 4))
    A[:3, 1:] = np.eye(3)
    A[3] = -np.poly(POLES).real[:0:-1]
    return np.array([(expm(A * t) @ start)[0] for t in times])


def rates_of_joints(system, q, v):
    """Accelerations and their rates, which torques do not change: by differences along the motion."""
    a, h = system.forward_dynamics(q, v), 1e-5
    ahead, behind = (system.forward_dynamics(q + s * h * v + h * h / 2 * a, v + s * h * a) for s in (1, -1))
    return a, (ahead - behind) / (2 * h)


@pytest.mark.parametrize("count", [1, 2])
def test_the_error_obeys_the_equation_of_order_four(count):
    robot = elastic_arm(count)
    references = {"a.q": fa.rest_to_rest(0.0, 1.0, 2.0, smooth=4), "b.q": fa.sine(0.3, 0.5)}
    references = {name: references[name] for name in ("a.q", "b.q")[:count]}
    law = fa.elastic_joint_linearization(robot, POLES, references)
    system = fa.System(robot, native=False)
    q0 = system.vector({"a.q": 0.05, "a.motor": 0.0, **({"b.q": -0.05, "b.motor": -0.04} if count == 2 else {})})
    v0 = system.vector({"a.q": 0.2})
    run = fa.simulate(system, 2.0, torque=law, q0=q0, v0=v0, rtol=1e-10, sample=0.05, native=False)
    a, jerk = rates_of_joints(system, q0, v0)
    times = run.data["time"].values
    for name, reference in references.items():
        k, higher = system.index(name), second_rate(reference, "reference")
        goal = [reference(0.0), reference(0.0, 1), reference(0.0, 2), higher(0.0, 1)]
        start = np.array(goal) - [q0[k], v0[k], a[k], jerk[k]]
        found = reference(times) - run[name].values
        assert np.abs(found).max() > 0.03
        assert_allclose(found, linear_errors(times, start), atol=1e-7)


def test_from_a_start_on_it_a_smooth_reference_is_followed():
    robot = elastic_arm()
    references = {"a.q": fa.rest_to_rest(0.0, 1.0, 1.0, smooth=4), "b.q": 0.3}
    law = fa.elastic_joint_linearization(robot, {"a": POLES, "b": [-8.0] * 4}, references)
    system = fa.System(robot, native=False)
    rest = system.vector({"b.q": 0.3, "b.motor": 0.3})
    weight = system.gravity(rest)
    for link in "ab":  # wound up by what hangs on it
        rest[system.index(f"{link}.motor")] += weight[system.index(f"{link}.q")] / 200.0
    run = fa.simulate(system, 1.2, torque=law, q0=rest, rtol=1e-8, native=False)
    assert np.abs(references["a.q"](run.data["time"].values) - run["a.q"].values).max() < 1e-6


def test_a_digital_linearization_follows_too():
    law = fa.elastic_joint_linearization(elastic_arm(1), POLES, {"a": 0.5}, rate=250.0)
    run = fa.simulate(elastic_arm(1), 2.0, torque=law, native=False)
    assert float(run["a.q"][-1]) == pytest.approx(0.5, abs=5e-3)


def test_what_a_linearization_refuses():
    bar, metal = fa.Section.rectangle(0.01, 0.01), fa.Material(7e10, 2700.0)
    bent = fa.Robot("bent", links=[fa.Link("a", 1.0, section=bar, material=metal, flexible=fa.Flexible(bend_y=1))])
    stiff = fa.Robot("stiff", links=[fa.Link("a", 1.0, mass=1.0)])
    good = {"robot": elastic_arm(1), "references": {"a.q": 0.0}, "poles": [-1.0] * 4}
    for change, words in [
        ({"robot": bent}, "its links bend"),
        ({"robot": stiff}, "the drive of 'a' is rigid"),
        ({"robot": elastic_arm(1, damping=0.1)}, "act on the third rate"),
        ({"poles": [-1.0] * 3}, "must be four numbers"),
        ({"poles": [-1.0, -1.0, -1.0, 1.0]}, "negative real parts"),
        ({"poles": [-1.0, -1.0, -1.0, -1 + 1j]}, "in pairs"),
        ({"poles": {"c": [-1.0] * 4}}, "there is no joint at 'c'"),
        ({"references": {"a.q": fa.spline([0, 1, 2], [0, 1, 0])}}, "no third and fourth rates"),
        ({"references": {"a.q": lambda t: float(t)}}, "no third and fourth rates"),
        ({"references": {"a.p": 0.0}}, "there are a"),
    ]:
        with pytest.raises((ValueError, TypeError, KeyError), match=words):
            fa.elastic_joint_linearization(**{**good, **change})
