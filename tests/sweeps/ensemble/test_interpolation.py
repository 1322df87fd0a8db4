"""Rows along one field."""

import numpy as np
import pytest

from flexarm.sweeps.ensemble.parameter_interpolation import Axis, axis, chebyshev


def along(function, close=1e-10):
    """The axis of a function of places between -1 and 1, and how many rows it took."""
    places = set()

    def line(place):
        places.add(place)
        return np.atleast_1d(np.array(function(place), dtype=float))

    count = len(line(0.3))
    made = axis(line, lambda rows: np.abs(rows).max(axis=0) + 1e-300, np.full(count, close))
    return made, len(places) - 1


def off(made: Axis, function) -> float:
    x = np.linspace(-1, 1, 301)
    exact = np.array([np.atleast_1d(function(each)) for each in x])
    found = made.at(x, np.array([np.atleast_1d(function(each)) for each in made.nodes]))
    return float((np.abs(found - exact) / np.abs(exact).max(axis=0)).max())


@pytest.mark.parametrize(
    ("function", "rows"),
    [
        (lambda x: [2.0], 5),
        (lambda x: [3.0 + 2 * x], 5),
        (lambda x: [1 / (1.5 + x)], 5),
        (lambda x: [(2 + x) ** 2], 9),
        (lambda x: [(2 + x) ** -3], 13),
        (lambda x: [np.sqrt(1.2 + x)], 37),
        (lambda x: [1 / (1.01 + x), 5 + x], 9),
    ],
)
def test_as_few_rows_as_it_takes(function, rows):
    made, count = along(function)
    assert made is not None
    assert count <= rows
    assert off(made, function) < 1e-10


@pytest.mark.parametrize("function", [lambda x: [abs(x)], lambda x: [np.sign(x - 0.1)], lambda x: [np.sin(200 * x)]])
def test_what_is_not_smooth_is_not_claimed(function):
    assert along(function)[0] is None


def test_noise_makes_no_poles():
    """Rounding of what is simple must not be met by poles and zeros side by side."""
    generator = np.random.default_rng(1)
    made, _ = along(lambda x: [(2 + x) ** 2 * (1 + 1e-14 * generator.normal())])
    assert made is not None
    assert off(made, lambda x: [(2 + x) ** 2]) < 1e-10


def test_points_on_nodes_have_their_rows():
    nodes = chebyshev(5)[::2]
    rows = np.array([[1.0, 4.0], [2.0, 9.0], [5.0, -1.0]])
    made = Axis(nodes, np.array([[1.0, 0.0], [-2.0, 0.0], [1.0, 0.0]]))  # the second has no weights at all
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(made.at(nodes, rows), rows)


def test_rows_of_each_point():
    """Along a second field: rows are those of the point."""
    nodes = chebyshev(5)[::2]
    made = Axis(nodes, np.array([[1.0], [-2.0], [1.0]]))
    x = np.array([-0.3, 0.0, 0.9])
    rows = x[:, None, None] * (1 + nodes[None, :, None] ** 2)
    np.testing.assert_allclose(made.at(x, rows, of_points=True), (x * (1 + x**2))[:, None], rtol=1e-14)
