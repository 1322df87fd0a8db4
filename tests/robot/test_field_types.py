"""Validation of numbers: accepted values and error messages."""

import re
from fractions import Fraction

import numpy as np
import pytest

from flexarm.robot.field_types import Count, Quantity, Vector, finite_matrix, nonnegative, positive


@pytest.mark.parametrize("value", [2, 2.0, np.float32(2), np.int64(2), Fraction(2)])
def test_numbers_of_all_kinds_become_floats(value):
    assert positive("m").check(value) == 2.0
    assert type(positive("m").check(value)) is float


@pytest.mark.parametrize(
    ("quantity", "value", "sentence"),
    [
        (positive("m"), 0, "must be positive (m)"),
        (nonnegative("kg"), -1e-9, "must be zero or positive (kg)"),
        (Quantity("", above=-1, most=0.5), 0.6, "must be above -1 and at most 0.5"),
        (Quantity("", above=-1, most=0.5), -1, "must be above -1 and at most 0.5"),
        (positive("m"), float("nan"), "must be a finite number (m)"),
        (positive("m"), 10**400, "must be a finite number (m)"),
        (Quantity("rad"), float("-inf"), "must be a finite number (rad)"),
        (positive("m"), True, "must be a number (m), not true or false"),
        (positive("m"), np.True_, "must be a number (m), not true or false"),
        (positive("m"), "1.0", "must be a number (m), not text"),
        (positive("m"), None, "must be a number (m), not NoneType"),
        (positive("m"), 1j, "must be a number (m), not complex"),
        (Count(0, 9), -1, "must be a whole number, 0 to 9"),
        (Count(0, 9), 1.0, "must be a whole number, 0 to 9"),
        (Count(0, 9), True, "must be a whole number, 0 to 9"),
        (Count(1, 2), 3, "must be a whole number, 1 to 2"),
        (Vector("m"), (1, 2), "must be 3 finite numbers (m)"),
        (Vector("m"), "xyz", "must be 3 finite numbers (m)"),
        (Vector("m"), (1, 2, float("nan")), "must be 3 finite numbers (m)"),
        (Vector("m"), np.eye(3), "must be 3 finite numbers (m)"),
    ],
)
def test_refusals(quantity, value, sentence):
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        quantity.check(value)


@pytest.mark.parametrize("value", [[1, 2, 3], (1.0, 2, 3), np.array([1, 2, 3])])
def test_vectors_become_tuples_of_floats(value):
    vector = Vector("m").check(value)
    assert vector == (1.0, 2.0, 3.0)
    assert all(type(number) is float for number in vector)


@pytest.mark.parametrize("value", [1, 2, 9, np.int64(3)])
def test_both_bounds_of_a_count_are_allowed(value):
    assert Count(1, 9).check(value) == value


def test_a_matrix_has_three_rows_of_three_finite_numbers():
    assert finite_matrix(np.eye(3)) == ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    for rows in ([[1, 2], [3, 4], [5, 6]], np.eye(3)[:2], np.eye(4), [[1, 2, 3], [1, 2, 3], [1, 2, float("nan")]], 3):
        assert finite_matrix(rows) is None


def test_the_schema_distinguishes_inclusive_and_exclusive_bounds():
    assert positive("m").json_schema() == {"type": "number", "unit": "m", "exclusiveMinimum": 0.0}
    assert nonnegative("kg").json_schema() == {"type": "number", "unit": "kg", "minimum": 0.0}
    assert Quantity("", above=-1.0, most=0.5).json_schema() == {
        "type": "number",
        "unit": "1",
        "exclusiveMinimum": -1.0,
        "maximum": 0.5,
    }
