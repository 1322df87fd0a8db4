"""Tests of triangle meshes and outlines of sections."""

import numpy as np
import pytest

import flexarm as fa
from flexarm.plotting.arm_points import Arm
from flexarm.plotting.meshes import (
    ArmSolids,
    Solid,
    extent,
    has_open_ends,
    match_corner_counts,
    outline,
    steel_ball_radius,
)

BAR = fa.Section.rectangle(0.02, 0.04)
METAL = fa.Material(7e10, 2700.0)


def solids(robot: fa.Robot, q: dict[str, float], **options: float) -> list[Solid]:
    system = fa.System(robot, native=False)
    return ArmSolids(Arm(system, system.posture(q)[None], points=25), **options).all()


def volume(solid: Solid) -> float:
    """Return the volume by the divergence theorem, positive for outward triangles."""
    a, b, c = (solid.points[0][solid.faces[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6)


def test_straight_link_has_the_volume_of_its_section() -> None:
    robot = fa.Robot(links=[fa.Link("a", 2.0, section=BAR, material=METAL)])
    link = next(each for each in solids(robot, {"a.q": 0.7}) if each.kind == "link")
    assert abs(volume(link)) == pytest.approx(2.0 * 0.02 * 0.04)
    thick = next(each for each in solids(robot, {}, thicken=3.0) if each.kind == "link")
    assert abs(volume(thick)) == pytest.approx(9 * 2.0 * 0.02 * 0.04)


def test_bent_link_keeps_its_section_square_to_its_axis() -> None:
    shapes = fa.Flexible(bend_y=2, stiffening="exact")
    robot = fa.Robot(links=[fa.Link("a", 1.0, section=BAR, material=METAL, flexible=shapes)])
    link = next(each for each in solids(robot, {"a.bend_y[1]": 0.4}) if each.kind == "link")
    rings = link.points[0].reshape(25, 4, 3)
    np.testing.assert_allclose(np.linalg.norm(rings[:, 0] - rings[:, 1], axis=-1), 0.02, rtol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(rings[:, 1] - rings[:, 2], axis=-1), 0.04, rtol=1e-9)
    assert np.ptp(rings.mean(axis=1)[:, 1]) > 0.2  # it bends far
    assert abs(volume(link)) == pytest.approx(1.0 * 0.02 * 0.04, rel=0.01)


def test_twist_turns_the_section() -> None:
    shapes = fa.Flexible(bend_y=1, bend_z=1, twist=1)
    robot = fa.Robot(links=[fa.Link("a", 1.0, section=BAR, material=METAL, flexible=shapes)])
    system = fa.System(robot, native=False)
    link = next(each for each in solids(robot, {"a.twist[1]": 0.3}) if each.kind == "link")
    last = link.points[0].reshape(25, 4, 3)[-1]
    across = (last[0] - last[1]) / 0.02
    np.testing.assert_allclose(across, system.frame("a", None, {"a.twist[1]": 0.3})[:3, 1], atol=1e-6)


def test_masses_are_balls_of_steel_and_joints_lie_along_their_axes() -> None:
    robot = fa.Robot(
        links=[
            fa.Link("a", 1.0, fa.Revolute("y", drive=fa.Drive(100.0, 0.1, 0.01)), mass=1.0, payload=fa.PointMass(5.0))
        ]
    )
    found = {each.kind: each for each in solids(robot, {})}
    assert set(found) == {"link", "joint", "drive", "mass"}
    assert abs(volume(found["mass"])) == pytest.approx(
        4 / 3 * np.pi * steel_ball_radius(fa.PointMass(5.0)) ** 3, rel=0.15
    )
    assert steel_ball_radius(fa.PointMass(5.0)) ** 3 * 4 / 3 * np.pi * 7850 == pytest.approx(5.0)
    np.testing.assert_allclose(found["mass"].points[0].mean(axis=0), [1, 0, 0], atol=1e-12)
    joint = found["joint"].points[0]
    assert np.ptp(joint[:, 1]) == pytest.approx(2 * 0.8 / 80)  # of a slender link


SHAPES = [
    fa.Section.rectangle(0.02, 0.03),
    fa.Section.circle(0.04),
    fa.Section.tube(0.04, 0.03),
    fa.Section.box(0.02, 0.03, 0.002),
    fa.Section.ibeam(0.02, 0.03, 0.004, 0.003),
]


def area(corners: np.ndarray) -> float:
    y, z = corners.T
    return 0.5 * abs(float(np.dot(y, np.roll(z, -1)) - np.dot(z, np.roll(y, -1))))


@pytest.mark.parametrize("section", SHAPES)
def test_corners_lie_on_the_edge_of_the_section(section: fa.Section) -> None:
    for y, z in outline(section, 0.3, 1.0):
        assert section.has(0.3, y, z)
    corners = outline(section, 0.3, 1.0)
    for y, z in corners[np.linalg.norm(corners, axis=1) > 0.99 * np.linalg.norm(corners, axis=1).max()]:
        assert not section.has(0.3, 1.01 * y, 1.01 * z)


def test_outlines_enclose_the_areas_of_solid_sections() -> None:
    assert area(outline(SHAPES[0], 0.0, 1.0)) == pytest.approx(SHAPES[0].at(0).A)
    assert area(outline(SHAPES[4], 0.0, 1.0)) == pytest.approx(SHAPES[4].at(0).A)
    assert area(outline(SHAPES[1], 0.0, 1.0)) == pytest.approx(SHAPES[1].at(0).A, rel=0.02)  # of twenty corners
    assert [has_open_ends(each) for each in SHAPES] == [False, False, True, True, True]


def test_section_properties_are_drawn_as_a_rectangle() -> None:
    bar = SHAPES[0].at(0)
    known = fa.Section.properties(A=bar.A, I_y=bar.I_y, I_z=bar.I_z)
    np.testing.assert_allclose(outline(known, 0.0, 1.0), outline(SHAPES[0], 0.0, 1.0))


def test_outlines_of_tapers_and_steps() -> None:
    cone = fa.Section.tapered(fa.Section.circle(0.04), fa.Section.circle(0.02))
    assert extent(outline(cone, 0.5, 1.0)) == pytest.approx(0.03)
    stepped = fa.Section.stepped([{"upto": 0.5, "section": SHAPES[0]}, {"upto": 1.0, "section": SHAPES[1]}])
    both = match_corner_counts([outline(stepped, xi, 1.0) for xi in (0.2, 0.8)])
    assert both.shape == (2, 20, 2)
    assert area(both[0]) == pytest.approx(SHAPES[0].at(0).A)  # corners that are put in change nothing
