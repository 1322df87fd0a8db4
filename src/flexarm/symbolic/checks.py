"""Checks before a closed form is derived: supported robots, its estimated size, and the model of flexible links."""

from __future__ import annotations

from collections.abc import Mapping
from math import atan2
from typing import Any

import numpy as np

from flexarm.dynamics.accuracy.validity import ValidityWarning
from flexarm.dynamics.joints import supported_joints
from flexarm.dynamics.links.sliding import is_gripped
from flexarm.foundation.messages import shown, suggestion, warn
from flexarm.robot import (
    Damping,
    Drive,
    Elements,
    FixedPrismatic,
    Link,
    Modes,
    Reduced,
    Robot,
    Sleeve,
    SlidingPrismatic,
    Stop,
)
from flexarm.robot.flexibility import Basis
from flexarm.robot.joints import Joint, SlideJoint, TurnAbout
from flexarm.robot.supported_types import SupportedTypes


def closed_form_joints() -> tuple[type[Joint], ...]:
    """Return the kinds of joints with a closed form: all but sleeves, whose mouths are constraints."""
    return tuple(kind for kind in supported_joints() if kind is not Sleeve)


SUPPORTED_KINDS = SupportedTypes(
    "the closed form",
    {
        Joint: closed_form_joints,
        Drive: (Drive,),
        Stop: (Stop,),
        Basis: (Modes, Elements, Reduced),
        Damping: (Damping,),
    },
)


def is_planar(robot: Robot) -> bool:
    """Return True if all links stay in the x-y plane of the ground."""
    return not any(_is_out_of_plane(link) for link in robot.links)


def yaw(matrix: Any) -> float | None:
    """Return the angle of a rotation about z, None for other rotations."""
    R = np.asarray(matrix, dtype=float)
    return atan2(R[1, 0], R[0, 0]) if abs(R[2, 2] - 1) < 1e-12 else None


def require_supported(robot: Robot, k: Mapping[str, int], kept: bool) -> None:
    """Raise ValueError if the robot has no closed form."""
    SUPPORTED_KINDS.require(robot)
    touching = [link.name for link in robot.links if has_mesh_contact(link)]
    for name in k:
        if name not in touching:
            raise ValueError(
                f"k of '{name}': no joint with contact nodal or element has that name{suggestion(name, touching)}"
            )
    for index, (link, place) in enumerate(zip(robot.links, robot.parents, strict=True)):
        where, parent = f"links[{index}] '{link.name}'", None if place is None else robot.links[place]
        if isinstance(link.joint, FixedPrismatic) and link.joint.rear == "none":
            raise ValueError(
                f"{where}: rear='none' has no closed form here: material appears in the joint; take rear='rigid'"
            )
        if any(each.rest for each in link.joint.freedom_properties):
            raise ValueError(
                f"{where}: joint.rest: must be zero, since closed forms have no constant forces of springs"
            )
        if restriction := stiffening_restriction(robot, index):
            raise ValueError(f"{restriction}; fa.equations(..., stiffening='none') is the papers' zero-order model")
        if link.flexible is not None and link.flexible.shear:
            raise ValueError(f"{where}: flexible.shear = True: must be false, since closed forms have no shear")
        if kept and link.flexible is not None and not is_meshed(link):
            raise ValueError(
                f"{where}: boundary = 'kept' needs links with basis elements, bend_y only and one section, which do "
                "not slide through a continuous joint, and stiffening = 'none'"
            )
        bent = parent if parent is not None and is_gripped(parent) and parent.flexible is not None else None
        if bent is not None and link.at not in (None, bent.length, 0.0):
            raise ValueError(
                f"{where}: at = {link.at:g}: must be left out (or {bent.length:g}, the tip), since '{bent.name}' "
                "slides through its joint and bends"
            )
        if has_mesh_contact(link):
            _check_contact(where, link, parent, k)


def stiffening_restriction(robot: Robot, index: int) -> str:
    """Return the condition under which a link's stiffening model has a closed form, empty if it has one."""
    link = robot.links[index]
    condition = "" if link.stiffening == "none" else _exact_condition(link) or _stiffening_condition(robot, index)
    sentence = f"links[{index}] '{link.name}': stiffening '{link.stiffening}' has a closed form {condition}"
    return sentence if condition else ""


def _exact_condition(link: Link) -> str:
    """Return the condition under which exact links have a closed form."""
    if link.stiffening != "exact" or link.flexible is None:
        return ""
    families = [name for name in link.flexible.counts if name != "stretch"]
    if len(families) > 1:
        return f"only if it bends in one plane or twists, but has {' and '.join(families)}"
    if is_gripped(link):
        return "only where a link does not slide through its joint"
    return "only where its shapes hold its root (see basis.root)" if link.flexible.loose else ""


def _stiffening_condition(robot: Robot, index: int) -> str:
    """Return the condition under which links of any stiffening model have a closed form."""
    link = robot.links[index]
    spatial = next((each.name for each in robot.links if _is_out_of_plane(each)), None)
    if spatial is not None and link.rotary_inertia and not is_gripped(link):
        return f"in space only without rotary_inertia, which is {link.rotary_inertia} (see link '{spatial}')"
    if isinstance(link.joint, FixedPrismatic) and has_mesh_contact(link):
        return f"without contact {link.joint.contact}"
    children = [each for each, parent in zip(robot.links, robot.parents, strict=True) if parent == index]
    riding = [each.name for each in children if has_mesh_contact(each)]
    return f"without contact nodal or element (see link '{riding[0]}')" if riding else ""


def is_meshed(link: Link) -> bool:
    """Return True if a link is modelled element by element; other links are one piece."""
    if link.flexible is None or link.section is None or is_gripped(link) or link.stiffening != "none":
        return False
    is_planar_mesh = isinstance(link.flexible.basis, Elements) and set(link.flexible.counts) == {"bend_y"}
    return is_planar_mesh and link.section.uniform


def has_mesh_contact(link: Link) -> bool:
    """Return True if the joint of a link is in contact with a node or element, whose number is in k."""
    return isinstance(link.joint, SlideJoint) and link.joint.on_mesh


def clamped_nodes(link: Link, k: Mapping[str, int]) -> tuple[int, ...]:
    """Return the fixed nodes of the mesh of a link: those in the joint that it slides through, or its root."""
    if not isinstance(link.joint, FixedPrismatic) or not link.joint.on_mesh:
        return () if link.flexible is not None and link.flexible.loose else (0,)
    number = k[link.name]
    return (number - 1, number) if link.joint.contact == "element" else (number,)


def _check_contact(where: str, link: Link, parent: Link | None, k: Mapping[str, int]) -> None:
    """Check that k contains the node or element that a joint touches."""
    assert isinstance(link.joint, SlideJoint)
    contact, mesh = link.joint.contact, link if isinstance(link.joint, FixedPrismatic) or parent is None else parent
    if not is_meshed(mesh):
        raise ValueError(
            f"{where}: contact {contact} needs '{mesh.name}' to have bend_y elements only and one section along its "
            "length"
        )
    assert mesh.flexible is not None
    last = mesh.flexible.bend_y
    what, first, root, tip = "an element", 1, "at the root", "at the tip"
    if contact == "nodal":
        what, first, root, tip = "a node", 0, "root", "tip"
    number = k.get(link.name)
    if not isinstance(number, int) or isinstance(number, bool) or not first <= number <= last:
        given = "is missing" if number is None else f"is {shown(number)}"
        raise ValueError(
            f"k of '{link.name}' {given}: its joint touches {what} of '{mesh.name}', so specify one, for example "
            f"k={{'{link.name}': {last}}}; a whole number between {first} ({root}) and {last} ({tip})"
        )
    damping = None if link.flexible is None else link.flexible.damping
    if isinstance(link.joint, FixedPrismatic) and damping is not None and damping.ratio is not None:
        raise ValueError(f"{where}: damping.ratio is not available for contact {contact}; use beta")


def _is_out_of_plane(link: Link) -> bool:
    joint = link.joint
    families = set(link.flexible.counts) if link.flexible is not None else set()
    tilted = any(abs(each.axis[2]) != isinstance(each, TurnAbout) for each in joint.elementary_motions)
    return bool(families - {"bend_y", "stretch"}) or tilted or yaw(joint.mount_matrix) is None


MAX_STATEMENT_COUNT = 60_000
SPATIAL_FACTOR = 2.5  # three rotations per bending link instead of one
SLIDING_FACTOR = 2.5  # shape functions that vary with the coordinate of a sliding joint


def require_size(robot: Robot, limit: float, numeric: bool = False) -> None:
    """Raise ValueError if the equations would have more statements than `limit`."""
    if isinstance(limit, bool) or not isinstance(limit, int | float) or not limit > 0:
        raise ValueError(f"limit = {shown(limit)}: must be a positive number of statements")
    counts = estimate_statement_counts(robot)
    if (whole := sum(counts)) > limit:
        index = max(range(len(counts)), key=counts.__getitem__)
        worst, moving = robot.links[index], count_moving_coordinates(robot)[index]
        shorter = "" if numeric else "parameters='numeric' makes it shorter; "
        stiffened = any(link.stiffening != "none" for link in robot.links)
        plain = "stiffening='none', the zero-order model, is smaller; " if stiffened else ""
        flexible = any(link.flexible is not None for link in robot.links)
        advice = "take fewer elements or modes, or make links rigid" if flexible else "take fewer links"
        raise ValueError(
            f"the closed form of {robot.name!r} would have about {f'{round(whole, -3):,.0f}'.replace(',', ' ')} "
            f"statements, more than {limit:g}: {advice} (most of it comes from link '{worst.name}', which {moving} "
            f"coordinates of other links and its joint move); {shorter}{plain}limit=... raises this limit, and "
            "fa.System has none"
        )


def estimate_statement_counts(robot: Robot) -> list[float]:
    """Estimate the number of statements in M and C due to each link, after elimination of common subexpressions.

    If f coordinates move the frame of a link with e elastic coordinates, f^2 / 2 + f e entries of M vary, each with the
    f coordinates (those of the frame also with the e). The estimate is right within a factor of four
    (tests/symbolic/test_refusals.py).
    """
    found = []
    for link, parent, f in zip(robot.links, robot.parents, count_moving_coordinates(robot), strict=True):
        e = link.coordinates - link.joint.coordinates
        factor = 1.0 if is_planar(robot) else SPATIAL_FACTOR
        if isinstance(link.joint, SlidingPrismatic) and not has_mesh_contact(link):
            varying = parent is not None and robot.links[parent].flexible is not None
        else:
            varying = is_gripped(link) and link.flexible is not None
        factor *= SLIDING_FACTOR if varying else 1.0  # shape functions vary with the joint coordinate
        # the link's own mass matrix is constant without stiffening
        own = {"none": 2.0 * e, "shortening": 8.0 * e**2 + 12.0 * e, "exact": 12.0 * e**3 + 30.0 * e}[link.stiffening]
        found.append(factor * (f**3 + 2 * f**2 * e + own))
    return found


def count_moving_coordinates(robot: Robot) -> list[int]:
    """Return the number of coordinates that move the frame of each link."""
    found: dict[int, int] = {}
    for i in robot.order:
        parent, found[i] = robot.parents[i], len(robot.links[i].joint.freedoms)
        if parent is None:
            continue
        found[i] += found[parent]
        if (flexible := robot.links[parent].flexible) is not None:  # coordinates that move its tip
            at_node = isinstance(flexible.basis, Elements)
            at_node |= isinstance(flexible.basis, Reduced) and flexible.basis.interface == "fixed"
            per_node = sum(2 if family.startswith("bend") else 1 for family in flexible.counts)
            found[i] += per_node if at_node else flexible.coordinates
    return [found[i] for i in range(len(robot.links))]


STIFFENINGS = ("none", "shortening", "exact", "robot")


def with_stiffening(robot: Robot, stiffening: str) -> Robot:
    """Return the robot with one stiffening model for all flexible links; "robot" keeps that of each link."""

    def replace(link: Link) -> Link:
        if link.flexible is None:
            return link
        return link.model_copy(update={"flexible": link.flexible.model_copy(update={"stiffening": stiffening})})

    return robot if stiffening == "robot" else robot.model_copy(update={"links": tuple(map(replace, robot.links))})


def select_default_stiffening(robot: Robot, kept: bool) -> str:
    """Return "robot" if the models of the links have a closed form, else warn and return "none"."""
    found = [f"'{link.name}' ({link.stiffening})" for link in robot.links if link.stiffening != "none"]
    reason = _model_restriction(robot, kept)
    if not found or not reason:
        return "robot"
    refused = _model_restriction(with_stiffening(robot, "shortening"), kept)
    second = "" if refused else "stiffening='shortening' derives second-order links, "
    warn(
        f"the closed form is of the zero-order model, links without stiffening, while fa.System and fa.simulate have "
        f"{', '.join(found)}: {reason}; {second}stiffening='none' derives the zero-order model without this warning",
        ValidityWarning,
    )
    return "none"


def _model_restriction(robot: Robot, kept: bool) -> str:
    """Return the reason why the models of the links have no closed form, empty if they have one."""
    if kept:
        return "boundary = 'kept' has a closed form for stiffening 'none' only"
    return next(filter(None, (stiffening_restriction(robot, index) for index in range(len(robot.links)))), "")


def describe_stiffening(robot: Robot) -> list[str]:
    """Return sentences about the order of the models of flexible links."""
    found = {link.stiffening for link in robot.links if link.flexible is not None}
    sentences = {
        "none": "Foreshortening of bent links is neglected (stiffening 'none'), as in the papers.",
        "shortening": "Links are complete to second order in their deflections (stiffening 'shortening').",
        "exact": "Links bend by any angle (stiffening 'exact'); chi are angles of their axis at nodes.",
    }
    return [sentence for name, sentence in sentences.items() if name in found]
