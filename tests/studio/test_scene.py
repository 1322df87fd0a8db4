"""Tests of arrows of loads."""

import numpy as np

import flexarm as fa
from flexarm.studio.scene import MAX_ARROW_LENGTH, Arrows

BAR = fa.Robot(links=[fa.Link("a", 1.0, mass=1.0)])


def test_arrows_of_torques_start_and_of_forces_end_at_their_point() -> None:
    loads = [fa.PointLoad("a", 0.5, torque=(0.0, 0.0, 2.0)), fa.PointLoad("a", 1.0, force=(0.0, 3.0, 0.0))]
    run = fa.simulate(BAR, 0.01, loads=loads, native=False)
    found = Arrows(fa.System(BAR, native=False), run, 1.0).at(0)
    np.testing.assert_allclose(found[0], [[0.5, 0.0, 0.0], [0.5, 0.0, MAX_ARROW_LENGTH]], atol=1e-9)
    np.testing.assert_allclose(found[1], [[1.0, -MAX_ARROW_LENGTH, 0.0], [1.0, 0.0, 0.0]], atol=1e-9)
