"""Passive joints: no input, not held, skipped by controllers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa
from flexarm.dynamics.constraints.initial_projection import Assembly

DOWN = (0.0, 0.0, -9.81)
POLE = fa.Revolute("y", actuated=False)
CART_POLE = fa.Robot(
    "cart and pole",
    links=[
        fa.Link("cart", 0.2, fa.Prismatic("x"), mass=1.0),
        fa.Link("pole", 0.5, POLE, mass=0.0, payload=fa.PointMass(0.3), at=0.0),
    ],
    gravity=DOWN,
)


def test_a_passive_joint_has_no_input():
    system = fa.System(CART_POLE, native=False)
    assert system.inputs == ("cart",)
    assert system.nu == 1
    assert system.names == ("cart.q", "pole.q")
    assert "revolute y, passive" in str(CART_POLE)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"torque": {"pole": 1.0}}, "torque: the joint of 'pole' is passive: nothing drives it"),
        ({"torque": {"pole.q": 1.0}}, "torque: the joint of 'pole' is passive: nothing drives it"),
        ({"motion": {"pole": fa.cycloid(0, 1, 1)}}, "motion: the joint of 'pole' is passive: nothing drives it"),
        ({"torque": {"pol": 1.0}}, "torque: there is no actuator at 'pol'"),
    ],
)
def test_nothing_drives_it(options, message):
    with pytest.raises(KeyError, match=message):
        fa.simulate(CART_POLE, 1.0, **options)


def test_a_drive_needs_an_actuator():
    with pytest.raises(fa.DescriptionError, match=r"drive = .*: must be left out with actuated = false"):
        fa.Revolute(actuated=False, drive=fa.Drive())


def test_it_settles_in_equilibrium():
    assert_allclose(fa.equilibrium(CART_POLE, {"cart.q": 0.3}), [0.3, np.pi / 2], atol=1e-9)
    assert_allclose(fa.equilibrium(CART_POLE, {"pole.q": 3.0}), [0.0, np.pi / 2], atol=1e-9)
    with pytest.raises(ArithmeticError, match=r"no stable equilibrium was found: 'pole.q' gives way"):
        fa.equilibrium(CART_POLE, {"pole.q": -np.pi / 2})
    with pytest.raises(ArithmeticError, match=r"'cart.q' does not settle"):
        fa.equilibrium(CART_POLE.with_({"links.cart.joint.actuated": False, "gravity": (1.0, 0.0, 0.0)}))


def test_a_flexible_link_hangs_from_a_passive_joint():
    beam = {"section": fa.Section.rectangle(0.02, 0.004), "material": fa.Material(7e10, 2700.0)}
    links = [
        fa.Link("arm", 0.6, fa.Revolute("y"), flexible=fa.Flexible(bend_z=2), **beam),
        fa.Link("load", 0.3, fa.Universal(("y", "z")), mass=0.2),
    ]
    robot = fa.Robot(links=links, gravity=DOWN)
    q = fa.equilibrium(robot)
    system = fa.System(robot, native=False)
    force = system.gravity(q) + system.spring_forces(q)
    assert_allclose(force[1:], 0.0, atol=1e-9)
    tip, end = (system.frame(name, None, q)[:3, 3] for name in ("arm", "load"))
    assert_allclose(end - tip, [0.0, 0.0, -0.3], atol=1e-6)
    assert len(fa.modes(robot, q, joints="locked").frequencies) == system.nq - 1


def test_neutral_joints_stay_where_they_are():
    robot = fa.Robot(links=[fa.Link("a", 0.5, fa.Planar(), mass=1.0)], gravity=DOWN)
    assert_allclose(fa.equilibrium(robot, {"a.x": 0.2, "a.rz": 1.0}), [0.2, 0.0, 1.0], atol=1e-12)
    assert fa.modes(robot).frequencies.tolist() == [0.0, 0.0, 0.0]


def test_a_linear_model_and_lqr_balance_the_pole():
    upright = {"pole.q": -np.pi / 2}
    lin = fa.linearize(CART_POLE, upright)
    assert [each.name for each in lin.inputs] == ["cart"]
    rising = np.linalg.eigvals(lin.A).real.max()
    assert_allclose(rising, np.sqrt(1.3 * 9.81 / (1.0 * 0.5)), rtol=1e-9)
    law = fa.lqr(lin, Q={"cart.q": 10.0, "pole.q": 100.0}, R=0.1).feedback()
    run = fa.simulate(CART_POLE, 5.0, torque=law, q0={"pole.q": -np.pi / 2 + 0.1})
    assert_allclose(run.array("q")[-1], [0.0, -np.pi / 2], atol=0.02)


def test_controllers_skip_it():
    law = fa.pd(CART_POLE, 20.0, 5.0, {"cart": 0.2})
    assert list(law.references) == ["cart.q"]
    fa.simulate(CART_POLE, 0.5, torque=law)
    assert set(fa.pid(CART_POLE, 20.0, 1.0, 5.0, {"cart": 0.2}).references) == {"cart.q"}
    weight = fa.gravity_torque(CART_POLE)
    assert fa.simulate(CART_POLE, 0.1, torque=weight).data["input"].values.tolist() == ["cart"]


@pytest.mark.parametrize("control", [fa.computed_torque])
def test_models_of_all_joints_refuse_it(control):
    with pytest.raises(
        ValueError, match=r"has passive joints \(pole\); computed torque is for robots with an actuator"
    ):
        control(CART_POLE, 10.0, 1.0, 0.0)


def test_robots_without_any_actuator_are_refused_by_controllers():
    pendulum = fa.Robot(links=[fa.Link("a", 1.0, POLE, mass=1.0)], gravity=DOWN)
    with pytest.raises(ValueError, match=r"no joint that could be driven \(its joints are passive: actuated = false"):
        fa.pd(pendulum, 1.0, 1.0, 0.0)
    lin = fa.linearize(pendulum, {"a.q": np.pi / 2})
    assert lin.B.shape == (2, 0)
    with pytest.raises(ValueError, match="no input that is an actuator"):
        fa.lqr(lin, Q=1.0)


def test_a_closed_loop_holds_driven_joints():
    hinge = fa.Revolute("z", actuated=False)
    four_bar = fa.Robot(
        links=[
            fa.Link("crank", 0.1, mass=0.1),
            fa.Link("coupler", 0.3, hinge, mass=0.3),
            fa.Link("rocker", 0.25, hinge, mass=0.25, parent="ground", offset=(0.3, 0.0, 0.0)),
        ],
        gravity=(0, -9.81, 0),
        constraints=[fa.Loop("coupler", "rocker")],
    )
    start = {"crank.q": 0.8, "coupler.q": 0.2, "rocker.q": 1.5}
    q = fa.equilibrium(four_bar, start)
    assert_allclose(q[0], 0.8, atol=1e-12)
    lin = fa.linearize(four_bar, dict(zip(fa.System(four_bar).names, q, strict=True)))
    assert [each.name for each in lin.inputs] == ["crank"]
    assert set(lin.held) == {"crank"}


def test_a_joint_with_several_coordinates_is_asked_for_all_of_them():
    system = fa.System(fa.Robot(links=[fa.Link("a", 0.5, fa.Cylindrical(), mass=1.0)]), native=False)
    assert [each.name for each in system.joints("a")] == ["a.q", "a.d"]
    with pytest.raises(ValueError, match=r"has several coordinates \(a.q, a.d\): take joints"):
        system.joint("a")
    with pytest.raises(KeyError, match="there is no link 'b'"):
        system.joints("b")


def energy(system, q):
    found = system.energy(q)
    return float(found.elastic + found.gravity + found.drive)


@pytest.mark.parametrize("crank", np.linspace(0.4, 5.5, 8))
def test_a_released_closed_loop_settles_downhill(crank):
    """A four-bar that hangs on a spring: Newton's method may jump to another assembly, many turns away."""

    def hinge(**options):
        return fa.Revolute("z", actuated=False, **options)

    links = [
        fa.Link("crank", 0.3, hinge(), mass=0.5),
        fa.Link("coupler", 1.0, hinge(), mass=1.0),
        fa.Link("rocker", 0.6, hinge(stiffness=20.0, rest=1.5), mass=0.8, parent="ground", offset=(1, 0, 0)),
    ]
    robot = fa.Robot(links=links, constraints=[fa.Loop("coupler", "rocker")], gravity=(0, -9.81, 0))
    system = fa.System(robot, native=False)
    start = Assembly(system, [0]).posture(np.array([crank, -0.65, 1.4]))
    found = fa.equilibrium(robot, start)
    assert energy(system, found) <= energy(system, start) + 1e-9
    assert np.abs(found - start).max() < 2 * np.pi
    assert np.abs(system.constraint(found)).max() < 1e-9


def test_a_passive_joint_is_locked_by_name():
    links = [
        fa.Link("a", 1.0, fa.Revolute("z", stiffness=10.0), mass=1.0),
        fa.Link("b", 1.0, fa.Revolute("z", actuated=False, stiffness=20.0), mass=1.0),
    ]
    robot = fa.Robot(links=links)
    inertia = fa.System(robot, native=False).mass_matrix()
    expected = np.sqrt(10.0 / inertia[0, 0]) / (2 * np.pi)
    assert fa.modes(robot, joints={"b": "locked"}).frequencies == pytest.approx([expected])
    assert len(fa.modes(robot, joints="locked")) == 1  # of the passive one


def test_a_joint_that_rests_beyond_its_limits_raises_a_warning():
    spring = fa.Prismatic("z", actuated=False, stiffness=10.0, limits=(-0.1, 0.1))
    robot = fa.Robot(links=[fa.Link("a", body=fa.RigidBody(1.0), joint=spring)], gravity=(0, 0, -9.81))
    with pytest.warns(fa.ValidityWarning, match=r"'a.q' rests at -0.981 m, beyond its limits -0.1 to 0.1"):
        assert fa.equilibrium(robot) == pytest.approx([-0.981])


def test_a_linear_model_without_inertia_is_refused():
    with pytest.raises(ValueError, match=r"the mass matrix is singular: 'link1\.q', 'link2\.q' have no inertia"):
        fa.linearize(fa.from_dh([(1, 0, 0, 0), (1, 0, 0, 0)]))


def test_a_sweep_over_the_tip_is_refused():
    with pytest.raises(ValueError, match="over: 'tip' is a measure of every member"):
        fa.sweep(CART_POLE, {"tip": ["cart", "pole"]}, 0.1)
