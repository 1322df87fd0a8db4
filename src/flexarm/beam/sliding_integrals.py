"""Integrals of a part of a link that slides through a joint, whose free length changes.

The part protrudes from the joint by the length scale * L. Its point at the fraction X / L of that length deflects by
N(X) eta, with the shapes N of the clamped link of full length L, so every integral over it is one over the link times
a power of the scale. Material flows through the shapes: while the scale changes, the material point at X has

    dX/dt = (rate of scale / scale) (L - X),   d(N eta)/dt = N deta + Nc zeta,   zeta = (rate of scale / scale) eta,

with the convected shapes Nc = (L - X) N'. The integrals with Nc are added here to those of the link.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from flexarm.beam.bases import weighted_product
from flexarm.beam.integrals import BENDING_ROTATIONS, DISPLACEMENT_AXES, LinkIntegrals, Parts, drop_rounding
from flexarm.beam.polynomials import Grid
from flexarm.foundation.validation import Array


class SlidingIntegrals(LinkIntegrals):
    """Integrals of a uniform link and of its convected shapes (names end in _c)."""

    @cached_property
    def _convected(self) -> tuple[Parts, Parts]:
        return self._convected_at(self.grid)

    def _convected_at(self, points: Array | Grid) -> tuple[Parts, Parts]:
        """Return Nc and Wc at points; slopes decrease with the scale, so for them Wc = (L - X) W' - W."""
        x = points.x if isinstance(points, Grid) else points
        ahead = (self.length - x)[:, None]
        rates = {name: space(points) for name, space in self._slopes.items()}
        Nc = {
            axis: (self.columns[name], ahead * rates[name]) for name, axis in DISPLACEMENT_AXES.items() if name in rates
        }
        Wc = {0: (self.columns["twist"], ahead * rates["twist"])} if "twist" in rates else {}
        for name, axis, sign in BENDING_ROTATIONS:
            if name in rates:
                curvature = self._slopes[name].derivative()(points)
                Wc[axis] = (self.columns[name], sign * (ahead * curvature - rates[name]))
        return Nc, Wc

    @cached_property
    def a_c(self) -> Array:
        """Integrals int mu Nc, shape (3, n)."""
        _, mass, _ = self._moments
        return drop_rounding(self._sums((mass,) * 3, self._convected[0]))

    @cached_property
    def b_c(self) -> Array:
        """Integrals int mu x Nc, shape (3, n)."""
        x, mass, _ = self._moments
        return drop_rounding(self._sums((mass * x,) * 3, self._convected[0]))

    @cached_property
    def M_c(self) -> dict[str, Array]:
        """Integrals M_c["uv"] = int mu N_u^T Nc_v and so on, every pair in both orders."""
        _, mass, N = self._moments
        Nc = self._convected[0]
        pairs = [(i, j) for i in range(3) for j in range(3)]
        return {"uvw"[i] + "uvw"[j]: self._product(mass, N.get(i), Nc.get(j)) for i, j in pairs}

    @cached_property
    def M_cc(self) -> Array:
        """Sum of int mu Nc^T Nc over all three directions."""
        _, mass, _ = self._moments
        return sum(
            (self._product(mass, part, part) for part in self._convected[0].values()),
            np.zeros((self.count, self.count)),
        )

    def turning(self, row: int) -> tuple[Array, Array, Array, Array, Array]:
        """Return the integrals of rotary inertia about one axis: j, j_c (n,) and those of W^T W, W^T Wc, Wc^T Wc."""
        inertia, W = self._turning
        Wc = self._convected[1]
        mass, plain, flowing = inertia[:, row], W.get(row), Wc.get(row)
        return (
            self._sums(inertia.T, W)[row],
            self._sums(inertia.T, Wc)[row],
            self._product(mass, plain, plain),
            self._product(mass, plain, flowing),
            self._product(mass, flowing, flowing),
        )

    @cached_property
    def convected_damping(self) -> dict[str, tuple[Array, Array, Array]]:
        """Integrals k e^T e, k e^T ec, k ec^T ec by family, for the strain rate e deta + ec zeta and stiffness k."""
        out, grid = {}, self.grid
        for name, family in self.families.items():
            space = self.shapes[name].derivative(family.order)
            stiffness = grid.weights * family.stiffness(grid)[:, 0]
            strain = space(grid)
            flowing = (self.length - grid.x)[:, None] * space.derivative()(grid) - family.order * strain
            out[name] = (
                drop_rounding(weighted_product(stiffness, strain)),
                drop_rounding(weighted_product(stiffness, strain, flowing)),
                drop_rounding(weighted_product(stiffness, flowing)),
            )
        return out
