"""The algebra underneath: SymEngine where it is installed, since it is faster, else SymPy. Results are SymPy's."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import Any

import sympy

try:
    import symengine
except ImportError:  # the same results, later
    symengine = None

Expr = Any
Vector = tuple[Expr, Expr, Expr]
Rows = list[list[Expr]]

backend: Any = sympy if symengine is None else symengine

# Shapes come from floating-point eigenproblems: what is within this of a whole number is one.
WHOLE = 1e-13


def symbol(name: str) -> Expr:
    return backend.Symbol(name)


def number(value: float) -> Expr:
    """A number, exact if it is a whole one."""
    whole = round(value)
    return backend.Integer(whole) if abs(value - whole) <= WHOLE * abs(whole) else backend.sympify(float(value))


def fraction(value: float) -> Expr:
    """A number, exact if it is a simple fraction such as 1/2 or 1/3."""
    twelfths = number(value * 12)
    return twelfths / 12 if twelfths.is_Integer else number(value)


def ratio(over: int, under: int) -> Expr:
    return backend.Integer(over) / backend.Integer(under)


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
    """A sum, made at once where the backend can: adding one by one is quadratic in the number of terms."""
    terms = [term for term in terms if term != 0]
    return backend.Add(*terms) if terms else backend.Integer(0)


def shared(expressions: list[Expr]) -> tuple[list[tuple[Expr, Expr]], list[Expr]]:
    """Common subexpressions by name, and the expressions written with them, in SymPy."""
    if backend is not sympy:
        found, rest = backend.cse([backend.sympify(each) for each in expressions])
        return [(to_sympy(name), to_sympy(value)) for name, value in found], [to_sympy(each) for each in rest]
    found, rest = sympy.cse([sympy.sympify(each) for each in expressions], symbols=sympy.numbered_symbols("x"))
    return list(found), list(rest)


def to_sympy(expression: Expr) -> Any:
    return sympy.sympify(expression)


def matrix(rows: Rows) -> Any:
    """A SymPy matrix."""
    return sympy.Matrix(len(rows), len(rows[0]) if rows else 0, [to_sympy(entry) for row in rows for entry in row])


# --- vectors of three, whose zeros cost nothing ---

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


def nonzero(vector: Vector) -> bool:
    return any(entry != 0 for entry in vector)
