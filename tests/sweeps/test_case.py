"""Outcomes as columns say what single ones say, in a table, too."""

import numpy as np
import pytest

import flexarm as fa
from flexarm.sweeps.case import Outcome, Outcomes, SweepCase
from flexarm.sweeps.plan import plan_of
from flexarm.sweeps.table import Table

BAR = fa.Robot(links=[fa.Link("bar", 1.0, mass=3.0)])
PLAN = plan_of(SweepCase(BAR, 1.0), {"links.bar.mass": np.linspace(1.0, 2.0, 8)})
MEASURES = {"a": lambda run: 1.0, "b": lambda run: np.ones(2)}


def columns():
    """Of four members: the second stopped, the third failed."""
    values = {"a": np.arange(4.0), "b": np.arange(8.0).reshape(4, 2)}
    endings = {1: ("stopped", "a limit"), 2: ("failed", "no way on")}
    return Outcomes(np.array([5, 0, 3, 6]), values, endings, {0: ("odd",), 1: ("strange", "odd")})


def alone(**more):
    return Outcome(6, {"a": np.array(9.0), "b": np.array([8.0, 7.0])}, "completed", **more)


def table(outcomes):
    found = Table(PLAN, MEASURES)
    return found, found.take(outcomes)


def same(one, other):
    assert one.values.keys() == other.values.keys()
    for name, rows in one.values.items():
        np.testing.assert_array_equal(rows, other.values[name])
    np.testing.assert_array_equal(one.status, other.status)
    assert (one.reasons, one.warnings, one.runs) == (other.reasons, other.warnings, other.runs)


def test_single_outcomes():
    first, second, third, last = columns()
    assert (first.number, first.status, first.reason, first.warnings) == (5, "completed", "", ("odd",))
    assert first.values["b"].tolist() == [0.0, 1.0]
    assert (second.number, second.status, second.reason, second.warnings) == (
        0,
        "stopped",
        "a limit",
        ("strange", "odd"),
    )
    assert (third.number, dict(third.values), third.status, third.reason) == (3, {}, "failed", "no way on")
    assert last.values["a"] == 3.0


def test_those_that_ran_by_themselves_are_told_by_that_run_alone():
    """Nothing is left of what columns said of them."""
    again = Outcome(0, {"a": np.array(4.0), "b": np.zeros(2)}, "completed")
    made = columns().with_single({1: again})
    assert list(made)[1] is again
    assert made.in_columns.tolist() == [0, 3]
    found, _ = table(made)
    assert found.status[0] == "completed"
    assert found.values["a"][0] == 4.0
    assert (found.reasons, found.warnings) == ({3: "no way on"}, {5: ("odd",)})


@pytest.mark.parametrize("single", [{}, {3: alone(warnings=("odd",))}])
def test_a_table_takes_columns_as_it_takes_one_after_the_other(single):
    made = columns().with_single(single)
    together, kept = table(made)
    one_by_one = Table(PLAN, MEASURES)
    for each in made:
        one_by_one.add(each)
    same(together, one_by_one)
    assert np.isnan(together.values["a"][3])  # it failed
    assert together.missing == [1, 2, 4, 7]
    assert [each.number for each in kept] == [5, 0, 3, 6]


def test_a_shape_that_does_not_fit_fails_those_members_only():
    found = Table(PLAN, MEASURES)
    found.add(Outcome(1, {"a": np.array(1.0), "b": np.ones(3)}, "completed"))
    fits = {3: Outcome(6, {"a": np.array(9.0), "b": np.ones(3)}, "completed")}
    kept = list(found.take(columns().with_single(fits)))
    sentence = "measure 'b' gave an array of shape (2,), where another member gave (3,)"
    assert [each.status for each in kept] == ["failed", "failed", "failed", "completed"]
    assert [each.reason for each in kept] == [sentence, sentence, "no way on", ""]
    assert not any(each.values or each.warnings for each in kept[:3])
    assert found.status[[0, 1, 3, 5, 6]].tolist() == ["failed", "completed", "failed", "failed", "completed"]
    assert np.isnan(found.values["a"][[0, 3, 5]]).all()
    assert found.warnings == {}


def test_columns_of_members_that_all_failed_leave_shapes_open():
    """Nobody knows of what shape measures of runs that did not go well would have been."""
    failed = Outcomes(np.array([0, 1]), {"b": np.ones((2, 5))}, {0: ("failed", "x"), 1: ("failed", "y")})
    found, _ = table(failed)
    assert found.values == {}
    found.take(columns())
    assert found.values["b"].shape == (8, 2)
