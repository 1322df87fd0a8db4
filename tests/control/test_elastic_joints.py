"""Feedback linearization of elastic joints: errors obey the specified linear equation of order four."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import expm

import flexarm as fa
from flexarm.profiles.derived import second_rate

POLES = [-6.0, -7.0, -5 + 3j, -5 - 3j]


def arm(count=2, **drive):
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
    robot = arm(count)
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
    robot = arm()
    references = {"a.q": fa.rest_to_rest(0.0, 1.0, 1.0, smooth=4), "b.q": 0.3}
    law = fa.elastic_joint_linearization(robot, {"a": POLES, "b": [-8.0] * 4}, references)
    system = fa.System(robot, native=False)
    rest = system.vector({"b.q": 0.3, "b.motor": 0.3})
    weight = system.gravity(rest)
    for link in "ab":  # wound up by what hangs on it
        rest[system.index(f"{link}.motor")] += weight[system.index(f"{link}.q")] / 200.0
    run = fa.simulate(system, 1.2, torque=law, q0=rest, rtol=1e-8, native=False)
    assert np.abs(references["a.q"](run.data["time"].values) - run["a.q"].values).max() < 1e-6


def test_a_digital_one_follows_too():
    law = fa.elastic_joint_linearization(arm(1), POLES, {"a": 0.5}, rate=250.0)
    run = fa.simulate(arm(1), 2.0, torque=law, native=False)
    assert float(run["a.q"][-1]) == pytest.approx(0.5, abs=5e-3)


def test_what_is_refused():
    bar, metal = fa.Section.rectangle(0.01, 0.01), fa.Material(7e10, 2700.0)
    bent = fa.Robot("bent", links=[fa.Link("a", 1.0, section=bar, material=metal, flexible=fa.Flexible(bend_y=1))])
    stiff = fa.Robot("stiff", links=[fa.Link("a", 1.0, mass=1.0)])
    good = {"robot": arm(1), "references": {"a.q": 0.0}, "poles": [-1.0] * 4}
    for change, words in [
        ({"robot": bent}, "its links bend"),
        ({"robot": stiff}, "the drive of 'a' is rigid"),
        ({"robot": arm(1, damping=0.1)}, "act on the third rate"),
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
