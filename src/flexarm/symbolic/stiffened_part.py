"""Links whose moments of mass vary as they bend: names for these, of which the mass matrix is then made."""

from __future__ import annotations

from flexarm.symbolic.parts import Part
from flexarm.symbolic.pieces import Piece


class StiffenedPart(Part):
    """First moment (cx, cy), inertia Iz and angular momenta kz get names; A are the derivatives of c."""

    def stiffen(self, piece: Piece) -> None:
        n, name, diff = self.beam.number, self.beam.short.name_with_slopes, self.beam.short.diff
        first = len(piece.columns) - self.n
        x, y = name(f"cx_{n}", piece.c[0]), name(f"cy_{n}", piece.c[1])
        piece.c = (x, y, 0)
        piece.inertia[2][2] = name(f"Iz_{n}", piece.inertia[2][2])
        for p, eta in enumerate(self.shapes.eta):
            sign = self.signs[p]
            piece.A[first + p] = (sign * diff(x, eta), sign * diff(y, eta), 0)
            piece.k[first + p] = (0, 0, name(f"kz_{n}_{p + 1}", piece.k[first + p][2]))
