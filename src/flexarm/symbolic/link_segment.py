"""Mass, stiffness and damping of a link that is treated as one piece, or of a part of a sliding link.

A link that slides through its joint has a part in front of the joint and a part behind it. `ClosedFormPart` is the
zero-order model; `StiffenedPart` is the base of models whose moments of mass vary with the deflection.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from flexarm.beam.sliding_integrals import SlidingIntegrals
from flexarm.foundation.validation import Array
from flexarm.robot.flexibility import FAMILIES
from flexarm.symbolic.algebra import LENGTH, MASS, Expr, ExprArray, X, number, numbers, quadratic_form, vector, zeros
from flexarm.symbolic.beams import Beam, ClosedFormShapes
from flexarm.symbolic.mass_matrix import ClosedFormDamping, MassPiece, trace_inertia

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
        reversed_signs = np.array([FAMILIES[name].reversed_sign for name in self.families], dtype=object)
        self.signs = reversed_signs if self.outward == -1 else reversed_signs**2
        self.eta = self.signs * shapes.eta
        self.flow = 0 if slides is None else self.outward / (scale * beam.l)
        self.n = len(self.eta)

    # --- integrals in symbols ---

    def vectors(self, values: Array, exponents: Array) -> ExprArray:
        """Return integrals of the shape functions in symbols; the last axis is that of the coordinates."""
        return self.beam.scales(values, exponents + self.shapes.exponents)  # type: ignore[no-any-return]

    def pairs(self, values: Array, exponents: Array, unit: Expr = 1, value: float = 1.0) -> ExprArray:
        """Return integrals of products of two shape functions (n, n) in symbols."""
        each = self.shapes.exponents
        return self.beam.scales(values, exponents + each[:, None] + each, unit, value)  # type: ignore[no-any-return]

    def products(self, convected: bool = False) -> ExprArray:
        """Return int mu N_r^T N_s, shape (3, 3, n, n); the shapes on the right are convected if `convected`."""
        out = np.zeros((3, 3, self.n, self.n), dtype=object)
        for r, s in np.ndindex(3, 3):
            if convected:
                values = self.sliding.M_c["uvw"[r] + "uvw"[s]]
            else:
                values = self.integrals.M["uvw"[min(r, s)] + "uvw"[max(r, s)]]
            if values.any():
                out[r, s] = self.pairs(values if r <= s or convected else values.T, MASS)
        return out

    @property
    def sliding(self) -> SlidingIntegrals:
        assert isinstance(self.integrals, SlidingIntegrals)
        return self.integrals

    def family_blocks(self) -> Iterator[tuple[str, tuple[slice, slice]]]:
        """Yield the families with the block of their coordinates in a matrix (n, n)."""
        for name, inside in self.integrals.columns.items():
            yield name, (inside, inside)

    # --- the piece ---

    def piece(self) -> MassPiece:
        """Return the complete piece in the axes of the link."""
        found = self.points()
        found.K, found.D = self._stiffness(), zeros(self.n, self.n)
        if self.slides is not None:
            self._add_sliding(found, self.slides[0])
        self.stiffen(found)
        self._add_rotary_inertia(found)
        self._add_damping(found)
        return found if self.outward == 1 else self._to_link_axes(found)

    def points(self) -> MassPiece:
        """Return the piece of a line of mass, without K, D and rotary inertia."""
        integrals, scales, s, eta = self.integrals, self.beam.scales, self.scale, self.eta
        a, b = self.vectors(integrals.a, MASS), self.vectors(integrals.b, MASS + LENGTH)
        P = self.products()
        G = s * quadratic_form(P, eta)  # int mu rho rho^T with rho = (s x + u, v, w)
        G[0, 0] += s**3 * scales(integrals.g0, MASS + 2 * LENGTH)
        G[0] += s**2 * (b @ eta)
        G[:, 0] += s**2 * (b @ eta)
        return MassPiece(
            s * scales(integrals.m, MASS),
            s**2 * scales(integrals.c0, MASS + LENGTH) * X + s * (a @ eta),
            trace_inertia(G),
            list(self.shapes.columns),
            s * a.T,
            s**2 * np.cross(X, b.T) + s * (eta @ cross_products(P)).T,
            s * np.trace(P),
        )

    def stiffen(self, piece: MassPiece) -> None:
        """Add the terms of higher order to a piece; none in the zero-order model."""

    def _stiffness(self) -> ExprArray:
        """Return K; the elastic energy varies with 1/scale^3 (bending) or 1/scale."""
        K = zeros(self.n, self.n)
        for name, block in self.family_blocks():
            order = FAMILIES[name].order
            whole = self.pairs(self.integrals.K, (1 - 2 * order) * LENGTH, *self.beam.rigidity[name])
            K[block] = whole[block] / self.scale ** (2 * order - 1)
        return K

    def _add_damping(self, piece: MassPiece) -> None:
        """Add the damping of the elastic coordinates to D."""
        own = (slice(len(piece.columns) - self.n, None),) * 2
        piece.D[own] += self.damped.stiffness * piece.K[own]
        if self.damped.mass != 0:
            piece.D[own] += self.damped.mass * self.scale * (np.trace(self.products()) + self._rotary_mass)
        if self.damped.ratios is not None:  # a rear part has other modes
            orders = np.array([FAMILIES[name].order for name in self.families], dtype=object)
            piece.D[own] += (numbers(self.integrals.D_ratios).T * self.scale ** (1 - orders)).T

    @property
    def _rotary_mass(self) -> ExprArray:
        """int J W^T W, the part of the elastic mass matrix that is due to rotary inertia."""
        values = self.integrals.M_elastic - sum(self.integrals.M[name] for name in ("uu", "vv", "ww"))
        out = zeros(self.n, self.n)
        for name, block in self.family_blocks():
            if (about := self.beam.rotary.get(SECTION_ROTATION_AXIS.get(name, -1))) is not None:
                out[block] = self.pairs(values, LENGTH if name == "twist" else -LENGTH, *about)[block]
        return out

    def _add_rotary_inertia(self, piece: MassPiece) -> None:
        """Add the rotary inertia of sections, which rotate with the frame, slopes (times 1/scale) and twist."""
        first = len(piece.columns) - self.n
        for row, about in self.beam.rotary.items():
            piece.inertia[row, row] += self.scale * self.beam.scales(
                self.integrals.section_inertia[row], LENGTH, *about
            )
            twists = [SECTION_ROTATION_AXIS.get(name) == row for name in self.families]
            spins = self.beam.scales(
                np.where(twists, self.integrals.j[row], 0), self.shapes.exponents + (row == 0) * LENGTH, *about
            )
            piece.k[first:, row] += self.scale * spins if row == 0 else spins
            if self.slides is not None and self.n:
                self._add_rotary_flow(piece, row, *about)
        factors = vector(*(self.scale if name == "twist" else 1 / self.scale for name in self.families))
        piece.M[first:, first:] += (self._rotary_mass.T * factors).T

    def _add_rotary_flow(self, piece: MassPiece, row: int, inertia: Expr, value: float) -> None:
        """Add the rotary inertia due to the flow of material to points of another slope or twist."""
        _, j_c, _, mixed, flowing = self.sliding.turning(row)
        f, eta = self.flow, self.eta
        slope = 0 if row == 0 else -1  # angles are twists, or deflections per length, which go with 1/scale
        spins = self.beam.scales(j_c, self.shapes.exponents + (1 + slope) * LENGTH, inertia, value)
        piece.k[0, row] += f * self.scale ** (1 + slope) * (spins @ eta)
        square, scale = (1 + 2 * slope) * LENGTH, self.scale ** (1 + 2 * slope)
        entries = f * scale * (self.pairs(mixed, square, inertia, value) @ eta)
        piece.M[0, 1:] += entries
        piece.M[1:, 0] += entries
        piece.M[0, 0] += f**2 * scale * quadratic_form(self.pairs(flowing, square, inertia, value), eta)

    def _add_sliding(self, piece: MassPiece, column: int) -> None:
        """Insert the joint coordinate d as the first column, whose displacement field is outward e_x + flow Nc eta."""
        s, f, sign, eta, integrals = self.scale, self.flow, self.outward, self.eta, self.sliding
        a_c = self.vectors(integrals.a_c, MASS) @ eta
        b_c = self.vectors(integrals.b_c, MASS + LENGTH) @ eta
        Pc = self.products(convected=True)
        flowing = quadratic_form(self.pairs(integrals.M_cc, MASS), eta)
        both = piece.mass + 2 * sign * f * s * a_c[0] + f**2 * s * flowing
        mixed = sign * piece.A[:, 0] + f * s * (np.trace(Pc) @ eta)
        k = np.cross(piece.c, sign * X) + f * s**2 * np.cross(X, b_c) + f * s * (eta @ cross_products(Pc) @ eta)
        piece.columns.insert(0, column)
        piece.A = np.vstack([piece.mass * sign * X + s * f * a_c, piece.A])
        piece.k = np.vstack([k, piece.k])
        piece.M = np.block([[vector(vector(both)), mixed[None]], [mixed[:, None], piece.M]])
        for name in ("K", "D"):
            wider = zeros(self.n + 1, self.n + 1)
            wider[1:, 1:] = getattr(piece, name)
            setattr(piece, name, wider)
        self._add_strain_rates(piece)

    def _add_strain_rates(self, piece: MassPiece) -> None:
        """Add the terms of K and D due to the coordinate d, by elastic energy and strain rate."""
        D, eta = self.damped.stiffness, self.eta
        for name, (inside, _) in self.family_blocks():
            power, own = 2 * FAMILIES[name].order - 1, slice(1 + inside.start, 1 + inside.stop)
            piece.K[0, own] -= number(power) / 2 * (piece.K[own, own] @ eta[inside]) * self.flow
            if D != 0:
                exponents, rigidity = self.shapes.exponents[inside], self.beam.rigidity[name]
                exponents = exponents[:, None] + exponents - power * LENGTH
                _, *convected = self.sliding.convected_damping[name]
                mixed, flowing = (self.beam.scales(each, exponents, *rigidity) for each in convected)
                piece.D[0, own] = piece.D[own, 0] = D * self.flow * (mixed @ eta[inside]) / self.scale**power
                piece.D[0, 0] += D * self.flow**2 * quadratic_form(flowing, eta[inside]) / self.scale**power

    def _to_link_axes(self, piece: MassPiece) -> MassPiece:
        """Transform the piece of an inward part to the axes of the link; components along x and z change sign."""
        signs, axes = np.append(1, self.signs), vector(-1, 1, -1)
        both = np.outer(signs, signs)
        return replace(
            piece,
            c=axes * piece.c,
            inertia=np.outer(axes, axes) * piece.inertia,
            A=np.outer(signs, axes) * piece.A,
            k=np.outer(signs, axes) * piece.k,
            M=both * piece.M,
            K=both * piece.K,
            D=both * piece.D,
        )


def cross_products(P: ExprArray) -> ExprArray:
    """Return int mu N_p x N_q, shape (3, n, n), from the products (3, 3, n, n) of components."""
    return np.stack([P[1, 2] - P[2, 1], P[2, 0] - P[0, 2], P[0, 1] - P[1, 0]])


class StiffenedPart(ClosedFormPart):
    """Part whose moments of mass vary with the deflection.

    First moments, inertias and angular momenta get abbreviations: cx, Ix, Iyz, kz. A is the derivative of c.
    """

    def stiffen(self, piece: MassPiece) -> None:
        n, name = self.beam.number, self.beam.short.name_with_derivatives
        first = len(piece.columns) - self.n
        piece.c = vector(*(name(f"c{axis}_{n}", entry) for axis, entry in zip("xyz", piece.c, strict=True)))
        for p, q in [(2, 2)] if self.beam.planar else np.ndindex(3, 3):  # a planar robot turns about z only
            if p <= q:
                label = f"I{'xyz'[p]}{'' if p == q else 'xyz'[q]}_{n}"
                piece.inertia[p, q] = piece.inertia[q, p] = name(label, piece.inertia[p, q])
        for p, (sign, eta) in enumerate(zip(self.signs, self.shapes.eta, strict=True)):
            piece.A[first + p] = sign * self.beam.short.diff(piece.c, eta)
            for row, axis in enumerate("xyz"):
                piece.k[first + p, row] = name(f"k{axis}_{n}_{p + 1}", piece.k[first + p, row])
