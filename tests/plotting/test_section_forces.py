"""Figures of internal forces along a link."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa


@pytest.fixture(scope="module")
def run() -> fa.Run:
    rod = fa.Link("rod", 1.0, mass=1.0, masses=[fa.PointMass(0.5, at=0.4)])
    robot = fa.Robot("pendulum", links=[rod], gravity=(0, -9.81, 0))
    return fa.simulate(robot, 0.2, native=False, loads=[fa.PointLoad("rod", 0.7, force=(0, 1.0, 0))])


def test_only_what_is_there_is_drawn_with_a_line_for_each_time(run):
    figure = run.plot_section_forces("rod", times=[0.05, 0.1])
    titles = [plot.get_title() for plot in figure.axes]
    assert titles == ["bending moment about z (N m)", "axial force (N)", "shear force along y (N)"]
    lines = [line for line in figure.axes[0].get_lines() if len(line.get_xdata()) > 2]
    assert [line.get_label() for line in lines] == ["t = 0.05 s", "t = 0.1 s"]
    moment = run.moment("rod", lines[0].get_xdata()).sel(axis="z").sel(time=0.05, method="nearest")
    assert_allclose(lines[0].get_ydata(), moment.values, atol=1e-12)


def test_shear_jumps_at_masses_and_loads_within_a_step_of_the_picture(run):
    figure = run.plot_section_forces("rod", times=1)
    shear = next(plot for plot in figure.axes if plot.get_title().startswith("shear")).get_lines()[0]
    x, y = np.asarray(shear.get_xdata()), np.asarray(shear.get_ydata())
    jumps = x[1:][np.abs(np.diff(y)) > 0.3]
    assert_allclose(jumps, [0.4, 0.7], atol=1e-6)


def test_nothing_at_all_is_drawn_as_zero():
    still = fa.simulate(fa.Robot(links=[fa.Link("rod", 1.0, mass=1.0)]), 0.01, native=False)
    figure = still.plot_section_forces("rod", times=1)
    assert len(figure.axes) == 6


def test_wrong_arguments_raise_errors(run):
    with pytest.raises(fa.DescriptionError, match="no such link"):
        run.plot_section_forces("arm")
    with pytest.raises(ValueError, match="times: 5 s is outside the run"):
        run.plot_section_forces("rod", times=[5.0])
