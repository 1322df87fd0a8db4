"""Robots from Denavit-Hartenberg parameters, against products of transforms, own dynamics and Pinocchio."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa
from tests.oracles import denavit_hartenberg as dh

CONVENTIONS = ("standard", "modified")
RANDOM = [tuple(row) for row in np.random.default_rng(5).normal(size=(5, 4))]
TABLES = {"UR10": dh.UR10, "Puma 560": dh.PUMA_560, "random": RANDOM}
GRAVITY = (1.0, -2.0, -9.81)
TUBE = {"section": fa.Section.tube(0.1, 0.09), "material": fa.Material(7e10, 2700.0)}


def random_bodies(count):
    """Return masses, centres of mass and inertias of bodies that exist: each is that of twenty points."""
    rng = np.random.default_rng(count)
    found = []
    for _ in range(count):
        points, masses = rng.normal(size=(20, 3)) * 0.1, rng.uniform(0.1, 0.3, 20)
        com = masses @ points / masses.sum()
        inertia = sum(m * (r @ r * np.eye(3) - np.outer(r, r)) for m, r in zip(masses, points - com, strict=True))
        found.append((masses.sum(), com, inertia))
    return found


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("table", TABLES)
def test_frames_are_products_of_the_rows_transforms(table, convention):
    rows = TABLES[table]
    system = fa.System(fa.from_dh(rows, convention), native=False)
    for q in np.random.default_rng(1).uniform(-3, 3, (4, len(rows))):
        expected, _ = dh.frames(rows, convention, q)
        for k, frame in enumerate(expected):
            assert_allclose(system.pose(f"frame{k + 1}", q), frame, atol=1e-12)
        assert_allclose(system.tip(q), expected[-1][:3, 3], atol=1e-12)


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("table", TABLES)
def test_bodies_are_in_the_frames_of_their_rows(table, convention):
    rows = TABLES[table]
    bodies = random_bodies(len(rows))
    links = [fa.RigidBody(*each) for each in bodies]
    system = fa.System(fa.from_dh(rows, convention, links, gravity=GRAVITY), native=False)
    for q in np.random.default_rng(2).uniform(-3, 3, (3, len(rows))):
        assert_allclose(system.mass_matrix(q), dh.mass_matrix(rows, convention, bodies, q), rtol=1e-10, atol=1e-10)
        expected = dh.gravity_torque(rows, convention, bodies, q, np.array(GRAVITY))
        assert_allclose(system.gravity(q), expected, rtol=1e-10, atol=1e-10)


@pytest.mark.skipif(sys.platform == "win32", reason="Pinocchio has no wheels for Windows")
@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("table", TABLES)
def test_inverse_dynamics_equal_those_of_pinocchio(table, convention):
    import pinocchio as pin

    rows = TABLES[table]
    bodies = random_bodies(len(rows))
    system = fa.System(fa.from_dh(rows, convention, [fa.RigidBody(*each) for each in bodies], gravity=GRAVITY))
    # the joint of a model is at the z axis of the joint; what follows it in the row is part of the body's placement
    model, above = pin.Model(), np.eye(4)
    model.gravity.linear = np.array(GRAVITY)
    for k, ((a, alpha, d, theta), (mass, com, inertia)) in enumerate(zip(rows, bodies, strict=True)):
        before = above if convention == "standard" else above @ dh.about_x(alpha) @ dh.along(a, 0)
        after = dh.along(a, d) @ dh.about_x(alpha) if convention == "standard" else dh.along(0, d)
        place = pin.SE3(before @ dh.about_z(theta))
        joint = model.addJoint(k, pin.JointModelRZ(), place, f"j{k}")
        model.appendBodyToJoint(joint, pin.Inertia(mass, np.array(com), inertia), pin.SE3(after))
        above = after
    data = model.createData()
    for q, v, acceleration in np.random.default_rng(3).uniform(-2, 2, (3, 3, len(rows))):
        expected = pin.rnea(model, data, q, v, acceleration)
        assert_allclose(system.inverse_dynamics(q, v, acceleration), expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_flexible_links_reach_from_joint_to_joint(convention):
    rows = [(0.4, 0.3, 0.1, 0.2), (-0.5, -0.7, 0.2, 0.0), (0.3, 0.0, 0.0, 0.0)]
    lengths = [0.4, 0.5, 0.3] if convention == "standard" else [0.5, 0.3, 0.0]
    beams = [
        fa.Link(f"l{k}", length, **TUBE, flexible=fa.Flexible(bend_y=1, bend_z=1)) if length else None
        for k, length in enumerate(lengths)
    ]
    robot = fa.from_dh(rows, convention, beams)
    system = fa.System(robot, native=False)
    q = {f"{link.name}.q": 0.3 for link in robot.links}
    expected, _ = dh.frames(rows, convention, [0.3] * 3)
    assert_allclose(system.pose("frame3", q), expected[-1], atol=1e-12)
    bent = {**q, "l0.bend_y[1]": 0.1, "l1.bend_z[1]": 0.1}
    assert np.abs(system.pose("frame3", bent) - expected[-1]).max() > 1e-3


def test_rows_have_names_drives_and_limits():
    drive = fa.Drive(stiffness=1e4, rotor_inertia=1e-4)
    rows = [{"name": "turret", "d": 0.3, "alpha": np.pi / 2, "limits": (-1, 1), "drive": drive}, {"a": 0.2}]
    robot = fa.from_dh(rows, links=[None, fa.RigidBody(2.0)], name="pan and tilt", base=fa.Pose((0, 0, 1)))
    assert [link.name for link in robot.links] == ["turret", "link2"]
    joint = robot.link("turret").joint
    assert (joint.limits, joint.drive) == ((-1.0, 1.0), drive)
    assert robot.tip == "frame2"
    assert robot.link("link2").body.com == (0.2, 0.0, 0.0)
    assert_allclose(fa.System(robot, native=False).tip(), (0.2, 0, 1.3), atol=1e-12)
    assert robot.link("link2").joint.mount == ((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0))  # exact


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_prismatic_rows_slide_along_z(convention):
    """A Stanford arm: its third joint is added to d."""
    rows = [(0, -np.pi / 2, 0.4, 0), (0, np.pi / 2, 0.15, 0.1), (0.05, 0, 0.2, -np.pi / 2), (0, -np.pi / 2, 0, 0)]
    names = ("a", "alpha", "d", "theta")
    table = [dict(zip(names, row, strict=True)) for row in rows]
    table[2] |= {"type": "prismatic", "limits": (0.0, 0.5)}
    system = fa.System(fa.from_dh(table, convention, [fa.RigidBody(1.0)] * 4), native=False)
    q = np.array([0.3, -0.4, 0.25, 0.7])
    moved = [list(row) for row in rows]
    moved[2][2] += q[2]
    expected, _ = dh.frames(moved, convention, [q[0], q[1], 0.0, q[3]])
    assert_allclose(system.pose("frame4", q), expected[-1], atol=1e-12)
    assert system.coordinates[2].unit == "m"
    assert system.robot.links[2].joint.limits == (0.0, 0.5)


def test_templates_keep_their_joint():
    template = fa.Link("l", 0.5, fa.Revolute(viscous=0.1, drive=fa.Drive(stiffness=50.0, rotor_inertia=1e-4)), mass=1.0)
    link = fa.from_dh([(-0.5, 0.4, 0, 0.3)], links=[template]).links[0]
    assert link.joint.viscous == 0.1
    assert link.joint.drive == template.joint.drive
    assert link.mass == 1.0
    body = fa.Link("b", body=fa.RigidBody(1.0, com=(0.1, 0, 0)), payload=fa.PointMass(0.5))
    moved = fa.from_dh([(0.5, 0, 0, 0)], links=[body]).links[0]
    assert (moved.length, moved.body.com, moved.payload) == (0.5, (0.6, 0.0, 0.0), body.payload)


ROW = (0.5, 0, 0, 0)
BEAM = fa.Link("l", 0.5, mass=1.0)
BODY = fa.RigidBody(1.0)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (([],), r"rows = \[\]: must be a list of rows \(a, alpha, d, theta\), at least one"),
        (([(1, 2, 3)],), r"rows\[0\] = .*: must be \(a, alpha, d, theta\) or a mapping"),
        (([ROW, (1, 2, "d", 0)],), r"rows\[1\].d = 'd': must be a number \(m\), not text"),
        (([{"alfa": 1}],), r"rows\[0\].alfa: unknown field; did you mean 'alpha'\?"),
        (([{"type": "revolut"}],), r"rows\[0\].type = 'revolut': unknown; did you mean 'revolute'\?"),
        (([ROW], "standart"), r"convention = 'standart': unknown convention; did you mean 'standard'\?"),
        (([ROW], "standard", []), r"links = \[\]: must be a list of 1 entries"),
        (([ROW], "standard", [5]), r"links\[0\] = 5: must be a Link, a RigidBody or None"),
        (([(0.4, 0, 0, 0)], "standard", [BEAM]), r"links\[0\].length = 0.5: must be the length of the row, .* = 0.4"),
        (([ROW], "modified", [BEAM]), r"links\[0\].length = 0.5: must be the length of the row, abs\(a\) = 0 "),
        (([{"a": 0.5, "body": BODY}], "standard", [BODY]), r"rows\[0\].body: must be left out: links\[0\] has one"),
        (([{"a": 0.5, "body": BODY}], "standard", [BEAM]), r"rows\[0\].body: must be left out: links\[0\] is a beam"),
        (([{"a": 0.5, "name": "k"}], "standard", [BEAM]), r"rows\[0\].name = 'k': must be that of links\[0\], 'l'"),
        (
            ([ROW], "standard", [BEAM.model_copy(update={"offset": (1.0, 0, 0)})]),
            r"no parent, at or offset",
        ),
        (([ROW], "standard", [fa.Link("l", 0.5, fa.Revolute("y"), mass=1.0)]), r"links\[0\].joint.* about z without"),
        (([ROW], "standard", [fa.Link("l", 0.5, "weld", mass=1.0)]), r"links\[0\].joint.*must be a revolute joint"),
    ],
)
def test_wrong_rows_and_links_are_named(arguments, sentence):
    with pytest.raises(fa.DescriptionError, match=sentence):
        fa.from_dh(*arguments)


def test_angles_in_degrees_are_noticed():
    with pytest.warns(fa.UnitsWarning, match="alpha = 90: looks like degrees"):
        fa.from_dh([(0.0, 90.0, 0.1, 0.0)])
