"""Drawn points of arms against positions from `System`."""

import numpy as np
import pytest

import flexarm as fa
from flexarm.plotting.arm_points import Arm

from .runs import cart, spatial, telescope, two_link


@pytest.mark.parametrize("made", [two_link, spatial, telescope, cart])
def test_last_point_is_the_tip_of_the_run(made):
    run = made()
    arm = Arm(fa.System(run.robot, native=False), run.data["q"].values)
    last = arm.links[run.robot.links[-1].name]
    assert last[:, -1] == pytest.approx(run.tip.values, abs=1e-9)


def test_magnified_links_stay_joined():
    run = two_link()
    linear = {f"links.{link.name}.flexible.stiffening": "shortening" for link in run.robot.links}
    system = fa.System(run.robot.with_(linear), native=False)  # across; exact links become shorter across, too
    arm = Arm(system, run.data["q"].values, magnify=2.0)
    plain = Arm(system, run.data["q"].values)
    root = system.frame("upper", 0.0, run.data["q"].values)
    own = [np.einsum("nji,nj->ni", root[:, :3, :3], each.links["upper"][:, -1]) for each in (arm, plain)]
    assert own[0][:, 1] == pytest.approx(2 * own[1][:, 1], abs=1e-12)
    assert arm.links["fore"][:, 0] == pytest.approx(arm.links["upper"][:, -1], abs=1e-12)


def test_links_without_deflection_are_straight():
    run = two_link()
    arm = Arm(fa.System(run.robot, native=False), run.data["q"].values, magnify=0.0)
    for name, length in (("upper", 1.0), ("fore", 0.5)):
        ends = arm.links[name][:, -1] - arm.links[name][:, 0]
        assert np.linalg.norm(ends, axis=1) == pytest.approx(np.full(len(ends), length))


def test_positions_of_hinges_and_payload():
    run = two_link()
    arm = Arm(fa.System(run.robot, native=False), run.data["q"].values)
    assert arm.hinges.shape == (len(run.time), 2, 3)
    assert arm.hinges[:, 1] == pytest.approx(run.data["points"].values[:, 0], abs=1e-12)
    assert arm.masses[:, 0] == pytest.approx(run.tip.values, abs=1e-12)


def test_boom_passes_through_its_guide():
    run = telescope()
    arm = Arm(fa.System(run.robot, native=False), run.data["q"].values)
    middle = arm.guides[:, 0].mean(axis=1)
    bracket = arm.brackets[:, 0]
    assert bracket[:, 0] == pytest.approx(arm.links["shoulder"][:, -1])
    assert middle == pytest.approx(bracket[:, 1])
    boom = arm.links["boom"]
    nearest = np.linalg.norm(boom - middle[:, None], axis=2).min(axis=1)
    assert nearest.max() < 0.02  # points of the boom are 25 mm apart
    sticks_out = np.linalg.norm(boom[:, -1] - middle, axis=1)
    assert sticks_out == pytest.approx(run["boom.q"].values, rel=0.01)


def test_slide_on_the_ground_has_a_rail_and_a_bracket():
    run = cart()
    arm = Arm(fa.System(run.robot, native=False), run.data["q"].values)
    middle = arm.guides[:, 0].mean(axis=1)
    assert middle[:, 0] == pytest.approx(run["trolley.q"].values)
    assert np.abs(middle[:, 1:]).max() < 1e-12
    assert arm.links["trolley"][:, 0] - middle == pytest.approx(np.tile([0, 0, 0.05], (len(middle), 1)))
    assert arm.rails[0][0, 0] < middle[:, 0].min()
    assert arm.rails[0][1, 0] > middle[:, 0].max()


def test_slider_follows_the_bent_beam():
    beam = fa.Link(
        "beam",
        length=2.0,
        joint=fa.Weld(),
        section=fa.Section.rectangle(0.005, 0.05),
        material=fa.Material(E=7e10, rho=2700),
        flexible=fa.Flexible(bend_y=2),
    )
    rider = fa.Link("rider", length=0.1, joint=fa.SlidingPrismatic(angle=0.7), mass=0.1)
    system = fa.System(fa.Robot("ride", links=[beam, rider]), native=False)
    q = system.vector({"rider.q": 1.0, "beam.bend_y[1]": 0.05})[None]
    arm = Arm(system, q, points=41)
    along = np.diff(arm.guides[0, 0], axis=0)[0]
    tangent = arm.links["beam"][0, 21] - arm.links["beam"][0, 19]
    assert arm.guides[0, 0].mean(axis=0) == pytest.approx(arm.links["beam"][0, 20], abs=1e-9)
    cosine = along @ tangent / np.linalg.norm(along) / np.linalg.norm(tangent)
    assert cosine == pytest.approx(1.0, abs=1e-4)


def test_loops_and_supports_are_drawn():
    rod = {"length": 1.0, "mass": 1.0}
    links = [fa.Link("left", **rod), fa.Link("right", parent="ground", offset=(1.0, 0, 0), **rod)]
    ties = [fa.Loop("left", "right"), fa.PointSupport("left", (0.25, 0.4, 0.0), "y")]
    system = fa.System(fa.Robot("tied", links=links, constraints=ties), native=False)
    arm = Arm(system, system.vector({"left.q": np.pi / 3, "right.q": 2 * np.pi / 3})[None])
    assert arm.hinges[0, -1] == pytest.approx([0.5, np.sqrt(3) / 2, 0.0])
    assert arm.supports[0] == pytest.approx(np.array([[0.25, 0.4, 0.0]]))
    assert not arm.brackets.size  # the ground is no part of the arm
    assert arm.rails[0] == pytest.approx(np.array([[0, 0, 0], [1.0, 0, 0]]))


def test_magnified_loop_stays_closed():
    strip = {"section": fa.Section.rectangle(0.005, 0.02), "material": fa.Material(E=7e10, rho=2700)}
    links = [
        fa.Link("left", length=1.0, mass=1.0),
        fa.Link("coupler", length=1.0, **strip, flexible=fa.Flexible(bend_y=2), masses=[fa.PointMass(0.1, at=0.3)]),
        fa.Link("right", parent="ground", offset=(1.0, 0, 0), length=1.0, mass=1.0),
    ]
    system = fa.System(fa.Robot("tied", links=links, constraints=[fa.Loop("coupler", "right")]), native=False)
    q = system.vector({"left.q": 1.5, "coupler.q": -1.5, "right.q": 1.5, "coupler.bend_y[2]": 0.02})[None]
    plain, large = Arm(system, q), Arm(system, q, magnify=4.0)
    for name in ("left", "right"):
        assert large.links[name] == pytest.approx(plain.links[name])
    ends = [0, -1]
    assert large.links["coupler"][0, ends] == pytest.approx(plain.links["coupler"][0, ends])
    assert large.links["coupler"][0, 12] == pytest.approx(large.masses[0, 0], abs=1e-9)  # 0.3 m: the mass stays on it
    assert large.masses == pytest.approx(plain.masses)

    def bow(arm):
        start, end = arm.links["coupler"][0, 12], arm.links["coupler"][0, -1]
        middle = arm.links["coupler"][0, 26]  # halfway between the mass and the tip
        return np.linalg.norm(middle - (start + end) / 2)

    assert bow(large) == pytest.approx(4 * bow(plain), rel=1e-2)
    assert bow(plain) > 1e-3


def test_bodies_and_frames_are_drawn():
    body = fa.RigidBody(1.0, com=(0.1, 0, 0), inertia=0.01)
    links = [fa.Link("a", body=body), fa.Link("b", joint=fa.Revolute("y"), offset=(0.3, 0, 0), body=body)]
    robot = fa.Robot(links=links, frames=[fa.Frame("tool", "b", position=(0, 0, 0.2))], tip="tool")
    q = np.array([[0.0, 0.0], [np.pi / 2, 0.0]])
    arm = Arm(fa.System(robot, native=False), q)
    assert arm.masses[0] == pytest.approx(np.array([[0.1, 0, 0], [0.4, 0, 0]]), abs=1e-12)
    ends = arm.brackets[1][:, 1]  # of the link with an offset, and of the frame
    assert ends == pytest.approx(np.array([[0, 0.3, 0], [0, 0.3, 0.2]]), abs=1e-12)
    figure = fa.simulate(robot, 0.1, native=False).plot_trajectory()
    assert figure.axes
