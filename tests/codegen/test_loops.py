"""Many evaluations in a call: the same in Python and in machine code."""

import casadi as ca
import numpy as np
import pytest

from flexarm.codegen import library as library_module
from flexarm.codegen.compiler import find_compiler
from flexarm.codegen.loops import RowLoop, Runner

needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="no C compiler on this machine")
ROWS = 7
NO_LIMITS = [np.inf, np.inf, 0.0, 1]


def function() -> ca.Function:
    """(x, u, p) -> next x, |x|, |u|: as a step is, its state goes from row to row."""
    x, u, p = ca.SX.sym("x", 2), ca.SX.sym("u", 3), ca.SX.sym("p")
    after = ca.vertcat(x[0] + p * ca.sin(x[1]), x[1] * ca.sqrt(u[0]) - u[2])
    return ca.Function("f", [x, u, p], [after, ca.fabs(x), ca.fabs(u[:2])])


@pytest.fixture(params=["in Python", pytest.param("in machine code", marks=needs_compiler)])
def runner(request, tmp_path, monkeypatch):
    monkeypatch.setenv("FLEXARM_CACHE", str(tmp_path))
    library = library_module.Library(["f"], lambda: [function()])
    found = library.runners[0] if request.param == "in Python" else library.built()[0]
    assert (found.library is None) == (request.param == "in Python")
    return found


class Rows:
    """Arrays of a chain of steps."""

    def __init__(self, runner: Runner, limits=None) -> None:
        draw = np.random.default_rng(0)
        self.path, self.u, self.p = np.zeros((ROWS + 1, 2)), draw.uniform(0.1, 1.0, (ROWS, 3)), np.array([0.3])
        self.path[0] = 0.4, 0.5
        self.sizes, self.inputs = np.zeros((2, ROWS, 2))
        self.limits = None if limits is None else np.array(limits)
        outputs = [self.path[1:], self.sizes, self.inputs]
        self.many = RowLoop(runner, [self.path[:-1], self.u, self.p], outputs, self.limits)

    def expected(self, count: int) -> np.ndarray:
        path = [self.path[0].copy()]
        for k in range(count):
            path.append(function()(path[-1], self.u[k], self.p)[0].full()[:, 0])
        return np.array(path)


def test_rows_go_in_and_come_out_and_one_feeds_the_next(runner):
    rows = Rows(runner)
    assert rows.many(ROWS) == ROWS
    np.testing.assert_array_equal(rows.path, rows.expected(ROWS))
    np.testing.assert_array_equal(rows.sizes, np.abs(rows.path[:-1]))
    np.testing.assert_array_equal(rows.inputs, rows.u[:, :2])


def test_only_as_many_rows_as_are_asked_for(runner):
    rows = Rows(runner)
    assert rows.many(0) == 0
    assert not rows.path[1:].any()
    assert rows.many(3) == 3
    np.testing.assert_array_equal(rows.path[:4], rows.expected(3))
    assert not rows.path[4:].any()


def test_arrays_may_change_between_calls(runner):
    rows = Rows(runner)
    rows.many(ROWS)
    before = rows.path.copy()
    rows.path[0], rows.p[:], rows.u[:] = (1.0, -0.2), 0.7, rows.u + 0.1
    rows.many(ROWS)
    np.testing.assert_array_equal(rows.path, rows.expected(ROWS))
    assert (rows.path != before).all()


@pytest.mark.parametrize("output", [0, 1])
def test_the_first_row_beyond_a_limit_is_the_last(runner, output):
    rows = Rows(runner, limits=NO_LIMITS)
    assert rows.many(ROWS) == ROWS
    measured = (rows.sizes, rows.inputs)[output].max(axis=1)
    for limit in np.sort(measured)[:-1]:
        rows = Rows(runner, limits=NO_LIMITS)
        rows.limits[output] = limit  # a value as large as the limit is allowed
        assert rows.many(ROWS) == np.argmax(measured > limit) + 1


@pytest.mark.parametrize("patience", [1, 2, 3])
def test_as_many_small_rows_one_after_the_other_as_are_waited_for_end_it(runner, patience):
    rows = Rows(runner, limits=NO_LIMITS)
    rows.many(ROWS)
    sizes = rows.sizes.max(axis=1)
    for least in np.sort(sizes) * (1 + 1e-9):
        rows = Rows(runner, limits=[np.inf, np.inf, least, patience])
        idle, expected = 0, ROWS
        for k, small in enumerate(sizes < least):
            idle = idle + 1 if small else 0
            if idle == patience:
                expected = k + 1
                break
        assert rows.many(ROWS) == expected


def test_what_is_not_a_number_ends_it(runner):
    rows = Rows(runner, limits=NO_LIMITS)
    rows.u[2, 0] = -1.0  # the root of it: the next row begins with what is no number
    assert rows.many(ROWS) == 4
    assert np.isnan(rows.path[3, 1])
    rows = Rows(runner)
    rows.u[2, 0] = -1.0
    assert rows.many(ROWS) == ROWS  # nobody asked


def test_arrays_live_as_long_as_what_points_at_them(runner):
    many = RowLoop(runner, [np.ones((1, 2)), np.ones((1, 3)), np.ones(1)], [np.zeros((1, 2)) for _ in range(3)])
    blocks = [np.full(3, 7.0) for _ in range(1000)]  # whoever was freed would be overwritten
    assert many(1) == 1
    _, outputs, _ = many._kept
    np.testing.assert_allclose(outputs[0], [[1 + np.sin(1), 0.0]], rtol=1e-15)
    assert all((block == 7.0).all() for block in blocks)


def test_several_objects_of_one_runner_do_not_meet(runner):
    one, other = Rows(runner), Rows(runner)
    other.path[0] = -1.0, 2.0
    one.many(ROWS)
    other.many(ROWS)
    np.testing.assert_array_equal(one.path, one.expected(ROWS))
    np.testing.assert_array_equal(other.path, other.expected(ROWS))


def test_a_call_is_repeated_with_nothing_around_it():
    x = ca.SX.sym("x")
    inputs, outputs = np.array([[1.0], [2.0], [3.0]]), np.zeros((3, 1))
    again = RowLoop(Runner(ca.Function("twice", [x], [2 * x])), [inputs], [outputs]).repeated(2)
    assert again() == 2
    assert outputs.ravel().tolist() == [2.0, 4.0, 0.0]
    inputs[:] = 5.0
    again()
    assert outputs.ravel().tolist() == [10.0, 10.0, 0.0]
