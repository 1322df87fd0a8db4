import numpy as np
import pytest

import flexarm as fa
from flexarm.plotting.arm_figures import MODE_AMPLITUDE, plot_modes


def test_planar_modes_are_drawn_flat_each_with_its_frequency():
    found = fa.modes(fa.library.two_link_arm())
    figure = plot_modes(found, most=3)
    assert len(figure.axes) == 3
    titles = [plot.get_title() for plot in figure.axes]
    assert titles == [f"mode {k + 1}: {found.frequencies[k]:.4g} Hz" for k in (2, 3, 4)]
    assert all(plot.name == "rectilinear" for plot in figure.axes)


def test_spatial_modes_are_drawn_in_space():
    figure = plot_modes(fa.modes(fa.library.rrr_arm(), joints="locked"), most=2)
    assert all(plot.name == "3d" for plot in figure.axes)


def test_displacements_are_scaled_to_be_seen():
    figure = plot_modes(fa.modes(fa.library.two_link_arm(), joints="locked"), most=2)
    for plot in figure.axes:
        heights = np.concatenate([line.get_ydata() for line in plot.lines])
        assert np.abs(heights).max() == pytest.approx(MODE_AMPLITUDE * 1.5, rel=0.05)  # the arm is 1.5 m long


def test_a_rigid_robot_has_no_mode_to_draw():
    with pytest.raises(ValueError, match="nothing in it is elastic"):
        plot_modes(fa.modes(fa.library.two_link_arm().rigid()))


def test_names_are_drawn_as_they_are_written_and_wrapped(tmp_path):
    name = "a $1 arm with {a $constrained" + " and a very long name" * 20
    figure = plot_modes(fa.modes(fa.library.two_link_arm().with_(name=name)), most=2)
    figure.savefig(tmp_path / "a.png")
    lines = figure.get_suptitle().splitlines()
    assert " ".join(lines).startswith(name)
    assert max(map(len, lines)) <= 100
    assert not figure._suptitle.get_parse_math()


def test_hinges_move_with_their_links():
    figure = plot_modes(fa.modes(fa.library.two_link_arm(), joints="locked"), most=1)
    hinges = [line.get_xydata()[0] for line in figure.axes[0].lines if line.get_marker() == "o"]
    swinging = [line.get_xydata() for line in figure.axes[0].lines if line.get_linestyle() == "-"][:2]
    assert hinges == pytest.approx(np.array([curve[0] for curve in swinging]))
    assert abs(hinges[1][1]) > 0.05  # m: the elbow of the first mode


@pytest.mark.parametrize("most", [1, 2, 3, 4, 5])
def test_modes_fill_their_rows(most):
    figure = plot_modes(fa.modes(fa.library.two_link_arm(), joints="locked"), most=most)
    cells = figure.axes[0].get_subplotspec().get_gridspec()
    assert cells.nrows * cells.ncols == len(figure.axes) == most
