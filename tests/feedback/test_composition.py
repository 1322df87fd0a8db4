"""Sums of feedbacks: torques, names and limits."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa

TWO = fa.Robot(
    links=[fa.Link(name, 1.0, mass=0.0, payload=fa.PointMass(1.0)) for name in "ab"],
)


def run(feedback, duration=0.05, **options):
    return fa.simulate(TWO, duration, torque=feedback, q0={"a.q": 0.2, "b.q": 0.3}, native=False, **options)


def by_order(t, q, v):
    return [-q[0] - v["a.q"], 2.0]


def by_name(t, x, gains):
    return {"b": gains["k"] * (x.reference("aim") - x["b.q"])}


def with_state(t, x):
    grown = x.state("sum") + (x.period or 0.0) * x["a.q"]
    return {"a": x.state("sum")}, {"sum": x["a.q"] if x.period is None else grown}


@pytest.mark.parametrize("rate", [None, 200])
def test_torques_of_whatever_form_add_up(rate):
    parts = [
        fa.Feedback(by_order, rate=rate),
        fa.Feedback(by_name, rate=rate, gains={"k": 3.0}, references={"aim": 1.0}),
        fa.Feedback(with_state, rate=rate, states={"sum": 0.5}),
    ]
    found = run(parts[0] + parts[1] + parts[2])
    again = run(parts[2] + (parts[1] + parts[0]))
    assert_allclose(found.torque.values[0], [-0.2 + 0.5, 2.0 + 3.0 * (1.0 - 0.3)])
    assert_allclose(again.data["q"].values, found.data["q"].values, atol=1e-9)


def test_the_parts_are_as_they_were():
    gains = {"k": 3.0}
    part = fa.Feedback(by_name, gains=gains, references={"aim": 1.0})
    whole = part + fa.Feedback(by_order)
    gains["k"] = 0.0
    assert whole.gains == {"k": 3.0}
    assert part.states is None
    assert_allclose(run(whole).torque.values, run(whole).torque.values, rtol=0)


def test_limits_hold_for_the_sum():
    def constant(first, second):
        return lambda t, q, v: [first, second]

    def torques(one, other):
        return run(fa.Feedback(constant(5, -5), limit=one) + fa.Feedback(constant(2, 9), limit=other)).torque.values[0]

    assert_allclose(torques(None, None), (7, 4))
    assert_allclose(torques(6.0, None), (6, 4))
    assert_allclose(torques(6.0, 3.0), (3, 3))
    assert_allclose(torques([6.0, 1.0], 3.0), (3, 1))
    assert_allclose(torques({"a": 1.0}, {"a": 3.0, "b": 2.0}), (1, 2))
    for one, other in ((3.0, {"a": 1.0}), ([1.0, 2.0], {"a": 1.0})):
        with pytest.raises(ValueError, match=r"limits are given in one way: .*; give both by link"):
            torques(one, other)
    with pytest.raises(ValueError, match="limits are equally many"):
        torques([1.0, 2.0], [1.0, 2.0, 3.0])


def test_what_both_have_must_be_the_same():
    def law(t, x, gains):
        return {"b": gains["k"] * x.reference("aim")}

    def one(k=1.0, aim=1.0, **more):
        return fa.Feedback(law, gains={"k": k}, references={"aim": aim}, **more)

    assert_allclose(run(one() + one()).torque.values[0], (0, 2))
    for other, sentence in (
        (one(k=2.0), "whose gains agree: 'k' is 1.0 in one and 2.0 in the other"),
        (one(k=[1.0, 2.0]), "whose gains agree: 'k'"),
        (one(aim=2.0), "whose references agree: 'aim'"),
        (one(rate=100), "these have none and 100 Hz"),
    ):
        with pytest.raises(ValueError, match=sentence):
            one() + other
    with pytest.raises(ValueError, match="both have 'sum'"):
        fa.Feedback(with_state, states={"sum": 0.0}) + fa.Feedback(with_state, states={"sum": 0.0})
    motors = [fa.Feedback(by_order, actuators={"a": fa.Actuator(lag=each)}) for each in (0.01, 0.02)]
    with pytest.raises(ValueError, match="whose actuators agree: 'a'"):
        motors[0] + motors[1]
    with pytest.raises(TypeError):
        one() + 3.0


def test_rates_are_the_same_but_for_rounding():
    """1 / (1 / 49) is not 49: the rate of a design, which knows its period, and one that is given."""
    assert 1 / (1 / 49) != 49
    both = fa.Feedback(by_order, rate=1 / (1 / 49)) + fa.Feedback(by_order, rate=49)
    assert both.rate == pytest.approx(49, rel=1e-12)


def test_wrong_counts_and_names_are_told():
    with pytest.raises(TypeError, match="1 torques; there are 2 actuators: a, b"):
        run(fa.Feedback(lambda t, q, v: [1.0]) + fa.Feedback(by_order))
    with pytest.raises(KeyError, match="no actuator at 'c'"):
        run(fa.Feedback(lambda t, q, v: {"c": 1.0}) + fa.Feedback(by_order))


def test_a_memory_inside_is_found_and_left_alone():
    memory = []

    def remembers(t, q, v):
        memory.append(q[0])
        return [0.1 * sum(memory), 0.0]

    with pytest.raises(TypeError, match="rate=1000"):
        run(fa.Feedback(remembers) + fa.Feedback(by_order))
    assert memory == []
    digital = fa.Feedback(remembers, rate=100) + fa.Feedback(lambda t, x: {"b": 1.0}, rate=100)
    assert np.isfinite(run(digital).torque.values).all()
    assert len(memory) >= 5


def test_laws_see_which_actuators_there_are_and_their_period():
    seen = []

    def law(t, x):
        seen.append((x.inputs, x.period))
        return [0.0, 0.0]

    run(fa.Feedback(law, rate=100))
    run(fa.Feedback(lambda t, x: [0.0 if x.period is None else 1.0, len(x.inputs)]))
    assert seen[0] == (("a", "b"), 0.01)
