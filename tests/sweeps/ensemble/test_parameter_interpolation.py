"""Rows as smooth functions of fields, put together entry by entry."""

import numpy as np
import pytest

from flexarm.sweeps.ensemble.parameter_interpolation import Scale, Surrogate, surrogate

GENERATOR = np.random.default_rng(0)
POINTS = GENERATOR.uniform([1.0, -1.0, 2.0], [3.0, 1.0, 2.5], (400, 3))


def made(row, points=POINTS, scales=None):
    count = [0]

    def counted(point):
        count[0] += 1
        return np.array(row(*point), dtype=float)

    entries = len(row(*points[0]))
    scale = Scale(np.arange(entries) if scales is None else scales, np.full(entries, 1e-10))
    found = surrogate(points, counted, scale, np.random.default_rng(1))
    return found, count[0]


def test_sums_products_inverses_and_constants():
    def row(x, y, z):
        return [7.0, x, x * np.exp(y) / z, x**2 + np.sin(y) - z, 1 / x**3, 0.0, 1e300, x / z, 1 / (x + z)]

    found, _ = made(row)
    assert isinstance(found, Surrogate)
    np.testing.assert_allclose(found(POINTS), [row(*each) for each in POINTS], rtol=1e-9, atol=1e-9)


def test_few_rows_are_computed_of_what_is_simple():
    _, count = made(lambda x, y, z: [x, 2 * y, x * z])
    assert count <= 1 + 3 * 4 + 8 + 2**3


def test_fields_that_mix_are_computed_on_a_grid():
    """x and z in one block, y by itself."""

    def row(x, y, z):
        return [np.sqrt(x + z) * (3 + y), x * z + x**2 / z, y]

    found, count = made(row)
    assert [each.fields for each in found.blocks] == [(0, 2), (1,)]
    assert count < len(POINTS) / 2
    np.testing.assert_allclose(found(POINTS), [row(*each) for each in POINTS], rtol=1e-9, atol=1e-9)


def test_pairs_that_fit_and_three_that_do_not():
    """(x + y) z: sums and products of pairs, but neither of all; and so in one block."""

    def row(x, y, z):
        return [(x + y + 5) * z]

    found, _ = made(row)
    assert [each.fields for each in found.blocks] == [(0, 1, 2)]
    np.testing.assert_allclose(found(POINTS), [row(*each) for each in POINTS], rtol=1e-9)


def test_a_step_in_a_corner_is_seen():
    """Where two fields are at opposite ends, which no line through the middle meets."""
    assert made(lambda x, y, z: [x * z + (x > 2.8) * (y < -0.8)])[0] is None


def test_grids_that_are_not_worth_it():
    points = np.random.default_rng(2).uniform(1, 2, (30, 3))
    assert made(lambda x, y, z: [np.sqrt(x + y * z)], points)[0] is None


@pytest.mark.parametrize("row", [lambda x, y, z: [abs(y)], lambda x, y, z: [np.sign(y)]])
def test_what_is_not_smooth_is_not_claimed(row):
    assert made(row)[0] is None


def test_zero_in_the_middle_is_not_asked_for():
    """It may be another structure."""
    points = np.random.default_rng(3).uniform(-1, 1, (100, 1))
    points[:2, 0] = -1, 1

    def row(x):
        if x == 0:
            raise ValueError("other")
        return [3 + x]

    found, _ = made(row, points)
    np.testing.assert_allclose(found(points), 3 + points, rtol=1e-12)


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


def test_members_that_are_all_the_same():
    found, count = made(lambda x, y, z: [x * y + z, 3.0], np.repeat(POINTS[:1], 30, axis=0))
    x, y, z = POINTS[0]
    np.testing.assert_allclose(found(POINTS[:1]), [[x * y + z, 3.0]], rtol=1e-12)
    assert count <= 2
