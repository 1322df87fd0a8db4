"""Symbolic algebra, matrices of the cubic Hermite beam element, and scaling of integrals to symbols.

Expressions are those of SymEngine if it is installed, because it is faster, else of SymPy; results are converted to
SymPy. The coordinates of an element are deflection and slope of its left node, then of its right node (My et al.,
eq. 13 and 27). Integrals of a link become a dimensionless number times powers of its length, mass and inertia.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import sympy

from flexarm.beam.integrals import LinkIntegrals
from flexarm.robot import Elements, Reduced

try:
    import symengine
except ImportError:
    symengine = None

Expr = Any
Vector = tuple[Expr, Expr, Expr]
Rows = list[list[Expr]]

backend: Any = sympy if symengine is None else symengine

# Relative. Shapes are solutions of floating-point eigenproblems, whose integers are rounded.
INTEGER_TOLERANCE = 1e-13


def symbol(name: str) -> Expr:
    return backend.Symbol(name)


def number(value: float) -> Expr:
    """Return a number; integers are exact."""
    whole = round(value)
    return (
        backend.Integer(whole)
        if abs(value - whole) <= INTEGER_TOLERANCE * abs(whole)
        else backend.sympify(float(value))
    )


def fraction(value: float) -> Expr:
    """Return a number; multiples of 1/12, such as 1/2 and 1/3, are exact."""
    twelfths = number(value * 12)
    return twelfths / 12 if twelfths.is_Integer else number(value)


def ratio(numerator: int, denominator: int) -> Expr:
    return backend.Integer(numerator) / backend.Integer(denominator)


def cos(angle: Expr) -> Expr:
    return backend.cos(angle)


def sin(angle: Expr) -> Expr:
    return backend.sin(angle)


def tanh(x: Expr) -> Expr:
    return backend.tanh(x)


def diff(expression: Expr, by: Expr) -> Expr:
    return backend.sympify(expression).diff(by)


def symbols_in(expression: Expr) -> set[Expr]:
    return set(backend.sympify(expression).free_symbols)


def total(terms: Any) -> Expr:
    """Return the sum of terms in one call; adding one by one is quadratic in their number."""
    terms = [term for term in terms if term != 0]
    return backend.Add(*terms) if terms else backend.Integer(0)


def share_subexpressions(expressions: list[Expr]) -> tuple[list[tuple[Expr, Expr]], list[Expr]]:
    """Return common subexpressions as (symbol, value) pairs and the expressions in terms of them, in SymPy."""
    if backend is not sympy:
        found, rest = backend.cse([backend.sympify(each) for each in expressions])
        return [(to_sympy(name), to_sympy(value)) for name, value in found], [to_sympy(each) for each in rest]
    found, rest = sympy.cse([sympy.sympify(each) for each in expressions], symbols=sympy.numbered_symbols("x"))
    return list(found), list(rest)


def to_sympy(expression: Expr) -> Any:
    return sympy.sympify(expression)


def matrix(rows: Rows) -> Any:
    """Return a SymPy matrix."""
    return sympy.Matrix(len(rows), len(rows[0]) if rows else 0, [to_sympy(entry) for row in rows for entry in row])


# --- vectors with three entries; zero entries are skipped ---

ZERO: Vector = (0, 0, 0)


def plus(*vectors: Vector) -> Vector:
    x, y, z = (reduce(add, (vector[row] for vector in vectors), 0) for row in range(3))
    return x, y, z


def times(factor: Expr, vector: Vector) -> Vector:
    x, y, z = (0 if entry == 0 else factor * entry for entry in vector)
    return x, y, z


def dot(a: Vector, b: Vector) -> Expr:
    return reduce(add, (p * q for p, q in zip(a, b, strict=True) if p != 0 and q != 0), 0)


def cross(a: Vector, b: Vector) -> Vector:
    def minor(i: int, j: int) -> Expr:
        one = 0 if a[i] == 0 or b[j] == 0 else a[i] * b[j]
        other = 0 if a[j] == 0 or b[i] == 0 else a[j] * b[i]
        return one - other

    return minor(1, 2), minor(2, 0), minor(0, 1)


def is_nonzero(vector: Vector) -> bool:
    return any(entry != 0 for entry in vector)


def _element_matrix(numbers: list[list[int]], powers: list[list[int]], size: Expr, factor: Expr) -> Rows:
    return [
        [factor * number * size**power for number, power in zip(row, exponents, strict=True)]
        for row, exponents in zip(numbers, powers, strict=True)
    ]


_POWERS = [[0, 1, 0, 1], [1, 2, 1, 2]] * 2


def mass(m: Expr, size: Expr) -> Rows:
    """Return int m S^T S dx, eq. (13)."""
    numbers = [[156, 22, 54, -13], [22, 4, 13, -3], [54, 13, 156, -22], [-13, -3, -22, 4]]
    return _element_matrix(numbers, _POWERS, size, m * size * ratio(1, 420))


def stiffness(EI: Expr, size: Expr) -> Rows:
    """Return int EI S''^T S'' dx, eq. (27)."""
    numbers = [[12, 6, -12, 6], [6, 4, -6, 2], [-12, -6, 12, -6], [6, 2, -6, 4]]
    return _element_matrix(numbers, _POWERS, size, EI / size**3)


def slope_products(j: Expr, size: Expr) -> Rows:
    """Return int j S'^T S' dx, the matrix of the rotary inertia."""
    numbers = [[36, 3, -36, 3], [3, 4, -3, -1], [-36, -3, 36, -3], [3, -1, -3, 4]]
    return _element_matrix(numbers, _POWERS, size, j / size * ratio(1, 30))


def moment(m: Expr, size: Expr) -> list[Expr]:
    """Return int m S dx."""
    return _element_matrix([[6, 1, 6, -1]], [[0, 1, 0, 1]], size, m * size * ratio(1, 12))[0]


def first_moment(m: Expr, size: Expr) -> list[Expr]:
    """Return int m x S dx, with x from the left node."""
    return _element_matrix([[9, 2, 21, -3]], [[0, 1, 0, 1]], size, m * size**2 * ratio(1, 60))[0]


SLOPE_MOMENT = [-1, 0, 1, 0]
"""int S' dx."""


def shapes(x: Expr, size: Expr) -> list[Expr]:
    """Return the shape functions S(x), with x from the left node."""
    t = x / size
    return [1 - 3 * t**2 + 2 * t**3, size * (t - 2 * t**2 + t**3), 3 * t**2 - 2 * t**3, size * (t**3 - t**2)]


@dataclass(frozen=True)
class Exponents:
    """Exponents of the length l, the mass m l and the polar inertia j l of a link."""

    l: float = 0  # noqa: E741
    ml: float = 0
    jl: float = 0

    def __mul__(self, other: Exponents) -> Exponents:
        return Exponents(self.l + other.l, self.ml + other.ml, self.jl + other.jl)


@dataclass(frozen=True)
class Scales:
    """Length, mass and polar inertia of a link, as symbols and as values."""

    symbols: tuple[Expr, Expr, Expr]
    values: tuple[float, float, float]

    def __call__(self, value: float, power: Exponents, unit: Expr = 1, unit_value: float = 1.0) -> Expr:
        """Return a quantity as a number times the powers and, if given, one more factor with its value."""
        if value == 0:
            return 0
        base, out = unit_value, unit
        exponents = (power.l, power.ml, power.jl)
        for exponent, size, name in zip(exponents, self.values, self.symbols, strict=True):
            if exponent:
                base, out = base * size**exponent, out * name ** _exact(exponent)
        return fraction(value / base) * out


def _exact(exponent: float) -> Expr:
    return number(2 * exponent) / number(2)


def coordinate_powers(integrals: LinkIntegrals) -> list[Exponents]:
    """Return the exponents with which the shape functions of a link scale.

    Shapes of nodes have a unit deflection or a unit slope; modes are normalized by mass.
    """
    flexible = integrals.link.flexible
    out: list[Exponents] = []
    for name, space in integrals.shapes.items():
        assert flexible is not None
        bends = name.startswith("bend")
        nodal = [Exponents(), Exponents(l=1)] if bends else [Exponents()]
        mode = Exponents(jl=-0.5) if name == "twist" else Exponents(ml=-0.5)
        if isinstance(flexible.basis, Elements):
            out += (nodal * space.count)[: space.count]
        else:
            at_tip = flexible.basis.tip_shapes(name) if isinstance(flexible.basis, Reduced) else 0
            out += [*nodal[:at_tip], *[mode] * (space.count - at_tip)]
    return out
