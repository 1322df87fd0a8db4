import re

import numpy as np
import pytest

from flexarm.foundation.validation import Bounds, real, real_array, real_number


@pytest.mark.parametrize(
    ("value", "bounds", "sentence"),
    [
        ("1", {}, "duration = '1': must be a number (s), not text"),
        (None, {}, "duration = None: must be a number (s), not NoneType"),
        (True, {}, "duration = True: must be a number (s), not true or false"),
        (float("nan"), {}, "duration = nan: must be a finite number (s)"),
        (10**400, {}, "must be a finite number (s)"),
        (0, {"above": 0}, "duration = 0: must be positive (s)"),
        (-1.0, {"least": 0}, "duration = -1.0: must be zero or positive (s)"),
        (3.0, {"least": 1, "most": 2}, "duration = 3.0: must be at least 1 and at most 2 (s)"),
    ],
)
def test_what_is_no_such_number_is_refused_by_name(value, bounds, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        real_number("duration", value, "s", **bounds)


def test_numbers_of_all_kinds_are_floats():
    for value in (1, 1.0, np.float32(1), np.int64(1)):
        assert real_number("x", value, above=0) == real(value) == 1.0
        assert type(real_number("x", value)) is float
    assert Bounds("m", most=2.0).check(2) == 2.0


def test_arrays_of_anything_else_are_refused_by_name():
    for value in ("ab", [True], [1j], [[1], [1, 2]], [None]):
        with pytest.raises(ValueError, match=r"^q0 = "):
            real_array("q0", value)
    assert real_array("q0", [1, 2]).dtype == float
