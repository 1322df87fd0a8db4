"""Tests of figures over time."""

import numpy as np
import pytest

import flexarm as fa
from flexarm.plotting.style import Picture
from flexarm.plotting.time_series import MAX_TURNING_POINT_COUNT, create_panels, draw_oscillation
from tests.control.arms import MOVE, single

from .runs import cart, two_link


def test_unknown_name_suggests_the_nearest():
    with pytest.raises(KeyError, match=r"there is no 'upper\.p' in this run.*upper\.q"):
        two_link().plot("upper.p")


def test_each_quantity_has_a_panel():
    run = two_link()
    figure = run.plot("upper.q", "tip.y")
    assert [plot.get_ylabel() for plot in figure.axes] == ["upper: angle (rad)", "tip y (m)"]
    assert figure.axes[1].lines[0].get_ydata() == pytest.approx(run.tip.values[:, 1])
    assert figure.axes[1].get_xlabel() == "time (s)"


def test_compared_runs_have_different_dashes():
    run, twin = two_link(), two_link(rigid=True)
    figure = fa.plot_compare({"flexible": run, "rigid": twin})
    names = [plot.get_ylabel() for plot in figure.axes]
    assert sorted(names) == sorted(
        ["upper: angle (rad)", "fore: angle (rad)", "tip x (m)", "tip y (m)", "tips apart (mm)"]
    )
    dashes = [line.get_linestyle() for line in figure.axes[0].lines]
    assert len(set(dashes)) == 2
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["flexible", "rigid"]
    apart = 1000 * np.linalg.norm(run.tip.values - twin.tip.values, axis=1)
    assert figure.axes[names.index("tips apart (mm)")].lines[0].get_ydata() == pytest.approx(apart, abs=1e-6)


def test_runs_without_a_quantity_are_left_out():
    figure = fa.plot_compare({"flexible": two_link(), "rigid": two_link(rigid=True)}, "upper.bend_y[1]", "tip.y")
    assert [len(plot.lines) for plot in figure.axes] == [1, 2]


def test_compare_requires_labels():
    with pytest.raises(TypeError, match="runs by label"):
        fa.plot_compare([two_link()])


def test_overview_shows_the_rigid_twin_in_grey(tmp_path):
    figure = two_link().plot(other=two_link(rigid=True))
    assert figure.axes[0].get_title() == "joints"
    assert sum(line.get_color() == "0.6" for line in figure.axes[0].lines) == 2
    assert figure._repr_png_().startswith(b"\x89PNG")  # what a notebook shows


@pytest.mark.parametrize("count", range(1, 8))
def test_plots_fill_the_figure(count):
    figure, plots = create_panels(count, height=2.0)
    assert len(plots) == len(figure.axes) == count
    cells = figure.axes[0].get_subplotspec().get_gridspec()
    covered = np.zeros((cells.nrows, cells.ncols), dtype=int)
    for plot in plots:
        place = plot.get_subplotspec()
        covered[place.rowspan.start : place.rowspan.stop, place.colspan.start : place.colspan.stop] += 1
    assert (covered == 1).all()


def test_last_plot_of_each_column_has_a_time_label():
    _, plots = create_panels(5, height=2.0)
    assert [plot.get_xlabel() for plot in plots] == ["", "", "", "time (s)", "time (s)"]


def drawn(values):
    plot = Picture().add_subplot()
    draw_oscillation(plot, 0, np.linspace(0, 1, len(values)), values, "kinetic")
    return plot


def test_slow_oscillation_is_a_line():
    values = np.sin(np.linspace(0, 20, 1000))
    plot = drawn(values)
    assert len(plot.lines) == 1
    assert not plot.collections
    assert (plot.lines[0].get_ydata() == values).all()


def test_fast_oscillation_is_a_range():
    t = np.linspace(0, 1, 3001)
    envelope = np.exp(-t)
    plot = drawn(envelope * np.sin(2 * np.pi * 100 * t))
    assert len(plot.collections) == 1
    low, high = (line.get_ydata() for line in plot.lines)
    inner = slice(100, -100)
    assert high[inner] == pytest.approx(envelope[inner], rel=0.05)
    assert low[inner] == pytest.approx(-envelope[inner], rel=0.05)
    assert plot.lines[1].get_label() == "kinetic (range)"


def test_noise_on_a_constant_is_not_an_oscillation():
    noise = 1e-3 * np.random.default_rng(1).normal(size=5 * MAX_TURNING_POINT_COUNT)
    assert len(drawn(np.append(0.0, 1.0 + noise)).lines) == 1
    assert len(drawn(np.zeros(5 * MAX_TURNING_POINT_COUNT)).lines) == 1


ROD = {"length": 1.0, "mass": 1.0}


def titles(run: fa.Run) -> list[str]:
    return [plot.get_title() for plot in run.plot().axes]


def test_empty_panels_are_left_out():
    welded = fa.Link(
        "beam",
        length=1.0,
        joint=fa.Weld(),
        section=fa.Section.rectangle(0.01, 0.01),
        material=fa.Material(E=7e10, rho=2700),
        flexible=fa.Flexible(bend_y=1),
    )
    still = fa.simulate(fa.Robot("beam", links=[welded]), 0.1, native=False)
    assert titles(still) == ["tip"]  # no joint, no actuator, no energy
    rigid = fa.simulate(fa.Robot("rod", links=[fa.Link("rod", **ROD)]), 0.1, torque={"rod": 1.0}, native=False)
    assert titles(rigid) == ["joints", "tip", "actuators", "energies"]


def test_curves_have_the_names_of_links():
    figure = two_link().plot(other=two_link(rigid=True))
    labels = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert labels == ["upper", "fore", "rigid twin"]
    assert cart().plot().axes[0].get_ylabel() == "angle (rad), travel (m)"
    assert cart().plot().axes[2].get_ylabel() == "torque (N m), force (N)"


def test_fast_energies_are_drawn_as_ranges():
    run = two_link()
    data = run.data.copy()
    data["kinetic"].values[:] = np.sin(np.arange(len(run.time))) ** 2
    energies = fa.Run(data).plot().axes[3]
    assert "kinetic (range)" in [text.get_text() for text in energies.get_legend().get_texts()]


def test_torques_path_and_path_error():
    found = fa.invert(single(1), {"arm": MOVE}, 1.0, sample=0.02)
    figure = found.plot(found.play(native=False))
    torque, place, missed = figure.axes
    assert torque.get_ylabel() == "torque (N m)"
    assert (torque.get_lines()[0].get_ydata() == found.torques[:, 0]).all()
    assert [each.get_text() for each in place.get_legend().get_texts()] == ["path", "x", "y"]
    assert np.max(missed.get_lines()[0].get_ydata()) < 1.0  # mm
    marks = [line.get_xdata()[0] for line in torque.get_lines()[1:]]
    assert marks == pytest.approx([found.before, found.before + 1.0])
    assert len(found.plot().axes) == 2
    with pytest.raises(TypeError, match="run = 3"):
        found.plot(3)
