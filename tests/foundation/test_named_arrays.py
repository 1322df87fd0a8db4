import casadi as ca
import numpy as np
import pytest

from flexarm.foundation.named_arrays import NamedSymbols, named_array

NAMES = ("a.q", "a.bend_y[1]", "b.q")


def test_entries_by_name_by_place_and_in_slices():
    q = named_array(np.array([1.0, 2.0, 3.0]), NAMES)
    assert (q["b.q"], q[1], q[-1]) == (3.0, 2.0, 3.0)
    assert q[1:].tolist() == [2.0, 3.0]
    symbols = ca.SX.sym("q", 3)
    s = NamedSymbols(symbols, NAMES)
    assert ca.is_equal(s["b.q"], symbols[2])
    assert ca.is_equal(s[1:], symbols[1:], 5)


def test_they_compute_as_any_vector_does():
    q = named_array(np.array([1.0, 2.0, 3.0]), NAMES)
    assert float(q @ q) == 14.0
    s = NamedSymbols(ca.SX.sym("q", 3), NAMES)
    f = ca.Function("f", [ca.symvar(s)[k] for k in range(3)], [2 * s + np.ones(3), np.ones((1, 3)) @ s, np.sin(s)])
    doubled, total, sines = f(1.0, 2.0, 3.0)
    assert doubled.full()[:, 0].tolist() == [3.0, 5.0, 7.0]
    assert float(total) == 6.0
    assert float(sines[2]) == np.sin(3.0)


def test_unknown_names_are_refused_and_names_do_not_survive_arithmetic():
    q = named_array(np.array([1.0, 2.0, 3.0]), NAMES)
    for vector in (q, NamedSymbols(ca.SX.sym("q", 3), NAMES)):
        with pytest.raises(KeyError, match=r"there is no coordinate 'b\.Q'; did you mean 'b\.q'"):
            vector["b.Q"]
    with pytest.raises(KeyError, match="there are none"):
        (q[1:])["b.q"]


def test_a_named_array_is_a_copy():
    values = np.zeros(3)
    named_array(values, NAMES)[:] = 1.0
    assert not values.any()
