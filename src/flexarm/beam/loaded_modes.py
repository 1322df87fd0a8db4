"""Modes of a link loaded with the bodies that it carries."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import numpy as np

from flexarm.beam.polynomials import PiecewisePolynomials
from flexarm.beam.properties import rotation
from flexarm.foundation.dataclass import dataclass
from flexarm.foundation.validation import Array
from flexarm.robot.carried_inertia import CarriedBody

Loads = tuple[CarriedBody, ...]


@dataclass(frozen=True)
class LumpedMass:
    """Unit mass that moves with value * f(at) + slope * f'(at), for a shape function f with section rotation f'."""

    at: float
    value: float
    slope: float

    def scaled(self, mass: float, length: float) -> LumpedMass:
        """Return the lump in units of mass and length multiplied by the given factors."""
        return LumpedMass(self.at * length, self.value * sqrt(mass), self.slope * sqrt(mass) * length)

    def row(self, space: PiecewisePolynomials) -> Array:
        """Return its displacement per coordinate of each function of a space."""
        out = self.value * space(self.at)[0]
        return np.asarray(out + self.slope * rotation(space)(self.at)[0] if self.slope else out)


def lumped_masses(family: str, load: CarriedBody, count: int) -> list[LumpedMass]:
    """Return the unit masses that represent a load in one family of deformation with `count` shapes."""
    if not family.startswith("bend"):
        inertia = load.inertia[0] if family == "twist" else load.mass
        return [LumpedMass(load.at, sqrt(inertia), 0.0)] if inertia > 0 else []
    inertia = load.inertia_about(2 if family == "bend_y" else 1, count)
    out = []
    if load.mass > 0:
        root = sqrt(load.mass)
        out.append(LumpedMass(load.at, root, load.moment / root))  # at its centre of mass
        inertia -= (load.moment / root) ** 2
    return out + ([LumpedMass(load.at, 0.0, sqrt(inertia))] if inertia > 0 else [])


class LoadedModes:
    """Mass and stiffness of a space of functions, prepared for eigenproblems with any loads.

    As in `bases.lowest_modes` the flexibility is decomposed, in coordinates in which the stiffness is the identity.
    """

    def __init__(self, space: PiecewisePolynomials, mass: Array, stiffness: Array) -> None:
        self.space, self._mass = space, mass
        self._out = np.linalg.inv(np.linalg.cholesky(stiffness)).T  # from coordinates in which the stiffness is 1
        flexibility = self._out.T @ mass @ self._out
        self._flexibility = (flexibility + flexibility.T) / 2

    def modes(self, lumps: Sequence[LumpedMass], count: int) -> PiecewisePolynomials:
        """Return functions that span the first modes of K x = omega^2 (M + lumps) x.

        Within that span they are modes of K x = omega^2 M x, ascending and mass-normalized.
        """
        rows = np.array([lump.row(self.space) for lump in lumps]).reshape(len(lumps), self.space.count)
        soft = _softest(self._flexibility, (rows @ self._out).T, count)
        squares, turns = np.linalg.eigh(soft.T @ self._flexibility @ soft)
        squares = np.maximum(squares[::-1], np.finfo(float).tiny)
        shapes = self._out @ (soft @ turns[:, ::-1]) / np.sqrt(squares)
        # orthonormal to the last digit, low modes first (Gram-Schmidt as a Cholesky factor)
        factor = np.linalg.cholesky(shapes.T @ self._mass @ shapes)
        return self.space @ np.linalg.solve(factor, shapes.T).T


def _softest(flexibility: Array, lumps: Array, count: int) -> Array:
    """Return orthonormal eigenvectors of the largest eigenvalues of flexibility + lumps lumps', largest first.

    A heavy lump makes one eigenvalue so large that the others would be lost in rounding. Therefore one vector is
    deflated for every lump, from the flexibility and the lumps separately.
    """
    frame, found = np.eye(len(flexibility)), []
    for _ in range(min(lumps.shape[1], count)):
        top = np.linalg.eigh(flexibility + lumps @ lumps.T)[1][:, -1:]
        rest = np.linalg.qr(top, mode="complete")[0][:, 1:]
        found.append(frame @ top)
        flexibility, lumps, frame = rest.T @ flexibility @ rest, rest.T @ lumps, frame @ rest
    others = np.linalg.eigh(flexibility + lumps @ lumps.T)[1][:, ::-1]
    return np.column_stack([*found, frame @ others[:, : count - len(found)]])
