"""The bodies of a robot with their values: links, integrals, coordinates."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from flexarm.beam.integrals import LinkIntegrals
from flexarm.mechanics.bodies import Body
from flexarm.mechanics.coordinates import Coordinates
from flexarm.mechanics.link_models import model_of
from flexarm.robot import (
    Damping,
    Drive,
    Elements,
    FixedPrismatic,
    Link,
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
from flexarm.robot.carried import Load, carried, reference_loads
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
        models = [model_of(link) for link in robot.links]
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
            self.bodies.append(Body(link, models[i], integrals[i], rears[i], self.coordinates.locals[i], parent, where))


def all_integrals(robot: Robot) -> tuple[list[LinkIntegrals], list[LinkIntegrals | None]]:
    """Of all links (in front of their joints), and of the parts behind them."""
    front: list[LinkIntegrals] = []
    rear: list[LinkIntegrals | None] = []
    slid_along = _slid_along(robot)
    for link, loads in zip(robot.links, carried(robot), strict=True):
        found = _link_integrals(link, link.name in slid_along, reference_loads(link, loads))
        front.append(found[0])
        rear.append(found[1])
    return front, rear


_remembered: ContextVar[dict[tuple[object, ...], tuple[LinkIntegrals, LinkIntegrals | None]] | None]
_remembered = ContextVar("remembered", default=None)
MOST_REMEMBERED = 64  # links


@contextmanager
def remembered_links() -> Iterator[None]:
    """Inside, links that are the same in many robots are integrated once."""
    token = _remembered.set({})
    try:
        yield
    finally:
        _remembered.reset(token)


def _link_integrals(link: Link, smooth: bool, loads: tuple[Load, ...]) -> tuple[LinkIntegrals, LinkIntegrals | None]:
    """Of a link in front of its joint, and behind it."""
    model, known = model_of(link), _remembered.get()
    key = (link, smooth, loads)
    if known is not None and key in known:
        return known[key]
    found = model.integrals(link, smooth, loads), model.rear_integrals(link)
    if known is not None:
        if len(known) >= MOST_REMEMBERED:
            known.clear()
        known[key] = found
    return found


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
