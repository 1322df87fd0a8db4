"""How far links may bend in each model, and what to say where they bend further.

Motions that move no mass: where the mass matrix is singular, and which coordinates make it so.

How large the equations of a robot become, told before they are made.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm.dynamics.links import model_of
from flexarm.foundation.validation import Array
from flexarm.robot import FixedPrismatic, Link, RidingJoint, Robot
from flexarm.robot.joints import Joint

if TYPE_CHECKING:
    from flexarm.dynamics.system import System


LARGE_DEFLECTION = {"none": 0.05, "shortening": 0.10}
"""By model, as a share of a link's length: the static deflection at which the tip is off by a thousandth of the length
(docs/deflection.md). Exact links have no such limit. The error of vibrations is estimated in
results/stiffening_check.py."""
LARGE_TWIST = 0.2  # rad, of second-order links: those that bend, too, lose the definiteness of M soon after
STATIONS = 9  # along a link, at which it is looked at: supports may hold its tip
SHORT = 0.01  # of a link: shorter parts of one that slides are taken as so long
WIDE_TURN = 1.0  # rad: there the rotation of a section is off by 1e-4, at twice that by 5 %


class ValidityWarning(UserWarning):
    """A result that the model's assumptions do not cover."""


def reach(link: Link) -> float:
    """How far it may bend, of its length."""
    return LARGE_DEFLECTION.get(link.stiffening, np.inf) if link.flexible is not None else np.inf


def with_exact_links(robot: Robot, names: Collection[str]) -> Robot:
    """Return the robot with `stiffening="exact"` of the links named."""
    links = [
        link.model_copy(update={"flexible": link.flexible.model_copy(update={"stiffening": "exact"})})
        if link.name in names and link.flexible is not None
        else link
        for link in robot.links
    ]
    return robot.model_copy(update={"links": tuple(links)})


def could_be_exact(robot: Robot, link: Link) -> bool:
    """Return True if a flexible link that is not exact may be."""
    if link.flexible is None or link.stiffening == "exact":
        return False
    exact = with_exact_links(robot, [link.name])
    own = any(problem.path == "flexible.stiffening" for problem in exact.link(link.name).conflicts())
    return not own and not any(exact.conflicts())


def remedy(robot: Robot, link: Link) -> str:
    """Return the advice for a link that bends or vibrates too far for its model."""
    if could_be_exact(robot, link):
        return "take stiffening='exact'"
    flexible = link.flexible
    assert flexible is not None
    advice = "damp it, or move it more slowly"
    if flexible.shear:
        reason, advice = "with shear", f"leave shear out if the link is slender, or {advice}"
    elif flexible.loose:
        reason = "with basis.root = 'free'"
    elif isinstance(link.joint, FixedPrismatic):
        reason = f"for {'a mesh' if flexible.in_one_plane else 'a link in space'} that slides through its joint"
    else:
        reason = "for a link in space along which something slides"
    return f"stiffening='exact' is not available {reason}: {advice}"


def bends_far(robot: Robot, link: Link, share: float, when: str = "") -> Iterator[str]:
    """What to say of a link that is bent by a share of its length, if that is too far for its model."""
    limit = reach(link)
    if share > limit:
        bent = f"link '{link.name}' bends by {share:.0%} of its length{when}"
        yield f"{bent}; stiffening '{link.stiffening}' is meant for less than {limit:.0%}; {remedy(robot, link)}"


def deflections(system: System, link: Link, q: Array) -> Array:
    """Return (postures, STATIONS, 2): distances of places of a link from its straight axis (m) along its y and z."""
    body = next(each for each in system._chain.bodies if each.link.name == link.name)
    x = np.linspace(0.0, link.length, STATIONS)
    return np.asarray(body.model.points(body, q[..., body.local.all], x)[..., 1:])


def bend_shares(system: System, link: Link, q: Array) -> Array:
    """Return (postures,): the largest distance of a link from its straight axis, as a share of its length; of the
    length of each part, where it slides through its joint."""
    lengths: Array | float = link.length
    if isinstance(link.joint, FixedPrismatic):
        x, out = np.linspace(0.0, link.length, STATIONS), q[:, [system.joint(link.name).index]]
        parts = np.where(x > link.length - out, out, link.length - out)
        lengths = np.maximum(parts, SHORT * link.length)
    across = deflections(system, link, q)
    return np.asarray((np.hypot(across[..., 0], across[..., 1]) / lengths).max(axis=1))


def furthest(system: System, link: Link, q: Array, most: int = 100) -> Any:
    """Rows of postures q (postures, nq) in which the coordinates of a link are largest."""
    own = [each.index for each in system.coordinates if each.link == link.name and each.kind == "elastic"]
    return np.argsort(np.abs(q[:, own] / system.sizes[own]).sum(axis=1))[-most:]


def twists_far(system: System, q: Array, when: Callable[[int], str] = lambda row: "") -> Iterator[str]:
    """The same of links of second order, or less, that twist far in one of the postures q (postures, nq)."""
    for link in system.robot.links:
        own = [each.index for each in system.coordinates if each.link == link.name and each.family == "twist"]
        if not own or link.stiffening not in LARGE_DEFLECTION:
            continue
        twist = np.abs(q[:, own] / system.sizes[own]).max(axis=1)
        worst = int(twist.argmax())
        if twist[worst] > LARGE_TWIST:
            share = f"link '{link.name}' twists by about {twist[worst]:.2g} rad{when(worst)}"
            limit = f"stiffening '{link.stiffening}' is meant for less than {LARGE_TWIST:g} rad"
            yield f"{share}; {limit}; {remedy(system.robot, link)}"


def turns_far(name: str, turn: float, when: str = "") -> Iterator[str]:
    """The same of an exact link that turns by an angle (rad) between two of its nodes."""
    if turn > WIDE_TURN:
        yield (
            f"link '{name}' turns by {turn:.2g} rad between two of the nodes that follow it{when}; beyond "
            f"{WIDE_TURN:g} rad they do not meet its shape: take more shapes"
        )


def node_turns(system: System, q: Array) -> dict[str, Array]:
    """By exact link: the largest angle between two neighbours of its nodes, wherever joints are."""
    found = {
        body.link.name: body.model.turns_between_nodes(body, q[..., body.local.all]) for body in system._chain.bodies
    }
    return {name: turns for name, turns in found.items() if turns is not None}


def warn_of_posture(system: System, q: Array, stacklevel: int = 4) -> None:
    """Warn where links bend or twist further at a posture than their models know."""
    for sentence in doubts_of_posture(system, q):
        warnings.warn(sentence, ValidityWarning, stacklevel=stacklevel - 1)


def doubts_of_posture(system: System, q: Array, when: str = "") -> list[str]:
    """What to say of the same."""
    found: list[str] = []
    for link in system.robot.links:
        if link.flexible is not None and link.stiffening in LARGE_DEFLECTION:
            found += bends_far(system.robot, link, float(bend_shares(system, link, q[None])[0]), when)
    found += twists_far(system, q[None], lambda row: when)
    for name, turn in system.turns_between_nodes(q).items():
        found += turns_far(name, float(turn), when)
    return found


def warn_of_furthest(system: System, q: Array) -> None:
    """The same of many postures (postures, nq): of the one whose coordinates are largest, if they are large."""
    models = {link.name: link.stiffening for link in system.robot.links}
    limits = [largest(models[each.link], each.family) for each in system.coordinates]
    share = (np.abs(q) / (limits * system.sizes))[:, system.elastic].max(axis=1, initial=0.0)
    if share.size and share.max() > 1:
        warn_of_posture(system, q[int(share.argmax())], stacklevel=7)


def largest(model: str, family: str | None) -> float:
    """That a coordinate may be in a model of links, as a share of its size."""
    if family == "twist" and model in LARGE_DEFLECTION:
        return LARGE_TWIST
    return LARGE_DEFLECTION.get(model, np.inf)


def way_out(robot: Robot) -> str:
    """Which link might bear what another model of it does not; empty if none."""
    names = [f"'{link.name}'" for link in robot.links if could_be_exact(robot, link)]
    return f"; or take stiffening='exact' of {', '.join(names)}, which bears deflections of any size" if names else ""


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
    if any(isinstance(each, RidingJoint) for each in slides):
        hints.append(
            "a sliding prismatic joint or a sleeve slides along the link on which it rides (`angle` and `mount` turn "
            "the link behind it, not the direction in which it slides)"
        )
    if not all(isinstance(each, RidingJoint) for each in slides):
        hints.append("a fixed prismatic joint slides along its own link, which its `angle` and `mount` turn")
    return "; ".join(hints)


LARGE = 100_000  # instructions: seconds to trace, minutes to compile
HUGE = 2_000_000  # hours, and more memory than most machines have


def size_estimate(robot: Robot) -> int:
    """About how many instructions the larger of inverse dynamics and mass matrix takes, within a factor of three."""
    return round(sum(link_size(link) for link in robot.links))


def require_size(robot: Robot) -> None:
    """Refuse a robot whose equations would never be ready, and warn of one that takes long."""
    size = size_estimate(robot)
    if size <= LARGE:
        return
    largest = max(robot.links, key=link_size)
    share = f"{link_size(largest) / size:.0%} of them"
    where = f"about {_round(size)} instructions in the equations of '{robot.name}', {share} "
    way = f"in link '{largest.name}'; take fewer shapes or links, basis elements, or stiffening 'shortening'"
    if size > HUGE:
        raise ValueError(f"{where}{way}; {_round(HUGE)} are the most")
    wait = "or wait: the first call takes some seconds, machine code minutes"
    warnings.warn(f"{where}{way}, {wait}", UserWarning, stacklevel=3)


def _round(number: float) -> str:
    """Two digits, thousands apart."""
    return f"{float(f'{number:.2g}'):,.0f}".replace(",", " ")


def link_size(link: Link) -> float:
    """Of a link and its joint."""
    return 40.0 + model_of(link).size(link)
