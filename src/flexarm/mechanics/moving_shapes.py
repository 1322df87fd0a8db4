"""Shapes of a link at a place that moves along it."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
from numpy.polynomial import legendre

from flexarm.beam.integrals import LinkIntegrals
from flexarm.beam.polynomials import PiecewisePolynomials
from flexarm.foundation.numbers import Array


def values_at(functions: PiecewisePolynomials, x: Any) -> Any:
    """(1, n): the functions at a symbolic x, by Horner's rule; beyond the ends the last piece goes on."""
    breaks = functions.breaks

    def pick(values: Array) -> Any:
        """The value of the piece on which x is."""
        return float(values[0]) if len(values) == 1 else ca.pw_const(x, ca.DM(breaks[1:-1]), ca.DM(values))

    left, right = pick(breaks[:-1]), pick(breaks[1:])
    t = (2 * x - left - right) / (right - left)
    powers = np.einsum("jk,kpn->jpn", _legendre_in_powers(functions.degree), functions.coefficients)
    out = []
    for k in range(functions.count):
        value: Any = ca.SX(0)
        for coefficient in powers[::-1, :, k]:
            value = value * t + pick(coefficient)
        out.append(value)
    return ca.horzcat(*out) if out else ca.SX(1, 0)


def _legendre_in_powers(degree: int) -> Array:
    """Column k: the coefficients of Legendre's polynomial P_k."""
    out = np.zeros((degree + 1, degree + 1))
    for k in range(degree + 1):
        out[: k + 1, k] = legendre.leg2poly(np.eye(degree + 1)[k])[: k + 1]
    return out


def values_at_nodes(nodes: Array, values: Array, x: Any) -> Any:
    """(1, n): of values (nodes, n), those of the node nearest to a symbolic x."""
    middles = ca.DM((nodes[:-1] + nodes[1:]) / 2)
    out = ca.SX(1, values.shape[1])
    for k in np.flatnonzero(np.abs(values).max(axis=0) > 0):
        out[0, int(k)] = ca.pw_const(x, middles, ca.DM(values[:, k]))
    return out


def shortening_at(integrals: LinkIntegrals, x: Any) -> Any:
    """H(x) (n x n) at a symbolic x."""
    n = integrals.count
    H = ca.SX(n, n)
    if integrals.stiffening == "none":
        return H
    for name, space in integrals.shapes.items():
        if name.startswith("bend"):
            place = integrals.columns[name]
            products = _products(space.derivative()).integral()
            H[place, place] = ca.reshape(values_at(products, x), space.count, space.count)
    return H


def _products(functions: PiecewisePolynomials) -> PiecewisePolynomials:
    """All products of two of the functions, row by row of their matrix."""
    count, degree = functions.count, 2 * functions.degree
    nodes, weights = legendre.leggauss(degree + 1)
    values = np.einsum("gk,kpn->gpn", legendre.legvander(nodes, functions.degree), functions.coefficients)
    pairs = np.einsum("gpm,gpn->gpmn", values, values).reshape(degree + 1, -1, count**2)
    projection = (np.arange(degree + 1) + 0.5)[:, None] * legendre.legvander(nodes, degree).T * weights
    return PiecewisePolynomials(functions.breaks, np.einsum("kg,gpn->kpn", projection, pairs))
