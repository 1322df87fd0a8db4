import numpy as np
import pytest

from flexarm.plotting.arm_artist import ArmView

FLAT = np.array([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [1.0, 1.0, 0.0]])


@pytest.mark.parametrize(("order", "axes"), [([0, 1, 2], (0, 1)), ([0, 2, 1], (0, 2)), ([2, 0, 1], (1, 2))])
def test_a_flat_cloud_is_drawn_in_its_plane(order, axes):
    view = ArmView.fit(FLAT[:, order])
    assert view.axes == axes
    figure, plot = view.figure()
    assert plot.name == "rectilinear"
    assert plot.get_xlabel() == f"{'xyz'[axes[0]]} (m)"
    assert plot.get_ylabel() == f"{'xyz'[axes[1]]} (m)"
    assert plot.get_aspect() == 1.0
    assert figure.get_figwidth() == 7.0


def test_what_leaves_the_plane_is_drawn_in_space():
    view = ArmView.fit(np.vstack([FLAT, [0.0, 0.0, 0.1]]))
    _, plot = view.figure()
    assert plot.name == "3d"
    sides = np.array([np.ptp(lim) for lim in (plot.get_xlim(), plot.get_ylim(), plot.get_zlim())])
    box = plot._box_aspect
    assert box / box[0] == pytest.approx(sides / sides[0])  # one metre is as long along every axis


def test_everything_is_inside_even_a_straight_line():
    view = ArmView.fit(np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]))
    assert view.is_planar
    assert (view.low < 0).all()
    assert (view.high > [1, 0, 0]).all()
