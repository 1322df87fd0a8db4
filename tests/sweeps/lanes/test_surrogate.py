"""Rows as polynomials of fields, put together entry by entry."""

import numpy as np
import pytest

from flexarm.sweeps.lanes.surrogate import Surrogate, surrogate

GENERATOR = np.random.default_rng(0)
POINTS = GENERATOR.uniform([1.0, -1.0, 2.0], [3.0, 1.0, 2.5], (200, 3))


def made(row, points=POINTS, scales=None):
    count = [0]

    def counted(point):
        count[0] += 1
        return np.array(row(*point), dtype=float)

    entries = len(row(*points[0]))
    found = surrogate(points, counted, np.arange(entries) if scales is None else scales, np.random.default_rng(1))
    return found, count[0]


def test_sums_products_inverses_and_constants():
    def row(x, y, z):
        return [7.0, x, x * np.exp(y) / z, x**2 + np.sin(y) - z, 1 / x**3, 0.0, 1e300, x / z, 1 / (x + z)]

    found, _ = made(row)
    assert isinstance(found, Surrogate)
    np.testing.assert_allclose(found(POINTS), [row(*each) for each in POINTS], rtol=1e-9, atol=1e-9)


def test_few_rows_are_computed_of_what_is_simple():
    _, count = made(lambda x, y, z: [x, 2 * y, x * z])
    assert count <= 1 + 3 * 4 + 6


@pytest.mark.parametrize(
    "row", [lambda x, y, z: [x + y * z + x * y], lambda x, y, z: [abs(y)], lambda x, y, z: [np.sign(y)]]
)
def test_what_polynomials_do_not_meet_is_not_claimed(row):
    assert made(row)[0] is None


def test_noise_counts_against_the_entries_it_is_among():
    def row(x, y, z):
        return [1e6 * x, 1e-12 * np.sin(1e8 * x)]

    assert made(row)[0] is None
    found, _ = made(row, scales=np.zeros(2, dtype=int))
    assert found is not None


def test_a_field_that_does_not_change():
    points = POINTS.copy()
    points[:, 1] = 0.5
    found, _ = made(lambda x, y, z: [x * y + z], points)
    np.testing.assert_allclose(found(points)[:, 0], points[:, 0] * 0.5 + points[:, 2], rtol=1e-12)
