"""Limits of the link models (deflection, twist, rotation between nodes) and of the size of the equations."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from flexarm.dynamics.links import model_of
from flexarm.foundation.messages import warn
from flexarm.foundation.validation import Array
from flexarm.robot import Link, Robot

if TYPE_CHECKING:
    from flexarm.dynamics.system import System
    from flexarm.dynamics.system_base import SystemBase


DEFLECTION_LIMIT = {"none": 0.05, "shortening": 0.10}
"""Static deflection, as a share of the length, at which the tip error reaches 0.1 % of the length, by link model
(docs/deflection.md). Exact links have no limit. results/stiffening_check.py estimates the error of vibrations."""
LARGE_ERROR = 0.2
TWIST_LIMIT = 0.2  # rad, second-order links; beyond it M of a link that also bends soon becomes indefinite
STATION_COUNT = 9  # points of a link where its deflection is evaluated: supports may hold its tip
MIN_PART_SHARE = 0.01  # smallest length of a part of a sliding link, as a share of the link's length
MAX_NODE_TURN = 1.0  # rad; the error of a section's rotation is 1e-4 there, 5 % at twice the angle


class ValidityWarning(UserWarning):
    """Warning that a result is not covered by the assumptions of the model."""


def deflection_limit(link: Link) -> float:
    """Return the largest deflection for a link's model, as a share of its length."""
    return DEFLECTION_LIMIT.get(link.stiffening, np.inf) if link.flexible is not None else np.inf


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
    elif link.joint.grips:
        reason = f"for {'a mesh' if flexible.in_one_plane else 'a link in space'} that slides through its joint"
    else:
        reason = "for a link in space along which something slides"
    return f"stiffening='exact' is not available {reason}: {advice}"


def error_size(error: float) -> str:
    """Return an estimated relative error in words; beyond LARGE_ERROR its size means nothing."""
    return f"about {error:.1%}" if error < LARGE_ERROR else f"more than {LARGE_ERROR:.0%}"


def deflection_warnings(robot: Robot, link: Link, share: float, when: str = "", error: str = "") -> Iterator[str]:
    """Yield the warning for a link that is bent by more than its model allows, as a share of its length.

    `when` and `error` are parts of the sentence: the time, and the size of the error.
    """
    limit = deflection_limit(link)
    if share > limit:
        bent = f"link '{link.name}' bends by {share:.0%} of its length{when}"
        meant = f"stiffening '{link.stiffening}' is meant for less than {limit:.0%}{error}"
        yield f"{bent}; {meant}; {remedy(robot, link)}"


def deflections(system: System, link: Link, q: Array) -> Array:
    """Return distances (postures, STATION_COUNT, 2) of points of a link from its straight axis, along y and z (m)."""
    body = next(each for each in system._chain.bodies if each.link.name == link.name)
    x = np.linspace(0.0, link.length, STATION_COUNT)
    return np.asarray(body.model.points(body, q[..., body.local.all], x)[..., 1:])


def bend_shares(system: System, link: Link, q: Array) -> Array:
    """Return the largest deflections (postures,) of a link as a share of its length.

    If the link slides through its joint, deflections are divided by the length of the part on their side of the joint.
    """
    lengths: Array | float = link.length
    if link.joint.grips:
        x, out = np.linspace(0.0, link.length, STATION_COUNT), q[:, [system.joint(link.name).index]]
        parts = np.where(x > link.length - out, out, link.length - out)
        lengths = np.maximum(parts, MIN_PART_SHARE * link.length)
    across = deflections(system, link, q)
    return np.asarray((np.hypot(across[..., 0], across[..., 1]) / lengths).max(axis=1))


def largest_postures(system: System, link: Link, q: Array, most: int = 100) -> Any:
    """Return the indices of the postures, rows of q (postures, nq), with the largest coordinates of a link."""
    own = [each.index for each in system.coordinates if each.link == link.name and each.kind == "elastic"]
    return np.argsort(np.abs(q[:, own] / system.sizes[own]).sum(axis=1))[-most:]


def twist_warnings(system: System, q: Array, when: Callable[[int], str] = lambda row: "") -> Iterator[str]:
    """Yield warnings for links that twist too far for their model in one of the postures q (postures, nq)."""
    for link in system.robot.links:
        own = [each.index for each in system.coordinates if each.link == link.name and each.family == "twist"]
        if not own or link.stiffening not in DEFLECTION_LIMIT:
            continue
        twist = np.abs(q[:, own] / system.sizes[own]).max(axis=1)
        worst = int(twist.argmax())
        if twist[worst] > TWIST_LIMIT:
            share = f"link '{link.name}' twists by about {twist[worst]:.2g} rad{when(worst)}"
            limit = f"stiffening '{link.stiffening}' is meant for less than {TWIST_LIMIT:g} rad"
            yield f"{share}; {limit}; {remedy(system.robot, link)}"


def node_turn_warnings(name: str, turn: float, when: str = "") -> Iterator[str]:
    """Yield the warning for an exact link that rotates too far (rad) between two of its nodes."""
    if turn > MAX_NODE_TURN:
        yield (
            f"link '{name}' turns by {turn:.2g} rad between two of the nodes that follow it{when}; beyond "
            f"{MAX_NODE_TURN:g} rad they do not meet its shape: take more shapes"
        )


def node_turns(system: SystemBase, q: Array) -> dict[str, Array]:
    """Return the largest rotation between neighbouring nodes of each exact link, by link."""
    found = {
        body.link.name: body.model.turns_between_nodes(body, q[..., body.local.all]) for body in system._chain.bodies
    }
    return {name: turns for name, turns in found.items() if turns is not None}


def warn_of_posture(system: System, q: Array) -> None:
    """Warn of links that bend or twist too far for their models at a posture."""
    for sentence in posture_warnings(system, q):
        warn(sentence, ValidityWarning)


def posture_warnings(system: System, q: Array, when: str = "") -> list[str]:
    """Return the warnings for links that bend or twist too far for their models at a posture."""
    found: list[str] = []
    for link in system.robot.links:
        if link.flexible is not None and link.stiffening in DEFLECTION_LIMIT:
            found += deflection_warnings(system.robot, link, float(bend_shares(system, link, q[None])[0]), when)
    found += twist_warnings(system, q[None], lambda row: when)
    for name, turn in system.turns_between_nodes(q).items():
        found += node_turn_warnings(name, float(turn), when)
    return found


def warn_of_furthest(system: System, q: Array) -> None:
    """Warn of the posture with the largest coordinates among many (postures, nq), if these exceed their limits."""
    models = {link.name: link.stiffening for link in system.robot.links}
    limits = [coordinate_limit(models[each.link], each.family) for each in system.coordinates]
    share = (np.abs(q) / (limits * system.sizes))[:, system.elastic].max(axis=1, initial=0.0)
    if share.size and share.max() > 1:
        warn_of_posture(system, q[int(share.argmax())])


def coordinate_limit(model: str, family: str | None) -> float:
    """Return the largest value of a coordinate for a link model, as a share of its characteristic size."""
    if family == "twist" and model in DEFLECTION_LIMIT:
        return TWIST_LIMIT
    return DEFLECTION_LIMIT.get(model, np.inf)


def exact_model_hint(robot: Robot) -> str:
    """Return the advice to use the exact model, naming the links for which it is available; empty if there are none."""
    names = [f"'{link.name}'" for link in robot.links if could_be_exact(robot, link)]
    return f"; or take stiffening='exact' of {', '.join(names)}, which bears deflections of any size" if names else ""


WARNING_INSTRUCTION_COUNT = 100_000  # seconds to trace, minutes to compile
MAX_INSTRUCTION_COUNT = 2_000_000  # hours to compile, and more memory than most machines have


def size_estimate(robot: Robot) -> int:
    """Return the approximate number of instructions of the larger of inverse dynamics and mass matrix (factor 3)."""
    return round(sum(link_size_estimate(link) for link in robot.links))


def require_size(robot: Robot) -> None:
    """Raise a ValueError if the equations of a robot are too large, and warn if they take long."""
    size = size_estimate(robot)
    if size <= WARNING_INSTRUCTION_COUNT:
        return
    largest = max(robot.links, key=link_size_estimate)
    share = f"{link_size_estimate(largest) / size:.0%} of them"
    where = f"about {_round(size)} instructions in the equations of '{robot.name}', {share} "
    way = f"in link '{largest.name}'; take fewer shapes or links, basis elements, or stiffening 'shortening'"
    if size > MAX_INSTRUCTION_COUNT:
        raise ValueError(f"{where}{way}; {_round(MAX_INSTRUCTION_COUNT)} are the most")
    wait = "or wait: the first call takes some seconds, machine code minutes"
    warn(f"{where}{way}, {wait}")


def _round(number: float) -> str:
    """Return a number with two digits and a space between thousands."""
    return f"{float(f'{number:.2g}'):,.0f}".replace(",", " ")


def link_size_estimate(link: Link) -> float:
    """Return the approximate number of instructions of a link and its joint."""
    return 40.0 + model_of(link).size(link)
