"""Equilibrium under loads, compliance and stiffness against formulas, the elastica, differences and simulations."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa
from tests.helpers import unit_link
from tests.oracles import elastica, rod
from tests.simulation.test_constraints import at, four_bar

EXACT = fa.Flexible(bend_y=8, basis="elements", stiffening="exact")
SPACE = fa.Flexible(bend_y=2, bend_z=2, twist=2, stretch=2, basis="elements")
STEEL = {"section": fa.Section.rectangle(0.02, 0.01), "material": fa.Material(E=7e10, rho=2700)}


def cantilever(flexible: fa.Flexible = EXACT, gravity=(0, 0, 0), **fields) -> fa.Robot:
    return fa.Robot(links=[unit_link(joint=fa.Weld(), flexible=flexible, **fields)], gravity=gravity)


def elastic_arm(stiffness=(1000.0, 400.0, 200.0), gravity=(0, 0, 0)) -> fa.Robot:
    """A rigid arm with axes z, y, y and elastic drives."""
    drives = [fa.Drive(stiffness=each, rotor_inertia=0.1) for each in stiffness]
    links = [
        fa.Link(name, 0.5, fa.Revolute(axis, drive=drive), mass=1.0)
        for name, axis, drive in zip("abc", "zyy", drives, strict=True)
    ]
    return fa.Robot(links=links, gravity=gravity)


# --- equilibrium under loads and torques ---


@pytest.mark.parametrize("load", [1, 10])
def test_a_force_on_a_tip_bends_a_link_to_the_elastica(load):
    robot = fa.System(cantilever(), native=False)
    q = fa.equilibrium(robot, loads=[fa.PointLoad("beam", force=(0, load, 0))])
    exact = elastica.tip((0, load))
    assert_allclose(robot.tip(q)[:2], exact[:2], atol=2e-5)
    assert np.abs(exact[:2] - [1, 0]).max() > 0.25


@pytest.mark.parametrize("turns", [0.25, 1.0])
def test_a_moment_bends_a_link_to_a_circle(turns):
    angle = 2 * np.pi * turns
    system = fa.System(cantilever(), native=False)
    q = fa.equilibrium(system, loads=[fa.PointLoad("beam", torque=(0, 0, angle))])
    assert_allclose(system.tip(q), np.array([np.sin(angle), 1 - np.cos(angle), 0]) / angle, atol=2e-4)


def test_a_skew_force_bends_and_twists_a_link_to_the_rod():
    force, stiffness = (0.3, 1.6, -2.6), {"GJ": 0.4, "EI_y": 1.0, "EI_z": 0.5}
    section = fa.Section.properties(A=1, I_y=1.0, I_z=0.5, J=0.4, I_p=1)
    flexible = fa.Flexible(bend_y=4, bend_z=4, twist=4, stiffening="exact", basis=fa.Modes(tip_mass=1e-7))
    system = fa.System(cantilever(flexible, section=section), native=False)
    q = fa.equilibrium(system, loads=[fa.PointLoad("beam", force=force)])
    exact = rod.equilibrium(rod.Rod(length=1.0, force=force, **stiffness)).r[0]
    assert_allclose(system.tip(q), exact, atol=1e-3)


def test_weight_as_a_load_is_gravity():
    heavy = cantilever(gravity=(0, -2.0, 0), mass=1e-9, payload=fa.PointMass(1.0))
    light = cantilever(mass=1e-9, payload=fa.PointMass(1.0))
    q = fa.equilibrium(light, loads=[fa.PointLoad("beam", force=(0, -2.0, 0))])
    assert_allclose(q, fa.equilibrium(heavy), atol=1e-7)


def test_forces_of_loads_are_the_gradient_of_their_work():
    robot = fa.System(fa.Robot(links=[fa.Link("a", 1.0, flexible=SPACE, **STEEL)]), native=False)
    rng = np.random.default_rng(2)
    q, w = 0.1 * robot.sizes * rng.standard_normal(robot.nq), rng.standard_normal(6)
    forces, stiffness = robot.load_forces("a", 0.7, w, q)
    J = robot.jacobian("a", 0.7, q, axes="world")
    assert_allclose(forces, J[3:].T @ w[:3] + J[:3].T @ w[3:], rtol=1e-12, atol=1e-12)
    step = 1e-6 * np.diag(robot.sizes)
    ends = [robot.load_forces("a", 0.7, w, q + way * step)[0] for way in (1, -1)]
    expected = -(ends[0] - ends[1]).T / (2e-6 * robot.sizes)
    assert_allclose(stiffness, expected, atol=1e-7 * np.abs(expected).max())


@pytest.mark.filterwarnings("ignore::flexarm.ValidityWarning")
def test_the_end_of_a_damped_run_is_the_equilibrium():
    flexible = fa.Flexible(bend_y=2, damping=fa.Damping(ratio=0.5), stiffening="exact")
    robot = fa.Robot(links=[unit_link(joint=fa.Weld(), flexible=flexible)], gravity=(0, -0.5, 0))
    loads = [fa.PointLoad("beam", x=0.6, force=(0.2, 1.5, 0)), fa.PointLoad("beam", torque=(0, 0, -0.4))]
    q = fa.equilibrium(robot, loads=loads)
    run = fa.simulate(robot, 40.0, loads=loads, native=False)
    assert_allclose([run[name][-1] for name in fa.System(robot).names], q, atol=1e-5 * np.abs(q).max())


def test_a_joint_with_a_torque_settles_under_it():
    robot = fa.Robot(links=[fa.Link("rod", 1.0, mass=0.0, payload=fa.PointMass(2.0))], gravity=(9.81, 0, 0))
    q = fa.equilibrium(robot, torque={"rod": 4.0})
    assert q == pytest.approx([np.arcsin(4.0 / (2 * 9.81))], abs=1e-10)
    assert fa.equilibrium(robot) == pytest.approx([0.0])


def test_a_torque_through_a_gear_moves_the_motor_of_an_elastic_drive():
    drive = fa.Drive(stiffness=50.0, rotor_inertia=1e-4, gear_ratio=10.0, torque_at="motor")
    link = fa.Link("rod", 1.0, fa.Revolute("z", drive=drive), mass=0.0, payload=fa.PointMass(2.0))
    system = fa.System(fa.Robot(links=[link], gravity=(9.81, 0, 0)), native=False)
    q = fa.equilibrium(system, torque={"rod": 0.4})
    joint = np.arcsin(4.0 / (2 * 9.81))
    assert_allclose(q[[system.index("rod.q"), system.index("rod.motor")]], [joint, joint + 4.0 / 50.0], atol=1e-10)


def test_a_torque_that_nothing_balances_is_refused():
    robot = fa.Robot(links=[fa.Link("rod", 1.0, mass=1.0)])
    with pytest.raises(ArithmeticError, match=r"'rod\.q' does not settle: neither springs nor gravity balance"):
        fa.equilibrium(robot, torque={"rod": 1.0})
    assert fa.equilibrium(robot, {"rod.q": 0.3}, torque={"rod": 0.0}) == pytest.approx([0.3])


def test_a_crank_with_a_torque_settles_in_a_closed_loop():
    """Virtual work: the torque on the crank balances the weight of all bars at the posture found."""
    links = [
        link if link.name == "crank" else link.model_copy(update={"joint": fa.Revolute("z", actuated=False)})
        for link in four_bar(gravity=(0, -9.81, 0)).links
    ]
    robot = four_bar(gravity=(0, -9.81, 0)).model_copy(update={"links": tuple(links)})
    system = fa.System(robot, native=False)
    start = fa.equilibrium(system, at(1.0))
    crank = system.index("crank.q")
    torque = -0.2
    q = fa.equilibrium(system, start, torque={"crank": torque})
    potential = [
        system.energy(fa.equilibrium(system, {**dict(zip(system.names, q)), "crank.q": q[crank] + way})).gravity
        for way in (1e-4, -1e-4)
    ]
    assert (potential[0] - potential[1]) / 2e-4 == pytest.approx(torque, abs=1e-5)
    assert np.abs(system.constraint(q)).max() < 1e-9


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"loads": [fa.PointLoad("b", force=(fa.sine(1, 1), 0, 0))]}, ValueError, r"loads\[0\]: fx.*changes with time"),
        ({"loads": fa.PointLoad("b")}, TypeError, "must be a list of fa.PointLoad"),
        ({"loads": [fa.PointLoad("nothing")]}, KeyError, "nothing"),
        ({"torque": {"d": 1.0}}, KeyError, "there is no actuator at 'd'"),
        ({"torque": {"b": fa.step(1, 1)}}, ValueError, "changes with time"),
        ({"torque": [1.0]}, TypeError, "by actuator"),
    ],
)
def test_bad_loads_and_torques_are_refused(given, error, words):
    with pytest.raises(error, match=words):
        fa.equilibrium(elastic_arm(), **given)


# --- compliance ---


def test_a_cantilever_has_the_compliance_of_the_textbook():
    link = fa.Link("bar", 1.5, fa.Weld(), flexible=SPACE, **STEEL)
    found = fa.compliance(fa.Robot(links=[link]))
    E, G, section, length = 7e10, link.material.shear_modulus, link.section.at(0.5), link.length
    expected = np.zeros((6, 6))
    expected[0, 0], expected[3, 3] = length / (E * section.A), length / (G * section.J)
    for k, turn, sign, inertia in ((1, 5, 1, section.I_z), (2, 4, -1, section.I_y)):
        EI = E * inertia
        expected[k, k], expected[turn, turn] = length**3 / (3 * EI), length / EI
        expected[k, turn] = expected[turn, k] = sign * length**2 / (2 * EI)
    assert_allclose(found.matrix, expected, rtol=1e-9, atol=1e-15)
    assert found["rz", "fy"] == pytest.approx(length**2 / (2 * E * section.I_z))
    assert found.units[0][0] == "m/N"
    assert found.units[5][5] == "rad/(N m)"
    stiffness = fa.stiffness(fa.Robot(links=[link]))
    assert_allclose(stiffness.matrix @ expected, np.eye(6), atol=1e-9)
    assert stiffness.units[0][:2] == ("N/m", "N/m")
    assert "fy" in repr(stiffness)
    assert "compliance of 'tip'" in repr(found)


def test_places_have_many_spellings():
    robot = fa.Robot(links=[fa.Link("bar", 1.0, fa.Weld(), flexible=SPACE, **STEEL), fa.Link("end", 0.2, mass=1.0)])
    there = fa.compliance(robot, at="bar(0.5)").matrix
    assert_allclose(fa.compliance(robot, at=("bar", 0.5)).matrix, there)
    assert_allclose(fa.compliance(robot, at="bar").matrix, fa.compliance(robot, at=("bar", 1.0)).matrix)
    assert_allclose(fa.compliance(robot, at="end.tip").matrix, fa.compliance(robot).matrix)
    for wrong, error in (("nowhere", KeyError), (3, TypeError), (("bar", 2.0), ValueError)):
        with pytest.raises(error):
            fa.compliance(robot, at=wrong)


def test_elastic_drives_have_the_compliance_of_the_jacobian():
    robot, q = elastic_arm(), {"a.q": 0.3, "b.q": -0.7, "c.q": 1.1}
    system = fa.System(robot, native=False)
    joints = [system.index(name) for name in q]
    J = system.jacobian("c", None, system.posture(q), axes="world")[[3, 4, 5, 0, 1, 2]][:, joints]
    found = fa.compliance(robot, q)
    assert_allclose(found.matrix, J @ np.diag(1 / np.array([1000.0, 400.0, 200.0])) @ J.T, rtol=1e-10, atol=1e-15)
    stiffness = fa.stiffness(robot, q, components=["x", "y", "z"])
    assert_allclose(stiffness.matrix, np.linalg.inv(found.matrix[:3, :3]), rtol=1e-8)
    with pytest.raises(ValueError, match="the stiffness of 'tip' is infinite"):
        fa.stiffness(robot, q)


def test_a_rigid_robot_does_not_yield():
    robot = fa.Robot(links=[fa.Link("a", 1.0, mass=1.0)])
    assert not fa.compliance(robot).matrix.any()
    with pytest.raises(ValueError, match="nothing yields along x, y, z"):
        fa.stiffness(robot)


def test_differences_of_equilibria_are_the_compliance_under_load():
    """Gravity, a standing load and elastic joints: large deflections, so that geometric stiffness counts."""
    flexible = fa.Flexible(bend_y=4, basis="elements", stiffening="exact")
    arm = unit_link(joint=fa.Revolute("z", drive=fa.Drive(stiffness=3.0, rotor_inertia=0.1)), flexible=flexible)
    robot = fa.System(fa.Robot(links=[arm], gravity=(0, -0.6, 0)), native=False)
    standing = [fa.PointLoad("beam", x=0.5, force=(0.5, -0.8, 0), torque=(0, 0, 0.2))]
    found = fa.compliance(robot, "equilibrium", loads=standing).matrix
    step = 1e-4
    for k, (kind, axis) in {0: ("force", 0), 1: ("force", 1), 5: ("torque", 2)}.items():
        ends = []
        for way in (step, -step):
            wrench = {kind: tuple(np.eye(3)[axis] * way)}
            q = fa.equilibrium(robot, loads=[*standing, fa.PointLoad("beam", **wrench)])
            pose = robot.frame("beam", None, q)
            ends.append(np.array([*pose[:2, 3], np.arctan2(pose[1, 0], pose[0, 0])]))
        assert_allclose(found[[0, 1, 5], k], (ends[0] - ends[1]) / (2 * step), rtol=1e-6, atol=1e-7)
    assert np.abs(found - fa.compliance(robot).matrix).max() > 0.05 * np.abs(found).max()


def test_the_compliance_of_a_closed_loop_is_that_of_differences():
    bar = {"section": fa.Section.rectangle(0.02, 0.004), "material": fa.Material(7e10, 2700)}
    shapes = fa.Flexible(bend_y=2, stretch=1, basis="elements")
    links = [fa.Link("crank", 0.2, flexible=shapes, **bar)]
    links.append(fa.Link("coupler", 0.5, fa.Revolute("z", actuated=False), flexible=shapes, **bar))
    rocker = fa.Revolute("z", actuated=False)
    links.append(fa.Link("rocker", 0.4, rocker, parent="ground", offset=(0.5, 0, 0), flexible=shapes, **bar))
    robot = fa.System(
        fa.Robot(links=links, constraints=[fa.Loop("coupler", "rocker")], gravity=(0, -9.81, 0)), native=False
    )
    start = {"crank.q": 1.0, "coupler.q": -0.6, "rocker.q": 1.4}
    rest = fa.equilibrium(robot, start)
    found, step = fa.compliance(robot, rest, at="coupler(0.25)"), 1e-2
    for k in (0, 1):
        ends = [
            robot.frame(
                "coupler",
                0.25,
                fa.equilibrium(robot, rest, loads=[fa.PointLoad("coupler", 0.25, tuple(way * np.eye(3)[k]))]),
            )[:2, 3]
            for way in (step, -step)
        ]
        assert_allclose(found.matrix[:2, k], (ends[0] - ends[1]) / (2 * step), rtol=1e-5, atol=1e-9)


def test_joints_that_move_freely_or_fall_have_no_compliance():
    rod = fa.Link("rod", 1.0, fa.Revolute("z", actuated=False), mass=1.0)
    with pytest.raises(ArithmeticError, match=r"'rod\.q' moves freely"):
        fa.compliance(fa.Robot(links=[rod]))
    with pytest.raises(ArithmeticError, match=r"unstable: 'rod\.q' gives way"):
        fa.compliance(fa.Robot(links=[rod], gravity=(-9.81, 0, 0)))
    hanging = fa.compliance(fa.Robot(links=[rod], gravity=(9.81, 0, 0)))
    assert hanging["y", "fy"] == pytest.approx(1 / (9.81 * 0.5))


def test_few_modes_cause_a_warning():
    link = fa.Link("bar", 1.0, fa.Weld(), flexible=fa.Flexible(bend_y=3), **STEEL)
    with pytest.warns(fa.ValidityWarning, match=r"link 'bar' make 8.*% of the rotation.*basis='elements'"):
        fa.compliance(fa.Robot(links=[link]))


@pytest.mark.filterwarnings("ignore::flexarm.ValidityWarning")
def test_a_map_has_the_compliance_of_each_posture():
    arm = fa.library.two_link_arm().with_({"gravity": (0, -9.81, 0)})
    found = fa.compliance_map(arm, {"fore.q": [0.0, 0.7, 1.5], "upper.q": [0.2, 0.4]}, at_equilibrium=True)
    assert found.matrices.shape == (3, 2, 6, 6)
    q = fa.equilibrium(arm, {"fore.q": 1.5, "upper.q": 0.2})
    assert_allclose(found.matrices[2, 0], fa.compliance(arm, q).matrix, rtol=1e-9, atol=1e-18)
    data = found.data
    assert data.sel({"fore.q": 1.5, "upper.q": 0.2, "displacement": "y", "wrench": "fy"}) == found["y", "fy"][2, 0]
    assert repr(found) == "ComplianceMap of 'tip' over fore.q, upper.q (3 x 2)"


def test_a_five_bar_with_elastic_drives_has_the_stiffness_of_the_jacobian():
    """Two cranks with elastic motors and two passive forearms that meet in a point: K = J^-T k J^-1."""
    k, crank, forearm, base = np.array([300.0, 500.0]), 0.3, 0.5, 0.4

    def passive() -> fa.Revolute:
        return fa.Revolute("z", actuated=False)

    drives = [fa.Drive(stiffness=each, rotor_inertia=0.1) for each in k]
    links = [
        fa.Link("a", crank, fa.Revolute("z", drive=drives[0]), mass=0.5),
        fa.Link("b", forearm, passive(), mass=0.5),
        fa.Link("c", crank, fa.Revolute("z", drive=drives[1]), parent="ground", offset=(base, 0, 0), mass=0.5),
        fa.Link("d", forearm, passive(), parent="c", mass=0.5),
    ]
    robot = fa.System(fa.Robot(links=links, constraints=[fa.Loop("b", "d")]), native=False)
    angles = np.array([2.0, 1.0])

    def meeting(angles: np.ndarray) -> np.ndarray:
        """Intersection of two circles about the cranks' tips."""
        one, other = crank * np.array([np.cos(angles), np.sin(angles)]).T + [[0, 0], [base, 0]]
        between = other - one
        far = np.linalg.norm(between)
        height = np.sqrt(forearm**2 - far**2 / 4)
        return (one + other) / 2 + height / far * np.array([-between[1], between[0]])

    step = 1e-5
    J = np.array([(meeting(angles + way) - meeting(angles - way)) / (2 * step) for way in step * np.eye(2)]).T
    bend = [
        meeting(angles) - crank * np.array([np.cos(each), np.sin(each)]) - [at, 0]
        for each, at in zip(angles, (0, base))
    ]
    elbows = np.array([np.arctan2(y, x) for x, y in bend]) - angles
    q = {"a.q": angles[0], "b.q": elbows[0], "c.q": angles[1], "d.q": elbows[1]}
    found = fa.compliance(robot, q, at="b")
    assert_allclose(robot.tip(robot.posture(q), "b")[:2], meeting(angles), atol=1e-12)
    assert_allclose(found.matrix[:2, :2], J @ np.diag(1 / k) @ J.T, rtol=1e-8)
    inverse = np.linalg.inv(J)
    stiffness = fa.stiffness(robot, q, at="b", components=["x", "y"]).matrix
    assert_allclose(stiffness, inverse.T @ np.diag(k) @ inverse, rtol=1e-8)


def test_links_that_bend_far_under_loads_are_exact():
    section = fa.Section.properties(A=1, I_y=1.0, I_z=0.5, J=0.4, I_p=1)
    links = [unit_link(joint=fa.Weld(), flexible=fa.Flexible(bend_y=3, bend_z=3, twist=3), section=section)]
    exact = [
        unit_link(
            joint=fa.Weld(), flexible=fa.Flexible(bend_y=3, bend_z=3, twist=3, stiffening="exact"), section=section
        )
    ]
    loads = [fa.PointLoad("beam", force=(0, 0.5, 1.0))]
    with pytest.warns(fa.ValidityWarning, match="the exact model is used"):
        q = fa.equilibrium(fa.Robot(links=links), loads=loads)
    assert_allclose(q, fa.equilibrium(fa.Robot(links=exact), loads=loads), atol=1e-12)
    with pytest.warns(fa.ValidityWarning, match="the exact model is used"):
        found = fa.compliance(fa.Robot(links=links), q, loads=loads)
    with pytest.warns(fa.ValidityWarning, match="shapes of link 'beam'"):
        assert_allclose(found.matrix, fa.compliance(fa.Robot(links=exact), q, loads=loads).matrix, atol=1e-12)


def test_a_load_that_buckles_a_link_is_refused():
    flexible = fa.Flexible(bend_y=3, stiffening="shortening")
    with pytest.raises(ArithmeticError, match=r"no static equilibrium was found: 'beam\.bend_y"):
        fa.equilibrium(cantilever(flexible), loads=[fa.PointLoad("beam", force=(-3.0, 0, 0))])  # Euler's is 2.467


def test_unstable_postures_of_a_map_are_nan():
    rod = fa.Link("rod", 1.0, fa.Revolute("z", actuated=False), mass=1.0)
    robot = fa.Robot(links=[rod], gravity=(9.81, 0, 0))
    with pytest.warns(fa.ValidityWarning, match=r"at 1 of 2 postures the posture is unstable: 'rod\.q' gives way"):
        found = fa.compliance_map(robot, {"rod.q": [0.0, 3.0]})
    assert np.isnan(found["y", "fy"]).tolist() == [False, True]
