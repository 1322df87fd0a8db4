"""Rendered images have one size and one view."""

import numpy as np
import pytest

import flexarm as fa
from flexarm.plotting.arm_artist import FrameRenderer


@pytest.mark.parametrize("robot", [fa.library.two_link_arm(), fa.library.rrr_arm()], ids=lambda robot: robot.name)
def test_images_are_of_one_size_and_show_what_moves(robot):
    system = fa.System(robot, native=False)
    q, mark = np.zeros(system.nq), np.array([[0.5, 0.5, 0.0]])
    renderer = FrameRenderer(system, q, mark)
    first, again = (renderer.image(q, mark, "t = 0 s") for _ in range(2))
    assert first.dtype == np.uint8
    assert first.shape[2] == 3
    assert np.array_equal(first, again)
    turned = system.vector({system.names[0]: 1.0})
    assert renderer.image(turned, mark, "t = 0 s").shape == first.shape
    assert (renderer.image(turned, mark, "t = 0 s") != first).any()
    assert (renderer.image(q, mark[:0], "t = 0 s") != first).any()


def test_all_that_a_turning_joint_reaches_is_in_view():
    system = fa.System(fa.library.two_link_arm(), native=False)
    view = FrameRenderer(system, np.zeros(system.nq), np.zeros((0, 3))).view
    assert view.axes == (0, 1)
    assert (view.low[:2] < -1.5).all()
    assert (view.high[:2] > 1.5).all()
