"""Figures of sweeps."""

import numpy as np
import pytest
from scipy.stats import norm, uniform

import flexarm as fa

BAR = fa.Robot("bar", links=[fa.Link("bar", 1.0, mass=3.0)])
MASS = "links.bar.mass"
QUICK = {"native": False, "method": "rk4", "dt": 0.05, "sample": 0.05, "torque": {"bar": 1.0}, "progress": False}


@pytest.fixture(scope="module")
def lines():
    return fa.sweep(BAR, {MASS: [1.0, 2.0, 3.0]}, 0.5, **QUICK)


@pytest.fixture(scope="module")
def maps():
    over = {MASS: [1.0, 2.0, 3.0], "torque.bar": [1.0, 2.0], "q0.bar.q": [0.0, 0.5]}
    return fa.sweep(BAR, over, 0.5, measure=["tip"], **QUICK)


@pytest.fixture(scope="module")
def drawn():
    over = {MASS: norm(3.0, 0.1), "torque.bar": uniform(1.0, 0.1)}
    return fa.monte_carlo(BAR, over, 0.5, members=32, sobol=True, measure=["tip"], **QUICK)


def labels(figure):
    return [(each.get_xlabel(), each.get_ylabel()) for each in figure.axes]


def test_sweep_of_another_version_gives_a_warning(lines):
    with pytest.warns(UserWarning, match=f"data was written by flexarm 99.0; this is {fa.__version__}") as warned:
        fa.plot_sweep(lines.assign_attrs(version="99.0"))
    assert warned[0].filename == __file__


def test_bands_of_an_interrupted_study_use_its_first_members(drawn):
    """Check that members after the first missing one are ignored, since they are biased to fast ones."""
    status, place = drawn["status"].values.copy(), np.arange(32)
    status[24:] = np.where(drawn[MASS].values[24:] < 3.0, "completed", "missing")
    status[24] = "missing"
    statistics = "of the first 24 of 32 members drawn, which are all done"
    tips = np.where((status == "missing")[:, None], np.nan, drawn["tip"].values)
    partial = drawn.assign(status=("member", status), tip=(("member", "axis"), tips)).assign_attrs(
        statistics=statistics
    )
    figure = fa.plot_sweep(partial, "tip.y")
    whole = fa.plot_sweep(drawn.isel(member=place < 24).assign_attrs(kind="monte_carlo"), "tip.y")
    medians = [each.axes[0].lines[-1].get_ydata() for each in (figure, whole)]
    np.testing.assert_array_equal(*medians)
    assert statistics in figure.get_suptitle().replace("\n", " ")


def test_lines_over_one_field(lines):
    figure = fa.plot_sweep(lines)
    assert (f"{MASS} (kg)", "tip.y (m)") in labels(figure)
    assert ("tip.z (m)") not in [each for _, each in labels(figure)]  # which does not move
    drawn = fa.plot_sweep(lines, "tip.y").axes[0].lines[0]
    assert drawn.get_xdata().tolist() == [1.0, 2.0, 3.0]
    assert drawn.get_ydata() == pytest.approx(lines["tip"].sel(axis="y").values)
    assert len(fa.plot_sweep(lines, ["tip", "kinetic"]).axes) == 4


def test_maps_over_two_fields_with_a_fixed_third(maps):
    figure = fa.plot_sweep(maps, "tip.y", q=0.4)
    plot = figure.axes[0]
    assert (plot.get_xlabel(), plot.get_ylabel()) == (f"{MASS} (kg)", "torque.bar (N m)")
    values = np.asarray(plot.collections[0].get_array())
    assert values == pytest.approx(maps["tip"].sel(axis="y", **{"q0.bar.q": 0.5}).values.T)
    assert figure.get_suptitle() == "bar, q0.bar.q = 0.5"
    assert fa.plot_sweep(maps, "tip.y").get_suptitle() == "bar, q0.bar.q = 0"
    assert len(fa.plot_sweep(maps, "tip.y", q=0.5, **{"torque.bar": 2.0}).axes[0].lines) == 1


def test_bands_over_random_fields(drawn):
    figure = fa.plot_sweep(drawn, "tip.y")
    assert [each for each, _ in labels(figure)] == [f"{MASS} (kg)", "torque.bar (N m)"]
    assert all(len(each.collections) == 2 for each in figure.axes)
    share = float(drawn["tip_first_order"].sel(axis="y", field=MASS))
    assert figure.axes[0].get_title() == f"explains {100 * max(share, 0):.0f} %"


def test_failed_members_are_counted_and_left_out(lines):
    broken = lines.copy(deep=True)
    broken["status"][1] = "failed"
    broken["tip"][1] = np.nan
    figure = fa.plot_sweep(broken, "tip.y")
    assert "1 of 3 members failed" in figure.get_suptitle()
    assert np.isnan(figure.axes[0].lines[0].get_ydata()).tolist() == [False, True, False]


def test_text_values_on_an_axis():
    with pytest.warns(UserWarning, match="2 structures"):
        words = fa.sweep(BAR, {"links.bar.rotary_inertia": [True, False]}, 0.1, measure=["tip"], **QUICK)
    figure = fa.plot_sweep(words, "tip.y")
    assert [each.get_text() for each in figure.axes[0].get_xticklabels()] == ["True", "False"]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"data": 3}, "data"),
        ({"quantity": "tipp"}, "did you mean 'tip'"),
        ({"quantity": 3}, "quantity"),
        ({"quantity": []}, "quantity"),
        ({"mass": "heavy"}, "must be one of"),
        ({"mas": 1.0}, "no field that can be held"),
        ({"mass": 1.0}, "all fields are held"),
    ],
)
def test_wrong_arguments_are_refused(lines, given, sentence):
    with pytest.raises((TypeError, ValueError), match=sentence):
        fa.plot_sweep(**{"data": lines, **given})


def test_scales_and_ticks_follow_the_values():
    over = {"links.bar.mass": np.geomspace(0.1, 10, 5), "torque.bar": [1.0, 2.0]}
    bar = fa.Robot(links=[fa.Link("bar", 1.0, mass=3.0)])
    figure = fa.plot_sweep(fa.sweep(bar, over, 0.1, torque={"bar": 1.0}, native=False, progress=False), "tip.y")
    plot = figure.axes[0]
    assert (plot.get_xscale(), plot.get_yscale()) == ("log", "linear")
    assert plot.get_xticks().tolist() == pytest.approx(over["links.bar.mass"].tolist())
    assert plot.get_yticks().tolist() == [1.0, 2.0]
