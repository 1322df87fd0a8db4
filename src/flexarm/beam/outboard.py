"""Integrals over what lies outboard of any place on a link, from values at Gauss points."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from flexarm.beam import legendre
from flexarm.foundation.numbers import Array


@dataclass(frozen=True, eq=False)
class Outboard:
    """Pieces between `breaks` (..., m + 1), which may differ from row to row, with `count` Gauss points on each."""

    breaks: Array
    count: int

    @cached_property
    def x(self) -> Array:
        """(..., points)."""
        nodes, _ = legendre.gauss_rule(self.count)
        left, right = self._ends
        return _flat(left + (right - left) * (nodes + 1) / 2)

    def weights(self, x: Array) -> Array:
        """(..., len(x), points): with these, values at the points add up to the integral of the polynomials through
        them, from x to the last break."""
        left, right = (each[..., None, :, :] for each in self._ends)  # (..., 1, m, 1)
        with np.errstate(invalid="ignore", divide="ignore"):
            local = (2 * x[:, None, None] - left - right) / (right - left)
        local = np.clip(np.where(right > left, local, 1.0), -1.0, 1.0)[..., 0]
        behind = legendre.at(local.ravel(), self.count) @ (
            legendre.integration(self.count - 1) @ legendre.projection(self.count - 1)
        )
        ahead = legendre.gauss_rule(self.count)[1] - behind.reshape(*local.shape, self.count)
        return _flat((right - left) / 2 * ahead)

    @property
    def _ends(self) -> tuple[Array, Array]:
        return self.breaks[..., :-1, None], self.breaks[..., 1:, None]


def _flat(values: Array) -> Array:
    """Pieces and points on each as one dimension."""
    return np.asarray(values.reshape(*values.shape[:-2], values.shape[-2] * values.shape[-1]))
