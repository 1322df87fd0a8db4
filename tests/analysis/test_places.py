"""Frames on a rigid twin: position, Jacobian and drift."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

import flexarm as fa
from flexarm.analysis.rigid_kinematics import LinkFrame, RigidTwin

ARM = fa.library.rrr_arm(elastic_joints=True)


def test_the_rigid_twin_has_only_joint_coordinates():
    twin = RigidTwin(ARM)
    assert twin.rigid.names == ("column.q", "upper.q", "fore.q")
    assert [twin.system.names[k] for k in twin.joints] == ["column.q", "upper.q", "fore.q"]


def test_motors_follow_their_joints_and_links_are_straight():
    twin = RigidTwin(ARM)
    q = twin.expand(np.array([0.1, 0.2, 0.3]))
    given = {name: value for name, value in zip(twin.system.names, q, strict=True) if value}
    assert given == {f"{link}.{side}": value for link, value in (("column", 0.1), ("upper", 0.2), ("fore", 0.3))
                     for side in ("q", "motor")}  # fmt: skip


def test_a_place_is_where_the_straight_robot_has_it():
    twin = RigidTwin(ARM)
    place, q = LinkFrame(twin, "upper", 1.5), np.array([0.4, -0.3, 0.8])
    p, R, J = place(q)
    frame = twin.system.frame("upper", 1.5, twin.expand(q))
    assert_allclose(p, frame[:3, 3], atol=1e-14)
    assert_allclose(R, frame[:3, :3], atol=1e-14)
    world = twin.rigid.jacobian("upper", 1.5, q, axes="world")
    assert_allclose(J, world[[3, 4, 5, 0, 1, 2]], atol=1e-14)


def test_drift_is_the_acceleration_of_steady_joints():
    twin = RigidTwin(ARM)
    place, q, v, step = LinkFrame(twin, None, None), np.array([0.4, -0.3, 0.8]), np.array([1.0, -2.0, 0.5]), 1e-4
    (ahead, R_ahead, J_ahead), (p, _, J), (behind, R_behind, J_behind) = (place(q + k * step * v) for k in (1, 0, -1))
    drift = place.drift(q, v)
    assert_allclose(drift[:3], (ahead - 2 * p + behind) / step**2, atol=1e-5)
    assert_allclose(drift, (J_ahead - J_behind) @ v / (2 * step), atol=1e-6)
    turned = Rotation.from_matrix(R_ahead @ R_behind.T).as_rotvec() / (2 * step)
    assert_allclose(J[3:] @ v, turned, atol=1e-6)


def test_which_joints_move_a_link_of_a_tree():
    links = [
        fa.Link("trunk", 1.0, mass=1.0),
        fa.Link("left", 1.0, mass=1.0),
        fa.Link("right", 1.0, mass=1.0, parent="trunk"),
    ]
    twin = RigidTwin(fa.Robot(links=links))
    assert (twin.moving_joints("left"), twin.path("right"), twin.path("trunk")) == ([0, 1], [0, 2], [0])


def test_a_robot_without_joints_is_refused():
    with pytest.raises(ValueError, match="has no joint that could move"):
        RigidTwin(fa.Robot(links=[fa.Link("post", 1.0, fa.Weld(), mass=1.0)]))
