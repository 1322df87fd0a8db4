"""The cubic Hermite beam element: My et al., eq. (13) and (27), and its moments.

Coordinates: deflection and slope of the left node, then of the right one.
"""

from __future__ import annotations

from flexarm.symbolic.algebra import Expr, Rows, ratio


def _filled(numbers: list[list[int]], powers: list[list[int]], size: Expr, factor: Expr) -> Rows:
    return [
        [factor * number * size**power for number, power in zip(row, exponents, strict=True)]
        for row, exponents in zip(numbers, powers, strict=True)
    ]


_POWERS = [[0, 1, 0, 1], [1, 2, 1, 2]] * 2


def mass(m: Expr, size: Expr) -> Rows:
    """int m S^T S dx, eq. (13)."""
    numbers = [[156, 22, 54, -13], [22, 4, 13, -3], [54, 13, 156, -22], [-13, -3, -22, 4]]
    return _filled(numbers, _POWERS, size, m * size * ratio(1, 420))


def stiffness(EI: Expr, size: Expr) -> Rows:
    """int EI S''^T S'' dx, eq. (27)."""
    numbers = [[12, 6, -12, 6], [6, 4, -6, 2], [-12, -6, 12, -6], [6, 2, -6, 4]]
    return _filled(numbers, _POWERS, size, EI / size**3)


def slope_products(j: Expr, size: Expr) -> Rows:
    """int j S'^T S' dx: rotary inertia."""
    numbers = [[36, 3, -36, 3], [3, 4, -3, -1], [-36, -3, 36, -3], [3, -1, -3, 4]]
    return _filled(numbers, _POWERS, size, j / size * ratio(1, 30))


def moment(m: Expr, size: Expr) -> list[Expr]:
    """int m S dx."""
    return _filled([[6, 1, 6, -1]], [[0, 1, 0, 1]], size, m * size * ratio(1, 12))[0]


def first_moment(m: Expr, size: Expr) -> list[Expr]:
    """int m x S dx, x from the left node."""
    return _filled([[9, 2, 21, -3]], [[0, 1, 0, 1]], size, m * size**2 * ratio(1, 60))[0]


SLOPE_MOMENT = [-1, 0, 1, 0]
"""int S' dx."""


def shapes(x: Expr, size: Expr) -> list[Expr]:
    """S(x), x from the left node."""
    t = x / size
    return [1 - 3 * t**2 + 2 * t**3, size * (t - 2 * t**2 + t**3), 3 * t**2 - 2 * t**3, size * (t**3 - t**2)]
