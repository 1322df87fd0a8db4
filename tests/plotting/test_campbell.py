"""Figures of frequencies over speed and over postures."""

import numpy as np
import pytest

import flexarm as fa


def test_modes_and_orders_are_drawn_over_speed():
    found = fa.campbell(fa.library.rotating_beam(modes=2, stiffening="shortening"), "beam", [0.0, 3.0, 6.0], modes=2)
    (plot,) = found.plot(orders=(1, 3)).axes
    curves = [line for line in plot.get_lines() if line.get_label().startswith("mode")]
    assert [line.get_ydata().tolist() for line in curves] == found.frequencies.T.tolist()
    assert {each.get_text() for each in plot.texts} == {"1x", "3x"}
    assert plot.get_xlabel() == "speed of beam (rad/s)"
    for wrong in ([0], ["a"], [-1.0], [np.nan]):
        with pytest.raises(ValueError, match="orders"):
            found.plot(wrong)


def test_maps_are_lines_or_contours():
    arm = fa.library.two_link_arm()
    (plot,) = fa.frequency_map(arm, {"fore.q": [0.0, 1.0]}, modes=2).plot().axes
    assert [line.get_label() for line in plot.get_lines()] == ["mode 1", "mode 2"]
    assert plot.get_xlabel() == "fore.q (rad)"
    over = {"fore.q": [0.0, 1.0, 2.0], "upper.q": [0.0, 1.0]}
    panels = fa.frequency_map(arm, over, modes=2).plot().axes
    assert [each.get_title() for each in panels if each.get_title()] == ["mode 1", "mode 2"]
    with pytest.raises(ValueError, match="no figure"):
        fa.frequency_map(arm, {"fore.q": [0.0]}, modes=1).plot()
