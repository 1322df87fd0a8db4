"""Which members a sweep has."""

import numpy as np
import pytest

import flexarm as fa
from flexarm.sweeps import plan as plans
from flexarm.sweeps.case import SweepCase
from flexarm.sweeps.plan import plan_of
from flexarm.sweeps.prepare import group_by_structure, structure_note

ARM = fa.library.two_link_arm()
CASE = SweepCase(ARM, 1.0, torque={"upper": fa.bang_bang(0.02, (0.25, 0.5))})
MASS, E = "links.fore.payload.mass", "links.upper.material.E"


def test_all_combinations_the_last_field_fastest():
    plan = plan_of(CASE, {MASS: [0.1, 0.2], E: np.array([1e10, 2e10, 3e10])})
    assert (len(plan), plan.shape, plan.dimensions) == (6, (2, 3), (MASS, E))
    assert plan[4].changes == {MASS: 0.2, E: 2e10}
    assert [each.number for each in plan] == list(range(6))
    assert plan[-1] == plan[5]
    with pytest.raises(IndexError):
        plan[6]


def test_values_side_by_side():
    plan = plan_of(CASE, {MASS: [0.1, 0.2], E: [1e10, 2e10]}, elementwise=True)
    assert (len(plan), plan.dimensions) == (2, ("member",))
    assert plan[1].changes == {MASS: 0.2, E: 2e10}
    with pytest.raises(ValueError, match="equally many"):
        plan_of(CASE, {MASS: [0.1, 0.2], E: [1e10]}, elementwise=True)


def test_members_are_made_when_they_are_asked_for():
    plan = plan_of(CASE, {MASS: np.linspace(0, 1, 3000), E: np.linspace(1e10, 2e10, 3000)})
    some = plan.members(range(5, 9_000_000, 1000))
    assert some[3] == plan[3005]
    assert list(some[1:3]) == [plan[1005], plan[2005]]


def test_too_many_members_are_refused():
    with pytest.raises(ValueError, match=r"makes 1.6e\+07 members"):
        plan_of(CASE, {MASS: range(4000), E: range(4000)})


@pytest.mark.parametrize(
    ("over", "member"),
    [
        ({MASS: [0.1, -1.0]}, r"member 1 \(links.fore.payload.mass = -1.0\) cannot be: .* zero or positive"),
        ({MASS: [0.1, 0.2], "links.fore.length": [1.0, 0.0]}, "member 1 .*length = 0.0.*must be positive"),
        ({"torque.upper.switch.1": [0.6, 0.1]}, "member 1 .*ascending"),
        ({"links.upper.flexible.bend_y": [1, 2.5]}, "member 1 .*whole number"),
        ({"links.upper.flexible.stiffening": ["none", "nonsense"]}, "member 1 .*nonsense"),
        ({"links.upper.length": [True]}, "member 0 .*true or false"),
    ],
)
def test_a_value_that_makes_no_robot_is_told_with_its_member(over, member):
    plan = plan_of(CASE, over)
    with pytest.raises(ValueError, match=member):
        plan.require_possible(CASE)


def test_fields_that_bind_each_other_are_seen_together():
    """A mass at a place on its link: each value can be, but not all of them together."""
    robot = fa.Robot(links=[fa.Link("a", 1.0, mass=1.0, masses=[fa.PointMass(1.0, at=0.5)])])
    case = SweepCase(robot, 1.0)
    over = {"links.a.length": [1.0, 0.6], "links.a.masses.0.at": [0.5, 0.8]}
    with pytest.raises(ValueError, match=r"member 3 .*cannot be"):
        plan_of(case, over).require_possible(case)
    plan_of(case, {"links.a.length": [1.0, 0.6], "links.a.masses.0.at": [0.8, 0.5]}, True).require_possible(case)


def test_few_robots_are_made_to_see_that_all_can_be(monkeypatch):
    plan = plan_of(CASE, {MASS: np.linspace(0, 1, 300), E: np.linspace(1e10, 2e10, 300)})
    made, real = [], plans.apply_changes
    monkeypatch.setattr(plans, "apply_changes", lambda *given: made.append(1) or real(*given))
    plan.require_possible(CASE)
    assert len(made) == 4


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ([], "is empty"),
        ([np.nan], "must be finite"),
        ([1j], "numbers, or of words"),
        ([[1.0, 2.0]], "numbers, or of words"),
        ([1.0, "a"], "not of both"),
        (3, "list of values"),
        ("abc", "list of values"),
        ({"a": 1}, "list of values"),
    ],
)
def test_values_must_be_numbers_or_words(values, sentence):
    with pytest.raises((TypeError, ValueError), match=sentence):
        plan_of(CASE, {MASS: values})


def test_one_field_by_two_names_is_refused():
    with pytest.raises(ValueError, match="are one field"):
        plan_of(CASE, {"links.1.length": [1.0], "links.fore.length": [1.0]})


def test_members_of_one_structure_are_one_group():
    plan = plan_of(CASE, {MASS: [0.0, 0.1, 0.2], E: [1e10, 2e10], "torque.upper.amplitude": [0, 1]})
    assert group_by_structure(CASE, plan) == [list(range(12))]


def test_other_numbers_of_shapes_are_other_structures():
    plan = plan_of(CASE, {MASS: [0.1, 0.2], "links.upper.flexible.bend_y": [1, 2]})
    found = group_by_structure(CASE, plan)
    assert found == [[0, 2], [1, 3]]
    assert structure_note(found).startswith("the members are of 2 structures (2, 2 members)")


def test_units_that_look_wrong_are_told():
    case = SweepCase(fa.library.two_link_arm(), 1.0)
    plan = plan_of(case, {"links.upper.material.E": [2e5, 2e10], "q0.upper.q": [0.0, 1.0]})
    (said,) = plan.unit_warnings(case)
    assert "E = 200000: looks like MPa" in said
    with pytest.warns(UserWarning, match="looks like MPa"):
        fa.sweep(case.robot, {"links.upper.material.E": [2e5]}, 0.01, native=False, progress=False)
