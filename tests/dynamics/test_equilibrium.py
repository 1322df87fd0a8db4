"""Static equilibrium, from different starting postures."""

import numpy as np
import pytest

import flexarm as fa
from tests.simulation.test_constraints import at, beam, four_bar


def test_a_spring_that_is_wound_up_at_first_unwinds():
    hinge = fa.Revolute("y", drive=fa.Drive(stiffness=981.0, rotor_inertia=0.1))
    robot = fa.Robot(links=[fa.Link("arm", 1.0, hinge, mass=0.0, payload=fa.PointMass(1.0))], gravity=(0, 0, -9.81))
    assert fa.equilibrium(robot, [2.0, 0.5]) == pytest.approx(fa.equilibrium(robot, [0.5, 0.5]), abs=1e-9)


@pytest.mark.parametrize("name", ["crank.q", "rocker.q"])
def test_a_joint_that_is_named_is_held_in_a_loop(name):
    """One joint of a rigid four-bar can be held: the one that q names, not the first of the robot."""
    system = fa.System(four_bar(gravity=(0, -9.81, 0)), native=False)
    target = at(1.0)[name]
    found = fa.equilibrium(system, {name: target})
    assert found[system.index(name)] == pytest.approx(target, abs=1e-12)
    assert np.abs(system.constraint(found)).max() < 1e-9


@pytest.mark.filterwarnings("ignore::flexarm.UnitsWarning")
def test_an_equilibrium_that_fails_on_constraints_names_the_joints_that_are_held():
    """Soft links of steel's weight: a four-bar that cannot carry itself."""
    soft = beam(1e5)
    with pytest.raises(ArithmeticError, match=r"held were crank\.q: name in q the joints that are to be held"):
        fa.equilibrium(fa.System(four_bar(soft, gravity=(0, -9.81, 0)), native=False), at(1.0))
