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

from flexarm.beam.bases import weighted
from flexarm.beam.integrals import LinkIntegrals, clean
from flexarm.foundation.numbers import Array


class SlidingIntegrals(LinkIntegrals):
    """The integrals of a uniform link, and those of its convected shapes (names end in _c)."""

    @cached_property
    def _convected(self) -> tuple[Array, Array]:
        return self._convected_at(self._nodes[0])

    @property
    def convected_slices(self) -> tuple[Array, Array]:
        """The same at the slices."""
        return self._convected_at(np.array([piece.station.x for piece in self.slices]))

    def _convected_at(self, x: Array) -> tuple[Array, Array]:
        """Nc and Wc at some points; slopes also shrink with the scale, so Wc = (L - X) W' - W for them."""
        ahead = (self.length - x)[:, None, None]
        curvature = {name: space.derivative() for name, space in self._slopes.items()}
        displacement = {0: ("stretch", 1.0), 1: ("bend_y", 1.0), 2: ("bend_z", 1.0)}
        Nc = ahead * self._rows(x, self._slopes, displacement)
        turning = {1: ("bend_z", -1.0), 2: ("bend_y", 1.0)}
        Wc = ahead * self._rows(x, curvature, turning) - self._rows(x, self._slopes, turning)
        return Nc, Wc + ahead * self._rows(x, self._slopes, {0: ("twist", 1.0)})

    @cached_property
    def a_c(self) -> Array:
        """(3, n): int mu Nc."""
        _, mass, _ = self._moments
        return clean(np.einsum("g,gin->in", mass, self._convected[0]))

    @cached_property
    def b_c(self) -> Array:
        """(3, n): int mu x Nc."""
        x, mass, _ = self._moments
        return clean(np.einsum("g,gin->in", mass * x, self._convected[0]))

    @cached_property
    def M_c(self) -> dict[str, Array]:
        """M_c["uv"] = int mu N_u^T Nc_v and so on, every pair in both orders."""
        _, mass, N = self._moments
        Nc = self._convected[0]
        return {"uvw"[i] + "uvw"[j]: clean(weighted(mass, N[:, i], Nc[:, j])) for i in range(3) for j in range(3)}

    @cached_property
    def M_cc(self) -> Array:
        """int mu Nc^T Nc of all three directions."""
        _, mass, _ = self._moments
        return clean(np.asarray(sum(weighted(mass, self._convected[0][:, i]) for i in range(3))))

    def turning(self, row: int) -> tuple[Array, Array, Array, Array, Array]:
        """Of the sections turning about one axis: j and j_c (n,), and int W^T W, W^T Wc, Wc^T Wc with their inertia."""
        inertia, W = self._turning
        Wc = self._convected[1]
        mass, plain, flowing = inertia[:, row], W[:, row], Wc[:, row]
        return (
            mass @ plain,
            mass @ flowing,
            clean(weighted(mass, plain)),
            clean(weighted(mass, plain, flowing)),
            clean(weighted(mass, flowing)),
        )

    @cached_property
    def damped(self) -> dict[str, tuple[Array, Array, Array]]:
        """By family, of the strain rate e deta + ec zeta: int k e^T e, e^T ec, ec^T ec, with k the stiffness."""
        out = {}
        for name, family in self.families.items():
            x, weights = self._nodes
            space = self.shapes[name]
            for _ in range(family.order):
                space = space.derivative()
            stiffness = weights * family.stiffness(x)[:, 0]
            strain = space(x)
            flowing = (self.length - x)[:, None] * space.derivative()(x) - family.order * strain
            out[name] = (
                clean(weighted(stiffness, strain)),
                clean(weighted(stiffness, strain, flowing)),
                clean(weighted(stiffness, flowing)),
            )
        return out
