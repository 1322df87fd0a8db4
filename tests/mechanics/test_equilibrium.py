"""Static equilibrium, from wherever it is looked for."""

import pytest

import flexarm as fa


def test_a_spring_that_is_wound_up_at_first_unwinds():
    hinge = fa.Revolute("y", drive=fa.Drive(stiffness=981.0, rotor_inertia=0.1))
    robot = fa.Robot(links=[fa.Link("arm", 1.0, hinge, mass=0.0, payload=fa.PointMass(1.0))], gravity=(0, 0, -9.81))
    assert fa.equilibrium(robot, [2.0, 0.5]) == pytest.approx(fa.equilibrium(robot, [0.5, 0.5]), abs=1e-9)
