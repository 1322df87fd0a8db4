"""Integrals from a place to the tip, of polynomials through Gauss points."""

import numpy as np
from numpy.testing import assert_allclose

from flexarm.beam.integrals import OutboardQuadrature


def test_polynomials_are_integrated_exactly_from_any_place():
    points = OutboardQuadrature(np.array([[0.0, 0.3, 1.0]]), 5)
    x = np.array([0.0, 0.1, 0.3, 0.77, 1.0])
    found = points.weights(x)[0] @ points.x[0] ** 4
    assert_allclose(found, (1 - x**5) / 5, atol=1e-15)


def test_pieces_may_differ_from_row_to_row():
    breaks = np.array([[0.0, 0.2, 1.0], [0.0, 0.9, 1.0], [0.0, 0.0, 1.0]])
    points = OutboardQuadrature(breaks, 4)
    x = np.array([0.0, 0.5])
    found = np.einsum("rxp,rp->rx", points.weights(x), points.x**3)
    assert_allclose(found, np.tile((1 - x**4) / 4, (3, 1)), atol=1e-15)
