"""Symbolic algebra, matrices of the cubic Hermite beam element, and scaling of integrals to symbols.

Expressions are those of SymEngine, which is much faster than SymPy; results are converted to SymPy. Vectors and
matrices are NumPy arrays of expressions. The coordinates of an element are deflection and slope of its left node, then
of its right node (My et al., eq. 13 and 27).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import symengine
import sympy
from numpy.typing import ArrayLike, NDArray

from flexarm.beam.integrals import LinkIntegrals
from flexarm.robot import Elements, Reduced

Expr = Any
ExprArray = NDArray[np.object_]

# Relative. Shapes are solutions of floating-point eigenproblems, whose integers are rounded.
INTEGER_TOLERANCE = 1e-13


def symbol(name: str) -> Expr:
    return symengine.Symbol(name)


def number(value: float) -> Expr:
    """Return a number; integers are exact."""
    whole = round(value)
    if abs(value - whole) <= INTEGER_TOLERANCE * abs(whole):
        return symengine.Integer(whole)
    return symengine.sympify(float(value))


numbers: Any = np.frompyfunc(number, 1, 1)
cos: Any = np.frompyfunc(lambda angle: symengine.cos(angle), 1, 1)
sin: Any = np.frompyfunc(lambda angle: symengine.sin(angle), 1, 1)


def fraction(value: float) -> Expr:
    """Return a number; multiples of 1/12, such as 1/2 and 1/3, are exact."""
    twelfths = number(value * 12)
    return twelfths / 12 if twelfths.is_Integer else number(value)


def diff(expression: Expr, by: Expr) -> Expr:
    return symengine.sympify(expression).diff(by)


def total(terms: Iterable[Expr]) -> Expr:
    """Return the sum of terms in one call; adding one by one is quadratic in their number."""
    terms = [term for term in terms if term != 0]
    return symengine.Add(*terms) if terms else symengine.Integer(0)


def share_subexpressions(expressions: list[Expr]) -> tuple[list[tuple[Expr, Expr]], list[Expr]]:
    """Return common subexpressions as (symbol, value) pairs and the expressions in terms of them, in SymPy."""
    found, rest = symengine.cse([symengine.sympify(each) for each in expressions])
    return [(sympy.sympify(name), sympy.sympify(value)) for name, value in found], list(map(sympy.sympify, rest))


def vector(*entries: Expr) -> ExprArray:
    return np.array(entries, dtype=object)


def column(entries: Iterable[Expr]) -> ExprArray:
    return vector(*entries)[:, None]


ZERO, X, Z = vector(0, 0, 0), vector(1, 0, 0), vector(0, 0, 1)


def zeros(*shape: int) -> ExprArray:
    return np.full(shape, number(0))


def sympy_matrix(matrix: ExprArray) -> Any:
    return sympy.Matrix(*matrix.shape, list(map(sympy.sympify, matrix.flat)))


def quadratic_form(matrices: ExprArray, x: ExprArray) -> Any:
    """Return x^T A x of a matrix, or of those along the last two axes, as one sum of products."""
    return (np.outer(x, x) * matrices).sum(axis=(-2, -1))


# --- the cubic Hermite element ---

_LENGTHS = np.array([0, 1, 0, 1], dtype=object)  # exponents of the length of an element, for each coordinate
_MASS = [[156, 22, 54, -13], [22, 4, 13, -3], [54, 13, 156, -22], [-13, -3, -22, 4]]
_STIFFNESS = [[12, 6, -12, 6], [6, 4, -6, 2], [-12, -6, 12, -6], [6, 2, -6, 4]]
_SLOPES = [[36, 3, -36, 3], [3, 4, -3, -1], [-36, -3, 36, -3], [3, -1, -3, 4]]


def _element(integers: list[Any], size: Expr, factor: Expr) -> ExprArray:
    """Return an element vector or matrix, whose entries have the powers of the element's length."""
    powers = _LENGTHS if np.ndim(integers) == 1 else np.add.outer(_LENGTHS, _LENGTHS)
    return factor * np.array(integers, dtype=object) * size**powers  # type: ignore[no-any-return]


def mass(m: Expr, size: Expr) -> ExprArray:
    """Return int m S^T S dx, eq. (13)."""
    return _element(_MASS, size, m * size / number(420))


def stiffness(EI: Expr, size: Expr) -> ExprArray:
    """Return int EI S''^T S'' dx, eq. (27)."""
    return _element(_STIFFNESS, size, EI / size**3)


def slope_products(j: Expr, size: Expr) -> ExprArray:
    """Return int j S'^T S' dx, the matrix of the rotary inertia."""
    return _element(_SLOPES, size, j / size / number(30))


def moment(m: Expr, size: Expr) -> ExprArray:
    """Return int m S dx."""
    return _element([6, 1, 6, -1], size, m * size / number(12))


def first_moment(m: Expr, size: Expr) -> ExprArray:
    """Return int m x S dx, with x from the left node."""
    return _element([9, 2, 21, -3], size, m * size**2 / number(60))


SLOPE_MOMENT = vector(-1, 0, 1, 0)
"""int S' dx."""


def shapes(x: Expr, size: Expr) -> ExprArray:
    """Return the shape functions S(x), with x from the left node."""
    t = x / size
    return vector(1 - 3 * t**2 + 2 * t**3, size * (t - 2 * t**2 + t**3), 3 * t**2 - 2 * t**3, size * (t**3 - t**2))


# --- scaling of integrals to symbols ---

# Integrals of a link are numbers times powers of its length l, mass m l and polar inertia j l. Exponents of these:
LENGTH, MASS, POLAR = np.eye(3)


@dataclass(frozen=True)
class Scales:
    """Length, mass and polar inertia of a link, as symbols and as values."""

    symbols: tuple[Expr, Expr, Expr]
    values: tuple[float, float, float]

    def __call__(self, values: ArrayLike, exponents: ArrayLike, unit: Expr = 1, unit_value: float = 1.0) -> Any:
        """Return numbers times powers of the scales, whose exponents are along the last axis, and a unit."""
        values = np.asarray(values, dtype=float)
        exponents = np.broadcast_to(exponents, (*values.shape, 3))
        out = np.zeros(values.shape, dtype=object)
        for place in np.argwhere(values):
            each = tuple(place)
            out[each] = self._scaled(values[each], exponents[each].tolist(), unit, unit_value)
        return out if values.ndim else out[()]

    def _scaled(self, value: float, exponents: list[float], out: Expr, base: float) -> Expr:
        for exponent, size, name in zip(exponents, self.values, self.symbols, strict=True):
            if exponent:
                base, out = base * size**exponent, out * name ** (number(2 * exponent) / 2)
        return fraction(value / base) * out


def coordinate_exponents(integrals: LinkIntegrals) -> NDArray[np.float64]:
    """Return the exponents with which the shape functions of a link scale, shape (n, 3).

    Shapes of nodes have a unit deflection or a unit slope; modes are normalized by mass.
    """
    flexible = integrals.link.flexible
    out: list[Any] = []
    for name, space in integrals.shapes.items():
        assert flexible is not None
        nodal = [0 * LENGTH, LENGTH] if name.startswith("bend") else [0 * LENGTH]
        mode = -0.5 * (POLAR if name == "twist" else MASS)
        at_nodes = space.count if isinstance(flexible.basis, Elements) else 0
        if isinstance(flexible.basis, Reduced):
            at_nodes = flexible.basis.tip_shapes(name)
        out += [nodal[k % len(nodal)] if k < at_nodes else mode for k in range(space.count)]
    return np.reshape(out, (len(out), 3))
