"""Choice between the second-order and the exact model of spatial links with `stiffening="auto"`."""

from __future__ import annotations

import numpy as np

from flexarm.dynamics.system import System
from flexarm.dynamics.validity import DEFLECTION_LIMIT, ValidityWarning, bend_shares, could_be_exact, with_exact_links
from flexarm.foundation.messages import warn
from flexarm.foundation.validation import Array
from flexarm.robot import Robot

MAX_EXACT_SHAPES = 24
"""Shapes of a link in space up to which it is replaced: compilation of an exact link with more takes minutes."""


def replaceable_links(robot: Robot) -> list[str]:
    """Return the names of second-order links with `stiffening="auto"` that may be exact instead."""
    found: list[str] = []
    for link in robot.links:
        flexible = link.flexible
        if flexible is None or flexible.stiffening != "auto" or link.stiffening != "shortening" or flexible.meshed:
            continue
        if sum(flexible.counts.values()) > MAX_EXACT_SHAPES or not could_be_exact(robot, link):
            continue
        if not any(with_exact_links(robot, [*found, link.name]).conflicts()):  # nothing slides along it
            found.append(link.name)
    return found


def system_for_posture(robot: Robot | System, q: Array, stacklevel: int = 3) -> System | None:
    """Return the system with exact links for a posture that bends second-order links too far.

    Parameters
    ----------
    robot : Robot or System
        As the caller was given it. The model of a System is never replaced: its coordinates are in use.
    q : ndarray, shape (nq,)
        The posture.
    stacklevel : int, optional
        Stack level of the note, as in `warnings.warn`.

    Returns
    -------
    System or None
        None if the models that the robot has are accurate at this posture, or cannot be replaced.
    """
    if isinstance(robot, System):
        return None
    resolved = System(robot, native=False)
    candidates = replaceable_links(resolved.robot)
    bent = [name for name in candidates if bends_too_far(resolved, name, q)]
    if not bent:
        return None
    warn(
        f"links {_listed(bent)} bend by more than {DEFLECTION_LIMIT['shortening']:.0%} of their length at this "
        f"posture: the exact model is used for {_listed(candidates)} (stiffening 'auto')",
        ValidityWarning,
        stacklevel=stacklevel,
    )
    # As in a run that is repeated: links that are exact change the deflections of the others.
    return System(with_exact_links(resolved.robot, candidates), native=False)


def exact_system(robot: Robot | System, reason: str, stacklevel: int = 3) -> System | None:
    """Return the system with exact links for a robot whose second-order links have no result, with a warning.

    Parameters
    ----------
    robot : Robot or System
        As the caller was given it. The model of a System is never replaced.
    reason : str
        What failed.
    stacklevel : int, optional
        Stack level of the warning, as in `warnings.warn`.

    Returns
    -------
    System or None
        None if no link can be replaced.
    """
    if isinstance(robot, System):
        return None
    resolved = System(robot, native=False)
    candidates = replaceable_links(resolved.robot)
    if not candidates:
        return None
    warn(
        f"{reason} with second-order links: the exact model is used for {_listed(candidates)} (stiffening 'auto')",
        ValidityWarning,
        stacklevel=stacklevel,
    )
    return System(with_exact_links(resolved.robot, candidates), native=False)


def _listed(names: list[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def bends_too_far(system: System, name: str, q: Array) -> bool:
    """Return True if a link is bent further than the second-order model bears."""
    link = system.robot.link(name)
    return bool(np.max(bend_shares(system, link, q[None])) > DEFLECTION_LIMIT["shortening"])
