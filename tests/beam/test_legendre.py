"""Tables of Legendre polynomials against NumPy's."""

import numpy as np
import pytest
from numpy.polynomial import legendre as numpys
from numpy.testing import assert_allclose

from flexarm.beam import polynomials

TABLES = {
    "values_at_gauss": lambda: polynomials.values_at_gauss(7, 12),
    "values_at_even": lambda: polynomials.values_at_even(9, 12),
    "projection": lambda: polynomials.projection(12),
    "differentiation": lambda: polynomials.differentiation(12, 2),
    "integration": lambda: polynomials.integration(12),
    "gauss_rule": lambda: polynomials.gauss_rule(7)[0],
}


@pytest.mark.parametrize("degree", [0, 1, 2, 30])
def test_values_are_numpys(degree):
    points = np.linspace(-1, 1, 17)
    exact = numpys.legvander(points, degree)
    assert_allclose(polynomials.legendre_values(points, degree), exact, atol=1e-14)
    assert_allclose([polynomials.values_at_point(x, degree) for x in points.tolist()], exact, atol=1e-14)
    assert_allclose(polynomials.values_at_even(17, degree), exact, atol=1e-14)
    assert_allclose(polynomials.values_at_gauss(5, degree), numpys.legvander(numpys.leggauss(5)[0], degree), atol=1e-14)


@pytest.mark.parametrize("degree", [0, 1, 5, 40])
def test_derivatives_and_integrals_are_numpys(degree):
    series = np.random.default_rng(1).normal(size=degree + 1)
    for order in (1, 2):
        assert_allclose(polynomials.differentiation(degree, order) @ series, numpys.legder(series, order), rtol=1e-12)
    assert_allclose(polynomials.integration(degree) @ series, numpys.legint(series, lbnd=-1), atol=1e-14)


def test_projection_is_the_inverse_of_the_values_at_gauss_nodes():
    assert_allclose(polynomials.projection(20) @ polynomials.values_at_gauss(21, 20), np.eye(21), atol=1e-13)


@pytest.mark.parametrize("name", TABLES)
def test_tables_are_shared_read_only_and_bounded_in_number(name):
    table = TABLES[name]()
    assert TABLES[name]() is table
    with pytest.raises(ValueError, match="read-only"):
        table[0] = 1.0
    assert getattr(polynomials, name).cache_info().maxsize == polynomials.CACHE_SIZE
