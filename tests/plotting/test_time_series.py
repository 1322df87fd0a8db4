import numpy as np
import pytest

import flexarm as fa

from .runs import two_link


def test_a_wrong_name_is_answered_with_the_right_one():
    with pytest.raises(KeyError, match=r"there is no 'upper\.p' in this run.*upper\.q"):
        two_link().plot("upper.p")


def test_chosen_quantities_have_a_panel_each():
    run = two_link()
    figure = run.plot("upper.q", "tip.y")
    assert [plot.get_ylabel() for plot in figure.axes] == ["upper: angle (rad)", "tip y (m)"]
    assert figure.axes[1].lines[0].get_ydata() == pytest.approx(run.tip.values[:, 1])
    assert figure.axes[1].get_xlabel() == "time (s)"


def test_runs_are_compared_in_different_dashes_with_a_legend():
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


def test_a_rigid_twin_is_left_out_where_it_has_nothing_to_show():
    figure = fa.plot_compare({"flexible": two_link(), "rigid": two_link(rigid=True)}, "upper.bend_y[1]", "tip.y")
    assert [len(plot.lines) for plot in figure.axes] == [1, 2]


def test_compare_needs_labels():
    with pytest.raises(TypeError, match="runs by label"):
        fa.plot_compare([two_link()])


def test_the_overview_shows_the_twin_in_grey(tmp_path):
    figure = two_link().plot(other=two_link(rigid=True))
    assert figure.axes[0].get_title() == "joints"
    assert sum(line.get_color() == "0.6" for line in figure.axes[0].lines) == 2
    assert figure._repr_png_().startswith(b"\x89PNG")  # what a notebook shows
