"""Motions that move no mass: where the mass matrix is singular, and which coordinates make it so."""

from __future__ import annotations

import numpy as np

from flexarm.foundation.numbers import Array

# Eigenvalues of the mass matrix with a diagonal of ones. A hundred rigid links have 1e-7, two hundred elements 1e-9.
SINGULAR = 1e-13
NEARLY = 1e-6  # a run that has no way on, and comes that near, was stopped by it
# Of the largest inertia, each for a motion that is large for its coordinate: the square of rounding in a lever.
NOTHING = 1e-26


def idle_motions(M: Array, sizes: Array, whole: float = 0.0, nearly: bool = False) -> Array:
    """(n, motions): motions that move no mass, whatever the units of the coordinates.

    whole: the inertia of the robot as a whole, for robots of one coordinate.
    nearly: next to none counts too.
    """
    below, nothing = (NEARLY, NEARLY**2) if nearly else (SINGULAR, NOTHING)
    n = len(M)
    own = np.abs(np.diag(M)) * sizes**2
    none = own <= nothing * own.max(initial=whole)
    if none.any():
        return np.eye(n)[:, none]
    scale = np.sqrt(np.abs(np.diag(M)))
    values, vectors = np.linalg.eigh(M / np.outer(scale, scale))
    idle = vectors[:, np.abs(values) <= below] / (scale * sizes)[:, None]
    return np.asarray(idle)


def idle_coordinates(motions: Array) -> list[int]:
    """Return the places of the coordinates that take part in motions that move no mass."""
    size = np.linalg.norm(motions, axis=1)
    return [int(k) for k in np.flatnonzero(size > 0.1 * size.max())]


def without_inertia(motions: Array, names: list[str], parallel: bool = False) -> str:
    """Return the sentence about motions that move no mass, with the coordinates that take part in them.

    parallel: these are joints that slide along the same direction.
    """
    idle = [f"'{names[k]}'" for k in idle_coordinates(motions)]
    if parallel:
        return (
            f"the mass matrix is singular: {', '.join(idle)} slide along the same direction, and no mass lies between "
            "them; turn one of the directions, or give the links between them a mass (`angle` and `mount` of a "
            "FixedPrismatic turn its direction; those of a SlidingPrismatic turn the link behind it, not the direction "
            "in which it slides: turn the link on which it rides)"
        )
    lack, their = ("has", "its link") if len(idle) == 1 else ("have", "their links")
    together = "" if len(idle) == 1 or motions.shape[1] >= len(idle) else " together"
    return (
        f"the mass matrix is singular: {', '.join(idle)} {lack} no inertia{together}; "
        f"give {their} a mass, a hub or a payload"
    )
