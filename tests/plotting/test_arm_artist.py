"""Tests of views, limits and rendered images of arms."""

import numpy as np
import pytest

import flexarm as fa
from flexarm.plotting.arm_artist import ArmView, FrameRenderer

FLAT = np.array([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [1.0, 1.0, 0.0]])


@pytest.mark.parametrize(("order", "axes"), [([0, 1, 2], (0, 1)), ([0, 2, 1], (0, 2)), ([2, 0, 1], (1, 2))])
def test_planar_points_are_drawn_in_their_plane(order, axes):
    view = ArmView.fit(FLAT[:, order])
    assert view.axes == axes
    figure, plot = view.figure()
    assert plot.name == "rectilinear"
    assert plot.get_xlabel() == f"{'xyz'[axes[0]]} (m)"
    assert plot.get_ylabel() == f"{'xyz'[axes[1]]} (m)"
    assert plot.get_aspect() == 1.0
    assert figure.get_figwidth() == 7.0


def test_spatial_points_are_drawn_in_space():
    view = ArmView.fit(np.vstack([FLAT, [0.0, 0.0, 0.1]]))
    _, plot = view.figure()
    assert plot.name == "3d"
    sides = np.array([np.ptp(lim) for lim in (plot.get_xlim(), plot.get_ylim(), plot.get_zlim())])
    box = plot._box_aspect
    assert box / box[0] == pytest.approx(sides / sides[0])  # one metre is as long along every axis


def test_limits_contain_a_straight_line():
    view = ArmView.fit(np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]))
    assert view.is_planar
    assert (view.low < 0).all()
    assert (view.high > [1, 0, 0]).all()


@pytest.mark.parametrize("robot", [fa.library.two_link_arm(), fa.library.rrr_arm()], ids=lambda robot: robot.name)
def test_images_have_one_size_and_show_motion(robot):
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


def test_view_contains_the_workspace():
    system = fa.System(fa.library.two_link_arm(), native=False)
    view = FrameRenderer(system, np.zeros(system.nq), np.zeros((0, 3))).view
    assert view.axes == (0, 1)
    assert (view.low[:2] < -1.5).all()
    assert (view.high[:2] > 1.5).all()
