import numpy as np
import pytest
from numpy.testing import assert_allclose

from flexarm.beam.polynomials import (
    EvenGrid,
    Grid,
    PiecewisePolynomials,
    constant,
    fit,
    gauss,
    merge_breaks,
    multiply,
    pair_indices,
)

BREAKS = np.array([0.0, 0.3, 1.1, 2.0])


def smooth(degree: int = 20) -> PiecewisePolynomials:
    return fit(lambda x: np.sin(3 * x) + x**2, BREAKS, degree)


def test_fit_reproduces_polynomials_exactly_and_smooth_functions_to_rounding():
    x = np.linspace(0, 2, 101)
    cubic = fit(lambda x: 2 - x + 3 * x**3, BREAKS, 3)
    assert_allclose(cubic(x)[:, 0], 2 - x + 3 * x**3, atol=1e-13)
    assert_allclose(smooth()(x)[:, 0], np.sin(3 * x) + x**2, atol=1e-13)


def test_derivative_and_integral_are_those_of_the_function():
    x = np.linspace(0, 2, 101)
    assert_allclose(smooth().derivative()(x)[:, 0], 3 * np.cos(3 * x) + 2 * x, atol=1e-11)
    assert_allclose(smooth().integral()(x)[:, 0], (1 - np.cos(3 * x)) / 3 + x**3 / 3, atol=1e-13)


def test_integral_is_continuous_where_the_function_jumps():
    steps = PiecewisePolynomials(BREAKS, np.array([1.0, -2.0, 5.0]).reshape(1, 3, 1))
    integral = steps.integral()
    for value in BREAKS[1:-1]:
        assert integral(value - 1e-13)[0, 0] == pytest.approx(integral(value)[0, 0], abs=1e-12)
    assert integral(2.0)[0, 0] == pytest.approx(0.3 - 2 * 0.8 + 5 * 0.9)


def test_a_break_belongs_to_the_piece_on_its_right_and_the_end_to_the_last():
    steps = PiecewisePolynomials(BREAKS, np.array([1.0, 2.0, 3.0]).reshape(1, 3, 1))
    assert steps(BREAKS)[:, 0].tolist() == [1.0, 2.0, 3.0, 3.0]


def test_combination_is_linear():
    both = PiecewisePolynomials(BREAKS, np.random.default_rng(1).normal(size=(4, 3, 2)))
    x = np.linspace(0, 2, 11)
    mix = np.array([[1.0, 2.0, 0.0], [0.5, -1.0, 3.0]])
    assert_allclose((both @ mix)(x), both(x) @ mix, atol=1e-13)


@pytest.mark.parametrize("points", [1, 2, 5])
def test_gauss_is_exact_up_to_degree_2n_minus_1_and_not_beyond(points):
    x, weights = gauss(BREAKS, points)
    for degree, exact in ((2 * points - 1, True), (2 * points, False)):
        error = abs(weights @ x**degree / (2.0 ** (degree + 1) / (degree + 1)) - 1)
        assert (error < 1e-13) == exact


# --- products ---


def random(breaks: np.ndarray, degree: int, count: int, seed: int) -> PiecewisePolynomials:
    return PiecewisePolynomials(breaks, np.random.default_rng(seed).normal(size=(degree + 1, len(breaks) - 1, count)))


def test_functions_times_x():
    some, x = random(BREAKS, 4, 3, 0), np.linspace(0, 2, 41)
    assert some.times_x().degree == 5
    assert_allclose(some.times_x()(x), some(x) * x[:, None], atol=1e-13)
    assert_allclose(constant(3.0, 2.0).times_x()(x)[:, 0], 3 * x, atol=1e-14)


def test_pairs_of_two_sets_row_by_row_and_of_one_the_lower_half():
    assert [*zip(*pair_indices(2, 3, both=True), strict=True)] == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]
    assert [*zip(*pair_indices(3, 3, both=False), strict=True)] == [(0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2)]


def test_products_of_functions_with_other_pieces():
    one, other = random(BREAKS, 3, 2, 1), random(np.array([0.0, 0.7, 2.0]), 2, 3, 2)
    x = np.linspace(0, 2, 41)
    found = multiply(one, other)
    assert found.degree == 5
    assert found.breaks.tolist() == [0.0, 0.3, 0.7, 1.1, 2.0]
    assert_allclose(found(x), np.einsum("pm,pn->pmn", one(x), other(x)).reshape(len(x), -1), atol=1e-12)
    half = multiply(one, one, both=False)
    assert_allclose(
        half(x), np.stack([one(x)[:, i] * one(x)[:, j] for i, j in ((0, 0), (1, 0), (1, 1))], 1), atol=1e-12
    )


# --- on grids ---

OTHER_PIECES = np.array([0.0, 0.2, 0.3, 2.0])


@pytest.mark.parametrize("grid", [Grid(BREAKS, 4), Grid(OTHER_PIECES, 3), EvenGrid(BREAKS[[0, -1]], 9)])
@pytest.mark.parametrize("breaks", [BREAKS, BREAKS[[0, -1]]])
def test_values_on_a_grid_are_those_at_its_points(grid, breaks):
    functions = PiecewisePolynomials(breaks, np.random.default_rng(1).normal(size=(6, len(breaks) - 1, 3)))
    for each in (functions.derivative(), functions, functions.derivative(2)):  # the degree goes up and down
        assert_allclose(each(grid), each(grid.x), atol=1e-12)
        assert_allclose(np.vstack([each(x) for x in grid.x.tolist()]), each(grid.x), atol=1e-12)


def test_constants_are_constant_on_any_grid():
    assert constant(3.0, 2.0)(Grid(BREAKS, 2)).tolist() == [[3.0]] * 6
    assert constant(3.0, 2.0).constant
    assert not PiecewisePolynomials(BREAKS, np.ones((1, 3, 1))).constant


def test_second_derivative_is_the_derivative_of_the_derivative():
    x = np.linspace(0, 2, 11)
    assert_allclose(smooth().derivative(2)(x), smooth().derivative().derivative()(x), rtol=1e-12)


def test_breaks_that_differ_by_rounding_are_one():
    assert merge_breaks(BREAKS, BREAKS * (1 + 1e-15), [0.5]).tolist() == [0.0, 0.3, 0.5, 1.1, 2.0]


def test_points_with_equal_distances_have_no_weights():
    with pytest.raises(TypeError, match="no weights"):
        EvenGrid(BREAKS[[0, -1]], 9).weights  # noqa: B018
