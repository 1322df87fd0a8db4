"""Selection of independent constraint rows."""

import numpy as np

from flexarm.dynamics.constraints.independent_rows import ConstraintRows, select_rows
from flexarm.dynamics.parameters import Parameters


def test_postures_at_which_a_row_is_no_number_do_not_count():
    """A link may not reach its support there; taken for rows that nothing moves, they would be left out in silence."""
    values = np.array([[0.0, np.nan], [0.0, 0.0]])
    slopes = np.array([[1.0, 0.0, np.nan, np.nan], [0.0, 0.0, 0.0, 0.0]])
    assert select_rows(Parameters(), ConstraintRows("rest", 2, "m"), values, slopes, 1.0).kept == (0,)


def test_rows_of_which_nothing_is_known_stay():
    nothing = np.full((2, 3), np.nan)
    assert select_rows(Parameters(), ConstraintRows("rest", 2, "m"), nothing, nothing, 1.0).kept == (0, 1)
