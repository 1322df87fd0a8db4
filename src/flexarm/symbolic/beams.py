"""Flexible link in symbols: parameters, elastic coordinates, and shape functions at a moving position."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.polynomial import legendre

from flexarm.beam.integrals import LinkIntegrals
from flexarm.beam.polynomials import PiecewisePolynomials
from flexarm.beam.sliding_integrals import SlidingIntegrals
from flexarm.foundation.validation import Array
from flexarm.symbolic.algebra import LENGTH, Expr, ExprArray, Scales, fraction, vector
from flexarm.symbolic.symbols import Abbreviations, latex_name


@dataclass(frozen=True)
class ClosedFormShapes:
    """Elastic coordinates of a link, or of one part of it: indices, symbols and exponents (n, 3) of their scales."""

    integrals: LinkIntegrals
    columns: list[int]
    eta: ExprArray
    exponents: Array


@dataclass(frozen=True)
class Beam:
    """Flexible or rigid link.

    `mesh` contains index and symbol of the coordinates of its nodes, None and 0 if eliminated by a boundary condition;
    it is empty for links that are treated as one piece.
    """

    integrals: LinkIntegrals
    scales: Scales
    l: Expr  # noqa: E741
    m: Expr
    rigidity: dict[str, tuple[Expr, float]]  # EI, GJ, EA by family, with values
    rotary: dict[int, tuple[Expr, float]]  # inertia of the sections per length by axis, with values
    front: ClosedFormShapes
    rear: ClosedFormShapes | None
    mesh: list[tuple[int | None, Expr]]
    d: tuple[int, Expr] | None  # coordinate of the joint that the link slides through
    number: int
    short: Abbreviations
    planar: bool

    @property
    def slides_through_joint(self) -> bool:
        return isinstance(self.integrals, SlidingIntegrals)

    @property
    def stiffening(self) -> str:
        """Stiffening model; "none" also for rigid links and for "exact" links that do not bend."""
        model = self.integrals.stiffening if self.front.columns else "none"
        straight = not any(name.startswith("bend") for name in self.integrals.columns)
        return "none" if model == "exact" and straight else model

    @property
    def elements(self) -> int:
        return len(self.mesh) // 2 - 1

    def nodes(self, first: int, last: int) -> ExprArray:
        """Return the displacements and slopes of the nodes from `first` to `last`."""
        return vector(*(value for _, value in self.mesh[2 * first : 2 * last + 2]))

    @property
    def bends(self) -> bool:
        return bool(self.mesh or self.front.columns or (self.rear is not None and self.rear.columns))


@dataclass
class MovingShapes:
    """Functions along a beam at a symbolic position `at`, and their derivatives.

    If the functions have several pieces, `near` is a value in the piece of the position.
    """

    beam: Beam
    space: PiecewisePolynomials
    exponents: Array
    at: Expr
    near: float | None
    _named: dict[tuple[int, int], Expr] = field(default_factory=dict)

    def values(self, order: int, label: str | None) -> ExprArray:
        """Return derivatives of the functions, as polynomials or, with a label, as abbreviations."""
        each = range(self.space.count)
        return vector(*(self._sum(order, k) if label is None else self._name(order, k, label) for k in each))

    def _name(self, order: int, k: int, label: str) -> Expr:
        if (order, k) not in self._named:
            short, base = self.beam.short, f"{label}_{k + 1}"

            def slope(by: Expr) -> Expr:
                inner = short.diff(self.at, by)
                return 0 if inner == 0 else self._name(order + 1, k, label) * inner

            latex = latex_name(base).replace("_", "'" * order + "_", 1)
            self._named[order, k] = short.define("d" * order + base, self._sum(order, k, label), slope, latex)
        return self._named[order, k]

    def _sum(self, order: int, k: int, label: str | None = None) -> Expr:
        """Return a derivative as a polynomial of t, which is -1 and 1 at the ends of the piece."""
        space, beam = self.space.derivative(order) if order else self.space, self.beam
        piece = 0 if self.near is None else int(np.searchsorted(space.breaks, self.near)) - 1
        left, right = (fraction(float(end)) for end in space.breaks[piece : piece + 2] / beam.integrals.length)
        t = (2 * self.at / beam.l - left - right) / (right - left)
        if label is not None:
            t = beam.short.name(f"t_{label.split('_')[1]}", t)
        series = legendre.leg2poly(space.coefficients[:, piece, k])
        return beam.scales(series, self.exponents[k] - order * LENGTH) @ t ** np.arange(len(series), dtype=object)
