"""Robots of the library against the numbers of their sources."""

from math import sqrt

import numpy as np
import pytest

import flexarm.robot as fa
from flexarm.analysis.modes import modes
from flexarm.robot import library


def test_two_link_arm_is_that_of_the_paper():
    steel, bar = fa.Material(E=2e10, rho=7850.0), fa.Section.rectangle(0.005, 0.005)
    flexible = fa.Flexible(bend_y=3)
    assert library.two_link_arm() == fa.Robot(
        name="two-link flexible arm",
        links=[
            fa.Link("upper", length=1.0, section=bar, material=steel, flexible=flexible),
            fa.Link("fore", length=0.5, section=bar, material=steel, flexible=flexible, payload=fa.PointMass(0.15)),
        ],
    )
    assert {link.material.damping for link in library.two_link_arm(damping=1e-3).links} == {1e-3}


def clamped_frequency(link):
    """First bending frequency of the clamped link without lumps (rad/s)."""
    return 1.8751040687**2 * sqrt(link.material.E * link.section.at(0).I_z / (link.mass_per_length(0) * link.length**4))


def test_rotating_beam_has_the_papers_frequency():
    (beam,) = library.rotating_beam(modes=4, stiffening="none").links
    assert beam.name == "beam"
    assert clamped_frequency(beam) == pytest.approx(2.910743, rel=1e-6)
    assert (beam.flexible.bend_y, beam.flexible.stiffening) == (4, "none")


def test_tokhi_azad_arm_bends_about_its_thin_side():
    (arm,) = library.tokhi_azad_arm().links
    numbers = arm.section.at(0)
    assert numbers.I_z == pytest.approx(0.019008 * 0.0032004**3 / 12, rel=1e-12)
    assert arm.payload is None
    assert arm.hub.inertia_matrix[2][2] == 5.8598e-4
    assert library.tokhi_azad_arm(0.05).links[0].payload == fa.PointMass(0.05)


def test_rrr_arm_starts_up_and_along_x():
    robot = library.rrr_arm()
    R, tips = np.eye(3), [np.zeros(3)]
    axes = []
    for link in robot.links:
        R = R @ np.array(link.joint.mount_matrix)
        axes.append(R @ link.joint.axis_vector)
        tips.append(tips[-1] + R @ [link.length, 0, 0])
    assert np.allclose(tips[1:], [[0, 0, 1], [4, 0, 1], [7.5, 0, 1]], atol=1e-15)
    assert np.allclose(axes, [[0, 0, 1], [0, 1, 0], [0, 1, 0]], atol=1e-15)


def test_rrr_arm_has_elastic_joints_on_request():
    assert all(link.joint.drive is None for link in library.rrr_arm().links)
    drives = [link.joint.drive for link in library.rrr_arm(elastic_joints=True, rotor_inertia=2.0).links]
    assert drives == [fa.Drive(stiffness=5000, rotor_inertia=2.0)] * 3


def test_de_luca_and_sicilianos_arm_has_their_clamped_frequencies():
    """0.48 and 1.80 Hz, 2.18 and 15.91 Hz: each link welded, with mass and inertia at its tip of all that it carries
    while the arm is straight. What follows link 1 has a first moment too, which their boundary conditions leave out."""
    arm = library.de_luca_siciliano_arm()
    upper = arm.links[0]
    assert [link.beam_mass for link in arm.links] == pytest.approx([0.1, 0.1])
    assert upper.material.E * upper.section.at(0).I_z == pytest.approx(1.0)
    behind = 0.1 + 0.1 * 0.5**2 / 3 + 0.1 * 0.5**2 + 0.0005
    loads = fa.PointMass(1.2, inertia=behind), fa.PointMass(0.1, inertia=0.0005)
    for link, load, expected in zip(arm.links, loads, ((0.48, 1.80), (2.18, 15.91))):
        welded = link.model_copy(update={"joint": fa.Weld(), "hub": None, "payload": load})
        assert modes(fa.Robot(links=[welded])).frequencies == pytest.approx(expected, rel=3e-3)
    offset = (0.1 * 0.25 + 0.1 * 0.5) / 1.2
    turned = fa.PointMass(1.2, offset=(offset, 0, 0), inertia=behind - 1.2 * offset**2)
    welded = upper.model_copy(update={"joint": fa.Weld(), "hub": None, "payload": turned})
    assert modes(fa.Robot(links=[welded])).frequencies == pytest.approx((0.441, 1.986), rel=2e-2)
