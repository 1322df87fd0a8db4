"""Which robots have a closed form here, said before any work is done.

How large a closed form will be, estimated before the work starts.

Choice of the model of flexible links: the one that is simulated, or the papers' zero-order model.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping

from flexarm.dynamics.links.sliding import gripped
from flexarm.dynamics.validity import ValidityWarning
from flexarm.foundation.messages import shown, suggestion
from flexarm.robot import (
    Damping,
    Drive,
    Elements,
    FixedPrismatic,
    Link,
    Modes,
    MovingJoint,
    Reduced,
    Revolute,
    Robot,
    SlidingPrismatic,
    Stop,
    Weld,
)
from flexarm.robot.flexibility import Basis
from flexarm.robot.joints import Joint, Prismatic
from flexarm.robot.supported_types import SupportedTypes
from flexarm.symbolic.frames import yaw

KNOWN = SupportedTypes(
    "the closed form",
    {
        Joint: (Revolute, SlidingPrismatic, FixedPrismatic, Weld),
        Drive: (Drive,),
        Stop: (Stop,),
        Basis: (Modes, Elements, Reduced),
        Damping: (Damping,),
    },
)


def planar(robot: Robot) -> bool:
    """Whether every link stays in the ground's x-y plane."""
    return not any(_out_of_plane(link) for link in robot.links)


def require_supported(robot: Robot, k: Mapping[str, int], kept: bool) -> None:
    """Refuse what has no closed form, in a sentence that says what has."""
    KNOWN.require(robot)
    for index, link in enumerate(robot.links):
        where = f"links[{index}] '{link.name}'"
        if isinstance(link.joint, FixedPrismatic) and link.joint.rear == "none":
            raise ValueError(
                f"{where}: rear='none' has no closed form here: material appears in the joint; take rear='rigid'"
            )
        if lack := lack_of_stiffening(robot, index):
            raise ValueError(f"{lack}; fa.equations(..., stiffening='none') is the papers' zero-order model")
        if link.flexible is not None and link.flexible.shear:
            raise ValueError(f"{where}: flexible.shear = True: must be false, since closed forms have no shear")
        if kept and link.flexible is not None and not meshed(link):
            raise ValueError(
                f"{where}: boundary = 'kept' needs links with basis elements, bend_y only and one section, which do "
                "not slide through a continuous joint, and stiffening = 'none'"
            )
        parent = robot.parents[index]
        if parent is not None and gripped(robot.links[parent]) and robot.links[parent].flexible is not None:
            length = robot.links[parent].length
            if link.at not in (None, length, 0.0):
                raise ValueError(
                    f"{where}: at = {link.at:g}: must be left out (or {length:g}, the tip), since "
                    f"'{robot.links[parent].name}' slides through its joint and bends"
                )
    _check_nodes(robot, k)


def lack_of_stiffening(robot: Robot, index: int) -> str:
    """Return where the model of a flexible link has a closed form if it has none here, else an empty string."""
    link = robot.links[index]
    if link.stiffening == "none":
        return ""
    lack, bad = "", next((each.name for each in robot.links if _out_of_plane(each)), None)
    hanging = [each for each, parent in zip(robot.links, robot.parents, strict=True) if parent == index]
    riding = [each.name for each in hanging if on_mesh(each)]
    turning = [] if link.flexible is None else [name for name in link.flexible.counts if name != "stretch"]
    if link.stiffening == "exact" and len(turning) > 1:
        lack = f"only if it bends in one plane or twists, but has {' and '.join(turning)}"
    elif bad is not None and link.rotary_inertia and not gripped(link):
        lack = f"in space only without rotary_inertia, which is {link.rotary_inertia} (see link '{bad}')"
    elif gripped(link) and link.stiffening == "exact":
        lack = "only where a link does not slide through its joint"
    elif isinstance(link.joint, FixedPrismatic) and on_mesh(link):
        lack = f"without contact {link.joint.contact}"
    elif link.flexible is not None and link.flexible.loose and link.stiffening == "exact":
        lack = "only where its shapes hold its root (see basis.root)"
    elif riding:
        lack = f"without contact nodal or element (see link '{riding[0]}')"
    return f"links[{index}] '{link.name}': stiffening '{link.stiffening}' has a closed form {lack}" if lack else ""


def meshed(link: Link) -> bool:
    """Whether the equations tell the link's elements apart; other links are one piece."""
    if link.flexible is None or link.section is None or gripped(link) or link.stiffening != "none":
        return False
    return (
        isinstance(link.flexible.basis, Elements) and set(link.flexible.counts) == {"bend_y"} and link.section.uniform
    )


def on_mesh(link: Link) -> bool:
    """Whether its joint touches nodes of a mesh, so that k says where it is."""
    return isinstance(link.joint, Prismatic) and link.joint.on_mesh


def held_nodes(link: Link, k: Mapping[str, int]) -> tuple[int, ...]:
    """Nodes of a link's mesh that do not move: those in the joint that it slides through, or its root."""
    if not isinstance(link.joint, FixedPrismatic) or not link.joint.on_mesh:
        return () if link.flexible is not None and link.flexible.loose else (0,)
    place = k[link.name]
    return (place - 1, place) if link.joint.contact == "element" else (place,)


def _check_nodes(robot: Robot, k: Mapping[str, int]) -> None:
    """Every joint that touches a mesh needs its node or its element, and no other has one."""
    touching = [link.name for link in robot.links if on_mesh(link)]
    for name in k:
        if name not in touching:
            raise ValueError(
                f"k of '{name}': no joint with contact nodal or element has that name{suggestion(name, touching)}"
            )
    for index, link in enumerate(robot.links):
        if not isinstance(link.joint, Prismatic) or not link.joint.on_mesh:
            continue
        contact = link.joint.contact
        parent = robot.parents[index]
        mesh = link if isinstance(link.joint, FixedPrismatic) or parent is None else robot.links[parent]
        if not meshed(mesh):
            raise ValueError(
                f"links[{index}] '{link.name}': contact {contact} needs '{mesh.name}' to have bend_y elements only and "
                "one section along its length"
            )
        assert mesh.flexible is not None
        most = mesh.flexible.bend_y
        what, least, first, last = "an element", 1, "at the root", "at the tip"
        if contact == "nodal":
            what, least, first, last = "a node", 0, "root", "tip"
        place = k.get(link.name)
        if not isinstance(place, int) or isinstance(place, bool) or not least <= place <= most:
            given = "is missing" if place is None else f"is {shown(place)}"
            raise ValueError(
                f"k of '{link.name}' {given}: its joint touches {what} of '{mesh.name}', so say which one, for example "
                f"k={{'{link.name}': {most}}}; a whole number between {least} ({first}) and {most} ({last})"
            )
        if isinstance(link.joint, FixedPrismatic) and link.flexible is not None:
            damping = link.flexible.damping
            if damping is not None and damping.ratio is not None:
                raise ValueError(
                    f"links[{index}] '{link.name}': damping.ratio is not there for contact {contact}; use beta"
                )


def _out_of_plane(link: Link) -> bool:
    joint = link.joint
    families = set(link.flexible.counts) if link.flexible is not None else set()
    tilted = isinstance(joint, Revolute) and abs(joint.axis_vector[2]) != 1
    return bool(families - {"bend_y", "stretch"}) or tilted or yaw(joint.mount_matrix) is None


LIMIT = 60_000
SPATIAL = 2.5  # three rotations for each bending link, where a planar one has a single angle
SLIDING = 2.5  # shapes that vary with d, where a link rides on a bending one or slides through its joint


def require_size(robot: Robot, limit: float, numeric: bool = False) -> None:
    """Refuse a robot whose equations nobody could read or compile, and say what to reduce."""
    if isinstance(limit, bool) or not isinstance(limit, int | float) or not limit > 0:
        raise ValueError(f"limit = {shown(limit)}: must be a positive number of statements")
    shares = statements(robot)
    if (whole := sum(shares)) > limit:
        worst = robot.links[max(range(len(shares)), key=shares.__getitem__)]
        shorter = "" if numeric else "parameters='numeric' makes it shorter; "
        stiffened = any(link.stiffening != "none" for link in robot.links)
        plain = "stiffening='none', the zero-order model, is smaller; " if stiffened else ""
        raise ValueError(
            f"the closed form of {robot.name!r} would have about {_rounded(whole)} statements, more than {limit:g}: "
            f"{_advice(robot)} (most of it comes from link '{worst.name}', which "
            f"{moving(robot)[robot.links.index(worst)]} coordinates of other links and its joint move); "
            f"{shorter}{plain}limit=... raises this limit, and fa.System has none"
        )


def _advice(robot: Robot) -> str:
    flexible = any(link.flexible is not None for link in robot.links)
    return "take fewer elements or modes, or make links rigid" if flexible else "take fewer links"


def statements(robot: Robot) -> list[float]:
    """Per link, about how many statements its share of M and C takes with common subexpressions shared.

    f coordinates move the link's frame, e are its own: there are f^2 / 2 + f e entries in M that vary, each depending
    on the f (and those of the frame alone on the e). Measured within a factor of four
    (tests/symbolic/test_refusals.py).
    """
    found = []
    for link, parent, f in zip(robot.links, robot.parents, moving(robot), strict=True):
        e = _elastic(link)
        factor = (1.0 if planar(robot) else SPATIAL) * (SLIDING if _slides(robot, link, parent) else 1.0)
        found.append(factor * (f**3 + 2 * f**2 * e + _own(link.stiffening, e)))
    return found


def _own(stiffening: str, e: int) -> float:
    """Of a link alone: without stiffening its own matrix is constant, else it varies with its own coordinates."""
    if stiffening == "shortening":
        return 8.0 * e**2 + 12.0 * e
    return 12.0 * e**3 + 30.0 * e if stiffening == "exact" else 2.0 * e


def _slides(robot: Robot, link: Link, parent: int | None) -> bool:
    """Whether shapes vary with the link's joint."""
    if isinstance(link.joint, SlidingPrismatic) and not on_mesh(link):
        return parent is not None and robot.links[parent].flexible is not None
    return gripped(link) and link.flexible is not None


def moving(robot: Robot) -> list[int]:
    """Per link, how many coordinates move its frame."""
    found: dict[int, int] = {}
    for i in robot.order:
        parent, link = robot.parents[i], robot.links[i]
        above = 0 if parent is None else found[parent] + _at_tip(robot.links[parent])
        found[i] = above + (1 if isinstance(link.joint, MovingJoint) else 0)
    return [found[i] for i in range(len(robot.links))]


def _elastic(link: Link) -> int:
    return link.coordinates - link.joint.coordinates


def _at_tip(link: Link) -> int:
    """Elastic coordinates that move what hangs on the link: two per plane of bending where they are those of nodes."""
    if link.flexible is None:
        return 0
    basis = link.flexible.basis
    if isinstance(basis, Elements) or (isinstance(basis, Reduced) and basis.interface == "fixed"):
        return sum(2 if family.startswith("bend") else 1 for family in link.flexible.counts)
    return link.flexible.coordinates


def _rounded(count: float) -> str:
    return f"{round(count, -3):,.0f}".replace(",", " ")


STIFFENINGS = ("none", "shortening", "exact", "robot")


def stiffened(robot: Robot, stiffening: str) -> Robot:
    """The same robot with all flexible links of that model; "robot" leaves each its own, which is simulated."""

    def of(link: Link) -> Link:
        if link.flexible is None:
            return link
        return link.model_copy(update={"flexible": link.flexible.model_copy(update={"stiffening": stiffening})})

    return robot if stiffening == "robot" else robot.model_copy(update={"links": tuple(map(of, robot.links))})


def default_model(robot: Robot, kept: bool) -> str:
    """Return "robot" if the links' own models have a closed form; else warn and return "none"."""
    found = [f"'{link.name}' ({link.stiffening})" for link in robot.links if link.stiffening != "none"]
    lack = _lack(robot, kept)
    if not found or not lack:
        return "robot"
    second = (
        "" if _lack(stiffened(robot, "shortening"), kept) else "stiffening='shortening' derives second-order links, "
    )
    warnings.warn(
        f"the closed form is of the zero-order model, links without stiffening, while fa.System and fa.simulate have "
        f"{', '.join(found)}: {lack}; {second}stiffening='none' derives the zero-order model without this warning",
        ValidityWarning,
        stacklevel=3,
    )
    return "none"


def _lack(robot: Robot, kept: bool) -> str:
    """Return why the models of a robot's links have no closed form; an empty string if they have one."""
    if kept:
        return "boundary = 'kept' has a closed form for stiffening 'none' only"
    return next(filter(None, (lack_of_stiffening(robot, index) for index in range(len(robot.links)))), "")


def note(robot: Robot) -> list[str]:
    """What the equations leave out, or keep, of bent links."""
    found = {link.stiffening for link in robot.links if link.flexible is not None}
    sentences = {
        "none": "Foreshortening of bent links is left out (stiffening 'none'), as in the papers.",
        "shortening": "Links are complete to second order in their deflections (stiffening 'shortening').",
        "exact": "Links bend as far as they like (stiffening 'exact'); chi are angles of their axis at nodes.",
    }
    return [sentence for name, sentence in sentences.items() if name in found]
