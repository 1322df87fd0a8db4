"""Matrices of straight links against those of the equations of motion."""

import numpy as np
import pytest

import flexarm as fa
from flexarm.dynamics.accuracy.shape_truncation import refined
from flexarm.dynamics.accuracy.straight_links import is_supported, straight_robot
from flexarm.dynamics.model import Chain
from flexarm.robot import library

STEEL = fa.Material(210e9, 7800.0, damping=1e-4)
BAR = fa.Section.rectangle(0.01, 0.02)


def tree() -> fa.Robot:
    """A tree with all kinds of joints that are supported, drives, lumps, offsets, shear and several bases."""
    drive = fa.Drive(stiffness=500.0, rotor_inertia=1e-4, gear_ratio=50.0)
    shapes = fa.Flexible(bend_y=2, bend_z=2, twist=1, stretch=1)
    short, bar = fa.Flexible(bend_y=2, shear=True), {"section": BAR, "material": STEEL}
    lump = fa.PointMass(
        0.5, at=0.3, offset=(0.02, 0.01, -0.03), inertia=[[2e-3, 1e-4, 0], [1e-4, 3e-3, 0], [0, 0, 4e-3]]
    )
    return fa.Robot(
        links=[
            fa.Link("base", 0.6, fa.Revolute("z", drive=drive), flexible=shapes, masses=[lump], **bar),
            fa.Link(
                "slide", 0.4, fa.SlidingPrismatic(angle=0.4), parent="base", section=BAR, material=STEEL, mass=None
            ),
            fa.Link(
                "fore",
                0.5,
                fa.Revolute((0, 1, 1), mount=(0.1, 0.2, 0.3), viscous=0.3),
                parent="base",
                at=0.35,
                offset=(0.0, 0.05, 0.02),
                flexible=fa.Flexible(bend_y=2, bend_z=1, basis="elements"),
                rotary_inertia=True,
                payload=fa.PointMass(1.0, inertia=1e-3),
                **bar,
            ),
            fa.Link(
                "tool", 0.2, fa.Weld(mount=(0, 0.5, 0)), parent="fore", section=BAR, material=STEEL, flexible=short
            ),
        ],
        gravity=(0.5, -1.0, -9.81),
    )


ROBOTS = [library.two_link_arm(), library.rrr_arm(), library.de_luca_siciliano_arm(), library.tokhi_azad_arm(), tree()]


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda robot: robot.name or "tree")
def test_matrices_are_those_of_the_equations(robot):
    assert is_supported(robot)
    system = fa.System(refined(robot.resolved(), {}), native=False)  # the same shapes, without stiffening
    q, posture = np.zeros(system.nq), {}
    for k, each in enumerate(system.coordinates):
        if each.kind == "joint":
            q[k] = posture[each.link] = 0.3 + 0.1 * k if each.unit == "m" else 0.7 - 0.4 * k
    found = straight_robot([Chain(robot)], posture)
    own = found.bases[0]
    rigid = [k for k, each in enumerate(system.coordinates) if each.kind != "elastic"]
    order = [*rigid, *np.flatnonzero(system.elastic).tolist()]
    here = np.ix_(order, order)
    M = system.mass_matrix(q)
    for found_matrix, expected in ((own.mass, M), (own.stiffness, system.stiffness), (own.damping, system.damping)):
        np.testing.assert_allclose(found_matrix, expected[here], rtol=0, atol=1e-12 * np.abs(expected).max())
    np.testing.assert_allclose(-found.weight, system.gravity(q)[order], atol=1e-11)
    wrench = np.array([1.0, -2.0, 0.5, 0.3, 0.2, -0.1])
    last = robot.links[-1]
    J = system.jacobian(last.name, None, q, axes="world")
    expected = (J[3:].T @ wrench[:3] + J[:3].T @ wrench[3:])[order]
    np.testing.assert_allclose(found.force(last.name, last.length, wrench.tolist()), expected, atol=1e-12)


def test_the_mass_matrix_between_two_bases_projects_one_on_the_other():
    robot = library.rotating_beam(modes=3)
    found = straight_robot([Chain(robot), Chain(library.rotating_beam(modes=6))], {})
    few, many = (each.columns[1:] for each in found.bases)
    # the first three of six modes are the same functions
    np.testing.assert_allclose(found.mass[np.ix_(few, many)], np.eye(3, 6), atol=1e-9)


def test_what_is_not_supported():
    bar = {"section": BAR, "material": STEEL, "flexible": fa.Flexible(bend_y=2)}
    assert not is_supported(fa.Robot(links=[fa.Link("a", 1.0, fa.FixedPrismatic(), **bar)]))
    loop = fa.Robot(links=[fa.Link("a", 1.0, **bar)], constraints=[fa.OnLine("a", direction="x")])
    assert not is_supported(loop)
