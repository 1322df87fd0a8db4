"""Which robots have a closed form here, said before any work is done."""

from __future__ import annotations

from collections.abc import Mapping

from flexarm.foundation.sentences import shown, suggestion
from flexarm.mechanics.link_models.gripped import gripped
from flexarm.robot import (
    Damping,
    Drive,
    Elements,
    FixedPrismatic,
    Link,
    Modes,
    Reduced,
    Revolute,
    Robot,
    SlidingPrismatic,
    Stop,
    Weld,
)
from flexarm.robot.flexibility import Basis
from flexarm.robot.joints import Joint, Prismatic
from flexarm.robot.kinds import Kinds
from flexarm.symbolic.frames import yaw

KNOWN = Kinds(
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


def check(robot: Robot, k: Mapping[str, int], kept: bool) -> None:
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
