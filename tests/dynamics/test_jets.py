"""Rates of functions of moving vectors, against differentiation in time."""

import casadi as ca
import numpy as np
import pytest
from numpy.testing import assert_allclose

from flexarm.dynamics.spatial_algebra import Jet, jet_along

t = ca.SX.sym("t")
ONE = ca.vertcat(ca.sin(t), t**2 - 1, ca.exp(-t))
OTHER = ca.vertcat(1 + t, ca.cos(2 * t), t**3)
NUMBER, DIVISOR = ca.sin(3 * t), 2 + ca.cos(t)
A = ca.DM(np.random.default_rng(0).normal(size=(3, 3)))
S = A + A.T
WIDE = ca.DM(np.random.default_rng(1).normal(size=(2, 3)))


def jet(expression) -> Jet:
    first = ca.jacobian(expression, t)
    return Jet(expression, first, ca.jacobian(first, t))


def values(jet_: Jet) -> np.ndarray:
    return np.hstack([ca.Function("f", [t], [ca.densify(each)])(0.7).full() for each in (jet_.x, jet_.dx, jet_.ddx)])


CASES = {
    "through": (jet(ONE).through(WIDE), WIDE @ ONE),
    "form": (jet(ONE).form(S), ca.dot(ONE, S @ ONE) / 2),
    "form_with": (jet(ONE).form_with(A, jet(OTHER)), ca.dot(ONE, A @ OTHER)),
    "form_with another size": (
        jet(ONE[:2]).form_with(WIDE, jet(OTHER)),
        ca.dot(ONE[:2], WIDE @ OTHER),
    ),
    "cross": (jet(ONE).cross(jet(OTHER)), ca.cross(ONE, OTHER)),
    "square": (jet(ONE).square, ca.dot(ONE, ONE)),
    "sum": (jet(ONE) + jet(OTHER), ONE + OTHER),
    "difference": (jet(ONE) - jet(OTHER), ONE - OTHER),
    "product": (jet(NUMBER) * jet(DIVISOR), NUMBER * DIVISOR),
    "quotient": (jet(NUMBER) / jet(DIVISOR), NUMBER / DIVISOR),
    "part": (jet(ONE).of(slice(1, 3)), ONE[1:]),
    "above": (jet(ONE).above(jet(NUMBER)), ca.vertcat(ONE, NUMBER)),
    "along x": (jet(NUMBER).along_x, ca.vertcat(NUMBER, 0, 0)),
    "chosen": (jet(ONE).choose(t > 0.5, jet(OTHER)), ONE),
    "not chosen": (jet(ONE).choose(t > 0.9, jet(OTHER)), OTHER),
}


@pytest.mark.parametrize("name", CASES)
def test_rates_are_derivatives(name):
    found, expected = CASES[name]
    assert_allclose(values(found), values(jet(expected)), rtol=1e-12, atol=1e-14)


def test_an_expression_follows_its_symbols():
    x = ca.SX.sym("x", 3)
    found = jet_along(ca.vertcat(ca.sin(x[0]) * x[1], x[2] ** 2 + x[0]), x, jet(ONE))
    assert_allclose(values(found), values(jet(ca.vertcat(ca.sin(ONE[0]) * ONE[1], ONE[2] ** 2 + ONE[0]))), rtol=1e-12)


def test_what_rests_is_idle():
    assert Jet.constant(ca.SX.zeros(3)).vanishes
    assert not Jet.constant(1.0).vanishes
    assert Jet.slow(ca.SX.sym("x", 2)).dx.is_zero()
