import itertools

import numpy as np
import pytest

import flexarm as fa
from flexarm.integrators.inputs import Schedule

ROD = fa.System(fa.Robot(links=[fa.Link("a", 1.0, mass=1.0)]), native=False)


def stops(torque, duration, loads=()):
    return list(Schedule(ROD, torque, None, loads).stops(duration))


def test_stops_are_jumps_inside_the_run_and_its_end():
    assert stops(None, 2.0) == [2.0]
    assert stops({"a": fa.bang_bang(1.0, (0.5, 1.0, 3.0))}, 2.0) == [0.5, 1.0, 2.0]
    push = fa.PointLoad("a", force=(0, fa.step(0.0, 1.0, 0.7), 0))
    assert stops({"a": fa.bang_bang(1.0, (0.5, 1.0))}, 2.0, [push]) == [0.5, 0.7, 1.0, 2.0]


def test_samples_of_a_controller_are_stops_and_meet_jumps_but_once():
    push = fa.PointLoad("a", force=(0, fa.step(0.0, 1.0, 0.3), 0))  # 3 / 10 is 0.3 but for rounding
    found = stops(fa.Feedback(lambda t, q, v: [0.0], rate=10), 1.0, [push])
    assert found == pytest.approx(np.arange(1, 11) / 10)
    assert found[-1] == 1.0
    assert stops(fa.Feedback(lambda t, q, v: [0.0], rate=10), 0.25) == pytest.approx([0.1, 0.2, 0.25])


def test_samples_of_a_controller_are_made_one_by_one():
    schedule = Schedule(ROD, fa.Feedback(lambda t, q, v: [0.0], rate=1e9), None, ())
    assert list(itertools.islice(schedule.stops(1.0), 2)) == pytest.approx([1e-9, 2e-9])


def test_inputs_end_where_a_function_fails():
    schedule = Schedule(ROD, {"a": lambda t: 1.0 if t < 0.5 else float("inf")}, None, ())
    rows, failure = schedule.inputs_until_failure(np.linspace(0, 1, 11))
    assert len(rows) == 5
    assert "the torque of 'a' is not finite at t = 0.5 s" in str(failure)
    rows, failure = schedule.inputs_until_failure(np.linspace(0, 0.4, 5))
    assert (len(rows), failure) == (5, None)


@pytest.mark.parametrize("options", [{"dt": 0.01}, {"rtol": 1e-6}, {"method": "rk45"}, {"method": "dop853"}])
def test_jumps_that_are_one_but_for_rounding(options):
    """0.3 and 0.1 + 0.2, on a joint of 1 / 3 kg m2; a sample of a controller may come before such a jump, too."""
    early, late = fa.step(0.0, 0.5, 0.3), fa.step(0.0, 0.5, 0.1 + 0.2)
    pushes = {"torque": {"a": early}, "loads": [fa.PointLoad("a", 0.0, torque=(0, 0, late))]}
    sampled = {"torque": fa.Feedback(lambda t, q, v: [0.0], rate=10), "loads": 2 * pushes["loads"]}
    for given in (pushes, sampled, {"torque": lambda t, q, v: [early(t) + late(t)]}):
        found = fa.simulate(ROD, 1.0, native=False, **given, **options)
        assert found["a.q"].values[-1] == pytest.approx(3 * 0.7**2 / 2, abs=1e-12)
