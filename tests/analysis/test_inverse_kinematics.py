"""Postures that reach a pose: closed forms, random robots, travel, singular postures, loops, paths, refusals."""

from math import acos, atan2, pi

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import flexarm as fa
from flexarm.analysis.rigid_kinematics import RigidTwin
from tests.helpers import robots
from tests.sliders import PAIRS, pair

ARM = fa.library.two_link_arm()  # 1 m and 0.5 m in the plane


def rigid(name: str, length: float = 1.0, **fields: object) -> fa.Link:
    return fa.Link(name, length, mass=1.0, **fields)


def tip(robot: fa.Robot, q: np.ndarray) -> np.ndarray:
    return fa.System(robot, native=False).tip(q)


def angles(robot: fa.Robot, q: np.ndarray) -> np.ndarray:
    """Return the joint coordinates."""
    system = fa.System(robot, native=False)
    return q[..., [each.index for each in system.coordinates if each.kind == "joint"]]


def six_axes(**fields: object) -> fa.Robot:
    """Return an arm of three joints with a wrist of three intersecting axes."""
    axes = ["z", "y", "y", "x", "y", "x"]
    lengths = [0.4, 0.5, 0.4, 0.1, 0.1, 0.1]
    links = [rigid(f"link{k}", lengths[k], joint=fa.Revolute(axis)) for k, axis in enumerate(axes)]
    return fa.Robot(links=links, **fields)


# --- closed forms ---


@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("target", [(1.0, 0.5), (0.3, -0.8), (-1.2, 0.4), (0.0, 1.3)])
def test_two_links_by_the_law_of_cosines(target, side):
    x, y = target
    elbow = side * acos((x**2 + y**2 - 1.25) / 1.0)
    shoulder = atan2(y, x) - atan2(0.5 * np.sin(elbow), 1 + 0.5 * np.cos(elbow))
    q = fa.inverse_kinematics(ARM, (x, y, 0), q0={"upper.q": shoulder + 0.2, "fore.q": elbow - 0.2})
    assert_allclose(angles(ARM, q), [shoulder, elbow], atol=1e-9)


def test_a_slide_and_a_hinge():
    """A prismatic joint on a rotating link: distance and direction."""
    robot = pair("R", "Pb")
    q = fa.inverse_kinematics(robot, (1.2, 0.9, 0.0))
    assert_allclose(tip(robot, q), [1.2, 0.9, 0.0], atol=1e-9)


# --- random robots ---


@settings(max_examples=25, deadline=None)
@given(robots(most=4), st.integers(0, 9))
def test_reachable_poses_are_reached(robot, seed):
    system = fa.System(robot, native=False)
    if not any(each.kind == "joint" for each in system.coordinates):
        return
    draw = np.random.default_rng(seed)
    for link in {robot.links[-1].name, robot.links[0].name}:
        q = np.where([each.kind == "joint" for each in system.coordinates], draw.uniform(-2, 2, system.nq), 0.0)
        expected = system.tip(q, link)
        if not RigidTwin(robot).moving_joints(link):
            continue  # welded to the ground
        found = fa.inverse_kinematics(robot, expected, link=link)
        assert_allclose(system.tip(found, link), expected, atol=1e-7)
        assert not found[system.elastic].any()


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_pairs_of_joints_keep_to_their_travel(one, other):
    robot = pair(one, other)
    system = fa.System(robot, native=False)
    inside = {f"{name}.q": 0.35 for name in ("a", "b")}
    expected = system.tip(inside)
    q = fa.inverse_kinematics(robot, expected)
    assert_allclose(system.tip(q), expected, atol=1e-8)
    for name in ("a", "b"):
        low, high = robot.travel(name) or (-np.inf, np.inf)
        assert low <= q[system.index(f"{name}.q")] <= high


@pytest.mark.parametrize("seed", range(5))
def test_frames_of_six_axes(seed):
    robot = six_axes()
    system = fa.System(robot, native=False)
    frame = system.frame("link5", None, np.random.default_rng(seed).uniform(-2, 2, 6))
    q = fa.inverse_kinematics(robot, frame)
    assert_allclose(system.frame("link5", None, q), frame, atol=1e-8)


@pytest.mark.parametrize("seed", range(12))
def test_more_axes_than_it_takes(seed):
    """Seven for six components: J'J is singular everywhere."""
    robot = fa.Robot(links=[rigid(f"link{k}", 0.3, joint=fa.Revolute(axis)) for k, axis in enumerate("zyzyzyx")])
    system = fa.System(robot, native=False)
    frame = system.frame("link6", None, np.random.default_rng(seed).uniform(-pi, pi, 7))
    q = fa.inverse_kinematics(system, frame)
    assert_allclose(system.frame("link6", None, q), frame, atol=1e-8)


def test_a_pose_is_a_frame():
    robot = six_axes()
    pose = fa.Pose((0.8, 0.3, 0.4), (0.3, -0.2, 0.5))
    frame = fa.System(robot, native=False).frame("link5", None, fa.inverse_kinematics(robot, pose))
    assert_allclose(frame[:3, :3], pose.matrix, atol=1e-8)
    assert_allclose(frame[:3, 3], pose.position, atol=1e-8)


def test_the_flexible_robot_has_the_answer_of_its_twin():
    robot = fa.library.rrr_arm(elastic_joints=True)
    target = (3.0, 2.0, 3.0)
    q, twin = fa.inverse_kinematics(robot, target), fa.inverse_kinematics(robot.rigid(), target)
    assert_allclose(angles(robot, q), twin, atol=1e-9)
    system = fa.System(robot, native=False)
    assert q[system.index("upper.motor")] == q[system.index("upper.q")]


def test_a_place_along_a_link():
    q = fa.inverse_kinematics(ARM, (0.0, 0.4, 0.0), link="upper", x=0.4, q0={"fore.q": 0.7})
    assert_allclose(angles(ARM, q), [pi / 2, 0.7], atol=1e-9)


# --- what matters ---


def test_components_that_do_not_matter():
    q = fa.inverse_kinematics(ARM, (1.0, 0.5, 7.0), components=("x", "y"))
    assert_allclose(tip(ARM, q)[:2], [1.0, 0.5], atol=1e-9)


def test_a_planar_arm_that_points_somewhere():
    """Three links in a plane: a place and a direction."""
    robot = fa.Robot(links=[rigid("a"), rigid("b"), rigid("c", 0.3)])
    frame = fa.Pose((1.2, 0.6, 0.0), (0, 0, 2.0))
    q = fa.inverse_kinematics(robot, frame)
    assert_allclose(tip(robot, q), [1.2, 0.6, 0], atol=1e-9)
    assert np.cos(q.sum() - 2.0) == pytest.approx(1, abs=1e-12)


def test_joints_that_stay():
    robot = fa.Robot(links=[rigid("a"), rigid("b"), rigid("c")])
    q = fa.inverse_kinematics(robot, (1.5, 1.0, 0.0), q0={"b.q": 0.4}, joints=["a", "c"])
    assert q[1] == 0.4
    assert_allclose(tip(robot, q), [1.5, 1.0, 0.0], atol=1e-9)


def test_of_several_ways_the_nearest_to_q0_and_always_the_same():
    """No step decreases the error from a stretched arm; other starts find both elbow postures."""
    q = fa.inverse_kinematics(ARM, (0.9, 0, 0))
    assert_allclose(tip(ARM, q), [0.9, 0, 0], atol=1e-9)
    assert_allclose(fa.inverse_kinematics(ARM, (0.9, 0, 0)), q, atol=0)
    for lean in (0.3, -0.3):
        found = angles(ARM, fa.inverse_kinematics(ARM, (0.9, 0, 0), q0={"fore.q": lean}))
        assert np.sign(found[1]) == np.sign(lean)


# --- travel and singular postures ---


@pytest.mark.parametrize("limits", [(0.0, 3.0), (-3.0, 0.0)])
def test_travel_decides_which_way_the_elbow_bends(limits):
    robot = fa.Robot(links=[rigid("a"), rigid("b", joint=fa.Revolute(limits=limits))])
    q = fa.inverse_kinematics(robot, (1.0, 0.7, 0.0))
    assert_allclose(tip(robot, q), [1.0, 0.7, 0.0], atol=1e-9)
    assert limits[0] <= q[1] <= limits[1]


def test_a_posture_at_the_end_of_travel():
    robot = fa.Robot(links=[rigid("a", joint=fa.Revolute(limits=(-1, 0.5))), rigid("b")])
    target = tip(robot, np.array([0.5, 1.0]))
    assert_allclose(fa.inverse_kinematics(robot, target, q0=[0.0, 0.5]), [0.5, 1.0], atol=1e-8)


def test_the_edge_of_the_reach():
    """At the edge of the reach the Jacobian is singular: joints are accurate to the root of rounding."""
    q = fa.inverse_kinematics(ARM, (0.9, 1.2, 0.0))
    assert_allclose(tip(ARM, q), [0.9, 1.2, 0.0], atol=1e-9)
    assert_allclose(angles(ARM, q), [atan2(1.2, 0.9), 0.0], atol=1e-4)


def test_the_message_names_joints_at_an_end_of_travel():
    robot = fa.Robot(
        links=[rigid("a", joint=fa.Revolute(limits=(-1, 0.5))), rigid("b", joint=fa.Revolute(limits=(0, 1)))]
    )
    with pytest.raises(ValueError, match=r"; a\.q, b\.q at an end of the travel, and other starts may find a way"):
        fa.inverse_kinematics(robot, (-1.0, 1.0, 0.0))


def test_more_starts_find_more():
    """Six axes within limits: from where the arm stands a third of all poses is missed."""
    robot = six_axes()
    robot = robot.with_({f"links.link{k}.joint.limits": (-2.0, 2.0) for k in range(6)})
    system = fa.System(robot, native=False)
    draw, missed = np.random.default_rng(3), 0
    for _ in range(6):
        frame = system.frame("link5", None, draw.uniform(-2, 2, 6))
        try:
            fa.inverse_kinematics(system, frame, starts=0)
        except ValueError:
            missed += 1
        q = fa.inverse_kinematics(system, frame, starts=60)
        assert_allclose(system.frame("link5", None, q), frame, atol=1e-8)
        assert (np.abs(q) <= 2).all()
    assert missed


# --- loops ---


def five_bar() -> fa.Robot:
    links = [
        rigid("left", 0.4),
        rigid("left_fore", 0.6),
        rigid("right", 0.4, parent="ground", offset=(0.5, 0, 0)),
        rigid("right_fore", 0.6, parent="right"),
    ]
    return fa.Robot(links=links, constraints=[fa.Loop("left_fore", "right_fore")])


def test_constraints_are_kept():
    robot = five_bar()
    system = fa.System(robot, native=False)
    q0 = {"left.q": 2.0, "left_fore.q": -1.0, "right.q": 1.0, "right_fore.q": 1.0}
    q = fa.inverse_kinematics(robot, (0.3, 0.75, 0.0), q0=q0, link="left_fore")
    assert_allclose(system.tip(q, "left_fore"), [0.3, 0.75, 0.0], atol=1e-9)
    assert_allclose(system.constraint(q), 0.0, atol=1e-9)


def test_what_a_loop_cannot_do():
    """The coupler of a four-bar linkage goes along one curve."""
    robot = five_bar()
    bars = [*robot.links[:2], rigid("right", 0.6, parent="ground", offset=(0.5, 0, 0))]
    linkage = fa.Robot(links=bars, constraints=[fa.Loop("left_fore", "right")])
    with pytest.raises(ValueError, match=r"out of reach of 'left_fore' at 0\.3 m"):
        fa.inverse_kinematics(linkage, (0.3, 0.9, 0.0), link="left_fore", x=0.3, starts=6)


# --- paths ---


def circle(centre: tuple[float, float], radius: float, count: int = 100) -> np.ndarray:
    phase = np.linspace(0, 2 * pi, count)
    return np.stack([centre[0] + radius * np.cos(phase), centre[1] + radius * np.sin(phase), 0 * phase], axis=1)


def test_a_path_is_followed_continuously():
    path = circle((0.9, 0.3), 0.3)
    q = fa.inverse_kinematics(ARM, path, q0={"fore.q": 1.0})
    assert_allclose(tip(ARM, q), path, atol=1e-9)
    assert np.abs(np.diff(q, axis=0)).max() < 0.1
    assert_allclose(q[-1], q[0], atol=1e-8)
    assert (angles(ARM, q)[:, 1] > 0).all()


def test_poses_far_apart_are_reached_over_those_between():
    path = circle((0.9, 0.3), 0.3, 5)
    q = fa.inverse_kinematics(ARM, path, q0={"fore.q": 1.0})
    fine = fa.inverse_kinematics(ARM, circle((0.9, 0.3), 0.3, 101), q0={"fore.q": 1.0})
    assert_allclose(q, fine[::25], atol=1e-8)


def test_a_path_of_frames():
    robot = six_axes()
    system = fa.System(robot, native=False)
    turns = np.linspace(0, 1, 20)[:, None] * [0.8, -0.5, 0.4, 0.9, 0.6, -1.0] + 0.3
    frames = system.frame("link5", None, turns)
    q = fa.inverse_kinematics(robot, frames, q0=turns[0])
    assert_allclose(q, turns, atol=1e-7)


def test_a_path_beyond_the_reach_names_the_pose():
    path = np.linspace((1.0, 0.5, 0.0), (2.0, 0.5, 0.0), 11)
    with pytest.raises(
        ValueError, match=r"pose\[5\] = \(1\.5, 0\.5, 0\) m: out of reach .* from the pose before is 0\.08"
    ):
        fa.inverse_kinematics(ARM, path, q0={"fore.q": 1.0})


def test_a_path_through_where_no_tip_can_be():
    """The path crosses the base, which the shorter forearm does not reach."""
    with pytest.raises(ValueError, match=r"pose\[1\] .* by a jump of its joints only"):
        fa.inverse_kinematics(ARM, [(1.2, 0.1, 0.0), (-1.2, 0.1, 0.0)])


def test_a_path_that_travel_does_not_let_through():
    """Past the base the elbow would have to bend the other way."""
    robot = fa.Robot(links=[rigid("a", joint=fa.Revolute(limits=(-1.5, 1.5))), rigid("b")])
    path = np.linspace((0.5, 0.01, 0.0), (-0.5, 0.01, 0.0), 3)
    with pytest.raises(ValueError, match=r"pose\[2\] .* from the pose before is 0\.\d+ m away, at a\.q = 1\.5, "):
        fa.inverse_kinematics(robot, path, q0=[0.5, -2.0])


# --- refusals ---


@pytest.mark.parametrize(
    ("target", "far"), [((2.0, 0.0, 0.0), 0.5), ((0.0, -1.8, 0.0), 0.3), ((0.1, 0.0, 0.0), 0.4), ((1, 0.5, 0.1), 0.1)]
)
def test_out_of_reach_gives_the_smallest_distance(target, far):
    with pytest.raises(ValueError, match=f"out of reach of the tip of 'fore'; .* is {far:.4g} m away"):
        fa.inverse_kinematics(ARM, target)


def test_out_of_the_plane_names_the_components_to_leave_out():
    with pytest.raises(ValueError, match=r"no joint moves it in z: leave that out by components=\('x', 'y'\)$"):
        fa.inverse_kinematics(ARM, (1.0, 0.5, 0.1))


def test_the_message_gives_angles_and_distances():
    with pytest.raises(ValueError, match=r"is .* m and .* rad away"):
        fa.inverse_kinematics(ARM, fa.Pose((1.0, 0.5, 0.0), (0, 0, -2.0)))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"pose": [1.0, 0.5]}, r"pose has shape \(2,\): must be a position"),
        ({"pose": np.zeros((0, 3))}, "must have at least one pose"),
        ({"pose": 2 * np.eye(4)}, "must be a frame"),
        ({"components": ("x", "rz")}, "'rz' needs a pose with axes"),
        ({"components": "xy"}, "components = 'xy': must be some of x, y, z, rx, ry, rz"),
        ({"components": ("u",)}, "there is no 'u'"),
        ({"joints": "fore"}, "must be names of links"),
        ({"joints": ["upper"], "link": "upper", "pose": (0, 1, 0)}, None),
        ({"joints": ["fore"], "link": "upper"}, "none of them moves the tip of 'upper'"),
        ({"q0": np.zeros((2, 8))}, r"q0 has shape \(2, 8\)"),
    ],
)
def test_arguments_are_checked(changes, sentence):
    given = {"pose": (1.0, 0.5, 0.0), **changes}
    if sentence is None:
        fa.inverse_kinematics(ARM, **given)
        return
    with pytest.raises(ValueError, match=sentence):
        fa.inverse_kinematics(ARM, **given)


def test_an_unknown_joint():
    with pytest.raises(KeyError, match="did you mean 'fore'"):
        fa.inverse_kinematics(ARM, (1.0, 0.5, 0.0), joints=["for"])


def test_a_start_beyond_the_travel():
    robot = fa.Robot(links=[rigid("a"), rigid("b", joint=fa.Revolute(limits=(0, 1)))])
    with pytest.raises(ValueError, match=r"q0 of 'b\.q' = 2: must be within its travel, 0 to 1"):
        fa.inverse_kinematics(robot, (1.0, 0.7, 0.0), q0={"b.q": 2.0})


def test_what_nothing_moves():
    robot = fa.Robot(links=[rigid("post", joint=fa.Weld()), rigid("arm")])
    with pytest.raises(ValueError, match="no joint moves the tip of 'post'"):
        fa.inverse_kinematics(robot, (1.0, 0, 0), link="post")
