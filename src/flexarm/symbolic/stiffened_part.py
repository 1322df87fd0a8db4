"""Links whose moments of mass vary as they bend: their moments get names, of which the mass matrix is then made."""

from __future__ import annotations

from flexarm.symbolic.parts import Part
from flexarm.symbolic.pieces import Piece


class StiffenedPart(Part):
    """First moments, inertias and angular momenta get names: cx, Ix, Iyz, kz. A is the derivative of c."""

    def stiffen(self, piece: Piece) -> None:
        n, name, diff = self.beam.number, self.beam.short.name_with_slopes, self.beam.short.diff
        first = len(piece.columns) - self.n
        x, y, z = (name(f"c{axis}_{n}", entry) for axis, entry in zip("xyz", piece.c, strict=True))
        piece.c = (x, y, z)
        for p in range(3):
            for q in range(p, 3):
                if self.beam.planar and (p, q) != (2, 2):
                    continue  # a planar robot turns about z only
                label = f"I{'xyz'[p]}_{n}" if p == q else f"I{'xyz'[p]}{'xyz'[q]}_{n}"
                piece.inertia[p][q] = piece.inertia[q][p] = name(label, piece.inertia[p][q])
        for p, eta in enumerate(self.shapes.eta):
            sign = self.signs[p]
            piece.A[first + p] = (sign * diff(x, eta), sign * diff(y, eta), sign * diff(z, eta))
            entries = zip("xyz", piece.k[first + p], strict=True)
            kx, ky, kz = (name(f"k{axis}_{n}_{p + 1}", entry) for axis, entry in entries)
            piece.k[first + p] = (kx, ky, kz)
