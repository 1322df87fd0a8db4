"""Numerical derivatives: orders, and estimated against true errors."""

import numpy as np
import pytest

from flexarm.foundation.finite_differences import (
    BACKWARD,
    CENTRAL,
    FORWARD,
    derivative,
    derivative_jump,
    derivative_weights,
    estimated_error,
)

FUNCTIONS = {
    "power": (lambda x: x**-4.0, -4.0, 1.0),
    "root": (lambda x: x**0.5, 0.5, 1.0),
    "exp": (np.exp, np.e, 1.0),
    "sine": (lambda x: np.sin(20 * x), 20 * np.cos(20.0), 1.0),
}


def points(function, nodes, step, x=1.0):
    return {node: np.array([function(x + node * step)]) for node in nodes}


@pytest.mark.parametrize("nodes", [CENTRAL, FORWARD, BACKWARD])
def test_polynomials_are_exact(nodes):
    found, _, _ = derivative(points(lambda x: 3 * x**8 - x**3 + 2, nodes, 0.125, x=0.5), 0.125)
    assert found == pytest.approx(24 * 0.5**7 - 3 * 0.5**2, rel=1e-12)


@pytest.mark.parametrize("nodes", [CENTRAL, FORWARD, BACKWARD])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_errors_fall_with_the_eighth_power_of_the_step(nodes, name):
    function, exact, _ = FUNCTIONS[name]
    errors = [abs(derivative(points(function, nodes, step), step)[0][0] - exact) for step in (0.02, 0.01)]
    assert errors[1] <= errors[0] / 2**6.5 + 1e-10
    assert errors[1] <= 1e-4


@pytest.mark.parametrize("nodes", [CENTRAL, FORWARD, BACKWARD])
@pytest.mark.parametrize("step", [0.04, 0.01, 1e-3, 1e-5, 1e-8])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_estimated_errors_are_of_the_size_of_the_true_ones(nodes, step, name):
    function, exact, _ = FUNCTIONS[name]
    found, last, before = derivative(points(function, nodes, step), step)
    rounding = 100 * np.finfo(float).eps * abs(function(1.0)) / step
    assert abs(found[0] - exact) <= 10 * estimated_error(last, before) + rounding


def test_central_weights():
    assert derivative_weights([-2, -1, 0, 1, 2]) == pytest.approx([1 / 12, -2 / 3, 0, 2 / 3, -1 / 12])


def test_a_kink_is_seen_though_central_differences_agree():
    values = points(lambda x: abs(x - 1) + x, CENTRAL, 0.01)
    found, last, before = derivative(values, 0.01)
    assert found == pytest.approx(1.0)
    assert estimated_error(last, before) < 1e-12
    assert derivative_jump(values, 0.01) == pytest.approx(2.0)
    assert derivative_jump(points(np.exp, CENTRAL, 0.01), 0.01) < 1e-6
    assert derivative_jump(points(np.exp, FORWARD, 0.01), 0.01) == 0
