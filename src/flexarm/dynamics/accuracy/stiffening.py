"""Choice between the second-order and the exact model of spatial links with `stiffening="auto"`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from flexarm.dynamics.accuracy.validity import (
    DEFLECTION_LIMIT,
    ValidityWarning,
    bend_shares,
    could_be_exact,
    with_exact_links,
)
from flexarm.dynamics.system import System
from flexarm.foundation.messages import warn
from flexarm.foundation.validation import Array
from flexarm.robot import Robot

MIN_SOFTENING = 1e-3  # stiffness that the load leaves, below which a robot has buckled
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


def softening(system: System, q: Array, loads: Array | None = None) -> float:
    """Return the least stiffness of straight links under their load, as a share of that without.

    It is one minus the load as a share of the load that buckles the robot with its actuators held, and one where links
    are stretched. Robots with constraints and with free meshes are not evaluated (1).

    Parameters
    ----------
    system : System
        The system.
    q : ndarray, shape (nq,)
        Posture of the joints.
    loads : ndarray, shape (nq, nq), optional
        Stiffness due to loads other than weight.
    """
    free_meshes = any(link.flexible is not None and link.flexible.loose for link in system.robot.links)
    if system.constraints or free_meshes or not system.elastic.any():
        return 1.0
    straight, here = np.where(system.elastic, 0.0, q), np.ix_(system.elastic, system.elastic)
    geometric = system.gravity_stiffness(straight)
    if loads is not None:
        geometric = geometric + loads
    if not geometric.any():
        return 1.0
    inverse = np.linalg.inv(np.linalg.cholesky(system.stiffness_matrix(straight)[here]))
    added = inverse @ geometric[here] @ inverse.T
    return 1.0 + min(0.0, float(np.linalg.eigvalsh((added + added.T) / 2)[0]))


def load_stiffness(system: System, q: Array, loads: Sequence[tuple[str, float | None, Array]]) -> Array:
    """Return the stiffness (nq, nq) of straight links due to loads: forces and torques on places in world axes."""
    straight, out = np.where(system.elastic, 0.0, q), np.zeros((system.nq, system.nq))
    for link, x, wrench in loads:
        out += system.load_forces(link, x, wrench, straight)[1]
    return out


def system_for_posture(
    robot: Robot | System, q: Array, loads: Sequence[tuple[str, float | None, Array]] = ()
) -> System | None:
    """Return the system with exact links for a posture that bends second-order links too far, with a warning.

    Parameters
    ----------
    robot : Robot or System
        As the caller was given it. The model of a System is never replaced: its coordinates are in use.
    q : ndarray, shape (nq,) or (postures, nq)
        The posture, or several.
    loads : sequence of (str, float or None, ndarray), optional
        Constant loads (link, x, wrench) besides gravity.

    Returns
    -------
    System or None
        None if the models that the robot has are accurate at this posture, or cannot be replaced.
    """
    if isinstance(robot, System):
        return None
    resolved = System(robot, native=False)
    candidates = replaceable_links(resolved.robot)
    bent = {
        name: found for name in candidates if (found := _too_far(resolved, name, np.atleast_2d(q), loads)) is not None
    }
    if not bent:
        return None
    share, left = max(bent.values())
    limit = DEFLECTION_LIMIT["shortening"]
    many = f"links {_listed([*bent])} bend by up to {share:.1%} of their"
    one = f"link '{next(iter(bent))}' bends by {share:.1%} of its"
    loaded = f"under {min(1 - left, 1.0):.0%} of the load that buckles the robot"
    why = f"and the second-order model is meant for less than {limit:.0%}" if share > limit else loaded
    warn(
        f"{many if len(bent) > 1 else one} length at this posture {why}: the exact model is used for "
        f"{_listed(candidates)} (stiffening 'auto')",
        ValidityWarning,
    )
    # As in a run that is repeated: links that are exact change the deflections of the others.
    return System(with_exact_links(resolved.robot, candidates), native=False)


def exact_system(robot: Robot | System, reason: str) -> System | None:
    """Return the system with exact links for a robot whose second-order links have no result, with a warning.

    Parameters
    ----------
    robot : Robot or System
        As the caller was given it. The model of a System is never replaced.
    reason : str
        What failed.

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
    )
    return System(with_exact_links(resolved.robot, candidates), native=False)


def _listed(names: list[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def _too_far(
    system: System, name: str, q: Array, loads: Sequence[tuple[str, float | None, Array]]
) -> tuple[float, float] | None:
    """Return the bend of a link (share of its length) and `softening` in the worst of the postures (postures, nq), if
    the second-order model does not bear it.

    Its error relative to the deflection grows as the square of the bend, divided by the stiffness that the load leaves.
    """
    limit = DEFLECTION_LIMIT["shortening"]
    shares = bend_shares(system, system.robot.link(name), q)
    worst = int(shares.argmax())
    share = float(shares[worst])
    if share > limit:
        return share, 1.0
    if share <= limit * MIN_SOFTENING**0.5:
        return None
    left = softening(system, q[worst], load_stiffness(system, q[worst], loads) if loads else None)
    if left >= (share / limit) ** 2:
        return None
    return share, left
