"""What the shortening of a planar link adds to the zero-order one: stiffening "shortening".

Kept is what `System` keeps (docs/theory.md): the first moment c, the angular momentum k and the inertia of points that
are known to second order, and at third order how the shortening, taken as a line sigma x, enters k. In a part that is
`scale` times as long as the link, displacements of second order are 1/scale as large; material flows through them.
"""

from __future__ import annotations

from flexarm.beam.second_order import MOVES, SecondOrder
from flexarm.beam.sliding import SlidingIntegrals
from flexarm.symbolic.algebra import Expr, Rows, number, plus, ratio
from flexarm.symbolic.pieces import Piece
from flexarm.symbolic.scales import Power
from flexarm.symbolic.stiffened_part import StiffenedPart

# Of a link that turns as a whole, and so is seen shorter by sigma, the product of lever and deflection is smaller by
# 4/3 sigma; the rate of sigma counts by a half (docs/theory.md).
LEVER, SWING = ratio(4, 3), ratio(1, 2)


class ShortenedPart(StiffenedPart):
    """Lists are by column of the piece: of a part that slides d comes first."""

    def stiffen(self, piece: Piece) -> None:
        g0 = self.beam.scales(self.integrals.g0, Power(ml=1, l=2))
        inward, squeezed = self._moments(0, 0), self._squeezed()
        x, sigma = self._half(inward), self.beam.short.name(f"sigma_{self.beam.number}", self._half(squeezed))
        shrinking = self._by_column(squeezed, self.flow * (sigma + self.beam.l * x / g0) if self.flow != 0 else 0)
        drawn = self._by_column(inward, 0)
        lever = self._weighted([self._of(self.integrals.b, k, Power(ml=1, l=1)) for k in range(self.n)])
        along, across = (self._first("b", row) for row in (0, 1))
        piece.c = plus(piece.c, (x, 0, 0))
        piece.inertia[2][2] -= 2 * sigma * (self.scale * g0 + LEVER * lever[0])
        for p in range(len(piece.columns)):
            turned = SWING * shrinking[p] * lever[1] - LEVER * sigma * across[p]
            piece.k[p] = plus(piece.k[p], (0, 0, turned))
            for q in range(len(piece.columns)):
                piece.M[p][q] -= shrinking[p] * along[q] + shrinking[q] * along[p]
        if self.slides is not None:
            for p, push in enumerate(drawn):
                piece.M[0][p] += self.outward * push
                piece.M[p][0] += self.outward * push
        if "stretch" in self.integrals.columns and "bend_y" in self.integrals.columns:
            self._sweep(piece)
        super().stiffen(piece)

    def _sweep(self, piece: Piece) -> None:
        """Stretch moves a bent link's points across its axis; what its shapes can do of that is part of a square."""
        forms = [self._moments(1, power) for power in (0, 1)]
        y, xy = map(self._half, forms)
        flowing = (0, self.flow * (xy - self.beam.l * y)) if self.flow != 0 else (0, 0)
        second = [self._by_column(form, by_d) for form, by_d in zip(forms, flowing, strict=True)]
        first = [self._first("a", 1), self._first("b", 1)]
        line = SecondOrder(self.integrals).line(1)
        piece.c = plus(piece.c, (0, y, 0))
        for p in range(len(piece.columns)):
            piece.k[p] = plus(piece.k[p], (0, 0, self.scale * second[1][p]))
            for q in range(len(piece.columns)):
                for i in (0, 1):
                    for j in (0, 1):
                        weight = self.beam.scales(float(line[i, j]), Power(ml=-1, l=-i - j))
                        square = second[i][p] * second[j][q] / self.scale
                        piece.M[p][q] += weight * (first[i][p] * second[j][q] + second[i][p] * first[j][q] + square)
        if self.slides is not None:
            piece.k[0] = plus(piece.k[0], (0, 0, -self.outward * y))

    # --- forms of eta ---

    def _moments(self, axis: int, power: int) -> Rows:
        """Of int mu x^power times the displacement of second order along an axis, at full length."""
        return self._blocks(axis, power, 1.0, Power(ml=1, l=power - 1))

    def _squeezed(self) -> Rows:
        """Of sigma, the line that has the shortening's int mu x."""
        return self._blocks(0, 1, -1.0 / (self.integrals.g0 or 1.0), Power(l=-2))

    def _blocks(self, axis: int, power: int, factor: float, size: Power) -> Rows:
        forms, columns, powers = SecondOrder(self.integrals), self.integrals.columns, self.shapes.powers
        out: Rows = [[number(0)] * self.n for _ in range(self.n)]
        for _, each in forms.present(MOVES):
            if each.axis != axis:
                continue
            block = factor * forms.moment(each, power)
            rows, others = (range(self.n)[columns[name]] for name in (each.one, each.other))
            for i, p in enumerate(rows):
                for j, q in enumerate(others):
                    out[p][q] = self.beam.scales(float(block[i, j]), size * powers[p] * powers[q])
                    out[q][p] = out[p][q]
        return out

    def _half(self, form: Rows) -> Expr:
        return ratio(1, 2) * self._form(form, self.eta, self.eta)

    # --- by column ---

    def _by_column(self, form: Rows, by_d: Expr) -> list[Expr]:
        """What rates make of half a form."""
        rates = [sum((entry * eta for entry, eta in zip(row, self.eta, strict=True)), number(0)) for row in form]
        return rates if self.slides is None else [by_d, *rates]

    def _first(self, name: str, row: int) -> list[Expr]:
        """What rates make of int mu ("a") or int mu x ("b") of the displacement of first order."""
        size = Power(ml=1, l=1 if name == "b" else 0)
        rates = [self._of(getattr(self.integrals, name), k, size)[row] for k in range(self.n)]
        if self.slides is None:
            return rates
        assert isinstance(self.integrals, SlidingIntegrals)
        flowing = self._weighted([self._of(getattr(self.integrals, f"{name}_c"), k, size) for k in range(self.n)])
        return [self.flow * flowing[row], *rates]
