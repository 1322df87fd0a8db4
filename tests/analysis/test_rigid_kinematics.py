"""Rigid twins: frames on links, the search for postures, starts, whole turns, intermediate poses."""

from math import pi

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

import flexarm as fa
from flexarm.analysis.rigid_kinematics import (
    GAP_TOLERANCE,
    LinkFrame,
    PostureSearch,
    RigidTwin,
    Target,
    rotation_between,
)


def searching(robot: fa.Robot, start: list[float], rows: tuple[int, ...] = (0, 1, 2)) -> PostureSearch:
    twin = RigidTwin(robot)
    return PostureSearch(twin, LinkFrame(twin, None, None), rows, tuple(range(twin.rigid.nq)), np.array(start))


def chain(axes: str = "zz", **fields: object) -> fa.Robot:
    links = [fa.Link(f"link{k}", 1.0, fa.Revolute(axis, **fields), mass=1.0) for k, axis in enumerate(axes)]
    return fa.Robot(links=links)


@pytest.mark.parametrize("rows", [(0, 1, 2), (0, 1, 2, 3, 4, 5)])
def test_slopes_are_those_of_the_gaps(rows):
    search = searching(chain("zyxz"), [0.3, -0.4, 0.5, 0.2], rows)
    p, R, _ = search.place(search.start)
    near = Rotation.from_rotvec([1e-4, 2e-4, -1e-4]).as_matrix()  # far off, slopes of rotation vectors are others
    target = Target(p + 0.1, near @ R)
    step = 1e-6
    gap, J = search.gaps(search.start, target)
    for k in range(4):
        change = step * np.eye(4)[k]
        ahead, behind = (search.gaps(search.start + sign * change, target)[0] for sign in (1, -1))
        assert_allclose((ahead - behind) / (2 * step), J[:, k], atol=2e-4)
    assert_allclose(gap[:3], -0.1 / 4, atol=1e-12)  # of the robot's length


def test_near_a_regular_posture_few_steps_are_enough():
    search = searching(chain(), [0.3, 1.0])
    count = 0

    class Counting(LinkFrame):
        def __call__(self, q):
            nonlocal count
            count += 1
            return super().__call__(q)

    search = PostureSearch(search.twin, Counting(search.twin, None, None), search.rows, search.moving, search.start)
    target = Target(search.place(np.array([0.5, 1.4]))[0], None)
    q, gap = search.descend(search.start, target)
    assert gap < 1e-13
    assert count < 12
    assert_allclose(q, [0.5, 1.4], atol=1e-12)


def test_a_stretched_arm_cannot_see_inward():
    search = searching(chain(), [0.0, 0.0])
    target = Target(np.array([1.5, 0, 0]), None)
    assert search.descend(search.start, target)[1] > 0.1
    assert search.descend(np.array([0.1, -0.2]), target)[1] < GAP_TOLERANCE


def test_whole_turns_are_taken_back_within_the_travel():
    free, held = chain(), chain(limits=(-7.0, 2.0))
    assert_allclose(searching(free, [0.0, 0.0])._unwind(np.array([2 * pi + 0.1, -4 * pi])), [0.1, 0.0], atol=1e-12)
    assert_allclose(searching(held, [6.0, 0.0])._unwind(np.array([0.5, 0.0])), [0.5, 0.0])  # 0.5 + 2 pi is beyond


def test_starts_are_always_the_same_and_within_the_travel():
    search = searching(chain(limits=(-0.2, 0.4)), [0.1, 0.1])
    one, other = search._further_starts(12), search._further_starts(12)
    assert_allclose(one, other, atol=0)
    assert (np.array(one) >= -0.2).all()
    assert (np.array(one) <= 0.4).all()


def test_halfway_turns_by_half_the_angle():
    turned = Rotation.from_euler("xyz", [0.3, 1.2, -0.4]).as_matrix()
    one, other = Target(np.zeros(3), np.eye(3)), Target(np.ones(3), turned)
    middle = one.halfway(other)
    assert_allclose(middle.position, 0.5)
    assert middle.axes is not None
    assert_allclose(middle.axes @ middle.axes, turned, atol=1e-12)
    assert_allclose(rotation_between(np.eye(3), turned), 2 * rotation_between(np.eye(3), middle.axes), atol=1e-12)


# --- rigid twin and link frames ---

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
    assert [twin.moving_joints(name) for name in ("left", "right", "trunk")] == [[0, 1], [0, 2], [0]]


def test_a_robot_without_joints_is_refused():
    with pytest.raises(ValueError, match="has no joint that could move"):
        RigidTwin(fa.Robot(links=[fa.Link("post", 1.0, fa.Weld(), mass=1.0)]))
