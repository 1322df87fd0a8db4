import casadi as ca
import numpy as np
from numpy.testing import assert_array_equal

from flexarm.integrators.state import Layout, State


def test_the_parts_of_a_state_fill_it_without_gap_or_overlap():
    layout, numbers = Layout(3, multipliers=2), np.arange(18)
    parts = [layout.q, layout.v, layout.a, layout.aux, layout.work, layout.lost, layout.given, layout.drained]
    found = np.concatenate([np.atleast_1d(numbers[part]) for part in (*parts, layout.forces)])
    assert_array_equal(found, numbers)
    assert layout.size == 18
    assert_array_equal(numbers[layout.motion], np.concatenate([numbers[p] for p in parts[:3]]))
    assert_array_equal(numbers[layout.energies], [12, 13, 14, 15])


def test_expressions_have_the_same_layout():
    for multipliers in (0, 2):
        layout = Layout(3, multipliers)
        column = ca.DM(np.arange(float(layout.size)))
        state = State.of(column, layout)
        assert_array_equal(state.column.full(), column.full())
        assert float(state.lost) == layout.lost
        assert (state.forces is None) == (multipliers == 0)


def test_a_state_at_rest_owns_its_numbers():
    layout, q = Layout(2), np.ones(2)
    state = layout.at_rest(q, np.full(2, 2.0))
    q[:] = 9.0
    assert_array_equal(state[: 2 * 2], [1, 1, 2, 2])
    assert not state[4:].any()
