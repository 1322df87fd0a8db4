import numpy as np
import pytest

import flexarm as fa
from flexarm.plotting.arm_points import Arm
from flexarm.plotting.meshes import ArmSolids, Solid, steel_ball_radius

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
