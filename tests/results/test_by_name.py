"""One name, one quantity: in `run[...]`, in figures, in tables."""

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa
from flexarm.dynamics.quantity_names import split_derivative
from flexarm.results.by_name import available, label_of
from tests.integrators.methods.test_method import SOFT
from tests.plotting.runs import cart, telescope, two_link


def test_every_quantity_has_a_value_at_every_sample():
    run = two_link()
    for name in run.names:
        assert run[name].shape == run.time.shape, name
    assert set(run.names) == set(available(run.data))


def test_names_lead_to_their_parts_of_the_data():
    run = two_link()
    assert (run["upper.q'"].values == run.data["v"].values[:, 0]).all()
    assert (run["tip.y"].values == run.tip.values[:, 1]).all()
    assert (run["deflection.upper.y"].values == run.deflection("upper").values[:, 1]).all()
    assert (run["torque.fore"].values == run.torque.values[:, 1]).all()
    assert (run["elbow.y"].values == run.data["points"].values[:, 0, 1]).all()
    assert run["kinetic"].identical(run.data["kinetic"])
    assert run["tip"].dims == ("time", "axis")  # a whole variable


@pytest.mark.parametrize(
    ("made", "name", "label"),
    [
        (two_link, "upper.q", "upper: angle (rad)"),
        (two_link, "upper.q'", "upper: rate of angle (rad/s)"),
        (two_link, "upper.bend_y[2]", "upper: bending y, shape 2 (m kg^1/2)"),
        (two_link, "deflection.fore.y", "fore: tip deflection y (m)"),
        (two_link, "torque.fore", "fore: torque (N m)"),
        (two_link, "elbow.x", "elbow x (m)"),
        (two_link, "work", "work of inputs (J)"),
        (cart, "trolley.q", "trolley: travel (m)"),
        (cart, "torque.trolley", "trolley: force (N)"),
        (cart, "trolley.q''", "trolley: acceleration of travel (m/s2)"),
        (telescope, "boom.rear.bend_y[1]", "boom: rear bending y, shape 1 (m kg^1/2)"),
    ],
)
def test_labels_are_words_with_units(made, name, label):
    assert label_of(made()[name]) == label


def test_a_point_cannot_take_the_name_of_the_tip():
    run = fa.simulate(SOFT, 0.05, points={"tip": ("upper", 0.3)}, native=False)
    assert (run["tip.x"].values == run.tip.values[:, 0]).all()
    assert (run["points.tip.x"].values == run.data["points"].values[:, 0, 0]).all()


@pytest.mark.parametrize("name", ["uper.q", "", None, 3, ["upper.q"]])
def test_unknown_names_are_sentences(name):
    with pytest.raises(KeyError, match=r"there is no .* in this run"):
        two_link()[name]


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("uper.q'", "upper.q'"),
        ("v.upper.q", "upper.q"),
        ("upper.strian(0.1)", r"upper.strain\(0\)"),
        ("uper.strain(0.1)", r"upper.strain\(0\)"),
        ("reaction.fore.f", "reaction.fore.f[xyz]"),
        ("elbow.w", "elbow.[xyz]"),
        ("deflection.fore.w", "deflection.fore.[xyz]"),
        ("kinetics", "kinetic"),
    ],
)
def test_unknown_names_are_told_the_nearest_one(name, nearest):
    with pytest.raises(KeyError) as told:
        two_link()[name]
    assert re.search(f"there is no .* in this run; did you mean '{nearest}'?", told.value.args[0])


def test_a_run_has_the_outputs_of_laws_and_linear_models():
    run = two_link()
    reaction, moment = run.reaction("fore"), run.moment("upper", 0.2)
    assert_allclose(run["reaction.fore.fy"].values, reaction.sel(component="force.y").values)
    assert_allclose(run["upper.moment(0.2)"].values, moment.sel(axis="z").values)
    assert_allclose(run["fore.tip.y"].values, run["tip.y"].values, atol=1e-12)
    with pytest.raises(KeyError, match="has 3 primes"):
        run["tip.y'''"]


@pytest.mark.parametrize("name", ["tip.x'", "tip.y''", "upper(0.3).y'", "deflection.fore.y'", "upper.strain(0.1)'"])
def test_derivatives_are_those_of_the_motion(name):
    run, h = two_link(), 1e-5
    base, order = split_derivative(name)
    times = run.array("time")[23:-20:15]  # the torque jumps at none of these
    before, now, after = (run.at(times + k * h)[base].values for k in (-1, 0, 1))
    expected = (after - before) / (2 * h) if order == 1 else (after - 2 * now + before) / h**2
    found = run.at(times)[name]
    assert_allclose(found.values, expected, rtol=1e-3, atol=(2e-3, 1e-2)[order - 1] * np.abs(expected).max())
    assert found.attrs["units"].endswith(("/s", "/s2")[order - 1])
