"""Equations of motion of joints of all kinds against an independent recursion, equivalent chains and Pinocchio."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa
from flexarm.robot.joints import TurnAbout
from tests.dynamics.joints.chains import KINDS, TILTED, Reference, body, random_tree


@pytest.mark.parametrize("kind", KINDS)
def test_a_joint_between_two_others(kind):
    rng = np.random.default_rng(1)
    robot = random_tree(rng, ["revolute", kind, "screw"])
    _compare(robot, rng)


@pytest.mark.parametrize("seed", range(6))
def test_random_trees(seed):
    rng = np.random.default_rng(seed)
    _compare(random_tree(rng, rng.choice(list(KINDS), size=6).tolist()), rng)


def _compare(robot, rng):
    system, reference = fa.System(robot, native=False), Reference(robot)
    q, v, a = rng.normal(size=(3, system.nq))
    assert_allclose(system.mass_matrix(q), reference.mass(q), atol=1e-12)
    assert_allclose(system.gravity(q), reference.weight(q), atol=1e-12)
    assert_allclose(system.inverse_dynamics(q, v, a), reference.inverse_dynamics(q, v, a), rtol=1e-7, atol=1e-7)
    assert_allclose(system.forward_dynamics(q, v, system.inverse_dynamics(q, v, a)), a, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_random_trees_agree_with_pinocchio(seed):
    pin = pytest.importorskip("pinocchio")
    rng = np.random.default_rng(100 + seed)
    kinds = [kind for kind in KINDS if kind not in ("screw", "weld")]
    robot = random_tree(rng, rng.choice(kinds, size=6).tolist())
    system, model = fa.System(robot, native=False), _pinocchio(pin, robot)
    q, v, a = rng.normal(size=(3, system.nq))
    data = model.createData()
    M = pin.crba(model, data, q)
    M = np.triu(M) + np.triu(M, 1).T
    assert_allclose(system.mass_matrix(q), M, atol=1e-10)
    assert_allclose(system.inverse_dynamics(q, v, a), pin.rnea(model, data, q, v, a), atol=1e-10)


def _pinocchio(pin, robot):
    """Return the robot with a joint of one degree of freedom for each elementary motion."""
    model, ends = pin.Model(), {}
    model.gravity.linear = np.array(robot.gravity)
    for i in robot.order:
        link, parent = robot.links[i], robot.parents[i]
        if parent is None:
            above, at = 0, pin.SE3(np.array(robot.base.matrix), np.array(robot.base.position))
        else:
            above, at = ends[parent], pin.SE3(np.eye(3), np.array([link.at, 0.0, 0.0]))
        at = at * pin.SE3(np.eye(3), np.array(link.offset)) * pin.SE3(np.array(link.joint.mount_matrix), np.zeros(3))
        for k, motion in enumerate(link.joint.elementary_motions):
            axis = np.array(motion.axis)
            turns = isinstance(motion, TurnAbout)
            joint = pin.JointModelRevoluteUnaligned(axis) if turns else pin.JointModelPrismaticUnaligned(axis)
            above, at = model.addJoint(above, joint, at, f"{link.name}.{k}"), pin.SE3.Identity()
        ends[i] = above
        lump = link.payload
        centre = np.array([link.length, 0.0, 0.0]) + np.array(lump.offset)
        model.appendBodyToJoint(above, pin.Inertia(lump.mass, centre, np.array(lump.inertia_matrix)), at)
    return model


SINGLE = {
    "universal": [fa.Revolute("x", mount=TILTED), fa.Revolute((0.0, 1.0, 1.0))],
    "cylindrical": [fa.Revolute((1.0, 1.0, 0.0), mount=TILTED), fa.Prismatic((1.0, 1.0, 0.0))],
    "planar": [fa.Prismatic("z", mount=TILTED), fa.Prismatic("x"), fa.Revolute("y")],
}


@pytest.mark.parametrize("kind", SINGLE)
def test_a_compound_joint_is_a_chain_of_single_ones_on_massless_links(kind):
    payload = body(np.random.default_rng(2))
    first = fa.Link("first", 0.5, mass=1.0)
    flexible = {
        "section": fa.Section.rectangle(0.02, 0.01),
        "material": fa.Material(7e10, 2700.0),
        "flexible": fa.Flexible(bend_y=2, bend_z=1, twist=1),
        "payload": payload,
    }
    compound = fa.Robot(links=[first, fa.Link("last", 0.4, KINDS[kind], **flexible)], gravity=(0, 1, -9.81))
    *inner, outer = SINGLE[kind]
    between = [
        fa.Link(f"b{k}", 0.1, joint, mass=0.0, **({} if k == 0 else {"at": 0.0})) for k, joint in enumerate(inner)
    ]
    chain = fa.Robot(links=[first, *between, fa.Link("last", 0.4, outer, at=0.0, **flexible)], gravity=(0, 1, -9.81))
    one, other = fa.System(compound, native=False), fa.System(chain, native=False)
    assert one.nq == other.nq
    q, v, a = 0.1 * np.random.default_rng(3).normal(size=(3, one.nq))
    # modes of the last link carry its payload only: the same in both
    assert_allclose(one.mass_matrix(q), other.mass_matrix(q), rtol=1e-10, atol=1e-12)
    assert_allclose(one.inverse_dynamics(q, v, a), other.inverse_dynamics(q, v, a), rtol=1e-9, atol=1e-11)


def test_a_screw_of_pitch_zero_is_a_hinge():
    rng = np.random.default_rng(4)
    robot = random_tree(rng, ["revolute", "screw", "planar"])
    screw = fa.System(robot.with_({"links.l1.joint.pitch": 0.0}), native=False)
    hinge = fa.System(robot.with_({"links.l1.joint": fa.Revolute((0, 3, 4), mount=TILTED)}), native=False)
    q, v, a = rng.normal(size=(3, screw.nq))
    assert_allclose(screw.inverse_dynamics(q, v, a), hinge.inverse_dynamics(q, v, a), atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_jacobians_are_derivatives_of_positions(kind):
    rng = np.random.default_rng(5)
    system = fa.System(random_tree(rng, ["planar", kind]), native=False)
    q = rng.normal(size=system.nq)
    steps = 1e-6 * np.eye(system.nq)
    slopes = [(system.frame("l1", None, q + e) - system.frame("l1", None, q - e))[:3, 3] / 2e-6 for e in steps]
    assert_allclose(system.jacobian("l1", None, q, axes="world")[3:], np.array(slopes).T, atol=1e-8)


def test_parameters_may_change_without_another_structure():
    robot = random_tree(np.random.default_rng(6), ["screw", "universal"])
    system = fa.System(robot, native=False)
    changed = robot.with_({"links.l0.joint.pitch": 0.2, "links.l1.joint.axes": ["x", (0.0, 2.0, 1.0)]})
    q = np.array([0.3, -0.2, 0.5])
    found = system.parametric["mass_matrix"](q, system.numbers_of(changed)).full()
    assert_allclose(found, fa.System(changed, native=False).mass_matrix(q), atol=1e-13)
