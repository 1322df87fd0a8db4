"""Members before they run."""

import numpy as np
import pytest

from flexarm.sweeps.case import Member
from flexarm.sweeps.ensemble.member_groups import changes_by_kind, member_groups
from tests.sweeps.ensemble.test_batch import ARM


def test_changes_by_what_they_change():
    parts = changes_by_kind({"gravity.1": 1.0, "q0.fore.q": 0.2, "v0.fore.q": 1, "gains.kp": 3.0, "torque.upper": 1.0})
    assert dict(parts.robot) == {"gravity.1": 1.0}
    assert dict(parts.state) == {"q0.fore.q": 0.2, "v0.fore.q": 1.0}
    assert dict(parts.inputs) == {"gains.kp": 3.0, "torque.upper": 1.0}
    with pytest.raises(ValueError, match=r"q0\.fore\.q"):
        changes_by_kind({"q0.fore.q": "x"})


def test_members_that_differ_by_numbers_only_are_together():
    changes = [
        {"links.fore.payload.mass": 0.1, "links.fore.flexible.bend_y": 1},
        {"links.fore.payload.mass": 0.2, "links.fore.flexible.bend_y": 2},
        {"links.fore.payload.mass": 0.3, "links.fore.flexible.bend_y": 1},
    ]
    found = member_groups(ARM, [Member(k, each) for k, each in enumerate(changes)])
    assert [[each.member.number for each in group] for group in found] == [[0, 2], [1]]
    np.testing.assert_array_equal(found[0].points(["links.fore.payload.mass"]), [[0.1], [0.3]])
    assert found[0][1].robot_of(ARM).link("fore").payload.mass == 0.3


def changed(*changes):
    return member_groups(ARM, [Member(k, each) for k, each in enumerate(changes)])


def test_one_of_them_has_what_its_member_changes():
    mass, start, gain = "links.fore.payload.mass", "q0.fore.q", "gains.kp"
    (found,) = changed({mass: 1, start: 0.1}, {gain: 2}, {mass: 0.5, gain: 3.0})
    assert [dict(each.numbers) for each in found] == [{mass: 1.0}, {}, {mass: 0.5}]
    assert [dict(each.state) for each in found] == [{start: 0.1}, {}, {}]
    assert [dict(each.inputs) for each in found] == [{}, {gain: 2.0}, {gain: 3.0}]
    assert found[0].member.changes == {mass: 1, start: 0.1}
    assert found[1:].fields("robot", "state") == (mass,)  # nobody is left who begins elsewhere
    assert [each.member.number for each in found.select([2, 0])] == [2, 0]


def test_those_whose_inputs_are_the_same():
    (found,) = changed({"gains.kp": 1.0}, {}, {"gains.kp": 1}, {"gains.kd": 1.0}, {"links.fore.payload.mass": 0.1})
    firsts, which = found.equal("inputs")
    assert firsts == [0, 1, 3]
    assert which.tolist() == [0, 1, 0, 2, 1]
    assert found.equal("state").firsts == [0]


def test_lengths_by_name_and_by_place():
    (found,) = changed({"links.0.length": 2.0}, {"links.upper.length": 3.0}, {"links.fore.length": 4.0})
    assert found.lengths(0, ARM.links[0]).tolist() == [2.0, 3.0, ARM.links[0].length]


def test_what_is_no_number_is_a_group_of_its_own():
    """Among numbers, too: the robot that is made of it tells what is wrong."""
    mass = "links.fore.payload.mass"
    found = changed({mass: 0.1}, {mass: True}, {mass: float("nan")}, {mass: 2}, {}, {mass: float("inf")})
    assert [[each.member.number for each in group] for group in found] == [[0, 3, 4], [1], [2], [5]]
    assert [dict(each.fixed) for each in found[1::2]] == [{mass: True}, {mass: float("inf")}]
    assert [dict(each.numbers) for each in found[0]] == [{mass: 0.1}, {mass: 2.0}, {}]
