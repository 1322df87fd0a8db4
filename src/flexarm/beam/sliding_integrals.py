"""Integrals of a part of a link that slides through a joint: its free length changes, its shapes stretch with it.

The part sticks out of the joint by the length scale * L. Its point at the fraction X / L of that length deflects by
N(X) eta, with the shapes N of the clamped link of full length L, so every integral over it is one over the link times
a power of the scale. Material flows through the shapes: while the scale changes, the material point at X has

    dX/dt = (rate of scale / scale) (L - X),   d(N eta)/dt = N deta + Nc zeta,   zeta = (rate of scale / scale) eta,

with the convected shapes Nc = (L - X) N'. What is added here to the link's own integrals are those with Nc.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from flexarm.beam.bases import weighted_product
from flexarm.beam.integrals import BENDING_ROTATIONS, DISPLACEMENT_AXES, LinkIntegrals, Parts, drop_rounding
from flexarm.beam.polynomials import Grid
from flexarm.foundation.validation import Array


class SlidingIntegrals(LinkIntegrals):
    """The integrals of a uniform link, and those of its convected shapes (names end in _c)."""

    @cached_property
    def _convected(self) -> tuple[Parts, Parts]:
        return self._convected_at(self.grid)

    def _convected_at(self, points: Array | Grid) -> tuple[Parts, Parts]:
        """Nc and Wc at some points; slopes also shrink with the scale, so Wc = (L - X) W' - W for them."""
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
        """(3, n): int mu Nc."""
        _, mass, _ = self._moments
        return drop_rounding(self._sums((mass,) * 3, self._convected[0]))

    @cached_property
    def b_c(self) -> Array:
        """(3, n): int mu x Nc."""
        x, mass, _ = self._moments
        return drop_rounding(self._sums((mass * x,) * 3, self._convected[0]))

    @cached_property
    def M_c(self) -> dict[str, Array]:
        """M_c["uv"] = int mu N_u^T Nc_v and so on, every pair in both orders."""
        _, mass, N = self._moments
        Nc = self._convected[0]
        pairs = [(i, j) for i in range(3) for j in range(3)]
        return {"uvw"[i] + "uvw"[j]: self._product(mass, N.get(i), Nc.get(j)) for i, j in pairs}

    @cached_property
    def M_cc(self) -> Array:
        """int mu Nc^T Nc of all three directions."""
        _, mass, _ = self._moments
        return sum(
            (self._product(mass, part, part) for part in self._convected[0].values()),
            np.zeros((self.count, self.count)),
        )

    def turning(self, row: int) -> tuple[Array, Array, Array, Array, Array]:
        """Of the sections turning about one axis: j and j_c (n,), and int W^T W, W^T Wc, Wc^T Wc with their inertia."""
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
        """By family, of the strain rate e deta + ec zeta: int k e^T e, e^T ec, ec^T ec, with k the stiffness."""
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
