"""Poses of all nine two-link robots with joints R, Pa, Pb against the appendix of My et al..

Their u_1(2n+1), u_1(2n+2) are deflection and slope of link 1 at its tip, u_1(2k+1), u_1(2k+2) those where a slider
rides on it, u_2(2n+1) the deflection of the tip of link 2. They neglect the axial shortening: stiffening="none".

Misprints in the appendix that are put right here:
- flexible RPa, second row, last term: + u_2(2n+1) sin(theta_1 + gamma_2 + u_1(2k+2)) must be u_2(2n+1) cos(...);
- l_i in the transformation matrices and L_i in the positions are the same length.
Not a misprint, but another choice: a_2 = d_2 - l_2 puts the frame of a link that slides through its joint (Pb) at its
rear end. The frame of flexarm stands in the joint when such a link bends, so ends of links are compared, not frames.
In PbPa the slider rides at the material distance d_2 from the rear end of link 1, in front of the joint here
(d_2 > L_1 - d_1); its deflection is that of link 1 there.
"""

from math import cos, sin

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa
from tests.sliders import GAMMA, KINDS, LENGTHS, PAIRS, bend, pair

L1, L2 = LENGTHS
G1, G2 = GAMMA

# End of link 1: rigid and flexible; q1 is theta_1 or d_1, u the deflection of its tip.
RIGID_FIRST = {
    "R": lambda q1: (L1 * cos(q1), L1 * sin(q1)),
    "Pa": lambda q1: (L1 * cos(G1) + q1, L1 * sin(G1)),
    "Pb": lambda q1: (q1 * cos(G1), q1 * sin(G1)),
}
FLEXIBLE_FIRST = {
    "R": lambda q1, u: (L1 * cos(q1) - u * sin(q1), L1 * sin(q1) + u * cos(q1)),
    "Pa": lambda q1, u: (L1 * cos(G1) + q1 - u * sin(G1), L1 * sin(G1) + u * cos(G1)),
    "Pb": lambda q1, u: (q1 * cos(G1) - u * sin(G1), q1 * sin(G1) + u * cos(G1)),
}

# End-effector of the rigid robots.
RIGID_END = {
    ("R", "R"): lambda t1, t2: (L1 * cos(t1) + L2 * cos(t1 + t2), L1 * sin(t1) + L2 * sin(t1 + t2)),
    ("R", "Pa"): lambda t1, d2: (d2 * cos(t1) + L2 * cos(t1 + G2), d2 * sin(t1) + L2 * sin(t1 + G2)),
    ("R", "Pb"): lambda t1, d2: (L1 * cos(t1) + d2 * cos(t1 + G2), L1 * sin(t1) + d2 * sin(t1 + G2)),
    ("Pa", "R"): lambda d1, t2: (d1 + L1 * cos(G1) + L2 * cos(G1 + t2), L1 * sin(G1) + L2 * sin(G1 + t2)),
    ("Pa", "Pa"): lambda d1, d2: (d1 + d2 * cos(G1) + L2 * cos(G1 + G2), d2 * sin(G1) + L2 * sin(G1 + G2)),
    ("Pa", "Pb"): lambda d1, d2: (d1 + L1 * cos(G1) + d2 * cos(G1 + G2), L1 * sin(G1) + d2 * sin(G1 + G2)),
    ("Pb", "R"): lambda d1, t2: (d1 * cos(G1) + L2 * cos(G1 + t2), d1 * sin(G1) + L2 * sin(G1 + t2)),
    ("Pb", "Pa"): lambda d1, d2: (
        (d1 - L1 + d2) * cos(G1) + L2 * cos(G1 + G2),
        (d1 - L1 + d2) * sin(G1) + L2 * sin(G1 + G2),
    ),
    ("Pb", "Pb"): lambda d1, d2: (d1 * cos(G1) + d2 * cos(G1 + G2), d1 * sin(G1) + d2 * sin(G1 + G2)),
}


def _flexible(x: float, y: float, along: float, first: float, turn: float, u: float, s: float, w: float) -> tuple:
    """The pattern of every flexible row: the joint at (x, y) + u across the first link, which points along `first`;
    then `along` the second link, which is turned by `turn` and the slope s, and w across it."""
    second = first + turn + s
    return (
        x - u * sin(first) + along * cos(second) - w * sin(second),
        y + u * cos(first) + along * sin(second) + w * cos(second),
    )


# End-effector of the flexible robots; u, s: deflection and slope of link 1 at the joint; w: deflection of link 2's tip.
FLEXIBLE_END = {
    ("R", "R"): lambda t1, t2, *e: _flexible(L1 * cos(t1), L1 * sin(t1), L2, t1, t2, *e),
    ("R", "Pa"): lambda t1, d2, *e: _flexible(d2 * cos(t1), d2 * sin(t1), L2, t1, G2, *e),
    ("R", "Pb"): lambda t1, d2, *e: _flexible(L1 * cos(t1), L1 * sin(t1), d2, t1, G2, *e),
    ("Pa", "R"): lambda d1, t2, *e: _flexible(d1 + L1 * cos(G1), L1 * sin(G1), L2, G1, t2, *e),
    ("Pa", "Pa"): lambda d1, d2, *e: _flexible(d1 + d2 * cos(G1), d2 * sin(G1), L2, G1, G2, *e),
    ("Pa", "Pb"): lambda d1, d2, *e: _flexible(d1 + L1 * cos(G1), L1 * sin(G1), d2, G1, G2, *e),
    ("Pb", "R"): lambda d1, t2, *e: _flexible(d1 * cos(G1), d1 * sin(G1), L2, G1, t2, *e),
    ("Pb", "Pa"): lambda d1, d2, *e: _flexible((d1 - L1 + d2) * cos(G1), (d1 - L1 + d2) * sin(G1), L2, G1, G2, *e),
    ("Pb", "Pb"): lambda d1, d2, *e: _flexible(d1 * cos(G1), d1 * sin(G1), d2, G1, G2, *e),
}

POSTURES = {"R": (0.4, -1.1), "Pa": (0.55, 0.81), "Pb": (0.6, 0.47)}  # of a first and of a second joint; on their links


def postures(one: str, other: str) -> tuple[float, float]:
    return POSTURES[one][0], POSTURES[other][1]


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_rigid_robots(one, other):
    system = fa.System(pair(one, other).rigid(), native=False)
    q1, q2 = postures(one, other)
    q = {"a.q": q1, "b.q": q2}
    assert_allclose(system.tip(q, "a"), (*RIGID_FIRST[one](q1), 0), atol=1e-14)
    assert_allclose(system.tip(q), (*RIGID_END[one, other](q1, q2), 0), atol=1e-14)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_flexible_robots(one, other, seed):
    system = fa.System(pair(one, other, stiffening="none"), native=False)
    q1, q2 = postures(one, other)
    q = np.random.default_rng(seed).uniform(-0.05, 0.05, system.nq)
    q[system.index("a.q")], q[system.index("b.q")] = q1, q2
    first = q1 if one == "Pb" else None
    tip_of_first, _ = bend(system, "a", q, L1, first)
    u, s = bend(system, "a", q, q2 if other == "Pa" else L1, first)
    w, _ = bend(system, "b", q, L2, q2 if other == "Pb" else None)
    assert_allclose(system.tip(q, "a"), (*FLEXIBLE_FIRST[one](q1, tip_of_first), 0), atol=1e-13)
    assert_allclose(system.tip(q), (*FLEXIBLE_END[one, other](q1, q2, u, s, w), 0), atol=1e-13)


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_straight_flexible_robots_are_where_the_rigid_ones_are(one, other):
    robot = pair(one, other)
    q1, q2 = postures(one, other)
    q = {"a.q": q1, "b.q": q2}
    system, rigid = fa.System(robot, native=False), fa.System(robot.rigid(), native=False)
    for link in ("a", "b"):
        for x in (0.0, 0.3, 0.7, None):
            assert_allclose(system.frame(link, x, q), rigid.frame(link, x, q), atol=1e-14)


@pytest.mark.parametrize("other", KINDS)
def test_the_part_behind_a_joint_bends_too(other):
    """The rear end of a link that slides through its joint, from its own shapes: length - d backwards."""
    system = fa.System(pair("Pb", other, stiffening="none"), native=False)
    q = np.random.default_rng(7).uniform(-0.05, 0.05, system.nq)
    d = q[system.index("a.q")] = 0.6
    u, s = bend(system, "a", q, 0.0, d)
    pose = system.frame("a", 0.0, q)
    along, across = d - L1, u
    assert_allclose(pose[:2, 3], (along * cos(G1) - across * sin(G1), along * sin(G1) + across * cos(G1)), atol=1e-13)
    assert_allclose(pose[:2, 0], (cos(G1 + s), sin(G1 + s)), atol=1e-13)


def test_a_slider_behind_the_joint_rides_on_the_part_there():
    system = fa.System(pair("Pb", "Pa", stiffening="none"), native=False)
    q = np.random.default_rng(8).uniform(-0.05, 0.05, system.nq)
    d1, d2 = 0.6, 0.15
    q[system.index("a.q")], q[system.index("b.q")] = d1, d2
    u, s = bend(system, "a", q, d2, d1)
    w, _ = bend(system, "b", q, L2)
    assert_allclose(system.tip(q), (*FLEXIBLE_END["Pb", "Pa"](d1, d2, u, s, w), 0), atol=1e-13)


def test_shortening_pulls_a_slider_back():
    """On a bent link it is nearer to the root by half the integral of the slope squared."""
    system = fa.System(pair("R", "Pa"), native=False)
    q = system.vector({"a.bend_y[1]": 0.05, "a.bend_y[2]": -0.02, "b.q": 0.7})
    space = system._chain.bodies[0].integrals.shapes["bend_y"].derivative()
    x = np.linspace(0, 0.7, 2001)
    slope = space(x) @ q[1:3]
    expected = 0.7 - np.trapezoid(slope**2, x) / 2
    assert system.frame("b", 0.0, q)[0, 3] == pytest.approx(expected, abs=1e-7)


def test_the_tip_of_a_mesh_that_slides_moves_with_its_last_node():
    flexible = fa.Flexible(bend_y=2, basis="elements", stiffening="none")
    section, material = fa.Section.rectangle(0.02, 0.01), fa.Material(2e9, 1500)
    link = fa.Link("a", 0.8, fa.FixedPrismatic(), section, material, flexible)
    system = fa.System(fa.Robot(links=[link]), native=False)
    assert_allclose(system.tip({"a.q": 0.3, "a.bend_y[3]": 0.01}), [0.3, 0.01, 0.0], atol=1e-12)
