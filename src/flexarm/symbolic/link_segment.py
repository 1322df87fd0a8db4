"""Mass, stiffness and damping of a link that is treated as one piece, or of a part of a sliding link.

A link that slides through its joint has a part in front of the joint and a part behind it. `ClosedFormPart` is the
zero-order model; `StiffenedPart` is the base of models whose moments of mass vary with the deflection.
"""

from __future__ import annotations

import numpy as np

from flexarm.beam.sliding_integrals import SlidingIntegrals
from flexarm.foundation.validation import Array
from flexarm.robot.flexibility import FAMILIES
from flexarm.symbolic.algebra import ZERO, Exponents, Expr, Rows, Vector, cross, number, plus, ratio, times
from flexarm.symbolic.beams import Beam, ClosedFormShapes
from flexarm.symbolic.mass_elements import ClosedFormDamping, MassPiece

X: Vector = (1, 0, 0)
SECTION_ROTATION_AXIS = {"bend_y": 2, "bend_z": 1, "twist": 0}  # of each family of shape functions


class ClosedFormPart:
    """Link in one piece, or part of a sliding link with `scale` times its length.

    `slides` is the coordinate d of the joint and the direction of the part, outward (1) or inward (-1). Material flows
    through the shape functions of such a part: d(N eta)/dt = N deta + flow (L - X) N' eta dd
    (beam/sliding_integrals.py). Inward parts are computed in axes rotated by 180 degrees about y.
    """

    def __init__(
        self,
        beam: Beam,
        shapes: ClosedFormShapes,
        scale: Expr,
        slides: tuple[int, int] | None,
        damped: ClosedFormDamping,
    ) -> None:
        self.beam, self.integrals, self.scale, self.damped = beam, shapes.integrals, scale, damped
        self.slides, self.shapes = slides, shapes
        self.outward = 1 if slides is None else slides[1]
        self.families = [name for name, space in self.integrals.shapes.items() for _ in range(space.count)]
        self.signs = [1 if self.outward == 1 else FAMILIES[name].reversed_sign for name in self.families]
        self.eta = [sign * eta for sign, eta in zip(self.signs, shapes.eta, strict=True)]
        self.flow = 0 if slides is None else self.outward / (scale * beam.l)
        self.n = len(self.eta)

    # --- integrals in symbols ---

    def _moment_vector(self, values: Array, k: int, power: Exponents) -> Vector:
        x, y, z = (self.beam.scales(float(value), power * self.shapes.powers[k]) for value in values[:, k])
        return x, y, z

    def _pairs(self, values: Array, power: Exponents, unit: Expr = 1, value: float = 1.0) -> Rows:
        scales, powers = self.beam.scales, self.shapes.powers
        return [
            [scales(float(values[p, q]), power * powers[p] * powers[q], unit, value) for q in range(self.n)]
            for p in range(self.n)
        ]

    def _products(self, convected: bool = False) -> dict[str, Rows]:
        """Return int mu N_r^T N_s for r, s in u, v, w, with the convected shapes on the right if `convected`."""
        out = {}
        for r in "uvw":
            for s in "uvw":
                if convected:
                    assert isinstance(self.integrals, SlidingIntegrals)
                    values = self.integrals.M_c[r + s]
                else:
                    values = self.integrals.M[r + s] if r <= s else self.integrals.M[s + r].T
                if values.any():
                    out[r + s] = self._pairs(values, Exponents(ml=1))
        return out

    # --- the piece ---

    def piece(self) -> MassPiece:
        """Return the complete piece in the axes of the link."""
        found = self.points()
        found.K, found.D = self._stiffness()
        if self.slides is not None:
            self._add_sliding(found)
        self.stiffen(found)
        self._add_rotary_inertia(found)
        self._add_damping(found)
        return self._to_link_axes(found)

    def points(self) -> MassPiece:
        """Return the piece of a line of mass, without K, D and rotary inertia."""
        integrals, scales, s = self.integrals, self.beam.scales, self.scale
        a = [self._moment_vector(integrals.a, k, Exponents(ml=1)) for k in range(self.n)]
        b = [self._moment_vector(integrals.b, k, Exponents(ml=1, l=1)) for k in range(self.n)]
        P = self._products()
        mass = s * scales(integrals.m, Exponents(ml=1))
        c = plus((s**2 * scales(integrals.c0, Exponents(ml=1, l=1)), 0, 0), times(s, self._weighted_sum(a)))
        G = self._second_moments(self._weighted_sum(b), P)
        trace = G[0][0] + G[1][1] + G[2][2]
        inertia = [[(trace if i == j else 0) - G[i][j] for j in range(3)] for i in range(3)]
        A = [times(s, each) for each in a]
        k = [
            plus(
                times(s**2, cross(X, b[p])),
                times(s, self._weighted_sum([_cross_products(P, q, p) for q in range(self.n)])),
            )
            for p in range(self.n)
        ]
        own = [[s * _dot_products(P, p, q) for q in range(self.n)] for p in range(self.n)]
        return MassPiece(mass, c, inertia, list(self.shapes.columns), A, k, own)

    def stiffen(self, piece: MassPiece) -> None:
        """Add the terms of higher order to a piece; none in the zero-order model."""

    def _weighted_sum(self, vectors: list[Vector]) -> Vector:
        return plus(ZERO, *(times(eta, vector) for eta, vector in zip(self.eta, vectors, strict=True)))

    def _form(self, matrix: Rows | None, left: list[Expr], right: list[Expr]) -> Expr:
        if matrix is None:
            return 0
        pairs = ((p, q) for p in range(self.n) for q in range(self.n) if matrix[p][q] != 0)
        return sum((left[p] * matrix[p][q] * right[q] for p, q in pairs), number(0))

    def _second_moments(self, b: Vector, P: dict[str, Rows]) -> Rows:
        """Return int mu rho rho^T, with rho = (s x + u, v, w)."""
        s, eta = self.scale, self.eta
        g0 = self.beam.scales(self.integrals.g0, Exponents(ml=1, l=2))
        G: Rows = [[s * self._form(P.get(r + t), eta, eta) for t in "uvw"] for r in "uvw"]
        G[0][0] += s**3 * g0 + 2 * s**2 * b[0]
        for row in (1, 2):
            G[0][row] += s**2 * b[row]
            G[row][0] = G[0][row]
        return G

    def _stiffness(self) -> tuple[Rows, Rows]:
        """Return K and a zero D of the same size; the elastic energy varies with 1/scale^3 (bending) or 1/scale."""
        K: Rows = [[0] * self.n for _ in range(self.n)]
        for name, inside in self.integrals.columns.items():
            order = FAMILIES[name].order
            EI, value = self.beam.rigidity[name]
            whole = self._pairs(self.integrals.K, Exponents(l=1 - 2 * order), EI, value)
            for p in range(inside.start, inside.stop):
                for q in range(inside.start, inside.stop):
                    K[p][q] = whole[p][q] if self.slides is None else whole[p][q] / self.scale ** (2 * order - 1)
        return K, [[0] * self.n for _ in range(self.n)]

    def _add_damping(self, piece: MassPiece) -> None:
        """Add the damping of the elastic coordinates to D."""
        columns, first = range(self.n), len(piece.columns) - self.n
        P, turning = self._products(), self._rotary_mass
        ratios = None if self.damped.ratios is None else self.integrals.D_ratios  # a rear part has other modes
        for p in columns:
            for q in columns:
                entry = self.damped.stiffness * piece.K[first + p][first + q]
                if self.damped.mass != 0:
                    entry += self.damped.mass * self.scale * (_dot_products(P, p, q) + turning[p][q])
                if ratios is not None and ratios[p, q]:
                    entry += number(float(ratios[p, q])) * self.scale ** (1 - FAMILIES[self.families[p]].order)
                piece.D[first + p][first + q] += entry

    @property
    def _rotary_mass(self) -> Rows:
        """int J W^T W, the part of the elastic mass matrix that is due to rotary inertia."""
        moving = self.integrals.M
        values = self.integrals.M_elastic - moving["uu"] - moving["vv"] - moving["ww"]
        out: Rows = [[0] * self.n for _ in range(self.n)]
        for name, inside in self.integrals.columns.items():
            about = self.beam.rotary.get(SECTION_ROTATION_AXIS.get(name, -1))
            if about is not None:
                size = Exponents(l=1) if name == "twist" else Exponents(l=-1)
                block = self._pairs(values, size, *about)
                for p in range(inside.start, inside.stop):
                    out[p][inside] = block[p][inside]
        return out

    def _add_rotary_inertia(self, piece: MassPiece) -> None:
        """Add the rotary inertia of sections, which rotate with the frame, slopes (times 1/scale) and twist."""
        first, turning = len(piece.columns) - self.n, self._rotary_mass
        for row, (inertia, value) in self.beam.rotary.items():
            density = float(self.integrals.section_inertia[row])
            piece.inertia[row][row] += self.scale * self.beam.scales(density, Exponents(l=1), inertia, value)
            size = Exponents(l=1) if row == 0 else Exponents()
            for p, name in enumerate(self.families):
                if SECTION_ROTATION_AXIS.get(name) == row:
                    power = size * self.shapes.powers[p]
                    spin = self.beam.scales(float(self.integrals.j[row, p]), power, inertia, value)
                    piece.k[first + p] = plus(
                        piece.k[first + p], _axis_vector(row, self.scale * spin if row == 0 else spin)
                    )
        for p, name in enumerate(self.families):
            factor = self.scale if name == "twist" else 1 / self.scale
            for q in range(self.n):
                if turning[p][q] != 0:
                    piece.M[first + p][first + q] += factor * turning[p][q]
        if self.slides is not None and self.n:
            for row, about in self.beam.rotary.items():
                self._add_rotary_flow(piece, row, *about)

    def _add_rotary_flow(self, piece: MassPiece, row: int, inertia: Expr, value: float) -> None:
        """Add the rotary inertia due to the flow of material to points of another slope or twist."""
        assert isinstance(self.integrals, SlidingIntegrals)
        _, j_c, _, mixed, flowing = self.integrals.turning(row)
        powers, f = self.shapes.powers, self.flow
        slope = 0 if row == 0 else -1  # angles are twists, or deflections per length, which go with 1/scale
        size = Exponents(l=1 + slope)
        spins = (self.beam.scales(float(j_c[p]), size * powers[p], inertia, value) * self.eta[p] for p in range(self.n))
        piece.k[0] = plus(piece.k[0], _axis_vector(row, f * self.scale ** (1 + slope) * sum(spins, number(0))))
        square, scale = Exponents(l=1 + 2 * slope), self.scale ** (1 + 2 * slope)
        rows = self._pairs(mixed, square, inertia, value)
        for p in range(self.n):
            entry = f * scale * sum((rows[p][q] * self.eta[q] for q in range(self.n)), number(0))
            piece.M[0][1 + p] += entry
            piece.M[1 + p][0] += entry
        squares = self._pairs(flowing, square, inertia, value)
        piece.M[0][0] += f**2 * scale * self._form(squares, self.eta, self.eta)

    def _add_sliding(self, piece: MassPiece) -> None:
        """Insert the joint coordinate d as the first column, whose displacement field is outward e_x + flow Nc eta."""
        assert isinstance(self.integrals, SlidingIntegrals)
        assert self.slides is not None
        integrals, s, f, sign = self.integrals, self.scale, self.flow, self.outward
        along: Vector = (sign, 0, 0)
        a_c = self._weighted_sum([self._moment_vector(integrals.a_c, k, Exponents(ml=1)) for k in range(self.n)])
        b_c = self._weighted_sum([self._moment_vector(integrals.b_c, k, Exponents(ml=1, l=1)) for k in range(self.n)])
        Pc = self._products(convected=True)
        swirl = plus(
            ZERO,
            *(
                times(self.eta[q], self._weighted_sum([_cross_products(Pc, p, q) for p in range(self.n)]))
                for q in range(self.n)
            ),
        )
        A = plus(times(piece.mass, along), times(s * f, a_c))
        k = plus(cross(piece.c, along), times(f * s**2, cross(X, b_c)), times(f * s, swirl))
        M_cc = self._pairs(integrals.M_cc, Exponents(ml=1))
        flowing = self._form(M_cc, self.eta, self.eta)
        both = piece.mass + 2 * sign * f * s * a_c[0] + f**2 * s * flowing
        mixed = [
            sign * piece.A[p][0]
            + f * s * sum((_dot_products(Pc, p, q) * self.eta[q] for q in range(self.n)), number(0))
            for p in range(self.n)
        ]
        _insert_first(piece, self.slides[0], A, k, both, mixed)
        self._add_strain_rates(piece)

    def _add_strain_rates(self, piece: MassPiece) -> None:
        """Add the terms of K and D due to the coordinate d, by elastic energy and strain rate."""
        assert isinstance(self.integrals, SlidingIntegrals)
        D = self.damped.stiffness
        for name, inside in self.integrals.columns.items():
            power = 2 * FAMILIES[name].order - 1
            _, mixed, flowing = (
                self._pairs(_embed(each, inside, self.n), Exponents(l=-power), *self.beam.rigidity[name])
                for each in self.integrals.convected_damping[name]
            )
            for p in range(inside.start, inside.stop):
                force = sum((piece.K[1 + p][1 + q] * self.eta[q] for q in range(self.n)), number(0))
                piece.K[0][1 + p] += -ratio(power, 2) * force * self.flow
                if D != 0:
                    row = sum((mixed[p][q] * self.eta[q] for q in range(self.n)), number(0))
                    piece.D[0][1 + p] += D * self.flow * row / self.scale**power
                    piece.D[1 + p][0] = piece.D[0][1 + p]
            if D != 0:
                piece.D[0][0] += D * self.flow**2 * self._form(flowing, self.eta, self.eta) / self.scale**power

    def _to_link_axes(self, piece: MassPiece) -> MassPiece:
        """Transform the piece of an inward part to the axes of the link; components along x and z change sign."""
        if self.outward == 1:
            return piece
        signs = [1, *self.signs]

        def turned(vector: Vector) -> Vector:
            return -vector[0], vector[1], -vector[2]

        def both(rows: Rows, by: list[int]) -> Rows:
            return [[by[p] * by[q] * entry for q, entry in enumerate(row)] for p, row in enumerate(rows)]

        return MassPiece(
            piece.mass,
            turned(piece.c),
            both(piece.inertia, [-1, 1, -1]),
            piece.columns,
            [times(sign, turned(each)) for sign, each in zip(signs, piece.A, strict=True)],
            [times(sign, turned(each)) for sign, each in zip(signs, piece.k, strict=True)],
            *(both(each, signs) for each in (piece.M, piece.K, piece.D)),
        )


def _insert_first(piece: MassPiece, column: int, A: Vector, k: Vector, own: Expr, mixed: list[Expr]) -> None:
    piece.columns.insert(0, column)
    piece.A.insert(0, A)
    piece.k.insert(0, k)
    piece.M = [[own, *mixed], *([entry, *row] for entry, row in zip(mixed, piece.M, strict=True))]
    for rows in (piece.K, piece.D):
        width = len(rows) + 1
        rows[:] = [[0] * width, *([0, *row] for row in rows)]


def _axis_vector(row: int, value: Expr) -> Vector:
    x, y, z = (value if row == axis else 0 for axis in range(3))
    return x, y, z


def _cross_products(P: dict[str, Rows], p: int, q: int) -> Vector:
    """Return int mu N_p x N_q."""

    def entry(name: str) -> Expr:
        return P[name][p][q] if name in P else 0

    return entry("vw") - entry("wv"), entry("wu") - entry("uw"), entry("uv") - entry("vu")


def _dot_products(P: dict[str, Rows], p: int, q: int) -> Expr:
    """Return int mu N_p . N_q."""
    return sum((P[name][p][q] for name in ("uu", "vv", "ww") if name in P), 0)


def _embed(block: Array, inside: slice, n: int) -> Array:
    out = np.zeros((n, n))
    out[inside, inside] = block
    return out


class StiffenedPart(ClosedFormPart):
    """Part whose moments of mass vary with the deflection.

    First moments, inertias and angular momenta get abbreviations: cx, Ix, Iyz, kz. A is the derivative of c.
    """

    def stiffen(self, piece: MassPiece) -> None:
        n, name, diff = self.beam.number, self.beam.short.name_with_derivatives, self.beam.short.diff
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
