import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa
from tests.helpers import state

BAR = {"section": fa.Section.rectangle(0.005, 0.005), "material": fa.Material(2e10, 7850)}


def planar_transform(theta, u_f, u_s, length):
    """Theta_(i-1)i of My et al., eq. (2), for a revolute joint (Table 2: chi = l, a = 0)."""
    c, s = np.cos(theta + u_s), np.sin(theta + u_s)
    return np.array([[c, -s, 0, length], [s, c, 0, u_f], [0, 0, 1, 0], [0, 0, 0, 1]])


def test_poses_of_the_rr_arm_are_those_of_the_appendix_of_my_et_al():
    """RR row, flexible: the papers' poses have no shortening, so stiffening is "none"; nodal coordinates."""
    flexible = fa.Flexible(bend_y=2, basis="elements", stiffening="none")
    arm = fa.Robot(
        links=[
            fa.Link("one", 1.2, flexible=flexible, **BAR),
            fa.Link("two", 0.7, flexible=flexible, **BAR),
        ]
    )
    system = fa.System(arm, native=False)
    q = {"one.q": 0.4, "one.bend_y[3]": 0.05, "one.bend_y[4]": 0.08, "two.q": -0.9, "two.bend_y[3]": -0.03}
    expected = planar_transform(0.4, 0, 0, 0) @ planar_transform(-0.9, 0.05, 0.08, 1.2)
    assert_allclose(system.frame("two", 0.0, q), expected, atol=1e-14)
    angle = 0.4 - 0.9 + 0.08
    tip = [
        1.2 * np.cos(0.4) - 0.05 * np.sin(0.4) + 0.7 * np.cos(angle) + 0.03 * np.sin(angle),
        1.2 * np.sin(0.4) + 0.05 * np.cos(0.4) + 0.7 * np.sin(angle) - 0.03 * np.cos(angle),
        0,
    ]
    assert_allclose(system.tip(q), tip, atol=1e-14)


def test_rigid_tip_is_the_rigid_row():
    arm = fa.Robot(links=[fa.Link("one", 1.2), fa.Link("two", 0.7)])
    tip = fa.System(arm, native=False).tip({"one.q": 0.4, "two.q": -0.9})
    assert_allclose(tip, [1.2 * np.cos(0.4) + 0.7 * np.cos(-0.5), 1.2 * np.sin(0.4) + 0.7 * np.sin(-0.5), 0])


def test_shortening_draws_the_tip_in_by_half_the_squared_slope():
    link = fa.Link("one", 2.0, flexible=fa.Flexible(bend_y=1, basis="elements"), **BAR)
    system = fa.System(fa.Robot(links=[link]), native=False)
    # v = v_L (3 xi^2 - 2 xi^3): int v'^2 dx = 36 v_L^2 / (30 L)
    tip = system.tip({"one.bend_y[1]": 0.1})
    assert_allclose(tip, [2.0 - 0.5 * 36 * 0.1**2 / (30 * 2.0), 0.1, 0])


@pytest.mark.parametrize("stiffening", ["none", "shortening"])
def test_sections_turn_by_rz_ry_rx_of_slopes_and_twist(stiffening):
    """Tip slopes v' = a, w' = b with cubics v'' = a (6 x - 2), w'' = b (6 x - 2) and theta = c x: to second order the
    angles are c - int w' v'', -b - int theta v'', a - int theta w''; in the zero-order model c, -b and a."""
    slope_y, slope_z, twist = 0.1, -0.2, 0.3
    flexible = fa.Flexible(bend_y=1, bend_z=1, twist=1, basis="elements", stiffening=stiffening)
    link = fa.Link("one", 1.0, flexible=flexible, **BAR)
    system = fa.System(fa.Robot(links=[link]), native=False)
    if stiffening == "shortening":
        # int w' v'' = a b / 2, int theta v'' = a c, int theta w'' = b c
        angles = (twist - slope_y * slope_z / 2, -slope_z - slope_y * twist, slope_y - slope_z * twist)
    else:
        angles = (twist, -slope_z, slope_y)
    R = system.frame("one", None, {"one.bend_y[2]": slope_y, "one.bend_z[2]": slope_z, "one.twist[1]": twist})[:3, :3]

    def about(axis, angle):
        c, s = np.cos(angle), np.sin(angle)
        return {"x": [[1, 0, 0], [0, c, -s], [0, s, c]], "y": [[c, 0, s], [0, 1, 0], [-s, 0, c]],
                "z": [[c, -s, 0], [s, c, 0], [0, 0, 1]]}[axis]  # fmt: skip

    expected = np.array(about("z", angles[2])) @ about("y", angles[1]) @ about("x", angles[0])
    assert_allclose(R, expected, atol=1e-14)


def test_trees_mounts_offsets_and_places_along_a_parent():
    robot = fa.Robot(
        base=fa.Pose((1.0, 2.0, 3.0), (0, 0, np.pi / 2)),
        links=[
            fa.Link("branch", 0.5, joint=fa.Weld(mount=(0, -np.pi / 2, 0)), parent="trunk", at=0.4, offset=(0, 0.1, 0)),
            fa.Link("trunk", 1.0, parent="ground"),
            fa.Link("twig", 0.2, parent="branch"),
        ],
    )
    system = fa.System(robot, native=False)
    # the trunk points along world y; 0.4 along it, 0.1 to its left, then straight up
    assert_allclose(system.frame("branch", 0.0)[:3, 3], [1 - 0.1, 2 + 0.4, 3], atol=1e-15)
    assert_allclose(system.tip(link="branch"), [0.9, 2.4, 3.5], atol=1e-15)
    assert_allclose(system.tip(), [0.9, 2.4, 3.7], atol=1e-15)  # of the last link in the list
    assert system.names == ("trunk.q", "twig.q")


@pytest.mark.parametrize("axis", ["x", "-y", (0.0, 3.0, 4.0)])
def test_joints_turn_about_their_axis(axis):
    joint = fa.Revolute(axis, mount=(0.1, 0.2, 0.3))
    system = fa.System(fa.Robot(links=[fa.Link("one", 1.0, joint=joint)]), native=False)
    turned = system.frame("one", 0.0, [0.8])[:3, :3]
    relative = np.array(joint.mount_matrix).T @ turned
    assert_allclose(relative @ joint.axis_vector, joint.axis_vector, atol=1e-14)
    assert np.trace(relative) == pytest.approx(1 + 2 * np.cos(0.8))


def test_axis_of_a_bent_link_starts_at_its_root_and_ends_at_its_tip():
    arm = fa.library.rrr_arm()
    system = fa.System(arm, native=False)
    q, _, _ = state(system, 3)
    for link in arm.links:
        points = system.axis(link.name, q, points=5)
        assert_allclose(points[0], system.frame(link.name, 0.0, q)[:3, 3], atol=1e-13)
        assert_allclose(points[2], system.frame(link.name, link.length / 2, q)[:3, 3], atol=1e-13)
        assert_allclose(points[-1], system.tip(q, link.name), atol=1e-13)
