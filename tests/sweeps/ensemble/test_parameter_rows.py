"""Rows of members: what robots give to a batch."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import flexarm as fa
from flexarm.sweeps.case import SweepCase
from flexarm.sweeps.ensemble.cohort import Cohort, MemberOptions
from flexarm.sweeps.ensemble.parameter_rows import MAX_STORED_ROWS, OtherStructure, RowMaker

ARM = fa.library.two_link_arm()
PAYLOAD, E = "links.fore.payload.mass", "links.upper.material.E"


def row_maker():
    case = SweepCase(ARM, 1.0, torque={"upper": 0.1})
    return Cohort(case, ARM, ARM, MemberOptions.of({}, None)).rows


def anew(one: RowMaker, changes):
    """The same with nothing remembered."""
    return RowMaker(one.case, one.robot, one.system, one.schedule).row(changes)


def members(count):
    generator = np.random.default_rng(0)
    values = generator.uniform([0.1, 1e10], [0.3, 4e10], (count, 2)).tolist()
    return [dict(zip((PAYLOAD, E), each, strict=True)) for each in values]


def test_rows_are_those_of_their_robots_whatever_was_asked_before():
    one, these = row_maker(), members(2 * MAX_STORED_ROWS)
    for each in [*these, *these[:3], *reversed(these)]:
        np.testing.assert_array_equal(one.row(each), anew(one, each))
    assert len(one._rows) <= MAX_STORED_ROWS


def test_a_row_that_is_asked_for_again_is_not_computed_again_and_cannot_be_changed():
    one, (these, other) = row_maker(), members(2)
    row = one.row(these)
    one.row(other)
    assert one.row(dict(reversed(these.items()))) is row
    with pytest.raises(ValueError, match="read-only"):
        row[0] = 1.0


def test_a_row_has_the_numbers_of_a_system():
    one, (these,) = row_maker(), members(1)
    system = fa.System(ARM.with_(these), native=False)
    np.testing.assert_array_equal(one.row(these)[: len(system.numbers)], system.numbers)
    np.testing.assert_array_equal(one.row({})[: len(system.numbers)], one.system.numbers)


def test_what_is_no_robot_of_the_structure_is_refused_again_and_again():
    one = row_maker()
    for _ in range(2):
        with pytest.raises(OtherStructure, match="gravity"):
            one.row({"gravity.1": -9.81})
        with pytest.raises(fa.DescriptionError):
            one.row({PAYLOAD: -1.0})
    assert not one._rows


def test_many_threads_ask_at_once():
    one, these = row_maker(), members(12)
    expected = [anew(one, each) for each in these]
    with ThreadPoolExecutor(4) as pool:
        found = [*pool.map(lambda k: one.row(these[k % 12]), range(240))]
    for k, row in enumerate(found):
        np.testing.assert_array_equal(row, expected[k % 12])
