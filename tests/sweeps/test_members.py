"""Members as columns are the members they were made of."""

import pickle

import pytest

from flexarm.sweeps.case import Member, columns_of

GIVEN = [Member(3, {"a": 1.0, "b": "word"}), Member(1, {"b": None}), Member(8, {"c": 2, "a": 0.5}), Member(2, {})]


def test_single_members_are_what_they_were():
    columns = columns_of(GIVEN)
    assert list(columns) == GIVEN
    assert columns_of(columns) is columns
    assert type(columns[2].changes["c"]) is int
    with pytest.raises(IndexError):
        columns[4]


def test_some_of_them():
    columns = columns_of(GIVEN)
    assert list(columns.select([2, 0])) == [GIVEN[2], GIVEN[0]]
    assert list(columns[1:]) == GIVEN[1:]
    assert len(columns[:0]) == 0


def test_they_can_be_sent():
    """What a member leaves as it is stays so."""
    assert list(pickle.loads(pickle.dumps(columns_of(GIVEN)))) == GIVEN
