"""Responses of modes and of linear systems against step-by-step recurrences."""

import numpy as np
import pytest
import scipy.linalg

from flexarm.results.linear_response import growth, modal_responses, product, state_responses


@pytest.mark.parametrize("decay", [0.0, 0.02, 0.9])
@pytest.mark.parametrize("count", [1, 255, 256, 257, 3000])
def test_responses_are_those_of_the_recurrence(decay, count):
    """Every mode, step by step with the exact solution of x'' + 2 d x' + w^2 x = f for constant f."""
    rng = np.random.default_rng(1)
    omega, dt = np.array([1.0, 7.0, 30.0]), 0.05
    forces, start = rng.normal(size=(3, count)), rng.normal(size=(2, 3))
    found = modal_responses(omega, decay * omega, forces, start, dt)
    for k, w in enumerate(omega):
        system = np.array([[0.0, 1.0, 0.0], [-(w**2), -2 * decay * w, 1.0], [0.0, 0.0, 0.0]])
        through = scipy.linalg.expm(system * dt)
        x, expected = np.array([*start[:, k], 0.0]), []
        for force in forces[k]:
            expected.append(x[0])
            x = through @ [*x[:2], force]
        np.testing.assert_allclose(found[k], expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e4])
def test_states_are_those_of_the_matrix_exponential(scale):
    rng = np.random.default_rng(2)
    A, forces, start, dt = rng.normal(size=(5, 5)) - 4 * np.eye(5), rng.normal(size=(5, 40)), rng.normal(size=5), 0.05
    A = scale * A
    whole = scipy.linalg.expm(np.block([[A, np.eye(5)], [np.zeros((5, 10))]]) * dt)
    x, expected = start, []
    for force in forces.T:
        expected.append(x)
        x = whole[:5, :5] @ x + whole[:5, 5:] @ force
    np.testing.assert_allclose(state_responses(A, forces, start, dt), np.transpose(expected), rtol=1e-9, atol=1e-12)


def test_growth_is_that_of_the_fastest_pole():
    assert growth(np.diag([-3.0, 0.5]), 2.0) == pytest.approx(1.0)
    assert growth(np.diag([-3.0, -0.5]), 2.0) == 0.0


def test_products_are_the_usual_ones():
    rng = np.random.default_rng(3)
    one, other = rng.normal(size=(300, 40)), rng.normal(size=(40, 1000))
    np.testing.assert_allclose(product(one, other), one @ other, rtol=1e-12, atol=1e-12)
