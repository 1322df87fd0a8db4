"""The bodies of a robot with their values: links, integrals, coordinates."""

from __future__ import annotations

from flexarm.beam.integrals import LinkIntegrals
from flexarm.mechanics.bodies import Body
from flexarm.mechanics.coordinates import Coordinates
from flexarm.mechanics.link_models import model_of
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
    Riding,
    Robot,
    Sleeve,
    SlidingPrismatic,
    Splines,
    Stop,
    Weld,
)
from flexarm.robot.carried import carried, reference_loads, takes_loads
from flexarm.robot.constraints import Constraint
from flexarm.robot.flexibility import Basis
from flexarm.robot.joints import Joint
from flexarm.robot.kinds import Kinds

KNOWN = Kinds(
    "the equations of motion",
    {
        Joint: (Revolute, FixedPrismatic, SlidingPrismatic, Sleeve, Weld),
        Drive: (Drive,),
        Stop: (Stop,),
        Basis: (Modes, Elements, Splines, Reduced),
        Damping: (Damping,),
        Constraint: (Loop, OnLine, OnPlane, PointSupport),
    },
)


class Chain:
    """The bodies of a robot. `order` lists them parents first."""

    def __init__(self, robot: Robot) -> None:
        KNOWN.require(robot)
        robot = robot.resolved()
        integrals, rears = all_integrals(robot)
        self.robot = robot
        self.coordinates = Coordinates(robot, integrals, rears)
        self.order = robot.order
        self.bodies: list[Body] = []
        parents = robot.parents
        for i, link in enumerate(robot.links):
            parent, where = parents[i], None
            if parent is not None and not isinstance(link.joint, Riding):
                where = robot.links[parent].length if link.at is None else link.at
            self.bodies.append(
                Body(link, model_of(link), integrals[i], rears[i], self.coordinates.locals[i], parent, where)
            )


def all_integrals(robot: Robot) -> tuple[list[LinkIntegrals], list[LinkIntegrals | None]]:
    """Of all links (in front of their joints), and of the parts behind them."""
    front: list[LinkIntegrals] = []
    rear: list[LinkIntegrals | None] = []
    slid_along = _slid_along(robot)
    every_load = carried(robot) if any(map(takes_loads, robot.links)) else [()] * len(robot.links)
    for link, loads in zip(robot.links, every_load, strict=True):
        model = model_of(link)
        front.append(model.integrals(link, link.name in slid_along, reference_loads(link, loads)))
        rear.append(model.rear_integrals(link))
    return front, rear


def _slid_along(robot: Robot) -> set[str]:
    """Links along which something slides: a joint, or a support."""
    riders = zip(robot.links, robot.parents, strict=True)
    found = {
        robot.links[parent].name
        for rider, parent in riders
        if parent is not None and isinstance(rider.joint, Riding) and rider.joint.contact == "continuous"
    }
    supported = {each.link for each in robot.every_constraint if isinstance(each, PointSupport)}
    # a support does not turn with the link: where its section has steps, curvature may jump
    return found | {name for name in supported if (section := robot.link(name).section) is None or not section.breaks}
