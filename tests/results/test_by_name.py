"""One name, one quantity: in `run[...]`, in figures, in tables."""

import re

import pytest

import flexarm as fa
from flexarm.results.by_name import available, named
from tests.integrators.test_method import SOFT
from tests.plotting.runs import cart, telescope, two_link


def test_every_quantity_has_a_value_at_every_sample():
    run = two_link()
    for name in run.names:
        assert run[name].shape == run.time.shape, name
    assert set(run.names) == set(available(run.data))


def test_names_lead_to_their_parts_of_the_data():
    run = two_link()
    assert (run["v.upper.q"].values == run.data["v"].values[:, 0]).all()
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
        (two_link, "v.upper.q", "upper: rate of angle (rad/s)"),
        (two_link, "upper.bend_y[2]", "upper: bending y, shape 2"),
        (two_link, "deflection.fore.y", "fore: tip deflection y (m)"),
        (two_link, "torque.fore", "fore: torque (N m)"),
        (two_link, "elbow.x", "elbow x (m)"),
        (two_link, "work", "work of inputs (J)"),
        (cart, "trolley.q", "trolley: travel (m)"),
        (cart, "torque.trolley", "trolley: force (N)"),
        (cart, "a.trolley.q", "trolley: acceleration of travel (m/s2)"),
        (telescope, "boom.rear.bend_y[1]", "boom: rear bending y, shape 1"),
    ],
)
def test_labels_are_words_with_units(made, name, label):
    assert named(made().data, name).label == label


def test_a_point_cannot_take_the_name_of_the_tip():
    run = fa.simulate(SOFT, 0.05, points={"tip": ("upper", 0.3)}, native=False)
    assert (run["tip.x"].values == run.tip.values[:, 0]).all()
    assert (run["points.tip.x"].values == run.data["points"].values[:, 0, 0]).all()


@pytest.mark.parametrize("name", ["uper.q", "", None, 3, ["upper.q"]])
def test_unknown_names_are_sentences(name):
    with pytest.raises(KeyError, match=r"there is no .* in this run"):
        two_link()[name]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("upper.q'", "did you mean 'v.upper.q'"),
        ("upper.q''", "did you mean 'a.upper.q'"),
    ],
)
def test_names_of_laws_and_linear_models_lead_to_those_of_runs(name, sentence):
    with pytest.raises(KeyError) as told:
        two_link()[name]
    assert re.search(sentence, told.value.args[0])
