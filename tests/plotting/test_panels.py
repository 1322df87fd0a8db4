import numpy as np
import pytest

from flexarm.plotting.style import Picture
from flexarm.plotting.time_series import MAX_TURNING_POINT_COUNT, create_panels, draw_oscillation


@pytest.mark.parametrize("count", range(1, 8))
def test_plots_fill_the_figure_without_gaps(count):
    figure, plots = create_panels(count, height=2.0)
    assert len(plots) == len(figure.axes) == count
    cells = figure.axes[0].get_subplotspec().get_gridspec()
    covered = np.zeros((cells.nrows, cells.ncols), dtype=int)
    for plot in plots:
        place = plot.get_subplotspec()
        covered[place.rowspan.start : place.rowspan.stop, place.colspan.start : place.colspan.stop] += 1
    assert (covered == 1).all()


def test_the_last_plot_of_every_column_is_labelled_with_time():
    _, plots = create_panels(5, height=2.0)
    assert [plot.get_xlabel() for plot in plots] == ["", "", "", "time (s)", "time (s)"]


def drawn(values):
    plot = Picture().add_subplot()
    draw_oscillation(plot, 0, np.linspace(0, 1, len(values)), values, "kinetic")
    return plot


def test_a_slow_curve_is_a_line():
    values = np.sin(np.linspace(0, 20, 1000))
    plot = drawn(values)
    assert len(plot.lines) == 1
    assert not plot.collections
    assert (plot.lines[0].get_ydata() == values).all()


def test_a_fast_one_is_the_range_in_which_it_swings():
    t = np.linspace(0, 1, 3001)
    envelope = np.exp(-t)
    plot = drawn(envelope * np.sin(2 * np.pi * 100 * t))
    assert len(plot.collections) == 1
    low, high = (line.get_ydata() for line in plot.lines)
    inner = slice(100, -100)
    assert high[inner] == pytest.approx(envelope[inner], rel=0.05)
    assert low[inner] == pytest.approx(-envelope[inner], rel=0.05)
    assert plot.lines[1].get_label() == "kinetic (range)"


def test_noise_on_a_constant_is_no_swing():
    noise = 1e-3 * np.random.default_rng(1).normal(size=5 * MAX_TURNING_POINT_COUNT)
    assert len(drawn(np.append(0.0, 1.0 + noise)).lines) == 1
    assert len(drawn(np.zeros(5 * MAX_TURNING_POINT_COUNT)).lines) == 1
