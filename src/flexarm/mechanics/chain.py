"""The bodies of a robot with their values: links, integrals, coordinates."""

from __future__ import annotations

from flexarm.mechanics.bodies import Body, link_integrals, rear_integrals
from flexarm.mechanics.coordinates import Coordinates
from flexarm.robot import (
    Damping,
    Drive,
    Elements,
    FixedPrismatic,
    Loop,
    Modes,
    OnLine,
    OnPlane,
    PointSupport,
    Reduced,
    Revolute,
    Robot,
    SlidingPrismatic,
    Stop,
    Weld,
)
from flexarm.robot.constraints import Constraint
from flexarm.robot.flexibility import Basis
from flexarm.robot.joints import Joint
from flexarm.robot.kinds import Kinds

KNOWN = Kinds(
    "the equations of motion",
    {
        Joint: (Revolute, FixedPrismatic, SlidingPrismatic, Weld),
        Drive: (Drive,),
        Stop: (Stop,),
        Basis: (Modes, Elements, Reduced),
        Damping: (Damping,),
        Constraint: (Loop, OnLine, OnPlane, PointSupport),
    },
)


class Chain:
    """The bodies of a robot. `order` lists them parents first."""

    def __init__(self, robot: Robot) -> None:
        KNOWN.require(robot)
        integrals = [link_integrals(robot, link) for link in robot.links]
        rears = [rear_integrals(link) for link in robot.links]
        self.robot = robot
        self.coordinates = Coordinates(robot, integrals, rears)
        self.order = robot.order
        self.bodies: list[Body] = []
        parents = robot.parents
        for i, link in enumerate(robot.links):
            parent, where = parents[i], None
            if parent is not None and not isinstance(link.joint, SlidingPrismatic):
                where = robot.links[parent].length if link.at is None else link.at
            self.bodies.append(Body(link, integrals[i], rears[i], self.coordinates.locals[i], parent, where))
