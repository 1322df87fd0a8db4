"""Short names for what occurs again and again: deflection and slope of an articulation (the papers' u_f and u_s), shape
functions where a slide is. Entries of M stay small sums of products, and so do their derivatives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from flexarm.symbolic import algebra
from flexarm.symbolic.algebra import Expr, symbol, symbols_in
from flexarm.symbolic.symbols import latex_name

Slope = Callable[[Expr], Expr]


class Abbreviations:
    """Names with their definitions, in an order in which they can be computed, and how they change with coordinates."""

    def __init__(self, q: Mapping[Expr, int]) -> None:
        self.q = q
        self.definitions: dict[Expr, Expr] = {}
        self.latex: dict[str, str] = {}
        self._names: dict[Expr, Expr] = {}
        self._slopes: dict[Expr, Slope] = {}

    def name(self, label: str, expression: Expr) -> Expr:
        """A name for an expression, the same one for the same expression; symbols and numbers need none."""
        expression = algebra.backend.sympify(expression)
        if expression.is_Symbol or expression.is_Number:
            return expression
        if expression not in self._names:
            self._names[expression] = self.define(label, expression, lambda by: self.diff(expression, by))
        return self._names[expression]

    def name_with_slopes(self, label: str, expression: Expr) -> Expr:
        """A name, and names for its derivatives by coordinates as well: those of xf_1 are xf_{1,2} in LaTeX."""
        return self._derivative(label, expression, ())

    def _derivative(self, label: str, expression: Expr, by: tuple[int, ...]) -> Expr:
        expression = algebra.backend.sympify(expression)
        if expression.is_Symbol or not self._coordinates([expression]):
            return expression
        if expression not in self._names:
            latex = f"{latex_name(label)[:-1]},{' '.join(map(str, by))}}}" if by else None

            def slope(at: Expr) -> Expr:
                own = label if by else str(self._names[expression])
                return self._derivative(own, self.diff(expression, at), tuple(sorted((*by, self.q[at] + 1))))

            own = "_".join(["d" * len(by) + label, *map(str, by)])
            self._names[expression] = self.define(own, expression, slope, latex)
        return self._names[expression]

    def define(self, label: str, expression: Expr, slope: Slope, latex: str | None = None) -> Expr:
        """A new name, with a function that gives its derivative by a coordinate."""
        taken = {str(each) for each in self.definitions}
        own = next(name for name in _numbered(label) if name not in taken)
        found = symbol(own)
        self.definitions[found], self._slopes[found] = expression, slope
        self.latex[own] = latex_name(own) if latex is None else latex
        return found

    def diff(self, expression: Expr, by: Expr) -> Expr:
        """The derivative by a coordinate, through the names as well."""
        out = algebra.diff(expression, by)
        for each in self._within([expression]):
            if (slope := self._slopes[each](by)) != 0:
                out += algebra.diff(expression, each) * slope
        return out

    def coordinates(self, expressions: Iterable[Expr]) -> list[tuple[Expr, int]]:
        """The coordinates on which some expressions depend, with their places, in order."""
        return sorted(self._coordinates(expressions), key=lambda pair: pair[1])

    def _coordinates(self, expressions: Iterable[Expr]) -> set[tuple[Expr, int]]:
        expressions = list(expressions)
        found = {(each, self.q[each]) for part in expressions for each in symbols_in(part) if each in self.q}
        inner = [self.definitions[each] for each in self._within(expressions)]
        return found | self._coordinates(inner) if inner else found

    def _within(self, expressions: Iterable[Expr]) -> list[Expr]:
        if not self.definitions:
            return []
        return [each for part in expressions for each in symbols_in(part) if each in self.definitions]

    def spelt(self, expression: Expr) -> Expr:
        """Without abbreviations."""
        while inner := self._within([expression]):
            expression = algebra.backend.sympify(expression).subs({each: self.definitions[each] for each in inner})
        return expression

    def used(self, expressions: Iterable[Expr]) -> list[tuple[Expr, Expr]]:
        """The definitions that some expressions need, each after those it needs itself."""
        found: dict[Expr, Expr] = {}

        def visit(expression: Expr) -> None:
            for each in sorted(set(self._within([expression])), key=str):
                if each not in found:
                    visit(self.definitions[each])
                    found[each] = self.definitions[each]

        for expression in expressions:
            visit(expression)
        return list(found.items())


def _numbered(label: str) -> Iterable[str]:
    yield label
    count = 2
    while True:
        yield f"{label}_{count}"
        count += 1
