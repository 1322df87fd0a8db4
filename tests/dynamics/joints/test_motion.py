"""Motion of single joints with springs, dampers, friction and limits against closed forms."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa

BOB = fa.PointMass(2.0)
DOWN = (0.0, 0.0, -9.81)
QUIET = pytest.mark.filterwarnings("ignore::flexarm.dynamics.accuracy.validity.ValidityWarning")


def one(joint, **link):
    """Return a robot with one link of 0.5 m with a mass at its tip."""
    link = {"mass": 0.0, "payload": BOB, **link}
    return fa.Robot(links=[fa.Link("a", 0.5, joint, **link)], gravity=DOWN)


def test_a_nut_sinks_along_a_screw():
    m, inertia, pitch, duration = 2.0, 0.3, 0.2, 0.5
    nut = fa.PointMass(m, offset=(-0.5, 0.0, 0.0), inertia=(0.1, 0.1, inertia))
    robot = one(fa.Screw("z", pitch=pitch), payload=nut)
    run = fa.simulate(robot, duration)
    lead = pitch / (2 * np.pi)
    acceleration = -m * 9.81 * lead / (inertia + m * lead**2)
    assert_allclose(run.array("q")[-1], [acceleration * duration**2 / 2], rtol=1e-6)
    sunk = fa.System(robot, native=False).frame("a", 0.0, run.array("q")[-1])[2, 3]
    assert_allclose(sunk, lead * acceleration * duration**2 / 2, rtol=1e-6)


def test_a_free_planar_body_moves_straight_while_its_centre_has_no_force():
    robot = fa.Robot(links=[fa.Link("a", 1.0, fa.Planar(), mass=1.0)])
    run = fa.simulate(robot, 2.0, v0={"a.x": 0.5, "a.rz": 3.0})
    q = run.array("q")
    centre = q[:, :2] + 0.5 * np.column_stack([np.cos(q[:, 2]), np.sin(q[:, 2])])
    velocity = np.array([0.5, 1.5])
    assert_allclose(centre, [0.5, 0.0] + run.array("time")[:, None] * velocity, atol=1e-5)
    assert_allclose(q[-1, 2], 6.0, rtol=1e-6)


def test_a_planar_joint_three_rails_and_other_axes_move_equally():
    body = {"mass": 1.0, "payload": BOB}
    start = {"x": 0.3, "y": -0.2, "rz": 2.0}
    runs = []
    for axes in (("x", "y"), ("x", "z")):
        link = fa.Link("a", 1.0, fa.Planar(axes, mount=(0.3, 0.2, 0.1)), **body)
        runs.append((fa.Robot(links=[link]), {f"a.{name}": each for name, each in start.items()}))
    rails = [
        fa.Link("x", 0.1, fa.Prismatic("x"), mass=0.0),
        fa.Link("y", 0.1, fa.Prismatic("y"), mass=0.0, at=0.0),
        fa.Link("a", 1.0, fa.Revolute("z"), at=0.0, **body),
    ]
    runs.append((fa.Robot(links=rails), {"x.q": 0.3, "y.q": -0.2, "a.q": 2.0}))
    ends = [fa.simulate(robot, 1.0, v0=v0, rtol=1e-8).array("q")[-1] for robot, v0 in runs]
    for other in ends[1:]:
        assert_allclose(other, ends[0], atol=1e-6)


def test_a_passive_pendulum_has_its_frequency():
    robot = one(fa.Revolute("y", actuated=False))
    q = fa.equilibrium(robot)
    assert_allclose(q, [np.pi / 2], atol=1e-9)
    found = fa.modes(robot, q, joints="locked")
    assert_allclose(found.frequencies, [np.sqrt(9.81 / 0.5) / (2 * np.pi)], rtol=1e-9)


def test_a_spherical_pendulum_on_a_universal_joint_has_two_frequencies():
    down = fa.Universal(("y", "z"), mount=(0, np.pi / 2, 0))
    found = fa.modes(one(down))
    assert_allclose(found.frequencies, 2 * [np.sqrt(9.81 / 0.5) / (2 * np.pi)], rtol=1e-9)


SPRUNG = {
    "revolute": (fa.Revolute("z", stiffness=50.0, rest=0.3, viscous=0.4), [0.3], [50.0 / (2.0 * 0.25)], [0.4]),
    "prismatic": (fa.Prismatic("x", stiffness=800.0, rest=-0.1, viscous=3.0), [-0.1], [800.0 / 2.0], [3.0]),
    "cylindrical": (
        fa.Cylindrical("z", stiffness=(50.0, 800.0), rest=(0.3, 0.0), viscous=(0.4, 3.0)),
        [0.3, -2.0 * 9.81 / 800.0],
        [50.0 / (2.0 * 0.25), 800.0 / 2.0],
        [0.4, 3.0],
    ),
}


@pytest.mark.parametrize("kind", SPRUNG)
def test_springs_hold_a_passive_joint(kind):
    joint, rest, squares, viscous = SPRUNG[kind]
    robot = one(joint.model_copy(update={"actuated": False}))
    system = fa.System(robot, native=False)
    q = fa.equilibrium(robot)
    assert_allclose(q, rest, atol=1e-9)
    assert_allclose(np.sort(fa.modes(robot, q).frequencies), np.sort(np.sqrt(squares)) / (2 * np.pi), rtol=1e-9)
    stiffness = np.array(squares) * np.diag(system.mass_matrix(q))
    away = q + 0.1
    energies = system.energy(away, np.zeros(system.nq)).drive - system.energy(q, np.zeros(system.nq)).drive
    moved = away - np.array([each.rest for each in joint.freedom_properties])
    before = q - np.array([each.rest for each in joint.freedom_properties])
    assert_allclose(energies, stiffness @ (moved**2 - before**2) / 2, rtol=1e-12)
    assert_allclose(np.diag(system.linearization(q).D), viscous)


@pytest.mark.parametrize("k", range(3))
def test_friction_stops_each_freedom_of_a_planar_joint(k):
    coulomb, rates = [0.0] * 3, [0.0] * 3
    coulomb[k], rates[k] = 0.4, 0.5
    ball = fa.PointMass(2.0, offset=(-0.5, 0, 0), inertia=(1.0, 1.0, 2.0))
    robot = fa.Robot(links=[fa.Link("a", 0.5, fa.Planar(coulomb=coulomb), mass=0.0, payload=ball)])
    run = fa.simulate(robot, 3.0, v0=np.array(rates))
    assert_allclose(run.array("q")[-1, k], 2.0 * 0.5**2 / (2 * 0.4), rtol=0.01)  # it stops after v^2 / (2 F / m)
    assert abs(run.array("v")[-1, k]) < 1e-6
    assert_allclose(np.delete(run.array("q")[-1], k), 0.0, atol=1e-12)


@pytest.mark.parametrize(("k", "name", "unit"), [(0, "a.x", "m"), (1, "a.y", "m"), (2, "a.rz", "rad")])
def test_limits_of_each_freedom_end_a_run(k, name, unit):
    limits, rates = [None] * 3, [0.0] * 3
    limits[k], rates[k] = (-0.1, 0.2), 0.5
    ball = fa.PointMass(2.0, offset=(-0.5, 0, 0), inertia=(1.0, 1.0, 2.0))
    robot = fa.Robot(links=[fa.Link("a", 0.5, fa.Planar(limits=limits), mass=0.0, payload=ball)])
    run = fa.simulate(robot, 3.0, v0=np.array(rates))
    assert f"'{name}' reached its upper limit 0.2 {unit} at t = 0.4 s" in str(run)
    with pytest.raises(ValueError, match=f"joint '{name}' starts at 0.5 {unit}, outside its travel"):
        fa.simulate(robot, 1.0, q0={name: 0.5})


def test_a_prismatic_joint_has_a_stop_and_an_elastic_drive():
    joint = fa.Prismatic(
        "x", limits=(-0.2, 0.2), stop=fa.Stop(1e4, 20.0), drive=fa.Drive(500.0, 1.0, 0.5, gear_ratio=2.0)
    )
    robot = fa.Robot(links=[fa.Link("a", 0.5, joint, mass=1.0)])
    run = fa.simulate(robot, 1.0, torque={"a": 30.0})
    assert 0.2 < float(run["a.q"].max()) < 0.25
    with pytest.raises(fa.DescriptionError, match=r"limits: is required \(m\), since the joint has a stop"):
        fa.Prismatic(stop=fa.Stop(1e4))


def test_an_actuated_compound_joint_follows_motions_and_torques():
    robot = fa.Robot(links=[fa.Link("cart", 0.5, fa.Planar(actuated=True), mass=2.0)])
    system = fa.System(robot, native=False)
    assert system.inputs == ("cart.x", "cart.y", "cart.rz")
    assert system.input_units == ("N", "N", "N m")
    run = fa.simulate(
        robot, 1.0, motion={"cart.x": fa.cycloid(0, 1, 1), "cart.rz": fa.cycloid(0, 1, 1)}, torque={"cart.y": 1.0}
    )
    assert_allclose(run.array("q")[-1, [0, 2]], 1.0, atol=1e-9)
    pushed = fa.simulate(robot, 1.0, torque={"cart.x": 4.0, "cart.rz": 0.0, "cart.y": 0.0}, motion={})
    assert_allclose(pushed.array("q")[-1, 0], 1.0, rtol=1e-6)
    law = fa.pd(robot, 50.0, 20.0, {"cart.x": 0.3, "cart.y": -0.1, "cart.rz": 0.2})
    held = fa.simulate(robot, 8.0, torque=law)
    assert_allclose(held.array("q")[-1], [0.3, -0.1, 0.2], atol=1e-3)
    with pytest.raises(KeyError, match=r"'cart' has several inputs: cart.x, cart.y, cart.rz"):
        fa.simulate(robot, 1.0, torque={"cart": 1.0})
