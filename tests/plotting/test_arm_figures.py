"""Tests of figures of arms, internal forces and mode shapes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa
from flexarm.plotting.arm_figures import MODE_AMPLITUDE, plot_modes

from .runs import cart, spatial, telescope, two_link


def test_arm_is_drawn_at_the_chosen_times():
    run = two_link()
    figure = run.plot_trajectory(times=[0.0, 0.3335, 1.0])
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == ["t = 0 s", "t = 0.3335 s", "t = 1 s", "tip"]
    way = np.delete(figure.axes[0].lines[-1].get_xydata(), 334, axis=0)  # 0.3335 s lies between two samples
    assert way == pytest.approx(run.tip.values[:, :2], abs=1e-9)
    drawn = {line.get_label(): line.get_xydata() for line in figure.axes[0].lines}
    between = np.interp(0.3335, run.time.values, run.data["points"].values[:, 0, 1])
    assert drawn["t = 0.3335 s"][-1, 1] == pytest.approx(between, abs=1e-6)


@pytest.mark.parametrize(("made", "kind"), [(telescope, "rectilinear"), (cart, "rectilinear"), (spatial, "3d")])
def test_different_robots_are_drawn(made, kind, tmp_path):
    figure = made().plot_trajectory(times=3, magnify=5.0)
    assert figure.axes[0].name == kind
    assert "deflections x 5" in figure.axes[0].get_title()
    figure.savefig(tmp_path / "a.png")


def test_other_run_is_drawn_for_comparison():
    figure = two_link().plot_trajectory(times=2, other=two_link(rigid=True))
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert "tip, rigid twin" in labels


def test_times_outside_the_run_are_refused():
    with pytest.raises(ValueError, match="2 s is outside the run, which goes from 0 to 1 s"):
        two_link().plot_trajectory(times=[2.0])
    with pytest.raises(ValueError, match="times = 0: must be a whole number, at least 1"):
        two_link().plot_trajectory(times=0)
    with pytest.raises(ValueError, match="times = 10000000: at most 1000 postures are drawn in one picture"):
        two_link().plot_trajectory(10_000_000)
    with pytest.raises(ValueError, match="times: are 1001 times; at most 1000 postures"):
        two_link().plot_trajectory([0.5] * 1001)
    with pytest.raises(ValueError, match="magnify = -1"):
        two_link().plot_trajectory(magnify=-1)


def test_small_path_has_a_plot_of_its_own():
    run = two_link()
    short = type(run)(run.data.isel(time=slice(0, 300)))  # the tip moves by a centimetre or so
    arm, near = short.plot_trajectory(times=2).axes
    moved = np.ptp(short.tip.values, axis=0)[1]
    assert np.ptp(arm.get_ylim()) > 20 * moved
    assert np.ptp(near.get_ylim()) < 2 * moved
    assert near.lines[0].get_xydata() == pytest.approx(short.tip.values[:, :2], abs=1e-9)
    assert len(telescope().plot_trajectory().axes) == 1  # its boom goes far


def test_tip_at_rest_has_no_plot_of_its_path():
    run = two_link()
    assert len(type(run)(run.data.isel(time=[0])).plot_trajectory(times=1).axes) == 1


@pytest.fixture(scope="module")
def run() -> fa.Run:
    rod = fa.Link("rod", 1.0, mass=1.0, masses=[fa.PointMass(0.5, at=0.4)])
    robot = fa.Robot("pendulum", links=[rod], gravity=(0, -9.81, 0))
    return fa.simulate(robot, 0.2, native=False, loads=[fa.PointLoad("rod", 0.7, force=(0, 1.0, 0))])


def test_nonzero_components_are_drawn_for_each_time(run):
    figure = run.plot_section_forces("rod", times=[0.05, 0.1])
    titles = [plot.get_title() for plot in figure.axes]
    assert titles == ["bending moment about z (N m)", "axial force (N)", "shear force along y (N)"]
    lines = [line for line in figure.axes[0].get_lines() if len(line.get_xdata()) > 2]
    assert [line.get_label() for line in lines] == ["t = 0.05 s", "t = 0.1 s"]
    moment = run.moment("rod", lines[0].get_xdata()).sel(axis="z").sel(time=0.05, method="nearest")
    assert_allclose(lines[0].get_ydata(), moment.values, atol=1e-12)


def test_shear_force_jumps_at_masses_and_loads(run):
    figure = run.plot_section_forces("rod", times=1)
    shear = next(plot for plot in figure.axes if plot.get_title().startswith("shear")).get_lines()[0]
    x, y = np.asarray(shear.get_xdata()), np.asarray(shear.get_ydata())
    jumps = x[1:][np.abs(np.diff(y)) > 0.3]
    assert_allclose(jumps, [0.4, 0.7], atol=1e-6)


def test_zero_forces_are_drawn():
    still = fa.simulate(fa.Robot(links=[fa.Link("rod", 1.0, mass=1.0)]), 0.01, native=False)
    figure = still.plot_section_forces("rod", times=1)
    assert len(figure.axes) == 6


def test_wrong_arguments_raise_errors(run):
    with pytest.raises(fa.DescriptionError, match="no such link"):
        run.plot_section_forces("arm")
    with pytest.raises(ValueError, match="times: 5 s is outside the run"):
        run.plot_section_forces("rod", times=[5.0])


def test_planar_modes_have_planar_plots():
    found = fa.modes(fa.library.two_link_arm())
    figure = plot_modes(found, most=3)
    assert len(figure.axes) == 3
    titles = [plot.get_title() for plot in figure.axes]
    assert titles == [f"mode {k + 1}: {found.frequencies[k]:.4g} Hz" for k in (2, 3, 4)]
    assert all(plot.name == "rectilinear" for plot in figure.axes)


def test_spatial_modes_have_3d_plots():
    figure = plot_modes(fa.modes(fa.library.rrr_arm(), joints="locked"), most=2)
    assert all(plot.name == "3d" for plot in figure.axes)


def test_displacements_are_scaled():
    figure = plot_modes(fa.modes(fa.library.two_link_arm(), joints="locked"), most=2)
    for plot in figure.axes:
        heights = np.concatenate([line.get_ydata() for line in plot.lines])
        assert np.abs(heights).max() == pytest.approx(MODE_AMPLITUDE * 1.5, rel=0.05)  # the arm is 1.5 m long


def test_rigid_robot_raises():
    with pytest.raises(ValueError, match="nothing in it is elastic"):
        plot_modes(fa.modes(fa.library.two_link_arm().rigid()))


def test_long_names_are_wrapped(tmp_path):
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
def test_plots_of_modes_fill_their_rows(most):
    figure = plot_modes(fa.modes(fa.library.two_link_arm(), joints="locked"), most=most)
    cells = figure.axes[0].get_subplotspec().get_gridspec()
    assert cells.nrows * cells.ncols == len(figure.axes) == most
