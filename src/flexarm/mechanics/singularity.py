"""Motions that move no mass: where the mass matrix is singular, and which coordinates make it so."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from flexarm.foundation.numbers import Array
from flexarm.robot import Riding
from flexarm.robot.joints import Joint

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


def without_inertia(motions: Array, names: list[str], slides: Collection[Joint] = ()) -> str:
    """Return the sentence about motions that move no mass, with the coordinates that take part in them.

    slides: the joints of these coordinates, if all of them slide along the same direction.
    """
    idle = [f"'{names[k]}'" for k in idle_coordinates(motions)]
    together = motions.shape[1] < len(idle)
    if slides and together:
        return (
            f"the mass matrix is singular: {', '.join(idle)} slide along the same direction, and no mass lies between "
            f"them; give a link between them a mass, or make the directions differ: {_direction_hint(slides)}"
        )
    lack, their = ("has", "its link") if len(idle) == 1 else ("have", "their links")
    return (
        f"the mass matrix is singular: {', '.join(idle)} {lack} no inertia{' together' if together else ''}; "
        f"give {their} a mass, a hub or a payload"
    )


def _direction_hint(slides: Collection[Joint]) -> str:
    """Return what decides the direction in which these kinds of joints slide."""
    hints = []
    if any(isinstance(each, Riding) for each in slides):
        hints.append(
            "a sliding prismatic joint or a sleeve slides along the link on which it rides (`angle` and `mount` turn "
            "the link behind it, not the direction in which it slides)"
        )
    if not all(isinstance(each, Riding) for each in slides):
        hints.append("a fixed prismatic joint slides along its own link, which its `angle` and `mount` turn")
    return "; ".join(hints)
