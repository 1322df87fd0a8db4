"""Arrows of loads."""

import numpy as np

import flexarm as fa
from flexarm.studio.scene import LONGEST, Arrows

BAR = fa.Robot(links=[fa.Link("a", 1.0, mass=1.0)])


def test_torques_of_loads_begin_where_they_act_and_forces_end_there() -> None:
    loads = [fa.PointLoad("a", 0.5, torque=(0.0, 0.0, 2.0)), fa.PointLoad("a", 1.0, force=(0.0, 3.0, 0.0))]
    run = fa.simulate(BAR, 0.01, loads=loads, native=False)
    found = Arrows(fa.System(BAR, native=False), run, 1.0).at(0)
    np.testing.assert_allclose(found[0], [[0.5, 0.0, 0.0], [0.5, 0.0, LONGEST]], atol=1e-9)
    np.testing.assert_allclose(found[1], [[1.0, -LONGEST, 0.0], [1.0, 0.0, 0.0]], atol=1e-9)
