"""Singular mass matrices: motions without inertia, and the coordinates that take part in them."""

from __future__ import annotations

from collections.abc import Collection
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np

from flexarm.dynamics.accuracy.validity import warn_of_furthest
from flexarm.dynamics.arguments import Vector
from flexarm.foundation.messages import shown
from flexarm.foundation.validation import Array
from flexarm.robot.joints import Joint

if TYPE_CHECKING:
    from flexarm.dynamics.system import System

NOT_FINITE = "the accelerations are not finite: q, v or tau is too large"

# Acceleration (1/s^2, in units of a coordinate's size) beyond which the mass matrix is checked.
MAX_PLAUSIBLE_ACCELERATION = 1e9

# Eigenvalues of the mass matrix scaled to a unit diagonal. A hundred rigid links have 1e-7, 200 elements 1e-9.
SINGULAR_EIGENVALUE = 1e-13
NEARLY_SINGULAR_EIGENVALUE = 1e-6  # a failed run that comes this close was stopped by the singularity
# Relative to the largest inertia, each for a motion of characteristic size: the square of rounding in a lever arm.
ZERO_INERTIA = 1e-26


def massless_motions(M: Array, sizes: Array, whole: float = 0.0, nearly: bool = False) -> Array:
    """Return motions without inertia as columns, independent of the units of the coordinates.

    Parameters
    ----------
    M : ndarray, shape (n, n)
        Mass matrix.
    sizes : ndarray, shape (n,)
        Characteristic sizes of the coordinates.
    whole : float, optional
        Inertia of the robot as a whole (kg m2), the reference for robots with one coordinate.
    nearly : bool, optional
        Include motions with almost no inertia.

    Returns
    -------
    ndarray, shape (n, motions)
        Motions.
    """
    below, nothing = (
        (NEARLY_SINGULAR_EIGENVALUE, NEARLY_SINGULAR_EIGENVALUE**2) if nearly else (SINGULAR_EIGENVALUE, ZERO_INERTIA)
    )
    n = len(M)
    own = np.abs(np.diag(M)) * sizes**2
    none = own <= nothing * own.max(initial=whole)
    if none.any():
        return np.eye(n)[:, none]
    scale = np.sqrt(np.abs(np.diag(M)))
    values, vectors = np.linalg.eigh(M / np.outer(scale, scale))
    idle = vectors[:, np.abs(values) <= below] / (scale * sizes)[:, None]
    return np.asarray(idle)


def massless_coordinates(motions: Array) -> list[int]:
    """Return the indices of the coordinates that take part in motions without inertia."""
    size = np.linalg.norm(motions, axis=1)
    return [int(k) for k in np.flatnonzero(size > 0.1 * size.max())]


def singularity_message(motions: Array, names: list[str], slides: Collection[Joint] = ()) -> str:
    """Return the message about motions without inertia, which names the coordinates that take part.

    `slides` are the joints of these coordinates if all of them slide along the same direction.
    """
    idle = [f"'{names[k]}'" for k in massless_coordinates(motions)]
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
    """Return an explanation of the direction in which these kinds of joints slide."""
    hints = []
    if any(each.rides for each in slides):
        hints.append(
            "a sliding prismatic joint or a sleeve slides along the link on which it rides (`angle` and `mount` turn "
            "the link behind it, not the direction in which it slides)"
        )
    if any(each.grips for each in slides):
        hints.append("a fixed prismatic joint slides along its own link, which its `angle` and `mount` turn")
    if not all(each.rides or each.grips for each in slides):
        hints.append("other joints slide along their `axis` or `axes`, which `mount` turns")
    return "; ".join(hints)


class InertiaCheck:
    """Check of accelerations for motions without inertia, at the first call and where a result is implausible."""

    def __init__(self, system: System) -> None:
        self._system = system
        self._is_checked = False  # the mass matrix of one posture was found regular

    def require(self, q: Vector, a: Array) -> None:
        """Raise a ValueError if accelerations are not finite or the mass matrix is singular; warn of large bending."""
        system = self._system
        q = np.broadcast_to(system.vector(q), a.shape)
        implausible = ~(np.abs(a / system.sizes).max(axis=-1, initial=0.0) < MAX_PLAUSIBLE_ACCELERATION)
        postures = list(q[implausible])
        if not self._is_checked and q.size:
            postures.append(q.reshape(-1, system.nq)[0])
            self._is_checked = True
        for posture in postures:
            if sentence := system.singularity(posture):
                self._is_checked = False  # repeat the check at the next call
                raise ValueError(sentence)
        if not np.isfinite(a).all():
            raise ValueError(NOT_FINITE)
        if system.nq:
            warn_of_furthest(system, q.reshape(-1, system.nq))


def singularity(system: System, q: Vector, held: Collection[int], nearly: bool) -> str | None:
    """Return the message about motions without inertia at a posture; None if the mass matrix is regular.

    See `System.singularity` for the arguments.
    """
    if nearly not in (True, False):
        raise ValueError(f"nearly = {shown(nearly)}: must be True or False")
    posture = system.vector(q)
    if posture.ndim != 1:
        raise ValueError(f"q has shape {posture.shape}: must be one posture")
    places = held if isinstance(held, Collection) else ("",)
    if not all(isinstance(each, Integral) and 0 <= each < system.nq for each in places):
        raise ValueError(f"held = {shown(held)}: must be places of coordinates, 0 to {system.nq - 1}")
    free = [k for k in range(system.nq) if k not in held]
    M = system._call("momentum", q=posture, v=np.eye(system.nq))[0][np.ix_(free, free)]
    if not free or not np.isfinite(M).all():
        return None
    links = system.robot.links
    whole = sum(each.total_mass for each in links) * system.robot.size**2
    motions = massless_motions(M, system.sizes[free], whole, nearly)
    if not motions.size:
        return None
    slides = _parallel_slides(system, [free[k] for k in massless_coordinates(motions)], posture)
    return singularity_message(motions, [system.names[k] for k in free], slides)


def _parallel_slides(system: System, places: list[int], q: Array) -> list[Joint]:
    """Return the joints of these coordinates if all of them slide along the same direction in the world."""
    moved = [system.coordinates[k] for k in places]
    if len(moved) < 2 or any(each.kind != "joint" or each.unit != "m" for each in moved):
        return []
    directions = np.array([system.jacobian(each.link, None, q, axes="world")[3:, each.index] for each in moved])
    cosines = directions @ directions[0] / (np.linalg.norm(directions, axis=1) * np.linalg.norm(directions[0]))
    return [system.robot.link(each.link).joint for each in moved] if (np.abs(cosines) > 1 - 1e-9).all() else []
