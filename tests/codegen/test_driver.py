"""The compiled integration loop and the one in Python: the same steps, and each of their rules."""

import math

import casadi as ca
import numpy as np
import pytest

import flexarm as fa
from flexarm.codegen.compiler import find_compiler
from flexarm.codegen.driver import LARGEST_CHANGE, SAFETY, Driver, DriverStatus
from flexarm.codegen.library import Library
from flexarm.codegen.loops import Runner

needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="no C compiler on this machine")
ARM = fa.library.two_link_arm(damping=1e-3)


def toy(error=lambda x, u, dt: ca.fabs(u) * dt**3):
    """x' = u by Euler's method; the state is (x, a, aux), the error what is given."""
    state, inputs, dt, one, two, numbers = (
        ca.SX.sym(name, size) for name, size in zip("siabcn", (3, 2, 1, 1, 1, 1), strict=True)
    )
    after = ca.vertcat(state[0] + dt * inputs[0], state[1], state[2])
    return ca.Function(
        "toy_step", [state, inputs, dt, one, two, numbers], [after, error(state[0], inputs[1], dt), ca.SX(0)]
    )


class Line:
    """Inputs that are their times."""

    segments = None

    def __call__(self, times):
        return np.asarray(times)[:, None]


def driven(function, compiled, **given):
    """A driver of the toy from t = 0 to 1, with limits of errors of 1."""
    runner = Runner(function)
    if compiled:
        (runner,) = Library(["toy_step"], lambda: [function], driven=["toy_step"]).built()
        assert runner.library is not None
    out = Driver(3, 1, 1, (0.0, 1.0), np.zeros(1), slice(1, 2), slice(2, 3), estimate=3, patience=2, capacity=500)
    out.set_bounds(horizon=1.0, solved=1.0, error_limit=1e-6, unsolved_limit=1.0)
    out.connect(runner)
    usual = {"stop": 1.0, "dt": 0.01, "longest": math.inf, "smallest": 1e-9, "most_steps": 500, "most_attempts": 1000}
    for name, value in {**usual, "patience": math.inf, **given}.items():
        setattr(out.control, name, value)
    return out


both = pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=needs_compiler)])


@both
def test_it_reaches_the_stop_exactly_and_no_input_is_read_there(compiled):
    own, seen = driven(toy(), compiled, dt=0.03), []

    class Watched(Line):
        def __call__(self, times):
            seen.extend(times)
            return super().__call__(times)

    assert own.advance(Watched()) == DriverStatus.REACHED_STOP
    assert own.control.t == own.times[own.control.steps] == 1.0
    assert max(seen) < 1.0
    sizes = np.diff(own.times[: own.control.steps + 1])
    assert sizes[-1] == pytest.approx(sizes[-2])  # the last two share what is left


@both
def test_errors_choose_the_next_size(compiled):
    own = driven(toy(lambda x, u, dt: 1e-7 * (dt / 0.01) ** 3), compiled, most_steps=1)
    own.advance(Line())
    assert own.control.dt == pytest.approx(0.01 * SAFETY * 10 ** (1 / 3))
    own = driven(toy(lambda x, u, dt: 1e-30 * dt), compiled, most_steps=1)
    own.advance(Line())
    assert own.control.dt == pytest.approx(0.01 * LARGEST_CHANGE)


@both
def test_a_step_that_is_not_accurate_enough_is_repeated_and_the_next_is_no_longer(compiled):
    own = driven(toy(lambda x, u, dt: 1e-6 * (dt / 0.005) ** 3), compiled, most_steps=2)
    own.advance(Line())
    first, second = np.diff(own.times[:3])
    assert (own.control.rejected, own.control.attempts) == (1, 3)
    assert first == pytest.approx(0.005 * SAFETY)
    assert second <= first


@both
def test_the_larger_error_of_two_steps_decides(compiled):
    error = lambda x, u, dt: ca.if_else(x < 0.005, 9e-7, 1e-9)  # noqa: E731
    own = driven(toy(error), compiled, most_steps=2, dt=0.1, longest=0.1)
    own.advance(Line())
    # the second step has a small error; that of the first, in units of its own size, still counts
    assert own.control.dt < 0.1 * LARGEST_CHANGE


@both
def test_without_a_way_on_it_says_so(compiled):
    own = driven(toy(lambda x, u, dt: 1.0 + dt), compiled)
    assert own.advance(Line()) == DriverStatus.STEP_TOO_SMALL
    assert own.control.steps == 0
    own = driven(toy(lambda x, u, dt: ca.if_else(x > 0.1, math.nan, 0.0)), compiled, is_fixed=True)
    assert own.advance(Line()) == DriverStatus.STEP_TOO_SMALL
    assert 0 < own.control.t < 1


@both
def test_steps_that_do_not_change_the_time_end_it(compiled):
    own = driven(toy(lambda x, u, dt: 1.0 + dt), compiled, t=1e9, stop=2e9, smallest=0.0)
    assert own.advance(Line()) == DriverStatus.STEP_TOO_SMALL


@both
def test_a_function_that_fails_ends_it_and_keeps_the_steps_before(compiled):
    own = driven(toy(), compiled, is_fixed=True, dt=0.1)

    class Failing(Line):
        def __call__(self, times):
            if times[-1] > 0.55:
                raise ZeroDivisionError("at the end")
            return super().__call__(times)

    with pytest.raises(ZeroDivisionError, match="at the end"):
        own.advance(Failing())
    assert own.control.steps == 5
    assert own.control.t == pytest.approx(0.5)


@both
def test_when_it_returns_changes_no_digit(compiled):
    whole, parts = driven(toy(), compiled), driven(toy(), compiled, patience=0.0)
    whole.advance(Line())
    nodes = [parts.path[0].copy()]
    while (status := parts.advance(Line())) == DriverStatus.TIME_IS_UP:
        nodes += list(parts.path[1 : parts.control.steps + 1].copy())
        parts.path[0] = nodes[-1]
    nodes += list(parts.path[1 : parts.control.steps + 1].copy())
    assert status == DriverStatus.REACHED_STOP
    assert np.array_equal(nodes, whole.path[: whole.control.steps + 1])


CASES = {
    "esdirk": {"torque": {"upper": fa.chirp(0.02, 0.5, 5.0, 1.0), "fore": fa.sine(0.01, 2.0)}},
    "dop853": {"torque": {"upper": fa.bang_bang(0.05, (0.2, 0.4))}},
    "generalized-alpha": {"torque": {"upper": fa.spline([0.0, 0.3, 1.0], [0.0, 0.02, 0.0])}},
    "rk45": {"motion": {"upper": fa.cycloid(0.0, 0.5, 0.4)}},
    "newmark": {"torque": lambda t, q, v: [0.01 - 0.1 * v[0], -0.01 * v[1]], "dt": 2e-3},
}


@needs_compiler
@pytest.mark.parametrize("method", CASES)
def test_runs_take_the_same_steps_in_both(method):
    options = {"method": method, "rtol": 1e-5, "sample": 0.05, **CASES[method]}
    machine, python = (fa.simulate(ARM, 1.0, native=native, **options) for native in (True, False))
    names = ("steps", "rejected", "computed")
    assert [machine.statistics[name] for name in names] == [python.statistics[name] for name in names]
    np.testing.assert_allclose(machine.array("q"), python.array("q"), rtol=0, atol=1e-11)
