"""Bodies of a robot with their values (`Chain`), and the parameters of each link."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from flexarm.beam.integrals import LinkIntegrals
from flexarm.dynamics.bodies import Body, Coordinates, freedom_paths
from flexarm.dynamics.joints import joint_model, supported_joints
from flexarm.dynamics.links import model_of
from flexarm.dynamics.parameters import Parameters
from flexarm.dynamics.places import Place, add_place
from flexarm.robot import (
    Damping,
    Drive,
    Elements,
    Loop,
    Modes,
    MovingJoint,
    OnLine,
    OnPlane,
    PointMass,
    PointSupport,
    Reduced,
    RidingJoint,
    Robot,
    Splines,
    Stop,
)
from flexarm.robot.carried_inertia import carried_bodies, reference_loads, takes_loads
from flexarm.robot.constraints import Constraint
from flexarm.robot.flexibility import Basis
from flexarm.robot.joints import Joint
from flexarm.robot.supported_types import SupportedTypes

SUPPORTED_KINDS = SupportedTypes(
    "the equations of motion",
    {
        Joint: supported_joints,
        Drive: (Drive,),
        Stop: (Stop,),
        Basis: (Modes, Elements, Splines, Reduced),
        Damping: (Damping,),
        Constraint: (Loop, OnLine, OnPlane, PointSupport),
    },
)


class Chain:
    """Bodies of a robot with values; `order` lists their indices, parents first."""

    def __init__(self, robot: Robot) -> None:
        SUPPORTED_KINDS.require(robot)
        robot = robot.resolved()
        integrals, rears = all_integrals(robot)
        self.robot = robot
        self.coordinates = Coordinates(robot, integrals, rears)
        self.order = robot.order
        self.bodies: list[Body] = []
        parents = robot.parents
        for i, link in enumerate(robot.links):
            parent, where = parents[i], None
            if parent is not None and not link.joint.rides:
                where = robot.links[parent].length if link.at is None else link.at
            self.bodies.append(
                Body(link, model_of(link), integrals[i], rears[i], self.coordinates.locals[i], parent, where)
            )


def all_integrals(robot: Robot) -> tuple[list[LinkIntegrals], list[LinkIntegrals | None]]:
    """Return the integrals of all links in front of their joints, and of the parts behind (None if absent)."""
    front: list[LinkIntegrals] = []
    rear: list[LinkIntegrals | None] = []
    slid_along = _slid_along(robot)
    every_load = carried_bodies(robot) if any(map(takes_loads, robot.links)) else [()] * len(robot.links)
    for link, loads in zip(robot.links, every_load, strict=True):
        model = model_of(link)
        front.append(model.integrals(link, link.name in slid_along, reference_loads(link, loads)))
        rear.append(model.rear_integrals(link))
    return front, rear


def _slid_along(robot: Robot) -> set[str]:
    """Return the names of links along which a joint or a support slides."""
    riders = zip(robot.links, robot.parents, strict=True)
    found = {
        robot.links[parent].name
        for rider, parent in riders
        if parent is not None and isinstance(rider.joint, RidingJoint) and rider.joint.contact == "continuous"
    }
    supported = {each.link for each in robot.every_constraint if isinstance(each, PointSupport)}
    # A support does not rotate with the link, so the curvature may jump at a step of the section.
    return found | {name for name in supported if (section := robot.link(name).section) is None or not section.breaks}


def robot_parameters(chain: Chain) -> Parameters:
    """Return all parameters of a robot except those of its constraints."""
    out, robot = Parameters(), chain.robot
    out.fact("the robot", "has the links", ", ".join(link.name for link in robot.links))
    out.fact("the robot", "has its tip on", robot.links[robot.place(robot.tip_name)[0]].name)
    for body in chain.bodies:
        try:
            _add_link(out, chain, body)
        except np.linalg.LinAlgError:
            raise ValueError(
                f"link '{body.link.name}': its shapes cannot be computed; its length, section, material or mass is far "
                "too large or too small"
            ) from None
    out.add_given("gravity", "m/s2", robot.gravity)
    out.add_given("base.position", "m", robot.base.position)
    out.add_directions("base.rotation", robot.base.matrix)
    return out


def _add_link(out: Parameters, chain: Chain, body: Body) -> None:
    link, path, where = body.link, f"links.{body.link.name}", f"link '{body.link.name}'"
    above = "the ground" if body.parent is None else f"'{chain.bodies[body.parent].link.name}'"
    out.fact(where, "hangs on", above)
    out.add(f"{path}.length", "m", link.length)
    joint = link.joint
    travel = chain.robot.travel(link) if isinstance(joint, MovingJoint) and joint.stop is not None else None
    out.include(_joint_parameters(link.name, joint, travel))
    _add_seat(out, chain, body)
    _add_flexibility(out, body)
    out.fact(where, "has rotary_inertia =", str(link.rotary_inertia))
    body.model.add_parameters(out, path, body)
    body.model.add_place(out, f"{path}.tip", body, link.length)
    number, x, frame = chain.robot.place(chain.robot.tip_name)
    if frame is not None and chain.bodies[number] is body:
        add_place(out, f"{path}.tip_frame", body, Place(number, x, frame))
    for name, lump, at in link.lumps:
        _add_lump(out, f"{path}.{name}", body, lump, at)
    for name in ("hub", "payload", "body"):
        out.fact(where, f"a {name}", getattr(link, name) is not None)
    if not link.length:
        out.add(f"{path}.lever", "m", link.extent or 1.0)
    out.fact(where, "has so many masses along it:", len(link.masses))
    mass = link.total_mass
    out.fact(where, "a mass", mass > 0)
    if mass > 0:
        out.add(f"{path}.mass_inverse", "1/kg", 1 / mass)


def _add_lump(out: Parameters, path: str, body: Body, lump: PointMass, at: float) -> None:
    out.add(f"{path}.mass", "kg", lump.mass)
    out.add_given(f"{path}.offset", "m", lump.offset)
    out.add_given(f"{path}.inertia", "kg m2", lump.inertia_matrix, symmetric=True)
    body.model.add_place(out, f"{path}.place", body, at)


@lru_cache(maxsize=64)  # in a sweep, few joints change
def _joint_parameters(link: str, joint: Joint, travel: tuple[float, float] | None) -> Parameters:
    """Return the parameters of a link's joint; `travel` are the positions of its stops, if it has any."""
    out, path, where = Parameters(), f"links.{link}.joint", f"the joint of link '{link}'"
    out.fact(where, "is", f"a {type(joint).__name__}")
    out.add_directions(f"{path}.mount", joint.mount_matrix)
    joint_model(joint).add_parameters(out, path, where, joint)
    freedoms = zip(freedom_paths(joint), joint.freedoms, joint.freedom_properties, strict=True)
    for place, freedom, each in freedoms:
        out.add_given(f"{path}{place}.stiffness", f"{freedom.force_unit}/{freedom.unit}", each.stiffness)
        out.add_given(f"{path}{place}.rest", freedom.unit, each.rest)
        out.add_given(f"{path}{place}.viscous", f"{freedom.force_unit} s/{freedom.unit}", each.viscous)
        out.add_given(f"{path}{place}.coulomb", freedom.force_unit, each.coulomb)
        out.add(f"{path}{place}.coulomb_speed", f"{freedom.unit}/s", each.coulomb_speed)
    if joint.freedoms:
        out.fact(where, "an actuator", joint.actuated)
    if not isinstance(joint, MovingJoint):
        return out
    force = joint.freedoms[0].force_unit
    stiffness, damping = f"{force}/{joint.unit}", f"{force} s/{joint.unit}"
    drive, stop = joint.drive, joint.stop
    out.fact(where, "a drive", drive is not None)
    out.fact(where, "an elastic drive", drive is not None and drive.elastic)
    if drive is not None:
        out.fact(where, "has torque_at =", drive.torque_at)
        inertia = "kg m2" if joint.unit == "rad" else "kg"
        out.add(f"{path}.drive.reflected_inertia", inertia, drive.reflected_inertia)
        out.add_given(f"{path}.drive.damping", damping, drive.damping)
        if drive.stiffness is not None:
            out.add(f"{path}.drive.stiffness", stiffness, drive.stiffness)
        if drive.torque_at == "motor":
            out.add(f"{path}.drive.gear_ratio", "1" if joint.unit == "rad" else "rad/m", drive.gear_ratio)
    out.fact(where, "a stop", stop is not None)
    if stop is not None:
        assert travel is not None
        out.add(f"{path}.limits", joint.unit, travel)
        out.add(f"{path}.stop.stiffness", stiffness, stop.stiffness)
        out.add_given(f"{path}.stop.damping", damping, stop.damping)
    return out


def _add_seat(out: Parameters, chain: Chain, body: Body) -> None:
    """Add the position of a link on its parent, or the shapes along which it slides."""
    path = f"links.{body.link.name}"
    out.add_given(f"{path}.offset", "m", body.link.offset)
    if body.parent is None:
        return
    joint_model(body.link.joint).add_seat(out, path, body, chain.bodies[body.parent])


def _add_flexibility(out: Parameters, body: Body) -> None:
    where, flexible = f"link '{body.link.name}'", body.link.flexible
    out.fact(where, "a flexible beam", flexible is not None)
    if flexible is None:
        return
    basis = flexible.basis
    counts = ", ".join(f"{name} {each.stop - each.start}" for name, each in body.integrals.columns.items())
    out.fact(where, "has the shapes", counts)
    out.fact(where, "has the basis", basis.type)
    if isinstance(basis, Reduced):
        out.fact(where, "has modes of the interface", basis.interface)
    if isinstance(basis, Splines):
        out.fact(where, "has splines of degree", basis.degree)
    out.fact(where, "has stiffening =", body.link.stiffening)
