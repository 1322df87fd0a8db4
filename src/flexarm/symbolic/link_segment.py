"""A link in one piece, or a part of one in front of the joint that grips it or behind, in the zero-order model.

Links whose moments of mass vary as they bend: their moments get names, of which the mass matrix is then made.
"""

from __future__ import annotations

import numpy as np

from flexarm.beam.sliding_integrals import SlidingIntegrals
from flexarm.foundation.validation import Array
from flexarm.robot.flexibility import FAMILIES
from flexarm.symbolic.algebra import ZERO, Expr, Power, Rows, Vector, cross, number, plus, ratio, times
from flexarm.symbolic.beams import Beam, ClosedFormShapes
from flexarm.symbolic.mass_elements import Damped, MassPiece

X: Vector = (1, 0, 0)
ROWS = {"bend_y": 2, "bend_z": 1, "twist": 0}  # the axis about which a family turns the sections


class ClosedFormPart:
    """A link, or a part of one that is `scale` times as long and slides outward (1) or inward (-1) with d.

    The material in such a part flows through its shapes: d(N eta)/dt = N deta + flow (L - X) N' eta dd
    (beam/sliding_integrals.py). An inward part is seen in axes turned half about y.
    """

    def __init__(
        self, beam: Beam, shapes: ClosedFormShapes, scale: Expr, slides: tuple[int, int] | None, damped: Damped
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

    def _of(self, values: Array, k: int, power: Power) -> Vector:
        x, y, z = (self.beam.scales(float(value), power * self.shapes.powers[k]) for value in values[:, k])
        return x, y, z

    def _pairs(self, values: Array, power: Power, unit: Expr = 1, value: float = 1.0) -> Rows:
        scales, powers = self.beam.scales, self.shapes.powers
        return [
            [scales(float(values[p, q]), power * powers[p] * powers[q], unit, value) for q in range(self.n)]
            for p in range(self.n)
        ]

    def _products(self, convected: bool = False) -> dict[str, Rows]:
        """int mu N_r^T N_s (or with the convected shapes on the right) for all r, s of u, v, w."""
        out = {}
        for r in "uvw":
            for s in "uvw":
                if convected:
                    assert isinstance(self.integrals, SlidingIntegrals)
                    values = self.integrals.M_c[r + s]
                else:
                    values = self.integrals.M[r + s] if r <= s else self.integrals.M[s + r].T
                if values.any():
                    out[r + s] = self._pairs(values, Power(ml=1))
        return out

    # --- the piece ---

    def piece(self) -> MassPiece:
        found = self.points()
        found.K, found.D = self._stiffness()
        if self.slides is not None:
            self._slide(found)
        self.stiffen(found)
        self._turn_sections(found)
        self._damp(found)
        return self._in_link_axes(found)

    def points(self) -> MassPiece:
        """The points of its axis, without K and D."""
        integrals, scales, s = self.integrals, self.beam.scales, self.scale
        a = [self._of(integrals.a, k, Power(ml=1)) for k in range(self.n)]
        b = [self._of(integrals.b, k, Power(ml=1, l=1)) for k in range(self.n)]
        P = self._products()
        mass = s * scales(integrals.m, Power(ml=1))
        c = plus((s**2 * scales(integrals.c0, Power(ml=1, l=1)), 0, 0), times(s, self._weighted(a)))
        G = self._second_moments(self._weighted(b), P)
        trace = G[0][0] + G[1][1] + G[2][2]
        inertia = [[(trace if i == j else 0) - G[i][j] for j in range(3)] for i in range(3)]
        A = [times(s, each) for each in a]
        k = [
            plus(times(s**2, cross(X, b[p])), times(s, self._weighted([_swirl(P, q, p) for q in range(self.n)])))
            for p in range(self.n)
        ]
        own = [[s * _trace(P, p, q) for q in range(self.n)] for p in range(self.n)]
        return MassPiece(mass, c, inertia, list(self.shapes.columns), A, k, own)

    def stiffen(self, piece: MassPiece) -> None:
        """Add what other models have of the points, over all columns of the piece; here nothing."""

    def _weighted(self, vectors: list[Vector]) -> Vector:
        return plus(ZERO, *(times(eta, vector) for eta, vector in zip(self.eta, vectors, strict=True)))

    def _form(self, matrix: Rows | None, left: list[Expr], right: list[Expr]) -> Expr:
        if matrix is None:
            return 0
        pairs = ((p, q) for p in range(self.n) for q in range(self.n) if matrix[p][q] != 0)
        return sum((left[p] * matrix[p][q] * right[q] for p, q in pairs), number(0))

    def _second_moments(self, b: Vector, P: dict[str, Rows]) -> Rows:
        """int mu rho rho^T, rho = (s x + u, v, w)."""
        s, eta = self.scale, self.eta
        g0 = self.beam.scales(self.integrals.g0, Power(ml=1, l=2))
        G: Rows = [[s * self._form(P.get(r + t), eta, eta) for t in "uvw"] for r in "uvw"]
        G[0][0] += s**3 * g0 + 2 * s**2 * b[0]
        for row in (1, 2):
            G[0][row] += s**2 * b[row]
            G[row][0] = G[0][row]
        return G

    def _stiffness(self) -> tuple[Rows, Rows]:
        """K, and a D of zeros of the same size; the elastic energy goes with 1/scale^3 (bending) or 1/scale."""
        K: Rows = [[0] * self.n for _ in range(self.n)]
        for name, inside in self.integrals.columns.items():
            order = FAMILIES[name].order
            EI, value = self.beam.rigidity[name]
            whole = self._pairs(self.integrals.K, Power(l=1 - 2 * order), EI, value)
            for p in range(inside.start, inside.stop):
                for q in range(inside.start, inside.stop):
                    K[p][q] = whole[p][q] if self.slides is None else whole[p][q] / self.scale ** (2 * order - 1)
        return K, [[0] * self.n for _ in range(self.n)]

    def _damp(self, piece: MassPiece) -> None:
        """D of the elastic coordinates, and of the flow of material that strains it."""
        columns, first = range(self.n), len(piece.columns) - self.n
        P, turning = self._products(), self._turning
        ratios = None if self.damped.ratios is None else self.integrals.D_ratios  # a rear part has other modes
        for p in columns:
            for q in columns:
                entry = self.damped.stiffness * piece.K[first + p][first + q]
                if self.damped.mass != 0:
                    entry += self.damped.mass * self.scale * (_trace(P, p, q) + turning[p][q])
                if ratios is not None and ratios[p, q]:
                    entry += number(float(ratios[p, q])) * self.scale ** (1 - FAMILIES[self.families[p]].order)
                piece.D[first + p][first + q] += entry

    @property
    def _turning(self) -> Rows:
        """int J W^T W of the turning sections: the part of the elastic mass matrix that is not translation."""
        moving = self.integrals.M
        values = self.integrals.M_elastic - moving["uu"] - moving["vv"] - moving["ww"]
        out: Rows = [[0] * self.n for _ in range(self.n)]
        for name, inside in self.integrals.columns.items():
            about = self.beam.rotary.get(ROWS.get(name, -1))
            if about is not None:
                size = Power(l=1) if name == "twist" else Power(l=-1)
                block = self._pairs(values, size, *about)
                for p in range(inside.start, inside.stop):
                    out[p][inside] = block[p][inside]
        return out

    def _turn_sections(self, piece: MassPiece) -> None:
        """The sections' own inertia: they turn with the frame, with slopes (1/scale as large) and with twist."""
        first, turning = len(piece.columns) - self.n, self._turning
        for row, (inertia, value) in self.beam.rotary.items():
            density = float(self.integrals.section_inertia[row])
            piece.inertia[row][row] += self.scale * self.beam.scales(density, Power(l=1), inertia, value)
            size = Power(l=1) if row == 0 else Power()
            for p, name in enumerate(self.families):
                if ROWS.get(name) == row:
                    power = size * self.shapes.powers[p]
                    spin = self.beam.scales(float(self.integrals.j[row, p]), power, inertia, value)
                    piece.k[first + p] = plus(piece.k[first + p], _about(row, self.scale * spin if row == 0 else spin))
        for p, name in enumerate(self.families):
            lean = self.scale if name == "twist" else 1 / self.scale
            for q in range(self.n):
                if turning[p][q] != 0:
                    piece.M[first + p][first + q] += lean * turning[p][q]
        if self.slides is not None and self.n:
            for row, about in self.beam.rotary.items():
                self._flow_of_turns(piece, row, *about)

    def _flow_of_turns(self, piece: MassPiece, row: int, inertia: Expr, value: float) -> None:
        """Sections turn about an axis while material flows to places of another slope, or twist."""
        assert isinstance(self.integrals, SlidingIntegrals)
        _, j_c, _, mixed, flowing = self.integrals.turning(row)
        powers, f = self.shapes.powers, self.flow
        slope = 0 if row == 0 else -1  # angles are twists, or deflections per length, which go with 1/scale
        size = Power(l=1 + slope)
        spins = (self.beam.scales(float(j_c[p]), size * powers[p], inertia, value) * self.eta[p] for p in range(self.n))
        piece.k[0] = plus(piece.k[0], _about(row, f * self.scale ** (1 + slope) * sum(spins, number(0))))
        square, scale = Power(l=1 + 2 * slope), self.scale ** (1 + 2 * slope)
        rows = self._pairs(mixed, square, inertia, value)
        for p in range(self.n):
            entry = f * scale * sum((rows[p][q] * self.eta[q] for q in range(self.n)), number(0))
            piece.M[0][1 + p] += entry
            piece.M[1 + p][0] += entry
        squares = self._pairs(flowing, square, inertia, value)
        piece.M[0][0] += f**2 * scale * self._form(squares, self.eta, self.eta)

    def _slide(self, piece: MassPiece) -> None:
        """Put in front the coordinate d, whose field is outward e_x + flow Nc eta."""
        assert isinstance(self.integrals, SlidingIntegrals)
        assert self.slides is not None
        integrals, s, f, sign = self.integrals, self.scale, self.flow, self.outward
        along: Vector = (sign, 0, 0)
        a_c = self._weighted([self._of(integrals.a_c, k, Power(ml=1)) for k in range(self.n)])
        b_c = self._weighted([self._of(integrals.b_c, k, Power(ml=1, l=1)) for k in range(self.n)])
        Pc = self._products(convected=True)
        swirl = plus(
            ZERO,
            *(times(self.eta[q], self._weighted([_swirl(Pc, p, q) for p in range(self.n)])) for q in range(self.n)),
        )
        A = plus(times(piece.mass, along), times(s * f, a_c))
        k = plus(cross(piece.c, along), times(f * s**2, cross(X, b_c)), times(f * s, swirl))
        M_cc = self._pairs(integrals.M_cc, Power(ml=1))
        flowing = self._form(M_cc, self.eta, self.eta)
        both = piece.mass + 2 * sign * f * s * a_c[0] + f**2 * s * flowing
        mixed = [
            sign * piece.A[p][0] + f * s * sum((_trace(Pc, p, q) * self.eta[q] for q in range(self.n)), number(0))
            for p in range(self.n)
        ]
        _put_first(piece, self.slides[0], A, k, both, mixed)
        self._strain_rates(piece)

    def _strain_rates(self, piece: MassPiece) -> None:
        """What d does to the elastic energy and to the rate of strain."""
        assert isinstance(self.integrals, SlidingIntegrals)
        D = self.damped.stiffness
        for name, inside in self.integrals.columns.items():
            power = 2 * FAMILIES[name].order - 1
            _, mixed, flowing = (
                self._pairs(_embedded(each, inside, self.n), Power(l=-power), *self.beam.rigidity[name])
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

    def _in_link_axes(self, piece: MassPiece) -> MassPiece:
        """Back from turned axes: vectors along x and z change their sign, and so do some deflections."""
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


def _put_first(piece: MassPiece, column: int, A: Vector, k: Vector, own: Expr, mixed: list[Expr]) -> None:
    piece.columns.insert(0, column)
    piece.A.insert(0, A)
    piece.k.insert(0, k)
    piece.M = [[own, *mixed], *([entry, *row] for entry, row in zip(mixed, piece.M, strict=True))]
    for rows in (piece.K, piece.D):
        width = len(rows) + 1
        rows[:] = [[0] * width, *([0, *row] for row in rows)]


def _about(row: int, value: Expr) -> Vector:
    x, y, z = (value if row == axis else 0 for axis in range(3))
    return x, y, z


def _swirl(P: dict[str, Rows], p: int, q: int) -> Vector:
    """int mu N_p x N_q."""

    def entry(name: str) -> Expr:
        return P[name][p][q] if name in P else 0

    return entry("vw") - entry("wv"), entry("wu") - entry("uw"), entry("uv") - entry("vu")


def _trace(P: dict[str, Rows], p: int, q: int) -> Expr:
    """int mu N_p . N_q."""
    return sum((P[name][p][q] for name in ("uu", "vv", "ww") if name in P), 0)


def _embedded(block: Array, inside: slice, n: int) -> Array:
    out = np.zeros((n, n))
    out[inside, inside] = block
    return out


class StiffenedPart(ClosedFormPart):
    """First moments, inertias and angular momenta get names: cx, Ix, Iyz, kz. A is the derivative of c."""

    def stiffen(self, piece: MassPiece) -> None:
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
